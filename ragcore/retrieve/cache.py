"""A question that is asked again gets what was found then: a cache around a retriever.

Questions are the same where they differ in blanks, in the capital of their first letter and in the mark at their end
alone. Cosines of embeddings do not tell a paraphrase from a question about something else (`docs/retrieval.md`).

It is kept in memory, so that what one process was asked is nowhere to be found afterwards and no file has to be kept in
step with the index.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ragcore.cancel import Stop
from ragcore.types import EVERYTHING, Retrieval, Reuse, Scope, Usage

if TYPE_CHECKING:
    from ragcore.protocols import Embedder, Retriever, Vector


@dataclass(frozen=True, slots=True)
class Key:
    """What must be the same. ``way`` says how the question is searched for; ``scope`` has its parts in order."""

    question: str
    way: Hashable
    top_k: int
    scope: Scope


class RetrievalCache:
    """The last ``most`` retrievals, for the state of index and settings asked for last. The least recently used goes
    first. Safe for threads."""

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._most = most
        self._found: OrderedDict[Key, Retrieval] = OrderedDict()

    def __len__(self) -> int:
        with self._lock:
            return len(self._found)

    def get(self, state: Hashable, key: Key) -> Retrieval | None:
        """What was found under ``key``; what was found in another state is forgotten."""
        with self._lock:
            if state != self._state:
                self._found.clear()
                self._state = state
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, state: Hashable, key: Key, found: Retrieval) -> None:
        with self._lock:
            if state == self._state:
                self._found[key] = found
                while len(self._found) > self._most:
                    self._found.popitem(last=False)


class RememberedQueries:
    """`Embedder` that embeds each query once: for one retrieval, whose steps ask for the same vector."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Vector:
        # Two threads may both embed a text that is new: the same vector, twice.
        if text not in self._known:
            self._known[text] = self._embedder.embed_query(text)
        return self._known[text]


@dataclass
class CachedRetriever:
    """`Retriever` that answers from ``cache`` where it can and asks ``retriever`` where it cannot.

    ``state`` must change with anything that changes what ``retriever`` finds, and ``way`` says how it searches. What
    could not be done in full (``notes``), or was stopped, is not kept.
    """

    retriever: Retriever
    cache: RetrievalCache
    state: Hashable
    way: Hashable
    stop: Stop = field(default_factory=Stop)

    def retrieve(self, query: str, *, top_k: int, scope: Scope = EVERYTHING) -> Retrieval:
        """As the inner retriever, or what was found when the same was asked before; ``cache`` says which."""
        key = Key(_form(query), self.way, top_k, _ordered(scope))
        known = self.cache.get(self.state, key)
        if known is not None:
            return replace(
                known,
                query=query,
                hits=tuple(replace(hit, via=f"{hit.via}+cache" if hit.via else "cache") for hit in known.hits),
                timings_ms={},
                queries=(replace(known.queries[0], text=query), *known.queries[1:]) if known.queries else (),
                scope=scope,
                usage=Usage(),
                cost_usd=0.0,
                cache=Reuse("hit"),
            )
        found = self.retriever.retrieve(query, top_k=top_k, scope=scope)
        if not (found.notes or self.stop.is_set()):
            self.cache.put(self.state, key, found)
        return replace(found, cache=Reuse("miss"))


def _form(question: str) -> str:
    text = " ".join(question.split()).rstrip(" ?.!")
    return text[:1].lower() + text[1:]


def _ordered(scope: Scope) -> Scope:
    """``scope`` with its parts in order: it holds the same however it was put together."""
    doc_ids = None if scope.doc_ids is None else tuple(sorted(set(scope.doc_ids)))
    return Scope(doc_ids, tuple(sorted(set(scope.pages))), tuple(sorted(set(scope.kinds))))
