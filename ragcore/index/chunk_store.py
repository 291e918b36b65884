"""Chunks, their vectors and what built the index: the part of the store that retrieval and the caches read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.index import database as db
from ragcore.types import Chunk, Entry

if TYPE_CHECKING:
    from ragcore.protocols import Vector

BATCH = 500
VECTORS = 8000  # vectors in one batch of `ChunkStore.vectors`, at least, and their documents in full


@dataclass(frozen=True, slots=True)
class DocumentState:
    """A document as the caches need to know it: how many chunks, and a digest of all that is indexed of them."""

    chunks: int
    fingerprint: str


class ChunkStore:
    """The tables ``chunks``, ``vectors``, ``embedded`` and ``meta``. `Store` is this with documents and files."""

    def __init__(self, database: db.Database) -> None:
        self.database = database

    def document_ids(self) -> list[str]:
        """Ready documents, in the order in which they came."""
        with self.database.read() as connection:
            return list(connection.execute(_ready(db.documents.c.doc_id)).scalars())

    def chunks(self, doc_id: str | None = None) -> list[Chunk]:
        """Chunks with their text, documents in the order in which they came, then by index: a document's tiles, then
        its composites."""
        doc_ids = [doc_id] if doc_id else self.document_ids()
        return [chunk for one in doc_ids for _, chunk in self.indexed_chunks(one)]

    def indexed_chunks(self, doc_id: str) -> list[tuple[Entry, Chunk]]:
        """The chunks of a document by index, each with what the caches know of it."""
        query = sa.select(db.chunks).where(db.chunks.c.doc_id == doc_id).order_by(db.chunks.c.position)
        with self.database.read() as connection:
            return [(_entry(row), chunk) for row, chunk in _read(connection, query)]

    def tiles_at(self, spans: Sequence[tuple[str, int, int]]) -> list[Chunk]:
        """The tiles that ``spans`` (document, start, end) lie in, in their order, of documents that are ready."""
        table = db.chunks.c
        found: dict[str, None] = {}
        with self.database.read() as connection:
            for doc_id, start, end in spans:
                inside = (table.doc_id == doc_id, table.start < end, table.end > start, table.first_tile.is_(None))
                query = sa.select(table.chunk_id).where(*inside).order_by(table.position)
                found.update(dict.fromkeys(connection.execute(query).scalars()))
        return self.chunks_by_id(list(found))

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in this order; ids that are gone are left out."""
        found: dict[str, Chunk] = {}
        kept = db.chunks.c.doc_id.not_in(sa.select(db.documents.c.doc_id).where(db.documents.c.removed.is_not(None)))
        for part in batches(sorted(set(chunk_ids))):
            with self.database.read() as connection:
                rows = _read(connection, sa.select(db.chunks).where(db.chunks.c.chunk_id.in_(part), kept))
                found.update((chunk.chunk_id, chunk) for _, chunk in rows)
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    # Vectors

    def unembedded(self, embedder: str, doc_id: str) -> list[Chunk]:
        """The chunks of a document that have no vector by ``embedder``, by index."""
        query = _without_vector(embedder, db.chunks).where(db.chunks.c.doc_id == doc_id)
        with self.database.read() as connection:
            return [chunk for _, chunk in _read(connection, query.order_by(db.chunks.c.position))]

    def waiting(self, embedder: str) -> dict[str, int]:
        """Ready documents that are not known to be embedded in full, in the order in which they came, and how many of
        their chunks have no vector; 0 where those of an earlier build serve. Not those that a person cancelled."""
        stale = db.embedded.c.fingerprint.is_(None)
        changed = db.embedded.c.fingerprint != db.documents.c.fingerprint
        joined = db.documents.outerjoin(
            db.embedded, (db.embedded.c.doc_id == db.documents.c.doc_id) & (db.embedded.c.embedder == embedder)
        )
        with self.database.read() as connection:
            query = _ready(db.documents.c.doc_id).select_from(joined).where(stale | changed, db.documents.c.held == 0)
            doc_ids = connection.execute(query).scalars().all()
            count = _without_vector(embedder, sa.func.count())
            return {i: connection.execute(count.where(db.chunks.c.doc_id == i)).scalar_one() for i in doc_ids}

    def put_vectors(self, embedder: str, chunks: Sequence[Chunk], vectors: Vector) -> None:
        """Store one batch. A chunk that was removed meanwhile is passed over."""
        with self.database.write() as connection:
            ids = [chunk.chunk_id for chunk in chunks]
            alive = {
                chunk_id
                for part in batches(ids)
                for chunk_id in connection.execute(
                    sa.select(db.chunks.c.chunk_id).where(db.chunks.c.chunk_id.in_(part))
                ).scalars()
            }
            rows = [
                {"embedder": embedder, "chunk_id": chunk_id, "vector": np.asarray(vector, "<f4").tobytes()}
                for chunk_id, vector in zip(ids, vectors, strict=True)
                if chunk_id in alive
            ]
            if rows:
                connection.execute(insert(db.vectors).prefix_with("OR REPLACE"), rows)
            settle(connection, embedder, sorted({chunk.doc_id for chunk in chunks}))

    def settle(self, embedder: str) -> None:
        """Note the documents of which every chunk has a vector by now."""
        waiting = [doc_id for doc_id, count in self.waiting(embedder).items() if not count]
        if waiting:
            with self.database.write() as connection:
                settle(connection, embedder, waiting)

    def searchable(self, embedder: str) -> dict[str, DocumentState]:
        """The documents of which every chunk has a vector by ``embedder`` (after `settle`), in the order in which they
        came. One that is embedded only in part is not searchable yet: half of it would be found and half not."""
        table, mark = db.documents.c, db.embedded.c
        joined = db.documents.join(db.embedded, (mark.doc_id == table.doc_id) & (mark.fingerprint == table.fingerprint))
        query = _ready(table.doc_id, table.chunk_count, table.fingerprint).select_from(joined)
        with self.database.read() as connection:
            rows = connection.execute(query.where(mark.embedder == embedder, table.chunk_count > 0))
            return {row.doc_id: DocumentState(row.chunk_count, row.fingerprint) for row in rows}

    def embedded(self, embedder: str) -> frozenset[tuple[str, str]]:
        """Each document that was noted as embedded in full, with the fingerprint that it had: a cheap sign of whether
        `searchable` may say something else than before."""
        table = db.embedded.c
        query = sa.select(table.doc_id, table.fingerprint).where(table.embedder == embedder)
        with self.database.read() as connection:
            return frozenset((row.doc_id, row.fingerprint) for row in connection.execute(query))

    def vectors(self, embedder: str, doc_ids: Sequence[str]) -> Iterator[tuple[list[Entry], Vector]]:
        """Batches of ``(entries, float32 (n, d))``, document by document, chunks by index."""
        columns = (db.chunks.c.chunk_id, db.chunks.c.doc_id, db.chunks.c.kind)
        query = (
            sa.select(*columns, db.chunks.c.first_page, db.chunks.c.last_page, db.vectors.c.vector)
            .join(db.vectors, (db.vectors.c.chunk_id == db.chunks.c.chunk_id) & (db.vectors.c.embedder == embedder))
            .order_by(db.chunks.c.position)
        )
        rows: list[sa.Row[Any]] = []
        for doc_id in doc_ids:
            with self.database.read() as connection:
                rows.extend(connection.execute(query.where(db.chunks.c.doc_id == doc_id)))
            if len(rows) >= VECTORS:
                yield _matrix(rows)
                rows = []
        if rows:
            yield _matrix(rows)

    # Postings

    def postings_marks(self) -> dict[str, str]:
        """For each document of which postings are kept the mark that they were kept with."""
        with self.database.read() as connection:
            rows = connection.execute(sa.select(db.postings.c.doc_id, db.postings.c.fingerprint))
            return {row.doc_id: row.fingerprint for row in rows}

    def postings(self, doc_ids: Sequence[str]) -> Iterator[tuple[str, str, bytes]]:
        """``(doc_id, mark, data)`` of those documents of which postings are kept."""
        for part in batches(doc_ids):
            with self.database.read() as connection:
                for row in connection.execute(sa.select(db.postings).where(db.postings.c.doc_id.in_(part))):
                    yield row.doc_id, row.fingerprint, row.data

    def put_postings(self, doc_id: str, mark: str, data: bytes) -> None:
        """Keep the postings of a document. One that was removed meanwhile is passed over."""
        row = insert(db.postings).prefix_with("OR REPLACE")
        with self.database.write() as connection:
            if connection.execute(sa.select(db.documents.c.doc_id).where(db.documents.c.doc_id == doc_id)).first():
                connection.execute(row.values(doc_id=doc_id, fingerprint=mark, data=data))

    def forget_postings(self) -> None:
        with self.database.write() as connection:
            connection.execute(sa.delete(db.postings))

    # The index

    def revision(self) -> int:
        """Grows with every change to chunks."""
        return int(self._meta("revision") or 0)

    def index_record(self) -> dict[str, Any] | None:
        """What built the index: embedder, dimensions and settings; None before the first build."""
        value = self._meta("index")
        return json.loads(value) if value else None

    def set_index_record(self, record: Mapping[str, Any]) -> None:
        with self.database.write() as connection:
            _set_meta(connection, "index", json.dumps(dict(record), sort_keys=True))

    def _meta(self, key: str) -> str | None:
        with self.database.read() as connection:
            return connection.execute(sa.select(db.meta.c.value).where(db.meta.c.key == key)).scalar()


