"""Exploration of one question over the chunks of many documents, under any settings.

`Exploration.under` runs the retriever itself, so that its numbers equal those of `Engine.retrieve` under the same
settings; only the reranker's scores, which take seconds, are remembered. The question's cosine and BM25 score with
every chunk in scope are computed once. `Explored` says of each chunk which step found it, its worth, and its fate.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragcore.answer.sources import Cut, build_sources
from ragcore.index.outline import Outline, Projection, project
from ragcore.protocols import RememberedReranker, Texts
from ragcore.retrieve.agentic import AgenticRetriever, may_ask
from ragcore.retrieve.fuse import ranking
from ragcore.retrieve.hybrid import SIDES
from ragcore.retrieve.rse import chunk_values
from ragcore.types import Chunk, Retrieval, Scope, Segment, Source, SubQuery

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.index.connections import NameMap
    from ragcore.library import AskedLibrary
    from ragcore.retrieve.hybrid import Ranking, Weighed


By = Literal[
    "both", "vector", "bm25", "graph", "structure", "fused", "weighed", "segment", "table", "neighbour", "unseen"
]
Fate = Literal["given", "no_room", "folded", "out"]


class Exploration:
    """A ``question`` in a ``scope``. Safe for threads; valid while ``current()``.

    ``cosines`` and ``bm25``, float64 ``(n,)``, are the question's scores with every chunk of ``outline`` (NaN out of
    scope). ``parts`` replace the sub-queries that the settings would ask for. Raises what `Engine.retrieve` raises.
    """

    def __init__(
        self, engine: AskedLibrary, question: str, scope: Scope, parts: Sequence[SubQuery] | None = None
    ) -> None:
        started = time.perf_counter()
        self.question, self.scope = question, scope
        self.document = engine.document
        self._engine = engine
        self._rerankers: dict[str, RememberedReranker] = {}
        self._parts: dict[tuple[str, int], tuple[SubQuery, ...]] = {}
        self._given = None if parts is None else tuple(parts)
        self._cut = Cut()
        self._lock = threading.RLock()
        self._whole = engine.search.outline()
        self.outline: Outline = self._whole if scope.doc_ids is None else self._whole.of(scope.doc_ids)
        self.vector, near, said = engine.search.hybrid().near(question, scope, max(1, len(self.outline)))
        self.cosines = self._column(near, np.full(len(self.outline), np.nan))[self.outline.holders]
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

    def projection(self) -> Projection:
        """Map of the outline's chunks by similarity of meaning."""
        return project(self._engine.store, self._engine.models.embedder.name, self.outline)

    def connections(self, found: Explored) -> NameMap:
        """Map of the walks over names in ``found``, with its hits; empty if its search followed none."""
        hits = [hit.chunk.chunk_id for hit in found.retrieval.hits]
        graph = self._engine.search.indexer.graph()
        return graph.map(found.began, hits, Texts(self._engine.store.chunks_by_id, self.document, self.scope))

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
            rankings: list[Ranking] = []
            hybrid.on_ranking = rankings.append
            if hybrid.reranker is not None:
                known = RememberedReranker(hybrid.reranker)
                hybrid.reranker = self._rerankers.setdefault(known.name, known)
            key = (settings.agentic.decompose, settings.agentic.gaps * settings.agentic.max_iterations)
            parts = self._parts.get(key, self._given)
            asks = parts is None and may_ask(settings.agentic, models.capabilities)
            retriever = AgenticRetriever(hybrid, models.planner if asks else None, parts=parts)
            found = retriever.retrieve(self.question, top_k=settings.retrieve.top_k, scope=self.scope)
            self._parts.setdefault(key, found.queries[1:])
            sources = build_sources(found, self.document, settings.answer, self._cut)
            explored = Explored(settings, found, sources, rankings, self.outline, engine.store.chunks_by_id)
            explored.read = self._read() - before
        explored.ms = (time.perf_counter() - started) * 1000.0
        return explored

    def _read(self) -> int:
        return sum(len(reranker.known) for reranker in self._rerankers.values())


