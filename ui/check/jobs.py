"""Check job: one draft at a time, sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ragcore.engine import Engine
from ragcore.index.database import Database
from ragcore.index.jobs import Job
from ui.server.queue import Queue


class CheckJobs(Queue):
    """Queue of checks. A check keeps the engine that it was asked with."""

    def __init__(self, database: Callable[[], Database]) -> None:
        super().__init__("check", database)

    def run(self, check_id: str, engine: Engine) -> None:
        """Queue a check, unless it is queued. Raises `UnknownCheck`."""
        info = engine.checks.info(check_id)
        self.put(Job(check_id, info.name), partial(engine.checks.run, check_id))
