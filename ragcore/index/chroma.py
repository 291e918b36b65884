"""Persistent Chroma collection as `VectorStore`: cosine, one vector per chunk, its `Entry` as metadata.

Chroma's index (HNSW, Malkov and Yashunin 2018) is approximate, and a filter makes it miss more, since most nodes on its
walk are excluded. So for a scope with few chunks their vectors are fetched and compared one by one, as they are for a
search that finds fewer results than requested.

A Chroma folder is for one process at a time: a second one does not see writes made after it opened, and two writers
damage the folder. So every operation holds a lock between processes, every write leaves a new generation mark in the
folder, and a process that finds another process's mark reopens the folder first. Inside one process all stores on a
folder share one client.
"""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragcore.errors import VectorStoreError
from ragcore.index.vectors import LOCK_SECONDS, folder_lock
from ragcore.types import EVERYTHING, Entry, Scope

if TYPE_CHECKING:
    from ragcore.protocols import Vector

COLLECTION = "chunks"
BATCH = 1000  # vectors written under one lock, so that readers wait only briefly
FEW = 5000  # chunks in a scope up to which each is compared
HNSW = {"space": "cosine", "ef_construction": 200, "ef_search": 256}


class ChromaStore:
    """`VectorStore` in ``folder``, which is created on first use. Safe for threads and for processes.

    Every method raises `StoreBusy` if another process holds the folder for ``lock_seconds`` and `VectorStoreError` if
    Chroma cannot read or write it.
    """

    def __init__(self, folder: Path, *, lock_seconds: float = LOCK_SECONDS) -> None:
        self._folder = _shared(folder)
        self._seconds = lock_seconds

    def upsert(self, entries: Sequence[Entry], vectors: Vector) -> None:
        for at in range(0, len(entries), BATCH):
            part = entries[at : at + BATCH]
            columns = [asdict(entry) for entry in part]
            with self._folder.collection(self._seconds, writes=True) as collection:
                collection.upsert(
                    ids=[column.pop("chunk_id") for column in columns],
                    embeddings=np.asarray(vectors[at : at + BATCH], dtype=np.float32),
                    metadatas=columns,
                )

    def delete_documents(self, doc_ids: Sequence[str]) -> None:
        for at in range(0, len(doc_ids), BATCH):
            with self._folder.collection(self._seconds, writes=True) as collection:
                collection.delete(where={"doc_id": {"$in": list(doc_ids[at : at + BATCH])}})

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        if scope.doc_ids is not None and not scope.doc_ids:
            return []
        vector = np.asarray(vector, dtype=np.float32)
        where = _where(scope)
        with self._folder.collection(self._seconds) as collection:
            if where is None:
                return _nearest(collection, vector, k, None)
            few = collection.get(where=where, limit=FEW + 1, include=["embeddings"])
            if len(few["ids"]) <= FEW:
                return _compared(few, vector, k)
            found = _nearest(collection, vector, k, where)
            if len(found) == k:
                return found
            return _compared(collection.get(where=where, include=["embeddings"]), vector, k)

    def count(self) -> int:
        with self._folder.collection(self._seconds) as collection:
            return int(collection.count())

    def ids(self) -> set[str]:
        with self._folder.collection(self._seconds) as collection:
            return set(collection.get(include=[])["ids"])

    def reset(self) -> None:
        self._folder.remove(self._seconds)


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
    return _joined("$and", conditions) if conditions else None


def _joined(sign: str, conditions: list[dict[str, Any]]) -> dict[str, Any]:
    """Conditions as one; Chroma takes no list of one."""
    return conditions[0] if len(conditions) == 1 else {sign: conditions}


def _nearest(collection: Any, vector: Vector, k: int, where: dict[str, Any] | None) -> list[tuple[str, float]]:
    """Nearest chunks by HNSW."""
    found = collection.query(query_embeddings=[vector], n_results=k, where=where, include=["distances"])
    pairs = zip(found["ids"][0], found["distances"][0], strict=True)
    return _sorted((chunk_id, 1.0 - distance) for chunk_id, distance in pairs)


def _compared(given: Any, vector: Vector, k: int) -> list[tuple[str, float]]:
    """Best ``k`` of the chunks that `collection.get` returned with their vectors."""
    if not given["ids"]:
        return []
    cosines = np.asarray(given["embeddings"], dtype=np.float32) @ vector
    return _sorted(zip(given["ids"], cosines.tolist(), strict=True))[:k]


def _sorted(hits: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))


class _Folder:
    """This process's one client on a folder, and the locks around it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark = path / "generation"
        self._client: Any = None
        self._collection: Any = None
        self._generation = ""

    @contextmanager
    def collection(self, seconds: float, *, writes: bool = False) -> Iterator[Any]:
        """Context with the current collection, held for one operation."""
        from chromadb.errors import ChromaError

        with folder_lock(self._path, seconds):
            try:
                if self._client is None or self._read_mark() != self._generation:
                    self._open()
                if writes:
                    # Before the write: if this process dies in it, the others still reopen the folder.
                    self._leave_mark()
                yield self._collection
            except (ChromaError, OSError, ValueError, RuntimeError, TypeError) as error:
                self._close()
                raise VectorStoreError(f"The vector cache in {self._path} can't be used: {error}") from error

    def remove(self, seconds: float) -> None:
        with folder_lock(self._path, seconds):
            self._close()
            try:
                if self._path.exists():
                    shutil.rmtree(self._path)
            except OSError as error:
                raise VectorStoreError(
                    f"The vector cache in {self._path} can't be removed: {error.strerror}.",
                    hint="Check the folder's permissions, or delete it; Groundwork rebuilds it.",
                ) from error

    def _open(self) -> None:
        import chromadb
        from chromadb.api.shared_system_client import SharedSystemClient
        from chromadb.config import Settings

        self._close()
        self._path.mkdir(parents=True, exist_ok=True)
        generation = self._read_mark()
        # Chroma keeps the state of a failed attempt to open, and the next attempt would fail on it.
        SharedSystemClient._identifier_to_system.pop(str(self._path), None)
        SharedSystemClient._identifier_to_refcount.pop(str(self._path), None)
        self._client = chromadb.PersistentClient(str(self._path), settings=Settings(anonymized_telemetry=False))
        self._collection = self._client.get_or_create_collection(
            COLLECTION, configuration={"hnsw": HNSW}, embedding_function=None
        )
        self._generation = generation
        if not generation:
            self._leave_mark()

    def _close(self) -> None:
        client, self._client, self._collection = self._client, None, None
        if client is not None:
            client.close()

    def _read_mark(self) -> str:
        try:
            return self._mark.read_text("ascii")
        except FileNotFoundError:
            return ""

    def _leave_mark(self) -> None:
        self._generation = uuid.uuid4().hex
        self._mark.write_text(self._generation, "ascii")


_folders: dict[Path, _Folder] = {}
_folders_lock = threading.Lock()


def _shared(path: Path) -> _Folder:
    path = path.resolve()
    with _folders_lock:
        return _folders.setdefault(path, _Folder(path))
