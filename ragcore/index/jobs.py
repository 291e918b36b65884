"""Jobs at work in a library that several processes use: each shows how far its own are, sees those of the others, and
ends what somebody stopped on another one. A job lives as long as its process holds the lock that its row names, so one
whose process died is not shown."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from ragcore.errors import StoreError
from ragcore.index.database import Database, Row, made

_log = logging.getLogger(__name__)
EVERY = 1.0  # seconds between two signs of a job at work
_FEW = 3  # parts that tell how long the others take


@dataclass(frozen=True)
class Job:
    """Snapshot of work on ``target``, the id of a run or a check for one: ``done`` of ``total`` parts, of which
    ``before`` were done when it ``began`` (monotonic seconds, 0: it waits). ``by`` judges a run, or says what rules
    can't of a grid, "" if nothing does; of a report it is the section. ``stopping`` if a person asked for its end;
    ``elsewhere`` if another process is at work on it."""

    target: str
    name: str = ""
    by: str = ""
    done: int = 0
    total: int = 0
    before: int = 0
    began: float = 0.0
    stopping: bool = False
    elsewhere: bool = False

    @property
    def seconds_left(self) -> float | None:
        """None until a few parts are done: the first of all takes far longer, as models are loaded for it."""
        done = self.done - self.before
        return (time.monotonic() - self.began) / done * (self.total - self.done) if done >= _FEW else None

    def state(self, first: bool) -> str:
        """``stopping``, ``running`` if it is the ``first`` of its queue, else ``waiting``."""
        if self.stopping:
            return "stopping"
        return "running" if first or self.elsewhere else "waiting"


class Jobs:
    """Jobs of one ``kind``. Those of a library that one process uses are told by that process alone: here it has none.
    Raises `StoreError`."""

    def __init__(self, database: Database, kind: str) -> None:
        self._database = database
        self._kind = kind

    def all(self) -> list[Job]:
        """Jobs at work in every process, all told as if ``elsewhere``."""
        if not self._database.shared:
            return []
        rows = self._database.rows("SELECT * FROM jobs WHERE kind = ? ORDER BY target, made_by", self._kind)
        held = self._database.taken({row["lock"] for row in rows}) if rows else set()
        return [_job(row) for row in rows if row["lock"] in held]

    def stop(self, target: str) -> None:
        """Ask whatever process is at work on ``target`` ("": all) to end it."""
        if self._database.shared:
            its = {"kind": self._kind} | ({"target": target} if target else {})
            with self._database.write() as connection:
                connection.update("jobs", _where(its), *its.values(), stopping=True)

    @contextmanager
    def shown(self, now: Callable[[], Job], stop: Callable[[], None], lock: str) -> Iterator[None]:
        """Show a job while it is at work, under a ``lock`` that who calls holds. ``stop`` is called, once, on another
        thread, when another process asks for its end. What can't be told is logged: the job goes on."""
        if not self._database.shared:
            yield
            return
        first, ended = now(), threading.Event()
        key = {"kind": self._kind, "target": first.target, "made_by": first.by}
        where, its = _where(key), tuple(key.values())
        row = {**key, "name": first.name, "lock": lock, **_progress(first), "stopping": False}

        def tell() -> None:
            asked = False
            while not ended.wait(EVERY):
                with _told(), self._database.write() as connection:
                    connection.update("jobs", where, *its, **_progress(now()))
                    stopping = connection.value(f"SELECT stopping FROM jobs WHERE {where}", *its)
                    if stopping and not asked:
                        asked = True
                        stop()

        with _told(), self._database.write() as connection:
            connection.insert("jobs", row, key=", ".join(key))
        teller = threading.Thread(target=tell, name="job", daemon=True)
        teller.start()
        try:
            yield
        finally:
            ended.set()
            teller.join()
            with _told(), self._database.write() as connection:
                connection.execute(f"DELETE FROM jobs WHERE {where}", its)


def _where(key: Mapping[str, str]) -> str:
    return " AND ".join(f"{column} = ?" for column in key)


def _progress(job: Job) -> dict[str, float]:
    """Progress as a row has it: its clock is no other process's."""
    seconds = time.monotonic() - job.began if job.began else 0.0
    return {"done": job.done, "total": job.total, "before": job.before, "seconds": seconds}


def _job(row: Row) -> Job:
    began = time.monotonic() - row["seconds"] if row["seconds"] else 0.0
    return made(Job, row, by=row["made_by"], began=began, elsewhere=True)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except StoreError as error:  # it may be back at the next sign
        _log.warning("What is at work here could not be told to other servers: %s", error.message)
