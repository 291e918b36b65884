"""HippoRAG: personalised PageRank from the names of a question over those of the passages.

Version 1 (Gutiérrez et al. 2024, arXiv 2405.14831) walks over names and gives a passage the sum of its names, put
together half and half with its cosine. Version 2 (2025, arXiv 2502.14802) walks over names and passages at once, from
facts near to the question and a little from every passage.

In place of what a model does: names that stand in one sentence are a fact, the sentence its text; the names of a
question are found by rules; and where version 2 lets a model choose among the nearest facts (recognition memory), all
of them stay, beside the names of the question that the library has. Facts are compared only of the passages nearest to
the question. A synonym adds to the weight between two names, where the published code replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from ragcore.index.chunks import Mask
from ragcore.index.graph import pagerank, walkable
from ragcore.protocols import Asked, Texts, Vector
from ragcore.structure.named import SCOPES, SURE, NamedPassages, Said
from ragcore.structure.passages import Floats, stretched
from ragcore.types import EVERYTHING, NamePath, Scope

ALIKE, MOST_ALIKE = 0.8, 100  # least cosine of two synonyms, and most of a name
BLOCK = 512  # names compared with all at once
AMONG = 10  # nearest passages, of which the sentences are compared with the question
FACTS, SEEDS = 5, 5  # nearest facts, and most of their names
DENSE = 0.05  # weight of passages among the seeds


@dataclass(frozen=True)
class Walked:
    """Walk that has ended: its ``matrix`` over names, then passages, what it has ``found`` there, the ``scores`` of
    passages, the names ``said`` by the question, and names ``near`` in the passage that is nearest to it."""

    matrix: Any
    found: Floats
    scores: Floats
    said: dict[int, Said]
    near: tuple[int, tuple[int, ...]] = (-1, ())


@dataclass(frozen=True, eq=False)
class HippoRag:
    """`Structure` of a version, 1 or 2, over ``named`` passages; synonyms are found when it is made."""

    named: NamedPassages
    version: int

    def __post_init__(self) -> None:
        _ = self._alike

    def leaves(self, asked: Asked, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        of = self.named.within(scope)
        return of.passages.best(self._walked(of, asked).scores, k)

    def paths(self, asked: Asked, ids: Sequence[str], texts: Texts) -> list[NamePath]:
        of = self.named.within(texts.scope)
        walk = self._walked(of, asked)
        return of.paths(walk.matrix, walk.found, walk.said, ids, texts, walk.near)

    def _walked(self, of: NamedPassages, asked: Asked) -> Walked:
        dense = stretched(of.passages.cosines(asked.vector))
        return (self._over_names if self.version == 1 else self._over_both)(of, asked, dense)

    def _over_names(self, of: NamedPassages, asked: Asked, dense: Floats) -> Walked:
        """Version 1. The walk is from names in inverse proportion to their passages; if each name of the question is
        one of the library for sure, its end counts alone, without a name only the cosine."""
        matrix, ends = self._walk(of)
        said, size = of.named(asked.text), len(of.facts.keys)
        begin = np.zeros(size)
        for name in said:
            begin[name] = 1.0 / of.frequency[name]
        if not said:
            return Walked(matrix, np.zeros(len(ends)), dense, said)
        found = pagerank(matrix[:size, :size], ends[:size], begin / begin.sum())
        sums = of.holding @ found
        sure = all(one.cosine > SURE for one in said.values())
        scores = stretched(sums) if sure else (stretched(sums) + dense) / 2.0
        return Walked(matrix, np.concatenate([found, sums]), scores, said)

    def _over_both(self, of: NamedPassages, asked: Asked, dense: Floats) -> Walked:
        """Version 2; without a name to begin from, the cosine."""
        matrix, ends = self._walk(of)
        said, begin, near = self.seeds(of, asked, dense)
        if not begin.any():
            return Walked(matrix, np.zeros(len(ends)), dense, said)
        reset = np.concatenate([begin, DENSE * dense])
        found = pagerank(matrix, ends, reset / reset.sum())
        return Walked(matrix, found, found[len(begin) :], said, near)

    def seeds(
        self, of: NamedPassages, asked: Asked, dense: Floats
    ) -> tuple[dict[int, Said], Floats, tuple[int, tuple[int, ...]]]:
        """Names of the question; weights of all names in the reset vector of version 2, float64 ``(names,)``; and the
        passage of the nearest fact with its names there."""
        said, size = of.named(asked.text), len(of.facts.keys)
        facts = of.nearest(asked.vector, dense, AMONG)
        worth = stretched(np.array([cosine for _, cosine in facts]))
        sums, counts = np.zeros(size), np.zeros(size)
        near: tuple[int, tuple[int, ...]] = (-1, ())
        for (sentence, _), score in list(zip(facts, worth.tolist()))[:FACTS]:
            names = np.unique(of.facts.relations[of.facts.relations[:, 0] == sentence, 1:])
            sums[names] += score / of.frequency[names]
            counts[names] += 1.0
            near = (int(of.facts.sentences[sentence, 0]), tuple(names.tolist())) if near[0] < 0 else near
        begin = np.divide(sums, counts, out=np.zeros(size), where=counts > 0.0)
        begin[np.argsort(-begin, kind="stable")[SEEDS:]] = 0.0
        for name in (name for name, one in said.items() if one.cosine > SURE):
            begin[name] += 1.0 / of.frequency[name]
        return said, begin, near

    @cached_property
    def _walk(self) -> Callable[[NamedPassages], tuple[Any, Mask]]:
        return lru_cache(maxsize=SCOPES)(self._made)

    def _made(self, of: NamedPassages) -> tuple[Any, Mask]:
        """Matrix of the walk over names, then passages, and where it ends. Version 1 goes from names to names alone:
        the rows of its passages only add theirs up."""
        present = sparse.diags_array((of.frequency > 0.0).astype(np.float64))
        names = of.beside + present @ self._alike @ present
        if self.version == 2:
            return of.walk(names)
        walk, ends = walkable(names)
        added = [[walk, sparse.csr_array(of.holding.T.shape)], [of.holding, None]]
        return sparse.block_array(added, format="csr"), np.concatenate([ends, np.ones(len(of.passages.entries), bool)])

    @cached_property
    def _alike(self) -> Any:
        return synonyms(self.named.vectors)


def synonyms(vectors: Vector) -> Any:
    """Cosines from `ALIKE` on of each name with at most `MOST_ALIKE` others, CSR ``(names, names)``, symmetric;
    `BLOCK` rows of the product are held at once."""
    size = len(vectors)
    rows, columns, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    for start in range(0, size, BLOCK):
        cosines = vectors[start : start + BLOCK] @ vectors.T
        cosines[np.arange(len(cosines)), start + np.arange(len(cosines))] = 0.0
        if size > MOST_ALIKE:
            least = np.partition(cosines, size - MOST_ALIKE, axis=1)[:, size - MOST_ALIKE]
            cosines[cosines < least[:, None]] = 0.0
        row, column = np.nonzero(cosines >= ALIKE)
        rows, columns, values = [*rows, row + start], [*columns, column], [*values, cosines[row, column]]
    found = (np.concatenate(values).astype(np.float64), (np.concatenate(rows), np.concatenate(columns)))
    one = sparse.csr_array(found, shape=(size, size))
    return one.maximum(one.T)
