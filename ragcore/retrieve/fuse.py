"""Score fusion: two candidate lists, a table's rows folded into it, and the cross-encoder's vote. Every function gives
``id → score``, in 0–1.

On filings, a web-search cross-encoder alone ranks no better than fusion; as one vote beside the fused score it improves
filings and abstracts alike (`python -m benchmarks sets`). It reads every candidate, however long
that takes: equal questions have equal answers even on a busy machine.

Rows and composites are ranked together. Rows of a ranked composite are folded into it: it takes the position of the
best of them, so that the following positions go to other passages, and the writer gets the table instead of one row
after another. The rows of a composite have no vector: its cosine counts for them too (`spread`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragcore.text.centrality import centrality
from ragcore.text.lexicon import SPAN_STEMS, TOTAL_STEMS
from ragcore.text.periods import without_dates
from ragcore.text.words import name_stems, naming
from ragcore.types import Chunk
from ragcore.types.table_labels import row_names, row_values

LEAST = 1e-5  # probability that counts nothing, as a share of the highest
CENTRAL = 0.5  # weight of a table's centrality beside a row's name
SUREST = 1e-9  # least distance of a probability from 0 and 1, for its log-odds


def convex(vector: Mapping[str, float], bm25: Mapping[str, float], *, most: float, alpha: float) -> dict[str, float]:
    """Convex combination of both sides, each on its theoretical scale, then stretched (TM2C2 of Bruch, Gai, Ingber: An
    Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023): cosines are 0–1 as they are, BM25 scores are shares
    of ``most``, the limit for the question's own words. A candidate without a cosine counts as the farthest, one
    without a BM25 score as one with none of the words.

    So words count by how many of the question's a passage has; scaled to the best candidate, they would count in full
    even where it has few of them.
    """
    farthest = min(vector.values(), default=0.0)
    share = (1.0 - alpha) / most if most > 0.0 else 0.0
    ids = dict.fromkeys((*vector, *bm25))
    return stretched({i: alpha * vector.get(i, farthest) + share * bm25.get(i, 0.0) for i in ids})


def stretched(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores of one side, scaled so that the best is 1 and the worst 0."""
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {i: (score - low) / (high - low) if high > low else 1.0 for i, score in scores.items()}


def connected(fused: Mapping[str, float], reached: Mapping[str, float], *, weight: float) -> dict[str, float]:
    """Convex combination of ``fused``, stretched, and of what a walk has ``reached``: 1 for the most probable, 0 for
    what is `LEAST` times as probable and less, on a scale of logarithms, since probabilities have a long tail. It is
    ``fused`` as it is if nothing was reached."""
    if not reached:
        return dict(fused)
    best = max(reached.values())
    worth = {i: max(0.0, 1.0 - math.log(score / best) / math.log(LEAST)) for i, score in reached.items()}
    first = stretched(fused)
    return {i: weight * worth.get(i, 0.0) + (1.0 - weight) * first.get(i, 0.0) for i in dict.fromkeys((*fused, *worth))}


def by_names(
    fused: Mapping[str, float], chunks: Mapping[str, Chunk], asked: Set[str], own: Set[str], *, weight: float
) -> dict[str, float]:
    """``fused`` and, with ``weight``, how well the stems ``asked`` name a row or its table
    (`ragcore.text.words.naming`), 0–1, and, where a row or its table has all of the question's ``own`` words, with
    `CENTRAL` of the weight, how central the table is among those found; ``fused`` as it is if they name none. A table
    has a name once where prose repeats it, between other rows and columns."""
    quantity = {word for word in own if not word.isdigit()} - SPAN_STEMS - TOTAL_STEMS
    tables = {i: chunks[i] for i in fused if i in chunks and chunks[i].kind == "table"}
    named, held = dict[str, float](), list[str]()
    for i, chunk in tables.items():
        names = [_name(one) for one in row_names(chunk.text)] if quantity or chunk.tiles is None else []
        named[i] = max((naming(name, asked) for name in names), default=0.0) if chunk.tiles is None else 0.0
        if quantity and any(quantity <= name for name in names):
            held.append(i)
    central = _central(tables) if held else {}
    named |= {i: named[i] + CENTRAL * central[i] for i in held}
    raised = {i: score + weight * named.get(i, 0.0) for i, score in fused.items()}
    most = max(1.0, *raised.values()) if raised else 1.0
    return {i: score / most for i, score in raised.items()}


