"""LLM judge of a check: a model's verdict on each sentence, by the passages nearest to it.

It reads what the rules read and fills in one form for each sentence: a verdict, the passages that decide, words that
are wrong with the document's in their place, and words that nothing covers. It cites only what it was given, and quotes
the draft and the passages letter by letter. A contradiction, and what is said of quotations, stays; the model confirms
a sentence only where no exact check (figures, units, periods, names, codes) is against it in the passages it names.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

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
            if _span(one, sentence) is None:
                raise ValueError(f"“{one}” is not in the sentence, letter by letter")
        for each in self.wrong:
            if not any(_span(each.found, passages[number - 1]) for number in self.passages):
                raise ValueError(f"“{each.found}” is not in the passages that are named, letter by letter")
        return self


_FORM = Form("give_verdict", "Say what the passages say of the sentence.", Verdict.model_json_schema())


def most(sentences: Collection[Checkable]) -> Usage:
    """Upper bound of the tokens of requests about ``sentences``, if no form has to be filled in twice."""
    total = Usage()
    for one in sentences:
        text = " ".join((CHECK_PROMPT, *one.headings, one.context, one.before, one.text))
        bound = most_tokens(ModelRequest(CHECK_SYSTEM, (Message(text),), max_tokens=WRITTEN))
        total += replace(bound, input_tokens=bound.input_tokens + math.ceil(PASSAGES * FINER))
    return total


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model is asked about ``sentence``, which rules gave the ``verdict``: the ``passages`` as numbered."""

    sentence: Checkable
    verdict: CheckedSentence
    passages: tuple[Citation, ...]

    @property
    def prompt(self) -> str:
        one = self.sentence
        sentence: dict[str, Any] = {"sentence": neutralise(one.text)}
        about = {
            "headings": neutralise(" > ".join(one.headings)),
            "row and column": neutralise(one.context),
            "sentence before": neutralise(one.before),
        }
        passages = [{"passage": n, **as_evidence(each)} for n, each in enumerate(self.passages, start=1)]
        given = {name: value for name, value in about.items() if value} | sentence | {"passages": passages}
        return CHECK_PROMPT.format(about=as_material(given))

    def request(self, problem: str = "") -> ModelRequest:
        """Request for the form; the second time with the ``problem`` of the first."""
        asked = self.prompt + (FORM_AGAIN.format(problem=neutralise(problem)[:_PROBLEM]) if problem else "")
        return ModelRequest(CHECK_SYSTEM, (Message(asked),), tool=_FORM, max_tokens=WRITTEN, purpose="judge", bulk=True)

    def read(self, filled: str) -> Verdict:
        """Verdict of a form. Raises `ValueError`, which says what is wrong with it."""
        given = {
            "sentence": self.sentence.text,
            "passages": [" ".join(as_evidence(one).values()) for one in self.passages],
        }
        try:
            return Verdict.model_validate_json(filled, context=given)
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
        passages: list[Citation] = []
        left = PASSAGES
        for one in (*verdict.citations, *(each.citation for each in near)):
            if any(_within(one, other) for other in passages):
                continue
            if (tokens := count_tokens(json.dumps(as_evidence(one), ensure_ascii=False))) <= left:
                left -= tokens
                passages.append(one)
        shown = (one for one in passages if not any(one != other and _within(one, other) for other in passages))
        chosen = tuple(shown)
        return Asked(sentence, verdict, chosen) if chosen else None

    def in_force(self, asked: Asked, given: Verdict) -> CheckedSentence:
        """The sentence with the model's opinion, and with its verdict where that counts."""
        before, said = asked.verdict, given.verdict
        opinion = SecondOpinion(self._model, said, given.reason)
        cited = [asked.passages[number - 1] for number in dict.fromkeys(given.passages)]
        kept = replace(before, opinion=opinion)
        if before.status in (said, "contradicted", "elsewhere") and said != "confirmed":
            return kept
        match said:
            case "confirmed":
                if before.status == said or not self._agrees(asked.sentence, cited):
                    return kept
                return replace(kept, status=said, reason="", citations=_numbered(cited), corrections=(), missing=())
            case "no_claim":
                if before.status == "confirmed":
                    return kept
                return replace(kept, status=said, reason="", citations=(), corrections=(), missing=())
            case "not_found":
                return replace(kept, status=said, reason=given.reason, corrections=(), missing=())
        text = asked.sentence.text
        return replace(
            kept,
            status=said,
            reason=given.reason,
            citations=_numbered(cited),
            corrections=tuple(_correction(one, text) for one in given.wrong[:MOST]) if said == "contradicted" else (),
            missing=tuple(span for one in given.missing[:MOST] if (span := _span(one, text)) is not None),
        )

    def _agrees(self, sentence: Checkable, cited: Sequence[Citation]) -> bool:
        """Whether no exact check is against the sentence, or one of the readings of a cell, in the ``cited`` words."""
        texts = scaled(sentence) if sentence.is_cell else [sentence.text]
        return any(self._checker.agrees(replace(sentence, text=text), cited) for text in texts)


class Judging:
    """Requests about sentences by their number: a form that can't be used is asked for once more, and ``put`` is given
    what a sentence is then. ``faults`` says what is wrong with forms that stay so."""

    def __init__(self, judge: Judge, put: Callable[[int, CheckedSentence], None]) -> None:
        self.faults: list[str] = []
        self._judge, self._put = judge, put
        self._asked: dict[int, Asked] = {}
        self._problems: dict[int, str] = {}

    def ask(self, calls: ModelCalls, n: int, sentence: Checkable, verdict: CheckedSentence) -> None:
        """Raises what retrieval raises, and `Cancelled`."""
        asked = self._judge.asked(sentence, verdict)
        if asked is None:
            self._put(n, replace(verdict, opinion=SecondOpinion()))
            return
        self._asked[n] = asked
        calls.ask(str(n), asked.request())

    def ask_again(self, calls: ModelCalls) -> None:
        """Ask about the sentences whose forms can't be used, and wait for the answers. Raises `Cancelled`."""
        for n, problem in tuple(self._problems.items()):
            calls.ask(str(n), self._asked[n].request(problem))
        calls.wait(0)

    def take(self, key: str, filled: str) -> None:
        """Take the form filled in about the sentence ``key``."""
        n, asked = int(key), self._asked[int(key)]
        try:
            given = asked.read(filled)
        except ValueError as error:
            if n in self._problems:
                self.faults.append(str(error))
            self._problems[n] = str(error)
            return
        self._put(n, self._judge.in_force(asked, given))


def _correction(wrong: Wrong, text: str) -> Correction:
    span = _span(wrong.said, text)
    assert span is not None  # a form has only words of the sentence
    return Correction(*span, text[slice(*span)], wrong.found, wrong.found)


def _numbered(cited: Sequence[Citation]) -> tuple[Citation, ...]:
    return tuple(replace(one, n=n) for n, one in enumerate(cited, start=1))


def _within(one: Citation, other: Citation) -> bool:
    return one.doc_id == other.doc_id and other.start <= one.start and one.end <= other.end


def _span(said: str, text: str) -> tuple[int, int] | None:
    """Place of words in ``text``, however they are spaced."""
    found = re.search(r"\s+".join(map(re.escape, said.split())), text)
    return None if found is None else found.span()
