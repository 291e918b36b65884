"""Relevant segment extraction: runs of neighbouring chunks that are worth more together than apart.

The method is dsRAG's (D-Star-AI/dsRAG, MIT). Each chunk has a value per query, positive where it is relevant; a
segment is worth the sum of its values, so an unscored chunk between two good ones is worth its penalty. The search here
is exact and gives the same segments and sums, bit for bit, as the published double loop.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

NO_VALUE = -1000.0  # the published search starts from this, so a segment worth no more is never taken


def best_segments(
    values: Sequence[ArrayLike],
    lengths: Sequence[int],
    *,
    max_length: int,
    overall_max_length: int,
    minimum_value: float,
) -> list[tuple[int, int, float]]:
    """The best segments as ``(start, end, value)``, half-open positions, in the order in which they are chosen.

    ``values`` is one array per query, float64 ``(n,)``, over all documents' chunks one after another; ``lengths`` are
    the chunks of each document and sum to n. Queries take turns. On its turn a query takes its best legal segment: no
    longer than ``max_length`` nor than what is left of ``overall_max_length``, within one document, free of every
    segment already taken, with a first and a last value of at least 0. A query whose best is worth less than
    ``minimum_value`` is out. Among equal values the lowest start wins, then the lowest end. Sums are plain additions
    from left to right. Raises ValueError when the shapes do not agree or a value is not a number.
    """
    n = sum(lengths)
    arrays = [np.asarray(query, dtype=np.float64) for query in values]
    if any(array.shape != (n,) for array in arrays):
        raise ValueError(f"each query needs one value per chunk: {n} of them")
    if any(np.isnan(array).any() for array in arrays):
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
    """One query's windows: ``sums[i, l]`` is the value of the l + 1 chunks from the i-th possible start on, -inf where
    no segment may be; ``best_sum`` and ``best_width`` are the running maximum over l and the width where it is first
    reached."""

    def __init__(self, values: NDArray[np.float64], bounds: NDArray[np.int64], widest: int) -> None:
        n = len(values)
        # Only a value of at least 0 may begin or end a segment, which leaves few starts of many chunks.
        self.starts = np.flatnonzero(values >= 0.0)
        room = bounds[np.searchsorted(bounds, self.starts, side="right")] - self.starts
        self.sums = np.full((len(self.starts), widest), -np.inf)
        total = np.zeros(len(self.starts))
        for width in range(1, widest + 1):
            last = np.minimum(self.starts + width - 1, n - 1)
            total = total + values[last]
            legal = (room >= width) & (values[last] >= 0.0)
            self.sums[legal, width - 1] = total[legal]
        self.best_sum = np.empty_like(self.sums)
        self.best_width = np.empty(self.sums.shape, dtype=np.int64)
        self._rank(slice(0, len(self.starts)))

    def _rank(self, rows: slice) -> None:
        sums = self.sums[rows]
        best = np.maximum.accumulate(sums, axis=1)
        rises = np.concatenate([np.ones((len(sums), 1), dtype=bool), best[:, 1:] > best[:, :-1]], axis=1)
        widths = np.arange(1, sums.shape[1] + 1)
        self.best_sum[rows] = best
        self.best_width[rows] = np.maximum.accumulate(np.where(rises, widths, 0), axis=1)

    def best(self, widest: int) -> tuple[int, int, float] | None:
        if not len(self.starts):
            return None
        row = int(np.argmax(self.best_sum[:, widest - 1]))
        value = float(self.best_sum[row, widest - 1])
        if not value > NO_VALUE:
            return None
        start = int(self.starts[row])
        return start, start + int(self.best_width[row, widest - 1]), value

    def exclude(self, start: int, end: int) -> None:
        """Rule out every window that shares a chunk with ``[start, end)``."""
        widest = self.sums.shape[1]
        first = int(np.searchsorted(self.starts, start - widest + 1))
        rows = slice(first, int(np.searchsorted(self.starts, end)))
        ends = self.starts[rows, None] + np.arange(1, widest + 1)
        self.sums[rows][ends > start] = -np.inf
        self._rank(rows)


def chunk_values(
    ranks: ArrayLike, scores: ArrayLike, *, decay_rate: float, irrelevant_chunk_penalty: float
) -> NDArray[np.float64]:
    """What ranked chunks are worth, float64 ``(n,)``: ``exp(-rank / decay_rate) * cdf(score) - penalty``.

    ``ranks`` count from 0 and ``scores`` lie in 0–1. The cdf is that of the Beta distribution with both parameters 0.4,
    which spreads a reranker's scores, crowded at both ends, over the whole range. A chunk that was not found is worth
    ``-penalty``.
    """
    from scipy.special import betainc

    ranked = np.exp(-np.asarray(ranks, dtype=np.float64) / decay_rate)
    spread: NDArray[np.float64] = betainc(0.4, 0.4, np.clip(np.asarray(scores, dtype=np.float64), 0.0, 1.0))
    return ranked * spread - irrelevant_chunk_penalty
