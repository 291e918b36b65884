"""Trees over passages: nodes by the mean of their passages, collapsed or walked down from the top.

Every node, a passage too, is as near to a question as its vector, the mean of its passages in scope. Collapsed, all
nodes are taken together, nearest first; walking down, at each layer the nearest children of those taken above. A node
gives its best passages, so that what comes out can be cited. No text stands for a node but the documents' own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ragcore.index.chunks import KINDS
from ragcore.index.packing import pack_arrays, unpack_arrays
from ragcore.protocols import Asked, Texts, Vector
from ragcore.structure.passages import Floats, Passages
from ragcore.types import EVERYTHING, Chunk, NamePath, PathStep, Scope

BEAM = 5  # nodes taken of each layer on the way down
SUMMARY = 100  # tokens for which a node counts, as its summary would; so many of its passages it gives
CHARACTERS = 4  # of a token
READ = 8  # passages of a node, those nearest to its centre, by which it is named
SCOPES = 4  # of which the nodes are kept, those asked last

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Branches:
    """Tree of a document over its passages ``ids``: node ``len(ids) + n`` has the nodes ``members[n]``, each a passage
    or an earlier node."""

    ids: list[str]
    members: list[Ints]

    def to_bytes(self) -> bytes:
        sizes = np.array([len(own) for own in self.members], np.int32)
        return pack_arrays(self.ids, [sizes, np.concatenate([np.zeros(0, np.int32), *self.members])])

    @classmethod
    def from_bytes(cls, data: bytes) -> Branches:
        """Inverse of `to_bytes`. Raises `ValueError` for damaged data."""
        ids, (sizes, members) = unpack_arrays(data)
        return cls(ids, [members[end - size : end] for end, size in zip(np.cumsum(sizes).tolist(), sizes.tolist())])


class Tree:
    """Tree over ``passages``, ``n`` in number: node ``n + i`` has the nodes ``members[i]``, each a passage (by row) or
    an earlier node. A node may have several above it. Immutable; thread-safe."""

    def __init__(self, passages: Passages, members: Sequence[Ints]) -> None:
        self.passages, self.members = passages, members
        self.count = len(passages.entries)
        self.top = tops(self.count, members)
        self.held = rows_of(self.count, members)
        self.above: list[list[int]] = [[] for _ in range(self.count + len(members))]
        for node, own in enumerate(members, start=self.count):
            for member in own.tolist():
                self.above[member].append(node)
        sizes = [len(rows) for rows in self.held]
        columns = np.concatenate([np.zeros(0, np.int32), *self.held])
        shape = (len(members), self.count)
        self._held: Any = sparse.csr_array(
            (np.ones(len(columns), np.float32), columns, np.array([0, *accumulate(sizes)])), shape=shape
        )
        self._lengths: Any = self.passages.entries.spans @ (-1, 1) / CHARACTERS
        self._scoped = lru_cache(maxsize=SCOPES)(self._within)

    def _within(self, scope: Scope) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """Which passages are in ``scope``, of how many each inner node is made there, and the length of their sum."""
        inside = self.passages.entries.within(scope)
        found = np.ones(self.count, bool) if inside is None else inside
        sums = self._held @ (self.passages.vectors * found[:, None]) if len(self.members) else np.zeros((0, 1))
        return found, self._held @ found.astype(np.float64), np.linalg.norm(sums, axis=1).astype(np.float64)

    def cosines(self, vector: Vector, scope: Scope) -> Floats:
        """Cosine similarity of each node to ``vector``, float64; -1 if it has no passage in ``scope``."""
        if not self.count:
            return np.zeros(0)
        inside, counts, lengths = self._scoped(scope)
        found = (self.passages.vectors @ vector).astype(np.float64)
        inner = self._held @ np.where(inside, found, 0.0) / np.maximum(lengths, 1e-9)
        return np.concatenate([np.where(inside, found, -1.0), np.where(counts > 0, inner, -1.0)])

    def given(self, node: int, cosines: Floats) -> list[int]:
        """Best passages in scope of a node, as many as would be as long as its summary."""
        if node < self.count:
            return [node]
        rows = self.held[node - self.count]
        rows = rows[cosines[rows] > 0.0]
        if not len(rows):
            return []
        most = ceil(SUMMARY / max(float(self._lengths[rows].mean()), 1.0))
        best: list[int] = rows[np.argsort(-cosines[rows], kind="stable")[:most]].tolist()
        return best

    def central(self, node: int, scope: Scope) -> list[int]:
        """Passages in ``scope`` of an inner node that are nearest to its centre, at most `READ`, running text first."""
        rows = self.held[node - self.count]
        rows = rows[self._scoped(scope)[0][rows]]
        own = self.passages.vectors[rows]
        other = self.passages.entries.kinds[rows] != KINDS.index("text")
        best: list[int] = rows[np.lexsort((-(own @ own.sum(axis=0)), other))[:READ]].tolist()
        return best

    def way(self, row: int, through: int, cosines: Floats, taken: frozenset[int]) -> list[int]:
        """Nodes from the top to a passage ``through`` one of those that hold it; above that by ``taken`` ones as far
        as there are, and each time by the nearest."""

        def nearest(nodes: Iterable[int]) -> int:
            return min(nodes, key=lambda node: (node not in taken, -cosines[node], node))

        way, at = [through], through
        while self.above[at]:
            at = nearest(self.above[at])
            way.insert(0, at)
        while way[-1] != row:
            below = self.members[way[-1] - self.count].tolist()
            way.append(nearest(one for one in below if one == row or (one >= self.count and self._holds(one, row))))
        return way

    def _holds(self, node: int, row: int) -> bool:
        rows = self.held[node - self.count]
        return row in rows[np.searchsorted(rows, row) :][:1]


@dataclass(frozen=True)
class TreeSearch:
    """`Structure` by a ``tree``: collapsed, or walked ``down`` from its top. ``told`` puts the ways to some passages,
    each a list of nodes, into words."""

    tree: Tree
    told: Callable[[Tree, Sequence[Sequence[int]], Texts], list[NamePath]]
    down: bool = False

    def leaves(self, asked: Asked, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """As of `Structure`. A passage is worth its own cosine, or that of the best node that gives it times its own,
        stretched over the passages in scope, if that is more."""
        cosines = self.tree.cosines(asked.vector, scope)
        own = cosines[: self.tree.count]
        low, high = min(own[own > 0.0], default=0.0), max(own, default=0.0)
        found = {}
        for row, node in islice(self._reached(cosines), k):
            stretched = (own[row] - low) / (high - low) if high > low else 1.0
            found[row] = float(max(own[row], cosines[node] * stretched))
        order = sorted(found, key=lambda row: (-found[row], row))
        return [(self.tree.passages.entries.ids[row], found[row]) for row in order]

    def paths(self, asked: Asked, ids: Sequence[str], texts: Texts) -> list[NamePath]:
        cosines = self.tree.cosines(asked.vector, texts.scope)
        wanted, through = set(ids), dict[str, tuple[int, int]]()
        for row, node in self._reached(cosines):
            through[self.tree.passages.entries.ids[row]] = row, node
            if wanted <= through.keys():
                break
        taken = frozenset(self._taken(cosines)) if self.down else frozenset()
        ways = [self.tree.way(*through[one], cosines, taken) for one in ids if one in through]
        return self.told(self.tree, ways, texts)

    def _reached(self, cosines: Floats) -> Iterator[tuple[int, int]]:
        """Passages, each with the nearest node that gives it; nearest nodes first."""
        seen = set[int]()
        for node in self._taken(cosines):
            new = [row for row in self.tree.given(node, cosines) if row not in seen]
            seen.update(new)
            yield from ((row, node) for row in new)

    def _taken(self, cosines: Floats) -> list[int]:
        """Nodes that a question takes, nearest first: all, or of each layer the best `BEAM` below those before."""
        if not self.down:
            order: list[int] = np.argsort(-cosines, kind="stable").tolist()
            return order[: int((cosines > 0.0).sum())]
        taken: list[int] = []
        layer: Iterable[int] = self.tree.top
        while layer:
            best = sorted((node for node in layer if cosines[node] > 0.0), key=lambda node: (-cosines[node], node))[
                :BEAM
            ]
            taken += best
            below = (self.tree.members[node - self.tree.count].tolist() for node in best if node >= self.tree.count)
            layer = sorted({one for members in below for one in members} - set(taken))
        return sorted(taken, key=lambda node: (-cosines[node], node))


def last_step(chunk: Chunk, scope: Scope) -> PathStep:
    """Last step of a path: the passage itself, as far as it is in ``scope``."""
    start, end = (scope.parts(chunk) or [(chunk.start, chunk.end)])[0]
    return PathStep("", chunk.doc_id, start, end, chunk.text[start - chunk.start : end - chunk.start])


def rows_of(count: int, members: Sequence[Ints]) -> list[Ints]:
    """Passages of each inner node, ascending; the first ``count`` nodes are passages."""
    held: list[Ints] = []
    for own in members:
        inner = [held[node - count] for node in own[own >= count].tolist()]
        held.append(np.unique(np.concatenate([own[own < count], *inner])))
    return held


def joined(passages: Passages, parts: Iterable[Branches]) -> list[Ints]:
    """Trees of documents as one over ``passages``; a passage that is not among them is left out."""
    rows = {chunk_id: row for row, chunk_id in enumerate(passages.entries.ids)}
    members: list[Ints] = []
    for part in parts:
        first = len(rows) + len(members)
        inner = range(first, first + len(part.members))
        number = np.array([*(rows.get(chunk_id, -1) for chunk_id in part.ids), *inner], np.int32)
        members += [own[own >= 0] for own in (number[each] for each in part.members)]
    return members


def tops(count: int, members: Sequence[Ints]) -> list[int]:
    """Nodes with none above them."""
    free = np.ones(count + len(members), bool)
    free[np.concatenate([np.zeros(0, np.int32), *members])] = False
    return np.flatnonzero(free).tolist()
