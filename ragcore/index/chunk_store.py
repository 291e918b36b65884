"""Chunks, their vectors and what built the index: the part of the store that retrieval and the caches read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.index import database as db
from ragcore.types import Chunk

if TYPE_CHECKING:
    from ragcore.protocols import Vector

BATCH = 500


class ChunkStore:
    """The tables ``chunks``, ``vectors`` and ``meta``. `Store` is this with documents and files."""

    def __init__(self, database: db.Database) -> None:
        self.database = database

    def document_ids(self) -> list[str]:
        """Ready documents, in the order in which they came."""
        with self.database.read() as connection:
            query = (
                sa.select(db.documents.c.doc_id)
                .where(db.documents.c.status == "ready")
                .order_by(db.documents.c.created, db.documents.c.doc_id)
            )
            return list(connection.execute(query).scalars())

    def chunks(self, doc_id: str | None = None) -> list[Chunk]:
        """Chunks with their text, documents in the order in which they came, then by index: a document's tiles, then
        its composites."""
        return [chunk for part in self._chunks_by_document([doc_id] if doc_id else None) for chunk in part]

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in this order; ids that are gone are left out."""
        found: dict[str, Chunk] = {}
        for part in batches(sorted(set(chunk_ids))):
            with self.database.read() as connection:
                rows = connection.execute(sa.select(db.chunks).where(db.chunks.c.chunk_id.in_(part))).all()
                owners = sorted({row.doc_id for row in rows})
                query = sa.select(db.documents.c.doc_id, db.documents.c.text).where(db.documents.c.doc_id.in_(owners))
                texts = {row.doc_id: row.text for row in connection.execute(query)}
            found.update((row.chunk_id, _chunk(row, texts[row.doc_id])) for row in rows)
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    def unembedded(self, embedder: str) -> list[Chunk]:
        """Chunks that have no vector by ``embedder``."""
        joined = db.chunks.outerjoin(
            db.vectors, (db.vectors.c.chunk_id == db.chunks.c.chunk_id) & (db.vectors.c.embedder == embedder)
        )
        with self.database.read() as connection:
            query = (
                sa.select(db.chunks.c.chunk_id, db.chunks.c.doc_id)
                .select_from(joined)
                .where(db.vectors.c.chunk_id.is_(None))
            )
            rows = connection.execute(query).all()
        waiting = {row.chunk_id for row in rows}
        parts = self._chunks_by_document(sorted({row.doc_id for row in rows})) if rows else ()
        return [chunk for part in parts for chunk in part if chunk.chunk_id in waiting]

    def put_vectors(self, embedder: str, chunks: Sequence[Chunk], vectors: Vector) -> None:
        """Store one batch. A chunk that was removed meanwhile is passed over."""
        with self.database.write() as connection:
            ids = [chunk.chunk_id for chunk in chunks]
            alive = set(
                connection.execute(sa.select(db.chunks.c.chunk_id).where(db.chunks.c.chunk_id.in_(ids))).scalars()
            )
            rows = [
                {"embedder": embedder, "chunk_id": chunk_id, "vector": np.asarray(vector, "<f4").tobytes()}
                for chunk_id, vector in zip(ids, vectors, strict=True)
                if chunk_id in alive
            ]
            if rows:
                connection.execute(insert(db.vectors).prefix_with("OR REPLACE"), rows)

    def vectors(self, embedder: str) -> Iterator[tuple[list[str], list[str], Vector]]:
        """Batches of ``(chunk ids, doc ids, float32 (n, d))``, in the order of the ids."""
        last = ""
        while True:
            query = (
                sa.select(db.vectors.c.chunk_id, db.chunks.c.doc_id, db.vectors.c.vector)
                .join(db.chunks, db.chunks.c.chunk_id == db.vectors.c.chunk_id)
                .where(db.vectors.c.embedder == embedder, db.vectors.c.chunk_id > last)
                .order_by(db.vectors.c.chunk_id)
                .limit(2000)
            )
            with self.database.read() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            last = rows[-1].chunk_id
            matrix = np.stack([np.frombuffer(row.vector, "<f4") for row in rows])
            yield [row.chunk_id for row in rows], [row.doc_id for row in rows], matrix

    def _chunks_by_document(self, doc_ids: Sequence[str] | None) -> Iterator[list[Chunk]]:
        for doc_id in self.document_ids() if doc_ids is None else doc_ids:
            with self.database.read() as connection:
                text = connection.execute(
                    sa.select(db.documents.c.text).where(db.documents.c.doc_id == doc_id)
                ).scalar()
                query = sa.select(db.chunks).where(db.chunks.c.doc_id == doc_id).order_by(db.chunks.c.position)
                yield [_chunk(row, text or "") for row in connection.execute(query)]

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


def chunk_row(chunk: Chunk) -> dict[str, Any]:
    """The row of a chunk; its text is not stored, the document has it."""
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
    }


def _chunk(row: sa.Row[Any], text: str) -> Chunk:
    return Chunk(
        chunk_id=row.chunk_id,
        doc_id=row.doc_id,
        index=row.position,
        kind=row.kind,
        start=row.start,
        end=row.end,
        text=text[row.start : row.end],
        section=tuple(json.loads(row.section)),
        header=row.header,
        lead_in=row.lead_in,
        tokens=row.tokens,
        tiles=None if row.first_tile is None else (row.first_tile, row.last_tile),
        grid=row.grid,
    )


def bump_revision(connection: sa.Connection) -> None:
    """To be called in the transaction that changes chunks."""
    current = connection.execute(sa.select(db.meta.c.value).where(db.meta.c.key == "revision")).scalar()
    _set_meta(connection, "revision", str(int(current or 0) + 1))


def _set_meta(connection: sa.Connection, key: str, value: str) -> None:
    statement = insert(db.meta).values(key=key, value=value)
    connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))


def batches(items: Sequence[str], size: int = BATCH) -> Iterator[Sequence[str]]:
    return (items[at : at + size] for at in range(0, len(items), size))
