"""Chunk store: chunks in SQLite with their vectors and all else that is derived from them, from which the caches are
built; and chunks as columns, as the caches hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, get_args
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ragcore.index.database import IN, Connection, Database, Row, made
from ragcore.index.versions import newest_versions
from ragcore.types import Chunk, ChunkKind, Entry, Scope

if TYPE_CHECKING:
    from ragcore.protocols import Vector

KINDS: tuple[str, ...] = get_args(ChunkKind)
STEP = 512  # vectors of one document after which searches take in the new ones
Mask = NDArray[np.bool_]
# Rows of a document's tables that a composite spans: they have no vector of their own, but stand where it does.
_ROWS = """
    SELECT t.chunk_id FROM chunks w JOIN chunks t
    ON t.doc_id = w.doc_id AND t.position BETWEEN w.first_tile AND w.last_tile
    WHERE w.doc_id = {0} AND w.first_tile IS NOT NULL
"""
# A document's chunks that want a vector by the embedder ?1 and have none.
_BARE = f"""
    SELECT chunk_id FROM chunks c WHERE doc_id = {{0}}
    AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.embedder = ?1 AND v.chunk_id = c.chunk_id) EXCEPT {_ROWS}
"""


class ChunkStore:
    """Tables ``chunks``, ``vectors``, ``embedded``, ``derived`` and ``meta``. `Store` adds documents and files."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def chunks(self, doc_id: str) -> list[Chunk]:
        """Chunks of a document with their text: its tiles, then its composites."""
        return [chunk for _, chunk in self.indexed_chunks(doc_id)]

    def indexed_chunks(self, doc_id: str) -> list[tuple[Entry, Chunk]]:
        """Chunks of a document by index, each with its cache entry."""
        rows = self.database.rows("SELECT * FROM chunks WHERE doc_id = ? ORDER BY position", doc_id)
        return [(made(Entry, row), _chunk(row)) for row in rows]

    def tiles_at(self, spans: Sequence[tuple[str, int, int, str]]) -> list[Chunk]:
        """Tiles that contain ``spans`` (document, start, end, quote), in their order; a quote that another build moved
        is looked for in the whole text, and one of an earlier version in the newest."""
        found: dict[str, None] = {}
        query = f"SELECT doc_id, coalesce(text, '') FROM documents WHERE doc_id {IN}"
        with self.database.read() as connection:
            now = newest_versions(connection)
            texts = dict(map(tuple, connection.rows(query, [now.get(span[0], span[0]) for span in spans])))
            for of, start, end, quote in spans:
                doc_id = now.get(of, of)
                text = texts.get(doc_id, "")
                if doc_id != of and quote not in text:
                    continue
                if text[start:end] != quote and quote in text:
                    start = text.index(quote)
                    end = start + len(quote)
                inside = connection.column(
                    'SELECT chunk_id FROM chunks WHERE doc_id = ? AND start < ? AND "end" > ? AND first_tile IS NULL '
                    "ORDER BY position",
                    *(doc_id, end, start),
                )
                found.update(dict.fromkeys(inside))
        return self.chunks_by_id(list(found))

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Chunks with these ids, in this order; missing ids are left out."""
        rows = self.database.rows(
            f"SELECT c.* FROM chunks c JOIN documents USING (doc_id) WHERE chunk_id {IN} AND removed IS NULL",
            list(chunk_ids),
        )
        found = {row["chunk_id"]: _chunk(row) for row in rows}
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    # Vectors

    def unembedded(self, embedder: str, doc_id: str) -> list[Chunk]:
        """Chunks of a document that want a vector by ``embedder`` and have none, by index."""
        query = f"SELECT * FROM chunks WHERE chunk_id IN ({_BARE.format('?2')}) ORDER BY position"
        return [_chunk(row) for row in self.database.rows(query, embedder, doc_id)]

    def waiting(self, embedder: str) -> dict[str, int]:
        """Documents that are not known to be embedded in full, in order of addition, with the number of their chunks
        that want a vector; 0 if vectors of an earlier build serve. Excludes those that a person cancelled."""
        rows = self.database.rows(
            f"""
            SELECT doc_id, (SELECT count(*) FROM ({_BARE.format("built.doc_id")}) bare)
            FROM built WHERE NOT held AND doc_id NOT IN (SELECT doc_id FROM settled WHERE embedder = ?1)
            ORDER BY created, doc_id
            """,
            embedder,
        )
        return dict(map(tuple, rows))

    def put_vectors(self, embedder: str, chunks: Sequence[Chunk], vectors: Vector) -> None:
        """Store one batch. A chunk removed or replaced in the meantime is skipped."""
        with self.database.write() as connection:
            rows = connection.rows(f"SELECT * FROM chunks WHERE chunk_id {IN}", [one.chunk_id for one in chunks])
            texts = {chunk.chunk_id: chunk.index_text for chunk in map(_chunk, rows)}
            made_now = (
                {"embedder": embedder, "chunk_id": chunk.chunk_id, "vector": np.asarray(vector, "<f4").tobytes()}
                for chunk, vector in zip(chunks, vectors, strict=True)
                if texts.get(chunk.chunk_id) == chunk.index_text
            )
            connection.insert("vectors", *made_now, key="embedder, chunk_id")
            settle(connection, embedder, {chunk.doc_id for chunk in chunks})

    def settle(self, embedder: str) -> None:
        """Record the documents of which every chunk that wants a vector now has it."""
        waiting = [doc_id for doc_id, count in self.waiting(embedder).items() if not count]
        if waiting:
            with self.database.write() as connection:
                settle(connection, embedder, waiting)

    def searchable(self, *, whole: bool = False) -> dict[str, str]:
        """Documents that can be asked, in order of addition, with a digest of all their indexed data; ``whole``: only
        those that are read to the end."""
        read = "AND status = 'ready'" if whole else ""
        query = f"SELECT doc_id, fingerprint FROM built WHERE chunk_count > 0 {read} ORDER BY created, doc_id"
        return dict(map(tuple, self.database.rows(query)))

    def with_vectors(self, embedder: str) -> dict[str, str]:
        """Those of them with vectors by ``embedder``, in order of addition, with a digest that changes with them (after
        `settle`); while a document is being embedded, with every `STEP` vectors."""
        rows = self.database.rows(
            """
            SELECT b.doc_id, b.fingerprint, CASE WHEN e.doc_id IS NULL THEN (
                SELECT count(*) FROM chunks c JOIN vectors v USING (chunk_id)
                WHERE c.doc_id = b.doc_id AND v.embedder = ?1
            ) END AS so_far
            FROM built b LEFT JOIN settled e ON e.doc_id = b.doc_id AND e.embedder = ?1
            WHERE b.chunk_count > 0 ORDER BY b.created, b.doc_id
            """,
            embedder,
        )
        return {
            doc_id: fingerprint if so_far is None else f"{fingerprint} {so_far // STEP}"
            for doc_id, fingerprint, so_far in rows
            if so_far != 0
        }

    def vectors(self, embedder: str, doc_ids: Sequence[str]) -> tuple[Entries, Vector]:
        """Chunks of documents by index, document after document, with their vectors, float32 ``(n, d)``; without the
        rows that a composite spans, for which earlier versions made vectors too."""
        query = """
            SELECT position, chunk_id, doc_id, kind, first_page, last_page, start, "end", vector
            FROM chunks JOIN vectors USING (chunk_id) WHERE embedder = ? AND doc_id = ? ORDER BY position
        """
        composites = "SELECT first_tile, last_tile FROM chunks WHERE doc_id = ? AND first_tile IS NOT NULL"
        entries, data = list[Entry](), bytearray()
        with self.database.read() as connection:
            for doc_id in doc_ids:
                spanned = {n for first, last in connection.rows(composites, doc_id) for n in range(first, last + 1)}
                for position, *entry, vector in connection.execute(query, (embedder, doc_id)):
                    if position not in spanned:
                        entries.append(Entry(*entry))
                        data += vector
        width = len(data) // 4 // max(len(entries), 1)
        return Entries.of(entries), np.frombuffer(data, "<f4").reshape(len(entries), width)

    def forget_vectors(self, embedder: str) -> None:
        with self.database.write() as connection:
            for table in ("vectors", "embedded"):
                connection.execute(f"DELETE FROM {table} WHERE embedder = ?", (embedder,))

    # Derived: postings, names

    def count(self, doc_ids: Sequence[str]) -> int:
        """Number of chunks of documents."""
        query = f"SELECT coalesce(sum(chunk_count), 0) FROM documents WHERE doc_id {IN}"
        return int(self.database.value(query, list(doc_ids)))

    def derived_marks(self, kind: str) -> dict[str, str]:
        """Mark stored with what is derived of ``kind`` from each document."""
        return dict(map(tuple, self.database.rows("SELECT doc_id, fingerprint FROM derived WHERE kind = ?", kind)))

    def derived(self, kind: str, doc_ids: Sequence[str]) -> Iterator[tuple[str, str, bytes]]:
        """``(doc_id, mark, data)`` of the given documents that have it stored."""
        with self.database.read() as connection:
            query = f"SELECT doc_id, fingerprint, data FROM derived WHERE kind = ? AND doc_id {IN}"
            yield from map(tuple, connection.execute(query, (kind, list(doc_ids))))

    def put_derived(self, kind: str, doc_id: str, mark: str, data: bytes, seconds: float = 0.0) -> None:
        """Store what is derived from a document; ``seconds`` are added to the time spent. A document removed in the
        meantime is skipped."""
        with self.database.write() as connection:
            if connection.value("SELECT count(*) FROM documents WHERE doc_id = ?", doc_id):
                row = {"kind": kind, "doc_id": doc_id, "fingerprint": mark, "data": data, "seconds": seconds}
                given = "fingerprint = excluded.fingerprint, data = excluded.data"
                more = "seconds = derived.seconds + excluded.seconds"
                connection.insert("derived", row, key="kind, doc_id", clash=f"UPDATE SET {given}, {more}")

    def derived_seconds(self) -> dict[str, float]:
        """Seconds spent on what is derived of each kind."""
        return dict(map(tuple, self.database.rows("SELECT kind, sum(seconds) FROM derived GROUP BY kind")))

    def age_derived(self) -> None:
        """Have all that is derived made again."""
        with self.database.write() as connection:
            connection.execute("UPDATE derived SET fingerprint = ''")

    def forget_derived(self, kinds: Sequence[str]) -> None:
        with self.database.write() as connection:
            connection.execute(f"DELETE FROM derived WHERE kind {IN}", (list(kinds),))

    # The index

    def revision(self) -> int:
        """Revision, which grows with every change of what can be found (the triggers of the schema)."""
        return int(self.database.value("SELECT value FROM counters WHERE name = 'revision'") or 0)

    def touch(self) -> None:
        """Raise the revision: vectors were added to a document that isn't embedded in full."""
        with self.database.write() as connection:
            more = "UPDATE SET value = counters.value + 1"
            connection.insert("counters", {"name": "revision", "value": 1}, key="name", clash=more)

    def name(self) -> str:
        """Random name of this library, drawn when first asked for."""
        with self.database.write() as connection:
            connection.insert("meta", {"key": "name", "value": {"name": uuid4().hex}}, clash="NOTHING")
        return str(self._meta("name")["name"])

    def index_record(self) -> dict[str, Any] | None:
        """Builder of the index: embedder, dimensions and settings; None before the first build."""
        record: dict[str, Any] | None = self._meta("index")
        return record

    def set_index_record(self, record: Mapping[str, Any]) -> None:
        with self.database.write() as connection:
            connection.insert("meta", {"key": "index", "value": dict(record)}, key="key")

    def _meta(self, key: str) -> Any:
        return self.database.value("SELECT value FROM meta WHERE key = ?", key)


