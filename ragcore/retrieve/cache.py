"""A question asked before, in other form, gets what was found then: a semantic cache around a retriever.

An earlier question counts where its embedding is near, no literal part differs (`ragcore.offline.literals`), it names
the same documents, is cut into the same parts and, under ``cache.same_words``, says the same words in the same order.
The last is what makes it safe: cosines of bge-small tell a paraphrase from a question about something else, or about
the reverse, only on average (`benchmarks/cache.py`).

It is kept in memory, so that what one process was asked is nowhere to be found afterwards and no file has to be kept in
step with the index. All sessions of an app share it, so a `Retrieval` tells that it was reused and how near the
earlier question was, never what that question said.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ragcore.cancel import Stop
from ragcore.offline.decompose import by_rules
from ragcore.offline.literals import Literals, difference, literals_of, same_words
from ragcore.retrieve.timing import timed
from ragcore.types import EVERYTHING, Hit, Retrieval, Reuse, Scope, Segment, SubQuery, Usage

if TYPE_CHECKING:
    from ragcore.config.settings import CacheSettings
    from ragcore.protocols import Embedder, Retriever, Vector
    from ragcore.retrieve.route import DocumentNames


@dataclass(frozen=True, slots=True)
class Key:
    """What must be the same. ``state`` stands for all that the result depends on beside the question: the state of the
    index and the settings; ``scope`` with its parts in order; ``way`` how the question is searched for."""

    state: Hashable
    way: Hashable
    top_k: int
    scope: Scope


@dataclass(frozen=True, slots=True)
class Entry:
    """A question that was asked, and what was found. ``vector`` float32 ``(d,)`` of length 1."""

    key: Key
    vector: Vector
    literals: Literals
    question: str
    found: Retrieval


class RetrievalCache:
    """The last ``most`` retrievals; the least recently used goes first. Safe for threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._next = 0

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)

    def near(self, key: Key, vector: Vector, least: float) -> list[tuple[float, Entry]]:
        """Entries under ``key`` with a cosine of at least ``least`` to ``vector``, nearest first, of equal ones the
        last used. What was found in another state than that of ``key`` is forgotten: it no longer holds."""
        with self._lock:
            for number in [n for n, entry in self._entries.items() if entry.key.state != key.state]:
                del self._entries[number]
            entries = [entry for entry in self._entries.values() if entry.key == key]
        if not entries:
            return []
        cosines = np.minimum(np.stack([entry.vector for entry in entries]) @ vector, 1.0).tolist()
        # The last used comes first of equal ones: sorting keeps their order.
        near = [(cosine, entry) for cosine, entry in zip(reversed(cosines), reversed(entries)) if cosine >= least]
        return sorted(near, key=lambda item: -item[0])

    def use(self, used: Entry) -> None:
        """Note that ``used`` was of use."""
        with self._lock:
            for number, entry in self._entries.items():
                if entry is used:
                    self._entries.move_to_end(number)
                    return

    def add(self, entry: Entry) -> None:
        """Keep ``entry``, in place of one of the same question."""
        with self._lock:
            for number in [n for n, e in self._entries.items() if (e.key, e.question) == (entry.key, entry.question)]:
                del self._entries[number]
            self._entries[self._next] = entry
            self._next += 1
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


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


