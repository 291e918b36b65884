"""Report jobs: sections are filled in the background, independent of pages and tabs. Each model server has its own
worker, and so does the offline answerer, so that a server that hangs delays nobody else.

Waiting sections are kept in SQLite (`ragcore.index.reports`): after a restart the queue goes on, and the interrupted
section starts again. This module adds what only a running job knows: what is being written now, and whose key pays for
sections queued during a visit.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ragcore.cancel import Stop
from ragcore.engine import Engine
from ragcore.errors import GroundworkError, StoreBusy
from ragcore.index.jobs import Job, Jobs
from ragcore.index.reports import Task
from ragcore.types import AnswerEvent, Checked, Citation, Cited, Found, Mark, Text
from ui.chat.payload import model_name
from ui.chat.runs import cited

_log = logging.getLogger(__name__)

# What is wrong with one section and not with those after it.
OF_ONE_SECTION = ("request_refused", "stream_broken", "unknown_document", "input_error", "unknown_section")
LOCK = "reports"
TRY_AGAIN_SECONDS = 5.0  # while another process of Groundwork fills the same reports


@dataclass(frozen=True)
class Live:
    """Snapshot of the section being written. ``text`` with ``marks`` is its text so far in this ``round``; ``stage`` is
    ``search``, ``write`` or ``check``."""

    report_id: str
    section_id: str
    revision: int = 0
    stage: str = "search"
    round: int = 0
    text: str = ""
    marks: tuple[Mark, ...] = ()
    citations: tuple[Citation, ...] = ()
    sources: int = 0
    stopping: bool = False


def _defect(error: BaseException) -> dict[str, Any]:
    return {
        "code": "defect",
        "message": f"An unexpected error occurred while filling this section: {error!r}.",
        "hint": "Fill it again. If it fails again, report this message.",
        "retryable": True,
    }


def _other_writer(asked: str, now: str) -> dict[str, Any]:
    return {
        "code": "other_writer",
        "message": f"{model_name(asked)} was filling this report; the model is now {model_name(now)}.",
        "hint": "Set the key or the model again, or fill the rest by what is in force.",
        "retryable": True,
    }


@dataclass
class _Lane:
    """State of one worker."""

    live: Live | None = None
    stop: Stop | None = None
    # What to queue when what is being stopped has ended: by which engine, sections, instruction.
    once_more: tuple[Engine, list[str] | None, str] | None = None
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2, thread_name_prefix="reports"))


class ReportJobs:
    """Workers that fill reports section by section, in queue order. `live` may be called from any thread. ``kept``
    returns the engine of this process; sections queued in a visit are written only by that visit's engine. Of several
    processes on one library, one works at a time."""

    def __init__(self, kept: Callable[[], Engine]) -> None:
        self._kept = kept
        self._engines: dict[str, Engine] = {}  # by section that waits: what it was queued by
        self._lanes: dict[str, _Lane] = {}  # by server, those at work
        self._closing = threading.Event()
        self._lock = threading.RLock()
        self._writing = 0  # workers that write under the lock of the library
        self._of_library = ExitStack()

    def resume(self) -> None:
        """Continue with waiting sections. Those queued in a visit of an earlier process are dropped, since their key is
        gone."""
        with self._working() as alone:
            if alone:
                for task in self._kept().reports.store.tasks():
                    if task.visit:
                        self._give_up(task, None, _other_writer(task.writer, self._kept().models.writer_name))
        self._begin()

    def fill(
        self,
        report_id: str,
        section_ids: Sequence[str] | None = None,
        instruction: str = "",
        engine: Engine | None = None,
    ) -> None:
        """Queue sections (None: all empty ones) for ``engine`` and start. Raises as `ReportWorkspace.queue` does."""
        chosen = engine or self._kept()
        with self._lock:
            self._queue(chosen, report_id, section_ids, instruction)
            for lane in self._at(report_id):
                # One that is just being stopped waits no more when that is done, though it may be wanted again.
                if lane.live is not None and lane.live.stopping:
                    if section_ids is None:
                        lane.once_more = (chosen, None, "")
                    elif lane.live.section_id in section_ids:
                        lane.once_more = (chosen, [lane.live.section_id], instruction)
        self._begin()

    def stop(self, report_id: str) -> None:
        """Stop filling a report, on whatever server: the current section keeps its text, waiting ones are not
        started."""
        store = self._kept().reports.store
        with self._lock:
            at_work = self._at(report_id)
            for lane in at_work:
                lane.once_more = None
            sections = {lane.live.section_id for lane in at_work if lane.live is not None}
        there = {job.by for job in self._jobs().all() if job.target == report_id} - sections
        if there:
            self._jobs().stop(report_id)
            sections |= there
        for task in store.tasks():
            if task.report_id == report_id and task.section_id not in sections:
                store.drop_task(task.section_id)
        for lane in at_work:
            self._put(lane, stopping=True)
            if lane.stop is not None:
                lane.stop.set()

    def live(self, report_id: str) -> Live | None:
        """Section of a report that is being written now."""
        with self._lock:
            return next((lane.live for lane in self._at(report_id)), None)

    def busy(self) -> bool:
        """Whether a section is being written."""
        with self._lock:
            return any(lane.live is not None for lane in self._lanes.values())

    def close(self) -> None:
        """Stop work; unfinished sections start again at the next start."""
        self._closing.set()
        with self._lock:
            lanes = list(self._lanes.values())
        for lane in lanes:
            if (stop := lane.stop) is not None:
                stop.set()
        for lane in lanes:
            lane.pool.shutdown(wait=True, cancel_futures=True)

    def _jobs(self) -> Jobs:
        return Jobs(self._kept().store.database, "report")

    def _at(self, report_id: str) -> list[_Lane]:
        return [lane for lane in self._lanes.values() if lane.live is not None and lane.live.report_id == report_id]

    def _queue(self, engine: Engine, report_id: str, section_ids: Sequence[str] | None, instruction: str) -> None:
        store = engine.reports.store
        before = {task.section_id for task in store.tasks()}
        self._engines = {section_id: queued for section_id, queued in self._engines.items() if section_id in before}
        own = not engine.models.same_account(self._kept().models)
        engine.reports.queue(report_id, section_ids, instruction, visit=own)
        self._engines.update({task.section_id: engine for task in store.tasks() if task.section_id not in before})

    def _server(self, task: Task) -> str | None:
        """Server that writes a section; None if only another process can, because the section belongs to its visit."""
        engine = self._engines.get(task.section_id)
        if engine is None and task.visit:
            return None
        return (engine or self._kept()).models.server

    def _begin(self) -> None:
        """Start a worker for every server with waiting sections."""
        with self._lock:
            if self._closing.is_set():
                return
            wanted = dict.fromkeys(map(self._server, self._kept().reports.store.tasks()))
            for server in wanted:
                if server is not None and server not in self._lanes:
                    self._lanes[server] = lane = _Lane()
                    lane.pool.submit(self._run, server, lane)

    def _run(self, server: str, lane: _Lane) -> None:
        """Worker loop: write all that waits for ``server``."""
        try:
            while not self._closing.is_set():
                with self._working() as alone:
                    while alone and (task := self._next(server)) is not None and not self._closing.is_set():
                        self._write(lane, task)
                if not alone:
                    # Another process is at it, and takes what was queued here too, or this one goes on where it ends.
                    self._closing.wait(TRY_AGAIN_SECONDS)
                with self._lock:
                    if self._next(server) is None:
                        del self._lanes[server]
                        return
        except GroundworkError as error:  # the store; what waits is gone on with when something is queued
            _log.warning("Filling reports broke off: %s %s", error.message, error.hint)
        finally:
            with self._lock:
                if self._lanes.get(server) is lane:
                    del self._lanes[server]
            lane.pool.shutdown(wait=False)

    def _next(self, server: str) -> Task | None:
        with self._lock:
            return next((task for task in self._kept().reports.store.tasks() if self._server(task) == server), None)

    @contextmanager
    def _working(self) -> Iterator[bool]:
        """Context in which this process holds the lock on writing for the library."""
        with self._lock:  # the workers of a process hold one lock together
            try:
                if not self._writing:
                    busy = "Another process fills reports of this library right now."
                    self._of_library.enter_context(self._kept().store.database.locked(LOCK, busy))
            except StoreBusy:
                held = False
            else:
                held = True
                self._writing += 1
        try:
            yield held
        finally:
            if held:
                with self._lock:
                    self._writing -= 1
                    if not self._writing:
                        self._of_library.close()

    def _write(self, lane: _Lane, task: Task) -> None:
        with self._lock:
            engine = self._engines.get(task.section_id)
        writing = engine or self._kept()
        if owner := writing.reports.store.owner_of(task.report_id):
            writing = writing.of(owner)
        workspace = writing.reports
        if task.writer != workspace.models.writer_name:
            # Asked under other settings: nothing else stands in for it.
            self._give_up(task, engine, _other_writer(task.writer, workspace.models.writer_name))
            return
        stop = Stop()
        with self._lock:
            lane.live, lane.stop = Live(task.report_id, task.section_id), stop
        if self._closing.is_set():
            stop.set()
        # In a thread of its own, whose outcome tells a defect too: it must not end the queue.
        outcome = lane.pool.submit(
            workspace.write, task, partial(self._heard, lane), stop, abandoned=self._closing.is_set
        )
        with self._jobs().shown(lambda: Job(task.report_id, by=task.section_id), stop.set, LOCK):
            error = outcome.exception()
        with self._lock:
            if lane.once_more is None:
                lane.live = lane.stop = None
        if self._closing.is_set():
            return
        if error is None:
            trouble = workspace.store.trouble(task.section_id)
        elif isinstance(error, GroundworkError):
            trouble = error.as_dict()
        else:
            trouble = _defect(error)
            _log.error("filling section %s failed", task.section_id, exc_info=error)
            workspace.store.drop_task(task.section_id, trouble)
        hopeless = trouble is not None and trouble["code"] not in OF_ONE_SECTION
        if trouble is not None and hopeless:
            self._give_up(task, engine, trouble)
        self._leave(lane, task, once_more=not hopeless)

    def _give_up(self, task: Task, engine: Engine | None, trouble: dict[str, Any]) -> None:
        """Drop all waiting sections like ``task``: same report, same writer and same ``engine`` (None: the
        process's)."""
        store = self._kept().reports.store
        with self._lock:
            alike = [
                other.section_id
                for other in store.tasks()
                if (other.report_id, other.writer, other.visit) == (task.report_id, task.writer, task.visit)
                and self._engines.get(other.section_id) is engine
            ]
            store.drop_tasks(task.report_id, [task.section_id, *alike], trouble)

    def _leave(self, lane: _Lane, task: Task, *, once_more: bool) -> None:
        """Mark a section as no longer in work; one stopped and requested again meanwhile is queued again."""
        with self._lock:  # with the queue, so that a stop finds either
            if all(other.section_id != task.section_id for other in self._kept().reports.store.tasks()):
                self._engines.pop(task.section_id, None)
            again, lane.once_more = lane.once_more, None
            if again is not None and once_more:
                engine, section_ids, instruction = again
                try:
                    self._queue(engine, task.report_id, section_ids, instruction)
                except GroundworkError as gone:  # accepted or deleted meanwhile
                    _log.info("Section %s is not filled again: %s", task.section_id, gone.message)
            lane.live = lane.stop = None
        self._begin()

    def _heard(self, lane: _Lane, event: AnswerEvent) -> None:
        live = lane.live
        if live is None:
            return
        match event:
            case Found(_, sources):
                self._put(
                    lane, stage="write", round=live.round + 1, text="", marks=(), citations=(), sources=len(sources)
                )
            case Text(text):
                self._put(lane, text=live.text + text)
            case Cited(citation):
                self._put(lane, **cited(live, citation))
            case Checked():
                self._put(lane, stage="check")

    def _put(self, lane: _Lane, **changes: object) -> None:
        with self._lock:
            if lane.live is not None:
                lane.live = replace(lane.live, revision=lane.live.revision + 1, **changes)  # type: ignore[arg-type]
