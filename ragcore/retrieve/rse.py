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
    free = np.ones(n, dtype=np.bool_)
    active, left = arrays, overall_max_length
    chosen: list[tuple[int, int, float]] = []
    while active:
        still = []
        for query in active:
            best = _best(np.where(free, query, -np.inf), bounds, min(max_length, left))
            if best is not None and best[2] >= minimum_value:
                start, end, _ = best
                chosen.append(best)
                left -= end - start
                free[start:end] = False
                still.append(query)
        active = still
    return chosen


def _best(values: NDArray[np.float64], bounds: NDArray[np.int64], limit: int) -> tuple[int, int, float] | None:
    """Best segment of at most ``limit`` chunks: all windows of one width are summed together, the narrowest first."""
    # Only a value of at least 0 may begin or end a segment, so few chunks are starts.
    starts = np.flatnonzero(values >= 0.0)
    room = bounds[np.searchsorted(bounds, starts, side="right")] - starts
    sums = np.zeros(len(starts))
    best, widths = np.full(len(starts), NO_VALUE), np.zeros(len(starts), dtype=np.int64)
    for width in range(1, min(limit, room.max(initial=0)) + 1):
        last = values.take(starts + width - 1, mode="clip")
        sums += last
        better = (sums > best) & (last >= 0.0) & (width <= room)
        best[better], widths[better] = sums[better], width
    if not widths.any():
        return None
    row = int(np.argmax(best))  # the first of equals, hence the lowest start
    return int(starts[row]), int(starts[row] + widths[row]), float(best[row])


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
