"""What every `VectorStore` does, against brute force."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from ragcore.config.settings import load
from ragcore.errors import IndexMismatch, StoreBusy, VectorStoreError
from ragcore.index.chroma import ChromaIndex
from ragcore.index.chunks import Entries
from ragcore.index.indexer import Indexer
from ragcore.index.pgvector import pgvector
from ragcore.index.postgres import PostgresDatabase
from ragcore.index.store import Store
from ragcore.index.vectors import VectorIndex, VectorStore
from ragcore.protocols import Nearest, Vector
from ragcore.types import Entry, Scope, Section
from tests.libraries import HashEmbedder, add_document
from tests.ports import free_port
from tests.postgres import empty
from tests.providers.models import unit_vectors

VECTORS = unit_vectors(60, 16)
IDS = [f"d{row // 20}:{row % 20}" for row in range(60)]
# Document d0 to d2, one chunk in five a table, every chunk touches its page and the next and has 100 characters.
ENTRIES = [
    Entry(IDS[row], f"d{row // 20}", "table" if row % 5 == 0 else "text", at + 1, at + 2, 100 * at, 100 * at + 100)
    for row in range(60)
    for at in [row % 20]
]


def loaded(doc_ids: Sequence[str]) -> tuple[Entries, Vector]:
    rows = [row for doc_id in doc_ids for row, entry in enumerate(ENTRIES) if entry.doc_id == doc_id]
    return Entries.of([ENTRIES[row] for row in rows]), VECTORS[rows]


def inside(scope: Scope, entry: Entry) -> bool:
    return (
        (scope.doc_ids is None or entry.doc_id in scope.doc_ids)
        and (not scope.kinds or entry.kind in scope.kinds)
        and (not scope.pages or any(entry.first_page <= b and entry.last_page >= a for a, b in scope.pages))
        and (
            not scope.sections
            or any(
                entry.doc_id == one.doc_id and entry.start < one.end and entry.end > one.start for one in scope.sections
            )
        )
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a Chroma server."""
    port = free_port()
    folder = tmp_path_factory.mktemp("server")
    command = [sys.executable, "-c", "from chromadb.cli.cli import app; app()"]
    arguments = ["run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 60
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    assert process.poll() is None
                    assert time.monotonic() < until
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


@pytest.fixture(scope="module", params=["memory", "folder", "server", "pgvector"])
def make(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], VectorStore]:
    """Empty stores of one kind."""
    if request.param == "memory":
        return VectorIndex
    if request.param == "pgvector":
        url = empty(request.getfixturevalue("postgres"), vectors=True)
        return lambda: pgvector(of_three(PostgresDatabase(url, uuid.uuid4().hex)), "hash")
    where = tmp_path_factory.mktemp("chroma") / "chroma"
    if request.param == "server":
        where = request.getfixturevalue("server")
    return lambda: ChromaIndex(where, f"test-{uuid.uuid4().hex}")


def of_three(database: PostgresDatabase) -> PostgresDatabase:
    """A library with the three documents, which have no chunks."""
    with database.write() as connection:
        for doc_id in ("d0", "d1", "d2"):
            row = {"doc_id": doc_id, "sha256": doc_id, "name": doc_id, "bytes": 0, "status": "ready", "created": 0.0}
            connection.insert("documents", row)
    return database


@pytest.fixture(scope="module")
def index(make: Callable[[], VectorStore]) -> VectorStore:
    return make().updated({"d0": "", "d1": "", "d2": ""}, loaded)


def test_it_starts_empty(make: Callable[[], VectorStore]) -> None:
    empty = make()
    assert isinstance(empty, Nearest)
    assert (len(empty), empty.query(VECTORS[0], 5)) == (0, [])


def test_the_nearest_by_cosine_come_first(index: VectorStore) -> None:
    query = VECTORS[3] + 0.3 * VECTORS[41]
    query /= np.linalg.norm(query)
    exact = VECTORS @ query
    found = index.query(query, 10)
    assert [chunk_id for chunk_id, _ in found] == [IDS[row] for row in np.argsort(-exact)[:10]]
    np.testing.assert_allclose([score for _, score in found], np.sort(exact)[::-1][:10], atol=1e-5)
    assert len(index.query(query, 1000)) == 60


def test_given_chunks_are_scored_if_they_have_a_vector(index: VectorStore) -> None:
    found = index.scores(VECTORS[3], [IDS[40], "unknown", IDS[3]])
    assert found == pytest.approx({IDS[40]: float(VECTORS[40] @ VECTORS[3]), IDS[3]: 1.0}, abs=1e-5)
    assert index.scores(VECTORS[3], []) == {}


