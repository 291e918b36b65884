"""A `HybridRetriever` that keeps what it weighed, and can tell how near every chunk is to a question, found or not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragcore.retrieve.hybrid import HybridRetriever, Ranking
from ragcore.types import Hit, Scope, Segment, SubQuery


class WatchedRetriever(HybridRetriever):
    """For one retrieval: ``rankings`` has what each query found, in the order in which they were asked, and ``given``
    the hits of each query that passages were made of."""

    rankings: list[Ranking]
    given: tuple[tuple[Hit, ...], ...] = ()

    def watch(self) -> WatchedRetriever:
        self.rankings, self.given = [], ()
        return self

    def search(
        self,
        query: str,
        *,
        top_k: int,
        scope: Scope,
        timings: dict[str, float],
        asked: SubQuery | None = None,
    ) -> Ranking:
        found = super().search(query, top_k=top_k, scope=scope, timings=timings, asked=asked)
        self.rankings.append(found)
        return found

    def segments(self, rankings: Sequence[Sequence[Hit]], order: Sequence[Hit] | None = None) -> list[Segment]:
        self.given = tuple(tuple(ranking) for ranking in rankings)
        return super().segments(rankings, order)

    def near(
        self, query: str, scope: Scope, count: int
    ) -> tuple[np.ndarray, list[tuple[str, float]], list[tuple[str, float]]]:
        """The question's vector float32 ``(d,)``, and ``(chunk id, score)`` of up to ``count`` chunks in ``scope`` by
        cosine and by BM25 (those above 0), as they are scored in a search."""
        words = self._wording(self.read(query))
        vector = self._embedded(words)
        by_words = dict(self.sparse.query(words.text, count, scope))
        if words.also:
            for chunk_id, score in self.sparse.query(words.terms, count, scope):
                by_words[chunk_id] = by_words.get(chunk_id, 0.0) + self.settings.wording.bm25_weight * score
        return vector, self.vectors.query(vector, count, scope), list(by_words.items())
