"""Check job: one draft at a time, sentence by sentence, by rules or by a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ragcore.engine import Engine
from ragcore.index.database import Database
from ragcore.index.jobs import Job
from ui.server.queue import Queue

MODEL = "model"  # by whom a job has sentences read


class CheckJobs(Queue):
    """Queue of checks. A check keeps the engine that it was asked with."""

    def __init__(self, database: Callable[[], Database]) -> None:
        super().__init__("check", database)

    def run(self, check_id: str, engine: Engine) -> None:
        """Queue a check, unless it is queued. Raises `UnknownCheck`."""
        info = engine.checks.info(check_id)
        self.put(Job(check_id, info.name), partial(engine.checks.run, check_id))

    def ask(self, check_id: str, engine: Engine, max_usd: float) -> None:
        """Queue having a model read a check, for ``max_usd`` at most, unless it is queued. Raises `UnknownCheck`."""
        info = engine.checks.info(check_id)
        self.put(Job(check_id, info.name, MODEL), partial(engine.checks.run, check_id, max_usd=max_usd, ask=True))