@pytest.mark.parametrize(
    "scope",
    [
        Scope(("d2",)),
        Scope(("d0", "d2")),
        Scope(("unknown",)),
        Scope(()),
        Scope(kinds=("table",)),
        Scope(kinds=("table", "text")),
        Scope(kinds=("figure",)),
        Scope(pages=((7, 7),)),
        Scope(pages=((1, 3), (20, 99))),
        Scope(pages=((22, 99),)),
        Scope(("d1",), ((5, 6),)),
        Scope(("d0", "d2"), ((5, 16),), ("table",)),
        Scope(sections=(Section("d1", 250, 700, ("Cash",)),)),
        Scope(sections=(Section("d0", 0, 100, ("Cash",)), Section("d2", 1999, 2000, ("Debt",)))),
        Scope(("d1",), ((5, 6),), ("text",), sections=(Section("d1", 0, 450, ("Cash",)),)),
        Scope(("d1",), sections=(Section("d2", 0, 450, ("Cash",)),)),
    ],
)
def test_only_what_is_in_the_scope_answers_and_all_of_it(index: VectorStore, scope: Scope) -> None:
    exact = {entry.chunk_id: float(row) for entry, row in zip(ENTRIES, VECTORS @ VECTORS[3]) if inside(scope, entry)}
    ranked = sorted(exact, key=lambda chunk_id: -exact[chunk_id])
    assert [chunk_id for chunk_id, _ in index.query(VECTORS[3], 60, scope)] == ranked
    assert [chunk_id for chunk_id, _ in index.query(VECTORS[3], 4, scope)] == ranked[:4]


def test_equal_vectors_come_in_the_order_of_their_ids() -> None:
    entries = Entries.of([Entry(f"d:{n}", "d") for n in (3, 1, 2, 0)])
    index = VectorIndex({"d": ""}, entries, np.repeat(VECTORS[:1], 4, axis=0))
    assert [chunk_id for chunk_id, _ in index.query(VECTORS[0], 3)] == ["d:0", "d:1", "d:2"]


def test_an_update_loads_only_what_is_new_and_forgets_what_is_gone(make: Callable[[], VectorStore]) -> None:
    asked: list[str] = []

    def load(doc_ids: Sequence[str]) -> tuple[Entries, Vector]:
        asked.extend(doc_ids)
        return loaded(doc_ids)

    now = make().updated({"d0": "a", "d1": "a"}, load)
    assert asked == ["d0", "d1"]
    steps: list[tuple[Mapping[str, str], list[str]]] = [
        ({"d0": "a", "d1": "a"}, []),
        ({"d0": "a", "d1": "b"}, ["d1"]),
        ({"d1": "b"}, []),
        ({"d1": "b", "d2": "a", "d0": "c"}, ["d2", "d0"]),
        ({}, []),
    ]
    for wanted, expected in steps:
        asked.clear()
        now = now.updated(wanted, load)
        assert asked == expected
        held = {entry.chunk_id for entry in ENTRIES if entry.doc_id in wanted}
        assert {chunk_id for chunk_id, _ in now.query(VECTORS[3], 60)} == held
        assert len(now) == len(held)


def test_in_memory_an_index_in_use_stays_as_it_is() -> None:
    first = VectorIndex().updated({"d0": "a", "d1": "a"}, loaded)
    first.updated({}, loaded)
    assert len(first) == 40


def test_a_vector_of_another_length_is_refused(index: VectorStore) -> None:
    with pytest.raises(IndexMismatch):
        index.query(unit_vectors(1, 8)[0], 1)


def test_what_a_killed_process_left_in_chroma_is_written_again(tmp_path: Path) -> None:
    def killed(doc_ids: Sequence[str]) -> tuple[Entries, Vector]:
        if "d1" in doc_ids:
            raise KeyboardInterrupt
        return loaded(doc_ids)

    index = ChromaIndex(tmp_path / "chroma", "test")
    index.updated({"d0": "a", "d1": "a"}, loaded)
    with pytest.raises(KeyboardInterrupt):
        index.updated({"d0": "b", "d1": "b"}, killed)
    again = ChromaIndex(tmp_path / "chroma", "test").updated({"d0": "b", "d1": "b"}, loaded)
    assert {chunk_id for chunk_id, _ in again.query(VECTORS[0], 60)} == set(IDS[:40])


def test_a_chroma_folder_serves_one_process_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    ChromaIndex(folder, "test")
    code = "import sys, pathlib, ragcore.index.chroma as c; c.ChromaIndex(pathlib.Path(sys.argv[1]), 'test')"
    other = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True)
    assert f"{StoreBusy.__name__}: Another Groundwork process" in other.stderr


def test_a_server_that_does_not_answer_is_named() -> None:
    with pytest.raises(VectorStoreError, match=r"http://127\.0\.0\.1:9") as raised:
        ChromaIndex("http://127.0.0.1:9", "test")
    assert "chroma run" in raised.value.hint


def test_a_library_is_found_through_a_chroma_server(server: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    add_document(store, "alpha", ["Alpha makes pumps.", "Revenues were 1,577 million."])
    embedder, found = HashEmbedder(), []
    for kind in ("memory", f"chroma:{server}"):
        settings = load(environ={}, overrides={"index.vector_store": kind})[0].index
        indexer = Indexer(store, embedder, settings)
        indexer.update()
        vectors, _ = indexer.open()
        found.append([chunk_id for chunk_id, _ in vectors.query(embedder.embed_query("pumps"), 5)])
    assert found[0] == found[1]
    assert len(found[0]) == 2
