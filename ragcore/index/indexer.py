"""Embedding what is new, and keeping Chroma and BM25 in step with SQLite.

Vectors live in SQLite; a batch is stored there as soon as it is embedded, so a killed run loses at most one. The two
caches carry the revision they were built from and are brought up to date, by the difference only, when it is an old
one: after an update, or when a query finds that another process changed the library.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from ragcore.errors import Cancelled, IndexEmpty, IndexMismatch, StoreBusy, VectorStoreError
from ragcore.index.bm25 import Bm25Index
from ragcore.index.vectors import VectorCache, searchable

if TYPE_CHECKING:
    from ragcore.config import IndexSettings
    from ragcore.index.store import Store
    from ragcore.protocols import Embedder, VectorStore


@dataclass(frozen=True, slots=True)
class IndexReport:
    """``chunks`` that can be found now, ``embedded`` in this run, by which embedder, in how many seconds."""

    chunks: int
    embedded: int
    embedder: str
    seconds: float


class Indexer:
    """The index of one library. Safe for threads, and for several processes on one home folder."""

    def __init__(self, store: Store, embedder: Embedder, settings: IndexSettings, vectors: VectorStore) -> None:
        cache = store.home / "cache"
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._vectors = vectors
        self._cache = VectorCache(store, vectors, cache / settings.vector_store / "stamp.json", embedder.name)
        self._sparse_file = cache / "bm25.npz"
        self._sparse: Bm25Index | None = None
        self._sparse_stamp: tuple[int, int] | None = None
        self._threads = threading.RLock()

    def update(
        self,
        *,
        rebuild: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IndexReport:
        """Embed every chunk that has no vector yet, then bring both caches up to date.

        ``rebuild`` drops the caches first and lets another embedder take over. ``on_progress(done, total)`` counts
        chunks. Raises `IndexMismatch` (another embedder built the index and ``rebuild`` is off), `Cancelled`,
        `ModelError`, `StoreBusy` or `VectorStoreError`.
        """
        started = time.perf_counter()
        record = self._store.index_record()
        if record is not None and not rebuild:
            self._check_embedder(record["embedder"])
        mine = {"embedder": self._embedder.name, "dimensions": self._embedder.dimensions}
        if record is None:
            self._store.set_index_record(mine)

        waiting = self._store.unembedded(self._embedder.name)
        if on_progress is not None:
            on_progress(0, len(waiting))
        for at in range(0, len(waiting), self._settings.batch):
            if cancelled is not None and cancelled():
                raise Cancelled(f"Indexing was stopped after {at} of {len(waiting)} chunks.")
            batch = waiting[at : at + self._settings.batch]
            vectors = self._embedder.embed_documents([chunk.index_text for chunk in batch])
            self._store.put_vectors(self._embedder.name, batch, vectors)
            if on_progress is not None:
                on_progress(at + len(batch), len(waiting))

        with self._held():
            if record is not None and record != {**record, **mine}:
                self._store.set_index_record({**record, **mine})
            if rebuild:
                self._sparse_file.unlink(missing_ok=True)
                self._cache.drop()
            chunks = self._synchronise()
        return IndexReport(chunks, len(waiting), self._embedder.name, time.perf_counter() - started)

    def check(self) -> None:
        """Raise `IndexEmpty` if nothing was ever indexed and `IndexMismatch` if another embedder built the index."""
        record = self._store.index_record()
        if record is None:
            raise IndexEmpty("Nothing is indexed yet.")
        self._check_embedder(record["embedder"])

    def open(self) -> tuple[VectorStore, Bm25Index]:
        """Both caches, in step with SQLite, for one query; brought up to date first where they are not.

        A document counts once all its chunks are embedded. Raises `IndexEmpty` when there is none, `IndexMismatch`,
        `StoreBusy` or `VectorStoreError`.
        """
        self.check()
        with self._threads:
            if not self._current():
                with self._held():
                    # Another process may have brought them up to date while this one waited.
                    if not self._current():
                        self._synchronise()
            sparse = self._load_sparse()
        if sparse is None or not len(sparse):
            raise IndexEmpty("No document is indexed yet.")
        return self._vectors, sparse

    def _current(self) -> bool:
        revision = self._store.revision()
        if not self._cache.current(revision):
            return False
        sparse = self._load_sparse()
        return sparse is not None and sparse.revision == revision

    def _load_sparse(self) -> Bm25Index | None:
        """The BM25 index in the file, read again when the file is another one."""
        try:
            stat = self._sparse_file.stat()
        except FileNotFoundError:
            return None
        stamp = (stat.st_mtime_ns, stat.st_ino)
        if self._sparse is None or stamp != self._sparse_stamp:
            self._sparse = Bm25Index.load(self._sparse_file, k1=self._settings.bm25_k1, b=self._settings.bm25_b)
            self._sparse_stamp = stamp
        return self._sparse

    def _synchronise(self) -> int:
        """Bring both caches up to date; the number of chunks they hold. The caller holds the lock."""
        resets = 0
        while True:
            revision = self._store.revision()
            wanted = searchable(self._store, self._embedder.name)
            try:
                self._cache.synchronise(wanted, revision)
            except VectorStoreError:
                # The library may have changed meanwhile; else the cache is damaged, and is made again once.
                if self._store.revision() == revision:
                    if resets:
                        raise
                    resets += 1
                    self._cache.drop()
                continue
            break
        k1, b = self._settings.bm25_k1, self._settings.bm25_b
        known = self._load_sparse() or Bm25Index({}, {}, k1=k1, b=b)
        fingerprints = {doc_id: state.fingerprint for doc_id, state in wanted.items()}
        if known.fingerprints != fingerprints or known.revision != revision:
            known = known.updated(fingerprints, self._store.chunks, revision=revision)
            known.save(self._sparse_file)
        return len(known)

    def _check_embedder(self, recorded: str) -> None:
        if recorded != self._embedder.name:
            raise IndexMismatch(f"The index was built by {recorded}; index.embedder is {self._embedder.name}.")

    @contextmanager
    def _held(self) -> Iterator[None]:
        """The index of this home folder, for this process and thread alone."""
        folder = self._store.home / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with self._threads:
            lock = FileLock(folder / "index.lock", timeout=self._settings.lock_seconds, poll_interval=0.02)
            try:
                lock.acquire()
            except Timeout as error:
                raise StoreBusy("Another process of Groundwork is building the index of this home folder.") from error
            try:
                yield
            finally:
                lock.release()
