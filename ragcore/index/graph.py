"""Graph of names: passages joined by the names that they share, and walked from those of a question.

A name is joined to each passage with it, and to each name of the same sentence as often as they stand together.
Personalised PageRank (Haveliwala 2002) from the names of the question, and of the passages nearest to it, then reaches
passages that share no word with the question, as in HippoRAG (Gutiérrez et al. 2024 and 2025), without a model's
triples.

What was found in a document (`Names`) is stored with it and goes with it; the graph is made of them alone, so that it
is the same after any order of additions and removals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ragcore.index.chunks import Entries, Mask, leaves
from ragcore.index.connections import NameMap
from ragcore.index.packing import pack_arrays, unpack_arrays
from ragcore.index.paths import Sentence, Sentences, Walk
from ragcore.protocols import Texts
from ragcore.text.mentions import key_of, mentions
from ragcore.types import EVERYTHING, Chunk, Entry, NamePath, Scope, Seeds

VERSION = 3  # raise it when `mentions` or the stored form changes: names are then looked for again
WALKS_ON = 0.5  # share that walks on at each step; the rest returns to the seeds
STEPS = 12  # the error halves with each; with 20 the first hits are the same
MOST_IN_SENTENCE = 12  # names of a sentence that are joined to one another; those of a longer list are not
COMMON, FEW = 0.05, 20  # a name in more than this share of the passages that have names, and in more than `FEW`, is out
RARE = 0.002  # likewise, one from which a question does not begin: it leads everywhere
SCOPES = 4  # of which the links are kept, those asked last
WALKS = 8  # that are kept, to tell their paths
MOST_SEEDS = 10  # names of the nearest passage

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Indices = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Walked = tuple[Floats, Mapping[int, str], frozenset[int], int]  # the last fields of `Walk`


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a document's leaves: its composites, and the tiles in none; without descriptions of figures, which are a
    model's words. ``places`` int32 ``(n, 3)`` has for each mention its leaf, its sentence (numbered through the
    document; a leaf's heading is one too), and the index of its name in ``keys``, inverted (``~index``) if the mention
    is doubtful."""

    entries: Entries
    keys: list[str]
    places: Ints

    @classmethod
    def of(cls, chunks: Sequence[tuple[Entry, Chunk]]) -> Names:
        """Names of a document's chunks."""
        chosen = leaves(chunks)
        keys: dict[str, int] = {}
        places: list[tuple[int, int, int]] = []
        sentence = 0
        for leaf, (_, chunk) in enumerate(chosen):
            for text in filter(None, (chunk.section[-1] if chunk.section else chunk.header, chunk.text)):
                found = mentions(text)
                for one in found:
                    name = keys.setdefault(one.key, len(keys))
                    places.append((leaf, sentence + one.sentence, ~name if one.doubtful else name))
                sentence += max((one.sentence for one in found), default=0) + 1
        return cls(Entries.of([entry for entry, _ in chosen]), list(keys), np.array(places, np.int32).reshape(-1, 3))

    def to_bytes(self) -> bytes:
        return pack_arrays([self.entries.to_json(), self.keys], [self.places.ravel()])

    @classmethod
    def from_bytes(cls, data: bytes) -> Names:
        """Inverse of `to_bytes`. Raises `ValueError` for damaged data."""
        (entries, keys), (places,) = unpack_arrays(data)
        return cls(Entries.from_json(entries), keys, places.reshape(-1, 3))


Load = Callable[[Mapping[str, str]], Mapping[str, Names]]


@dataclass(frozen=True, slots=True)
class _Links:
    """Graph of the passages in one scope: ``names`` (indices in the vocabulary), the number of passages with each,
    ``leaves`` (rows), the ``labels`` of both (key or chunk id), and ``walk``, CSR over names, then leaves: each column
    divided by its sum. A name may have no link; ``ends`` tells which."""

    names: Longs
    frequency: Longs
    leaves: Longs
    labels: list[str]
    walk: Any
    ends: Mask


