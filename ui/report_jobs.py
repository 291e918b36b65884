"""Filling reports in the background: one worker per process, whatever happens to pages and tabs.

What waits is in SQLite (`ragcore.index.reports`), so that a restart goes on with it, and the section that was in work
is done again; this module adds what only a running job knows: what is being written right now.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from filelock import FileLock, Timeout

from ragcore.drafting import Desk
from ragcore.engine import Engine
from ragcore.errors import GroundworkError
from ragcore.index.report_rows import Task
from ragcore.stop import Stop
from ragcore.types import AnswerEvent, Checked, Citation, Cited, Dropped, Found, Mark, Text
from ui.payload import model_name

_log = logging.getLogger(__name__)

# What is wrong with one section and not with those after it.
OF_ONE_SECTION = ("request_refused", "stream_broken", "unknown_document", "input_error", "unknown_section")
TRY_AGAIN_SECONDS = 5.0  # while another process of Groundwork fills the same reports


@dataclass(frozen=True)
class Live:
    """The section in work at one moment. ``text`` with ``marks`` is what has been written of it in its ``round``;
    ``stage`` is ``search``, ``write`` or ``check``."""

    report_id: str
    section_id: str
    revision: int = 0
    stage: str = "search"
    round: int = 0
    text: str = ""
    marks: tuple[Mark, ...] = ()
    citations: tuple[Citation, ...] = ()
    sources: int = 0
    started: float = field(default_factory=time.time)
    stopping: bool = False


def _defect(error: BaseException) -> dict[str, Any]:
    return {
        "code": "defect",
        "message": f"Groundwork failed while it filled this section: {error!r}.",
        "hint": "Fill it again; if it fails again, report it with this message.",
        "retryable": True,
    }


def _other_writer(asked: str, now: str) -> dict[str, Any]:
    return {
        "code": "other_writer",
        "message": f"This report was being filled by {model_name(asked)}, and {model_name(now)} is in force now.",
        "hint": "Set the key or the model again, or fill the rest by what is in force.",
        "retryable": True,
    }


class ReportJobs:
    """The worker that fills reports, section by section in the order of the queue. `live` may be read from any thread.
    ``kept`` gives the engine of this process; a visit's own writes what was queued in it. Of several processes on one
    home, one works at a time."""

    def __init__(self, kept: Callable[[], Engine]) -> None:
        self._kept = kept
        self._engines: dict[str, Engine] = {}  # of the visits that had reports filled
        self._live: Live | None = None
        self._stop: Stop | None = None
        self._once_more: tuple[Desk, list[str] | None, str] | None = None  # `queue` for when what is stopped has ended
        self._work: Future[None] | None = None
        self._again = False
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reports")
        self._sections = ThreadPoolExecutor(max_workers=1, thread_name_prefix="section")

    def resume(self) -> None:
        """Go on with what waits, if anything does."""
        if self._kept().reports.store.tasks():
            self._begin()

    def fill(
        self,
        report_id: str,
        section_ids: Sequence[str] | None = None,
        instruction: str = "",
        engine: Engine | None = None,
    ) -> None:
        """Queue sections (None: all that nothing is written of), to be written by ``engine``, and begin. Raises as
        `Desk.queue` does."""
        chosen = engine or self._kept()
        with self._lock:
            chosen.reports.queue(report_id, section_ids, instruction)
            self._engines[report_id] = chosen
            live = self._live
            # One that is just being stopped waits no more when that is done, though it may be wanted again.
            if live is not None and live.stopping and live.report_id == report_id:
                if section_ids is None:
                    self._once_more = (chosen.reports, None, "")
                elif live.section_id in section_ids:
                    self._once_more = (chosen.reports, [live.section_id], instruction)
        self._begin()

    def stop(self, report_id: str) -> None:
        """End the filling of a report: the section in work keeps what it has, and those that wait are not begun."""
        store = self._kept().reports.store
        with self._lock:
            live, stop = self._live, self._stop
            if live is not None and live.report_id == report_id:
                self._once_more = None
        at_work = live is not None and live.report_id == report_id
        for task in store.tasks():
            if task.report_id == report_id and not (at_work and live and task.section_id == live.section_id):
                store.drop_task(task.section_id)
        if at_work and stop is not None:
            self._put(stopping=True)
            stop.set()

    def live(self, report_id: str) -> Live | None:
        """What is being written of a report right now."""
        live = self._live
        return live if live is not None and live.report_id == report_id else None

    def close(self) -> None:
        """End the work; the section in work is done again at the next start."""
        self._closing.set()
        with self._lock:
            stop = self._stop
        if stop is not None:
            stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._sections.shutdown(wait=True)

    def _begin(self) -> None:
        with self._lock:
            if self._closing.is_set():
                return
            self._again = True
            if self._work is None or self._work.done():
                self._work = self._pool.submit(self._run)

    def _run(self) -> None:
        """The worker thread's job: all that waits, until nothing does."""
        folder = self._kept().home / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "reports.lock", thread_local=False, mode=0o600)
        while not self._closing.is_set():
            try:
                with lock.acquire(timeout=0):
                    self._drain()
            except Timeout:
                # Another process is at it, and takes what was queued here too; where it ends first, this one goes on.
                self._closing.wait(TRY_AGAIN_SECONDS)
            with self._lock:
                if not self._again and not self._kept().reports.store.tasks():
                    self._work = None
                    return
                self._again = False

    def _drain(self) -> None:
        while not self._closing.is_set():
            with self._lock:
                self._again = False
            tasks = self._kept().reports.store.tasks()
            if not tasks:
                return
            self._write(tasks[0])

    def _write(self, task: Task) -> None:
        with self._lock:
            engine = self._engines.get(task.report_id)
        desk = (engine or self._kept()).reports
        asked = desk.store.writer(task.report_id)
        if asked != desk.models.writer_name:
            # Asked of a visit's key, which a restart forgets, or of other settings: nothing else stands in for it.
            desk.store.drop_tasks(task.report_id, _other_writer(asked, desk.models.writer_name))
            return
        stop = Stop()
        with self._lock:
            self._live, self._stop = Live(task.report_id, task.section_id), stop
        if self._closing.is_set():
            stop.set()
        # In a thread of its own, whose outcome tells a defect too: it must not end the queue.
        outcome = self._sections.submit(desk.write, task, self._heard, stop, abandoned=self._closing.is_set)
        error = outcome.exception()
        with self._lock:
            if self._once_more is None:
                self._live = self._stop = None
        if self._closing.is_set():
            return
        if error is None:
            trouble = desk.store.trouble(task.section_id)
        elif isinstance(error, GroundworkError):
            trouble = error.as_dict()
        else:
            trouble = _defect(error)
            _log.error("filling section %s failed", task.section_id, exc_info=error)
            desk.store.drop_task(task.section_id, trouble)
        hopeless = bool(trouble and trouble["code"] not in OF_ONE_SECTION)
        if hopeless:
            desk.store.drop_tasks(task.report_id, trouble)
        self._leave(task, once_more=not hopeless)

    def _leave(self, task: Task, *, once_more: bool) -> None:
        """A section is no longer in work; where it was stopped and asked for again meanwhile it waits anew."""
        with self._lock:  # with the queue, so that a stop finds either
            again, self._once_more = self._once_more, None
            if again is not None and once_more:
                desk, section_ids, instruction = again
                try:
                    desk.queue(task.report_id, section_ids, instruction)
                except GroundworkError as gone:  # accepted or deleted meanwhile
                    _log.info("Section %s is not filled again: %s", task.section_id, gone.message)
            self._live = self._stop = None

    def _heard(self, event: AnswerEvent) -> None:
        live = self._live
        if live is None:
            return
        match event:
            case Found(_, sources):
                self._put(stage="write", round=live.round + 1, text="", marks=(), citations=(), sources=len(sources))
            case Text(text):
                self._put(text=live.text + text)
            case Cited(citation):
                mark = f"[{citation.n}]"
                start = len(live.text)
                known = any(other.n == citation.n for other in live.citations)
                self._put(
                    text=live.text + mark,
                    marks=(*live.marks, Mark(start, start + len(mark), citation.n)),
                    citations=live.citations if known else (*live.citations, citation),
                )
            case Checked():
                self._put(stage="check")
            case Dropped():
                pass

    def _put(self, **changes: object) -> None:
        with self._lock:
            if self._live is not None:
                self._live = replace(self._live, revision=self._live.revision + 1, **changes)  # type: ignore[arg-type]
