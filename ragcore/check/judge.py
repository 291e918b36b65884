"""LLM judge of a check: a model's verdict on each sentence, by the passages nearest to it.

It reads what the rules read and fills in one form for each sentence: a verdict, the passages that decide, words that
are wrong with the document's in their place, and words that nothing covers. It cites only what it was given, and quotes
the draft and the passages letter by letter. A contradiction, and what is said of quotations, stays; the model confirms
a sentence only where no exact check (figures, units, periods, names, codes) is against it in the passages it names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import ValidationError, ValidationInfo, model_validator

from ragcore.answer.render import neutralise
from ragcore.check.sentences import Checkable, scaled
from ragcore.check.verdict import Checker
from ragcore.model_calls import FINER, Filled, ModelCalls, as_material, most_tokens, told, words
from ragcore.prompts import CHECK_PROMPT, CHECK_SYSTEM, FORM_AGAIN
from ragcore.protocols import Form, Message, ModelRequest
from ragcore.text.sentences import count_tokens
from ragcore.types import Citation, Usage
from ragcore.types.check import CheckedSentence, Correction, SecondOpinion
from ragcore.verify.judge import as_evidence

REASON, WORDS = 300, 400  # characters of a reason, and of words that are quoted
NEAREST = 24  # candidates that it is given, within
PASSAGES, WRITTEN = 1600, 500  # tokens of passages, which are never cut, and of a form
MOST = 6  # corrections, and parts that aren't covered
_PROBLEM = 300  # characters of what is said of a form
_FRAME = 8  # tokens around a passage
_NO_PROBLEM = {"confirmed", "no_claim"}


class Wrong(Filled):
    said: Annotated[str, words(WORDS)]
    found: Annotated[str, words(WORDS)]


class Verdict(Filled):
    verdict: Literal["confirmed", "contradicted", "partly", "not_found", "no_claim"]
    passages: list[int]
    wrong: list[Wrong]
    missing: list[Annotated[str, words(WORDS)]]
    reason: Annotated[str, words(REASON)]

    @model_validator(mode="after")
    def _as_given(self, info: ValidationInfo) -> Verdict:
        sentence, passages = (info.context or {})["sentence"], (info.context or {})["passages"]
        if not set(self.passages) <= set(range(1, len(passages) + 1)):
            raise ValueError(f"passages must be numbers from 1 to {len(passages)}")
        if not self.passages and self.verdict in ("confirmed", "contradicted", "partly"):
            raise ValueError("passages must name those that decide")
        for one in [*(each.said for each in self.wrong), *self.missing]:
            if len(places(one, sentence)) != 1:
                raise ValueError(f"“{one}” is not in the sentence, letter by letter and once")
        for each in self.wrong:
            if not any(places(each.found, passages[number - 1]) for number in self.passages):
                raise ValueError(f"“{each.found}” is not in the passages that are named, letter by letter")
        return self


_FORM = Form("give_verdict", "Say what the passages say of the sentence.", Verdict.model_json_schema())


def most(sentences: Collection[Checkable]) -> Usage:
    """Upper bound of the tokens of requests about ``sentences``, with room for one form that is filled in twice."""
    each = []
    for one in sentences:
        bound = most_tokens(Asked(one, (), ()).request())
        passages = math.ceil((PASSAGES + NEAREST * _FRAME) * FINER)
        each.append(replace(bound, input_tokens=bound.input_tokens + passages))
    return sum((*each, *sorted(each, key=lambda one: one.input_tokens)[-1:]), Usage())


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model is asked about a ``sentence``: the ``passages`` as numbered, each with where it stands."""

    sentence: Checkable
    passages: tuple[Citation, ...]
    shown: tuple[dict[str, str], ...]

    def request(self, problem: str = "") -> ModelRequest:
        """Request for the form; the second time with the ``problem`` of the first."""
        one = self.sentence
        about = {
            "headings": neutralise(" > ".join(one.headings)),
            "row and column": neutralise(one.context),
            "sentence before": neutralise(one.before),
        }
        passages = [{"passage": n, **each} for n, each in enumerate(self.shown, start=1)]
        given = {name: value for name, value in about.items() if value}
        asked = as_material({**given, "sentence": neutralise(one.text), "passages": passages})
        again = FORM_AGAIN.format(problem=neutralise(problem)[:_PROBLEM]) if problem else ""
        message = Message(CHECK_PROMPT.format(about=asked) + again)
        return ModelRequest(CHECK_SYSTEM, (message,), tool=_FORM, max_tokens=WRITTEN, purpose="judge", bulk=True)

    def read(self, filled: str) -> Verdict:
        """Verdict of a form. Raises `ValueError`, which says what is wrong with it."""
        words = [f"{one.get('headers', '')}\n{one['words']}" for one in self.shown]
        try:
            return Verdict.model_validate_json(filled, context={"sentence": self.sentence.text, "passages": words})
        except ValidationError as error:
            raise ValueError(told(error, filled)) from error


