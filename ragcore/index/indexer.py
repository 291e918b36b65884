"""Indexer: embeds new chunks, and keeps the vector store and BM25 in step with SQLite.

Vectors live in SQLite; each batch is stored as soon as it is embedded, so a killed run loses at most one batch. The
vector store carries the revision it was built from. An outdated one is updated, only for the documents that differ:
after an update, or when a query finds that another process changed the library. BM25 has the same documents in memory.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragcore import files
from ragcore.errors import Cancelled, IndexEmpty, IndexMismatch, VectorStoreError
from ragcore.index.bm25 import VERSION, Bm25Index, Postings
from ragcore.index.chunks import fingerprint

if TYPE_CHECKING:
    from ragcore.config.settings import IndexSettings
    from ragcore.index.chunks import ChunkStore, DocumentState
    from ragcore.index.store import Store
    from ragcore.protocols import Embedder, Vector, VectorStore
    from ragcore.types import Chunk
    from ragcore.types.library import DocumentInfo

LOCK_SECONDS = 60.0  # waiting for another process that builds the index


@dataclass(frozen=True, slots=True)
class IndexReport:
    """Result of an update: searchable ``chunks``, those ``embedded`` in this run, the embedder, and the seconds taken;
    ``usd`` is the cost of descriptions and contexts written in this run; ``failed`` documents could not be rebuilt."""

    chunks: int
    embedded: int
    embedder: str
    seconds: float
    usd: float = 0.0
    failed: tuple[DocumentInfo, ...] = ()


class Indexer:
    """Index of one library. Safe for threads, and for several processes on one home folder."""

    def __init__(self, store: Store, embedder: Embedder, settings: IndexSettings, vectors: VectorStore) -> None:
        cache = store.home / "cache"
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._vectors = vectors
        self._cache = VectorCache(store, vectors, cache / settings.vector_store / "stamp.json", embedder.name)
        self._sparse = Bm25Index(k1=settings.bm25_k1, b=settings.bm25_b)
        self._threads = threading.RLock()

    def update(
        self,
        *,
        rebuild: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IndexReport:
        """Embed every chunk without a vector, then update both caches.

        ``rebuild`` drops the caches first and permits another embedder. ``on_progress(done, total)`` counts chunks.
        Raises `IndexMismatch` (another embedder built the index and ``rebuild`` is off), `Cancelled`, `ModelError`,
        `StoreBusy`, `StoreError` or `VectorStoreError`.
        """
        started = time.perf_counter()
        record = self._store.index_record()
        if record is not None and not rebuild:
            self._check_embedder(record["embedder"])
        mine = {"embedder": self._embedder.name, "dimensions": self._embedder.dimensions}
        if record is None:
            self._store.set_index_record(mine)

        waiting = self._store.waiting(self._embedder.name)
        total, done = sum(waiting.values()), 0
        if on_progress is not None:
            on_progress(0, total)
        chunks = (chunk for doc_id in waiting for chunk in self._store.unembedded(self._embedder.name, doc_id))
        while batch := list(islice(chunks, self._settings.batch)):
            vectors = self._embed(batch)
            if cancelled is not None and cancelled():
                raise Cancelled(f"Indexing was stopped after {done} of {total} chunks.")
            self._store.put_vectors(self._embedder.name, batch, vectors)
            done += len(batch)
            if on_progress is not None:
                on_progress(done, total)

        with self._held():
            if record is not None and record != {**record, **mine}:
                self._store.set_index_record({**record, **mine})
            if rebuild:
                self._store.forget_postings()
                self._cache.drop()
            self._synchronise()
            searchable = self._vectors.count()
        return IndexReport(searchable, done, self._embedder.name, time.perf_counter() - started)

    def check(self) -> None:
        """Raise `IndexEmpty` if nothing was ever indexed and `IndexMismatch` if another embedder built the index."""
        record = self._store.index_record()
        if record is None:
            raise IndexEmpty("Nothing is indexed yet.")
        self._check_embedder(record["embedder"])

    def open(self) -> tuple[VectorStore, Bm25Index]:
        """Vector store and BM25 for one query, in step with SQLite: updated first, or rebuilt if damaged.

        A document counts once all its chunks are embedded. Raises `IndexEmpty` if there is none, `IndexMismatch`,
        `StoreBusy`, `StoreError` or `VectorStoreError`.
        """
        self.check()
        with self._threads:
            documents = self._cache.current(self._store.revision())
            if documents is None:
                with self._held():
                    # Another process may have updated it while this one waited.
                    documents = self._cache.current(self._store.revision()) or self._synchronise()
            sparse = self._sparse = self._sparse.updated(documents, self._postings)
        if not len(sparse):
            raise IndexEmpty("No document is indexed yet.")
        return self._vectors, sparse

    def _embed(self, batch: Sequence[Chunk]) -> Vector:
        # Longest first: texts embedded together then end at nearly the same time.
        order = sorted(range(len(batch)), key=lambda place: -len(batch[place].index_text))
        vectors = self._embedder.embed_documents([batch[place].index_text for place in order])
        return vectors[np.argsort(order)]

    def _synchronise(self) -> Mapping[str, str]:
        """Update the vector store and the postings; returns their documents (id → fingerprint). The caller holds the
        lock."""
        resets = 0
        while True:
            revision = self._store.revision()
            self._store.settle(self._embedder.name)
            wanted = self._store.searchable(self._embedder.name)
            try:
                self._cache.synchronise(wanted, revision)
            except VectorStoreError:
                # The library may have changed in the meantime; else the cache is damaged, and is rebuilt once.
                if self._store.revision() == revision:
                    if resets:
                        raise
                    resets += 1
                    self._cache.drop()
                continue
            break
        kept = self._store.postings_marks()
        documents = {doc_id: state.fingerprint for doc_id, state in wanted.items()}
        for doc_id, one in documents.items():
            if kept.get(doc_id) != _mark(one):
                self._postings({doc_id: one})
        return documents

    def _postings(self, wanted: Mapping[str, str]) -> dict[str, Postings]:
        """Postings of documents (id → fingerprint): as stored, else counted again and stored."""
        found: dict[str, Postings] = {}
        for doc_id, mark, data in self._store.postings(list(wanted)):
            if mark == _mark(wanted[doc_id]):
                with suppress(ValueError):  # damaged: counted again below
                    found[doc_id] = Postings.from_bytes(data)
        for doc_id in wanted.keys() - found.keys():
            chunks = self._store.indexed_chunks(doc_id)
            made = found[doc_id] = Postings.of((entry, chunk.index_text) for entry, chunk in chunks)
            # It may have been rebuilt in the meantime, so the mark is that of the counted chunks.
            pages = [(entry.first_page, entry.last_page) for entry, _ in chunks]
            mark = _mark(fingerprint([chunk for _, chunk in chunks], pages))
            self._store.put_postings(doc_id, mark, made.to_bytes())
        return found

    def _check_embedder(self, recorded: str) -> None:
        if recorded != self._embedder.name:
            raise IndexMismatch(f"The index was built by {recorded}; index.embedder is {self._embedder.name}.")

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Context in which this process and thread alone hold the index of this home folder."""
        path = self._store.home / "locks" / "index.lock"
        busy = "Another Groundwork process is building this library's index."
        with self._threads, files.locked(path, busy, LOCK_SECONDS):
            yield