class NameGraph:
    """`NameIndex` over some documents. Immutable: `updated` returns a new one. Thread-safe."""

    def __init__(self, documents: Mapping[str, str] | None = None, parts: Mapping[str, Names] | None = None) -> None:
        self.documents = documents or {}  # id → fingerprint, in the library's order
        self._parts = parts or {}
        held = [self._parts[doc_id] for doc_id in self.documents]
        self._entries = Entries.joined([part.entries for part in held])
        self._rows = {chunk_id: row for row, chunk_id in enumerate(self._entries.ids)}
        self._vocabulary = sorted({key for part in held for key in part.keys})
        self._keys = {key: n for n, key in enumerate(self._vocabulary)}
        found = [np.zeros((4, 0), np.int64)]  # leaf, sentence, name and whether it is sure, of each mention
        leaf = sentence = 0
        for part in held:
            own, number, name = part.places.T.astype(np.int64)
            key = np.array([self._keys[one] for one in part.keys], np.int64)[np.where(name < 0, ~name, name)]
            found.append(np.stack([own + leaf, number + sentence, key, name >= 0]))
            leaf += len(part.entries)
            sentence += int(number.max(initial=-1)) + 1
        leaves, sentences, names, sure = np.concatenate(found, axis=1)
        certain = np.bincount(names, sure, len(self._keys)) > 0
        kept = certain[names]  # a doubtful mention counts where another of its name is not
        self._leaf, self._sentence, self._name = leaves[kept], sentences[kept], names[kept]
        self._links = lru_cache(maxsize=SCOPES)(self._linked)
        self._walk = lru_cache(maxsize=WALKS)(self._walked)
        self._asked = lru_cache(maxsize=WALKS)(self._named)

    def __len__(self) -> int:
        """Number of passages."""
        return len(self._entries)

    @property
    def size(self) -> tuple[int, int]:
        """Number of nodes (names and passages), and of links between them."""
        links = self._links(EVERYTHING)
        return len(links.labels), links.walk.nnz // 2

    def updated(self, wanted: Mapping[str, str], load: Load) -> NameGraph:
        """Graph of exactly the documents ``wanted`` (id → fingerprint, in the library's order); ``load`` returns the
        names of the requested ones."""
        if list(wanted.items()) == list(self.documents.items()):
            return self
        kept = {one: part for one, part in self._parts.items() if wanted.get(one) == self.documents[one]}
        new = {doc_id: mark for doc_id, mark in wanted.items() if doc_id not in kept}
        return NameGraph(wanted, {**kept, **(load(new) if new else {})})

    def query(self, seeds: Seeds, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """As of `NameIndex`; scores are probabilities of where a walk is found."""
        links = self._links(scope)
        names = len(links.names)
        found = self._walk(seeds, scope)[0][names:]
        best = np.lexsort((np.arange(len(found)), -found))[:k]
        return [(links.labels[names + row], float(found[row])) for row in best.tolist() if found[row] > 0.0]

    def names(self, seeds: Seeds, scope: Scope = EVERYTHING) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._asked(seeds, scope).values()))

    def paths(self, seeds: Seeds, ids: Sequence[str], texts: Texts) -> list[NamePath]:
        walk, sentences = self._ended(seeds, texts.scope), Sentences(texts)
        nodes = self._nodes(ids, texts.scope)
        sentences.fetch([walk.labels[node] for node in nodes])
        found = (walk.path(node, sentences) for node in nodes)
        return [path for path in found if path is not None]

    def map(self, began: Sequence[Seeds], ids: Sequence[str], texts: Texts) -> NameMap:
        """Map of the queries that ``began`` so, and of the chunks ``ids``; see `paths`."""
        walks = [self._ended(seeds, texts.scope) for seeds in began]
        return NameMap.of(walks, self._nodes(ids, texts.scope), Sentences(texts))

    def sentences(self, name: str, texts: Texts) -> list[Sentence]:
        """Sentences and headings with a name, in any of its spellings, document after document."""
        key = key_of(name)
        leaves = np.unique(self._leaf[self._name == self._keys.get(key, -1)]).tolist()
        read = Sentences(texts)
        read.fetch([self._entries.ids[leaf] for leaf in leaves])
        found = (one for leaf in leaves for one in read.having(self._entries.ids[leaf], key))
        return list({(one.doc_id, one.start): one for one in found}.values())

    def _ended(self, seeds: Seeds, scope: Scope) -> Walk:
        links = self._links(scope)
        together = partial(self._together, links)
        return Walk(links.walk, len(links.names), links.labels, together, *self._walk(seeds, scope))

    def _nodes(self, ids: Sequence[str], scope: Scope) -> list[int]:
        """Nodes of those leaves that are in scope."""
        links = self._links(scope)
        return [node for chunk_id in ids if (node := self._node(links, chunk_id)) >= 0]

    def _node(self, links: _Links, chunk_id: str) -> int:
        """Node of a leaf in scope, else -1."""
        row = self._rows.get(chunk_id, -1)
        place = int(np.searchsorted(links.leaves, row))
        return len(links.names) + place if row in links.leaves[place : place + 1] else -1

    def _named(self, seeds: Seeds, scope: Scope) -> Mapping[int, str]:
        """Nodes of the names of the text, as printed there and in its order."""
        held = {doc_id: len(self._parts[doc_id].entries) for doc_id, _ in seeds.named if doc_id in self._parts}
        apart = tuple(f"{key_of(name)} " for doc_id, name in seeds.named if held.get(doc_id, 0) > FEW)
        said = [one for one in mentions(seeds.text) if one.key in self._keys and not f"{one.key} ".startswith(apart)]
        if not said:
            return {}
        links = self._links(scope)
        rare = links.frequency <= max(RARE * len(links.leaves), FEW)
        printed: dict[int, str] = {}
        for one in said:
            node = int(np.searchsorted(links.names, self._keys[one.key]))
            if self._keys[one.key] in links.names[node : node + 1] and rare[node]:
                printed.setdefault(node, seeds.text[one.start : one.end])
        return printed

    def _walked(self, seeds: Seeds, scope: Scope) -> Walked:
        """End of a walk from the names of the text and the rarest of the nearest passage, each in inverse proportion
        to its passages, half of it from either; from nowhere without names. It keeps no links of its own alive."""
        links = self._links(scope)
        printed = self._asked(seeds, scope)
        asked = np.zeros(len(links.names))
        asked[list(printed)] = 1.0
        own = np.isin(links.names, self._name[self._leaf == self._rows.get(seeds.near, -1)]) / links.frequency
        own[links.frequency < 2] = 0.0  # they lead nowhere
        own[np.argsort(-own, kind="stable")[MOST_SEEDS:]] = 0.0
        halves = [half / half.sum() for half in (asked / links.frequency, own) if half.any()]
        begin = np.zeros(links.walk.shape[0])
        if halves:
            begin[: len(own)] = np.mean(halves, axis=0)
        return (
            pagerank(links.walk, links.ends, begin),
            printed,
            frozenset(np.flatnonzero(own).tolist()),
            self._node(links, seeds.near),
        )

    def _together(self, links: _Links, one: int, other: int) -> list[int]:
        """Nodes of the leaves in which two names, nodes too, stand in one sentence."""
        both = np.intersect1d(*(self._sentence[self._name == links.names[node]] for node in (one, other)))
        leaves = np.unique(self._leaf[np.searchsorted(self._sentence, both)])  # sentences are numbered in order
        nodes = len(links.names) + np.flatnonzero(np.isin(links.leaves, leaves))
        return nodes.tolist()

    def _linked(self, scope: Scope) -> _Links:
        """Links of the passages in ``scope``; no other carries a path."""
        inside = self._entries.within(scope)
        leaf, sentence, name = self._leaf, self._sentence, self._name
        if inside is not None:
            kept = inside[leaf]
            leaf, sentence, name = leaf[kept], sentence[kept], name[kept]
        leaves, leaf = np.unique(leaf, return_inverse=True)
        by_leaf = ones(leaf, name, (len(leaves), len(self._keys)))
        frequency = np.bincount(by_leaf.indices, minlength=len(self._keys))
        most = max(COMMON * len(leaves), FEW)
        names = np.flatnonzero((frequency > 0) & (frequency <= most))
        by_leaf = by_leaf[:, names]
        numbers, sentence = np.unique(sentence, return_inverse=True)
        by_sentence = ones(sentence, name, (len(numbers), len(self._keys)))[:, names]
        by_sentence = by_sentence[np.diff(by_sentence.indptr) <= MOST_IN_SENTENCE]
        beside = by_sentence.T @ by_sentence
        beside = beside - sparse.diags_array(beside.diagonal())
        joined = sparse.block_array([[beside, by_leaf.T], [by_leaf, None]], format="csc")
        walk, ends = walkable(joined)
        labels = [self._vocabulary[name] for name in names.tolist()] + [
            self._entries.ids[row] for row in leaves.tolist()
        ]
        return _Links(names, frequency[names], leaves, labels, walk, ends)


def ones(rows: Indices, columns: Indices, shape: tuple[int, int], kind: type[np.floating[Any]] = np.float64) -> Any:
    """CSR with a 1 for each pair of row and column."""
    matrix = sparse.csr_array((np.ones(len(rows), kind), (rows, columns)), shape=shape)
    matrix.data[:] = 1.0
    return matrix


def walkable(joined: Any) -> tuple[Any, Mask]:
    """CSR with each column divided by its sum, and where there is none: a walk ends there."""
    sums = np.asarray(joined.sum(axis=0), np.float64)
    return (joined @ sparse.diags_array(1.0 / np.where(sums > 0.0, sums, 1.0))).tocsr(), sums == 0.0


def pagerank(walk: Any, ends: Mask, seeds: Floats, steps: int = STEPS) -> Floats:
    """Stationary distribution, float64 ``(n,)``, of a walk that goes on along ``walk`` (columns sum to 1, or 0 where it
    ``ends``) with probability `WALKS_ON` and else, and from where it ends, starts again at ``seeds`` (sum 1)."""
    found = seeds
    for _ in range(steps):
        found = (1.0 - WALKS_ON) * seeds + WALKS_ON * (walk @ found + seeds * found[ends].sum())
    return found