def chunk_row(chunk: Chunk, pages: tuple[int, int]) -> dict[str, Any]:
    """The row of a chunk whose words touch ``pages``, first and last."""
    return {
        "chunk_id": chunk.chunk_id,
        "doc_id": chunk.doc_id,
        "position": chunk.index,
        "kind": chunk.kind,
        "start": chunk.start,
        "end": chunk.end,
        "section": json.dumps(chunk.section, ensure_ascii=False),
        "header": chunk.header,
        "lead_in": chunk.lead_in,
        "tokens": chunk.tokens,
        "first_tile": chunk.tiles[0] if chunk.tiles else None,
        "last_tile": chunk.tiles[1] if chunk.tiles else None,
        "grid": chunk.grid,
        "context": chunk.context,
        "text": chunk.text,
        "first_page": pages[0],
        "last_page": pages[1],
    }


def fingerprint(chunks: Sequence[Chunk], pages: Sequence[tuple[int, int]]) -> str:
    """A digest of all that the caches are made from: ids, index texts, kinds and pages."""
    digest = blake2b(digest_size=16)
    for chunk, (first, last) in zip(chunks, pages, strict=True):
        for part in (chunk.chunk_id, chunk.index_text, f"{chunk.kind} {first} {last}"):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
    return digest.hexdigest()


