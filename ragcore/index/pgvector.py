"""Vectors in PostgreSQL by pgvector, 0.8 or later: beside the tables of their library, so that no process holds them.

They are written in the transaction that records it, and deleted with their document. Up to `EXACT` chunks all vectors
in scope are compared. A larger library has a graph of its own (HNSW, Malkov and Yashunin 2018; a partial index, in half
precision), which is approximate: a search that it gives fewer results than requested is made again by comparing all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from ragcore.errors import IndexMismatch, VectorStoreError
from ragcore.index.chunks import KINDS
from ragcore.index.database import IN, URL, Connection, Database, SqliteDatabase
from ragcore.types import EVERYTHING, Scope

if TYPE_CHECKING:
    from ragcore.index.postgres import PostgresDatabase
    from ragcore.index.vectors import Load
    from ragcore.protocols import Vector

EXACT = 30_000  # chunks of a library up to which each is compared
DIGITS = 9  # of a vector's numbers after the point, more than float32 has
GRAPH = "m = 16, ef_construction = 128"
WALK = 800  # chunks that a walk through the graph keeps; 1000, the most there are, take twice the time


def pgvector(database: Database, embedder: str, exact: int = EXACT) -> PgvectorIndex:
    """Empty `PgvectorIndex` of the library in ``database``, whose tables are there then. Raises `VectorStoreError` if
    it isn't in PostgreSQL, or the extension isn't in its database."""
    if isinstance(database, SqliteDatabase):
        raise VectorStoreError(
            "index.vector_store is pgvector, and this library is in an SQLite file.",
            hint=f"Move it with `groundwork admin move`, set {URL}, or set index.vector_store to memory.",
        )
    from ragcore.index.postgres import TABLES, PostgresDatabase

    assert isinstance(database, PostgresDatabase)
    with database.read() as connection:
        schema = connection.value("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'")
        if schema is None:
            raise VectorStoreError(
                "The database in PostgreSQL has no pgvector.",
                hint="Let its administrator run `CREATE EXTENSION vector` in it, or set index.vector_store to memory.",
            )
        ready = connection.value("SELECT to_regclass('nearest')") is not None
    if not ready:
        database.alone(
            resources.files("ragcore.index").joinpath("pgvector.sql").read_text("utf-8").format(TABLES, schema)
        )
    return PgvectorIndex(database, schema, blake2b(embedder.encode(), digest_size=4).hexdigest(), exact)


@dataclass(frozen=True, slots=True)
class PgvectorIndex:
    """`VectorStore` in the database of a library. ``schema`` is that of the extension; ``embedder`` names its rows;
    above ``exact`` chunks it gets a graph, and ``graph`` says whether there is one; ``width`` is the length of the
    vectors (0 without any). Immutable: `updated` returns a new one. Thread-safe. Methods raise `StoreError`."""

    database: PostgresDatabase
    schema: str
    embedder: str
    exact: int
    documents: Mapping[str, str] = field(default_factory=dict)  # id → fingerprint
    width: int = 0
    graph: bool = False

    def __len__(self) -> int:
        query = f"SELECT count(*) FROM nearest WHERE embedder = ? AND doc_id {IN}"
        return int(self.database.value(query, self.embedder, list(self.documents)))

    def updated(self, wanted: Mapping[str, str], load: Load) -> PgvectorIndex:
        """As of `VectorStore`. Documents that it doesn't want stay stored until they are deleted: another process may
        have them."""
        marks = "SELECT doc_id, mark FROM nearest_documents WHERE embedder = ?"
        held = {row["doc_id"]: row["mark"] for row in self.database.rows(marks, self.embedder)}
        for doc_id, mark in wanted.items():
            if held.get(doc_id) != mark:
                self._put(doc_id, mark, load)
        with self._in(self.database.read()) as connection:
            one = f"SELECT vector_dims(vector) FROM nearest WHERE embedder = ? AND doc_id {IN} LIMIT 1"
            width = connection.value(one, self.embedder, list(wanted))
            graph = connection.value("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(?)", self._name)
        return replace(self, documents=dict(wanted), width=width or 0, graph=bool(graph))

    def _put(self, doc_id: str, mark: str, load: Load) -> None:
        of = "embedder = ? AND doc_id = ?"
        with self._in(self.database.write()) as connection:  # nobody else changes the document meanwhile
            if connection.value(f"SELECT mark FROM nearest_documents WHERE {of}", self.embedder, doc_id) == mark:
                return  # another process was first
            if connection.value("SELECT 1 FROM documents WHERE doc_id = ?", doc_id) is None:
                return
            entries, vectors = load([doc_id])
            connection.execute(f"DELETE FROM nearest_documents WHERE {of}", (self.embedder, doc_id))
            own = {"embedder": self.embedder, "doc_id": doc_id}
            connection.insert("nearest_documents", own | {"mark": mark})
            rows = zip(
                entries.ids,
                entries.kinds.tolist(),
                entries.pages.tolist(),
                entries.spans.tolist(),
                vectors,
                strict=True,
            )
            columns = 'embedder, doc_id, chunk_id, kind, first_page, last_page, start, "end", vector'
            connection.executemany(
                f"INSERT INTO nearest ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?::vector)",
                (
                    (*own.values(), one, KINDS[kind], *pages, *span, _text(vector))
                    for one, kind, pages, span, vector in rows
                ),
            )

    def optimize(self) -> None:
        """Build the graph of a library of more than ``exact`` chunks, beside which others go on reading and writing."""
        name = self._name
        with self._in(self.database.read()) as connection:
            known = connection.row(
                "SELECT indisvalid, indexrelid IN (SELECT index_relid FROM pg_stat_progress_create_index)"
                " FROM pg_index WHERE indexrelid = to_regclass(?)",
                name,
            )
            tables = str(connection.value("SELECT current_schema()"))
        if (known is not None and any(known)) or len(self) <= self.exact:
            return
        if known is not None:  # a build that broke off left it
            self.database.alone(f"DROP INDEX CONCURRENTLY IF EXISTS {tables}.{name}")
        self.database.alone(
            f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {tables}.nearest"
            f" USING hnsw ((vector::{self.schema}.halfvec({self.width})) {self.schema}.halfvec_cosine_ops)"
            f" WITH ({GRAPH}) WHERE {self._own}"
        )

    def _whole(self, scope: Scope) -> bool:
        """Whether a scope is most of the library: else a walk meets too little of it."""
        return not scope.narrowed and (scope.doc_ids is None or 2 * len(scope.doc_ids) > len(self.documents))

    @property
    def _name(self) -> str:
        """Name of the graph."""
        return f"nearest_{blake2b(f'{self.database.name} {self.embedder}'.encode(), digest_size=8).hexdigest()}"

    @property
    def _own(self) -> str:
        """Condition of the graph, which a search must have to walk it."""
        return f"library_id = '{self.database.name}' AND embedder = '{self.embedder}'"

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        if not self.width or (scope.doc_ids is not None and not scope.doc_ids):
            return []
        if len(vector) != self.width:
            raise IndexMismatch(f"The index has vectors of {self.width} dimensions, not {len(vector)}.")
        where, values = _where(scope, self.documents)
        exact, near = "vector <=> ?1::vector", f"vector::halfvec({self.width}) <=> ?1::halfvec({self.width})"
        query = f"SELECT chunk_id, 1 - ({exact}) FROM nearest WHERE {self._own} AND {where} ORDER BY {{}} LIMIT {k}"
        found: list[tuple[str, float]] = []
        with self._in(self.database.read()) as connection:
            if self.graph and self._whole(scope):
                # Without the last one a sort of all may seem cheaper.
                _set(
                    connection, **{"hnsw.ef_search": WALK, "hnsw.iterative_scan": "strict_order", "enable_sort": "off"}
                )
                found = [(one, score) for one, score in connection.rows(query.format(near), _text(vector), *values)]
            if len(found) < k:
                _set(connection, jit="off", enable_sort="on")
                by_id = f"{exact}, chunk_id"
                found = [(one, score) for one, score in connection.rows(query.format(by_id), _text(vector), *values)]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))

    def scores(self, vector: Vector, ids: Sequence[str]) -> dict[str, float]:
        query = f"SELECT chunk_id, 1 - (vector <=> ?::vector) FROM nearest WHERE embedder = ? AND chunk_id {IN}"
        with self._in(self.database.read()) as connection:
            return {row[0]: row[1] for row in connection.rows(query, _text(vector), self.embedder, list(ids))}

    @contextmanager
    def _in(self, transaction: AbstractContextManager[Connection]) -> Iterator[Connection]:
        """Transaction that knows the extension's names."""
        with transaction as connection:
            connection.execute("SELECT set_config('search_path', current_schema || ',' || ?, true)", (self.schema,))
            yield connection


