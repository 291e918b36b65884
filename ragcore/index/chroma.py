"""Vectors in Chroma: on a server (``chroma run``), or in a folder, which serves one process at a time.

A second collection has a record for each document that is there whole, with its fingerprint. It is deleted before the
document's chunks are and written after them, so that what a killed process leaves behind is written again.

Chroma's graph (HNSW, Malkov and Yashunin 2018) is approximate, and a filter makes it miss more, since most nodes on its
walk are excluded. So for a scope with few chunks their vectors are fetched and compared one by one, as they are for a
search that finds fewer results than requested.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from ragcore import files
from ragcore.errors import IndexMismatch, ModelMissing, VectorStoreError
from ragcore.index.chunks import KINDS
from ragcore.types import EVERYTHING, Scope

if TYPE_CHECKING:
    from ragcore.index.vectors import Load
    from ragcore.protocols import Vector

BATCH = 1000  # chunks in one request
FEW = 5000  # chunks in a scope up to which each is compared
STORED = "2"  # raise it when what is stored of a chunk changes: every document is then written again
HNSW = {"space": "cosine", "ef_construction": 200, "ef_search": 256}
_BUSY = "Another Groundwork process uses this library's Chroma folder, which serves one at a time."
_BUSY_HINT = (
    'Close it, or start a server with `chroma run` and set index.vector_store = "chroma:http://localhost:8000".'
)


class ChromaIndex:
    """`VectorIndex` in Chroma. ``where`` is the address of a server, or a folder; ``name`` distinguishes libraries and
    embedders on one server. Thread-safe. Methods raise `VectorStoreError` if Chroma cannot be used."""

    def __init__(self, where: str | Path, name: str) -> None:
        self._where = where
        self._width = 0  # of the vectors, once they were updated; 0 without any
        with self._reported():
            client = _server(where) if isinstance(where, str) else _folder(where)[0]
            settings = {"configuration": {"hnsw": HNSW}, "embedding_function": None}
            self._chunks = client.get_or_create_collection(f"{name}-chunks", **settings)
            self._documents = client.get_or_create_collection(f"{name}-documents", **settings)

    def __len__(self) -> int:
        with self._reported():
            return int(self._chunks.count())

    def updated(self, wanted: Mapping[str, str], load: Load) -> ChromaIndex:
        """This index, made to hold exactly the documents ``wanted`` (id → fingerprint)."""
        with self._reported():
            records = self._documents.get(include=["metadatas"])
            wanted = {doc_id: f"{STORED} {mark}" for doc_id, mark in wanted.items()}
            held = {doc_id: str(of["mark"]) for doc_id, of in zip(records["ids"], records["metadatas"], strict=True)}
            missing = [doc_id for doc_id, mark in wanted.items() if held.get(doc_id) != mark]
            gone = [doc_id for doc_id, mark in held.items() if wanted.get(doc_id) != mark]
            if gone:
                self._documents.delete(ids=gone)
            outdated = list(dict.fromkeys((*gone, *missing)))
            for at in range(0, len(outdated), BATCH):
                self._chunks.delete(where={"doc_id": {"$in": outdated[at : at + BATCH]}})
            for doc_id in missing:
                self._put(doc_id, wanted[doc_id], load)
            first = self._chunks.get(limit=1, include=["embeddings"])["embeddings"]
            self._width = len(first[0]) if len(first) else 0
        return self

    def optimize(self) -> None:
        """Chroma builds its graph while it stores."""

    def _put(self, doc_id: str, mark: str, load: Load) -> None:
        entries, vectors = load([doc_id])
        places = [
            {"doc_id": doc_id, "kind": KINDS[kind], "first_page": page, "last_page": last, "start": start, "end": end}
            for kind, (page, last), (start, end) in zip(
                entries.kinds.tolist(), entries.pages.tolist(), entries.spans.tolist(), strict=True
            )
        ]
        for at in range(0, len(entries), BATCH):
            part = slice(at, at + BATCH)
            self._chunks.upsert(ids=entries.ids[part], embeddings=vectors[part], metadatas=places[part])
        self._documents.upsert(ids=[doc_id], embeddings=[[1.0]], metadatas=[{"mark": mark}])

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        if not self._width or (scope.doc_ids is not None and not scope.doc_ids):
            return []
        if len(vector) != self._width:
            raise IndexMismatch(f"The index has vectors of {self._width} dimensions, not {len(vector)}.")
        where = _where(scope)
        with self._reported():
            if where is not None:
                few = self._chunks.get(where=where, limit=FEW + 1, include=["embeddings"])
                if len(few["ids"]) <= FEW:
                    return _compared(few, vector, k)
            found = self._chunks.query(query_embeddings=[vector], n_results=k, where=where, include=["distances"])
            pairs = zip(found["ids"][0], found["distances"][0], strict=True)
            nearest = _sorted((chunk_id, 1.0 - distance) for chunk_id, distance in pairs)
            if len(nearest) == k or (where is None and len(nearest) == self._chunks.count()):
                return nearest
            return _compared(self._chunks.get(where=where, include=["embeddings"]), vector, k)

    def scores(self, vector: Vector, ids: Sequence[str]) -> dict[str, float]:
        found: dict[str, float] = {}
        with self._reported():
            for at in range(0, len(ids), BATCH):
                given = self._chunks.get(ids=list(ids[at : at + BATCH]), include=["embeddings"])
                found.update(_compared(given, vector, BATCH))
        return found

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Faults of Chroma and of the way to its server as `VectorStoreError`."""
        try:
            from chromadb.errors import ChromaError
            from httpx import HTTPError
        except ImportError as error:
            raise ModelMissing(
                "Chroma isn't installed.",
                hint="Install it: `pip install '.[chroma]'`, or set index.vector_store to memory.",
            ) from error
        try:
            yield
        except (ChromaError, HTTPError, OSError, ValueError, RuntimeError, TypeError) as error:
            hint = "Check that the server runs (`chroma run`) and that index.vector_store has its address."
            if isinstance(self._where, Path):
                hint = "Delete the folder; Groundwork fills it again."
            raise VectorStoreError(f"Chroma at {self._where} can't be used: {error}", hint=hint) from error


