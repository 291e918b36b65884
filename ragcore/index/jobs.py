"""Jobs at work in a library that several processes use: each shows how far its own are, sees those of the others, and
ends what somebody stopped on another one. A job lives as long as its process holds the lock that its row names, so one
whose process died is not shown."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ragcore.errors import StoreError
from ragcore.index.database import Database, made

_log = logging.getLogger(__name__)
EVERY = 1.0  # seconds between two signs of a job at work


@dataclass(frozen=True)
class AtWork:
    """Job at work on ``target``, ``by`` as its ``kind`` has it: ``done`` of ``total`` parts, ``before`` of them when it
    began, ``seconds`` ago (0: it hasn't). ``stopping`` if somebody asked for its end."""

    target: str
    by: str = ""
    name: str = ""
    done: int = 0
    total: int = 0
    before: int = 0
    seconds: float = 0.0
    stopping: bool = False


class Jobs:
    """Jobs of one ``kind``. Those of a library that one process uses are told by that process alone: here it has none.
    Raises `StoreError`."""

    def __init__(self, database: Database, kind: str, every: float = EVERY) -> None:
        self._database = database
        self._kind = kind
        self._every = every

    def all(self) -> list[AtWork]:
        """Jobs at work in every process."""
        if not self._database.shared:
            return []
        rows = self._database.rows("SELECT * FROM jobs WHERE kind = ? ORDER BY target, made_by", self._kind)
        held = self._database.taken({row["lock"] for row in rows}) if rows else set()
        return [made(AtWork, row, by=row["made_by"]) for row in rows if row["lock"] in held]

    def stop(self, target: str) -> None:
        """Ask whatever process is at work on ``target`` to end it."""
        if self._database.shared:
            with self._database.write() as connection:
                connection.update("jobs", "kind = ? AND target = ?", self._kind, target, stopping=True)

    @contextmanager
    def shown(self, now: Callable[[], AtWork], stop: Callable[[], None], lock: str) -> Iterator[None]:
        """Show a job while it is at work, under a ``lock`` that who calls holds. ``stop`` is called, once, on another
        thread, when another process asks for its end. What can't be told is logged: the job goes on."""
        if not self._database.shared:
            yield
            return
        first, ended = now(), threading.Event()
        row: dict[str, object] = {"kind": self._kind, "target": first.target, "made_by": first.by}
        where, its = " AND ".join(f"{column} = ?" for column in row), tuple(row.values())
        row |= {"name": first.name, "lock": lock, **_progress(first), "stopping": False}

        def tell() -> None:
            asked = False
            while not ended.wait(self._every):
                with _told(), self._database.write() as connection:
                    connection.update("jobs", where, *its, **_progress(now()))
                    stopping = connection.value(f"SELECT stopping FROM jobs WHERE {where}", *its)
                    if stopping and not asked:
                        asked = True
                        stop()

        with _told(), self._database.write() as connection:
            connection.insert("jobs", row, key="kind, target, made_by")
        teller = threading.Thread(target=tell, name="job", daemon=True)
        teller.start()
        try:
            yield
        finally:
            ended.set()
            teller.join()
            with _told(), self._database.write() as connection:
                connection.execute(f"DELETE FROM jobs WHERE {where}", its)


def _progress(job: AtWork) -> dict[str, float]:
    return {"done": job.done, "total": job.total, "before": job.before, "seconds": job.seconds}


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except StoreError as error:  # it may be back at the next sign
        _log.warning("What is at work here could not be told to other servers: %s", error.message)
