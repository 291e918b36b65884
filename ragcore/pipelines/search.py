"""The retriever of a question, put together: hybrid search, parts of the question around it, the cache around both.

A retriever is made for one question; what the questions of a library share lives here: what its documents are called,
the terms of the trade, and what was found before.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.types import OnStep, SubQuery, ignore_step

if TYPE_CHECKING:
    from ragcore.cancel import Stop
    from ragcore.config.settings import Settings
    from ragcore.index.indexer import Indexer
    from ragcore.index.outline import Outline
    from ragcore.index.store import Store
    from ragcore.protocols import Retriever
    from ragcore.providers.registry import Models
    from ragcore.retrieve.cache import RetrievalCache
    from ragcore.retrieve.route import DocumentNames
    from ragcore.retrieve.synonyms import Synonyms


class _Known:
    """What is known of a library, each part once it was needed. Its user holds ``lock``."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.names: tuple[int, DocumentNames] | None = None
        self.synonyms: Synonyms | None = None
        self.found: RetrievalCache | None = None
        self.outlining = threading.Lock()  # of its own: reading every chunk's place must not hold up a question
        self.outline: tuple[tuple[int, frozenset[tuple[str, str]]], Outline] | None = None


class Finding:
    """Safe for threads."""

    def __init__(self, home: Path, store: Store, models: Models, settings: Settings) -> None:
        self._home = home
        self._store = store
        self._models = models
        self._settings = settings
        self._known = _Known()

    def under(self, models: Models, settings: Settings) -> Finding:
        """The same with other ``models`` and ``settings``; what is known of the library serves both, and so does what
        was found, unless another number of retrievals is to be kept."""
        made = Finding(self._home, self._store, models, settings)
        if settings.cache.entries == self._settings.cache.entries:
            made._known = self._known
        return made

    def retriever(
        self,
        indexer: Indexer,
        settings: Settings,
        *,
        mode: str | None = None,
        on_step: OnStep = ignore_step,
        stop: Stop | None = None,
        parts: Sequence[SubQuery] | None = None,
    ) -> Retriever:
        """For one question, under ``settings``, which may differ from those of the library in how it is searched for;
        ``parts`` that are given are searched for beside it, past the cache. Raises `IndexEmpty`, `IndexMismatch`,
        `ConfigError`, `ModelError`."""
        from ragcore.retrieve.agentic import AgenticRetriever, may_ask
        from ragcore.retrieve.cache import CachedRetriever, RememberedQueries
        from ragcore.retrieve.hybrid import HybridRetriever

        models = self._models
        embedder = RememberedQueries(models.embedder)
        revision = self._store.revision()
        vectors, sparse = indexer.open()
        names = self.names()
        hybrid = HybridRetriever(
            embedder,
            vectors,
            sparse,
            models.reranker,
            self._store.chunks_by_id,
            settings,
            mode=mode,
            names=names,
            synonyms=self.synonyms() if settings.wording.synonyms else None,
            read=models.analyser.read,
            on_step=on_step,
        )
        agentic = AgenticRetriever(
            hybrid,
            settings,
            reranker=models.reranker,
            planner=models.planner if may_ask(settings.agentic, models.writer_name) else None,
            stop=stop,
            on_step=on_step,
            parts=parts,
            read=models.analyser.read,
        )
        if settings.cache.mode == "off" or parts is not None:
            return agentic
        return CachedRetriever(
            agentic,
            self._retrievals(),
            # The sparse index is another object as soon as it holds something else.
            state=(revision, sparse, embedder.name),
            way=(hybrid.mode, settings.hash(), models.writer_name),
            stop=stop,
        )

    def names(self) -> DocumentNames:
        """What the library's documents are called; made anew when the library has changed."""
        from ragcore.retrieve.route import DocumentNames

        revision = self._store.revision()
        with self._known.lock:
            if self._known.names is None or self._known.names[0] != revision:
                self._known.names = (revision, DocumentNames(self._store.names()))
            return self._known.names[1]

    def outline(self) -> Outline:
        """Where every chunk that can be searched for stands; made anew when the index has changed."""
        from ragcore.index.outline import outline

        # The revision alone would not do: it does not grow when a document's last vector is stored.
        embedder = self._models.embedder.name
        state = (self._store.revision(), self._store.embedded(embedder))
        with self._known.outlining:
            if self._known.outline is None or self._known.outline[0] != state:
                self._known.outline = (state, outline(self._store, list(self._store.searchable(embedder))))
            return self._known.outline[1]

    def synonyms(self) -> Synonyms:
        """The terms of the trade, as they were when they were first needed. Raises `ConfigError`."""
        from ragcore.retrieve.synonyms import Synonyms

        with self._known.lock:
            if self._known.synonyms is None:
                self._known.synonyms = Synonyms.load(self._home)
            return self._known.synonyms

    def _retrievals(self) -> RetrievalCache:
        from ragcore.retrieve.cache import RetrievalCache

        with self._known.lock:
            if self._known.found is None:
                self._known.found = RetrievalCache(self._settings.cache.entries)
            return self._known.found
