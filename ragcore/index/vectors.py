"""Keeping a vector store in step with SQLite, document by document."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragcore.errors import VectorStoreError

if TYPE_CHECKING:
    from ragcore.index.chunk_store import ChunkStore, DocumentState
    from ragcore.protocols import VectorStore

FORMAT = 2


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a vector store holds. ``pending`` documents were being written when the stamp was left: they are redone."""

    embedder: str
    revision: int
    documents: Mapping[str, str]
    pending: tuple[str, ...] = ()
    format: int = FORMAT


class VectorCache:
    """``vectors`` as a cache of the vectors in ``store``, with its stamp in a file that goes when the cache goes.

    The caller holds the lock of the index around `synchronise` and `drop`.
    """

    def __init__(self, store: ChunkStore, vectors: VectorStore, stamp: Path, embedder: str) -> None:
        self._store = store
        self._vectors = vectors
        self._stamp = stamp
        self._embedder = embedder
        self._seen: tuple[tuple[int, int], Stamp | None] | None = None

    def current(self, revision: int) -> bool:
        """Whether the cache was built by this embedder from this revision."""
        stamp = self._read()
        return stamp is not None and stamp.embedder == self._embedder and stamp.revision == revision

    def drop(self) -> None:
        self._stamp.unlink(missing_ok=True)
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
        if self._vectors.count() != sum(state.chunks for state in wanted.values()):
            self._stamp.unlink(missing_ok=True)
            raise VectorStoreError("The vector cache does not hold the chunks that the library holds.")
        self._write(Stamp(self._embedder, revision, fingerprints))

    def _read(self) -> Stamp | None:
        """The stamp; None where there is none or a crash cut it short, for then what the store holds is unknown."""
        try:
            stat = self._stamp.stat()
            version = (stat.st_mtime_ns, stat.st_ino)
            if self._seen is None or self._seen[0] != version:
                self._seen = (version, _parse(self._stamp.read_bytes()))
        except FileNotFoundError:
            return None
        return self._seen[1]

    def _write(self, stamp: Stamp) -> None:
        self._stamp.parent.mkdir(parents=True, exist_ok=True)
        part = self._stamp.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(asdict(stamp)), "utf-8")
        part.replace(self._stamp)


def _parse(data: bytes) -> Stamp | None:
    try:
        values: dict[str, Any] = json.loads(data)
        stamp = Stamp(**{**values, "pending": tuple(values["pending"])})
    except (ValueError, TypeError, KeyError):
        return None
    return stamp if stamp.format == FORMAT else None
