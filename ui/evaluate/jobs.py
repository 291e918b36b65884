"""Evaluation job: one run at a time, answered or judged, in the background, whatever page is open. What it has done is
stored: after a restart a run that was cut off is started again by hand, and goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ragcore.engine import Engine
from ragcore.errors import Cancelled, GroundworkError
from ragcore.evaluate.runs import Configuration


@dataclass(frozen=True)
class Job:
    """Snapshot of a run: ``done`` of ``total`` questions; ``by`` judges its answers, "" answers them; ``stopping`` if
    a person asked for its end."""

    run_id: str
    name: str
    by: str = ""
    done: int = 0
    total: int = 0
    stopping: bool = False


class EvaluationJobs:
    """Queue of runs. ``kept`` returns the engine of this process; a run keeps the engine that it was asked with.
    Thread-safe."""

    def __init__(self, kept: Callable[[], Engine]) -> None:
        self._kept = kept
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="evaluate")
        self._lock = threading.Lock()
        self._jobs: dict[threading.Event, Job] = {}  # by what stops each; the first is at work
        self.trouble: Mapping[str, Any] | None = None  # of the last run that failed as a whole

    @property
    def jobs(self) -> list[Job]:
        """What is at work, and what waits."""
        with self._lock:
            return list(self._jobs.values())

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
        self._queue(Job(run_id, configuration.name), work)
        return run_id

    def judge(self, run_id: str, by: str, max_usd: float, engine: Engine) -> None:
        """Queue the judging of a run, unless it is queued. Raises `UnknownRun`."""
        info = engine.evaluation.info(run_id)
        self._queue(Job(info.run_id, info.name, by), partial(engine.evaluation.judge, info.run_id, by, max_usd))

    def _queue(self, wanted: Job, work: Callable[..., object]) -> None:
        with self._lock:
            known = {(job.run_id, job.by) for job in self._jobs.values() if not job.stopping}
            if (wanted.run_id, wanted.by) not in known:
                stop = threading.Event()
                self._jobs[stop] = wanted
                self.trouble = None
                self._pool.submit(self._work, stop, work)

    def stop(self) -> None:
        """End the run at work after its question, and drop the waiting ones."""
        with self._lock:
            for stop in self._jobs:
                stop.set()
            self._jobs = {stop: replace(job, stopping=True) for stop, job in list(self._jobs.items())[:1]}

    def close(self) -> None:
        self.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, stop: threading.Event, work: Callable[..., object]) -> None:
        def show(done: int, total: int) -> None:
            with self._lock:
                self._jobs[stop] = replace(self._jobs[stop], done=done, total=total)

        try:
            if not stop.is_set():
                work(show, stop.is_set)
        except Cancelled:
            pass
        except GroundworkError as error:
            self.trouble = error.as_dict()
        except BaseException as error:
            hint = "Start it again. If it fails again, report this message."
            self.trouble = {"message": f"The run failed: {error!r}.", "hint": hint}
            raise
        finally:
            with self._lock:
                self._jobs.pop(stop, None)
