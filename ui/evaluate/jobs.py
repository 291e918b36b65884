"""Evaluation job: one run at a time, in the background, whatever page is open. What it has answered is stored: after a
restart a run that was cut off is started again by hand, and goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from ragcore.engine import Engine
from ragcore.errors import Cancelled, GroundworkError
from ragcore.evaluate.runs import Configuration


@dataclass(frozen=True)
class Job:
    """Snapshot of a run: ``done`` of ``total`` questions; ``stopping`` if a person asked for its end."""

    set_id: str
    name: str
    within: bool
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
        self._jobs: list[Job] = []  # the first is at work
        self._stop = threading.Event()
        self.trouble: Mapping[str, Any] | None = None  # of the last run that failed as a whole

    @property
    def jobs(self) -> list[Job]:
        """What is at work, and what waits."""
        with self._lock:
            return list(self._jobs)

    def run(self, set_id: str, configuration: Configuration, within: bool, engine: Engine | None = None) -> None:
        """Queue a run, unless it is queued. Raises `ConfigError` if the settings are refused."""
        chosen = engine or self._kept()
        chosen.with_settings(configuration.overrides)
        with self._lock:
            if any((job.set_id, job.name, job.within) == (set_id, configuration.name, within) for job in self._jobs):
                return
            self._jobs.append(Job(set_id, configuration.name, within))
            self.trouble = None
        self._pool.submit(self._work, chosen, set_id, configuration, within)

    def stop(self) -> None:
        """End the run at work after its question, and drop the waiting ones."""
        with self._lock:
            self._jobs = [replace(job, stopping=True) for job in self._jobs[:1]]
        self._stop.set()

    def close(self) -> None:
        self.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, engine: Engine, set_id: str, configuration: Configuration, within: bool) -> None:
        with self._lock:
            if not any((job.name, job.set_id) == (configuration.name, set_id) for job in self._jobs):
                return  # it was dropped while it waited
            self._stop.clear()

        def show(done: int, total: int) -> None:
            with self._lock:
                self._jobs[0] = replace(self._jobs[0], done=done, total=total)

        try:
            engine.evaluation.run(set_id, configuration, within, show, self._stop.is_set)
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
                self._jobs = self._jobs[1:]