def _set(connection: Connection, **settings: object) -> None:
    """Set what holds until the transaction ends."""
    for name, value in settings.items():
        connection.execute("SELECT set_config(?, ?, true)", (name, str(value)))


def _text(vector: Vector) -> str:
    return json.dumps(np.round(vector.astype(np.float64), DIGITS).tolist())


def _where(scope: Scope, documents: Mapping[str, str]) -> tuple[str, list[object]]:
    """Condition for the chunks of ``documents`` in a scope, and its values, after a first one."""
    doc_ids = documents if scope.doc_ids is None else [one for one in scope.doc_ids if one in documents]
    conditions, values = [f"doc_id {IN}"], list[object]([list(doc_ids)])
    if scope.kinds:
        conditions.append(f"kind {IN}")
        values.append(list(scope.kinds))
    if scope.pages:
        conditions.append(" OR ".join(["first_page <= ? AND last_page >= ?"] * len(scope.pages)))
        values += [page for start, end in scope.pages for page in (end, start)]
    if scope.sections:
        conditions.append(" OR ".join(['doc_id = ? AND start < ? AND "end" > ?'] * len(scope.sections)))
        values += [value for one in scope.sections for value in (one.doc_id, one.end, one.start)]
    return " AND ".join(f"({one})" for one in conditions), values