def _central(tables: Mapping[str, Chunk]) -> dict[str, float]:
    """Centrality of each composite among those of its document, and of its rows; 0 for rows of none."""
    found = defaultdict[str, dict[str, Iterator[str]]](dict)
    for i, chunk in tables.items():
        if chunk.tiles is not None:
            found[chunk.doc_id][i] = row_values(chunk.text)
    central = {i: share for of in found.values() for i, share in centrality(of).items()}
    owners = _owners(tables.values())
    return {i: central.get(owners.get((chunk.doc_id, chunk.index), i), 0.0) for i, chunk in tables.items()}


@lru_cache(maxsize=16384)
def _name(text: str) -> frozenset[str]:
    return name_stems(without_dates(text)) - SPAN_STEMS


def ranking(scores: Mapping[str, float]) -> list[str]:
    """Ids by score, best first; ties by id, so that the order is reproducible."""
    return sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))


def spread(scores: Mapping[str, float], chunks: Mapping[str, Chunk]) -> dict[str, float]:
    """``scores`` of one side, and those of its composites for such of their rows among ``chunks`` as have none."""
    owner = _owners(chunks[chunk_id] for chunk_id in scores if chunk_id in chunks)
    rows = {i: owner[chunk.doc_id, chunk.index] for i, chunk in chunks.items() if (chunk.doc_id, chunk.index) in owner}
    return {i: scores[composite] for i, composite in rows.items()} | dict(scores)


def _owners(chunks: Iterable[Chunk]) -> dict[tuple[str, int], str]:
    """Composite of each row; composites do not overlap, so a row belongs to at most one."""
    return {(chunk.doc_id, tile): chunk.chunk_id for chunk in chunks for tile in chunk.rows}


@dataclass(frozen=True, slots=True)
class Folded:
    """Result of folding. ``scores`` of the remaining chunks by id; ``best`` maps each composite among them to its best
    finding, a row or itself; ``owners`` maps each folded row to its composite."""

    scores: dict[str, float]
    best: dict[str, str]
    owners: dict[str, str]


def fold(scores: Mapping[str, float], chunks: Mapping[str, Chunk]) -> Folded:
    """``scores`` without the tiles of composites that it contains; a composite takes the best score of them and its
    own. ``chunks`` contains at least the ids of ``scores``."""
    owner = _owners(chunks[chunk_id] for chunk_id in scores)
    folded: dict[str, float] = {}
    best: dict[str, str] = {}
    owners: dict[str, str] = {}
    for chunk_id in ranking(scores):
        chunk = chunks[chunk_id]
        kept = chunk_id if chunk.tiles is not None else owner.get((chunk.doc_id, chunk.index), chunk_id)
        folded.setdefault(kept, scores[chunk_id])
        if kept != chunk_id:
            owners[chunk_id] = kept
        if chunks[kept].tiles is not None:
            best.setdefault(kept, chunk_id)
    return Folded(folded, best, owners)


def vote(fused: Mapping[str, float], relevance: Mapping[str, float], *, weight: float) -> dict[str, float]:
    """Combined scores ``(fused + weight * probability) / (1 + weight)`` of all candidates of ``fused``, in 0–1.

    ``relevance`` has the cross-encoder's probabilities; a candidate that was not reranked has no vote, so it can only
    fall behind those that were.
    """
    return {i: (score + weight * relevance.get(i, 0.0)) / (1.0 + weight) for i, score in fused.items()}


def tempered(probabilities: Mapping[str, float], kinds: Mapping[str, str], *, temperature: float) -> dict[str, float]:
    """``probabilities`` in 0–1 with their log-odds divided by ``temperature`` (Guo, Pleiss, Sun, Weinberger: On
    Calibration of Modern Neural Networks, ICML 2017) and shifted, for each of the ``kinds``, to the common mean.

    A cross-encoder trained on web pages is overconfident on other texts, and rates rows and grids of figures as less
    relevant than sentences for any question. So passages are compared within their kind, and fusion decides between
    kinds. The overall mean is unchanged.
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
