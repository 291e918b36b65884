"""Agentic retrieval by a question and its parts: decompose → search each → (gaps → search each) → merge → rerank
against the question → segments.

A model may provide parts and gaps by filling in `Forms`. The cost of a retrieval is bounded: two calls for the parts
and two for each search for gaps, each with a prompt and a form of limited length, and each pair within
``agentic.timeout_seconds``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, TypeVar

import numpy as np
from pydantic import AfterValidator

from ragcore.cancel import Stop
from ragcore.errors import Cancelled, ConfigError, KeyMissing, KeyRefused, ModelError, ModelMissing
from ragcore.model_calls import Filled, Forms, words
from ragcore.prompts import DECOMPOSE_PROMPT, DECOMPOSE_SYSTEM, GAP_PROMPT, GAP_SYSTEM
from ragcore.protocols import LLM, Capabilities, Form
from ragcore.retrieve.fuse import fold, ranking, vote
from ragcore.retrieve.hybrid import SHOWN_ROUTES, HybridRetriever, Ranking, timed
from ragcore.text.sentences import count_tokens
from ragcore.text.words import tokens
from ragcore.types import EVERYTHING, Hit, Retrieval, Route, Scope, Step, SubQuery, Usage
from ragcore.types.question import Question
from ragcore.types.spending import Prices

if TYPE_CHECKING:
    from ragcore.config.settings import AgenticSettings

K = 5  # rank constant of the fusion: small, since a question has few parts and the first hits of each matter most
QUESTION_VOTE = 0.3  # of the reranker on the whole question, beside the merged score
FORM_TOKENS = 600
MOST_PARTS = 3
MOST_GAPS = 2
LONGEST_QUERY = 400  # characters
LONGEST_REASON = 300
PASSAGE_TOKENS = 2000  # budget of the best passages, from which the model derives gaps
LONGEST_QUESTION = 1000  # tokens; a longer question is not shown to the model

F = TypeVar("F", bound=Filled)


def may_ask(settings: AgenticSettings, model: Capabilities) -> bool:
    """Whether ``settings`` permit calls to the ``model`` in force."""
    by_itself = settings.decompose == "auto" and model.tools
    return by_itself or settings.decompose == "model" or settings.gaps


@dataclass
class AgenticRetriever:
    """`Retriever` that searches for a question and its parts with a `HybridRetriever` and merges the results.

    The parts are those that the question is read as, or come from ``planner``, the model in force (None: there is
    none), according to ``agentic.decompose``; with ``agentic.gaps`` the planner also reads the results and requests
    what is missing. A question of one part gives exactly the result of the `HybridRetriever`. Given ``parts`` (not
    None) replace all of this: they are searched for beside the question, each as long as a question may be, and no
    others are requested. Raises `ConfigError` if the settings require a model and there is none, and what `Plans`
    raises; a form that is invalid or late is reported in ``Retrieval.notes``. ``stop`` ends calls to the model; the
    question itself is then still searched for.
    """

    retriever: HybridRetriever
    planner: LLM | None = None
    stop: Stop = field(default_factory=Stop)
    parts: Sequence[SubQuery] | None = None

    def __post_init__(self) -> None:
        self._settings = agentic = self.retriever.settings.agentic
        wanted = 'agentic.decompose = "model"' if agentic.decompose == "model" else "agentic.gaps = true"
        if self.parts is None and self.planner is None and (agentic.decompose == "model" or agentic.gaps):
            raise ConfigError(
                f"{wanted} needs a model, and none is set.",
                hint='Set ANTHROPIC_API_KEY, or agentic.decompose = "auto" and agentic.gaps = false.',
            )

    def retrieve(self, query: str, *, top_k: int, scope: Scope = EVERYTHING) -> Retrieval:
        """Best ``top_k`` chunks for ``query`` and its parts in ``scope``, and the segments around them."""
        question = self.retriever.read(query)
        plans = None
        if self.parts is None and self.planner is not None:
            plans = Plans(self.planner, self._settings, self.stop)
        timings: dict[str, float] = {}
        asked = [SubQuery(query)]
        rankings: list[Ranking] = []

        def search(new: Sequence[SubQuery]) -> None:
            for one in new:
                if rankings and self.stop.is_set():
                    return
                spent: dict[str, float] = {}
                rankings.append(self.retriever.search(one.text, top_k=top_k, scope=scope, timings=spent, asked=one))
                asked[len(rankings) - 1 :] = [replace(rankings[-1].asked, timings_ms=spent)]
                for step, ms in spent.items():
                    timings[step] = timings.get(step, 0.0) + ms

        if plans is not None and self._asks(plans, question):
            # The model works in parallel with the search for the question itself.
            self.retriever.on_step(Step("plan", asked[0]))
            with ThreadPoolExecutor(1, thread_name_prefix="plan") as pool:
                planning = pool.submit(_by_model, plans, question, timings)
                try:
                    search(asked[:1])
                    made = planning.result()
                except BaseException:
                    self.stop.set()
                    raise
        else:
            search(asked[:1])
            by_rules = question.parts if self._settings.decompose in ("auto", "rules") else ()
            made = by_rules if self.parts is None else self.parts
        search(_new(made, asked))
        if plans is not None and self._settings.gaps:
            search(self._missing(plans, query, asked, merged(rankings, top_k), timings))

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
            notes=tuple(plans.notes) if plans else (),
            usage=plans.usage if plans else Usage(),
            cost_usd=plans.cost(self.retriever.settings.llm.prices) if plans else 0.0,
        )

    def _asks(self, plans: Plans, question: Question) -> bool:
        """Whether to ask the model for the parts of ``question``."""
        wanted = self._settings.decompose
        may = wanted == "model" or (wanted == "auto" and plans.capabilities.tools and question.composed)
        return may and not self.stop.is_set()

    def _missing(
        self, plans: Plans, query: str, asked: Sequence[SubQuery], hits: Sequence[Hit], timings: dict[str, float]
    ) -> list[SubQuery]:
        if self.stop.is_set():
            return []
        self.retriever.on_step(Step("gap", asked[0], passages=len(hits)))
        try:
            with timed(timings, "gaps"):
                missing = plans.gaps(query, asked, hits)
        except Cancelled:
            return []
        return _new(missing or (), asked)

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


def _by_model(plans: Plans, question: Question, timings: dict[str, float]) -> Sequence[SubQuery]:
    """Sub-queries of the model; those of the rules, with a note, if its form is unusable."""
    try:
        with timed(timings, "plan"):
            parts = plans.parts(question.text)
    except Cancelled:
        return ()
    if parts is None:
        plans.notes[-1] += f" The question was {'split by rules' if question.parts else 'searched as a whole'} instead."
    return question.parts if parts is None else parts


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


def _new(queries: Sequence[SubQuery], asked: Sequence[SubQuery]) -> list[SubQuery]:
    """Queries whose words differ from all earlier ones."""
    known = {tuple(tokens(one.text)) for one in asked}
    out = []
    for one in queries:
        words = tuple(tokens(one.text))
        if words and words not in known:
            known.add(words)
            out.append(one)
    return out


def _routes(rankings: Sequence[Ranking]) -> list[Route]:
    """Documents named by any of the queries, each with its best prior."""
    best: dict[str, Route] = {}
    for of in rankings:
        for route in of.routes:
            if route.doc_id not in best or route.prior > best[route.doc_id].prior:
                best[route.doc_id] = route
    return sorted(best.values(), key=lambda route: -route.prior)


def _at_most(least: int, most: int) -> AfterValidator:
    def check(items: list[Asked]) -> list[Asked]:
        if not least <= len(items) <= most:
            raise ValueError(f"must have {least} to {most} items")
        return items

    return AfterValidator(check)


class Asked(Filled):
    query: Annotated[str, words(LONGEST_QUERY)]
    reason: Annotated[str, words(LONGEST_REASON)]


class Parts(Filled):
    sub_queries: Annotated[list[Asked], _at_most(1, MOST_PARTS)]


class Gaps(Filled):
    missing: Annotated[list[Asked], _at_most(0, MOST_GAPS)]


_PARTS = Form("search_for", "Search the documents for the parts of the question.", Parts.model_json_schema())
_GAPS = Form("search_further", "Search the documents for what is completely missing.", Gaps.model_json_schema())


class Plans:
    """Calls of one retrieval to ``planner``. ``usage`` and ``model`` record the totals, ``notes`` what was unusable.
    Every call ends soon after ``stop`` is set.

    Raises `KeyMissing`, `KeyRefused` and `ModelMissing`, which the user has to resolve, and `Cancelled`.
    """

    def __init__(self, planner: LLM, settings: AgenticSettings, stop: Stop) -> None:
        self.notes: list[str] = []
        self.capabilities = planner.capabilities
        self._name = planner.name
        self._settings = settings
        self._forms = Forms(
            planner, stop, max_tokens=FORM_TOKENS, timeout_seconds=settings.timeout_seconds, purpose="plan"
        )

    def parts(self, question: str) -> list[SubQuery] | None:
        """Sub-queries of the model for ``question``, none if it has one part; None if the model was unreachable or its
        form unusable."""
        prompt = DECOMPOSE_PROMPT.format(question=json.dumps(question, ensure_ascii=False))
        filled = self._filled(question, _PARTS, Parts, DECOMPOSE_SYSTEM, prompt, "decomposition")
        return None if filled is None else [SubQuery(item.query, "model", item.reason) for item in filled.sub_queries]

    def gaps(self, question: str, asked: Sequence[SubQuery], hits: Sequence[Hit]) -> list[SubQuery] | None:
        """Queries for information missing from the best of ``hits``; None if the model's form is unusable."""
        about = {
            "question": question,
            "searched_for": [query.text for query in asked],
            "passages": excerpts(hits, PASSAGE_TOKENS),
        }
        prompt = GAP_PROMPT.format(about=json.dumps(about, ensure_ascii=False, indent=1))
        filled = self._filled(question, _GAPS, Gaps, GAP_SYSTEM, prompt, "search for gaps")
        return None if filled is None else [SubQuery(item.query, "gap", item.reason) for item in filled.missing]

    def _filled(self, question: str, form: Form, kind: type[F], system: str, prompt: str, what: str) -> F | None:
        try:
            if count_tokens(question) > LONGEST_QUESTION:
                raise ModelError(f"the question has more than {LONGEST_QUESTION} tokens")
            return self._forms.fill(form, kind, system, prompt)
        except (KeyMissing, KeyRefused, ModelMissing):
            # An error of the settings, for which no other search is a substitute.
            raise
        except ModelError as error:
            self.notes.append(f"{self._name}'s {what} could not be used: {error.message.rstrip('.')}.")
            return None

    @property
    def usage(self) -> Usage:
        return self._forms.usage

    def cost(self, prices: Prices) -> float | None:
        """US dollars so far; None if the model has no price."""
        return self._forms.cost(prices)


def excerpts(hits: Sequence[Hit], most: int) -> list[str]:
    """Passages of the best of ``hits`` that fit ``most`` tokens as JSON; the last is truncated."""
    out: list[str] = []
    for hit in hits:
        text, cost = hit.chunk.passage, 0
        while text and (cost := count_tokens(json.dumps(text, ensure_ascii=False)) + 2) > most:
            text = text[: len(text) * 9 // 10]
        if not text.strip():
            break
        out.append(text)
        most -= cost
    return out
