"""PDF parser, parent side: PDF → pages. All MuPDF work happens in child processes with a time and a memory limit.

A page that takes too long or kills its child is read again without the layout model, which ``PageLayout.degraded``
records; if that fails too the page is empty, ``unread``, and says why.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragcore.config.settings import IngestSettings, OcrSettings
from ragcore.errors import (
    Cancelled,
    EmptyFile,
    FileMissing,
    FileTooLarge,
    GroundworkError,
    ParseCrashed,
    ParseTimeout,
    TooManyPages,
)
from ragcore.ingest.layout import FileInfo, PageLayout, empty_page
from ragcore.ingest.ocr import OCR_OFF
from ragcore.ingest.process import Child

PAGES_PER_WORKER = 3  # pages per further process, at least, since one takes about a second to start
LAYOUT_STRIKES = 3  # pages lost to the layout model after which the file's other pages are read without it
OCR_STRIKES = 3  # pages lost to OCR after which the file's other pages are read without it
LETTER = (612.0, 792.0, 0)
_POLL_SECONDS = 0.2


def inspect(
    path: Path,
    *,
    settings: IngestSettings,
    password: str | None = None,
    cancelled: Callable[[], bool] | None = None,
    name: str = "",
) -> FileInfo:
    """File information, read before any page; messages call the file ``name`` (default: the path's).

    Raises FileMissing, FileTooLarge, EmptyFile, NotAPdf, DamagedPdf, PasswordRequired, WrongPassword, NoPages,
    TooManyPages; ParseTimeout or ParseCrashed if MuPDF cannot even open it within the limits; `Cancelled` soon after
    ``cancelled()`` turns true.
    """
    name = name or path.name
    if not path.is_file():
        raise FileMissing(f"No file at {path}.")
    size = path.stat().st_size
    if size == 0:
        raise EmptyFile(f"{name} is empty.")
    if size > settings.max_bytes:
        raise FileTooLarge(f"{name} is {size / 1e6:.1f} MB; the limit is {settings.max_bytes / 1e6:.1f} MB.")
    with closing(Child(path, settings, password=password, name=name, cancelled=cancelled)) as child:
        info = child.info()
    if cancelled is not None and cancelled():
        raise Cancelled(f"Reading {name} was stopped.")
    if info.pages > settings.max_pages:
        raise TooManyPages(f"{name} has {info.pages} pages; the limit is {settings.max_pages}.")
    return info


def unlock(path: Path, password: str, target: Path, settings: IngestSettings, *, name: str = "") -> None:
    """Write a decrypted copy of ``path`` to ``target``. Raises as `inspect` does."""
    with closing(Child(path, settings, password=password, name=name or path.name)) as child:
        child.unlock(target)


def parse_pages(
    path: Path,
    pages: Sequence[int],
    *,
    settings: IngestSettings,
    ocr: OcrSettings | None = None,
    password: str | None = None,
    cancelled: Callable[[], bool] | None = None,
    name: str = "",
) -> Iterator[PageLayout]:
    """Read ``pages`` (numbers from 1), yielding each as it is done, in any order. ``ocr`` decides which pages without
    usable text are read by OCR; None, for callers other than `Engine`, accepts every text layer as it is.

    Raises whatever opening the file raises, and `Cancelled` soon after ``cancelled()`` turns true. An unreadable page
    is empty and ``unread``.
    """
    if not pages:
        return
    name = name or path.name
    job = _Job(path, settings, ocr, password, name, deque(pages))
    workers = settings.workers or min(4, _cores())
    readers = [_Reader(job) for _ in range(max(1, min(workers, len(pages) // PAGES_PER_WORKER)))]
    for reader in readers:
        reader.start()
    remaining = len(pages)
    try:
        while remaining:
            if cancelled is not None and cancelled():
                raise Cancelled(f"Reading {name} was stopped.")
            try:
                page = job.results.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if not any(reader.is_alive() for reader in readers) and job.results.empty():
                    raise ParseCrashed(f"{name}: reading ended early.") from None
                continue
            if isinstance(page, GroundworkError):
                raise page
            remaining -= 1
            yield page
    finally:
        job.stopped = remaining > 0
        for reader in readers:  # until its process has closed the file
            reader.join()


@dataclass
class _Job:
    """What the readers of one file share."""

    path: Path
    settings: IngestSettings
    ocr: OcrSettings | None
    password: str | None
    name: str
    todo: deque[int]
    results: queue.SimpleQueue[PageLayout | GroundworkError] = field(default_factory=queue.SimpleQueue)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopped: bool = False
    strikes: int = 0  # pages lost to the layout model
    ocr_strikes: int = 0

    def without_ocr(self) -> str | None:
        """Reason to read pages that need OCR without it; None if OCR may be used."""
        if self.ocr is not None and self.ocr.mode == "off":
            return OCR_OFF
        if self.ocr_strikes >= OCR_STRIKES:
            return f"OCR failed on {OCR_STRIKES} pages of this file, so it was skipped here"
        return None


class _Reader(threading.Thread):
    """Thread that drives one child at a time through the remaining pages."""

    def __init__(self, job: _Job) -> None:
        super().__init__(name="parse", daemon=True)
        self._job = job
        self._child: Child | None = None
        self._plain = False  # the child may lack the layout model

    def run(self) -> None:
        job = self._job
        try:
            while not job.stopped:
                try:
                    number = job.todo.popleft()
                except IndexError:
                    break
                job.results.put(self._read(number))
                if self._child is not None and self._child.worn:
                    self._end()
        except GroundworkError as error:
            job.results.put(error)
        except (OSError, ValueError) as error:  # no process could be started, or a reply was malformed
            job.results.put(ParseCrashed(f"{job.name}: {error}"))
        finally:
            self._end()

    def _read(self, number: int) -> PageLayout:
        """Page by the layout model (and OCR if needed), else by the plain method, else empty."""
        job = self._job
        why: str | None = None
        reason = f"the layout model failed on {LAYOUT_STRIKES} pages of this file, so it was skipped here"
        layout = job.strikes < LAYOUT_STRIKES
        if layout:
            try:
                child = self._begin(layout=True)
                page = child.page_unless_scan(number)
                if isinstance(page, PageLayout):
                    return page
                why = page
                if (without := job.without_ocr()) is None:
                    return child.scan(number)
                return replace(child.page(number, plain=False), degraded=f"this page {why}; {without}")
            except (ParseTimeout, ParseCrashed) as error:
                if self._child is None:
                    raise  # the file couldn't be opened
                with job.lock:
                    if self._drop_unusable():
                        job.strikes += why is None
                        job.ocr_strikes += why is not None
                reason = f"read without the layout model: {error.message}"
                if why is not None:
                    reason = f"this page {why}, and OCR couldn't read it: {error.message}"
        child = self._begin(layout=False)
        try:
            page = child.page(number, plain=True)
            return replace(page, degraded=reason, unread=why is not None and not page.texts)
        except (ParseTimeout, ParseCrashed) as error:
            lost = f"this page couldn't be read: {error.message}"
            return empty_page(number, str(number), *self._frame(number), lost, unread=True)
        finally:
            # A child without the layout model is used only while the model is disabled.
            if self._plain and job.strikes < LAYOUT_STRIKES:
                self._end()

    def _frame(self, number: int) -> tuple[float, float, int]:
        """Size and rotation of a page whose content cannot be read; US letter if MuPDF cannot read even those."""
        self._drop_unusable()
        try:
            return self._begin(layout=False).frame(number)
        except (ParseTimeout, ParseCrashed):
            return LETTER
        finally:
            self._drop_unusable()

    def _begin(self, *, layout: bool) -> Child:
        """Child in use, else a new one."""
        job = self._job
        if self._child is None:
            self._plain = not layout
            self._child = Child(
                job.path,
                job.settings,
                name=job.name,
                password=job.password,
                layout=layout,
                ocr=job.ocr,
                cancelled=lambda: job.stopped,
            )
        return self._child

    def _drop_unusable(self) -> bool:
        dropped = self._child is not None and not self._child.usable
        if dropped:
            self._end()
        return dropped

    def _end(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