def settle(connection: Connection, embedder: str, doc_ids: Iterable[str]) -> None:
    """Mark those of ``doc_ids`` of which every chunk that wants a vector has it."""
    connection.execute(
        f"""
        INSERT INTO embedded (embedder, doc_id, fingerprint)
        SELECT ?1, doc_id, fingerprint FROM documents d WHERE doc_id {IN} AND fingerprint IS NOT NULL
        AND NOT EXISTS ({_BARE.format("d.doc_id")})
        ON CONFLICT (embedder, doc_id) DO UPDATE SET fingerprint = excluded.fingerprint
        """,
        (embedder, list(doc_ids)),
    )


def chunk_row(chunk: Chunk, pages: tuple[int, int]) -> dict[str, Any]:
    """Row of a chunk whose words touch ``pages``, first and last."""
    row = {each.name: getattr(chunk, each.name) for each in fields(Chunk)}
    first, last = row.pop("tiles") or (None, None)
    places = {"position": row.pop("index"), "first_tile": first, "last_tile": last}
    return row | places | {"first_page": pages[0], "last_page": pages[1]}


def _chunk(row: Row) -> Chunk:
    tiles = None if row["first_tile"] is None else (row["first_tile"], row["last_tile"])
    return made(Chunk, row, index=row["position"], tiles=tiles)


