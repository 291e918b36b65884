"""Recording retriever: it keeps the scores that it weighed, and caches the results of its parts.

A repeated search for a question under other settings embeds nothing, reads no vector or posting list again, and reranks
only new passages. The results equal those of the parts themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragcore.retrieve.hybrid import TERMS_IN_BM25, HybridRetriever, Ranking
from ragcore.types import EVERYTHING, Chunk, Hit, Scope, Segment, SubQuery

if TYPE_CHECKING:
    from ragcore.protocols import Embedder, Nearest, Reranker, SparseIndex, Vector


class WatchedRetriever(HybridRetriever):
    """Retriever for one retrieval: ``rankings`` has the results of each query, in order, and ``given`` the hits of each
    query that became passages."""

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
        """Question's vector float32 ``(d,)``, and ``(chunk id, score)`` of up to ``count`` chunks in ``scope`` by
        cosine and by BM25 (those above 0), scored as in a search."""
        words = self._wording(self.read(query))
        vector = self._embedded(words)
        by_words = dict(self.sparse.query(words.text, count, scope))
        if words.also:
            for chunk_id, score in self.sparse.query(words.terms, count, scope):
                by_words[chunk_id] = by_words.get(chunk_id, 0.0) + TERMS_IN_BM25 * score
        return vector, self.vectors.query(vector, count, scope), list(by_words.items())


class RememberedEmbedder:
    """`Embedder` that embeds each query once."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimensions = embedder.name, embedder.dimensions
        self.embed_documents = embedder.embed_documents
        self.embed_query = functools.cache(embedder.embed_query)


class RememberedVectors:
    """Caching `Nearest`."""

    def __init__(self, vectors: Nearest) -> None:
        self._vectors = vectors
        self._known: dict[tuple[bytes, int, Scope], list[tuple[str, float]]] = {}

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        key = (vector.tobytes(), k, scope)
        if key not in self._known:
            self._known[key] = self._vectors.query(vector, k, scope)
        return self._known[key]


class RememberedSparse:
    """Caching `SparseIndex`."""

    def __init__(self, sparse: SparseIndex) -> None:
        self._sparse = sparse
        self._lists: dict[tuple[str, int, Scope], list[tuple[str, float]]] = {}
        self._scores: dict[str, dict[str, float]] = {}
        self._mentions: dict[str, dict[str, int]] = {}

    def query(self, text: str, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        key = (text, k, scope)
        if key not in self._lists:
            self._lists[key] = self._sparse.query(text, k, scope)
        return self._lists[key]

    def scores(self, text: str, ids: Sequence[str]) -> NDArray[np.float64]:
        known = self._scores.setdefault(text, {})
        missing = [chunk_id for chunk_id in ids if chunk_id not in known]
        if missing:
            known.update(zip(missing, self._sparse.scores(text, missing).tolist()))
        return np.array([known[chunk_id] for chunk_id in ids], dtype=np.float64)

    def mentions(self, text: str) -> dict[str, int]:
        if text not in self._mentions:
            self._mentions[text] = self._sparse.mentions(text)
        return self._mentions[text]


class RememberedReranker:
    """Caching `Reranker`; ``read`` counts the passages that it had to read."""

    def __init__(self, reranker: Reranker) -> None:
        self.read = 0
        self._reranker = reranker
        self._known: dict[tuple[str, str], float] = {}

    @property
    def name(self) -> str:
        return self._reranker.name

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        missing = [text for text in dict.fromkeys(passages) if (query, text) not in self._known]
        if missing:
            scores = self._reranker.score(query, missing).tolist()
            self._known.update(((query, text), score) for text, score in zip(missing, scores))
            self.read += len(missing)
        return np.array([self._known[query, text] for text in passages], dtype=np.float64)


class RememberedChunks:
    """Cache of chunks by id, as ``chunks`` gives them; missing ids are left out."""

    def __init__(self, chunks: Callable[[Sequence[str]], list[Chunk]]) -> None:
        self._chunks = chunks
        self._known: dict[str, Chunk | None] = {}

    def __call__(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in self._known]
        if missing:
            self._known.update(dict.fromkeys(missing))
            self._known.update((chunk.chunk_id, chunk) for chunk in self._chunks(missing))
        found = (self._known[chunk_id] for chunk_id in chunk_ids)
        return [chunk for chunk in found if chunk is not None]