@dataclass(frozen=True, slots=True)
class Point:
    """Fate of a chunk, at ``row`` of the outline.

    ``by``: the search that alone would have returned it among its first ``top_k`` (``vector``, ``bm25``, ``both``, over
    names ``graph``, or a ``structure``); only the two together (``fused``); none (``weighed``); or it was not weighed
    and fills a ``segment``, is a row of a ``table`` or a ``neighbour``, or was not seen (``unseen``). ``fate``:
    ``given`` to the writer in source ``source``; chosen, with ``no_room`` in ``answer.source_tokens``; a row ``folded``
    into its table, which was weighed in its place; or ``out``.

    ``relevance`` is the worth of its rank and score to a segment before the penalty, 0–1, and ``value`` what it adds to
    one; both for the query (number ``query``, from 1) with the highest worth, whose ``scores``, ``ranks``, ``score``
    and ``rank`` these are. ``hit`` is its rank in the result, 0 if it is no hit; ``passage`` the number of its passage
    in ``retrieval.segments``, -1 for none.
    """

    row: int
    chunk: Chunk
    by: By
    fate: Fate
    relevance: float
    value: float
    score: float = 0.0
    rank: int = 0
    query: int = 1
    scores: Mapping[str, float] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    hit: int = 0
    passage: int = -1
    source: int = 0


class Explored:
    """Result of a question under ``settings``. ``retrieval`` equals that of `Engine.retrieve` under them (of a question
    that an overview answers, what a plain search finds), ``source_of`` is the writer's source of each of its passages
    (0: none); walks over names ``began`` there.

    ``relevance`` ``(n,)`` is that of `Point` for every chunk of the outline, 0 if not weighed. ``points`` are the
    chunks that a search, or both together, would have returned and those in passages, most relevant first; `point`
    gives any other. ``weighed`` counts passages; ``ms`` is the time taken, and ``read`` the number of passages new to
    the reranker.
    """

    ms = 0.0
    read = 0

    def __init__(
        self,
        settings: Settings,
        retrieval: Retrieval,
        sources: tuple[Source, ...],
        rankings: Sequence[Ranking],
        whole: Outline,
        chunks: Callable[[Sequence[str]], Sequence[Chunk]],
    ) -> None:
        self.settings, self.retrieval, self.sources = settings, retrieval, sources
        self.source_of = tuple(_source_of(segment, sources) for segment in retrieval.segments)
        self.began = tuple(of.began for of in rankings if of.began is not None)
        self._outline, self._chunks = whole, chunks
        self._rankings = [of.weighed for of in rankings if of.weighed is not None]
        self._known = {chunk_id: chunk for of in self._rankings for chunk_id, chunk in of.chunks.items()}
        self._passages = _passages(retrieval.segments, self.source_of)
        self._hits = {hit.chunk.chunk_id: hit.rank for hit in retrieval.hits}
        self._by = _found_by(self._rankings, settings.retrieve.top_k, set(self._hits))
        self.weighed = len({chunk_id for of in self._rankings for chunk_id in of.final})
        self.relevance = np.zeros(len(whole))
        self._rank = np.zeros(len(whole), dtype=np.int32)
        self._query = np.full(len(whole), -1, dtype=np.int32)
        for number, of in enumerate(self._rankings):
            self._take(number, of)
        notable = self._notable()
        self._fetch([whole.chunk_id(row) for row in notable])
        points = (point for point in map(self.point, notable) if point is not None)
        self.points = tuple(sorted(points, key=lambda point: (-point.relevance, point.row)))

    def _take(self, number: int, of: Weighed) -> None:
        """Record the worth of the chunks that one query weighed, by rank; a row folded into its table gets the
        table's."""
        place = {chunk_id: at for at, chunk_id in enumerate(ranking(of.final))}
        place |= {row: place[owner] for row, owner in of.folded.items() if owner in place}
        ids = list(place)
        ranks = np.array(list(place.values()), dtype=np.int64)
        scores = np.array([of.final[of.folded.get(i, i)] for i in ids])
        decay_rate = self.settings.rse.decay_rate
        worth = chunk_values(ranks, scores, decay_rate=decay_rate, irrelevant_chunk_penalty=0.0)
        rows = self._outline.rows(ids)
        better = (rows >= 0) & ((self._query[rows] < 0) | (worth > self.relevance[rows]))
        rows = rows[better]
        self.relevance[rows] = worth[better]
        self._rank[rows], self._query[rows] = ranks[better] + 1, number

    def _notable(self) -> list[int]:
        """Rows of chunks that a search, or both together, would have returned, and of those in passages."""
        ids = [chunk_id for chunk_id, by in self._by.items() if by not in ("weighed", "table")]
        rows = set(self._outline.rows(ids).tolist())
        inside = [f"{doc_id}:{tile}" for doc_id, tile in self._passages]
        return sorted((rows | set(self._outline.rows(inside).tolist())) - {-1})

    def _fetch(self, chunk_ids: Sequence[str]) -> None:
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in self._known]
        self._known.update((chunk.chunk_id, chunk) for chunk in self._chunks(missing))

    def point(self, row: int) -> Point | None:
        """Chunk at ``row``; None if it is gone."""
        chunk_id = self._outline.chunk_id(row)
        self._fetch([chunk_id])
        if chunk_id not in self._known:
            return None
        chunk = self._known[chunk_id]
        number = int(self._query[row])
        scores: dict[str, float] = {}
        ranks: dict[str, int] = {}
        score = 0.0
        if number >= 0:
            of = self._rankings[number]
            scores = {step: of_step[chunk_id] for step, of_step in of.scores.items() if chunk_id in of_step}
            ranks = {step: of_step[chunk_id] for step, of_step in of.ranks.items() if chunk_id in of_step}
            score = of.final[of.folded.get(chunk_id, chunk_id)]
        passage, source, via = self._inside(chunk)
        folded = number >= 0 and chunk_id in self._rankings[number].folded and chunk_id not in self._hits
        fate: Fate = "given" if source else "no_room" if passage >= 0 else "folded" if folded else "out"
        return Point(
            row=row,
            chunk=chunk,
            by=self._by.get(chunk_id, _BESIDE.get(via, "unseen")),
            fate=fate,
            relevance=float(self.relevance[row]),
            value=float(self.relevance[row]) - self.settings.rse.irrelevant_chunk_penalty,
            score=score,
            rank=int(self._rank[row]),
            query=max(number, 0) + 1,
            scores=scores,
            ranks=ranks,
            hit=self._hits.get(chunk_id, 0),
            passage=passage,
            source=source,
        )

    def _inside(self, chunk: Chunk) -> tuple[int, int, str]:
        """Passage that holds all of a chunk, preferably one that the writer gets; its source and ``via``."""
        first, last = chunk.reach
        around = [set(self._passages.get((chunk.doc_id, tile), ())) for tile in range(first, last + 1)]
        inside = sorted(set.intersection(*around), key=lambda item: (item[1] == 0, item[0]))
        if not inside:
            return -1, 0, ""
        passage, source = inside[0]
        return passage, source, self.retrieval.segments[passage].via


