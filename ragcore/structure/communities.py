"""Communities of a graph: hierarchical Leiden (Traag et al. 2019), as GraphRAG runs it.

A community above the size is split again within itself, so that children lie within their parents. The library's result
depends on the order of edges, so they are sorted: equal graphs have equal communities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

SIZE = 10  # of a community that is not split
SEED = 0xDEADBEEF

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Communities:
    """``levels`` int64 ``(levels, nodes)``: community of each node, the widest level first, -1 without one; one that is
    not split stands on all levels below too. ``parents`` int64 ``(communities,)``, -1 on the first level."""

    levels: Ints
    parents: Ints

    @classmethod
    def of(cls, weights: Any) -> Communities:
        """Communities of an undirected graph, CSR ``(nodes, nodes)``, symmetric; edges with a weight of 0 or less join
        nothing, and without any there are none."""
        upper = sparse.triu(weights, 1).tocoo()
        edges = [
            (f"{row:09}", f"{column:09}", weight)
            for row, column, weight in sorted(zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist()))
            if weight > 0.0
        ]
        if not edges:
            return cls(np.full((0, weights.shape[0]), -1), np.zeros(0, np.int64))
        from graspologic_native import hierarchical_leiden

        found = hierarchical_leiden(edges, max_cluster_size=SIZE, seed=SEED)
        levels = np.full((1 + max(one.level for one in found), weights.shape[0]), -1)
        parents = np.full(1 + max(one.cluster for one in found), -1)
        for one in found:
            levels[one.level, int(one.node)] = one.cluster
            parents[one.cluster] = -1 if one.parent_cluster is None else one.parent_cluster
        for level in range(1, len(levels)):
            levels[level] = np.where(levels[level] < 0, levels[level - 1], levels[level])
        return cls(levels, parents)
