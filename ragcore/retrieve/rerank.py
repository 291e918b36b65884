"""The cross-encoder as one vote beside the fused score.

Ranked by a web-search cross-encoder alone, filings come out no better than by fusion; as one vote it helps on filings
and on abstracts alike (`benchmarks/retrieval.py`, `benchmarks/scifact.py`).
"""

from __future__ import annotations

from collections.abc import Mapping


def vote(fused: Mapping[str, float], relevance: Mapping[str, float], *, weight: float) -> dict[str, float]:
    """``(fused + weight * probability) / (1 + weight)`` for every candidate of ``fused``, in 0–1.

    ``relevance`` holds the cross-encoder's probabilities; a candidate that was not reranked gets no vote, so it can
    only fall behind those that were.
    """
    return {i: (score + weight * relevance.get(i, 0.0)) / (1.0 + weight) for i, score in fused.items()}