class CachedRetriever:
    """`Retriever` that answers from ``cache`` where it can and asks ``retriever`` where it cannot.

    - *hit* (cosine ≥ ``cache.full``): the earlier retrieval, under the new question's words: parts, other terms and
      which of them found a hit are not told, since they repeat the earlier question.
    - *partial* (≥ ``cache.partial``): half of ``top_k`` is retrieved anew; hits of the earlier retrieval follow. They
      were scored for another question, so none goes before a fresh one, and their scores are cut accordingly (see
      `merged`). A partial result is not kept: what is old in it would be passed on.
    - *miss*: retrieved anew and kept, unless something of it could not be done (``notes``) or ``stop`` was set.

    ``embedder`` should be the one that ``retriever`` uses, as `RememberedQueries`, so that the question is embedded
    once. ``state`` must change with anything that changes what ``retriever`` finds, and ``way`` says how it searches
    (its mode, and what else a caller may choose for one question). ``segments`` makes passages of hits
    (`HybridRetriever.segments`). ``names`` tells which documents a question names.
    """

    def __init__(
        self,
        retriever: Retriever,
        cache: RetrievalCache,
        embedder: Embedder,
        settings: CacheSettings,
        *,
        state: Hashable,
        way: Hashable,
        segments: Callable[[Sequence[Sequence[Hit]]], Sequence[Segment]],
        names: DocumentNames | None = None,
        stop: Stop | None = None,
    ) -> None:
        self._retriever = retriever
        self._cache = cache
        self._embedder = embedder
        self._settings = settings
        self._state = state
        self._way = way
        self._segments = segments
        self._names = names
        self._stop = stop if stop is not None else Stop()

    def retrieve(self, query: str, *, top_k: int, scope: Scope = EVERYTHING) -> Retrieval:
        """As the inner retriever, from the cache where an earlier question serves; ``cache`` says which it was."""
        timings: dict[str, float] = {}
        key = Key(self._state, self._way, top_k, _ordered(scope))
        with timed(timings, "embed"):
            vector = self._embedder.embed_query(query)
        with timed(timings, "cache"):
            literals = literals_of(query)
            earlier = self._earlier(key, vector, query, literals)
        if earlier is not None and earlier[0] >= self._settings.full:
            cosine, entry = earlier
            return _as_asked(entry, query, scope, timings, Reuse("hit", cosine))
        if earlier is not None:
            cosine, entry = earlier
            fresh = self._retriever.retrieve(query, top_k=(top_k + 1) // 2, scope=scope)
            with timed(timings, "cache"):
                hits = merged(fresh.hits, entry.found.hits, cosine, top_k)
            segments = fresh.segments
            if len(hits) > len(fresh.hits):
                with timed(timings, "rse"):
                    segments = tuple(self._segments([hits]))
            return replace(
                fresh,
                hits=hits,
                segments=segments,
                timings_ms=_added(timings, fresh.timings_ms),
                cache=Reuse("partial", cosine),
            )
        found = self._retriever.retrieve(query, top_k=top_k, scope=scope)
        with timed(timings, "cache"):
            if not (found.notes or self._stop.is_set()):
                self._cache.add(Entry(key, vector, literals, query, found))
        return replace(found, timings_ms=_added(timings, found.timings_ms), cache=Reuse("miss"))

    def _earlier(self, key: Key, vector: Vector, query: str, literals: Literals) -> tuple[float, Entry] | None:
        """The nearest earlier question that serves, and its cosine."""
        for cosine, entry in self._cache.near(key, vector, min(self._settings.full, self._settings.partial)):
            if self._serves(entry, query, literals):
                self._cache.use(entry)
                return cosine, entry
        return None

    def _serves(self, entry: Entry, query: str, literals: Literals) -> bool:
        if query == entry.question:
            return True
        if difference(literals, entry.literals):
            return False
        if self._settings.same_words and not same_words(literals, entry.literals):
            return False
        if self._names is not None and self._names.named(query) != self._names.named(entry.question):
            return False
        return _same_parts(query, entry.question)


def merged(fresh: Sequence[Hit], earlier: Sequence[Hit], cosine: float, top_k: int) -> tuple[Hit, ...]:
    """``fresh`` hits in their order, then those of ``earlier`` that are no part of any before, at most ``top_k``.

    A hit of ``earlier`` has its score there times ``cosine``, and at most the last fresh one's: what it is worth for
    this question is not known. ``cache`` in its scores and ranks has what it had there, and no other step's is kept.
    """
    out = list(fresh)[:top_k]
    taken = {(hit.chunk.doc_id, tile) for hit in out for tile in _tiles(hit)}
    most = out[-1].score if out else 1.0
    for hit in earlier:
        tiles = {(hit.chunk.doc_id, tile) for tile in _tiles(hit)}
        if len(out) < top_k and taken.isdisjoint(tiles):
            taken |= tiles
            out.append(
                Hit(
                    rank=len(out) + 1,
                    chunk=hit.chunk,
                    score=min(most, hit.score * cosine),
                    scores={"cache": hit.score},
                    ranks={"cache": hit.rank},
                    via="cache",
                    queries=(),
                )
            )
    return tuple(out)


def _same_parts(one: str, other: str) -> bool:
    """Whether two questions are cut alike."""
    parts, others = (list(map(literals_of, (part.text for part in by_rules(text)))) for text in (one, other))
    return len(parts) == len(others) and not any(map(difference, parts, others))


def _tiles(hit: Hit) -> range:
    first, last = hit.chunk.reach
    return range(first, last + 1)


def _as_asked(entry: Entry, query: str, scope: Scope, timings: dict[str, float], reuse: Reuse) -> Retrieval:
    """An earlier retrieval as that of ``query``: nothing was searched for, so nothing was spent. Its parts are
    in the words of whoever asked it and not told; the other terms of its question only where the text is the same."""
    found = entry.found
    also = found.queries[0].also if found.queries and query == entry.question else ()
    return replace(
        found,
        query=query,
        hits=tuple(replace(hit, via=f"{hit.via}+cache" if hit.via else "cache", queries=(1,)) for hit in found.hits),
        timings_ms=timings,
        queries=(SubQuery(query, also=also),),
        scope=scope,
        usage=Usage(),
        cost_usd=0.0,
        cache=reuse,
    )


def _ordered(scope: Scope) -> Scope:
    """``scope`` with its parts in order: it holds the same however it was put together."""
    doc_ids = None if scope.doc_ids is None else tuple(sorted(set(scope.doc_ids)))
    return Scope(doc_ids, tuple(sorted(set(scope.pages))), tuple(sorted(set(scope.kinds))))


def _added(first: dict[str, float], second: Mapping[str, float]) -> dict[str, float]:
    return {step: first.get(step, 0.0) + second.get(step, 0.0) for step in dict.fromkeys((*first, *second))}
