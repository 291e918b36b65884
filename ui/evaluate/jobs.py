"""Evaluation job: one run at a time, answered or judged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ragcore.engine import Engine
from ragcore.evaluate.runs import Configuration
from ragcore.index.jobs import Job
from ui.server.queue import Queue


class EvaluationJobs(Queue):
    """Queue of runs. ``kept`` returns the engine of this process; a run keeps the engine that it was asked with."""

    def __init__(self, kept: Callable[[], Engine]) -> None:
        super().__init__("evaluate", lambda: kept().store.database)
        self._kept = kept

    def run(
        self,
        set_id: str,
        configuration: Configuration,
        within: bool,
        engine: Engine | None = None,
        *,
        search: bool = False,
    ) -> str:
        """Queue a run, unless it is queued, and return its id. Raises `ConfigError` if the settings are refused."""
        chosen = engine or self._kept()
        run_id = chosen.evaluation.run_id(set_id, configuration, within, search)
        work = partial(chosen.evaluation.run, set_id, configuration, within, search)
        self.put(Job(run_id, configuration.name), work)
        return run_id

    def judge(self, run_id: str, by: str, max_usd: float, engine: Engine) -> None:
        """Queue the judging of a run, unless it is queued. Raises `UnknownRun`."""
        info = engine.evaluation.info(run_id)
        self.put(Job(info.run_id, info.name, by), partial(engine.evaluation.judge, info.run_id, by, max_usd))
