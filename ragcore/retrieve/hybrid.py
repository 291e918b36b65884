"""Hybrid search: question → documents named → vector ∥ BM25 (→ names) → fuse → fold tables → rerank → segments and
neighbours."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast, get_args

import numpy as np

from ragcore.config.settings import PublishedMode, SearchMode
from ragcore.errors import ConfigError
from ragcore.progress import ignore
from ragcore.protocols import Asked, Texts
from ragcore.retrieve import fuse
from ragcore.retrieve.route import DocumentNames, chosen, discounted
from ragcore.retrieve.segments import covers
from ragcore.retrieve.synonyms import Synonyms
from ragcore.text.periods import without_dates
from ragcore.text.words import content_stems
from ragcore.types import (
    Chunk,
    Document,
    Hit,
    NamePath,
    OnStep,
    Route,
    Scope,
    Seeds,
    Segment,
    Step,
    SubQuery,
)
from ragcore.types.question import Question, unread

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.protocols import Embedder, NameIndex, Nearest, QuestionReader, Reranker, SparseIndex, Structure, Vector

Scored = list[tuple[str, float]]  # chunk ids with their scores
MOST_TERMS = 12  # limit of synonyms searched for
# Weight of synonyms beside the question's own words, which weigh 1: in its vector, and in BM25.
TERMS_IN_VECTOR, TERMS_IN_BM25 = 0.5, 0.3
MOST_NAMED = 16  # documents named by the question that are also searched by themselves
TEMPERATURE = 6.0  # divides the reranker's log-odds for its vote: it is too sure of texts unlike web pages
FIGURE_PENALTY = 0.3  # share of its score that an AI-written description of a figure loses
NAME_WEIGHT = 0.4  # weight of a row that the question names, itself or its table, beside the fused score
SHOWN_ROUTES = 50  # limit of ``Retrieval.routes``: a year alone may name thousands of documents
MODES: tuple[str, ...] = tuple(mode for mode in get_args(SearchMode) if mode != "overview")
STRUCTURES: tuple[str, ...] = ("outline", *get_args(PublishedMode))  # modes that a tree or graph alone answers
SIDES = ("vector", "bm25", "graph", "structure")  # which a mode may have
CONNECTED = {"auto": 0.2, "graph": 0.5}  # weight of what is reached through names, in the modes that follow them


@dataclass(frozen=True, slots=True)
class Wording:
    """Search wording of a question: its ``text``, and in ``also`` synonyms of its terms, with a lower weight."""

    text: str
    also: tuple[str, ...] = ()

    @property
    def terms(self) -> str:
        """``also`` as one text."""
        return "; ".join(self.also)


@dataclass(frozen=True, slots=True)
class Weighed:
    """All passages scored for one query, including non-hits: ``chunks`` by id, ``scores`` and ``ranks`` of each step
    (as in `Hit`) by id, and the final ranking score as ``final``. ``folded`` maps a folded row to its composite."""

    chunks: Mapping[str, Chunk]
    scores: Mapping[str, Mapping[str, float]]
    ranks: Mapping[str, Mapping[str, int]]
    final: Mapping[str, float]
    folded: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Result of one query: hits and routes, each best first; the query as ``asked``, with its synonyms and names;
    the numbers of scored and reranked passages; where a walk over names ``began`` (None without one), or what a
    structure was ``put``; and all ``weighed`` passages (None if unknown)."""

    hits: tuple[Hit, ...]
    routes: tuple[Route, ...]
    asked: SubQuery
    candidates: int = 0
    reranked: int = 0
    began: Seeds | None = None
    put: Asked | None = field(default=None, compare=False, repr=False)
    weighed: Weighed | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunks by id, scores and ranks by side; where a walk over names ``began``, and the question's ``names`` there;
    what a structure was ``put``."""

    chunks: dict[str, Chunk]
    scores: dict[str, dict[str, float]]
    ranks: dict[str, dict[str, int]]
    began: Seeds | None
    names: tuple[str, ...]
    put: Asked | None = None


@dataclass
class HybridRetriever:
    """Search of single queries over chunk vectors and a sparse index, which must contain the same chunks.

    ``chunks`` gives chunks by id (``doc_id:index``), without removed ones. ``mode`` determines how candidates are
    found: by ``vector`` or ``bm25`` alone, by both (``hybrid``), or by both and the names that passages share, for
    which ``connections`` is needed, and ``document`` for their paths: from the names of the question and of the nearest
    passage (``graph``), or with less weight from those of the question alone (``auto``, which is ``hybrid`` without
    them); or by the ``structure`` of that name alone; "" uses ``retrieve.mode``. With a reranker every mode is
    reranked, with ``names`` every mode prefers the documents named by the question, and ``synonyms`` are the domain
    terms that every mode also searches for. ``read`` is `QuestionAnalyser.read`. ``on_step`` receives each step before
    it starts, ``on_ranking`` the result of each query. Raises `ConfigError` for an unknown mode, and `ValueError` for
    ``graph`` without ``connections`` or ``document``.
    """

    embedder: Embedder
    vectors: Nearest
    sparse: SparseIndex
    reranker: Reranker | None
    chunks: Callable[[Sequence[str]], list[Chunk]]
    settings: Settings
    mode: str = ""
    names: DocumentNames | None = None
    synonyms: Synonyms | None = None
    read: QuestionReader = unread
    on_step: OnStep = ignore
    on_ranking: Callable[[Ranking], None] | None = None
    connections: Callable[[], NameIndex] | None = None
    document: Callable[[str], Document] | None = None
    structure: Callable[[str], Structure] | None = None

    def __post_init__(self) -> None:
        self.mode = self.mode or self.settings.retrieve.mode
        if self.mode not in MODES:
            raise ConfigError(f"There's no search mode {self.mode!r}.", hint=f"Choose one of {', '.join(MODES)}.")
        if self.mode == "graph" and (self.connections is None or self.document is None):
            raise ValueError("mode graph needs connections and documents")
        if self.mode in STRUCTURES and self.structure is None:
            raise ValueError(f"mode {self.mode} needs its structure")

    def search(
        self,
        query: str,
        *,
        top_k: int,
        scope: Scope,
        timings: dict[str, float],
        asked: SubQuery | None = None,
    ) -> Ranking:
        """Hits of one query. Adds the time of each step to ``timings``, in ms; ``asked`` is the query reported to
        ``on_step`` (None: the user's own)."""
        question = self.read(query)
        words = self._wording(question)
        asked = replace(asked if asked is not None else SubQuery(query), also=words.also, names=())
        count = max(self.settings.retrieve.candidates * self.settings.rerank.candidates, 3 * top_k)
        routes = self.named(question, scope, timings, latest=not question.compares)
        self.on_step(Step("search", asked, tuple(routes[:SHOWN_ROUTES])))
        priors = {route.doc_id: route.prior for route in routes}
        find = self._leaves if self.mode in STRUCTURES else self._candidates
        found = find(words, count, scope, routes, timings)
        chunks, scores, ranks = found.chunks, found.scores, found.ranks
        asked = replace(asked, names=found.names)
        with timed(timings, "fuse"):
            fused = self._fuse(words, routes, scores, chunks)
            # Another process may have removed a chunk meanwhile.
            fused = self._penalised({i: score for i, score in fused.items() if i in chunks}, chunks)
            owners = {i: chunk.doc_id for i, chunk in chunks.items()}
            fused = discounted(fused, owners, priors, self.settings.route.weight)
            folded = fuse.fold(fused, chunks)
            fused = folded.scores
            scores["fused"], ranks["fused"] = fused, _ranks(fuse.ranking(fused))
        final, reranked = fused, 0
        if self.reranker is not None and fused:
            wanted = fuse.ranking(fused)[: self.settings.rerank.candidates]
            self.on_step(Step("rerank", asked, passages=len(wanted)))
            with timed(timings, "rerank"):
                texts = [chunks[folded.best.get(i, i)].passage for i in wanted]
                probabilities = dict(zip(wanted, self.reranker.score(query, texts).tolist(), strict=True))
                reranked = len(wanted)
                scores["rerank"], ranks["rerank"] = probabilities, _ranks(fuse.ranking(probabilities))
                # A passage's vote is weighted by its document's prior, like its fused score.
                kinds = {i: chunks[i].kind for i in probabilities}
                votes = fuse.tempered(probabilities, kinds, temperature=TEMPERATURE)
                votes = discounted(votes, owners, priors, self.settings.route.weight)
                final = fuse.vote(fused, votes, weight=self.settings.rerank.weight)
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
        weighed = Weighed(chunks, scores, ranks, final, folded.owners)
        ranking = Ranking(tuple(hits), tuple(routes), asked, len(fused), reranked, found.began, found.put, weighed)
        if self.on_ranking is not None:
            self.on_ranking(ranking)
        return ranking

    def near(self, query: str, scope: Scope, count: int) -> tuple[Vector, Scored, Scored]:
        """Question's vector float32 ``(d,)``, and up to ``count`` chunks in ``scope`` by cosine and by BM25 (those
        above 0), scored as in a search."""
        words = self._wording(self.read(query))
        vector = self._embedded(words)
        return vector, self.vectors.query(vector, count, scope), list(self._found(words, count, [scope]).items())

    def paths(
        self, segments: Sequence[Segment], rankings: Sequence[Ranking], scope: Scope, timings: dict[str, float]
    ) -> tuple[NamePath, ...]:
        """How the walk or structure of a query reached the best hit of each of ``segments`` that one has reached."""
        best: list[tuple[str, int]] = []  # chunk id, and the number of the query's ranking
        for segment in segments:
            inside = (
                (hit.rank, number, hit.chunk.chunk_id)
                for number, of in enumerate(rankings)
                for hit in of.hits
                if not {"graph", "structure"}.isdisjoint(hit.scores)
                and segment.via != "neighbour"
                and covers(segment, hit.chunk)
            )
            best += [(chunk_id, number) for _, number, chunk_id in sorted(inside)[:1]]
        best = list(dict.fromkeys(best))  # two segments may share a chunk
        found: dict[str, NamePath] = {}
        for number, of in enumerate(rankings):
            ids = [chunk_id for chunk_id, query in best if query == number]
            if not ids or self.document is None:
                continue
            texts, paths = Texts(self.chunks, self.document, scope), list[NamePath]()
            if of.began is not None and self.connections is not None:
                with timed(timings, "graph"):
                    paths = self.connections().paths(of.began, ids, texts)
            elif of.put is not None and self.structure is not None:
                with timed(timings, "structure"):
                    paths = self.structure(self.mode).paths(of.put, ids, texts)
            found |= {path.chunk_id: path for path in paths}
        return tuple(found[chunk_id] for chunk_id, _ in best if chunk_id in found)

    def _wording(self, question: Question) -> Wording:
        also = self.synonyms.of(question.text)[:MOST_TERMS] if self.synonyms is not None else ()
        return Wording(question.focus if self.settings.wording.focus else question.text, also)

    def named(
        self, question: Question, scope: Scope, timings: dict[str, float], *, latest: bool = False
    ) -> list[Route]:
        """Documents named by the question, best first (`DocumentNames.routes`); none if routing is off."""
        if self.names is None or self.settings.route.weight == 0.0:
            return []
        with timed(timings, "route"):
            return self.names.routes(question.text, scope.doc_ids, mentions=self.sparse.mentions, latest=latest)

    def _candidates(
        self, words: Wording, count: int, scope: Scope, routes: Sequence[Route], timings: dict[str, float]
    ) -> Candidates:
        """Candidates of each side used by the mode. The documents of ``routes`` are also searched separately, since in
        a large library their best chunks may not be among the overall best."""
        chunks: dict[str, Chunk] = {}
        scores: dict[str, dict[str, float]] = {}
        named = tuple(chosen(routes, MOST_NAMED))
        scopes = [scope, replace(scope, doc_ids=named)] if named else [scope]
        if self.mode != "bm25":
            with timed(timings, "embed"):
                vector = self._embedded(words)
            with timed(timings, "vector"):
                found = [self.vectors.query(vector, count, each) for each in scopes]
                chunks = self._by_id(chunk_id for pairs in found for chunk_id, _ in pairs)
                scores["vector"] = _both(found)
        if self.mode != "vector":
            with timed(timings, "bm25"):
                scores["bm25"] = self._found(words, count, scopes)
                chunks |= self._by_id(chunk_id for chunk_id in scores["bm25"] if chunk_id not in chunks)
        began: Seeds | None = None
        names: tuple[str, ...] = ()
        if self.mode in CONNECTED and self.connections is not None and self.document is not None:
            with timed(timings, "graph"):
                index, nearest = self.connections(), ""
                if self.mode == "graph":
                    nearest = next(
                        iter(fuse.ranking(fuse.fold(self._convex(words, scores, chunks), chunks).scores)), ""
                    )
                seeds = Seeds(words.text, nearest, tuple((route.doc_id, route.name) for route in routes if route.name))
                names = index.names(seeds, scope)
                if nearest or names:
                    began, scores["graph"] = seeds, dict(index.query(seeds, count, scope))
                    chunks |= self._by_id(chunk_id for chunk_id in scores["graph"] if chunk_id not in chunks)
        ranks = {step: _ranks(fuse.ranking(of)) for step, of in scores.items()}
        if self.mode not in ("vector", "bm25"):  # what one side found is scored by the other too
            lacking = [chunk_id for chunk_id in chunks if chunk_id not in scores["bm25"]]
            scores["bm25"].update(zip(lacking, self._bm25(words, lacking), strict=True))
            lacking = [chunk_id for chunk_id in chunks if chunk_id not in scores["vector"]]
            scores["vector"].update(self.vectors.scores(vector, lacking))
        return Candidates(chunks, scores, ranks, began, names)

    def _leaves(
        self, words: Wording, count: int, scope: Scope, routes: Sequence[Route], timings: dict[str, float]
    ) -> Candidates:
        """Candidates of the mode's structure, scored by both other sides too."""
        with timed(timings, "embed"):
            vector = self._embedded(words)
        put = Asked(words.text, vector, tuple((route.doc_id, route.name) for route in routes if route.name))
        with timed(timings, "structure"):
            assert self.structure is not None  # `__post_init__`
            found = dict(self.structure(self.mode).leaves(put, count, scope))
        chunks = self._by_id(found)
        scores = {"vector": self.vectors.scores(vector, list(chunks))}
        scores |= {"bm25": dict(zip(chunks, self._bm25(words, list(chunks)), strict=True)), "structure": found}
        return Candidates(chunks, scores, {"structure": _ranks(fuse.ranking(found))}, None, (), put)

    def _by_id(self, chunk_ids: Iterable[str]) -> dict[str, Chunk]:
        return {chunk.chunk_id: chunk for chunk in self.chunks(list(dict.fromkeys(chunk_ids)))}

    def _embedded(self, words: Wording) -> Vector:
        """Vector of the question, shifted towards its synonyms; of length 1."""
        vector = self.embedder.embed_query(words.text)
        if not words.also:
            return vector
        moved = vector + TERMS_IN_VECTOR * self.embedder.embed_query(words.terms)
        return cast("Vector", moved / np.linalg.norm(moved))

    def _found(self, words: Wording, count: int, scopes: Sequence[Scope]) -> dict[str, float]:
        """BM25 scores by chunk id, best first, of the best chunks for the question and for its synonyms."""
        found = _both([self.sparse.query(words.text, count, scope) for scope in scopes])
        if not words.also:
            return found
        ids = list(dict.fromkeys((*found, *_both([self.sparse.query(words.terms, count, scope) for scope in scopes]))))
        scores = dict(zip(ids, self._bm25(words, ids), strict=True))
        return {i: scores[i] for i in fuse.ranking(scores)}

    def _bm25(self, words: Wording, ids: Sequence[str]) -> list[float]:
        scores = self.sparse.scores(words.text, ids)
        if words.also:
            scores = scores + TERMS_IN_BM25 * self.sparse.scores(words.terms, ids)
        return [float(score) for score in scores]

    def _fuse(
        self,
        words: Wording,
        routes: Sequence[Route],
        scores: dict[str, dict[str, float]],
        chunks: dict[str, Chunk],
    ) -> dict[str, float]:
        if self.mode in ("vector", "bm25"):
            return fuse.stretched(scores[self.mode])
        if self.mode in STRUCTURES:
            return fuse.stretched(scores["structure"])
        scores["vector"] = fuse.spread(scores["vector"], chunks)  # a row has its composite's cosine
        fused = self._convex(words, scores, chunks)
        fused = fuse.connected(fused, scores.get("graph", {}), weight=CONNECTED.get(self.mode, 0.0))
        # The name of a document is no part of a row's, unless nothing else is asked for.
        asked = frozenset(content_stems(f"{words.text} {words.terms}"))
        of_whom = frozenset(content_stems(" ".join(route.name for route in routes)))
        own = frozenset(content_stems(without_dates(words.text))) - of_whom
        return fuse.by_names(fused, chunks, asked - of_whom or asked, own, weight=NAME_WEIGHT)

    def _convex(
        self, words: Wording, scores: Mapping[str, Mapping[str, float]], chunks: Mapping[str, Chunk]
    ) -> dict[str, float]:
        most, alpha = self.sparse.most(words.text), self.settings.retrieve.alpha
        return fuse.convex(fuse.spread(scores["vector"], chunks), scores["bm25"], most=most, alpha=alpha)

    def _penalised(self, fused: Mapping[str, float], chunks: Mapping[str, Chunk]) -> dict[str, float]:
        """``fused`` with lower scores for figure descriptions, which are a model's words, not the document's."""
        factor = 1.0 - FIGURE_PENALTY
        return {i: score * factor if chunks[i].kind == "figure" else score for i, score in fused.items()}


@contextmanager
def timed(timings: dict[str, float], step: str) -> Iterator[None]:
    """Add the time of the block to ``timings[step]``, in milliseconds."""
    started = time.perf_counter()
    try:
        yield
    finally:
        timings[step] = timings.get(step, 0.0) + (time.perf_counter() - started) * 1000.0


def _via(chunk: Chunk, ranks: Mapping[str, Mapping[str, int]], priors: Mapping[str, float]) -> str:
    sides = [side for side in SIDES if chunk.chunk_id in ranks.get(side, {})]
    return "+".join([*sides, *(["table"] if chunk.tiles else []), *(["named"] if chunk.doc_id in priors else [])])


def _both(lists: Sequence[Sequence[tuple[str, float]]]) -> dict[str, float]:
    """Union of the lists, best first."""
    found: dict[str, float] = {}
    for pairs in lists:
        found.update(pairs)
    return {i: found[i] for i in fuse.ranking(found)} if len(lists) > 1 else found


def _ranks(ordered: Sequence[str]) -> dict[str, int]:
    return {chunk_id: rank for rank, chunk_id in enumerate(ordered, start=1)}
