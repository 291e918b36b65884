"""Retrieval cache: a repeated question gets the stored result.

Questions are equal if they differ only in blanks, the capital of the first letter and the final punctuation mark.
Cosines of embeddings do not distinguish a paraphrase from another question (`docs/retrieval.md`).

The cache is in memory, so that questions leave no trace after the process and no file must be kept consistent with the
index.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ragcore.cancel import Stop
from ragcore.types import EVERYTHING, Retrieval, Reuse, Scope, Usage

if TYPE_CHECKING:
    from ragcore.protocols import Retriever


ENTRIES = 200  # retrievals, of about 60 KB each


class RetrievalCache:
    """Least-recently-used cache of ``most`` retrievals, for the latest state of index and settings. Thread-safe."""

    def __init__(self, most: int = ENTRIES) -> None:
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._most = most
        self._found: OrderedDict[Hashable, Retrieval] = OrderedDict()

    def __len__(self) -> int:
        return len(self._found)

    def get(self, state: Hashable, key: Hashable) -> Retrieval | None:
        """Retrieval stored under ``key``; retrievals of another state are discarded."""
        with self._lock:
            if state != self._state:
                self._found.clear()
                self._state = state
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, state: Hashable, key: Hashable, found: Retrieval) -> None:
        with self._lock:
            if state == self._state:
                self._found[key] = found
                while len(self._found) > self._most:
                    self._found.popitem(last=False)


@dataclass
class CachedRetriever:
    """`Retriever` that answers from ``cache`` if possible, else from ``retriever``.

    ``state`` must change with anything that affects the results of ``retriever``, and ``way`` identifies its kind of
    search. Incomplete (``notes``) or stopped retrievals are not stored.
    """

    retriever: Retriever
    cache: RetrievalCache
    state: Hashable
    way: Hashable
    stop: Stop = field(default_factory=Stop)

    def retrieve(self, query: str, *, top_k: int, scope: Scope = EVERYTHING) -> Retrieval:
        """Result of the inner retriever, or the stored one for the same query; ``cache`` says which."""
        form = " ".join(query.split()).rstrip(" ?.!")
        documents = None if scope.doc_ids is None else frozenset(scope.doc_ids)
        key = (form[:1].lower() + form[1:], self.way, top_k, documents, frozenset(scope.pages), frozenset(scope.kinds))
        known = self.cache.get(self.state, key)
        if known is not None:
            return replace(
                known,
                query=query,
                hits=tuple(replace(hit, via=f"{hit.via}+cache" if hit.via else "cache") for hit in known.hits),
                timings_ms={},
                queries=(replace(known.queries[0], text=query), *known.queries[1:]),
                scope=scope,
                usage=Usage(),
                cost_usd=0.0,
                cache=Reuse("hit"),
            )
        found = self.retriever.retrieve(query, top_k=top_k, scope=scope)
        if not (found.notes or self.stop.is_set()):
            self.cache.put(self.state, key, found)
        return replace(found, cache=Reuse("miss"))
