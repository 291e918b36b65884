"""GraphRAG (Edge et al. 2024, arXiv 2404.16130): communities of names, by the searches of its implementation.

*Local* takes the names nearest to a question, and shares its places between the passages that have them, those of
their relations, and those of their communities. *Global* goes through the communities of one level, *dynamic* down from
the widest to those that are near enough. *DRIFT* begins at the nearest communities and asks on from what it finds.
*Fast* is a local search over a graph of noun phrases, weighed by their pointwise mutual information.

In place of what a model does: names that stand in one sentence are a relation, and a name is compared as it is printed,
without a description. A community has no report: the passages of the relations between its members stand for it, their
mean for its vector, and its cosine to the question, from the farthest community to the nearest, for its rating. A point
of *global* is a passage, rated by its community and its own cosine. A follow-up of *DRIFT* is the question moved half
way to the best new passage of what was read before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from ragcore.index.graph import ones
from ragcore.protocols import Asked, Texts, Vector
from ragcore.structure.communities import Communities
from ragcore.structure.named import SCOPES, SURE, NamedPassages
from ragcore.structure.passages import Floats, in_turn, stretched
from ragcore.types import EVERYTHING, NamePath, Scope

NAMES = 10  # of a local search; each may have as many relations to others
SHARES = (0.5, 0.35, 0.15)  # of passages with the names, of their relations, of their communities
LEVEL = 2  # of the communities that a global search goes through, and at which a dynamic one ends
RELEVANT = 0.5  # least rating of a community that a dynamic search goes into
PRIMER, FOLDS = 20, 5  # communities that DRIFT begins with, and the follow-ups made of them
ROUNDS, FOLLOW_UPS = 2, 5
FOLLOWED = (0.9, 0.1)  # shares in the local search of a follow-up: of passages with the names, of communities
FEWEST, LIGHTEST = 2, 0.4  # passages of a phrase; share of the lightest edges, which join nothing


@dataclass(frozen=True)
class Reports:
    """What stands for the reports of ``communities``: their ``passages``, CSR ``(communities, passages)`` of 1, and the
    means of these, float32 ``(communities, d)`` of length 1 (0 for one without passages)."""

    communities: Communities
    passages: Any
    vectors: Vector

    @classmethod
    def of(cls, named: NamedPassages, communities: Communities) -> Reports:
        sentence, one, other = named.facts.relations.T
        leaf = named.facts.sentences[sentence, 0]
        rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for level in communities.levels:
            own = (level[one] == level[other]) & (level[one] >= 0) & (one != other)
            rows, columns = [*rows, level[one][own]], [*columns, leaf[own]]
        shape = (len(communities.parents), len(named.passages.entries))
        held = ones(np.concatenate(rows), np.concatenate(columns), shape, np.float32)
        sums = held @ named.passages.vectors
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return cls(communities, held, np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0.0))

    def at(self, level: int) -> list[int]:
        """Communities of a level that have passages."""
        found = np.unique(self.communities.levels[level])
        return list(map(int, found[(found >= 0) & (np.diff(self.passages.indptr)[found] > 0)]))

    @property
    def depth(self) -> int:
        """Level of the communities that a search goes through."""
        return min(LEVEL, len(self.communities.levels) - 1)

    def within(self, communities: Sequence[int]) -> list[int]:
        """Those that ``communities`` were split into, with passages."""
        parts = np.isin(self.communities.parents, communities) & (np.diff(self.passages.indptr) > 0)
        return np.flatnonzero(parts).tolist()

    def members(self, community: int, cosines: Floats) -> list[int]:
        """Passages of a community, nearest first."""
        rows = self.passages.indices[slice(*self.passages.indptr[community : community + 2])]
        return list(map(int, rows[np.lexsort((rows, -cosines[rows]))]))

    def ratings(self, communities: Sequence[int], vector: Vector) -> Floats:
        """Ratings of ``communities`` among one another, 0–1."""
        return stretched((self.vectors[communities] @ vector).astype(np.float64))


@dataclass(frozen=True, eq=False)
class GraphRag:
    """`Structure` of one ``mode`` over ``named`` passages, of which `Reports` are kept for each scope."""

    named: NamedPassages
    mode: str

    def __post_init__(self) -> None:
        self._reports(self.named)

    def leaves(self, asked: Asked, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """As of `Structure`; where no sentence relates two names, the nearest passages."""
        of = self.named.within(scope)
        reports, cosines = self._reports(of), of.passages.cosines(asked.vector)
        if not len(reports.communities.levels):
            return of.passages.best(stretched(cosines), k)
        if self.mode == "global":
            return of.passages.best(points(reports, reports.at(reports.depth), asked.vector, cosines), k)
        if self.mode == "dynamic":
            return of.passages.best(points(reports, self._relevant(reports, asked.vector), asked.vector, cosines), k)
        if self.mode == "drift":
            return of.passages.ranked(self._drift(of, reports, asked, cosines), k)
        return of.passages.ranked(in_turn(self._local(of, reports, cosines, self.names(of, asked)), SHARES), k)

    def paths(self, asked: Asked, ids: Sequence[str], texts: Texts) -> list[NamePath]:
        """Of *local*, *DRIFT* and *fast*; through communities no words lead."""
        if self.mode in ("global", "dynamic"):
            return []
        of = self.named.within(texts.scope)
        return of.paths_from(self.names(of, asked), asked.text, ids, texts)

    def names(self, of: NamedPassages, asked: Asked) -> list[int]:
        """Names with which a local search begins: those of the question, then the nearest."""
        own = [name for name, one in of.named(asked.text).items() if one.cosine > SURE]
        return list(dict.fromkeys([*own, *self._near(of, asked.vector)]))[:NAMES]

    def _near(self, of: NamedPassages, vector: Vector) -> list[int]:
        """Names nearest to a vector; phrases, which have none of their own, by the mean cosine of their passages."""
        least = FEWEST if self.mode == "fast" else 1
        if self.mode == "fast":
            cosines = (of.passages.cosines(vector) @ of.holding) / np.maximum(of.frequency, 1.0)
        else:
            cosines = of.vectors @ vector
        order = np.argsort(-np.where(of.frequency >= least, cosines, -1.0), kind="stable")
        return list(map(int, order[:NAMES]))

    def _local(
        self, of: NamedPassages, reports: Reports, cosines: Floats, names: Sequence[int]
    ) -> tuple[list[int], list[int], list[int]]:
        """Passages of a local search with the ``names``, of their relations, and of their communities, each best first:
        those of a name by its relations there; relations within the names first, then those to what most of them are
        beside, each told by its nearest passage; communities by how many of the names they have."""
        sentence, one, other = of.facts.relations.T
        leaf = of.facts.sentences[sentence, 0]
        units: list[int] = []
        for name in names:
            count = np.bincount(leaf[(one == name) | (other == name)], minlength=len(cosines))
            held = of.holding[:, [name]].nonzero()[0]
            units += held[np.lexsort((-cosines[held], -count[held]))].tolist()
        beside = of.beside[names].tocoo()
        links = np.bincount(beside.col, minlength=len(of.degree))
        pairs = [(names[row], other) for row, other in zip(beside.row.tolist(), beside.col.tolist())]
        pairs.sort(
            key=lambda pair: (pair[1] not in names, -links[pair[1]], -of.degree[pair[0]] - of.degree[pair[1]], pair)
        )
        related = [max(rows, key=lambda row: cosines[row]) for rows in of.joining(pairs[: NAMES * len(names)])]
        own = reports.communities.levels[reports.depth][names]
        counts = Counter(community for community in own.tolist() if community >= 0)
        told = [row for community, _ in counts.most_common() for row in reports.members(community, cosines)]
        return units, related, told

    def _relevant(self, reports: Reports, vector: Vector) -> list[int]:
        """Communities found from the widest down: one that is near enough gives way to those within it that are."""
        kept: dict[int, None] = {}
        level = reports.at(0)
        for _ in range(reports.depth + 1):
            near = [one for one, rating in zip(level, reports.ratings(level, vector).tolist()) if rating >= RELEVANT]
            for one in near:
                kept.pop(int(reports.communities.parents[one]), None)
            kept |= dict.fromkeys(near)
            level = reports.within(near)
        return list(kept)

    def _drift(self, of: NamedPassages, reports: Reports, asked: Asked, cosines: Floats) -> list[int]:
        """Passages of the communities that DRIFT begins with, and of its follow-ups, in turn."""
        primer = sorted(reports.at(reports.depth), key=lambda one: -float(reports.vectors[one] @ asked.vector))[:PRIMER]
        read: set[int] = set()
        found: list[list[int]] = []
        waiting: list[tuple[float, int]] = []

        def open_to(rows: Sequence[int]) -> None:
            best = max((row for row in rows if row not in read), key=lambda row: (cosines[row], -row), default=None)
            if best is not None:
                read.add(best)
                waiting.append((-float(cosines[best]), best))

        for fold in range(FOLDS):
            rows = [row for one in primer[fold::FOLDS] for row in reports.members(one, cosines)]
            found.append(sorted(rows, key=lambda row: (-cosines[row], row)))
            open_to(rows)
        for _ in range(ROUNDS):
            waiting.sort()
            now, waiting[:] = waiting[:FOLLOW_UPS], waiting[FOLLOW_UPS:]
            for _, row in now:
                moved = asked.vector + of.passages.vectors[row]
                moved /= np.linalg.norm(moved)
                near = of.passages.cosines(moved)
                units, _, told = self._local(of, reports, near, self._near(of, moved))
                found.append(in_turn([units, told], FOLLOWED))
                open_to(found[-1])
        return in_turn(found)

    @cached_property
    def _reports(self) -> Callable[[NamedPassages], Reports]:
        return lru_cache(maxsize=SCOPES)(self._made)

    def _made(self, of: NamedPassages) -> Reports:
        return Reports.of(of, Communities.of(informative(of) if self.mode == "fast" else of.beside))


def points(reports: Reports, chosen: Sequence[int], vector: Vector, cosines: Floats) -> Floats:
    """Scores of passages as points of the ``chosen`` communities: the best rating of one times their own cosine,
    stretched too; 0 out of them."""
    if not chosen:
        return np.zeros(len(cosines))
    rated = sparse.diags_array(reports.ratings(chosen, vector)) @ reports.passages[chosen]
    return np.asarray(rated.max(axis=0).todense(), np.float64).ravel() * stretched(cosines)


def informative(of: NamedPassages) -> Any:
    """Edges of the fast graph: pointwise mutual information of two phrases times the probability of both, CSR; without
    the phrase beside most others, those in few passages, and the lightest edges."""
    kept = of.frequency >= FEWEST
    kept[np.argsort(-of.degree, kind="stable")[:1]] = False
    among = sparse.diags_array(kept.astype(np.float64))
    joined = (among @ of.beside @ among).tocoo()
    together, alone = joined.data / max(joined.data.sum() / 2.0, 1.0), of.frequency / max(of.frequency.sum(), 1.0)
    joined.data = together * np.log2(together / (alone[joined.row] * alone[joined.col]))
    if joined.nnz:
        joined.data[joined.data < np.quantile(joined.data, LIGHTEST)] = 0.0
    return joined.tocsr()