_BESIDE: dict[str, By] = {"rse": "segment", "table": "table", "neighbour": "neighbour", "hit": "segment"}
_Passages = dict[tuple[str, int], list[tuple[int, int]]]  # (document, tile) → numbers of passages and their sources


def _passages(segments: Sequence[Segment], source_of: Sequence[int]) -> _Passages:
    out: _Passages = {}
    for number, (segment, source) in enumerate(zip(segments, source_of)):
        for tile in range(segment.first_chunk, segment.last_chunk + 1):
            out.setdefault((segment.doc_id, tile), []).append((number, source))
    return out


def _found_by(rankings: Sequence[Weighed], top_k: int, hits: set[str]) -> dict[str, By]:
    """Search that alone would have returned each weighed chunk. A table is found by the search that found any of its
    rows, and the rows of a hit table are rows of a ``table``."""
    by: dict[str, set[str]] = {side: set() for side in SIDES}
    vector, bm25, graph, structure = by.values()
    out: dict[str, By] = {}
    for of in rankings:
        for side, first in by.items():
            found = [i for i, rank in of.ranks.get(side, {}).items() if rank <= top_k]
            first.update(found, (of.folded[i] for i in found if i in of.folded))
        out.update(dict.fromkeys((*of.final, *of.folded), "weighed"))
    out.update(dict.fromkeys((i for i in hits if i in out), "fused"))
    out.update(dict.fromkeys(graph & out.keys(), "graph"))
    out.update(dict.fromkeys(structure & out.keys(), "structure"))
    for chunk_id in (vector | bm25) & out.keys():
        both = chunk_id in vector and chunk_id in bm25
        out[chunk_id] = "both" if both else "vector" if chunk_id in vector else "bm25"
    for of in rankings:
        out.update((row, "table") for row, owner in of.folded.items() if owner in hits and row not in hits)
    return out


def _source_of(segment: Segment, sources: Sequence[Source]) -> int:
    """Source that holds most of a passage; 0 if none holds half of it, unless the first is its beginning."""
    best, most = 0, 0
    for source in sources:
        if source.doc_id == segment.doc_id:
            shared = min(source.end, segment.end) - max(source.start, segment.start)
            if shared > most:
                best, most = source.number, shared
    trimmed = best == 1 and sources[0].start <= segment.start + 1
    return best if 2 * most > segment.end - segment.start or trimmed else 0
