"""Exploration of one question over the chunks of many documents, under any settings.

The slow steps run once: the question is embedded, its cosine and BM25 score with every chunk in scope are computed, and
the reranker's scores are cached. `Exploration.under` then runs the retriever itself over this cache, so that its
numbers equal those of `Engine.retrieve` under the same settings, fast enough to follow a slider.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ragcore.answer.sources import Cut, build_sources
from ragcore.explore.recording import (
    RememberedChunks,
    RememberedEmbedder,
    RememberedReranker,
    RememberedSparse,
    RememberedVectors,
    WatchedRetriever,
)
from ragcore.explore.scores import Explored
from ragcore.index.outline import Outline, Projection, project
from ragcore.retrieve.agentic import AgenticRetriever, may_ask
from ragcore.types import Document, Scope, SubQuery

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.index.store import Store
    from ragcore.pipelines.search import Search
    from ragcore.protocols import Nearest, Reranker, SparseIndex
    from ragcore.providers.registry import Models


class SearchableLibrary(Protocol):
    """Library with its settings and models for search, as in an engine."""

    @property
    def settings(self) -> Settings: ...
    @property
    def models(self) -> Models: ...
    @property
    def store(self) -> Store: ...
    def document(self, doc_id: str) -> Document: ...
    def with_settings(self, overrides: Mapping[str, Any]) -> SearchableLibrary: ...


class Exploration:
    """A ``question`` in a ``scope``. Safe for threads; valid while ``current()``.

    ``cosines`` and ``bm25``, float64 ``(n,)``, are the question's scores with every chunk of ``outline`` (NaN out of
    scope). ``parts`` replace the sub-queries that the settings would ask for. Raises what `Engine.retrieve` raises.
    """

    def __init__(
        self,
        engine: SearchableLibrary,
        search: Search,
        question: str,
        scope: Scope,
        parts: Sequence[SubQuery] | None = None,
    ) -> None:
        started = time.perf_counter()
        self.question, self.scope = question, scope
        self._engine, self._search = engine, search
        vectors, sparse = search.indexer.open()
        self._embedder = RememberedEmbedder(engine.models.embedder)
        self._vectors: Nearest = vectors
        self._sparse: SparseIndex = sparse
        self._chunks = RememberedChunks(engine.store.chunks_by_id)
        self._rerankers: dict[str, RememberedReranker] = {}
        self._parts: dict[tuple[str, bool], tuple[SubQuery, ...]] = {}
        self._given = None if parts is None else tuple(parts)
        self.document = cache(engine.document)
        self._cut = Cut()
        self._lock = threading.RLock()
        self._whole = search.outline()
        self.outline: Outline = self._whole if scope.doc_ids is None else self._whole.of(scope.doc_ids)
        # Asked before they are cached: as lists, the scores of all chunks are many times as large as the arrays.
        watched, _ = self._retriever(engine)
        self.vector, near, said = watched.near(question, scope, max(1, len(self.outline)))
        self._vectors, self._sparse = RememberedVectors(vectors), RememberedSparse(sparse)
        self.cosines: NDArray[np.float64] = np.full(len(self.outline), np.nan)
        self.bm25: NDArray[np.float64] = np.full(len(self.outline), np.nan)
        self._fill(self.cosines, near)
        self.bm25[~np.isnan(self.cosines)] = 0.0
        self._fill(self.bm25, said)
        self.ms = (time.perf_counter() - started) * 1000.0

    def _fill(self, array: NDArray[np.float64], scored: Sequence[tuple[str, float]]) -> None:
        rows = self.outline.rows([chunk_id for chunk_id, _ in scored])
        known = rows >= 0
        array[rows[known]] = np.array([score for _, score in scored], dtype=np.float64)[known]

    def current(self) -> bool:
        """Whether the library and its index are unchanged."""
        return self._search.outline() is self._whole

    @property
    def unread(self) -> bool:
        """Whether the reranker has read no passage yet, which takes most of the first `under`. Meanwhile
        ``{"rerank.model": "none"}`` gives the result of the searches alone."""
        return self._engine.settings.rerank.model != "none" and not self._read()

    def projection(self) -> Projection:
        """Chunks of the outline in two dimensions."""
        return project(self._engine.store, self._embedder.name, self.outline)

    def under(self, overrides: Mapping[str, Any]) -> Explored:
        """Result of the question under the current settings with ``overrides`` (dotted keys, as in
        `Engine.with_settings`). Raises `ConfigError`; `ModelError` if a model is to plan the search and is
        unavailable."""
        started = time.perf_counter()
        engine = self._engine.with_settings(overrides)
        settings = engine.settings
        with self._lock:
            before = self._read()
            key = (settings.agentic.decompose, settings.agentic.gaps)
            watched, retriever = self._retriever(engine, self._parts.get(key, self._given))
            found = retriever.retrieve(self.question, top_k=settings.retrieve.top_k, scope=self.scope)
            self._parts.setdefault(key, found.queries[1:])
            sources = build_sources(found, self.document, settings.answer, self._cut)
            explored = Explored(settings, found, sources, watched.rankings, self.outline, self._chunks)
            explored.read = self._read() - before
        explored.ms = (time.perf_counter() - started) * 1000.0
        return explored

    def _read(self) -> int:
        return sum(reranker.read for reranker in self._rerankers.values())

    def _retriever(
        self, engine: SearchableLibrary, parts: Sequence[SubQuery] | None = None
    ) -> tuple[WatchedRetriever, AgenticRetriever]:
        """Retrievers as built by `Search`, over the cache."""
        settings, models = engine.settings, engine.models
        reranker = self._reranker(models.reranker)
        watched = WatchedRetriever(
            self._embedder,
            self._vectors,
            self._sparse,
            reranker,
            self._chunks,
            settings,
            names=self._search.names(),
            synonyms=self._search.synonyms() if settings.wording.synonyms else None,
            read=models.analyser.read,
        )
        asks = parts is None and may_ask(settings.agentic, models.capabilities)
        return watched, AgenticRetriever(watched, models.planner if asks else None, parts=parts)

    def _reranker(self, reranker: Reranker | None) -> Reranker | None:
        if reranker is None:
            return None
        return self._rerankers.setdefault(reranker.name, RememberedReranker(reranker))
