"""Structures of one library: kept while its revision stands, and made again of the facts of its documents when it
changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from ragcore.errors import ConfigError
from ragcore.index.chunks import KINDS
from ragcore.structure import outline, raptor
from ragcore.structure.lightrag import LightRag
from ragcore.structure.passages import Passages
from ragcore.structure.tree import TreeSearch

if TYPE_CHECKING:
    from ragcore.index.indexer import Derivation, Indexer
    from ragcore.index.store import Store
    from ragcore.protocols import Embedder, Structure
    from ragcore.structure.tree import Branches, Tree


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
                self._passages = self._read(*sorted(self.store.with_vectors(self.embedder.name)))
            return self._passages

    def tree(self, kind: Derivation[Branches] | None = None) -> Tree:
        """Tree over the library: of what is derived of ``kind`` from each document that is read and embedded in full
        (None: clusters of its passages)."""
        kind = kind or raptor.derivation(self.embedder.name, self._read)
        embedded = self.store.with_vectors(self.embedder.name)
        whole = {one: mark for one, mark in self.store.searchable(whole=True).items() if embedded.get(one) == mark}
        found = self.indexer.derived(kind, whole)
        return raptor.library(self.passages(), [found[doc_id] for doc_id in sorted(found)])

    def _read(self, *doc_ids: str) -> Passages:
        entries, vectors = self.store.vectors(self.embedder.name, doc_ids)
        kept = entries.kinds != KINDS.index("figure")
        return Passages(entries.where(kept), vectors[kept])


MAKERS: dict[str, Callable[[Structures], Structure]] = {
    "lightrag-naive": lambda of: LightRag(of.passages()),
    "outline": lambda of: TreeSearch(of.tree(outline.SECTIONS), outline.told),
    "raptor": lambda of: TreeSearch(of.tree(), raptor.told),
    "raptor-traversal": lambda of: replace(cast(TreeSearch, of.open("raptor")), down=True),
}
