"""Judges of answers: which claims a text makes, and which of them another text entails.

A response, its reference answer and each passage that the writer was given are judged one against another, as
RAGChecker does. `SupportJudge` needs no model; `ragcore.evaluate.claude` has Claude's.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, Protocol

from pydantic import BaseModel

from ragcore.config.settings import VerifySettings
from ragcore.evaluate.cases import Case
from ragcore.evaluate.measures import unmarked
from ragcore.evaluate.ragchecker import CLAUDE, SUPPORT, Checked
from ragcore.text.sentences import sentence_spans
from ragcore.types import Answer
from ragcore.verify.claims import Statement, split_statements
from ragcore.verify.evidence import Evidence
from ragcore.verify.support import support

VERSION = 1  # raise it when `SupportJudge` finds other claims or verdicts

Claim = tuple[str, ...]  # subject, relation and object; or a statement, a table's after its headers
Label = Literal["Entailment", "Neutral", "Contradiction"]
Labels = tuple[Label, ...]


class AnswerJudge(Protocol):
    """Finder of the claims of a text, and judge of claims by a text."""

    @property
    def name(self) -> str:
        """Its kind or model, a blank, and the version of its rules or prompts."""

    def claims(self, question: str, text: str) -> tuple[Claim, ...] | None:
        """Claims of ``text``, which answers ``question``, in order and each once; None while they aren't known."""

    def verdicts(self, question: str, claims: Sequence[Claim], text: str) -> Labels | None:
        """One label for each of the ``claims``, by ``text`` alone; None while they aren't known."""


class Judged(BaseModel, frozen=True):
    """Claims of a response and of its reference answer, and the label of each; names and shapes are those of `Checked`
    and of the reference program's checking outputs."""

    response_claims: tuple[Claim, ...]
    gt_answer_claims: tuple[Claim, ...]
    answer2response: Labels
    response2answer: Labels
    retrieved2response: tuple[Labels, ...]
    retrieved2answer: tuple[Labels, ...]

    @property
    def checked(self) -> Checked:
        return Checked.model_validate(self.model_dump())


def kind_of(judge: str) -> str:
    """Kind (`JUDGES`) of the judge with this name."""
    return SUPPORT if judge.startswith(f"{SUPPORT} ") else CLAUDE


def heading(judge: str) -> str:
    """What stands over the figures of a judge: ``RAGChecker, judged by claude-sonnet-4-6``."""
    name = "the support score, without a model" if kind_of(judge) == SUPPORT else judge.partition(" ")[0]
    return f"RAGChecker, judged by {name}"


def judged(case: Case, answer: Answer, judge: AnswerJudge) -> Judged | None:
    """What is found of ``answer`` against the reference answer of ``case`` and the passages that the writer was given;
    None while some of it isn't known. A refusal has no claims."""
    response = "" if answer.refused else unmarked(answer)
    said, wanted = judge.claims(case.question, response), judge.claims(case.question, case.answer)
    if said is None or wanted is None:
        return None
    asked = [(said, case.answer), (wanted, response)]
    asked += [(claims, source.text) for claims in (said, wanted) for source in answer.sources]
    found = [labels for one in asked if (labels := judge.verdicts(case.question, *one)) is not None]
    if len(found) < len(asked):
        return None
    split = 2 + len(answer.sources)
    return Judged(
        response_claims=said,
        gt_answer_claims=wanted,
        answer2response=found[0],
        response2answer=found[1],
        retrieved2response=_turned(found[2:split], len(said)),
        retrieved2answer=_turned(found[split:], len(wanted)),
    )


def _turned(columns: Sequence[Labels], rows: int) -> tuple[Labels, ...]:
    """A row for each claim, of the labels by each passage."""
    return tuple(tuple(column[row] for column in columns) for row in range(rows))


class SupportJudge:
    """Statements as claims, and as verdict `ragcore.verify.support` without a model: entailed if the text supports it,
    else neutral. A statement that the text makes word for word is entailed. `AnswerJudge`."""

    def __init__(self, settings: VerifySettings) -> None:
        fixed = f"{VERSION} {settings.weak_below} {settings.unsupported_below}"
        self.name = f"{SUPPORT} {zlib.crc32(fixed.encode()):08x}"
        self._settings = settings

    def claims(self, question: str, text: str) -> tuple[Claim, ...]:
        return _statements(text)

    def verdicts(self, question: str, claims: Sequence[Claim], text: str) -> Labels:
        said, evidence = _statements(text), _evidence(text)
        return tuple("Entailment" if one in said or self._supported(one, evidence) else "Neutral" for one in claims)

    def _supported(self, claim: Claim, evidence: Evidence) -> bool:
        statement = Statement(claim[-1], 0, len(claim[-1]), (), " ".join(claim[:-1]))
        return support(statement, evidence, self._settings).finding.status == "supported"


@lru_cache(maxsize=64)
def _statements(text: str) -> tuple[Claim, ...]:
    return tuple(dict.fromkeys(tuple(filter(None, (one.context, one.text))) for one in split_statements(text, ())))


@lru_cache(maxsize=64)
def _evidence(text: str) -> Evidence:
    # A table's rows end no sentence.
    lines = [" ".join(line.split()) for line in text.splitlines()]
    sentences = tuple(line[start:end] for line in lines for start, end in sentence_spans(line, 0))
    return Evidence(text, "", "", (text,), sentences)
