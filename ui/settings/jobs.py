"""Building of trees and graphs in the background, one at a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from ragcore.engine import Engine
from ragcore.errors import Cancelled, GroundworkError, InputError
from ragcore.pipelines.structures import RELATIONS
from ragcore.progress import Progress
from ragcore.types.json import Json

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """Building of the structure ``name``: requests or documents ``done`` of ``total``. ``words`` are what was left out,
    ``error`` why it ended."""

    name: str
    done: int = 0
    total: int = 0
    running: bool = True
    stopping: bool = False
    words: Sequence[str] = ()
    error: Json | None = None


class StructureJobs:
    """The one structure that is being built, whatever pages are open. What was built is kept when it is stopped."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="structures")

    def start(self, engine: Engine, name: str) -> None:
        """Build a structure with the settings and key of ``engine``. Raises `InputError` while another one is built, or
        for an unknown name, and `KeyMissing`."""
        engine.structures.checked([name])
        if name == RELATIONS:
            _ = engine.models.extractor
        with self._lock:
            if self.job is not None and self.job.running:
                raise InputError("Another one is being built.", hint="Wait for it, or stop it.")
            self._ends.clear()
            self.job = Job(name)
        work = self._pool.submit(engine.structures.build, [name], self._show, self._ends.is_set)
        work.add_done_callback(self._ended)

    def stop(self) -> None:
        self._ends.set()
        self._tell(stopping=True)

    def close(self) -> None:
        self._ends.set()
        self._pool.shutdown(wait=True)

    def _show(self, progress: Progress) -> None:
        self._tell(done=progress.done, total=progress.total)

    def _ended(self, work: Future[tuple[str, ...]]) -> None:
        error = work.exception()
        if error is None:
            self._tell(running=False, words=work.result())
        elif isinstance(error, Cancelled):
            self._tell(running=False, words=("Stopped. What was built is kept.",))
        elif isinstance(error, GroundworkError):
            self._tell(running=False, error=error.as_dict())
        else:
            _log.error("A structure couldn’t be built.", exc_info=error)
            hint = "Try again. If it fails again, report this message."
            self._tell(running=False, error={"message": f"An unexpected error occurred: {error!r}.", "hint": hint})

    def _tell(self, **changes: Any) -> None:
        with self._lock:
            if self.job is not None:
                self.job = replace(self.job, **changes)