def fingerprint(chunks: Sequence[Chunk], pages: Sequence[tuple[int, int]]) -> str:
    """Digest of all the data from which the caches are built: ids, index texts, kinds and pages."""
    digest = blake2b(digest_size=16)
    for chunk, (first, last) in zip(chunks, pages, strict=True):
        for part in (chunk.chunk_id, chunk.index_text, f"{chunk.kind} {first} {last}"):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Entries:
    """Columns of ``n`` chunks. ``owners`` int32 ``(n,)`` is the index of each chunk's document in ``doc_ids``;
    ``kinds`` are indices in `KINDS`, ``pages`` int32 ``(n, 2)`` first and last pages, ``spans`` int32 ``(n, 2)`` start
    and end in the document's text."""

    ids: list[str]
    doc_ids: list[str]
    owners: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    pages: NDArray[np.int32]
    spans: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Entries:
        numbers: dict[str, int] = {}
        owners = [numbers.setdefault(entry.doc_id, len(numbers)) for entry in entries]
        kinds = [KINDS.index(entry.kind) for entry in entries]
        pages = [(entry.first_page, entry.last_page) for entry in entries]
        spans = [(entry.start, entry.end) for entry in entries]
        return cls.from_json([[entry.chunk_id for entry in entries], list(numbers), owners, kinds, pages, spans])

    @classmethod
    def from_json(cls, columns: Sequence[Any]) -> Entries:
        """Inverse of `to_json`."""
        ids, doc_ids, owners, kinds, *pairs = columns
        pages, spans = (np.array(each, dtype=np.int32).reshape(-1, 2) for each in pairs)
        return cls(ids, doc_ids, np.array(owners, dtype=np.int32), np.array(kinds, dtype=np.uint8), pages, spans)

    def to_json(self) -> list[Any]:
        numbers = (self.owners, self.kinds, self.pages.ravel(), self.spans.ravel())
        return [self.ids, self.doc_ids, *(column.tolist() for column in numbers)]

    @classmethod
    def joined(cls, parts: Sequence[Entries]) -> Entries:
        """Chunks of each, part after part."""
        numbers: dict[str, int] = {}
        found = [[numbers.setdefault(doc_id, len(numbers)) for doc_id in part.doc_ids] for part in parts]
        owners = [np.array(number, dtype=np.int32)[part.owners] for number, part in zip(found, parts)]
        none = cls.of([])
        return cls(
            [chunk_id for part in parts for chunk_id in part.ids],
            list(numbers),
            np.concatenate([none.owners, *owners]),
            np.concatenate([none.kinds, *(part.kinds for part in parts)]),
            np.concatenate([none.pages, *(part.pages for part in parts)]),
            np.concatenate([none.spans, *(part.spans for part in parts)]),
        )

    def where(self, keep: Mask) -> Entries:
        """Chunks selected by a mask."""
        owners, number = np.unique(self.owners[keep], return_inverse=True)
        ids = [self.ids[row] for row in np.flatnonzero(keep).tolist()]
        doc_ids = [self.doc_ids[owner] for owner in owners.tolist()]
        numbers = number.astype(np.int32)
        return Entries(ids, doc_ids, numbers, self.kinds[keep], self.pages[keep], self.spans[keep])

    def of_documents(self, doc_ids: Iterable[str]) -> Mask:
        """Whether each chunk belongs to one of ``doc_ids``, bool ``(n,)``."""
        wanted = set(doc_ids)
        mask: Mask = np.array([doc_id in wanted for doc_id in self.doc_ids], dtype=bool)[self.owners]
        return mask

    def within(self, scope: Scope) -> Mask | None:
        """Whether each chunk is in ``scope``, bool ``(n,)``; None if all are."""
        masks: list[Mask] = []
        if scope.doc_ids is not None:
            masks.append(self.of_documents(scope.doc_ids))
        if scope.kinds:
            masks.append(np.isin(self.kinds, [KINDS.index(kind) for kind in scope.kinds]))
        if scope.pages:
            touched = [(self.pages[:, 0] <= last) & (self.pages[:, 1] >= first) for first, last in scope.pages]
            masks.append(np.logical_or.reduce(touched))
        if scope.sections:
            inside = [
                self.of_documents([one.doc_id]) & (self.spans[:, 0] < one.end) & (self.spans[:, 1] > one.start)
                for one in scope.sections
            ]
            masks.append(np.logical_or.reduce(inside))
        return np.logical_and.reduce(masks) if masks else None


def leaves(chunks: Sequence[tuple[Entry, Chunk]]) -> list[tuple[Entry, Chunk]]:
    """Leaves among a document's chunks: its composites, and the tiles in none; without descriptions of figures."""
    held = {tile for _, chunk in chunks for tile in chunk.rows}
    return [(e, c) for e, c in chunks if c.kind != "figure" and (c.tiles is not None or c.index not in held)]
