"""Agentic retrieval by a question and its parts: decompose → search each → (gaps → search each) → merge → rerank
against the question → segments.

A model may provide parts and gaps by filling in `Forms`: two calls at most for the parts and for each look for gaps,
each pair within ``agentic.timeout_seconds``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, TypeVar

import numpy as np
from pydantic import AfterValidator

from ragcore.cancel import Stop
from ragcore.errors import Cancelled, KeyMissing, KeyRefused, ModelError, ModelMissing
from ragcore.model_calls import Filled, Forms, words
from ragcore.prompts import DECOMPOSE_PROMPT, DECOMPOSE_SYSTEM, GAP_PROMPT, GAP_SYSTEM
from ragcore.protocols import LLM, Capabilities, Form
from ragcore.retrieve.fuse import fold, ranking, vote
from ragcore.retrieve.hybrid import MOST_NAMED, SHOWN_ROUTES, HybridRetriever, Ranking, timed
from ragcore.retrieve.route import best_named
from ragcore.retrieve.segments import passages
from ragcore.text.names import words_of
from ragcore.text.sentences import count_tokens
from ragcore.text.words import tokens
from ragcore.types import EVERYTHING, Each, Hit, Retrieval, Route, Scope, Step, SubQuery, Usage
from ragcore.types.question import Question

if TYPE_CHECKING:
    from ragcore.config.settings import AgenticSettings

K = 5  # rank constant of the fusion: small, since a question has few parts and the first hits of each matter most
QUESTION_VOTE = 0.3  # of the reranker on the whole question, beside the merged score
FORM_TOKENS = 600
MOST_PARTS = 3
MOST_GAPS = 2
NEIGHBOURS = 1  # chunks of the same section on either side of a hit outside any segment
HITS_OF_EACH = 5  # of each document that is asked by itself
OWN_NAME = 0.9  # share of the passages with a word that are in the document that it is taken to name
LONGEST_QUERY = 400  # characters
LONGEST_REASON = 300
PASSAGE_TOKENS = 2000  # budget of the best passages, in which the model looks for gaps
LONGEST_QUESTION = 4000  # characters; a longer question is not shown to the model

F = TypeVar("F", bound=Filled)


def may_ask(settings: AgenticSettings, model: Capabilities) -> bool:
    """Whether the ``model`` in force is asked about questions: for the parts of one that may have several, or for gaps
    in what was found."""
    return _decomposes(settings, model) or settings.gaps


def _decomposes(settings: AgenticSettings, model: Capabilities) -> bool:
    return settings.decompose == "auto" and model.tools


@dataclass(frozen=True, slots=True)
class Planned:
    """Queries beside a question, by rules or by a model; ``notes`` say why they are not by the model, or what is not
    asked; ``each`` is what documents are asked one by one, of ``among`` that it asks about; ``left`` are not asked."""

    queries: Sequence[SubQuery]
    notes: tuple[str, ...] = ()
    each: Each | None = None
    among: int = 0
    left: int = 0


@dataclass
class AgenticRetriever:
    """Search for the hits and segments of a question and its parts: it merges the results of a `HybridRetriever`.

    The parts are those that the question is read as, or that ``planner`` makes of a question that may have several;
    with ``agentic.gaps`` it also reads what was found and asks for what is missing. A question of one part without gaps
    has exactly the hits of the `HybridRetriever`. Given ``parts`` (not None) replace all of this, each as long as a
    question may be. Raises `KeyMissing`, `KeyRefused` and `ModelMissing`; a form that is invalid or late is reported in
    ``Retrieval.notes``. ``stop`` ends calls to the model; the question itself is then still searched for.
    """

    retriever: HybridRetriever
    planner: LLM | None = None
    stop: Stop = field(default_factory=Stop)
    parts: Sequence[SubQuery] | None = None

    def retrieve(self, query: str, *, top_k: int, scope: Scope = EVERYTHING) -> Retrieval:
        """Best ``top_k`` chunks for ``query`` and its parts in ``scope``, and the segments around them; `HITS_OF_EACH`
        for each document that is asked by itself, if those are more."""
        question, settings = self.retriever.read(query), self.retriever.settings
        forms = None
        if self.planner is not None and self.parts is None:
            seconds = settings.agentic.timeout_seconds
            forms = Forms(self.planner, self.stop, max_tokens=FORM_TOKENS, timeout_seconds=seconds)
        timings: dict[str, float] = {}
        asked: list[SubQuery] = []
        rankings: list[Ranking] = []

        def search(one: SubQuery) -> None:
            if rankings and self.stop.is_set():
                return
            spent: dict[str, float] = {}
            inside = replace(scope, doc_ids=(one.doc_id,)) if one.doc_id else scope
            rankings.append(self.retriever.search(one.text, top_k=top_k, scope=inside, timings=spent, asked=one))
            asked.append(replace(rankings[-1].asked, timings_ms=spent))
            for step, ms in spent.items():
                timings[step] = timings.get(step, 0.0) + ms

        decomposes = forms is not None and _decomposes(settings.agentic, forms.planner.capabilities)
        if forms is not None and decomposes and question.composed and not self.stop.is_set():
            # The model works in parallel with the search for the question itself.
            self.retriever.on_step(Step("plan", SubQuery(query)))
            with ThreadPoolExecutor(1, thread_name_prefix="plan") as pool:
                planning = pool.submit(planned, forms, question, timings)
                try:
                    search(SubQuery(query))
                    plan = planning.result()
                except BaseException:
                    self.stop.set()
                    raise
        else:
            search(SubQuery(query))
            plan = Planned(self.parts or ())
            if self.parts is None and settings.agentic.decompose != "off":
                plan = Planned(question.parts) if question.parts else self._of_each(query, scope, rankings[0])
        for part in _new(plan.queries, asked):
            search(part)
        notes = plan.notes
        if forms is not None and settings.agentic.gaps:
            for _ in range(settings.agentic.max_iterations):
                self.retriever.on_step(Step("gap", SubQuery(query)))
                with timed(timings, "gaps"):
                    gaps = missing(forms, question, asked, merged(rankings, top_k), scope)
                notes += gaps.notes
                further = _new(gaps.queries, asked)
                for one in further:
                    search(one)
                if not further:
                    break

        hits = merged(rankings, max(top_k, HITS_OF_EACH * sum(bool(one.doc_id) for one in asked)))
        reranked = 0
        if len(rankings) > 1:
            hits, reranked = self._reranked(query, hits, timings)
        kept = {hit.chunk.chunk_id for hit in hits}
        found = [[hit for hit in of.hits if hit.chunk.chunk_id in kept] for of in rankings]
        with timed(timings, "rse"):
            segments = passages(
                [of for of in found if of],
                self.retriever.chunks,
                settings.rse,
                reach=NEIGHBOURS,
                order=hits,
                scope=scope,
            )
        paths = self.retriever.paths(segments, rankings, scope, timings)
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
            notes=notes,
            usage=forms.usage if forms is not None else Usage(),
            cost_usd=forms.cost(settings.llm.prices) if forms is not None else 0.0,
            paths=paths,
            each=plan.each,
            among=plan.among,
            left=plan.left,
        )

    def _of_each(self, query: str, scope: Scope, first: Ranking) -> Planned:
        """What ``query`` asks of each of several documents: those that it names, else the nearest of all in ``scope``,
        or those with the words that it asks for."""
        if self.retriever.names is None:
            return Planned(())
        named = self._titled(query, scope) | best_named(first.routes)
        each = self.retriever.read(query, list(dict.fromkeys(named.values()))).each
        if each is None or (named and not (each.named or each.within or each.words)):
            return Planned(())
        every = sorted(named, key=lambda one: query.find(named[one]))  # one name may be that of several
        if not (each.named or each.within):
            every = list(self.retriever.names.doc_ids if scope.doc_ids is None else scope.doc_ids)
        if each.words:
            counts = {words: self.retriever.sparse.mentions(words) for words in each.words}
            # Of "simulation or model" that which most documents have tells them apart no more.
            rare = [words for words, of in counts.items() if 2 * len(of.keys() & set(every)) <= len(every)]
            each = replace(each, words=tuple(rare) or each.words)
            having = Counter[str]()
            for words in each.words:
                having.update(counts[words])
            asked = [one for one, _ in having.most_common() if one in every]
        else:
            found = dict.fromkeys(hit.chunk.doc_id for hit in first.hits)
            asked = every if each.named else [one for one in dict.fromkeys((*found, *every)) if one in every]
        if len(every) < 2:
            return Planned(())
        asked, left = asked[:MOST_NAMED], len(asked[MOST_NAMED:])
        own, reason = dict(each.own), f"asked of each of {len(asked)} documents"
        parts = [SubQuery(own.get(named.get(one, ""), each.text), "rules", reason, doc_id=one) for one in asked]
        told = f"Asked of the {len(asked)} documents nearest to the question; {left} more were not asked."
        return Planned(parts, (told,) if left else (), each if parts else None, len(every), left)

    def _titled(self, query: str, scope: Scope) -> dict[str, str]:
        """Documents with a word of ``query`` in their title that nearly no other has, such as the name of a trial."""
        titles = self.retriever.names.titles if self.retriever.names is not None else {}
        found = dict[str, str]()
        for word in words_of(query):
            name = query[word.start : word.end - 2 * word.possessive]
            of = self.retriever.sparse.mentions(name) if word.marked and not word.number else {}
            inside = {doc_id: count for doc_id, count in of.items() if scope.holds(doc_id)}
            most = max(inside, key=lambda doc_id: inside[doc_id], default="")
            own = most and inside[most] >= OWN_NAME * sum(inside.values())
            if own and word.plain in {one.plain for one in words_of(titles.get(most, ""))}:
                found[most] = name
        return found

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


def _count(least: int, most: int) -> AfterValidator:
    def check(items: list[Asked]) -> list[Asked]:
        if not least <= len(items) <= most:
            raise ValueError(f"must have {least} to {most} items")
        return items

    return AfterValidator(check)


class Parts(Filled):
    sub_queries: Annotated[list[Asked], _count(1, MOST_PARTS)]


class Gaps(Filled):
    missing: Annotated[list[Asked], _count(0, MOST_GAPS)]


_PARTS = Form("search_for", "Search the documents for the parts of the question.", Parts.model_json_schema())
_GAPS = Form("search_further", "Search the documents for what is completely missing.", Gaps.model_json_schema())


def planned(forms: Forms, question: Question, timings: dict[str, float]) -> Planned:
    """Parts by a model; those of the rules, with a note, if it is unreachable or its form unusable; none if it was
    stopped."""
    prompt = DECOMPOSE_PROMPT.format(question=json.dumps(question.text, ensure_ascii=False))
    with timed(timings, "plan"):
        filled, note = _filled(forms, question, _PARTS, Parts, DECOMPOSE_SYSTEM, prompt, "decomposition")
    if note:
        instead = "split by rules" if question.parts else "searched as a whole"
        return Planned(question.parts, (f"{note} The question was {instead} instead.",))
    return Planned([SubQuery(item.query, "model", item.reason) for item in filled.sub_queries] if filled else ())


def missing(
    forms: Forms, question: Question, asked: Sequence[SubQuery], hits: Sequence[Hit], scope: Scope = EVERYTHING
) -> Planned:
    """Queries by a model for what is completely missing from the best of ``hits``, which were found for ``asked`` and
    of which it reads what is in ``scope``; none, with a note, if it is unreachable or its form unusable."""
    cut = [replace(hit, chunk=scope.cut(hit.chunk)) for hit in hits]
    searched = [query.text for query in asked]
    about = {"question": question.text, "searched_for": searched, "passages": excerpts(cut, PASSAGE_TOKENS)}
    prompt = GAP_PROMPT.format(about=json.dumps(about, ensure_ascii=False))
    filled, note = _filled(forms, question, _GAPS, Gaps, GAP_SYSTEM, prompt, "search for gaps")
    queries = [SubQuery(item.query, "gap", item.reason) for item in filled.missing] if filled else ()
    return Planned(queries, (note,) if note else ())


def _filled(
    forms: Forms, question: Question, form: Form, kind: type[F], system: str, prompt: str, what: str
) -> tuple[F | None, str]:
    """Form filled in by the model, and a note of why it is unusable; None and no note if it was stopped."""
    try:
        if len(question.text) > LONGEST_QUESTION:
            raise ModelError(f"the question has more than {LONGEST_QUESTION} characters")
        return forms.fill(form, kind, system, prompt), ""
    except Cancelled:
        return None, ""
    except (KeyMissing, KeyRefused, ModelMissing):
        raise  # an error of the settings, for which nothing is a substitute
    except ModelError as error:
        return None, f"{forms.planner.name}'s {what} could not be used: {error.message.rstrip('.')}."


def excerpts(hits: Sequence[Hit], most: int) -> list[str]:
    """Passages of the best of ``hits`` that fit ``most`` tokens as JSON; the last is cut."""
    out: list[str] = []
    for hit in hits:
        text = hit.chunk.passage
        while text and count_tokens(json.dumps([*out, text], ensure_ascii=False)) > most:
            text = text[: len(text) * 9 // 10]
        if text.strip():
            out.append(text)
        if text != hit.chunk.passage:
            break
    return out


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
    """Queries whose words differ from those of all earlier ones, or are asked of another document."""
    known, out = {(one.doc_id, *tokens(one.text)) for one in asked}, []
    for query in queries:
        said = (query.doc_id, *tokens(query.text))
        if len(said) > 1 and said not in known:
            known.add(said)
            out.append(query)
    return out


def _routes(rankings: Sequence[Ranking]) -> list[Route]:
    """Documents named by any of the queries, each with its best prior."""
    best: dict[str, Route] = {}
    for of in rankings:
        for route in of.routes:
            if route.doc_id not in best or route.prior > best[route.doc_id].prior:
                best[route.doc_id] = route
    return sorted(best.values(), key=lambda route: -route.prior)
