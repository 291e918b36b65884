"""Vector index: exact nearest neighbours, by one product with every vector.

SQLite stores each vector as soon as it is made. In memory they are one matrix, as BM25's counts are: a change of the
library takes rows from it and adds others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ragcore.errors import IndexMismatch
from ragcore.index.chunks import Entries
from ragcore.protocols import Nearest
from ragcore.types import EVERYTHING, Scope

if TYPE_CHECKING:
    from ragcore.protocols import Vector

FEW = 0.05  # share of the chunks up to which only the vectors of a scope are compared

# Chunks of documents with their vectors, float32 ``(n, d)``.
Load = Callable[[Sequence[str]], "tuple[Entries, Vector]"]


class VectorStore(Nearest, Protocol):
    """`Nearest` over some documents, in memory or on a server."""

    def __len__(self) -> int:
        """Number of chunks."""

    def updated(self, wanted: Mapping[str, str], load: Load) -> VectorStore:
        """Store of exactly the documents ``wanted`` (id → fingerprint); ``load`` gives those that are new."""

    def optimize(self) -> None:
        """Build what makes searches in many vectors fast, if that takes longer than a search may."""


class VectorIndex:
    """`VectorStore` in memory. Immutable: `updated` returns a new one. Thread-safe."""

    def __init__(
        self,
        documents: Mapping[str, str] | None = None,
        entries: Entries | None = None,
        vectors: Vector | None = None,
    ) -> None:
        self.documents = documents or {}  # id → fingerprint
        self.entries = Entries.of([]) if entries is None else entries
        self.vectors = np.zeros((0, 0), dtype=np.float32) if vectors is None else vectors

    def __len__(self) -> int:
        return len(self.entries)

    def updated(self, wanted: Mapping[str, str], load: Load) -> VectorIndex:
        if wanted == self.documents:
            return self
        kept = {doc_id for doc_id, mark in self.documents.items() if wanted.get(doc_id) == mark}
        new = [doc_id for doc_id in wanted if doc_id not in kept]
        if not kept:
            return VectorIndex(wanted, *load(new))
        entries, vectors = self.entries, self.vectors
        keep = entries.of_documents(kept)
        if not keep.all():
            entries, vectors = entries.where(keep), vectors[keep]
        if new:
            more, added = load(new)
            entries, vectors = Entries.joined([entries, more]), np.concatenate([vectors, added])
        return VectorIndex(wanted, entries, vectors)

    def optimize(self) -> None:
        """One product needs nothing built."""

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        if not len(self):
            return []
        vector = np.asarray(vector, dtype=np.float32)
        if len(vector) != self.vectors.shape[1]:
            raise IndexMismatch(f"The index has vectors of {self.vectors.shape[1]} dimensions, not {len(vector)}.")
        inside = self.entries.within(scope)
        rows = np.arange(len(self)) if inside is None else np.flatnonzero(inside)
        few = len(rows) <= FEW * len(self)
        compared = self.vectors[rows] if few else self.vectors
        scores = np.einsum("ij,j->i", compared, vector)  # BLAS takes three times the processor's time for one query
        scores = scores if few or inside is None else scores[rows]
        if len(rows) > k:  # the best, and all ties with the last one
            best = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
            rows, scores = rows[best], scores[best]
        found = zip((self.entries.ids[row] for row in rows.tolist()), scores.tolist())
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]

    def scores(self, vector: Vector, ids: Sequence[str]) -> dict[str, float]:
        known = [chunk_id for chunk_id in ids if chunk_id in self._rows]
        if not known:
            return {}
        compared = self.vectors[[self._rows[chunk_id] for chunk_id in known]]
        return dict(zip(known, np.einsum("ij,j->i", compared, np.asarray(vector, np.float32)).tolist(), strict=True))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {chunk_id: row for row, chunk_id in enumerate(self.entries.ids)}
