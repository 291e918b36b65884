"""Communities of graphs: planted ones are found, whatever the order of edges."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from ragcore.structure.communities import SIZE, Communities


def graph(edges: dict[tuple[int, int], float], nodes: int) -> sparse.csr_array:
    rows, columns = zip(*edges) if edges else ((), ())
    half = sparse.coo_array((list(edges.values()), (rows, columns)), shape=(nodes, nodes))
    return (half + half.T).tocsr()


def cliques(count: int, size: int) -> dict[tuple[int, int], float]:
    """Cliques in a row, each joined to the next by one edge."""
    edges = {pair: 1.0 for n in range(count) for pair in combinations(range(n * size, (n + 1) * size), 2)}
    return edges | {((n + 1) * size - 1, (n + 1) * size): 1.0 for n in range(count - 1)}


def parts(levels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(levels == one).tolist()) for one in np.unique(levels) if one >= 0}


def test_planted_communities_are_found_exactly() -> None:
    found = Communities.of(graph(cliques(6, 5), 30))
    assert parts(found.levels[-1]) == {frozenset(range(n * 5, n * 5 + 5)) for n in range(6)}


def test_children_lie_within_their_parents_and_are_not_above_the_size() -> None:
    random = np.random.default_rng(1)
    edges = {(n, m): float(random.random()) for n, m in combinations(range(120), 2) if random.random() < 0.05}
    found = Communities.of(graph(edges, 120))
    for wider, closer in zip(found.levels, found.levels[1:]):
        for part in parts(closer):
            (parent,) = {wider[node] for node in part}
            (own,) = {closer[node] for node in part}
            assert own == parent or found.parents[own] == parent
    assert max(map(len, parts(found.levels[-1]))) <= SIZE


def test_the_order_of_edges_makes_no_difference() -> None:
    edges = cliques(4, 6)
    turned = dict(reversed(list(edges.items())))
    one, other = Communities.of(graph(edges, 24)), Communities.of(graph(turned, 24))
    assert np.array_equal(one.levels, other.levels)


@pytest.mark.parametrize("edges", [{}, {(0, 1): 0.0}, {(0, 1): -1.0, (1, 2): -2.0}])
def test_nothing_that_joins_gives_no_communities(edges: dict[tuple[int, int], float]) -> None:
    found = Communities.of(graph(edges, 3))
    assert found.levels.shape == (0, 3)
    assert Communities.of(graph({}, 1)).levels.shape == (0, 1)
