"""Map of connections: the names and passages that a question's walk over names went through, laid out in the plane.

Every link has its sentence, in the scope of the walk. Positions come of stress majorisation (Gansner, Koren, North
2004) from classical scaling, so that the same names and passages have the same map.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from ragcore.index.paths import Sentence, Sentences, Walk, rounded

MOST_NODES, MOST_LINKS = 200, 400
MOST_SHARED = 30  # names that are there only because two of the passages have them: more hide the others
STEPS = 60  # of the layout, which moves little after them
APART = 2.0  # between parts that nothing joins, over the longest way within one
JITTER = 0.02  # of distances, which tells apart nodes with the same neighbours

Floats = NDArray[np.float64]
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Node:
    """Name of the question (``asked``) or of passages (``name``), by its ``key`` and as printed, or a ``passage``, by
    its chunk id; with the walk's probability of being there, at 0–1 from left and from top."""

    kind: Literal["asked", "name", "passage"]
    key: str
    printed: str
    weight: float
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """Two nodes by index, the second the passage if one is none of the names, and the sentence of that passage, or of
    any in scope, that has them; ``way`` if the walk came over it to one of the map's passages."""

    one: int
    other: int
    sentence: Sentence
    way: bool


@dataclass(frozen=True, slots=True)
class NameMap:
    """Heaviest of ``nodes`` first; each is an end of some of ``links``."""

    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()

    @classmethod
    def of(cls, walks: Sequence[Walk], leaves: Sequence[int], sentences: Sentences) -> NameMap:
        """Map of ``walks`` through one graph to its nodes ``leaves``: the passages where they began, the names that
        they began at or went through, and the heaviest names of two of these passages; at most `MOST_NODES`."""
        weights = np.mean([one.found for one in walks], axis=0) if walks else np.zeros(0)
        if not weights.any():
            return cls()
        walk = walks[0]

        def heaviest(nodes: set[int]) -> list[int]:
            reached = (node for node in nodes if weights[node] > 0.0)
            return sorted(reached, key=lambda node: (-rounded(float(weights[node])), walk.labels[node]))

        asked = {node: words for one in walks for node, words in one.asked.items()}
        passages = {*leaves, *(one.nearest for one in walks)} - {-1}
        sentences.fetch([walk.labels[node] for node in sorted(passages)])
        ways = [one.back(leaf, sentences) for one in walks for leaf in leaves]
        steps = {(min(pair), max(pair)) for way in ways for pair in pairwise(way)}
        counts = np.diff(walk.matrix[: walk.names][:, sorted(passages)].indptr)
        shared = set(np.flatnonzero(counts > 1).tolist())
        went = {node for one in walks for node in one.near}.union(*ways)
        order = chain(heaviest(set(asked)), heaviest(passages), heaviest(went), heaviest(shared)[:MOST_SHARED])
        chosen = heaviest(set(list(dict.fromkeys(order))[:MOST_NODES]))
        links = list(_links(walk, chosen, steps, sentences))
        ends = {node for pair, _ in links for node in pair}
        linked = [node for node in chosen if node in ends]
        at = {node: number for number, node in enumerate(linked)}
        printed = dict(asked)
        for pair, sentence in links:
            for node in pair:
                if node < walk.names:
                    printed.setdefault(node, sentence.names[walk.labels[node]])
        places = layout(len(linked), [(at[one], at[other]) for (one, other), _ in links])
        nodes = (
            Node(
                "passage" if node >= walk.names else "asked" if node in asked else "name",
                walk.labels[node],
                printed.get(node, ""),
                rounded(float(weights[node])),
                *place,
            )
            for node, place in zip(linked, places.tolist())
        )
        joined = (Link(at[pair[0]], at[pair[1]], sentence, pair in steps) for pair, sentence in links)
        return cls(tuple(nodes), tuple(joined))


def _links(
    walk: Walk, chosen: Sequence[int], steps: set[Pair], sentences: Sentences
) -> Iterator[tuple[Pair, Sentence]]:
    """Pairs of ``chosen`` nodes that a sentence joins: ``steps`` first, then names with passages, each the heaviest."""
    inside = sparse.triu(walk.matrix[chosen][:, chosen], format="coo")
    pairs = sorted(zip(inside.row.tolist(), inside.col.tolist()))
    found = [(min(pair), max(pair)) for pair in ((chosen[one], chosen[other]) for one, other in pairs)]
    for pair in sorted(found, key=lambda pair: (pair not in steps, pair[1] < walk.names))[:MOST_LINKS]:
        sentence = walk.joined(*pair, sentences)
        if sentence is not None:
            yield pair, sentence


def layout(count: int, links: Sequence[Pair]) -> Floats:
    """Places 0–1 of ``count`` nodes, float64 ``(count, 2)``, wider than high, near ones linked; always the same for the
    same ``links``, each two different nodes."""
    if count < 2:
        return np.full((count, 2), 0.5)
    one, other = np.array(links, np.int64).reshape(-1, 2).T
    joined = sparse.coo_array((np.ones(len(links)), (one, other)), shape=(count, count))
    ways = shortest_path(joined.tocsr(), directed=False, unweighted=True)
    apart = np.isinf(ways)
    ways[apart] = APART + ways[~apart].max()
    noise = np.random.default_rng(0).random((count, count))
    ways *= 1.0 + JITTER * (noise + noise.T)
    np.fill_diagonal(ways, 0.0)
    centre = np.eye(count) - 1.0 / count
    values, axes = np.linalg.eigh(centre @ (ways**2) @ centre / -2.0)
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(count)])
    places = axes[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 1e-9))
    pull = np.divide(1.0, ways**2, out=np.zeros_like(ways), where=ways > 0.0)
    solve = np.linalg.inv(np.diag(pull.sum(axis=1)) - pull + 1.0 / count)
    for _ in range(STEPS):
        near = pull * ways / np.maximum(cdist(places, places), 1e-9)
        np.fill_diagonal(near, 0.0)
        places = solve @ (near.sum(axis=1)[:, None] * places - near @ places)
    low, high = places.min(axis=0), places.max(axis=0)
    scaled: Floats = np.round((places - low) / np.maximum(high - low, 1e-9), 4)
    return scaled
