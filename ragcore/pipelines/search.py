"""Search: index check → hybrid search for a question and its parts → passages.

A retriever serves one question. The state shared by all questions of a library is here: its index, document names and
domain terms.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.cancel import Stop
from ragcore.errors import EmptyQuestion, IndexMismatch
from ragcore.progress import ignore
from ragcore.types import OnStep, Retrieval, Scope, SubQuery
from ragcore.types.scope import checked, nothing_found

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.index.indexer import Indexer
    from ragcore.index.outline import Outline
    from ragcore.index.store import Store
    from ragcore.pipelines.ingest import Reading
    from ragcore.pipelines.structures import Structures
    from ragcore.protocols import SparseIndex
    from ragcore.providers.registry import Models
    from ragcore.retrieve.hybrid import HybridRetriever
    from ragcore.retrieve.route import DocumentNames
    from ragcore.retrieve.synonyms import Synonyms
    from ragcore.retrieve.themes import Group, Pool
    from ragcore.structure.groups import DocumentGroup
    from ragcore.text.terms import Term

HOLDERS = 64  # chunks whose documents may hold a text to the letter


@dataclass
class _Known:
    """Lazily loaded state of a library. Its user holds ``lock``."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    indexer: Indexer | None = None
    structures: Structures | None = None
    names: tuple[int, DocumentNames] | None = None
    synonyms: Synonyms | None = None
    # A separate lock: reading the positions of all chunks must not delay a question.
    outlining: threading.Lock = field(default_factory=threading.Lock)
    outline: tuple[int, Outline] | None = None
    groups: tuple[int, tuple[DocumentGroup, ...]] | None = None


