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
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
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
        raise FileTooLarge(f"{name} is {_megabytes(size)} MB; the limit is {_megabytes(settings.max_bytes)} MB.")
    children: list[Child] = []

    def read() -> FileInfo:
        child = Child(path, settings=settings, password=password, layout=False, name=name, started=children.append)
        try:
            return child.info()
        finally:
            child.close()

    with ThreadPoolExecutor(1, "parse-inspect") as pool:
        reading = pool.submit(read)
        while wait([reading], _POLL_SECONDS).not_done:
            for child in children if cancelled is not None and cancelled() else ():
                child.kill()
    if cancelled is not None and cancelled():
        raise Cancelled(f"Reading {name} was stopped.")
    info = reading.result()
    if info.pages > settings.max_pages:
        raise TooManyPages(f"{name} has {info.pages} pages; the limit is {settings.max_pages}.")
    return info


def unlock(path: Path, password: str, target: Path, settings: IngestSettings, *, name: str = "") -> None:
    """Write a decrypted copy of ``path`` to ``target``. Raises as `inspect` does."""
    child = Child(path, settings=settings, password=password, layout=False, name=name or path.name)
    try:
        child.unlock(target)
    finally:
        child.close()


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
    team = _Team(path, pages, settings=settings, ocr=ocr, password=password, name=name)
    team.start()
    remaining = len(pages)
    try:
        while remaining:
            if cancelled is not None and cancelled():
                raise Cancelled(f"Reading {name} was stopped.")
            try:
                page, failure = team.results.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if not team.working():
                    raise ParseCrashed(f"{name}: reading ended early.") from None
                continue
            if page is None:
                assert failure is not None
                raise failure
            remaining -= 1
            yield page
        team.finish()
    finally:
        team.stop()


class _Team:
    """Threads that each drive one child through the remaining pages."""

    def __init__(
        self,
        path: Path,
        pages: Sequence[int],
        *,
        settings: IngestSettings,
        ocr: OcrSettings | None,
        password: str | None,
        name: str,
    ) -> None:
        self.results: queue.SimpleQueue[tuple[PageLayout | None, GroundworkError | None]] = queue.SimpleQueue()
        self._path, self._settings, self._password, self._name = path, settings, password, name
        self._ocr = ocr
        self._todo = deque(pages)
        self._lock = threading.Lock()
        self._children: set[Child] = set()
        self._stopped = False
        self._strikes = self._ocr_strikes = 0
        most = settings.workers or min(4, _cores())
        self._threads = [
            threading.Thread(target=self._work, name=f"parse-{i}", daemon=True)
            for i in range(max(1, min(most, len(pages) // PAGES_PER_WORKER)))
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def working(self) -> bool:
        return any(thread.is_alive() for thread in self._threads) or not self.results.empty()

    def finish(self) -> None:
        """Wait until the processes have closed the file."""
        for thread in self._threads:
            thread.join()

    def stop(self) -> None:
        """End the processes at once."""
        with self._lock:
            self._stopped = True
            self._todo.clear()
            for child in self._children:
                child.kill()
        for thread in self._threads:
            thread.join()

    def _next(self) -> int | None:
        with self._lock:
            return self._todo.popleft() if self._todo and not self._stopped else None

    def _work(self) -> None:
        child: Child | None = None
        try:
            while (number := self._next()) is not None:
                child, page = self._read(child, number)
                if not self._stopped:
                    self.results.put((page, None))
                if child is not None and child.worn:
                    self._end(child)
                    child = None
        except GroundworkError as error:
            if not self._stopped:
                self.results.put((None, error))
        except (OSError, ValueError) as error:  # no process could be started, or a reply was malformed
            self.results.put((None, ParseCrashed(f"{self._name}: {error}")))
        finally:
            self._end(child)

    def _read(self, child: Child | None, number: int) -> tuple[Child | None, PageLayout]:
        """Page by the layout model (and OCR if needed), else by the plain method, else empty; and the child for the
        next."""
        why: str | None = None
        reason = f"the layout model failed on {LAYOUT_STRIKES} pages of this file, so it was skipped here"
        if self._strikes < LAYOUT_STRIKES:
            if child is None:
                child = self._begin(layout=True)
            try:
                data, why = child.page_unless_scan(number)
                if why is None:
                    return child, PageLayout.from_bytes(data)
                if (without := self._without_ocr()) is None:
                    return child, PageLayout.from_bytes(child.scan(number))
                page = PageLayout.from_bytes(child.page(number, plain=False))
                return child, replace(page, degraded=f"this page {why}; {without}")
            except (ParseTimeout, ParseCrashed) as error:
                if not child.usable:
                    self._end(child)
                    child = None
                    with self._lock:
                        if why is None:
                            self._strikes += 1
                        else:
                            self._ocr_strikes += 1
                reason = f"read without the layout model: {error.message}"
                if why is not None:
                    reason = f"this page {why}, and OCR couldn't read it: {error.message}"
        if self._stopped:
            raise Cancelled(f"Reading {self._name} was stopped.")
        given = child
        if child is None:
            child = self._begin(layout=False)
        try:
            page = PageLayout.from_bytes(child.page(number, plain=True))
            page = replace(page, degraded=reason, unread=why is not None and not page.texts)
        except (ParseTimeout, ParseCrashed) as error:
            lost = f"this page couldn't be read: {error.message}"
            page = empty_page(number, str(number), *self._frame(child, number), lost, unread=True)
        # A child without the layout model is used only while the model is disabled.
        if not child.usable or (given is None and self._strikes < LAYOUT_STRIKES):
            self._end(child)
            child = None
        return child, page

    def _without_ocr(self) -> str | None:
        """Reason to read pages that need OCR without it; None if OCR may be used."""
        if self._ocr is not None and self._ocr.mode == "off":
            return OCR_OFF
        if self._ocr_strikes >= OCR_STRIKES:
            return f"OCR failed on {OCR_STRIKES} pages of this file, so it was skipped here"
        return None

    def _frame(self, child: Child, number: int) -> tuple[float, float, int]:
        """Size and rotation of a page whose content cannot be read; US letter if MuPDF cannot read even those."""
        other = None if child.usable else self._begin(layout=False)
        try:
            return (other or child).frame(number)
        except (ParseTimeout, ParseCrashed):
            return LETTER
        finally:
            self._end(other)

    def _begin(self, *, layout: bool) -> Child:
        return Child(
            self._path,
            settings=self._settings,
            password=self._password,
            layout=layout,
            name=self._name,
            ocr=self._ocr,
            started=self._watch,
        )

    def _watch(self, child: Child) -> None:
        """Register the child so that `stop` ends it too, even while it starts."""
        with self._lock:
            self._children.add(child)
            if self._stopped:
                child.kill()

    def _end(self, child: Child | None) -> None:
        if child is None:
            return
        with self._lock:
            self._children.discard(child)
        child.close()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f}"