@cache
def _server(address: str) -> Any:
    import chromadb
    from chromadb.config import Settings

    url = urlsplit(address)
    secure = url.scheme == "https"
    return chromadb.HttpClient(
        host=url.hostname or "localhost",
        port=url.port or (443 if secure else 8000),
        ssl=secure,
        settings=Settings(anonymized_telemetry=False),
    )


@cache
def _folder(path: Path) -> tuple[Any, ExitStack]:
    """This process's one client on a folder, and the lock that keeps others away until the process ends."""
    import chromadb
    from chromadb.config import Settings

    with ExitStack() as lock:
        lock.enter_context(files.locked(path.with_name(f"{path.name}.lock"), _BUSY, _BUSY_HINT))
        path.mkdir(exist_ok=True)
        return chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False)), lock.pop_all()


def _where(scope: Scope) -> dict[str, Any] | None:
    """Scope as Chroma's filter; None for everything."""
    conditions: list[dict[str, Any]] = []
    if scope.doc_ids is not None:
        conditions.append({"doc_id": {"$in": list(scope.doc_ids)}})
    if scope.kinds:
        conditions.append({"kind": {"$in": list(scope.kinds)}})
    if scope.pages:
        ends = [[{"first_page": {"$lte": end}}, {"last_page": {"$gte": start}}] for start, end in scope.pages]
        conditions.append(_joined("$or", [_joined("$and", each) for each in ends]))
    if scope.sections:
        inside = [
            _joined("$and", [{"doc_id": one.doc_id}, {"start": {"$lt": one.end}}, {"end": {"$gt": one.start}}])
            for one in scope.sections
        ]
        conditions.append(_joined("$or", inside))
    return _joined("$and", conditions) if conditions else None


def _joined(sign: str, conditions: list[dict[str, Any]]) -> dict[str, Any]:
    """Conditions as one; Chroma takes no list of one."""
    return conditions[0] if len(conditions) == 1 else {sign: conditions}


def _compared(given: Any, vector: Vector, k: int) -> list[tuple[str, float]]:
    """Best ``k`` of the chunks that Chroma returned with their vectors."""
    if not given["ids"]:
        return []
    cosines = np.asarray(given["embeddings"], dtype=np.float32) @ np.asarray(vector, dtype=np.float32)
    return _sorted(zip(given["ids"], cosines.tolist(), strict=True))[:k]


def _sorted(hits: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))
