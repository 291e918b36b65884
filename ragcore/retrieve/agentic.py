"""Agentic retrieval by a question and its parts: decompose → search each → merge → rerank against the question →
segments.

A model may provide the parts by filling in `Forms`: two calls at most, within ``agentic.timeout_seconds``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import AfterValidator

from ragcore.cancel import Stop
from ragcore.errors import Cancelled, KeyMissing, KeyRefused, ModelError, ModelMissing
from ragcore.model_calls import Filled, Forms, words
from ragcore.prompts import DECOMPOSE_PROMPT, DECOMPOSE_SYSTEM
from ragcore.protocols import LLM, Capabilities, Form
from ragcore.retrieve.fuse import fold, ranking, vote
from ragcore.retrieve.hybrid import SHOWN_ROUTES, HybridRetriever, Ranking, timed
from ragcore.text.words import tokens
from ragcore.types import EVERYTHING, Hit, Retrieval, Route, Scope, Step, SubQuery, Usage
from ragcore.types.question import Question

if TYPE_CHECKING:
    from ragcore.config.settings import AgenticSettings, Settings

K = 5  # rank constant of the fusion: small, since a question has few parts and the first hits of each matter most
QUESTION_VOTE = 0.3  # of the reranker on the whole question, beside the merged score
FORM_TOKENS = 600
MOST_PARTS = 3
LONGEST_QUERY = 400  # characters
LONGEST_REASON = 300
LONGEST_QUESTION = 4000  # characters; a longer question is not shown to the model


def may_ask(settings: AgenticSettings, model: Capabilities) -> bool:
    """Whether the ``model`` in force makes the parts of questions that may have several."""
    return settings.decompose == "auto" and model.tools


@dataclass(frozen=True, slots=True)
class Planned:
    """Parts of a question, by rules or by a model; ``notes`` say why it is not by the model."""

    parts: Sequence[SubQuery]
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    ms: float = 0.0


@dataclass
class AgenticRetriever:
    """`Retriever` that searches for a question and its parts with a `HybridRetriever` and merges the results.

    The parts are those that the question is read as, or that ``planner`` makes of a question that may have several. A
    question of one part gives exactly the result of the `HybridRetriever`. Given ``parts`` (not None) replace all of
    this, each as long as a question may be. Raises `KeyMissing`, `KeyRefused` and `ModelMissing`; a form that is
    invalid or late is reported in ``Retrieval.notes``. ``stop`` ends the planning; the question itself is then still
    searched for.
    """

    retriever: HybridRetriever
    planner: LLM | None = None
    stop: Stop = field(default_factory=Stop)
    parts: Sequence[SubQuery] | None = None

    def retrieve(self, query: str, *, top_k: int, scope: Scope = EVERYTHING) -> Retrieval:
        """Best ``top_k`` chunks for ``query`` and its parts in ``scope``, and the segments around them."""
        question = self.retriever.read(query)
        timings: dict[str, float] = {}
        asked: list[SubQuery] = []
        rankings: list[Ranking] = []

        def search(one: SubQuery) -> None:
            spent: dict[str, float] = {}
            rankings.append(self.retriever.search(one.text, top_k=top_k, scope=scope, timings=spent, asked=one))
            asked.append(replace(rankings[-1].asked, timings_ms=spent))
            for step, ms in spent.items():
                timings[step] = timings.get(step, 0.0) + ms

        if self.planner is not None and self.parts is None and question.composed and not self.stop.is_set():
            # The model works in parallel with the search for the question itself.
            self.retriever.on_step(Step("plan", SubQuery(query)))
            with ThreadPoolExecutor(1, thread_name_prefix="plan") as pool:
                planning = pool.submit(planned, self.planner, question, self.retriever.settings, self.stop)
                try:
                    search(SubQuery(query))
                    plan = planning.result()
                    timings["plan"] = plan.ms
                except BaseException:
                    self.stop.set()
                    raise
        else:
            search(SubQuery(query))
            by_rules = question.parts if self.retriever.settings.agentic.decompose != "off" else ()
            plan = Planned(by_rules if self.parts is None else self.parts)
        for part in _new(plan.parts, query):
            if not self.stop.is_set():
                search(part)

        hits = merged(rankings, top_k)
        reranked = 0
        if len(rankings) > 1:
            hits, reranked = self._reranked(query, hits, timings)
        kept = {hit.chunk.chunk_id for hit in hits}
        found = [[hit for hit in of.hits if hit.chunk.chunk_id in kept] for of in rankings]
        with timed(timings, "rse"):
            segments = self.retriever.segments([of for of in found if of], hits)
        return Retrieval(
            query,
            self.retriever.mode,
            hits,
            tuple(segments),
            timings,
            tuple(_routes(rankings)[:SHOWN_ROUTES]),
            tuple(asked),
            scope,
            candidates=sum(of.candidates for of in rankings),
            reranked=reranked + sum(of.reranked for of in rankings),
            notes=plan.notes,
            usage=plan.usage,
            cost_usd=plan.cost_usd,
        )

    def _reranked(self, query: str, hits: Sequence[Hit], timings: dict[str, float]) -> tuple[tuple[Hit, ...], int]:
        """``hits`` ordered by merged score and the reranker's vote on the whole question, and the number of passages it
        read."""
        reranker = self.retriever.reranker
        if reranker is None or not hits:
            return tuple(hits), 0
        known = {hit.chunk.chunk_id: hit.scores["question"] for hit in hits if "question" in hit.scores}
        unread = [hit for hit in hits if hit.chunk.chunk_id not in known]
        self.retriever.on_step(Step("rerank", SubQuery(query), passages=len(unread)))
        with timed(timings, "rerank"):
            texts = [hit.chunk.passage for hit in unread]
            read = reranker.score(query, texts) if texts else np.zeros(0)
        known |= {hit.chunk.chunk_id: score for hit, score in zip(unread, read.tolist())}
        final = vote({hit.chunk.chunk_id: hit.score for hit in hits}, known, weight=QUESTION_VOTE)
        by_id = {hit.chunk.chunk_id: hit for hit in hits}
        ordered = tuple(
            replace(
                by_id[chunk_id],
                rank=rank,
                score=final[chunk_id],
                scores={**by_id[chunk_id].scores, **({"question": known[chunk_id]} if chunk_id in known else {})},
            )
            for rank, chunk_id in enumerate(ranking(final), start=1)
        )
        return ordered, len(unread)


class Asked(Filled):
    query: Annotated[str, words(LONGEST_QUERY)]
    reason: Annotated[str, words(LONGEST_REASON)]


def _few(items: list[Asked]) -> list[Asked]:
    if not 1 <= len(items) <= MOST_PARTS:
        raise ValueError(f"must have 1 to {MOST_PARTS} items")
    return items


class Parts(Filled):
    sub_queries: Annotated[list[Asked], AfterValidator(_few)]


_FORM = Form("search_for", "Search the documents for the parts of the question.", Parts.model_json_schema())


def planned(planner: LLM, question: Question, settings: Settings, stop: Stop) -> Planned:
    """Parts by ``planner``; those of the rules, with a note, if it is unreachable or its form unusable; none if it was
    stopped."""
    parts, notes = question.parts, tuple[str, ...]()
    forms = Forms(planner, stop, max_tokens=FORM_TOKENS, timeout_seconds=settings.agentic.timeout_seconds)
    prompt = DECOMPOSE_PROMPT.format(question=json.dumps(question.text, ensure_ascii=False))
    started = time.perf_counter()
    try:
        if len(question.text) > LONGEST_QUESTION:
            raise ModelError(f"the question has more than {LONGEST_QUESTION} characters")
        filled = forms.fill(_FORM, Parts, DECOMPOSE_SYSTEM, prompt)
        parts = tuple(SubQuery(item.query, "model", item.reason) for item in filled.sub_queries)
    except Cancelled:
        parts = ()
    except (KeyMissing, KeyRefused, ModelMissing):
        raise  # an error of the settings, for which the rules are no substitute
    except ModelError as error:
        why, instead = error.message.rstrip("."), "split by rules" if parts else "searched as a whole"
        notes = (f"{planner.name}'s decomposition could not be used: {why}. The question was {instead} instead.",)
    ms = (time.perf_counter() - started) * 1000.0
    return Planned(parts, notes, forms.usage, forms.cost(settings.llm.prices), ms)


def merged(rankings: Sequence[Ranking], most: int) -> tuple[Hit, ...]:
    """Merged hits of several queries: each chunk once, scored by its mean reciprocal rank ``(K + 1) / (K + rank)`` over
    all queries, 0 if a query has not found it, so that the best of each part and hits of several queries come first
    (reciprocal rank fusion; Cormack, Clarke, Büttcher 2009, with a smaller ``K``). Other scores are those of the
    chunk's best query; ``question`` is the reranker's score for the first query. Rows are folded into a composite found
    by another query. A single ranking is unchanged."""
    if len(rankings) == 1:
        return rankings[0].hits
    best: dict[str, Hit] = {}
    found_by: dict[str, list[int]] = {}
    shares: dict[str, float] = {}
    whole = {hit.chunk.chunk_id: hit.scores["rerank"] for hit in rankings[0].hits if "rerank" in hit.scores}
    for number, of in enumerate(rankings, start=1):
        for hit in of.hits:
            chunk_id = hit.chunk.chunk_id
            found_by.setdefault(chunk_id, []).append(number)
            shares[chunk_id] = shares.get(chunk_id, 0.0) + (K + 1) / (K + hit.rank) / len(rankings)
            if chunk_id not in best or hit.score > best[chunk_id].score:
                best[chunk_id] = hit
    folded = fold(shares, {i: hit.chunk for i, hit in best.items()})
    hits = []
    for rank, chunk_id in enumerate(ranking(folded.scores)[:most], start=1):
        hit = best[chunk_id]
        scores = {**hit.scores, **({"question": whole[chunk_id]} if chunk_id in whole else {})}
        numbers = {number for i in (chunk_id, folded.best.get(chunk_id, chunk_id)) for number in found_by[i]}
        score = min(1.0, folded.scores[chunk_id])
        hits.append(replace(hit, rank=rank, score=score, scores=scores, queries=tuple(sorted(numbers))))
    return tuple(hits)


def _new(parts: Sequence[SubQuery], query: str) -> list[SubQuery]:
    """Parts whose words differ from those of the question and of all earlier parts."""
    known, out = {(), tuple(tokens(query))}, []
    for part in parts:
        said = tuple(tokens(part.text))
        if said not in known:
            known.add(said)
            out.append(part)
    return out


def _routes(rankings: Sequence[Ranking]) -> list[Route]:
    """Documents named by any of the queries, each with its best prior."""
    best: dict[str, Route] = {}
    for of in rankings:
        for route in of.routes:
            if route.doc_id not in best or route.prior > best[route.doc_id].prior:
                best[route.doc_id] = route
    return sorted(best.values(), key=lambda route: -route.prior)
