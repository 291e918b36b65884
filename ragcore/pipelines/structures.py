"""Structures of one library: kept while its revision stands, and made again of the facts of its documents when it
changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ConfigError
from ragcore.index.chunks import KINDS
from ragcore.index.indexer import NAMES, Derivation
from ragcore.index.model_records import ModelTexts
from ragcore.structure import extraction, facts, outline, raptor
from ragcore.structure.extraction import Extraction
from ragcore.structure.facts import Facts
from ragcore.structure.graphrag import GraphRag
from ragcore.structure.hipporag import HippoRag
from ragcore.structure.lightrag import LightRag
from ragcore.structure.named import VERSION as NAMES_VERSION
from ragcore.structure.named import NamedPassages, NameVectors, Remembered, marked
from ragcore.structure.passages import Passages
from ragcore.structure.tree import TreeSearch
from ragcore.text.phrases import noun_phrases

if TYPE_CHECKING:
    from ragcore.index.indexer import Indexer
    from ragcore.index.store import Store
    from ragcore.protocols import Embedder, Structure, Vector
    from ragcore.structure.tree import Branches, Tree
    from ragcore.types import Chunk, Entry

FACTS = Derivation("facts", facts.VERSION, Facts.of, Facts.from_bytes)
PHRASES = Derivation("phrases", facts.VERSION, lambda chunks: Facts.of(chunks, noun_phrases), Facts.from_bytes)
RELATIONS: Literal["relations"] = "relations"


@dataclass
class Structures:
    """Structures over the passages of ``store``, by the names of their modes of search. Thread-safe."""

    store: Store
    indexer: Indexer
    embedder: Embedder
    _made: dict[str, Structure] = field(default_factory=dict)
    _passages: Passages | None = None
    _named: NamedPassages | None = None
    _known: dict[str, NDArray[np.float16]] = field(default_factory=dict)
    _revision: int = -1
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def open(self, mode: str) -> Structure:
        """Structure that answers ``retrieve.mode``, in step with the library. Raises `ConfigError` for another mode,
        `StoreBusy` or `StoreError`."""
        if mode not in MAKERS:
            raise ConfigError(f"There's no structure {mode!r}.", hint=f"Choose one of {', '.join(MAKERS)}.")
        with self._lock:
            self._follow()
            if mode not in self._made:
                self._made[mode] = MAKERS[mode](self)
            return self._made[mode]

    def _follow(self) -> None:
        """Let go of what was made of an earlier state of the library."""
        revision = self.store.revision()
        if revision != self._revision:
            self._made, self._passages, self._named, self._revision = {}, None, None, revision

    def passages(self) -> Passages:
        """All passages with a vector, but for descriptions of figures, which are a model's words."""
        with self._lock:
            self._follow()
            if self._passages is None:
                self._passages = self._read(*sorted(self.store.with_vectors(self.embedder.name)))
            return self._passages

    def tree(self, kind: Derivation[Branches] | None = None) -> Tree:
        """Tree over the library: of what is derived of ``kind`` from each document that is read and embedded in full
        (None: clusters of its passages)."""
        found = self.indexer.derived(kind or self.clusters, self.whole())
        return raptor.library(self.passages(), [found[doc_id] for doc_id in sorted(found)])

    def whole(self) -> dict[str, str]:
        """Fingerprints of the documents that are read and embedded in full, by id."""
        embedded = self.store.with_vectors(self.embedder.name)
        return {one: mark for one, mark in self.store.searchable(whole=True).items() if embedded.get(one) == mark}

    @property
    def clusters(self) -> Derivation[Branches]:
        """Clusters of each document's passages."""
        return raptor.derivation(self.embedder.name, self._read)

    def _read(self, *doc_ids: str) -> Passages:
        entries, vectors = self.store.vectors(self.embedder.name, doc_ids)
        kept = entries.kinds != KINDS.index("figure")
        return Passages(entries.where(kept), vectors[kept])

    @property
    def relations(self) -> Derivation[Extraction]:
        """Facts of each document by a model, as far as its answers are stored."""
        stored = ModelTexts(self.store.database, RELATIONS).latest
        return Derivation(
            RELATIONS, extraction.VERSION, lambda chunks: Extraction.of(chunks, stored), Extraction.from_bytes
        )

    def named(self) -> NamedPassages:
        """All passages with their facts, and vectors of the names, made where a document has none."""
        with self._lock:
            self._follow()
            if self._named is None:
                documents = self._documents()
                parts, kind = self.facts(documents), self.names
                read = self.indexer.derived(kind, documents)
                for doc_id in documents:
                    if read[doc_id].mark != marked(parts[doc_id].texts):  # the facts have changed since
                        read |= self.indexer.derived(kind, {doc_id: ""})
                    self._known.update(zip(parts[doc_id].texts, read[doc_id].vectors))
                whole = Facts.joined(list(parts.values()))
                vectors = np.array([self._known[text] for text in whole.texts], np.float32)
                self._named = self._over(whole, vectors.reshape(len(whole.keys), self.embedder.dimensions))
            return self._named

    def phrases(self) -> NamedPassages:
        """All passages with their noun phrases, which have no vectors."""
        found = self.indexer.derived(PHRASES, self._documents())
        none = np.zeros((0, self.embedder.dimensions), np.float32)
        return replace(self._over(Facts.joined([found[one] for one in sorted(found)]), none), find=noun_phrases)

    def _over(self, whole: Facts, vectors: Vector) -> NamedPassages:
        passages, embedder = self.passages(), Remembered(self.embedder)
        return NamedPassages(passages, whole.over(passages.entries), vectors, embedder, self.store.chunks_by_id)

    def _documents(self) -> dict[str, str]:
        """Fingerprints of the documents with passages, by id, in the order of ids."""
        found = self.store.searchable()
        return {doc_id: found.get(doc_id, "") for doc_id in self.passages().entries.doc_ids}

    @property
    def names(self) -> Derivation[NameVectors]:
        """Vectors of the names in each document's facts."""
        documents = self.store.searchable()

        def made(chunks: Sequence[tuple[Entry, Chunk]]) -> NameVectors:
            doc_id = chunks[0][0].doc_id if chunks else ""
            texts = self.facts({doc_id: documents.get(doc_id, "")})[doc_id].texts if chunks else []
            vectors = NameVectors.of(texts, self.embedder, self._known)
            self._known.update(zip(texts, vectors.vectors))
            return vectors

        return Derivation(f"names {self.embedder.name}", NAMES_VERSION, made, NameVectors.from_bytes)

    def facts(self, documents: Mapping[str, str]) -> dict[str, Facts]:
        """Facts of ``documents`` (id → fingerprint), in their order: by a model where it has read them, else by
        rules."""
        kept = self.store.derived_marks(RELATIONS)
        read = self.indexer.derived(self.relations, {one: mark for one, mark in documents.items() if one in kept})
        rules = self.indexer.derived(FACTS, {one: mark for one, mark in documents.items() if one not in kept})
        return {one: read[one].facts if one in kept else rules[one] for one in documents}


