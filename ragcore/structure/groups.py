"""Groups of documents that are alike: the layers of an outline over a library.

Documents are put together by the mean of their passages' vectors (average linkage), first by kind, then within a kind
by subject, such as one company's filings. A group is named by the words that most of its titles share, else by what
marks its text beside its siblings'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcore.protocols import Vector
from ragcore.retrieve.themes import Group, kinds
from ragcore.structure.passages import Passages
from ragcore.text.words import STOP_WORDS, tokens

LAYERS = (0.7, 0.9)  # cosines from which documents are together: of a kind, on one subject
MOST_TITLES = 2 / 3  # share of a group's titles that have the words of its name
SEEN, READ = 300, 60  # passages, and titles, of a group that its name is taken from
NAMES = 2  # of what marks its text


@dataclass(frozen=True, slots=True)
class DocumentGroup:
    """Group of documents ``doc_ids``, of which its ``groups`` hold some, largest first."""

    name: str
    doc_ids: tuple[str, ...]
    groups: tuple[DocumentGroup, ...] = ()


Rows = NDArray[np.int64]
Words = tuple[str, ...]
Marks = Callable[[Sequence[Group]], Sequence[Sequence[str]]]


def document_groups(passages: Passages, titles: Mapping[str, str], marks: Marks) -> tuple[DocumentGroup, ...]:
    """Groups of two documents and more, largest first. ``marks`` gives what marks each of several groups of passages,
    best first. The same for equal documents in any order."""
    ids = sorted(passages.entries.doc_ids)
    owner = {doc_id: number for number, doc_id in enumerate(passages.entries.doc_ids)}
    rows = {doc_id: np.flatnonzero(passages.entries.owners == owner[doc_id]) for doc_id in ids}
    means = [passages.vectors[rows[doc_id]].mean(axis=0) for doc_id in ids]
    centres = {doc_id: mean / max(float(np.linalg.norm(mean)), 1e-9) for doc_id, mean in zip(ids, means)}

    def inside(doc_ids: Sequence[str], layers: Sequence[float]) -> tuple[DocumentGroup, ...]:
        if not layers or len(doc_ids) < 2:
            return ()
        parts = _together(doc_ids, np.stack([centres[one] for one in doc_ids]), layers[0])
        if len(parts) == 1 and len(parts[0]) == len(doc_ids):  # a layer that tells nothing apart
            return inside(doc_ids, layers[1:])
        said = marks([_sampled(passages, [rows[one] for one in part]) for part in parts])
        return tuple(
            DocumentGroup(
                shared([titles.get(one, "") for one in part]) or ", ".join(own[:NAMES]), part, inside(part, layers[1:])
            )
            for part, own in zip(parts, said)
        )

    return inside(ids, LAYERS)


def _together(doc_ids: Sequence[str], means: Vector, alike: float) -> list[tuple[str, ...]]:
    """Groups of two and more at this cosine, largest first."""
    kind = kinds(means, alike)
    parts = [tuple(np.array(doc_ids)[kind == one].tolist()) for one in np.unique(kind)]
    return sorted((part for part in parts if len(part) > 1), key=lambda part: (-len(part), part))


def _sampled(passages: Passages, parts: Sequence[Rows]) -> Group:
    """Passages of several documents as a group, of which the same number of each is seen, those nearest to its mean."""
    each = max(1, SEEN // len(parts))
    own = [
        rows[np.argsort(-(passages.vectors[rows] @ passages.vectors[rows].mean(axis=0)), kind="stable")]
        for rows in parts
    ]
    turns = [rows[turn] for turn in range(each) for rows in own if turn < len(rows)]
    return Group(np.concatenate(parts), np.array(turns, np.int64))


def shared(titles: Sequence[str]) -> str:
    """Longest run of words that most of ``titles`` have, as the first one of them spells it; "" without two words of
    three letters, one of them no function word."""
    runs: Counter[Words] = Counter()
    printed: dict[Words, str] = {}
    for title in titles[:READ]:
        words = title.split()
        kept = [place for place, word in enumerate(words) if tokens(word)]
        found = {
            tuple(tokens(run)): run
            for number, start in enumerate(kept)
            for end in kept[number:]
            if (run := " ".join(words[start : end + 1]))
        }
        runs.update(list(found))
        printed = found | printed
    least = max(2.0, MOST_TITLES * min(len(titles), READ))
    often = (run for run, count in runs.items() if count >= least)
    long = (run for run in often if sum(len(token) > 2 for token in run) > 1 and not STOP_WORDS.issuperset(run))
    return printed[best].strip(" ,;:-–—()") if (best := max(long, key=lambda run: (len(run), run), default=())) else ""
