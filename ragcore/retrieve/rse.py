"""Relevant segment extraction: runs of neighbouring chunks that are worth more together than apart.

The method is dsRAG's (D-Star-AI/dsRAG, MIT). Each chunk has a value per query, positive if it is relevant; a segment is
worth the sum of its values, so an unscored chunk between two good ones costs its penalty. The search here is exact and
gives the same segments and sums, bit for bit, as the published double loop.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

NO_VALUE = -1000.0  # initial best of the published search: a segment worth no more is never taken
_BLOCK = 1 << 17  # sums in memory at a time (1 MiB), whatever the number of chunks


def best_segments(
    values: Sequence[ArrayLike],
    lengths: Sequence[int],
    *,
    max_length: int,
    overall_max_length: int,
    minimum_value: float,
) -> list[tuple[int, int, float]]:
    """Best segments as ``(start, end, value)``, half-open positions, in the order chosen.

    ``values`` is one array per query, float64 ``(n,)``, over the concatenated chunks of all documents; ``lengths`` are
    the numbers of chunks of each document and sum to n. Queries take turns. On its turn a query takes its best legal
    segment: no longer than ``max_length`` or the rest of ``overall_max_length``, within one document, disjoint from all
    chosen segments, with a first and a last value of at least 0. A query whose best segment is worth less than
    ``minimum_value`` is out. Among equal values the lowest start wins, then the lowest end. Sums are plain additions
    from left to right. A value of -inf excludes its chunk from every segment. Memory is about 40 bytes for each chunk
    of each query, whatever the limits. Raises ValueError if the shapes disagree or a value is not a number (NaN, +inf).
    """
    n = sum(lengths)
    arrays = [np.asarray(query, dtype=np.float64) for query in values]
    if any(array.shape != (n,) for array in arrays):
        raise ValueError(f"each query needs one value per chunk: {n} of them")
    if not all((array < np.inf).all() for array in arrays):
        raise ValueError("a chunk's value must be a number")
    if any(length < 0 for length in lengths):
        raise ValueError("a document cannot have fewer than 0 chunks")
    bounds = np.cumsum(np.asarray(lengths, dtype=np.int64))
    widest = min(max_length, overall_max_length, n)
    if widest < 1:
        return []

    searches = [_Search(array, bounds, widest) for array in arrays]
    active = list(searches)
    left = overall_max_length
    chosen: list[tuple[int, int, float]] = []
    while active and left > 0:
        for search in list(active):
            if left <= 0:
                break
            best = search.best(min(widest, left))
            if best is None or best[2] < minimum_value:
                active.remove(search)
                continue
            chosen.append(best)
            left -= best[1] - best[0]
            for other in searches:
                other.exclude(best[0], best[1])
    return chosen


class _Search:
    """Search state of one query: the best window from each possible start, with its value in ``sums`` (-inf: none) and
    its number of chunks in ``widths``.

    Legality only shrinks, so the best window of a start remains the best while it is legal, and the value of an illegal
    one is an upper bound for the legal ones. Hence a start is measured again only if its window has become too wide and
    no legal one is worth more.
    """

    def __init__(self, values: NDArray[np.float64], bounds: NDArray[np.int64], widest: int) -> None:
        self.widest = widest
        # Only a value of at least 0 may begin or end a segment, so few chunks are starts.
        self.starts = np.flatnonzero(values >= 0.0)
        self.values = values
        self.room = bounds[np.searchsorted(bounds, self.starts, side="right")] - self.starts
        self.sums = np.empty(len(self.starts))
        self.widths = np.empty(len(self.starts), dtype=np.int64)
        self._measure(np.arange(len(self.starts)), widest)

    def _measure(self, rows: NDArray[np.int64], limit: int) -> None:
        """Find the best window of each of ``rows`` with ``limit`` chunks or fewer."""
        columns = np.arange(limit)
        step = max(1, _BLOCK // limit)
        for part in (rows[at : at + step] for at in range(0, len(rows), step)):
            # Any value will do after the last chunk: no window reaches there.
            ahead = self.values.take(self.starts[part, None] + columns, mode="clip")
            sums = np.add.accumulate(ahead, axis=1)
            sums[(ahead < 0.0) | (columns >= self.room[part, None])] = -np.inf
            best = sums.argmax(axis=1)  # the first of equals, hence the shortest
            self.sums[part] = sums[np.arange(len(part)), best]
            self.widths[part] = best + 1

    def best(self, limit: int) -> tuple[int, int, float] | None:
        """Best segment of at most ``limit`` chunks."""
        if not len(self.starts):
            return None
        row = int(np.argmax(self.sums))  # the first of equals, hence the lowest start
        if self.widths[row] > min(limit, self.room[row]):
            stands = self.widths <= np.minimum(self.room, limit)
            floor = self.sums[stands].max(initial=NO_VALUE)
            self._measure(np.flatnonzero(~stands & (self.sums >= floor)), limit)
            row = int(np.argmax(self.sums))
        value = float(self.sums[row])
        if not value > NO_VALUE:
            return None
        start = int(self.starts[row])
        return start, start + int(self.widths[row]), value

    def exclude(self, start: int, end: int) -> None:
        """Exclude every window that shares a chunk with ``[start, end)``."""
        first, inside, behind = self.starts.searchsorted((start - self.widest + 1, start, end))
        self.sums[inside:behind] = -np.inf
        self.room[inside:behind] = 0
        np.minimum(self.room[first:inside], start - self.starts[first:inside], out=self.room[first:inside])


def chunk_values(
    ranks: ArrayLike,
    scores: ArrayLike,
    *,
    decay_rate: float,
    irrelevant_chunk_penalty: float,
) -> NDArray[np.float64]:
    """Values of ranked chunks, float64 ``(n,)``: ``exp(-rank / decay_rate) * cdf(score) - penalty``.

    ``ranks`` count from 0 and ``scores`` are in 0–1. The cdf is that of the Beta distribution with both parameters 0.4,
    which spreads a reranker's scores, crowded at both ends, over the whole range. A chunk that was not found is worth
    ``-penalty``.
    """
    from scipy.special import betainc

    ranked = np.exp(-np.asarray(ranks, dtype=np.float64) / decay_rate)
    spread: NDArray[np.float64] = betainc(0.4, 0.4, np.clip(np.asarray(scores, dtype=np.float64), 0.0, 1.0))
    return ranked * spread - irrelevant_chunk_penalty
