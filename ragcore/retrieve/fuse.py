"""One score from two lists. Every function takes ``id → score`` of each side and gives ``id → fused score`` in 0–1."""

from __future__ import annotations

from collections.abc import Mapping


def min_max(vector: Mapping[str, float], bm25: Mapping[str, float], *, alpha: float) -> dict[str, float]:
    """Convex combination of both sides, each stretched so that its best candidate is 1 and its worst is 0 (Bruch, Gai,
    Ingber: An Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023). A candidate that a side does not have
    counts as its worst.

    Cosines of one query lie in a narrow band, so it is the stretching that lets the better ones count.
    """
    return _convex(_stretched(vector), _stretched(bm25), alpha)


def reciprocal_rank(
    vector: Mapping[str, float], bm25: Mapping[str, float], *, alpha: float, k: int = 60
) -> dict[str, float]:
    """Reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009): the sum of ``weight / (k + rank)`` over both
    sides, as a share of what a candidate gets that is first on both.

    Ranks count from 1, ties by id; a side that does not have a candidate gives it nothing. ``alpha`` weighs the vector
    side and ``1 - alpha`` the other: at .5 the order is the published one, which weighs both alike.
    """
    sides = ((alpha, ranking(vector)), (1.0 - alpha, ranking(bm25)))
    fused: dict[str, float] = dict.fromkeys((*vector, *bm25), 0.0)
    for weight, ordered in sides:
        for rank, chunk_id in enumerate(ordered, start=1):
            fused[chunk_id] += weight * (k + 1) / (k + rank)
    return fused


def max_normalised(vector: Mapping[str, float], bm25: Mapping[str, float], *, alpha: float = 0.5) -> dict[str, float]:
    """The reference's combination: each side divided by its largest score, half and half. Missing counts as 0."""
    return _convex(_divided(vector), _divided(bm25), alpha)


def single(scores: Mapping[str, float]) -> dict[str, float]:
    """One side alone, stretched to 0–1."""
    return _stretched(scores)


def ranking(scores: Mapping[str, float]) -> list[str]:
    """Ids by score, best first; ties by id, so that the same question always gives the same order."""
    return sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))


def _convex(first: Mapping[str, float], second: Mapping[str, float], alpha: float) -> dict[str, float]:
    ids = dict.fromkeys((*first, *second))
    return {i: alpha * first.get(i, 0.0) + (1.0 - alpha) * second.get(i, 0.0) for i in ids}


def _stretched(scores: Mapping[str, float]) -> dict[str, float]:
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    return {i: (score - low) / (high - low) if high > low else 1.0 for i, score in scores.items()}


def _divided(scores: Mapping[str, float]) -> dict[str, float]:
    high = max(scores.values(), default=0.0)
    return {i: max(score, 0.0) / high if high > 0.0 else 0.0 for i, score in scores.items()}
