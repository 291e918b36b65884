"""Keeping a vector store in step with SQLite, document by document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragcore import files
from ragcore.errors import VectorStoreError

if TYPE_CHECKING:
    from ragcore.index.chunk_store import ChunkStore, DocumentState
    from ragcore.protocols import VectorStore

FORMAT = 3


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a vector store holds. ``pending`` documents were being written when the stamp was left: they are redone.
    ``vectors`` is how many it holds in all."""

    embedder: str
    revision: int
    documents: Mapping[str, str]
    pending: tuple[str, ...] = ()
    vectors: int = -1
    format: int = FORMAT


class VectorCache:
    """``vectors`` as a cache of the vectors in ``store``, with its stamp in a file that goes when the cache goes.

    The caller holds the lock of the index around `synchronise` and `drop`. `StoreError`: the files cannot be read or
    written, or there is no room for them.
    """

    def __init__(self, store: ChunkStore, vectors: VectorStore, stamp: Path, embedder: str) -> None:
        self._store = store
        self._vectors = vectors
        self._stamp = stamp
        self._embedder = embedder
        self._seen: tuple[files.Version, Stamp | None] | None = None

    def current(self, revision: int) -> Mapping[str, str] | None:
        """The documents (id → fingerprint, in the library's order) that the cache holds, where this embedder built it
        from this revision and it still holds what was put into it; else None."""
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
        """Make the store hold exactly the chunks of ``wanted``; documents that did not change are left alone.

        Raises `VectorStoreError` when the store does not hold as many chunks as it should afterwards.
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
        """The stamp; None where there is none or a crash cut it short, for then what the store holds is unknown."""
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
        values: dict[str, Any] = json.loads(files.unsealed(data))
        stamp = Stamp(**{**values, "pending": tuple(values["pending"])})
    except (ValueError, TypeError, KeyError):
        return None
    return stamp if stamp.format == FORMAT else None
