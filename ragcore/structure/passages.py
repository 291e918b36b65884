"""Passages of a library with their vectors, from which structures are made."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ragcore.index.chunks import Entries
from ragcore.protocols import Vector
from ragcore.types import EVERYTHING, Scope

Floats = NDArray[np.float64]
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Passages:
    """Passages with a vector: ``entries``, and float32 ``vectors`` ``(n, d)`` of length 1, row by row. Rows are in the
    order of the documents' ids, so that it tells nothing of when they were added."""

    entries: Entries
    vectors: Vector

    def cosines(self, vector: Vector, scope: Scope = EVERYTHING) -> Floats:
        """Cosine similarity of each passage to ``vector``, float64 ``(n,)``; -1 out of ``scope``."""
        if not len(self.entries):
            return np.zeros(0)
        found = (self.vectors @ vector).astype(np.float64)
        inside = self.entries.within(scope)
        if inside is not None:
            found[~inside] = -1.0
        return found

    def order(self, scores: Floats) -> list[int]:
        """Rows by ``scores``, float64 ``(n,)``, best first; ties by row."""
        rows: list[int] = np.argsort(-scores, kind="stable").tolist()
        return rows

    def best(self, scores: Floats, k: int) -> list[tuple[str, float]]:
        """At most ``k`` ids with the highest of ``scores`` above 0, float64 ``(n,)``, best first; ties by row."""
        return [(self.entries.ids[row], float(scores[row])) for row in self.order(scores)[:k] if scores[row] > 0.0]

    def ranked(self, rows: Sequence[int], k: int) -> list[tuple[str, float]]:
        """The first ``k`` of ``rows``, best first, where a method gives an order alone: from 1 on, in equal steps."""
        return [(self.entries.ids[row], 1.0 - place / len(rows)) for place, row in enumerate(rows[:k])]


def stretched(scores: Floats) -> Floats:
    """``scores`` with the best as 1 and the worst as 0; all 1 if they are equal."""
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    return (scores - low) / (high - low) if high > low else np.ones(len(scores))


def in_turn(lists: Sequence[Sequence[T]], shares: Sequence[float] = ()) -> list[T]:
    """Members of several lists, each once: the next is always of the list that is furthest behind its share, of equal
    ones the first."""
    shares = shares or [1.0] * len(lists)
    taken = [0] * len(lists)
    found: dict[T, None] = {}
    while left := [n for n, rows in enumerate(lists) if taken[n] < len(rows)]:
        one = min(left, key=lambda n: ((taken[n] + 1) / shares[n], n))
        found.setdefault(lists[one][taken[one]])
        taken[one] += 1
    return list(found)
