"""Paths through the graph of names: how a walk came to a passage, back along its largest flows, and the sentences that
join each step to the next.

The graph has the numbers of sentences only. Those of the few passages on a path are found again in their texts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import UnknownDocument
from ragcore.protocols import Texts
from ragcore.text.mentions import Mention, mentions
from ragcore.text.sentences import sentence_spans
from ragcore.types import Chunk, NamePath, PathStep

LONGEST = 4  # steps of a path after its first
TRIED = 8  # of the nodes before one, those with the largest flow

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sentence:
    """Sentence ``quote`` at ``[start, end)`` of a document, with its ``names`` as printed, by key."""

    doc_id: str
    start: int
    end: int
    quote: str
    names: Mapping[str, str]


@dataclass
class Sentences:
    """Sentences of leaves (by chunk id) with names in them, or what else ``find`` finds; each text is read once. A
    heading in scope is one of each leaf under it."""

    given: Texts
    find: Callable[[str], list[Mention]] = mentions
    _texts: dict[str, list[tuple[Span, list[Mention]]]] = field(default_factory=dict)
    _leaves: dict[str, Chunk | None] = field(default_factory=dict)
    _headings: dict[str, dict[str, list[tuple[int, int]]]] = field(default_factory=dict)

    def fetch(self, chunk_ids: Sequence[str]) -> None:
        """Leaves that are soon read, in one query."""
        new = [chunk_id for chunk_id in chunk_ids if chunk_id not in self._leaves]
        if new:
            self._leaves |= dict.fromkeys(new) | {chunk.chunk_id: chunk for chunk in self.given.chunks(new)}

    def leaf(self, chunk_id: str) -> Chunk | None:
        """None if it is gone."""
        self.fetch([chunk_id])
        return self._leaves[chunk_id]

    def having(self, chunk_id: str, *keys: str) -> Iterator[Sentence]:
        """Sentences of a leaf with all these names, then its heading if it has them."""
        chunk = self.leaf(chunk_id)
        if chunk is not None:
            yield from self._within(chunk.doc_id, chunk.start, chunk.text, keys)
            yield from self._heading(chunk, keys)

    def _heading(self, chunk: Chunk, keys: tuple[str, ...]) -> Iterator[Sentence]:
        """The heading above a leaf, where it is printed: a document's title need not be."""
        heading = chunk.section[-1] if chunk.section else chunk.header
        if {one.key for _, names in self._read(heading) for one in names}.issuperset(keys):
            places = self._printed(chunk.doc_id).get(heading, [])
            for start, page in places[: bisect_left(places, (chunk.end,))][-1:]:
                if self.given.scope.on(page):
                    yield from self._within(chunk.doc_id, start, heading, keys)

    def _printed(self, doc_id: str) -> dict[str, list[tuple[int, int]]]:
        """Start and page of each heading of a document, by its text; none if another process has removed it."""
        if doc_id not in self._headings:
            found = self._headings[doc_id] = {}
            with suppress(UnknownDocument):
                document = self.given.document(doc_id)
                for one in document.body:
                    if one.kind == "heading":
                        found.setdefault(document.text[one.start : one.end], []).append((one.start, one.page))
        return self._headings[doc_id]

    def _read(self, text: str) -> list[tuple[Span, list[Mention]]]:
        """Sentences with names, and their mentions."""
        if text not in self._texts:
            spans, found = sentence_spans(text), groupby(self.find(text), key=lambda one: one.sentence)
            self._texts[text] = [(spans[number], list(names)) for number, names in found]
        return self._texts[text]

    def _within(self, doc_id: str, offset: int, text: str, keys: tuple[str, ...]) -> Iterator[Sentence]:
        """Lines with all these names; of a sentence that has them in no line, the fewest characters."""
        for span, names in self._read(text):
            lines = _lines(text, span, names, keys)
            inside = [at for at in lines if self.given.scope.inside(doc_id, offset + at[0], offset + at[1])]
            single = [(low, high) for low, high in inside if text.find("\n", low, high) < 0]
            for start, end in dict.fromkeys(single or sorted(inside, key=lambda one: one[1] - one[0])[:1]):
                low, high = (bisect_left(names, place, key=lambda one: one.start) for place in (start, end))
                printed = {one.key: " ".join(text[one.start : one.end].split()) for one in reversed(names[low:high])}
                yield Sentence(doc_id, offset + start, offset + end, text[start:end], printed)