def _ready(*columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    ready = sa.select(*columns).where(db.documents.c.status == "ready", db.documents.c.removed.is_(None))
    return ready.order_by(db.documents.c.created, db.documents.c.doc_id)


def _without_vector(embedder: str, *what: Any) -> sa.Select[Any]:
    has = (db.vectors.c.chunk_id == db.chunks.c.chunk_id) & (db.vectors.c.embedder == embedder)
    joined = db.chunks.outerjoin(db.vectors, has)
    return sa.select(*what).select_from(joined).where(db.vectors.c.chunk_id.is_(None))


def settle(connection: sa.Connection, embedder: str, doc_ids: Sequence[str]) -> None:
    """Mark those of ``doc_ids`` of which every chunk has a vector."""
    for doc_id in doc_ids:
        waits = _without_vector(embedder, sa.literal(1)).where(db.chunks.c.doc_id == doc_id).limit(1)
        mark = connection.execute(sa.select(db.documents.c.fingerprint).where(db.documents.c.doc_id == doc_id)).scalar()
        if mark is not None and connection.execute(waits).first() is None:
            row = {"embedder": embedder, "doc_id": doc_id, "fingerprint": mark}
            connection.execute(insert(db.embedded).prefix_with("OR REPLACE").values(row))


def _read(connection: sa.Connection, query: sa.Select[Any]) -> list[tuple[sa.Row[Any], Chunk]]:
    """Rows of chunks with the chunks that they are."""
    return [(row, _chunk(row)) for row in connection.execute(query)]


def _chunk(row: sa.Row[Any]) -> Chunk:
    return Chunk(
        chunk_id=row.chunk_id,
        doc_id=row.doc_id,
        index=row.position,
        kind=row.kind,
        start=row.start,
        end=row.end,
        text=row.text,
        section=_section(row.section),
        header=row.header,
        lead_in=row.lead_in,
        tokens=row.tokens,
        tiles=None if row.first_tile is None else (row.first_tile, row.last_tile),
        grid=row.grid,
        context=row.context,
    )


@lru_cache(maxsize=8192)
def _section(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _entry(row: sa.Row[Any]) -> Entry:
    return Entry(row.chunk_id, row.doc_id, row.kind, row.first_page, row.last_page)


def _matrix(rows: Sequence[sa.Row[Any]]) -> tuple[list[Entry], Vector]:
    matrix = np.frombuffer(b"".join(row.vector for row in rows), "<f4").reshape(len(rows), -1)
    return [_entry(row) for row in rows], matrix


def bump_revision(connection: sa.Connection) -> None:
    """To be called in the transaction that changes chunks."""
    current = connection.execute(sa.select(db.meta.c.value).where(db.meta.c.key == "revision")).scalar()
    _set_meta(connection, "revision", str(int(current or 0) + 1))


def _set_meta(connection: sa.Connection, key: str, value: str) -> None:
    statement = insert(db.meta).values(key=key, value=value)
    connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))


def batches(items: Sequence[str], size: int = BATCH) -> Iterator[Sequence[str]]:
    return (items[at : at + size] for at in range(0, len(items), size))
