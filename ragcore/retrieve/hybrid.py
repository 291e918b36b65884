"""Question → hits and segments: documents named → vector ∥ BM25 → fuse → fold tables → rerank → segments and
neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragcore.errors import ConfigError
from ragcore.retrieve import fuse
from ragcore.retrieve.fold import fold
from ragcore.retrieve.rerank import vote
from ragcore.retrieve.route import DocumentNames, chosen, discounted
from ragcore.retrieve.segments import passages
from ragcore.retrieve.timing import timed
from ragcore.types import EVERYTHING, Chunk, Hit, Retrieval, Route, Scope, Segment, SubQuery

if TYPE_CHECKING:
    from ragcore.config import Settings
    from ragcore.protocols import Embedder, Reranker, SparseIndex, VectorStore

Mode = Literal["hybrid", "vector", "bm25", "reference"]
SHOWN_ROUTES = 50  # documents of ``Retrieval.routes``, at most: a year alone may name thousands
MODES: tuple[Mode, ...] = ("hybrid", "vector", "bm25", "reference")


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one query found: hits and routes, each best first."""

    hits: tuple[Hit, ...]
    routes: tuple[Route, ...]


class HybridRetriever:
    """`Retriever` over a vector store and a sparse index, which must hold the same chunks.

    ``chunks`` gives chunks by id (``doc_id:index``), leaving out those that are gone. ``mode`` says how candidates are
    found and fused: ``vector`` or ``bm25`` alone, ``reference`` (max-normalised, half and half) or ``hybrid``; None
    takes ``retrieve.mode``. With a reranker every mode is reranked, and with ``names`` every mode prefers the documents
    that the question names. Raises `ConfigError` for an unknown mode.
    """

    def __init__(
        self,
        embedder: Embedder,
        vectors: VectorStore,
        sparse: SparseIndex,
        reranker: Reranker | None,
        chunks: Callable[[Sequence[str]], list[Chunk]],
        settings: Settings,
        *,
        mode: str | None = None,
        names: DocumentNames | None = None,
    ) -> None:
        mode = mode or settings.retrieve.mode
        if mode not in MODES:
            raise ConfigError(f"There is no retrieval mode {mode!r}.", hint=f"Choose one of {', '.join(MODES)}.")
        self._mode: Mode = mode
        self._embedder = embedder
        self._vectors = vectors
        self._sparse = sparse
        self._reranker = reranker
        self._chunks = chunks
        self._settings = settings
        self._names = names

    def retrieve(self, query: str, *, top_k: int, scope: Scope = EVERYTHING) -> Retrieval:
        """The best ``top_k`` chunks for ``query`` in ``scope``, and the segments around them."""
        timings: dict[str, float] = {}
        ranking = self.search(query, top_k=top_k, scope=scope, timings=timings)
        with timed(timings, "rse"):
            segments = self.segments([ranking.hits])
        return Retrieval(
            query,
            self._mode,
            ranking.hits,
            tuple(segments),
            timings,
            ranking.routes[:SHOWN_ROUTES],
            (SubQuery(query),),
            scope,
        )

    def search(self, query: str, *, top_k: int, scope: Scope, timings: dict[str, float]) -> Ranking:
        """One query's hits. What each step took is added to ``timings``, in ms."""
        # A short list is the beginning of a long one: a small top_k must not starve the fusion.
        count = self._settings.retrieve.candidates * max(top_k, self._settings.rerank.candidates)
        routes = self._routes(query, scope, timings)
        priors = {route.doc_id: route.prior for route in routes}
        scores, ranks = self._candidates(query, count, scope, chosen(routes, self._settings.route.documents), timings)
        with timed(timings, "fuse"):
            fused = self._fuse(query, scores)
            chunks = {chunk.chunk_id: chunk for chunk in self._chunks(fuse.ranking(fused))}
            # A chunk that another process removed since is no candidate any more.
            fused = self._penalised({i: score for i, score in fused.items() if i in chunks}, chunks)
            owners = {i: chunk.doc_id for i, chunk in chunks.items()}
            fused = discounted(fused, owners, priors, self._settings.route.weight)
            folded = fold(fused, chunks)
            fused = folded.scores
            scores["fused"], ranks["fused"] = fused, _ranks(fuse.ranking(fused))
        final = fused
        if self._reranker is not None and fused:
            with timed(timings, "rerank"):
                read = {i: chunks[folded.best.get(i, i)] for i in fused}
                relevance = self._relevance(self._reranker, query, fused, read)
                scores["rerank"], ranks["rerank"] = relevance, _ranks(fuse.ranking(relevance))
                # The vote of a passage counts by its document's prior, as its fused score does.
                votes = discounted(relevance, owners, priors, self._settings.route.weight)
                final = vote(fused, votes, weight=self._settings.rerank.weight)
        hits = [
            Hit(
                rank=rank,
                chunk=chunks[chunk_id],
                score=final[chunk_id],
                scores={step: of[chunk_id] for step, of in scores.items() if chunk_id in of}
                | ({"prior": priors.get(owners[chunk_id], 0.0)} if priors else {}),
                ranks={step: of[chunk_id] for step, of in ranks.items() if chunk_id in of},
                via=_via(chunks[chunk_id], ranks, priors),
            )
            for rank, chunk_id in enumerate(fuse.ranking(final)[:top_k], start=1)
        ]
        return Ranking(tuple(hits), tuple(routes))

    def segments(self, rankings: Sequence[Sequence[Hit]]) -> list[Segment]:
        """The passages that become sources, for the hits of one query or of several."""
        return passages(rankings, self._chunks, self._settings.rse, reach=self._settings.retrieve.neighbours)

    def _routes(self, query: str, scope: Scope, timings: dict[str, float]) -> list[Route]:
        """The documents that the question names; none where routing is off."""
        if self._names is None or self._settings.route.weight == 0.0:
            return []
        with timed(timings, "route"):
            return self._names.routes(query, scope.doc_ids, mentions=self._sparse.mentions)

    def _candidates(
        self,
        query: str,
        count: int,
        scope: Scope,
        named: Sequence[str],
        timings: dict[str, float],
    ) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
        """Scores and ranks by chunk id, for each side that the mode asks. The documents ``named`` are also asked by
        themselves: in a large library the best of them need not be among the first of all."""
        scores: dict[str, dict[str, float]] = {}
        scopes = [scope.doc_ids, named] if named else [scope.doc_ids]
        if self._mode != "bm25":
            with timed(timings, "embed"):
                vector = self._embedder.embed_query(query)
            with timed(timings, "vector"):
                scores["vector"] = _both([self._vectors.query(vector, count, ids) for ids in scopes])
        if self._mode != "vector":
            with timed(timings, "bm25"):
                scores["bm25"] = _both([self._sparse.query(query, count, ids) for ids in scopes])
        return scores, {step: _ranks(list(of)) for step, of in scores.items()}

    def _fuse(self, query: str, scores: dict[str, dict[str, float]]) -> dict[str, float]:
        if self._mode in ("vector", "bm25"):
            return fuse.single(scores[self._mode])
        if self._mode == "reference":
            return fuse.max_normalised(scores["vector"], scores["bm25"])
        # Every candidate gets its BM25 score, also those that only the vectors found.
        missing = [chunk_id for chunk_id in scores["vector"] if chunk_id not in scores["bm25"]]
        scores["bm25"].update(zip(missing, self._sparse.scores(query, missing).tolist(), strict=True))
        return fuse.min_max(scores["vector"], scores["bm25"], alpha=self._settings.retrieve.alpha)

    def _penalised(self, fused: Mapping[str, float], chunks: Mapping[str, Chunk]) -> dict[str, float]:
        """Descriptions of figures are a model's words, not the document's: they count for less."""
        factor = 1.0 - self._settings.retrieve.figure_penalty
        return {i: score * factor if chunks[i].kind == "figure" else score for i, score in fused.items()}

    def _relevance(
        self, reranker: Reranker, query: str, fused: Mapping[str, float], chunks: Mapping[str, Chunk]
    ) -> dict[str, float]:
        best = fuse.ranking(fused)[: self._settings.rerank.candidates]
        passages = [chunks[i].passage for i in best]
        return dict(zip(best, reranker.score(query, passages).tolist(), strict=True))


def _via(chunk: Chunk, ranks: Mapping[str, Mapping[str, int]], priors: Mapping[str, float]) -> str:
    steps = [step for step in ("vector", "bm25") if chunk.chunk_id in ranks.get(step, {})]
    return "+".join([*steps, *(["table"] if chunk.tiles else []), *(["named"] if chunk.doc_id in priors else [])])


def _both(lists: Sequence[Sequence[tuple[str, float]]]) -> dict[str, float]:
    """One list of all that was found, best first."""
    found: dict[str, float] = {}
    for pairs in lists:
        found.update(pairs)
    return {i: found[i] for i in fuse.ranking(found)} if len(lists) > 1 else found


def _ranks(ordered: Sequence[str]) -> dict[str, int]:
    return {chunk_id: rank for rank, chunk_id in enumerate(ordered, start=1)}
