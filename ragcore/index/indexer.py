"""Indexer: embeds new chunks, and keeps the vector store and BM25 in step with SQLite.

Each batch of vectors is stored as soon as it is embedded, so a killed run loses at most one batch. BM25 holds every
document from its first build on, the vector store what is embedded by then. A query that finds another revision, of
this process or another, updates both, only for the documents that differ.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from ragcore.errors import Cancelled, IndexEmpty, IndexMismatch, StoreBusy
from ragcore.index import bm25, graph
from ragcore.index.bm25 import Bm25Index, Postings
from ragcore.index.chunks import STEP, fingerprint
from ragcore.index.graph import NameGraph, Names
from ragcore.index.vectors import VectorIndex, VectorStore

if TYPE_CHECKING:
    from ragcore.config.settings import IndexSettings
    from ragcore.index.store import Store
    from ragcore.protocols import Embedder, Vector
    from ragcore.types import Chunk, Entry
    from ragcore.types.library import DocumentInfo


AGAIN_SECONDS = 0.5  # between two looks at a document that another process embeds


class _Stored(Protocol):
    def to_bytes(self) -> bytes: ...


T = TypeVar("T", bound=_Stored)


@dataclass(frozen=True, slots=True)
class Derivation(Generic[T]):
    """Facts derived from each document alone, which go with it: their name in the store, the version of their method,
    how they are made from the document's chunks, and how they are read (`ValueError`: damaged)."""

    name: str
    version: int
    made: Callable[[Sequence[tuple[Entry, Chunk]]], T]
    read: Callable[[bytes], T]


