"""Check job: one draft at a time, sentence by sentence."""

from __future__ import annotations

from functools import partial

from ragcore.engine import Engine
from ui.server.queue import Job, Queue


class CheckJobs(Queue):
    """Queue of checks. A check keeps the engine that it was asked with."""

    def __init__(self) -> None:
        super().__init__("check")

    def run(self, check_id: str, engine: Engine) -> None:
        """Queue a check, unless it is queued. Raises `UnknownCheck`."""
        info = engine.checks.info(check_id)
        self.put(Job(check_id, info.name), partial(engine.checks.run, check_id))
