"""Themes of many passages: groups of them, what marks each, and sentences that stand for it.

Passages are grouped by Ward's method (1963) over an even sample of the documents' vectors; every passage then joins the
nearest group. Documents of one kind (filings, laws) are compared without what is the same all over each of them, its
company or subject, else there would be a group for each document. Sentences are chosen to cover the passages of their
group (Lin and Bilmes: A Class of Submodular Functions for Document Summarization, 2011). Nothing is drawn at random:
equal passages have equal themes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from ragcore.protocols import Embedder, QuestionWording, Vector
from ragcore.text.phrases import phrases
from ragcore.text.words import STOP_WORDS, tokens
from ragcore.types import Chunk

MOST = 10  # themes
SAMPLE = 2000  # passages that are grouped
ALIKE = 0.75  # cosine from which documents are of one kind
ENOUGH = 10  # passages of a document from which its own subject is known
ROUNDS = 3  # in which passages join the nearest group
SAME = 0.95  # cosine from which a sentence repeats another
CANDIDATES = 10  # headings, and as many phrases, that may mark a theme
OWN, PRINTED = 0.15, 0.03  # weights beside the cosine: of being a theme's own, and of being a heading
LABELS = 3  # headings or phrases that mark a theme
_LONGEST_LABEL = 60  # characters
_READ = 60  # passages of a theme whose phrases are counted
_OWN = 0.5  # share of its occurrences over which a phrase is the theme's own

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Pool:
    """Passages to be grouped: ``ids``, and for each its document ``doc_ids`` and vector, float32 ``(n, d)``."""

    ids: Sequence[str]
    doc_ids: Sequence[str]
    vectors: Vector


@dataclass(frozen=True)
class Group:
    """Group of a `Pool`: its ``rows``, nearest to its centre first, and those of the sample, ``seen``."""

    rows: Numbers
    seen: Numbers


def grouped(pool: Pool, most: int = MOST) -> list[Group]:
    """Groups of the passages, at most ``most`` and the root of their number, largest first."""
    if not len(pool.ids):
        return []
    owners = np.unique(pool.doc_ids, return_inverse=True)[1]
    vectors = _compared(pool.vectors, owners)
    sample = _even(owners)
    count = max(1, min(most, int(sqrt(len(sample)))))
    group = np.zeros(len(sample), np.int64)
    if count > 1:
        group = fcluster(linkage(vectors[sample], "ward"), count, "maxclust").astype(np.int64) - 1
    joined, rows = group, sample
    for _ in range(ROUNDS):
        centres = np.stack([vectors[rows[joined == one]].mean(axis=0) for one in np.unique(joined)])
        distance = (centres**2).sum(axis=1) / 2 - vectors @ centres.T
        joined, rows = distance.argmin(axis=1), np.arange(len(owners))
    seen = np.isin(rows, sample)
    found = []
    for one in np.unique(joined):
        own = rows[joined == one]
        own = own[np.argsort(distance[own, one], kind="stable")]
        found.append(Group(own, own[seen[own]]))
    return sorted(found, key=lambda one: (-len(one.rows), int(one.rows[0])))


def _compared(vectors: Vector, owners: Numbers) -> Vector:
    """``vectors`` of length 1, less the distance of their document's mean from the mean of the documents of its
    kind."""
    counts = np.bincount(owners)
    known = np.flatnonzero(counts >= ENOUGH)
    moved = np.array(vectors, np.float32)
    if len(known) > 1:
        order = np.argsort(owners, kind="stable")
        rows = np.split(order, np.cumsum(counts)[:-1])
        means = np.stack([vectors[rows[one]].mean(axis=0) for one in known])
        kind = kinds(means)
        shared = {own: means[kind == own].mean(axis=0) for own in np.unique(kind).tolist()}
        for one, mean, own in zip(known.tolist(), means, kind.tolist()):
            moved[rows[one]] -= mean - shared[own]
    moved /= np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    return moved


def kinds(means: Vector, alike: float = ALIKE) -> Numbers:
    """Number of the kind of each document, by its mean: those with this cosine on average. Of more than `SAMPLE`, an
    even sample is put together, and each other one is of the nearest kind."""
    seen = _spread(np.arange(len(means)), SAMPLE)
    joined = linkage(means[seen], "average", metric="cosine")
    found: Numbers = fcluster(joined, 1.0 - alike, "distance").astype(np.int64)
    if len(seen) == len(means):
        return found
    names = np.unique(found)
    centres = np.stack([means[seen][found == name].mean(axis=0) for name in names])
    nearest: Numbers = (means @ (centres / np.linalg.norm(centres, axis=1, keepdims=True)).T).argmax(axis=1)
    joining: Numbers = names[nearest]
    return joining


def _even(owners: Numbers) -> Numbers:
    """At most `SAMPLE` rows, the same number of each document as far as it has them, spread over it."""
    documents = _spread(np.arange(int(owners.max()) + 1), SAMPLE)
    each = max(1, SAMPLE // len(documents))
    return np.sort(np.concatenate([_spread(np.flatnonzero(owners == one), each) for one in documents]))


def _spread(items: Numbers, most: int) -> Numbers:
    """At most ``most`` of ``items``, evenly spaced."""
    places: Numbers = np.linspace(0, len(items) - 1, min(most, len(items))).astype(np.int64)
    return items[places]


def labels(
    groups: Sequence[Group], pool: Pool, chunks: Mapping[str, Chunk], wording: QuestionWording, embedder: Embedder
) -> list[tuple[str, ...]]:
    """What marks each group, best first, at most `LABELS`: headings above its passages and phrases of its text, by how
    much they are its own (c-TF-IDF; Grootendorst: BERTopic, 2022) and how near in meaning to its passages. Documents
    count more than passages of one."""
    heads: list[_Counts] = []
    said: list[_Counts] = []
    printed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for group in groups:
        above, inside = _Counts(), _Counts()
        for place, row in enumerate(group.seen.tolist()):
            chunk = chunks.get(pool.ids[row])
            if chunk is None:
                continue
            heading = wording.unnumbered(chunk.section[-1]) if chunk.section else ""
            if 0 < len(heading) <= _LONGEST_LABEL:
                printed[heading.casefold()][heading] += 1
                above.add([heading.casefold()], chunk.doc_id)
            if place < _READ:
                inside.add(phrases(chunk.text), chunk.doc_id)
        heads.append(above)
        said.append(inside)
    marks = [
        {_as_printed(printed[mark]): worth + PRINTED for mark, worth in _best(above)} | dict(_best(inside))
        for above, inside in zip(_marks(heads), _marks(said))
    ]
    known = list(dict.fromkeys(mark for own in marks for mark in own))
    vectors = dict(zip(known, embedder.embed_documents(known)))
    out = []
    for group, own in zip(groups, marks):
        centre = pool.vectors[group.rows].mean(axis=0)
        centre = centre / max(float(np.linalg.norm(centre)), 1e-9)
        worth = {mark: more + float(vectors[mark] @ centre) for mark, more in own.items()}
        out.append(tuple(_distinct(sorted(worth, key=lambda mark: (-worth[mark], mark)))[:LABELS]))
    return out


class _Counts:
    """Occurrences of phrases in a theme, of which those in one document count by their square root."""

    def __init__(self) -> None:
        self._found: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, found: Iterable[str], doc_id: str) -> None:
        for phrase in set(found):
            self._found[phrase][doc_id] += 1

    def weights(self) -> dict[str, float]:
        """Weight of each phrase that occurs twice."""
        return {phrase: sum(map(sqrt, by.values())) for phrase, by in self._found.items() if sum(by.values()) > 1}


def _marks(counts: Sequence[_Counts]) -> list[dict[str, float]]:
    """Phrases that are the own of each theme, with their c-TF-IDF."""
    weights = [one.weights() for one in counts]
    total: Counter[str] = Counter()
    for own in weights:
        total.update(own)
    mean = sum(total.values()) / max(len(weights), 1)
    return [
        {mark: of * log(1.0 + mean / total[mark]) for mark, of in own.items() if of > _OWN * total[mark]}
        for own in weights
    ]


def _best(marks: Mapping[str, float]) -> list[tuple[str, float]]:
    """The best `CANDIDATES` of one kind, each with its share of the weight `OWN`."""
    first = sorted(marks, key=lambda mark: (-marks[mark], mark))[:CANDIDATES]
    return [(mark, OWN * sqrt(marks[mark] / marks[first[0]])) for mark in first]


def _as_printed(spellings: Counter[str]) -> str:
    """Most common spelling with small letters; where there is none, made a title."""
    spelt = min(spellings, key=lambda one: (one.isupper(), -spellings[one], one))
    if not spelt.isupper():
        return spelt
    return " ".join(word if word in STOP_WORDS else word.capitalize() for word in spelt.lower().split())


def _distinct(marks: Sequence[str]) -> list[str]:
    """``marks`` that share no content word with an earlier one."""
    taken: set[str] = set()
    out = []
    for mark in marks:
        words = set(tokens(mark)) - STOP_WORDS
        if words and words.isdisjoint(taken):
            taken |= words
            out.append(mark)
    return out


def covering(
    sentences: Vector, owners: Sequence[str], passages: Vector, most: int, weights: Vector | None = None
) -> list[int]:
    """Indices of at most ``most`` ``sentences`` (vectors ``(m, d)`` with their documents ``owners``), greedily the one
    that adds most to how near the nearest is to each of ``passages`` ``(n, d)``, by its weight ``(m,)``; of another
    document while there is one, and none that repeats another."""
    near = np.maximum(sentences @ passages.T, 0.0)
    near *= 1.0 if weights is None else weights[:, None]
    left = np.ones(len(sentences), bool)
    covered = np.zeros(near.shape[1], np.float32)
    chosen: list[int] = []
    while len(chosen) < most and left.any():
        again = np.array([sum(owners[one] == owner for one in chosen) for owner in owners])
        gain = np.maximum(near - covered, 0.0).sum(axis=1) - 2.0 * near.shape[1] * again
        best = int(np.where(left, gain, -np.inf).argmax())
        chosen.append(best)
        covered = np.maximum(covered, near[best])
        left &= sentences @ sentences[best] < SAME
        left[best] = False
    return chosen