POSTINGS = Derivation(
    "postings",
    bm25.VERSION,
    lambda chunks: Postings.of((entry, chunk.index_text) for entry, chunk in chunks),
    Postings.from_bytes,
)
NAMES = Derivation("names", graph.VERSION, Names.of, Names.from_bytes)


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

    def __init__(self, store: Store, embedder: Embedder, settings: IndexSettings) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._revision = -1  # that of both indexes
        self._vectors: VectorStore | None = None
        self._sparse = Bm25Index(k1=settings.bm25_k1, b=settings.bm25_b)
        self._graph = NameGraph()
        self._lock = threading.Lock()
        self._linking = threading.Lock()  # other searches don't wait for names

    def update(
        self,
        *,
        rebuild: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IndexReport:
        """Embed every chunk without a vector, then count the terms of new documents and find the names of whole ones.

        ``rebuild`` does so for all documents and permits another embedder. ``on_progress(done, total)`` counts
        chunks. Raises `IndexMismatch` (another embedder built the index and ``rebuild`` is off), `Cancelled`,
        `ModelError`, `StoreBusy` or `StoreError`.
        """
        started = time.perf_counter()
        record = self._store.index_record()
        mine = {"embedder": self._embedder.name, "dimensions": self._embedder.dimensions}
        if record is None:
            self._store.set_index_record(mine)
        elif not rebuild:
            self._check_embedder(record)
        elif record["embedder"] == self._embedder.name and record != mine:
            self._store.forget_vectors(self._embedder.name)

        waiting = self._store.waiting(self._embedder.name)
        total, done = sum(waiting.values()), 0
        if on_progress is not None:
            on_progress(0, total)
        with closing(self._unembedded(waiting, cancelled)) as chunks:
            while batch := list(islice(chunks, self._settings.batch)):
                if cancelled is not None and cancelled():
                    raise Cancelled(f"Indexing was stopped after {done} of {total} chunks.")
                vectors = self._embed(batch)
                self._store.put_vectors(self._embedder.name, batch, vectors)
                done += len(batch)
                if done // STEP > (done - len(batch)) // STEP:
                    self._store.touch()
                if on_progress is not None:
                    on_progress(done, total)

        if rebuild:
            self._store.set_index_record(mine)
            self._store.age_derived()
        self._store.settle(self._embedder.name)
        documents = self._store.searchable()
        derived: dict[Derivation[Any], dict[str, str]] = {
            POSTINGS: documents,
            NAMES: self._store.searchable(whole=True),
        }
        for kind, wanted in derived.items():
            for doc_id in self.lacking(kind, wanted):
                if cancelled is not None and cancelled():
                    raise Cancelled(f"Indexing was stopped after {done} of {total} chunks.")
                self.remade(kind, doc_id)
        searchable = self._store.count(list(documents))
        if searchable and self._settings.vector_store != "memory":
            self.open()[0].optimize()  # now, not at the next question
        return IndexReport(searchable, done, self._embedder.name, time.perf_counter() - started)

    def _unembedded(self, waiting: Iterable[str], cancelled: Callable[[], bool] | None) -> Generator[Chunk]:
        """Chunks of documents that want a vector, document by document. What another process embeds right now comes
        last, once that has ended."""
        left = list(waiting)
        while left:
            taken = []
            for doc_id in left:
                with ExitStack() as lock:
                    try:
                        lock.enter_context(self._store.embedding_lock(doc_id))
                    except StoreBusy:
                        taken.append(doc_id)
                    else:
                        yield from self._store.unembedded(self._embedder.name, doc_id)
            left = taken
            if left:
                time.sleep(AGAIN_SECONDS)
            if cancelled is not None and cancelled():
                return

    def check(self) -> None:
        """Raise `IndexEmpty` if nothing was ever indexed and `IndexMismatch` if another embedder built the index."""
        record = self._store.index_record()
        if record is None:
            raise IndexEmpty("Nothing is indexed yet.")
        self._check_embedder(record)

    def open(self) -> tuple[VectorStore, Bm25Index]:
        """Vector store and BM25 for one query, in step with SQLite. Raises `IndexEmpty` if no document can be asked,
        `IndexMismatch`, `StoreBusy`, `StoreError` or `VectorStoreError`.
        """
        self.check()
        name = self._embedder.name
        with self._lock:
            vectors, sparse = self._vectors, self._sparse
            if vectors is None or self._store.revision() != self._revision:
                self._store.settle(name)
                # Read first: what changes from now on has a later revision.
                revision = self._store.revision()
                self._sparse = sparse = sparse.updated(
                    self._store.searchable(), lambda wanted: self.derived(POSTINGS, wanted)
                )
                vectors = self._empty() if vectors is None else vectors
                embedded, load = self._store.with_vectors(name), partial(self._store.vectors, name)
                self._vectors = vectors = vectors.updated(embedded, load)
                self._revision = revision
        if not len(sparse):
            raise IndexEmpty("No document is indexed yet.")
        return vectors, sparse

    def graph(self) -> NameGraph:
        """Graph of names for one query, in step with SQLite. Raises `StoreBusy` or `StoreError`."""
        with self._linking:
            self._graph = self._graph.updated(self._store.searchable(), lambda wanted: self.derived(NAMES, wanted))
            return self._graph

    def _empty(self) -> VectorStore:
        kind, _, address = self._settings.vector_store.partition(":")
        if kind == "memory":
            return VectorIndex()
        if kind == "pgvector":
            from ragcore.index.pgvector import pgvector

            return pgvector(self._store.database, self._embedder.name)
        from ragcore.index.chroma import ChromaIndex

        embedder = blake2b(self._embedder.name.encode(), digest_size=4).hexdigest()
        return ChromaIndex(
            address or self._store.home / "cache" / "chroma", f"groundwork-{self._store.name()}-{embedder}"
        )

    def _embed(self, batch: Sequence[Chunk]) -> Vector:
        # Longest first: texts embedded together then end at nearly the same time.
        order = sorted(range(len(batch)), key=lambda place: -len(batch[place].index_text))
        vectors = self._embedder.embed_documents([batch[place].index_text for place in order])
        return vectors[np.argsort(order)]

    def derived(self, kind: Derivation[T], wanted: Mapping[str, str]) -> dict[str, T]:
        """What is derived of ``kind`` from documents (id → fingerprint): as stored, else made again and stored."""
        found: dict[str, T] = {}
        for doc_id, mark, data in self._store.derived(kind.name, list(wanted)):
            if mark == _mark(kind, wanted[doc_id]):
                with suppress(ValueError):  # damaged: made again below
                    found[doc_id] = kind.read(data)
        for doc_id in wanted.keys() - found.keys():
            found[doc_id] = self.remade(kind, doc_id)
        return found

    def lacking(self, kind: Derivation[Any], documents: Mapping[str, str]) -> dict[str, str]:
        """Those of ``documents`` (id → fingerprint) of which nothing of ``kind`` is stored, or by another method."""
        kept = self._store.derived_marks(kind.name)
        return {doc_id: digest for doc_id, digest in documents.items() if kept.get(doc_id) != _mark(kind, digest)}

    def remade(self, kind: Derivation[T], doc_id: str, seconds: float = 0.0) -> T:
        """What is derived of ``kind`` from a document, made again and stored; ``seconds`` were spent on it before."""
        began = time.monotonic() - seconds
        chunks = self._store.indexed_chunks(doc_id)
        made = kind.made(chunks)
        # It may have been rebuilt in the meantime, so the mark is that of these chunks.
        pages = [(entry.first_page, entry.last_page) for entry, _ in chunks]
        mark = _mark(kind, fingerprint([chunk for _, chunk in chunks], pages))
        self._store.put_derived(kind.name, doc_id, mark, made.to_bytes(), time.monotonic() - began)
        return made

    def _check_embedder(self, record: Mapping[str, Any]) -> None:
        if record["embedder"] != self._embedder.name:
            raise IndexMismatch(
                f"The index was built by {record['embedder']}; index.embedder is {self._embedder.name}."
            )
        if record["dimensions"] != self._embedder.dimensions:
            raise IndexMismatch(
                f"The index has vectors of {record['dimensions']} dimensions; {self._embedder.name} makes vectors of "
                f"{self._embedder.dimensions}."
            )


def _mark(kind: Derivation[Any], fingerprint: str) -> str:
    """Mark of what is derived of ``kind`` from this document by today's method."""
    return f"{kind.version} {fingerprint}"
