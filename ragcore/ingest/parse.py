"""PDF parser, parent side: PDF → pages. All MuPDF work happens in child processes with a time and a memory limit.

A page that takes too long or kills its child is read again without the layout model, which ``PageLayout.degraded``
records; if that fails too the page is empty, ``unread``, and says why.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
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
from ragcore.ingest.process import STRIKES, Child

PAGES_PER_WORKER = 3  # pages per further process, at least, since one takes about a second to start
LETTER = (612.0, 792.0, 0)
_POLL_SECONDS = 0.2


def inspect(
    path: Path,
    *,
    settings: IngestSettings,
    password: str | None = None,
    cancelled: Callable[[], bool] | None = None,
    name: str = "",
    made: bool = False,
) -> FileInfo:
    """File information, read before any page; messages call the file ``name`` (default: the path's). ``made``: the
    pages are our own, made of another file.

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
    with closing(Child(path, settings, password=password, name=name, cancelled=cancelled, made=made)) as child:
        info = child.info()
    if cancelled is not None and cancelled():
        raise Cancelled(f"Reading {name} was stopped.")
    if info.pages > settings.max_pages:
        raise TooManyPages(f"{name} has {info.pages} pages; the limit is {settings.max_pages}.")
    return info


def parse_pages(
    path: Path,
    pages: Sequence[int],
    *,
    settings: IngestSettings,
    ocr: OcrSettings | None = None,
    password: str | None = None,
    cancelled: Callable[[], bool] | None = None,
    name: str = "",
    made: bool = False,
) -> Iterator[PageLayout]:
    """Read ``pages`` (numbers from 1), yielding each as it is done, in any order. ``ocr`` decides which pages without
    usable text are read by OCR; None, for callers other than `Engine`, accepts every text layer as it is. ``made``: the
    pages are our own, made of another file.

    Raises whatever opening the file raises, and `Cancelled` soon after ``cancelled()`` turns true. An unreadable page
    is empty and ``unread``.
    """
    if not pages:
        return
    name = name or path.name
    todo = iter(tuple(pages))
    done: queue.SimpleQueue[PageLayout | Exception] = queue.SimpleQueue()
    stopped = threading.Event()

    def read() -> None:
        child = Child(
            *(path, settings), name=name, password=password, layout=True, ocr=ocr, cancelled=stopped.is_set, made=made
        )
        with closing(child):
            while not stopped.is_set() and (number := next(todo, None)) is not None:
                try:
                    done.put(_read(child, number))
                except Exception as error:  # noqa: BLE001  # raised again below
                    done.put(error)

    count = max(1, min(settings.workers or min(4, _cores()), len(pages) // PAGES_PER_WORKER))
    readers = [threading.Thread(target=read, name="parse", daemon=True) for _ in range(count)]
    for reader in readers:
        reader.start()
    remaining = len(pages)
    try:
        while remaining:
            if cancelled is not None and cancelled():
                raise Cancelled(f"Reading {name} was stopped.")
            try:
                page = done.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
            if isinstance(page, GroundworkError):
                raise page
            if isinstance(page, Exception):  # no process could be started, or a reply was malformed
                raise ParseCrashed(f"{name}: {page}") from page
            remaining -= 1
            yield page
    finally:
        stopped.set()
        for reader in readers:  # until its process has closed the file
            reader.join()


def _read(child: Child, number: int) -> PageLayout:
    """Page by the layout model (and OCR if needed), else by the plain method, else empty."""
    reason = "the layout model or OCR failed on several pages of this file, so they were skipped here"
    if child.lost < STRIKES:
        child.open()  # what this raises is about the file, not the page
        try:
            return child.page(number)
        except (ParseTimeout, ParseCrashed) as error:
            reason = f"read without the layout model: {error.message}"
    child.open()
    try:
        page = child.page(number, plain=True)
        return replace(page, degraded=reason, unread=not page.texts)
    except (ParseTimeout, ParseCrashed) as error:
        return unread_page(child, number, f"this page couldn't be read: {error.message}")


def unread_page(child: Child, number: int, reason: str) -> PageLayout:
    """Page without words, in its own size if MuPDF can tell it, else US letter."""
    frame = LETTER
    with suppress(ParseTimeout, ParseCrashed):
        frame = child.frame(number)
    return empty_page(number, str(number), *frame, reason, unread=True)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
