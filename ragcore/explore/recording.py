"""Recording retriever: it keeps what it weighed, and its parts remember their results.

A repeated search for a question under other settings embeds nothing, reads no vector or posting list again, and reranks
only new passages. The results equal those of the parts themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragcore.retrieve.hybrid import TERMS_IN_BM25, HybridRetriever, Ranking
from ragcore.types import EVERYTHING, Chunk, Scope, SubQuery

if TYPE_CHECKING:
    from ragcore.protocols import Embedder, Nearest, Reranker, SparseIndex, Vector

Scored = list[tuple[str, float]]  # chunk ids with their scores


class WatchedRetriever(HybridRetriever):
    """Retriever for one retrieval; ``rankings`` has the results of its queries, in order."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.rankings: list[Ranking] = []

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

    def near(self, query: str, scope: Scope, count: int) -> tuple[Vector, Scored, Scored]:
        """Question's vector float32 ``(d,)``, and up to ``count`` chunks in ``scope`` by cosine and by BM25 (those
        above 0), scored as in a search."""
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
        self.embed_query = cache(embedder.embed_query)


class RememberedVectors:
    """Caching `Nearest`."""

    def __init__(self, vectors: Nearest) -> None:
        self._vectors = vectors
        self._known: dict[tuple[bytes, int, Scope], Scored] = {}

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> Scored:
        key = (vector.tobytes(), k, scope)
        if key not in self._known:
            self._known[key] = self._vectors.query(vector, k, scope)
        return self._known[key]


class RememberedSparse:
    """Caching `SparseIndex`."""

    def __init__(self, sparse: SparseIndex) -> None:
        self.query = cache(sparse.query)
        self.mentions = cache(sparse.mentions)
        self._sparse = sparse
        self._scores: dict[str, dict[str, float]] = {}

    def scores(self, text: str, ids: Sequence[str]) -> NDArray[np.float64]:
        known = self._scores.setdefault(text, {})
        missing = [chunk_id for chunk_id in ids if chunk_id not in known]
        if missing:
            known.update(zip(missing, self._sparse.scores(text, missing).tolist()))
        return np.array([known[chunk_id] for chunk_id in ids], dtype=np.float64)


class RememberedReranker:
    """Caching `Reranker`; ``read`` counts the passages that it had to read."""

    def __init__(self, reranker: Reranker) -> None:
        self.name = reranker.name
        self.read = 0
        self._reranker = reranker
        self._known: dict[tuple[str, str], float] = {}

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
