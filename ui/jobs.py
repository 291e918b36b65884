"""Reading documents in the background: one queue per process, whatever happens to pages and tabs.

A document goes read → build → embed, one document at a time, so that the first one uploaded can be asked first. What
SQLite says is the truth; this module adds what only a running job knows: its place in the queue, its stage and speed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from ragcore.engine import Engine, Progress
from ragcore.errors import Cancelled, GroundworkError, UnknownDocument

_log = logging.getLogger(__name__)

RATE_SECONDS = 20.0

Stage = Literal["queued", "read", "build", "describe", "embed"]


@dataclass(frozen=True)
class Job:
    """One document's place in the queue. ``done`` of ``total`` are pages while reading, figures while describing
    them, chunks while embedding;
    ``rate`` is per second, lately; 0 until there is something to measure."""

    doc_id: str
    stage: Stage = "queued"
    done: int = 0
    total: int = 0
    rate: float = 0.0
    stopping: bool = False

    @property
    def seconds_left(self) -> float | None:
        return (self.total - self.done) / self.rate if self.rate > 0 else None


@dataclass
class _Entry:
    job: Job
    password: str | None = None
    cancel: threading.Event = field(default_factory=threading.Event)
    work: Future[None] | None = None
    base: int = 0  # what was done when this stage began
    samples: deque[tuple[float, int]] = field(default_factory=deque)  # time and done, of the last `RATE_SECONDS`


def _failure(error: BaseException, doc_id: str, doing: str) -> dict[str, object]:
    """What went wrong, as the Library shows it."""
    if isinstance(error, GroundworkError):
        return error.as_dict()
    _log.error("%s %s failed", doing, doc_id, exc_info=error)
    return {
        "code": "defect",
        "message": f"Groundwork failed while {doing} this file: {error!r}.",
        "hint": "Try again; if it fails again, report it with this message.",
        "retryable": True,
    }


class Ingestion:
    """The queue and its one worker thread, and another one for removals, which do not wait for the queue.
    ``removed`` is told each document that is gone."""

    def __init__(self, engine: Engine, removed: Callable[[str], None]) -> None:
        self.engine = engine
        self.removed = removed
        # What SQLite cannot know: an index that failed, a busy store; ``removal`` where it was to be removed.
        self.failures: dict[str, dict[str, object]] = {}
        self._entries: dict[str, _Entry] = {}
        self._removing: set[str] = set()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ingestion")
        self._removals = ThreadPoolExecutor(max_workers=1, thread_name_prefix="removal")

    def resume(self) -> None:
        """Queue every document that is not read, or not indexed, yet, or was built by other settings than those in
        force: a restart goes on where it was."""
        stale = set(self.engine.stale())
        for info in self.engine.documents():
            unready = info.status in ("new", "reading") or (info.status == "ready" and not info.indexed)
            if unready or info.doc_id in stale:
                self.add(info.doc_id)

    def add(self, doc_id: str, password: str | None = None) -> None:
        """Queue a document; nothing happens if it is queued, being read or being removed already."""
        with self._lock:
            if doc_id in self._entries or doc_id in self._removing:
                return
            self.failures.pop(doc_id, None)
            entry = self._entries[doc_id] = _Entry(Job(doc_id), password)
            work = entry.work = self._pool.submit(self._read_and_index, doc_id)
        work.add_done_callback(partial(self._end, doc_id))

    def cancel(self, doc_id: str) -> None:
        """Stop after the page in work (or before it begins); what was read is kept."""
        with self._lock:
            entry = self._entries.get(doc_id)
            if entry is None:
                return
            entry.cancel.set()
            entry.job = replace(entry.job, stopping=True)
        if entry.work is not None:
            entry.work.cancel()  # one that waits ends at once; outside the lock, which `_end` takes

    def remove(self, doc_id: str) -> None:
        """Remove a document in the background: at once, or when its job, which is cancelled, has let go of it."""
        with self._lock:
            if doc_id in self._removing:
                return
            self._removing.add(doc_id)
            self.failures.pop(doc_id, None)
            at_work = doc_id in self._entries
        if at_work:
            self.cancel(doc_id)  # `_end` goes on with the removal
        else:
            self._remove(doc_id)

    def removing(self) -> set[str]:
        """Documents that are to be removed and are not gone yet."""
        with self._lock:
            return set(self._removing)

    def jobs(self) -> dict[str, Job]:
        """Jobs by document, the one in work and those that wait, in order."""
        with self._lock:
            return {doc_id: entry.job for doc_id, entry in self._entries.items()}

    def close(self) -> None:
        """Cancel everything; the documents go on from the same page at the next start."""
        for doc_id in self.jobs():
            self.cancel(doc_id)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _end(self, doc_id: str, outcome: Future[None]) -> None:
        error = None if outcome.cancelled() else outcome.exception()
        with self._lock:
            del self._entries[doc_id]
            removing = doc_id in self._removing
            if error is not None and not isinstance(error, Cancelled) and not removing:
                self.failures[doc_id] = _failure(error, doc_id, "reading")
        if removing:
            self._remove(doc_id)

    def _remove(self, doc_id: str) -> None:
        self._removals.submit(self.engine.remove, doc_id).add_done_callback(partial(self._end_removal, doc_id))

    def _end_removal(self, doc_id: str, outcome: Future[None]) -> None:
        error = outcome.exception()
        if error is None:
            self.removed(doc_id)
        with self._lock:
            self._removing.discard(doc_id)
            if error is not None and not isinstance(error, UnknownDocument):  # gone all the same
                self.failures[doc_id] = _failure(error, doc_id, "removing") | {"removal": True}

    def _read_and_index(self, doc_id: str) -> None:
        with self._lock:
            entry = self._entries[doc_id]
        if entry.cancel.is_set():
            return

        def show(progress: Progress) -> None:
            self._show(entry, progress)

        report = self.engine.ingest(doc_id, password=entry.password, on_progress=show, cancelled=entry.cancel.is_set)
        if report.status != "failed":
            self.engine.index(refresh=False, on_progress=show, cancelled=entry.cancel.is_set)

    def _show(self, entry: _Entry, progress: Progress) -> None:
        shown: dict[str, Stage] = {"read": "read", "describe": "describe", "embed": "embed"}
        stage = shown.get(progress.stage, "build")
        now = time.monotonic()
        with self._lock:
            if stage != entry.job.stage:
                entry.samples.clear()
                entry.base = progress.done
            if progress.done > entry.base:  # before the first result, processes and models are being started
                entry.samples.append((now, progress.done))
            while len(entry.samples) > 2 and now - entry.samples[0][0] > RATE_SECONDS:
                entry.samples.popleft()
            (first, least), (last, most) = (entry.samples[0], entry.samples[-1]) if entry.samples else ((0, 0), (0, 0))
            rate = (most - least) / (last - first) if last - first > 0.2 else 0.0
            entry.job = replace(entry.job, stage=stage, done=progress.done, total=progress.total, rate=rate)
