"""Queue of work in the background: one thing at a time, whatever page is open. What it has done is stored by who does
it: after a restart what was cut off is started again by hand, and goes on. Of a library that several servers use, each
works off its own queue, and shows what is at work on all of them (`ragcore.index.jobs`)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from ragcore.engine import Engine
from ragcore.errors import Cancelled, GroundworkError, StoreBusy, StoreError
from ragcore.index.database import Database
from ragcore.index.jobs import Job, Jobs

MODEL = "model"  # by whom a job is done that asks one


class Queue:
    """Queue of jobs of a library, worked off in a thread called ``name``. Thread-safe."""

    def __init__(self, name: str, database: Callable[[], Database]) -> None:
        self._name = name
        self._database = database
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._jobs: dict[threading.Event, Job] = {}  # by what stops each; the first is at work
        self.trouble: Mapping[str, Any] | None = None  # of the last job that failed as a whole, with its ``target``

    @property
    def jobs(self) -> list[Job]:
        """What is at work here, and what waits."""
        with self._lock:
            return list(self._jobs.values())

    def everywhere(self) -> list[Job]:
        """`jobs`, and what is at work on other servers. Raises `StoreError`."""
        at_work, here = self._shown().all(), self.jobs
        own = {(job.target, job.by) for job in here[:1]}
        others = {(job.target, job.by): job for job in at_work if (job.target, job.by) not in own}
        return [*(job for job in here if (job.target, job.by) not in others), *others.values()]

    def put(self, wanted: Job, work: Callable[..., object]) -> None:
        """Queue a job, unless it is queued. ``work`` is given what shows its progress, and what tells that it is to
        stop."""
        with self._lock:
            known = {(job.target, job.by) for job in self._jobs.values() if not job.stopping}
            if (wanted.target, wanted.by) not in known:
                stop = threading.Event()
                self._jobs[stop] = wanted
                self.trouble = None
                self._pool.submit(self._work, stop, work)

    def stop(self, target: str = "") -> None:
        """End the work on ``target`` ("": all) after its part at hand, on whatever server, and drop what waits of
        it."""
        self._end(target)
        self._shown().stop(target)

    def _end(self, target: str = "") -> None:
        """End and drop what is here of ``target`` ("": all)."""
        with self._lock:
            first = next(iter(self._jobs), None)
            for stop, job in list(self._jobs.items()):
                if target not in ("", job.target):
                    continue
                stop.set()
                if stop is first:
                    self._jobs[stop] = replace(job, stopping=True)
                else:
                    del self._jobs[stop]

    def close(self) -> None:
        self._end()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, stop: threading.Event, work: Callable[..., object]) -> None:
        def show(done: int, total: int) -> None:
            with self._lock:
                job = self._jobs[stop]
                if not job.began:
                    job = replace(job, before=done, began=time.monotonic())
                self._jobs[stop] = replace(job, done=done, total=total)

        try:
            if not stop.is_set():
                with self._at_work(stop):
                    work(show, stop.is_set)
        except (Cancelled, _Elsewhere):
            pass
        except GroundworkError as error:
            self._fail(stop, error.as_dict())
        except BaseException as error:
            hint = "Start it again. If it fails again, report this message."
            self._fail(stop, {"message": f"The run failed: {error!r}.", "hint": hint})
            raise
        finally:
            with self._lock:
                self._jobs.pop(stop, None)

    @contextmanager
    def _at_work(self, stop: threading.Event) -> Iterator[None]:
        """Context in which other servers see a job, and leave it to this one. Raises `_Elsewhere` if one has it."""
        database = self._database()
        if not database.shared:
            yield
            return

        def now() -> Job:
            with self._lock:
                return self._jobs[stop]

        lock = f"{self._name}.{now().target}"
        with ExitStack() as held:
            try:
                held.enter_context(database.locked(lock, ""))
            except StoreBusy as error:
                raise _Elsewhere from error
            with self._shown().shown(now, lambda: self._end(now().target), lock):
                yield
            with suppress(StoreError):  # lost: what was done is stored all the same
                held.close()

    def _shown(self) -> Jobs:
        return Jobs(self._database(), self._name)

    def _fail(self, stop: threading.Event, error: Mapping[str, Any]) -> None:
        with self._lock:
            self.trouble = {**error, "target": self._jobs[stop].target}


class WorkQueue(Queue):
    """Queue of checks or grids, of which ``store`` picks an engine's. Each keeps the engine that it was asked with."""

    def __init__(self, name: str, database: Callable[[], Database], store: Callable[[Engine], Any]) -> None:
        super().__init__(name, database)
        self._store = store

    def run(self, target: str, engine: Engine, max_usd: float = 0.0) -> None:
        """Queue one, unless it is queued; it costs ``max_usd`` at most. Raises `Unknown`."""
        self._run(target, engine, "", max_usd=max_usd)

    def ask(self, target: str, engine: Engine, max_usd: float) -> None:
        """Queue having a model asked about it, for ``max_usd`` at most, unless it is queued. Raises `Unknown`."""
        self._run(target, engine, MODEL, max_usd=max_usd, ask=True)

    def _run(self, target: str, engine: Engine, by: str, **given: Any) -> None:
        store = self._store(engine)
        self.put(Job(target, store.info(target).name, by), partial(store.run, target, **given))


class _Elsewhere(Exception):
    """Error: another server is at work on the same."""
