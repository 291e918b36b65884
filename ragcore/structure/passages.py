"""Passages of a library with their vectors, from which structures are made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcore.index.chunks import Entries
from ragcore.protocols import Vector
from ragcore.types import Scope

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Passages:
    """Passages with a vector: ``entries``, and float32 ``vectors`` ``(n, d)`` of length 1, row by row."""

    entries: Entries
    vectors: Vector

    def cosines(self, vector: Vector, scope: Scope) -> Floats:
        """Cosine similarity of each passage to ``vector``, float64 ``(n,)``; -1 out of ``scope``."""
        if not len(self.entries):
            return np.zeros(0)
        found = (self.vectors @ vector).astype(np.float64)
        inside = self.entries.within(scope)
        if inside is not None:
            found[~inside] = -1.0
        return found

    def best(self, scores: Floats, k: int) -> list[tuple[str, float]]:
        """At most ``k`` ids with the highest of ``scores`` above 0, float64 ``(n,)``, best first; ties by row."""
        order = np.lexsort((np.arange(len(scores)), -scores))[:k]
        return [(self.entries.ids[row], float(scores[row])) for row in order.tolist() if scores[row] > 0.0]