def _mark(fingerprint: str) -> str:
    """Mark of postings of this document, as `terms` counts them now."""
    return f"{VERSION} {fingerprint}"


@dataclass(frozen=True, slots=True)
class Stamp:
    """Content of a vector store. ``pending`` documents were being written when the stamp was made and are redone.
    ``vectors`` is the number of vectors in it."""

    embedder: str
    revision: int
    documents: Mapping[str, str]
    pending: Sequence[str] = ()
    vectors: int = -1


class VectorCache:
    """``vectors`` as a cache of the vectors in ``store``, with its stamp in a file that is deleted with the cache.

    The caller holds the lock of the index around `synchronise` and `drop`. `StoreError`: the files cannot be read or
    written, or the disk is full.
    """

    def __init__(self, store: ChunkStore, vectors: VectorStore, stamp: Path, embedder: str) -> None:
        self._store = store
        self._vectors = vectors
        self._stamp = stamp
        self._embedder = embedder
        self._seen: tuple[files.Version, Stamp | None] | None = None

    def current(self, revision: int) -> Mapping[str, str] | None:
        """Documents (id → fingerprint, in the library's order) in the cache, if this embedder built it from this
        revision and its content is intact; else None."""
        stamp = self._read()
        if stamp is None or stamp.embedder != self._embedder or stamp.revision != revision:
            return None
        try:
            return stamp.documents if self._vectors.count() == stamp.vectors else None
        except VectorStoreError:
            return None  # damaged: `synchronise` raises this too, and the caller then drops the cache

    def drop(self) -> None:
        self._forget()
        self._vectors.reset()

    def synchronise(self, wanted: Mapping[str, DocumentState], revision: int) -> None:
        """Make the store hold exactly the chunks of ``wanted``; unchanged documents are left alone.

        Raises `VectorStoreError` if the store then does not hold as many chunks as it should.
        """
        stamp = self._read()
        if stamp is None or stamp.embedder != self._embedder:
            self.drop()
            stamp = Stamp(self._embedder, -1, {})
        fingerprints = {doc_id: state.fingerprint for doc_id, state in wanted.items()}
        kept = {doc_id: mark for doc_id, mark in stamp.documents.items() if fingerprints.get(doc_id) == mark}
        missing = [doc_id for doc_id in fingerprints if doc_id not in kept]
        gone = list(dict.fromkeys((*stamp.pending, *(doc_id for doc_id in stamp.documents if doc_id not in kept))))
        if missing or gone:
            self._write(Stamp(self._embedder, -1, kept, tuple(dict.fromkeys((*gone, *missing)))))
            if gone:
                self._vectors.delete_documents(gone)
            for entries, vectors in self._store.vectors(self._embedder, missing):
                self._vectors.upsert(entries, vectors)
        total = sum(state.chunks for state in wanted.values())
        if self._vectors.count() != total:
            self._forget()
            raise VectorStoreError("The vector cache does not hold the chunks that the library holds.")
        self._write(Stamp(self._embedder, revision, fingerprints, vectors=total))

    def _read(self) -> Stamp | None:
        """Stamp; None if there is none or a crash truncated it, since the store's content is then unknown."""
        with files.reported(self._stamp.parent):
            version = files.version(self._stamp)
            if version is None:
                return None
            if self._seen is None or self._seen[0] != version:
                try:
                    self._seen = (version, _parse(self._stamp.read_bytes()))
                except FileNotFoundError:
                    return None
            return self._seen[1]

    def _write(self, stamp: Stamp) -> None:
        with files.reported(self._stamp.parent), files.replacing(self._stamp) as stream:
            stream.write(files.sealed(json.dumps(asdict(stamp)).encode()))

    def _forget(self) -> None:
        with files.reported(self._stamp.parent):
            self._stamp.unlink(missing_ok=True)


def _parse(data: bytes) -> Stamp | None:
    try:
        return Stamp(**json.loads(files.unsealed(data)))
    except (ValueError, TypeError):
        return None