@dataclass(frozen=True, slots=True)
class Kept:
    """What a structure keeps of each document, and its size in nodes and edges."""

    derived: Callable[[Structures], Sequence[Derivation[Any]]]
    size: Callable[[Structures], tuple[int, int]]


def _related(of: Structures) -> tuple[int, int]:
    marks = of.store.derived_marks(RELATIONS)
    wanted = {doc_id: digest for doc_id, digest in of.store.searchable(whole=True).items() if doc_id in marks}
    parts = [each.facts for each in of.indexer.derived(of.relations, wanted).values() if each.answered]
    joined = Facts.joined(parts)
    return len(joined.keys), len({(one, other) for _, one, other in joined.relations.tolist()})


def _branches(of: Structures, mode: str) -> tuple[int, int]:
    tree = cast(TreeSearch, of.open(mode)).tree
    return len(tree.members), sum(map(len, tree.members))


def _named(of: Structures) -> tuple[int, int]:
    found = of.named().facts
    return len(found.keys), len({(min(pair), max(pair)) for pair in found.relations[:, 1:].tolist()})


# What people build, by name: that of names comes with the index, relations are paid for.
KEPT: dict[str, Kept] = {
    "graph": Kept(lambda of: [NAMES], lambda of: of.indexer.graph().size),
    "tree": Kept(lambda of: [of.clusters], lambda of: _branches(of, "raptor")),
    "outline": Kept(lambda of: [outline.SECTIONS], lambda of: _branches(of, "outline")),
    "names": Kept(lambda of: [FACTS, PHRASES, of.names], _named),
    RELATIONS: Kept(lambda of: [of.relations], _related),
}
MAKERS: dict[str, Callable[[Structures], Structure]] = {
    "outline": lambda of: TreeSearch(of.tree(outline.SECTIONS), outline.told),
    "raptor": lambda of: TreeSearch(of.tree(), raptor.told),
    "raptor-traversal": lambda of: replace(cast(TreeSearch, of.open("raptor")), down=True),
    "hipporag": lambda of: HippoRag(of.named(), 1),
    "hipporag2": lambda of: HippoRag(of.named(), 2),
    "graphrag-local": lambda of: GraphRag(of.named(), "local"),
    "graphrag-global": lambda of: GraphRag(of.named(), "global"),
    "graphrag-dynamic": lambda of: GraphRag(of.named(), "dynamic"),
    "graphrag-drift": lambda of: GraphRag(of.named(), "drift"),
    "graphrag-fast": lambda of: GraphRag(of.phrases(), "fast"),
    "lightrag-naive": lambda of: LightRag(of.passages()),
    "lightrag-local": lambda of: LightRag(of.passages(), "local", of.named()),
    "lightrag-global": lambda of: LightRag(of.passages(), "global", of.named()),
    "lightrag-hybrid": lambda of: LightRag(of.passages(), "hybrid", of.named()),
    "lightrag-mix": lambda of: LightRag(of.passages(), "mix", of.named()),
}