def _lines(text: str, span: Span, names: Sequence[Mention], keys: Sequence[str]) -> Iterator[Span]:
    """Lines of a sentence from each mention of a name back to the last ones of all others: of a table, which is one
    sentence, their rows."""
    last: dict[str, Mention] = {}
    for one in names:
        if one.key in keys:
            last[one.key] = one
            if len(last) == len(keys):
                start = text.rfind("\n", span[0], min(other.start for other in last.values())) + 1 or span[0]
                end = text.find("\n", max(other.end for other in last.values()), span[1])
                yield start, span[1] if end < 0 else end


@dataclass(frozen=True, slots=True)
class Walk:
    """Walk over names that has ended. Its nodes are the first ``names`` of ``labels`` (keys), then leaves (chunk ids).
    ``matrix`` CSR has the share that goes on from a node (column) to another, ``found`` float64 the probability of each
    node. It began at the names ``asked`` by the question (as printed there), and ``near``, of the leaf ``nearest`` (-1
    for none). ``together`` gives the leaves in which two names stand in one sentence."""

    matrix: Any
    names: int
    labels: Sequence[str]
    together: Callable[[int, int], Sequence[int]]
    found: NDArray[np.float64]
    asked: Mapping[int, str]
    near: frozenset[int]
    nearest: int

    def path(self, leaf: int, sentences: Sentences) -> NamePath | None:
        """Path to a leaf: back to the node with the largest flow, no node twice, at most `LONGEST` times, until the
        walk's beginning; from a name of the nearest passage on to a name of the question in one sentence with it. None
        if there is no such path. The same for equal graphs, whatever the order of their documents."""
        chunk, nodes = sentences.leaf(self.labels[leaf]), self.back(leaf, sentences)
        if chunk is None or not nodes:
            return None
        first = nodes[0]
        steps = [PathStep(self.asked[first])] if first in self.asked else [self._step(self.nearest, first, sentences)]
        steps += [self._step(one, other, sentences) for one, other in pairwise(nodes)]
        return NamePath(chunk.chunk_id, chunk.doc_id, chunk.start, chunk.end, tuple(steps))

    def back(self, last: int, sentences: Sentences) -> list[int]:
        """Nodes of the path to one, its beginning first; none if it has none."""
        nodes = [last]
        if last == self.nearest:  # only a name of the question leads there
            named = self._before(nodes, sentences, asked=True)
            if named is not None:
                return [named, last]
        while len(nodes) <= LONGEST:
            node = self._before(nodes, sentences)
            if node is None:
                return []
            nodes.append(node)
            if node in self.asked:
                return nodes[::-1]
            if node in self.near and last != self.nearest and self.joined(self.nearest, node, sentences):
                named = self._before(nodes, sentences, asked=True) if len(nodes) <= LONGEST else None
                return [*([] if named is None else [named]), *nodes[::-1]]
        return []

    def _before(self, nodes: Sequence[int], sentences: Sentences, *, asked: bool = False) -> int | None:
        """Node with the largest flow to the last of ``nodes`` that is none of them and that a sentence joins to it;
        ``asked``: of the names of the question."""
        at = nodes[-1]
        here = slice(self.matrix.indptr[at], self.matrix.indptr[at + 1])
        others = self.matrix.indices[here]
        flows = self.matrix.data[here] * self.found[others]
        order = sorted(
            (-rounded(flow), self.labels[node], node)
            for node, flow in zip(others.tolist(), flows.tolist())
            if flow > 0.0 and node not in nodes and (node in self.asked or not asked)
        )
        return next((node for _, _, node in order[:TRIED] if self.joined(node, at, sentences)), None)

    def joined(self, one: int, other: int, sentences: Sentences) -> Sentence | None:
        """Sentence that joins two nodes: of two names, in the leaf that the walk is in most."""
        keys = [self.labels[node] for node in (one, other) if node < self.names]
        leaves = [node for node in (one, other) if node >= self.names] or sorted(
            self.together(one, other), key=lambda leaf: (-rounded(float(self.found[leaf])), self.labels[leaf])
        )
        sentences.fetch([self.labels[leaf] for leaf in leaves[:TRIED]])
        return next((one for leaf in leaves[:TRIED] for one in sentences.having(self.labels[leaf], *keys)), None)

    def _step(self, before: int, node: int, sentences: Sentences) -> PathStep:
        sentence = self.joined(before, node, sentences)
        assert sentence is not None  # else it would be no step
        name = sentence.names[self.labels[node]] if node < self.names else ""
        return PathStep(name, sentence.doc_id, sentence.start, sentence.end, sentence.quote)


def rounded(flow: float) -> float:
    """To nine digits: those after them depend on the order in which documents were added."""
    return float(f"{flow:.9g}")
