"""Exploration of one question over the chunks of many documents, under any settings.

`Exploration.under` runs the retriever itself, so that its numbers equal those of `Engine.retrieve` under the same
settings; only the reranker's scores, which take seconds, are remembered. The question's cosine and BM25 score with
every chunk in scope are computed once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ragcore.answer.sources import Cut, build_sources
from ragcore.explore.scores import Explored
from ragcore.index.outline import Outline
from ragcore.retrieve.agentic import AgenticRetriever, may_ask
from ragcore.types import Document, Scope, SubQuery

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.index.store import Store
    from ragcore.pipelines.search import Search
    from ragcore.protocols import Reranker
    from ragcore.providers.registry import Models


class SearchableLibrary(Protocol):
    """Library with its settings, models and search, as in an engine."""

    @property
    def settings(self) -> Settings: ...
    @property
    def models(self) -> Models: ...
    @property
    def store(self) -> Store: ...
    @property
    def search(self) -> Search: ...
    def document(self, doc_id: str) -> Document: ...
    def with_settings(self, overrides: Mapping[str, Any]) -> SearchableLibrary: ...


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


class Exploration:
    """A ``question`` in a ``scope``. Safe for threads; valid while ``current()``.

    ``cosines`` and ``bm25``, float64 ``(n,)``, are the question's scores with every chunk of ``outline`` (NaN out of
    scope). ``parts`` replace the sub-queries that the settings would ask for. Raises what `Engine.retrieve` raises.
    """

    def __init__(
        self, engine: SearchableLibrary, question: str, scope: Scope, parts: Sequence[SubQuery] | None = None
    ) -> None:
        started = time.perf_counter()
        self.question, self.scope = question, scope
        self.document = engine.document
        self._engine = engine
        self._rerankers: dict[str, RememberedReranker] = {}
        self._parts: dict[str, tuple[SubQuery, ...]] = {}
        self._given = None if parts is None else tuple(parts)
        self._cut = Cut()
        self._lock = threading.RLock()
        self._whole = engine.search.outline()
        self.outline: Outline = self._whole if scope.doc_ids is None else self._whole.of(scope.doc_ids)
        near, said = engine.search.hybrid().near(question, scope, max(1, len(self.outline)))
        self.cosines = self._column(near, np.full(len(self.outline), np.nan))
        self.bm25 = self._column(said, np.where(np.isnan(self.cosines), np.nan, 0.0))
        self.ms = (time.perf_counter() - started) * 1000.0

    def _column(self, scored: Sequence[tuple[str, float]], column: NDArray[np.float64]) -> NDArray[np.float64]:
        """``column`` with the scores of these chunks."""
        rows = self.outline.rows([chunk_id for chunk_id, _ in scored])
        known = rows >= 0
        column[rows[known]] = np.array([score for _, score in scored], dtype=np.float64)[known]
        return column

    def current(self) -> bool:
        """Whether the library and its index are unchanged."""
        return self._engine.search.outline() is self._whole

    @property
    def unread(self) -> bool:
        """Whether the reranker has read no passage yet, which takes most of the first `under`. Meanwhile
        ``{"rerank.model": "none"}`` gives the result of the searches alone."""
        return self._engine.settings.rerank.model != "none" and not self._read()

    def under(self, overrides: Mapping[str, Any]) -> Explored:
        """Result of the question under the current settings with ``overrides`` (dotted keys, as in
        `Engine.with_settings`). Raises `ConfigError`; `ModelError` if a model is to plan the search and is
        unavailable."""
        started = time.perf_counter()
        engine = self._engine.with_settings(overrides)
        settings, models = engine.settings, engine.models
        with self._lock:
            before = self._read()
            hybrid = engine.search.hybrid()
            if hybrid.reranker is not None:
                known = RememberedReranker(hybrid.reranker)
                hybrid.reranker = self._rerankers.setdefault(known.name, known)
            key = settings.agentic.decompose
            parts = self._parts.get(key, self._given)
            asks = parts is None and may_ask(settings.agentic, models.capabilities)
            retriever = AgenticRetriever(hybrid, models.planner if asks else None, parts=parts)
            found = retriever.retrieve(self.question, top_k=settings.retrieve.top_k, scope=self.scope)
            self._parts.setdefault(key, found.queries[1:])
            sources = build_sources(found, self.document, settings.answer, self._cut)
            explored = Explored(settings, found, sources, hybrid.rankings, self.outline, engine.store.chunks_by_id)
            explored.read = self._read() - before
        explored.ms = (time.perf_counter() - started) * 1000.0
        return explored

    def _read(self) -> int:
        return sum(reranker.read for reranker in self._rerankers.values())
