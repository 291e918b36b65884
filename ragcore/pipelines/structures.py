"""Structures of one library: kept while its revision stands, and made again of the facts of its documents when it
changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ragcore.errors import ConfigError
from ragcore.index.chunks import KINDS
from ragcore.index.indexer import NAMES, Derivation
from ragcore.index.model_records import ModelTexts
from ragcore.structure import extraction, facts
from ragcore.structure.extraction import Extraction
from ragcore.structure.facts import Facts
from ragcore.structure.lightrag import LightRag
from ragcore.structure.passages import Passages

if TYPE_CHECKING:
    from ragcore.index.indexer import Indexer
    from ragcore.index.store import Store
    from ragcore.protocols import Embedder, Structure

FACTS = Derivation("facts", facts.VERSION, Facts.of, Facts.from_bytes)
RELATIONS: Literal["relations"] = "relations"


@dataclass
class Structures:
    """Structures over the passages of ``store``, by the names of their modes of search. Thread-safe."""

    store: Store
    indexer: Indexer
    embedder: Embedder
    _made: dict[str, Structure] = field(default_factory=dict)
    _passages: Passages | None = None
    _revision: int = -1
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def open(self, mode: str) -> Structure:
        """Structure that answers ``retrieve.mode``, in step with the library. Raises `ConfigError` for another mode,
        `StoreBusy` or `StoreError`."""
        if mode not in MAKERS:
            raise ConfigError(f"There's no structure {mode!r}.", hint=f"Choose one of {', '.join(MAKERS)}.")
        with self._lock:
            revision = self.store.revision()
            if revision != self._revision:
                self._made, self._passages, self._revision = {}, None, revision
            if mode not in self._made:
                self._made[mode] = MAKERS[mode](self)
            return self._made[mode]

    def passages(self) -> Passages:
        """All passages with a vector, but for descriptions of figures, which are a model's words."""
        with self._lock:
            if self._passages is None:
                held = list(self.store.with_vectors(self.embedder.name))
                entries, vectors = self.store.vectors(self.embedder.name, held)
                kept = entries.kinds != KINDS.index("figure")
                self._passages = Passages(entries.where(kept), vectors[kept])
            return self._passages

    @property
    def relations(self) -> Derivation[Extraction]:
        """Facts of each document by a model, as far as its answers are stored."""
        stored = ModelTexts(self.store.database, RELATIONS).latest
        return Derivation(
            RELATIONS, extraction.VERSION, lambda chunks: Extraction.of(chunks, stored), Extraction.from_bytes
        )

    def facts(self, documents: Mapping[str, str]) -> dict[str, Facts]:
        """Facts of ``documents`` (id → fingerprint), in their order: by a model where it has read them, else by
        rules."""
        kept = self.store.derived_marks(RELATIONS)
        read = self.indexer.derived(self.relations, {one: mark for one, mark in documents.items() if one in kept})
        rules = self.indexer.derived(FACTS, {one: mark for one, mark in documents.items() if one not in kept})
        return {one: read[one].facts if one in kept else rules[one] for one in documents}

    def facts_of(self, doc_id: str) -> Facts:
        """Facts of one document."""
        return self.facts({doc_id: self.store.searchable().get(doc_id, "")})[doc_id]


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


# What people build, by name: that of names comes with the index, relations are paid for.
KEPT: dict[str, Kept] = {
    "graph": Kept(lambda of: [NAMES], lambda of: of.indexer.graph().size),
    RELATIONS: Kept(lambda of: [of.relations], _related),
}
MAKERS: dict[str, Callable[[Structures], Structure]] = {
    "lightrag-naive": lambda of: LightRag(of.passages()),
}
