"""The cross-encoder as one vote beside the fused score.

Ranked by a web-search cross-encoder alone, filings come out no better than by fusion; as one vote it helps on filings
and on abstracts alike (`benchmarks/retrieval.py`, `benchmarks/scifact.py`). Its probabilities are `tempered` first.
It reads every candidate, however long that takes: the same question has the same answer on a busy machine.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

SUREST = 1e-9  # distance from 0 and 1 of a probability, at least, for its log-odds


def vote(fused: Mapping[str, float], relevance: Mapping[str, float], *, weight: float) -> dict[str, float]:
    """``(fused + weight * probability) / (1 + weight)`` for every candidate of ``fused``, in 0–1.

    ``relevance`` holds the cross-encoder's probabilities; a candidate that was not reranked gets no vote, so it can
    only fall behind those that were.
    """
    return {i: (score + weight * relevance.get(i, 0.0)) / (1.0 + weight) for i, score in fused.items()}


def tempered(probabilities: Mapping[str, float], kinds: Mapping[str, str], *, temperature: float) -> dict[str, float]:
    """``probabilities`` with their log-odds divided by ``temperature`` (Guo, Pleiss, Sun, Weinberger: On Calibration of
    Modern Neural Networks, ICML 2017) and moved, for each of the ``kinds``, so that its mean is that of all; in 0–1.

    A cross-encoder that learned from web pages is far too sure of what it says about other texts, and takes a row or a
    grid of figures for less relevant than a sentence, whatever was asked. So passages are compared with those of their
    own kind; which kind is wanted is left to fusion. What all passages are worth together stays.
    """
    if not probabilities:
        return {}
    ids = list(probabilities)
    held = np.clip([probabilities[i] for i in ids], SUREST, 1.0 - SUREST)
    odds = np.log(held / (1.0 - held)) / temperature
    of = np.array([kinds[i] for i in ids])
    mean = odds.mean()
    for kind in np.unique(of):
        odds[of == kind] += mean - odds[of == kind].mean()
    return dict(zip(ids, (1.0 / (1.0 + np.exp(-odds))).tolist(), strict=True))