class Search:
    """Search of one library. Thread-safe."""

    def __init__(self, home: Path, store: Store, models: Models, settings: Settings, reading: Reading) -> None:
        self._home = home
        self._store = store
        self._models = models
        self._settings = settings
        self._reading = reading
        self._known = _Known()

    def under(self, models: Models, settings: Settings, reading: Reading) -> Search:
        """Copy with other ``models`` and ``settings`` that shares the state of the library."""
        made = Search(self._home, self._store, models, settings, reading)
        made._known = self._known
        return made

    def retrieve(
        self,
        query: str,
        scope: Scope,
        *,
        parts: Sequence[SubQuery] | None = None,
        on_step: OnStep = ignore,
        stop: Stop | None = None,
    ) -> Retrieval:
        """Result as of `Engine.retrieve`. ``parts`` replace the sub-queries beside the question; ``on_step`` receives
        each step before it starts; ``stop`` ends calls to a model."""
        from ragcore.retrieve.agentic import AgenticRetriever, may_ask

        scope, models = self.checked(query, scope), self._models
        planner = models.planner if may_ask(self._settings.agentic, models.capabilities) else None
        retriever = AgenticRetriever(self.hybrid(on_step), planner, stop or Stop(), parts)
        found = retriever.retrieve(query, top_k=self._settings.retrieve.top_k, scope=scope)
        if found.hits:
            return found
        infos = self._store.documents(self._settings.index.embedder)
        lengths = [info.pages for info in infos if scope.doc_ids is None or info.doc_id in scope.doc_ids]
        return replace(found, notes=(*found.notes, nothing_found(scope, lengths)))

    def overview(
        self, query: str, scope: Scope, *, on_step: OnStep = ignore, stop: Stop | None = None
    ) -> Retrieval | None:
        """`Overview` with its passages, if ``retrieve.mode`` asks for one, or is ``auto`` and ``query`` does; None if
        not, or if there are none. Raises what `retrieve` raises."""
        mode, models = self._settings.retrieve.mode, self._models
        # Most questions ask for none even if all of their words name documents, which are then not looked for.
        if mode not in ("auto", "overview") or (mode == "auto" and not models.analyser.read(query, [query]).overview):
            return None
        from ragcore.retrieve.overview import OverviewRetriever

        scope = self.checked(query, scope)
        retriever = OverviewRetriever(
            replace(self.hybrid(on_step), mode="hybrid"),
            self.pool,
            models.embedder,
            cache(self._store.document),
            models.analyser,
            models.wording,
            stop or Stop(),
        )
        if mode == "auto" and not retriever.asked(query, scope):
            return None
        found = retriever.retrieve(query, scope)
        view = found.overview
        if view is None or not found.hits:
            return None
        held = sum(map(found.scope.holds, self._store.with_vectors(models.embedder.name)))
        if held > view.searched:
            has = "1 document has" if held - view.searched == 1 else f"{held - view.searched} documents have"
            found = replace(found, notes=(f"{has} no running text, so the overview leaves it out.",))
        return found

    def pool(self, scope: Scope) -> Pool:
        """Passages of running text in ``scope`` that have a vector."""
        from ragcore.retrieve.themes import Pool

        held = sorted(self._store.with_vectors(self._models.embedder.name))
        entries, vectors = self._store.vectors(self._models.embedder.name, [one for one in held if scope.holds(one)])
        for wanted in (scope, Scope(kinds=("text",))):
            inside = entries.within(wanted)
            if inside is not None:
                entries, vectors = entries.where(inside), vectors[inside]
        return Pool(entries.ids, [entries.doc_ids[owner] for owner in entries.owners.tolist()], vectors)

    def groups(self) -> tuple[DocumentGroup, ...]:
        """Groups of the library's documents, updated when the library changes; none if nothing is embedded."""
        from ragcore.retrieve.themes import Pool, labels
        from ragcore.structure.groups import document_groups

        revision, models = self._store.revision(), self._models
        with self._known.outlining:
            if self._known.groups is None or self._known.groups[0] != revision:
                passages = self.structures.passages()
                owners = [passages.entries.doc_ids[owner] for owner in passages.entries.owners.tolist()]
                pool = Pool(passages.entries.ids, owners, passages.vectors)

                def marks(found: Sequence[Group]) -> list[tuple[str, ...]]:
                    ids = [pool.ids[row] for group in found for row in group.seen.tolist()]
                    chunks = {chunk.chunk_id: chunk for chunk in self._store.chunks_by_id(ids)}
                    return labels(found, pool, chunks, models.wording, models.embedder)

                self._known.groups = (revision, document_groups(passages, self._store.titles(), marks))
            return self._known.groups[1]

    def checked(self, query: str, scope: Scope) -> Scope:
        """``scope`` resolved for ``query``. Raises `EmptyQuestion`, `UnknownDocument`, `InputError`, and
        `IndexMismatch` if documents in it are stale."""
        if not query.strip():
            raise EmptyQuestion("The question is empty.")
        scope = checked(scope)
        self._store.require(scope.doc_ids or ())
        stale = [doc_id for doc_id in self._reading.stale() if scope.doc_ids is None or doc_id in scope.doc_ids]
        if stale:
            raise IndexMismatch(
                f"{len(stale)} {'document needs' if len(stale) == 1 else 'documents need'} updating: the settings or "
                "the version have changed.",
                hint="Update them in the Library, or run `groundwork index`.",
            )
        return scope

    def hybrid(self, on_step: OnStep = ignore) -> HybridRetriever:
        """Search of single queries for one question. Raises `IndexEmpty`, `IndexMismatch`, `ConfigError`,
        `ModelError`."""
        from ragcore.retrieve.hybrid import HybridRetriever

        models, settings = self._models, self._settings
        vectors, sparse = self.indexer.open()
        return HybridRetriever(
            models.embedder,
            vectors,
            sparse,
            models.reranker,
            self._store.chunks_by_id,
            settings,
            names=self.names(),
            synonyms=self.synonyms() if settings.wording.synonyms else None,
            read=models.analyser.read,
            on_step=on_step,
            mode="auto" if settings.retrieve.mode == "overview" else "",
            connections=self.indexer.graph,
            document=self._store.document,
            structure=lambda mode: self.structures.open(mode),
        )

    @property
    def structures(self) -> Structures:
        from ragcore.pipelines.structures import Structures

        indexer = self.indexer
        with self._known.lock:
            if self._known.structures is None:
                self._known.structures = Structures(self._store, indexer, self._models.embedder)
            return self._known.structures

    @property
    def indexer(self) -> Indexer:
        from ragcore.index.indexer import Indexer

        with self._known.lock:
            if self._known.indexer is None:
                self._known.indexer = Indexer(self._store, self._models.embedder, self._settings.index)
            return self._known.indexer

    def sparse(self) -> SparseIndex:
        """BM25 index. Raises `IndexEmpty`, `IndexMismatch`."""
        return self.indexer.open()[1]

    def holders(self, text: str, scope: Scope) -> tuple[list[str], list[str]]:
        """Documents in ``scope`` that may hold ``text`` to the letter: those with a chunk of all its terms, and those
        of the chunks with most of them, the likeliest first. Raises `IndexEmpty`, `IndexMismatch`."""
        sparse = self.sparse()
        near = self._store.chunks_by_id([chunk_id for chunk_id, _ in sparse.query(text, HOLDERS, scope)])
        whole = [doc_id for doc_id in sparse.mentions(text) if scope.holds(doc_id)]
        return whole, list(dict.fromkeys(chunk.doc_id for chunk in near))

    def names(self) -> DocumentNames:
        """Names of the library's documents, updated when the library changes."""
        from ragcore.retrieve.route import DocumentNames

        revision = self._store.revision()
        with self._known.lock:
            if self._known.names is None or self._known.names[0] != revision:
                self._known.names = (revision, DocumentNames(self._store.names()))
            return self._known.names[1]

    def outline(self) -> Outline:
        """Positions of the chunks of all documents with vectors, updated when the index changes."""
        from ragcore.index.outline import outline

        revision = self._store.revision()
        with self._known.outlining:
            if self._known.outline is None or self._known.outline[0] != revision:
                embedded = self._store.with_vectors(self._models.embedder.name)
                self._known.outline = (revision, outline(self._store, list(embedded)))
            return self._known.outline[1]

    def synonyms(self) -> Synonyms:
        """Domain synonyms, loaded on first use. Raises `ConfigError`."""
        from ragcore.retrieve.synonyms import Synonyms

        with self._known.lock:
            if self._known.synonyms is None:
                self._known.synonyms = Synonyms.load(self._home)
            return self._known.synonyms

    def terms(self, question: str) -> tuple[Term, ...]:
        """Terms in ``question`` with their synonyms; none if ``wording.synonyms`` is off. Raises `ConfigError`."""
        return self.synonyms().terms(question) if self._settings.wording.synonyms else ()
