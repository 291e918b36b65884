"""Reading queue: one per process, independent of pages and tabs.

Each document is read, built and embedded. Documents are taken one at a time, those in a question's scope first, then
the smallest, so that something can be asked soon; a long one yields to a much smaller newcomer, and to one in a
question's scope, and later resumes at its page. SQLite holds the truth; this module adds what only a running job knows:
queue position, stage and speed. A removed document moves to the trash (`ragcore.index.shelf`), which this module
empties when its time is up.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from ragcore.engine import Engine
from ragcore.errors import Cancelled, GroundworkError, StoreBusy, UnknownDocument
from ragcore.progress import Progress
from ragcore.types.library import DocumentInfo

_log = logging.getLogger(__name__)

RATE_SECONDS = 20.0
# What gives way, and to what: starting anew costs as much as some ten pages.
LEAST_LEFT = 40  # pages
SMALLER = 4  # times, in bytes that are still to be read
CHUNKS_A_PAGE = 11  # embedding so many takes no longer than reading a page
SWEEP_SECONDS = 10.0  # longest time between two looks at the trash and at what waits: others put something there

Stage = Literal["queued", "read", "build", "describe", "embed"]


@dataclass(frozen=True)
class Job:
    """Queued document. ``done`` of ``total`` counts pages while reading, figures while describing, chunks while
    embedding; ``rate`` is per second over the last moments, 0 until measurable."""

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
    size: int  # of the file, in bytes
    password: str | None = None
    waits: bool = True
    asked: bool = False  # it is in a question's scope
    yields: bool = False  # to a smaller one
    cancel: threading.Event = field(default_factory=threading.Event)
    held: bool = False  # a person cancelled it
    base: int = 0  # what was done when this stage began
    samples: deque[tuple[float, int]] = field(default_factory=deque)  # time and done, of the last `RATE_SECONDS`


def _turn(entry: _Entry) -> tuple[bool, int]:
    """Place of a waiting document in the queue."""
    return not entry.asked, entry.size


def _failure(error: BaseException, doc_id: str, doing: str) -> dict[str, object]:
    """Failure as the Library shows it."""
    if isinstance(error, GroundworkError):
        return error.as_dict()
    _log.error("%s %s failed", doing, doc_id, exc_info=error)
    return {
        "code": "defect",
        "message": f"An unexpected error occurred while {doing} this file: {error!r}.",
        "hint": "Try again. If it fails again, report this message.",
        "retryable": True,
    }


class Ingestion:
    """Reading queue with one worker thread, and a second thread for removals, which do not wait for the queue. Of a
    library that several machines use, what waits is queued on each that reads (``ingest.here``), and the first one
    reads it: so what another one left unread is gone on with. ``removed`` is called with each document that is
    permanently deleted, ``arrived`` with each that was read."""

    def __init__(self, engine: Engine, removed: Callable[[str], None], every: float = SWEEP_SECONDS) -> None:
        self.engine = engine
        self.removed = removed
        self.arrived: Callable[[str], None] = lambda _: None
        # What SQLite cannot know: an index that failed, a busy store.
        self.failures: dict[str, dict[str, object]] = {}
        self._entries: dict[str, _Entry] = {}
        self._unready: set[str] = set()  # in a shared library, at the last look
        self._again: set[str] = set()  # to be queued anew when their job, which was cancelled, has ended
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ingestion")
        self._after = ThreadPoolExecutor(max_workers=1, thread_name_prefix="overview")
        self._closed = False
        self._every = every
        self._stirred = threading.Event()  # the trash or the index has to be looked at
        threading.Thread(target=self._sweep, name="trash", daemon=True).start()

    def resume(self) -> None:
        """Queue every document that is unread, unindexed, or was built by other settings: a restart continues where it
        stopped. Documents cancelled by a user stay cancelled."""
        stale = set(self.engine.stale())
        for info in self.engine.documents():
            if not info.held and (info.unready or info.doc_id in stale):
                self.add(info.doc_id)

    @property
    def _shared(self) -> bool:
        return self.engine.store.database.shared

    def add(self, doc_id: str, password: str | None = None) -> None:
        """Queue a document, after its cancellation has finished if one is in progress. Does nothing if it is already
        queued or being read."""
        self.engine.store.hold([doc_id], False)
        with self._lock:
            self.failures.pop(doc_id, None)
        if self.engine.settings.ingest.here or not self._shared or password:  # which only this process knows
            self._add(doc_id, password)

    def _add(self, doc_id: str, password: str | None = None) -> None:
        embedder = self.engine.settings.index.embedder
        size = next((info.bytes for info in self.engine.store.documents(embedder, doc_id)), 0)
        with self._lock:
            if doc_id in self._entries:
                if self._entries[doc_id].cancel.is_set():
                    self._again.add(doc_id)
                return
            self._entries[doc_id] = _Entry(Job(doc_id), size, password)
        self._queue()

    def prefer(self, doc_ids: Sequence[str]) -> None:
        """Read these documents, where they are queued, before others."""
        with self._lock:
            for doc_id in doc_ids:
                if doc_id in self._entries:
                    self._entries[doc_id].asked = True

    def cancel(self, doc_id: str) -> None:
        """Stop after the current page, or before the first; pages already read are kept. The document stays cancelled,
        even after a restart, until it is added again."""
        with self._lock:
            entry = self._entries.get(doc_id)
            if entry is not None:
                entry.held = True
        if entry is not None or self._shared:
            self.engine.store.hold([doc_id], True)
            self._stop(doc_id)

    def _stop(self, doc_id: str) -> None:
        with self._lock:
            entry = self._entries.get(doc_id)
            if entry is None:
                return
            self._again.discard(doc_id)
            entry.cancel.set()
            entry.job = replace(entry.job, stopping=True)
            waits, entry.waits = entry.waits, False
        if waits:
            self._end(doc_id, Cancelled("Cancelled."))

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Move documents to the trash and cancel their jobs. Raises `UnknownDocument`."""
        self.engine.trash.put(doc_ids)
        for doc_id in doc_ids:
            self._stop(doc_id)
        with self._lock:
            for doc_id in doc_ids:
                self.failures.pop(doc_id, None)
        self._stirred.set()

    def restore(self, doc_ids: Sequence[str]) -> None:
        """Restore documents from the trash; a partly read one is queued again. Raises `InputError` if one was
        permanently deleted."""
        self.engine.trash.restore(doc_ids)
        for info in self.engine.documents():
            if info.doc_id in doc_ids and info.unready and not info.held:
                self.add(info.doc_id)
        self._stirred.set()

    def finish(self, doc_ids: Sequence[str]) -> None:
        """Permanently delete documents in the trash now."""
        self.engine.trash.finish(doc_ids)
        self._stirred.set()

    def jobs(self, infos: Sequence[DocumentInfo] = ()) -> dict[str, Job]:
        """Jobs by document, the running one first, then the waiting ones in order; and those that other machines have
        of ``infos``."""
        with self._lock:
            entries = sorted(self._entries.values(), key=lambda entry: (entry.waits, entry.waits and _turn(entry)))
            jobs = {entry.job.doc_id: entry.job for entry in entries}
            failed = {*self.failures}
        if infos and self._shared:
            left = [info for info in infos if info.unready and not info.held and info.doc_id not in failed]
            taken = self.engine.store.at_work([info.doc_id for info in left])
            for info in left:
                stage: Stage = "embed" if info.status == "ready" else "read"
                if info.doc_id in taken and (info.doc_id not in jobs or jobs[info.doc_id].stage == "queued"):
                    jobs[info.doc_id] = Job(info.doc_id, stage, info.pages_done if stage == "read" else 0, info.pages)
                elif info.doc_id not in jobs:
                    jobs[info.doc_id] = Job(info.doc_id)
        return jobs

    def close(self) -> None:
        """Cancel all jobs; documents continue from the same page at the next start."""
        with self._lock:
            self._closed = True
        self._stirred.set()
        for doc_id in self.jobs():
            self._stop(doc_id)
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._after.shutdown(wait=False, cancel_futures=True)

    def _queue(self) -> None:
        taken: list[_Entry] = []
        self._pool.submit(self._work, taken).add_done_callback(partial(self._worked, taken))

    def _work(self, taken: list[_Entry]) -> None:
        """Read and index the smallest waiting document, stored in ``taken``."""
        with self._lock:
            waiting = [entry for entry in self._entries.values() if entry.waits]
            if not waiting:
                return
            entry = min(waiting, key=_turn)
            entry.waits = False
            taken.append(entry)
        self._read_and_index(entry)

    def _worked(self, taken: list[_Entry], outcome: Future[None]) -> None:
        if not taken:
            return
        [entry], error = taken, outcome.exception()
        with self._lock:
            again = isinstance(error, Cancelled) and entry.yields and not entry.cancel.is_set()
            if again:
                entry.waits, entry.yields, entry.job = True, False, Job(entry.job.doc_id)
        if again:
            self._queue()
        else:
            self._end(entry.job.doc_id, error)

    def _ends(self, entry: _Entry) -> bool:
        """Whether the running job should stop: cancelled, or a much smaller document waits."""
        with self._lock:
            job = entry.job
            pages = (job.total - job.done) / (1 if job.stage == "read" else CHUNKS_A_PAGE)
            if pages >= LEAST_LEFT and not entry.yields:
                left = entry.size * (job.total - job.done) / job.total
                others = [other for other in self._entries.values() if other.waits and other.asked >= entry.asked]
                entry.yields = any(other.asked > entry.asked or other.size * SMALLER < left for other in others)
            return entry.cancel.is_set() or entry.yields

    def _end(self, doc_id: str, error: BaseException | None) -> None:
        with self._lock:
            again, held = doc_id in self._again, self._entries[doc_id].held
        if held and not again:
            try:  # it may have been built, or even ended, before it heard of it
                self.engine.store.hold([doc_id], isinstance(error, Cancelled))
            except GroundworkError as busy:
                _log.warning("That %s was cancelled could not be kept: %s", doc_id, busy.message)
        with self._lock:
            del self._entries[doc_id]
            again = doc_id in self._again
            self._again.discard(doc_id)
            # One that is gone was removed while it was read; one that is taken another machine reads.
            passed = (Cancelled, UnknownDocument, *((StoreBusy,) if self._shared else ()))
            if error is not None and not isinstance(error, passed):
                self.failures[doc_id] = _failure(error, doc_id, "reading")
        if again:
            self.add(doc_id)
        elif error is None and not self._closed:
            self._unready.discard(doc_id)
            self.arrived(doc_id)

    def _sweep(self) -> None:
        """Empty the trash of expired documents, and update the index after each change; first of all delete what
        additions left that broke off."""
        wait, begun = 0.0, False
        while not self._closed:
            changed = self._stirred.wait(wait)
            self._stirred.clear()
            if self._closed:
                return
            try:
                if not begun:
                    self.engine.store.end_additions()
                    begun = True
                for doc_id in self.engine.trash.empty():
                    self.removed(doc_id)
                if changed:
                    self.engine.settle()
                if self._shared:
                    self._look()
                left = [item.left for item in self.engine.trash.items()]
            except GroundworkError as error:
                # A busy or full disk: what is in the trash stays there, and is tried again. A question that finds the
                # index behind brings it up to date itself, or says why it cannot.
                _log.warning("The trash couldn’t be emptied: %s %s", error.message, error.hint)
                left = []
            except Exception:  # noqa: BLE001 — it is logged, and the removals after it go on
                _log.exception("The trash couldn’t be emptied.")
                left = []
            wait = min([self._every, *(seconds + 0.1 for seconds in left)])

    def _look(self) -> None:
        """Queue what waits in a shared library, and tell what another machine has read."""
        infos = self.engine.documents()
        unready = {info.doc_id for info in infos if info.unready}
        for info in infos:
            if info.doc_id in self._unready - unready and info.status == "ready":
                self.arrived(info.doc_id)
        self._unready = unready
        if self.engine.settings.ingest.here:
            due = time.time() - self._every  # who adds a document reads it first
            for info in self.engine.waiting():
                if info.created < due and info.doc_id not in self.failures and info.doc_id not in self.jobs():
                    self._add(info.doc_id)

    def _read_and_index(self, entry: _Entry) -> None:
        doc_id = entry.job.doc_id

        def show(progress: Progress) -> None:
            self._show(entry, progress)

        looked = time.monotonic()

        def ends() -> bool:
            nonlocal looked
            if self._shared and time.monotonic() - looked > 1.0:  # it may be cancelled on another machine
                looked = time.monotonic()
                if self.engine.store.held(doc_id):
                    entry.cancel.set()
            return self._ends(entry)

        report = self.engine.ingest_and_index(doc_id, password=entry.password, on_progress=show, cancelled=ends)
        if report.status != "failed":
            with self._lock:
                if not self._closed:
                    self._after.submit(self._glance, doc_id)

    def _glance(self, doc_id: str) -> None:
        """Make a document's overview in advance. An error recurs, and is shown, when the overview is opened."""
        try:
            if not self._closed:
                self.engine.overview(doc_id)
        except GroundworkError as error:
            _log.warning("No overview of %s: %s %s", doc_id, error.message, error.hint)

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
