"""LLM judge: a model's verdicts on claims, beside those of verification, in one call for all cited claims of an answer.

It may lower a verdict, and raise one based on missing words, as the cross-encoder may; one based on a wrong number,
year, code, name or negation stays. Its cost is bounded by ``verify.judge_tokens`` and `MOST_CLAIMS`. If it cannot be
asked, or not about every claim, the verdicts stay and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import ValidationInfo, model_validator

from ragcore.answer.render import neutralise
from ragcore.cancel import Stop
from ragcore.config.settings import Settings
from ragcore.errors import Cancelled, GroundworkError
from ragcore.model_calls import Filled, Forms, as_material, words
from ragcore.prompts import JUDGE_PROMPT, JUDGE_SYSTEM
from ragcore.protocols import LLM, Form
from ragcore.text.sentences import count_tokens
from ragcore.types import Citation, Claim, ClaimStatus, Document, Mark, Usage
from ragcore.verify.claims import Statement, split_statements
from ragcore.verify.evidence import gather
from ragcore.verify.support import ORDER, support
from ragcore.verify.verify import GENERATED, NOT_CHECKED

MOST_CLAIMS = 30
LONGEST_REASON = 300  # characters
# Tokens of a form: its frame, and one verdict with its reason.
_FRAME, _EACH = 200, 120

_STATUS: dict[str, ClaimStatus] = {"supported": "supported", "partly": "weak", "not supported": "unsupported"}


class Verdict(Filled):
    claim: int
    verdict: Literal["supported", "partly", "not supported"]
    reason: Annotated[str, words(LONGEST_REASON)]


class Verdicts(Filled):
    verdicts: list[Verdict]

    @model_validator(mode="after")
    def _each_once(self, info: ValidationInfo) -> Verdicts:
        count = (info.context or {})["claims"]
        if sorted(verdict.claim for verdict in self.verdicts) != list(range(1, count + 1)):
            raise ValueError(f"must have one verdict for each of the claims 1 to {count}")
        return self


_FORM = Form("give_verdicts", "Say of each claim whether its evidence supports it.", Verdicts.model_json_schema())


@dataclass(frozen=True, slots=True)
class Judged:
    """Claims with their final verdicts, the cost of judging, and notes on what failed."""

    claims: tuple[Claim, ...]
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    notes: tuple[str, ...] = ()


def judged(
    claims: Sequence[Claim],
    text: str,
    marks: Sequence[Mark],
    citations: Sequence[Citation],
    document: Callable[[str], Document],
    planner: LLM,
    settings: Settings,
    stop: Stop,
) -> Judged:
    """``claims`` of ``text`` as verified, after ``planner`` has judged those with citations.

    Never raises a `GroundworkError`: an error becomes a note.
    """
    by_number = {citation.n: citation for citation in citations}
    chosen, left_out = _within(claims, by_number, settings.verify.judge_tokens)
    notes = []
    if left_out:
        total = len(chosen) + left_out
        notes.append(f"{planner.name} judged {len(chosen)} of {total} claims; the others exceed verify.judge_tokens.")
    if not chosen:
        return Judged(tuple(claims), notes=tuple(notes))
    forms = Forms(
        planner,
        stop,
        max_tokens=_FRAME + _EACH * len(chosen),
        timeout_seconds=settings.verify.judge_seconds,
        purpose="judge",
    )
    about = as_material({"claims": [asked for _, asked in chosen]})
    prompt = JUDGE_PROMPT.format(about=about, count=len(chosen))
    out = list(claims)
    try:
        filled = forms.fill(_FORM, Verdicts, JUDGE_SYSTEM, prompt, context={"claims": len(chosen)})
    except Cancelled:
        notes = [f"{planner.name} gave no second opinion: it was stopped."]
    except GroundworkError as error:
        notes = [f"{planner.name} gave no second opinion: {error.message.rstrip('.')}."]
    else:
        statements = split_statements(text, marks)
        for verdict in filled.verdicts:
            place = chosen[verdict.claim - 1][0]
            own = [by_number[n] for n in claims[place].citations if n in by_number]
            out[place] = _in_force(claims[place], verdict, statements[place], own, document, settings, forms.model)
    return Judged(tuple(out), forms.usage, forms.cost(settings.llm.prices), tuple(notes))


def _within(
    claims: Sequence[Claim], by_number: dict[int, Citation], most: int
) -> tuple[list[tuple[int, dict[str, Any]]], int]:
    """Indexes of the cited claims to judge, each with its data, in at most ``most`` tokens together; and the number
    left out. Evidence is never cut, so that the judge sees all of it."""
    chosen: list[tuple[int, dict[str, Any]]] = []
    left_out, left = 0, most
    for place, claim in enumerate(claims):
        cited = [by_number[n] for n in claim.citations if n in by_number]
        if not cited or claim.reason.startswith(NOT_CHECKED):
            continue
        asked = {
            "claim": len(chosen) + 1,
            "says": neutralise(claim.text),
            "evidence": [as_evidence(citation) for citation in cited],
        }
        tokens = count_tokens(as_material(asked))
        if tokens > left or len(chosen) == MOST_CLAIMS:
            left_out += 1
            continue
        left -= tokens
        chosen.append((place, asked))
    return chosen, left_out


def as_evidence(citation: Citation) -> dict[str, str]:
    """Words of ``citation`` and where they stand, as a judge is given them."""
    about = {
        "document": neutralise(citation.title),
        "page": neutralise(citation.page_label),
        "section": neutralise(" > ".join(citation.section)),
        "headers": neutralise(citation.label),
    }
    return {name: value for name, value in about.items() if value} | {"words": neutralise(citation.quote)}


def _in_force(
    claim: Claim,
    verdict: Verdict,
    statement: Statement,
    cited: Sequence[Citation],
    document: Callable[[str], Document],
    settings: Settings,
    model: str,
) -> Claim:
    said = _STATUS[verdict.verdict]
    caveat = f" {GENERATED}" if any(citation.generated for citation in cited) else ""
    reason = f"{model}: {verdict.reason}{caveat}"
    if ORDER.index(said) > ORDER.index(claim.status):
        return replace(claim, status=said, reason=reason)
    lifts = said == "supported" and claim.status != "supported"
    if lifts and support(statement, gather(cited, document), settings.verify).agrees:
        return replace(claim, status="supported", reason=reason, wrong=())
    return claim