class Judge:
    """Judge of sentences that ``checker`` has given a verdict, by the model so named."""

    def __init__(self, checker: Checker, model: str) -> None:
        self._checker, self._model = checker, model

    def asked(self, sentence: Checkable, verdict: CheckedSentence) -> Asked | None:
        """What a model is asked; None where there is nothing to ask: rules decide on quotations, and without a passage
        nothing can be said. Raises what retrieval raises."""
        near = self._checker.near(sentence, NEAREST)
        if self._checker.quoted(sentence, near) is not None:
            return None
        chosen: dict[Citation, dict[str, str]] = {}
        left = PASSAGES
        for one in (*verdict.citations, *(each.citation for each in near)):
            if any(_within(one, other) for other in chosen):
                continue
            shown = as_evidence(one)
            if (tokens := count_tokens(as_material(shown))) <= left:
                left -= tokens
                chosen = {other: of for other, of in chosen.items() if not _within(other, one)} | {one: shown}
        return Asked(sentence, tuple(chosen), tuple(chosen.values())) if chosen else None

    def in_force(self, asked: Asked, before: CheckedSentence, given: Verdict) -> CheckedSentence:
        """The sentence with the model's opinion, and with its verdict where that counts."""
        said, text = given.verdict, asked.sentence.text
        kept = replace(before, opinion=SecondOpinion(self._model, said, given.reason, before.status))
        if before.status in (said, "contradicted"):
            return kept
        cited = [asked.passages[number - 1] for number in dict.fromkeys(given.passages)]
        if (said == "confirmed" and not self._agrees(asked.sentence, cited)) or {said, before.status} == _NO_PROBLEM:
            return kept
        return replace(
            kept,
            status=said,
            reason="" if said in _NO_PROBLEM else given.reason,
            citations=_numbered(cited) or before.citations * (said == "not_found"),
            corrections=tuple(_correction(one, text) for one in given.wrong[:MOST]) if said == "contradicted" else (),
            missing=tuple(places(one, text)[0] for one in given.missing[:MOST]) if said == "partly" else (),
        )

    def _agrees(self, sentence: Checkable, cited: Sequence[Citation]) -> bool:
        """Whether no exact check is against the sentence, or one of the readings of a cell, in the ``cited`` words."""
        texts = scaled(sentence) if sentence.is_cell else [sentence.text]
        return any(self._checker.agrees(replace(sentence, text=text), cited) for text in texts)


class Judging:
    """Requests about sentences by their number; a form that can't be used is asked for once more."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._asked: dict[int, tuple[Asked, CheckedSentence, Callable[[CheckedSentence], None]]] = {}
        self._problems: dict[int, str] = {}

    @property
    def faults(self) -> list[str]:
        """What is wrong with forms that can't be used, a sentence each."""
        return list(self._problems.values())

    def ask(
        self,
        calls: ModelCalls,
        n: int,
        sentence: Checkable,
        verdict: CheckedSentence,
        put: Callable[[CheckedSentence], None],
    ) -> None:
        """Ask about a sentence and its ``verdict``; ``put`` is given what it is then. Raises what retrieval raises, and
        `Cancelled`."""
        asked = self._judge.asked(sentence, verdict)
        if asked is None:
            put(replace(verdict, opinion=SecondOpinion("", verdict.status, "", verdict.status)))
            return
        self._asked[n] = asked, verdict, put
        calls.ask(str(n), asked.request())

    def ask_again(self, calls: ModelCalls) -> None:
        """Ask about the sentences whose forms can't be used, and wait for the answers. Raises `Cancelled`."""
        for n, problem in tuple(self._problems.items()):
            asked, *_ = self._asked[n]
            calls.ask(str(n), asked.request(problem))
        calls.wait(0)

    def take(self, key: str, filled: str) -> None:
        """Take the form filled in about the sentence ``key``."""
        n = int(key)
        asked, verdict, put = self._asked[n]
        try:
            given = asked.read(filled)
        except ValueError as error:
            self._problems[n] = str(error)
        else:
            self._problems.pop(n, None)
            put(self._judge.in_force(asked, verdict, given))


def _correction(wrong: Wrong, text: str) -> Correction:
    (span,) = places(wrong.said, text)
    return Correction(*span, text[slice(*span)], wrong.found, wrong.found)


def _numbered(cited: Sequence[Citation]) -> tuple[Citation, ...]:
    return tuple(replace(one, n=n) for n, one in enumerate(cited, start=1))


def _within(one: Citation, other: Citation) -> bool:
    return one.doc_id == other.doc_id and other.start <= one.start and one.end <= other.end


def places(said: str, text: str) -> list[tuple[int, int]]:
    """Places in ``text`` of words, however they are spaced; no part of a word or number is one."""
    words = r"\s+".join(map(re.escape, said.split()))
    before, after = r"(?<!\w)(?<!\d[.,])" * said[:1].isalnum(), r"(?!\w|[.,]\d)" * said[-1:].isalnum()
    return [match.span() for match in re.finditer(f"{before}{words}{after}", text)]
