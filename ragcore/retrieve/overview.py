"""Overview of documents: all their passages, or those about a topic → themes → passages and sentences that stand for
each.

A topic is searched for, and the reranker reads the best passages of each document, so that an overview can also say
which documents have nothing on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from ragcore.cancel import Stop
from ragcore.protocols import Embedder, QuestionAnalyser, QuestionWording
from ragcore.retrieve.hybrid import MOST_NAMED, SHOWN_ROUTES, HybridRetriever, timed
from ragcore.retrieve.route import chosen
from ragcore.retrieve.themes import Group, Pool, covering, grouped, labels
from ragcore.text.numbers import plural
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import REPORTING, STOP_WORDS, tokens
from ragcore.types import (
    EVERYTHING,
    Chunk,
    Document,
    Hit,
    Overview,
    Retrieval,
    Route,
    Scope,
    Segment,
    Step,
    SubQuery,
    Theme,
)
from ragcore.types.question import Question
from ragcore.types.table_labels import elements_within

FOUND = 400  # passages found for a topic
READ = 64  # of them that the reranker reads, as many of each document
BATCH = 16  # passages read at once
ABOUT = 0.1  # probability from which a passage is about the topic
COMMON = 0.8  # share of the documents over which a word that they have tells nothing
FAINT = 0.01  # probability under which no passage of a document is
PASSAGES = 6  # of a theme that the writer may read
SENTENCES = 24  # of all themes together
MOST_SENTENCES = 3  # of a theme
PROSE = ("paragraph", "list_item")  # elements that sentences are taken from
NEAREST = 8  # passages of a theme whose sentences may stand for it
LEAST = 1e-6  # difference of cosines that counts
COVERED = 200  # passages of a theme that its sentences are to cover

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Sentence:
    chunk: Chunk
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Material:
    """Passages of an overview, as a ``pool``, what is known of it before its themes, and how many passages were weighed
    and read for it."""

    pool: Pool
    view: Overview
    weighed: int
    read: int = 0


@dataclass
class OverviewRetriever:
    """Search for an `Overview` of the documents that a question names, else of all in scope. ``pool`` gives the
    passages of running text in a scope with their vectors by ``embedder``, ``retriever`` finds those about the topic of
    a question, ``document`` gives a document by its id; ``stop`` ends reading. Hits are best first in turn: the first
    passage of every theme, then the second."""

    retriever: HybridRetriever
    pool: Callable[[Scope], Pool]
    embedder: Embedder
    document: Callable[[str], Document]
    analyser: QuestionAnalyser
    wording: QuestionWording
    stop: Stop = field(default_factory=Stop)

    def asked(self, query: str, scope: Scope) -> bool:
        """Whether ``query`` asks for an overview by itself."""
        return self._read(query, scope)[0].overview

    def _read(self, query: str, scope: Scope) -> tuple[Question, Scope, list[Route]]:
        """The question, the scope that it names, and the documents named. A name that is no document's is a topic."""
        routes = self.retriever.named(self.analyser.read(query), scope, {})
        named = chosen(routes, MOST_NAMED)
        question = self.analyser.read(query, list(dict.fromkeys(route.name for route in routes if route.name)))
        inside = named or (scope.doc_ids if scope.doc_ids is not None and len(scope.doc_ids) <= MOST_NAMED else ())
        called = [route.name for route in routes] + [self.document(doc_id).title for doc_id in inside]
        known = {word for name in called for word in tokens(name)}
        if any(not known.issuperset(tokens(name.text)) for name in question.names):
            question = replace(question, overview=False, topic=question.main)
        return question, replace(scope, doc_ids=tuple(named)) if named else scope, routes

    def retrieve(self, query: str, scope: Scope = EVERYTHING) -> Retrieval:
        """Overview of ``scope``, or of what it has on the topic of ``query``; without hits if that is nothing."""
        question, scope, routes = self._read(query, scope)
        timings: dict[str, float] = {}
        with timed(timings, "vector"):
            pool = self.pool(scope)
        of = _Material(pool, Overview((), len(set(pool.doc_ids))), len(pool.ids))
        if question.topic:
            of = self._about(question.topic, pool, scope, timings)
        self.retriever.on_step(Step("group", SubQuery(query), passages=len(of.pool.ids)))
        with timed(timings, "group"):
            found = self._themes(of.pool, question.topic, scope)
        view = replace(of.view, themes=tuple(theme for theme, _ in found))
        if question.topic:  # a theme may have no sentence that can be read alone
            unsaid = tuple(one for one in dict.fromkeys(of.pool.doc_ids) if one not in view.doc_ids)
            view = replace(view, doubtful=(*unsaid, *view.doubtful))
        turns = [hit for turn in zip_longest(*(hits for _, hits in found)) for hit in turn if hit is not None]
        hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate(turns, start=1))
        segments = [
            Segment(hit.chunk.doc_id, start, end, hit.chunk.index, hit.chunk.index, hit.score, "hit")
            for hit in hits
            for start, end in scope.parts(hit.chunk)
        ]
        themes = plural(len(found), "theme")
        return Retrieval(
            query,
            "overview",
            hits,
            tuple(segments),
            timings,
            tuple(routes[:SHOWN_ROUTES]),
            (SubQuery(query, reason=f"as an overview in {themes}", timings_ms=timings),),
            scope,
            candidates=of.weighed,
            reranked=of.read,
            overview=view,
        )

    def _about(self, topic: str, pool: Pool, scope: Scope, timings: dict[str, float]) -> _Material:
        """Passages of ``pool`` about ``topic``. The reranker reads the text alone: a long title in front of it hides
        what it says. Without a reranker nothing is known to be about it."""
        rows = {chunk_id: row for row, chunk_id in enumerate(pool.ids)}
        ranking = replace(self.retriever, reranker=None).search(topic, top_k=FOUND, scope=scope, timings=timings)
        hits = [hit for hit in ranking.hits if hit.chunk.chunk_id in rows]
        read = _in_turn(hits, lambda hit: hit.chunk.doc_id)[:READ]
        scores: list[float] = []
        if self.retriever.reranker is not None:
            self.retriever.on_step(Step("rerank", SubQuery(topic), passages=len(read)))
            with timed(timings, "rerank"):
                while len(scores) < len(read) and not self.stop.is_set():
                    batch = read[len(scores) : len(scores) + BATCH]
                    scores += self.retriever.reranker.score(topic, [hit.chunk.text for hit in batch]).tolist()
        kept = [rows[hit.chunk.chunk_id] for hit, score in zip(read, scores) if score >= ABOUT]
        about = Pool([pool.ids[row] for row in kept], [pool.doc_ids[row] for row in kept], pool.vectors[kept])
        best: dict[str, float] = {}
        for hit, score in zip(read, scores):
            best[hit.chunk.doc_id] = max(score, best.get(hit.chunk.doc_id, 0.0))
        held = dict.fromkeys([*(hit.chunk.doc_id for hit in hits), *pool.doc_ids])
        others = [one for one in held if one not in about.doc_ids]
        said = self._saying(topic, set(held))
        silent = tuple(one for one in others if best.get(one, 0.0) < FAINT and one not in said)
        doubtful = tuple(sorted((one for one in others if one not in silent), key=lambda one: -best.get(one, 0.0)))
        view = Overview((), len(held), topic, len(best), silent, doubtful)
        return _Material(about, view, ranking.candidates, len(scores))

    def _saying(self, topic: str, doc_ids: set[str]) -> set[str]:
        """Documents with a word of ``topic`` that not nearly all have, in tables too; all if it has no such word."""
        words = set(tokens(topic)) - STOP_WORDS - REPORTING
        having = [doc_ids.intersection(self.retriever.sparse.mentions(word)) for word in words]
        rare = [some for some in having if 0 < len(some) <= COMMON * len(doc_ids)]
        return set[str]().union(*rare) if rare else doc_ids

    def _themes(self, pool: Pool, topic: str, scope: Scope) -> list[tuple[Theme, list[Hit]]]:
        """Themes that have a sentence which can be read alone, each with its hits: those of its sentences, then the
        nearest to its centre."""
        groups = grouped(pool)
        wanted = [pool.ids[row] for group in groups for row in group.seen.tolist()]
        chunks = {chunk.chunk_id: chunk for chunk in self.retriever.chunks(wanted)}
        marks = labels(groups, pool, chunks, self.wording, self.embedder)
        nearest = [self._nearest(group, pool, chunks) for group in groups]
        said = [[one for chunk in own for one in self._sentences(chunk, scope)] for own in nearest]
        vectors = self.embedder.embed_documents([one.text for own in said for one in own])
        about = self.embedder.embed_query(topic) if topic else None
        most = min(MOST_SENTENCES, max(1, SENTENCES // max(len(groups), 1)))
        found: list[tuple[Theme, list[Hit]]] = []
        quoted, last = Counter[str](), 0
        for group, mark, own, passages in zip(groups, marks, said, nearest):
            first, last = last, last + len(own)
            owners, sentences = [one.chunk.doc_id for one in own], vectors[first:last]
            weights = np.array([1.0 / (1.0 + quoted[doc_id]) for doc_id in owners], np.float32)
            if about is not None and own:
                near = sentences @ about
                weights *= (near - near.min()) / max(float(np.ptp(near)), LEAST)
            chosen = covering(sentences, owners, pool.vectors[group.rows[:COVERED]], most, weights)
            digest = [own[one] for one in chosen]
            if not digest:
                continue
            quoted.update({one.chunk.doc_id for one in digest})
            hits = _hits([*(one.chunk for one in digest), *passages], group, pool)
            theme = Theme(
                mark or (_heading(passages) or self.document(digest[0].chunk.doc_id).title,),
                len(group.rows),
                tuple(dict.fromkeys(pool.doc_ids[row] for row in group.rows.tolist())),
                tuple((hit.chunk.doc_id, hit.chunk.start, hit.chunk.end) for hit in hits),
                tuple((one.chunk.doc_id, one.start, one.end) for one in digest),
            )
            found.append((theme, hits))
        return found

    def _nearest(self, group: Group, pool: Pool, chunks: Mapping[str, Chunk]) -> list[Chunk]:
        """At most `NEAREST` passages nearest to the centre of a group, of as many documents as there are."""
        found = [chunks[pool.ids[row]] for row in group.seen.tolist() if pool.ids[row] in chunks]
        return _in_turn(found, lambda chunk: chunk.doc_id)[:NEAREST]

    def _sentences(self, chunk: Chunk, scope: Scope) -> Iterator[_Sentence]:
        """Sentences of prose in ``scope`` that can be read alone."""
        document = self.document(chunk.doc_id)
        for low, high in scope.parts(chunk):
            for element in elements_within(document, low, high):
                if element.kind not in PROSE or element.generated is not None:
                    continue
                paragraph = document.text[element.start : element.end]
                for start, end in sentence_spans(paragraph, element.start):
                    text = " ".join(document.text[start:end].split())
                    if low <= start and end <= high and self.wording.stands_alone(text, paragraph):
                        yield _Sentence(chunk, start, end, text)


def _heading(chunks: Sequence[Chunk]) -> str:
    """Heading of the first of ``chunks`` that has one."""
    return next((chunk.section[-1] for chunk in chunks if chunk.section), "")


def _hits(chunks: Sequence[Chunk], group: Group, pool: Pool) -> list[Hit]:
    """The first `PASSAGES` of ``chunks``, scored by their cosine with the centre of the group."""
    centre = pool.vectors[group.rows].mean(axis=0)
    score = {pool.ids[row]: float(pool.vectors[row] @ centre) for row in group.seen.tolist()}
    first = list({chunk.chunk_id: chunk for chunk in chunks}.values())[:PASSAGES]
    return [Hit(0, one, score[one.chunk_id], {"vector": score[one.chunk_id]}, via="theme") for one in first]


def _in_turn(items: Sequence[T], document: Callable[[T], str]) -> list[T]:
    """``items`` in order, the first of every document before the second of any."""
    nth = Counter[str]()
    turns: list[int] = []
    for item in items:
        turns.append(nth[document(item)])
        nth[document(item)] += 1
    return [items[place] for place in sorted(range(len(items)), key=turns.__getitem__)]
