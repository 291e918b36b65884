"""What filling sections of a report will cost, before anything is searched or sent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.config.settings import Settings
from ragcore.prompts import SECTION_PROMPT, SECTION_SYSTEM
from ragcore.report.template import Kind, Place, Template
from ragcore.text.sentences import count_tokens
from ragcore.types import OFFLINE, Usage
from ragcore.types.prices import cost

# The service's tokens are smaller than cl100k's: in English prose by about this.
FINER = 1.25
# Tokens that a section of each kind usually has.
TYPICAL: dict[Kind, int] = {"prose": 450, "list": 350, "table": 400, "value": 60, "yes_no": 120}


@dataclass(frozen=True, slots=True)
class Expense:
    """Filling so many ``sections`` by ``model``: the ``usage`` of writing each once, with as many sources as may be
    given, and its price ``usd``; ``most_usd`` where each is written as often and as long as it may be. Both are 0.0
    for the offline answerer and None where ``model`` has no price. What plans the search is not in it."""

    sections: int
    model: str
    usage: Usage
    usd: float | None
    most_usd: float | None


def expected(template: Template, chosen: Sequence[Place], written: int, model: str, settings: Settings) -> Expense:
    """What writing ``chosen`` of ``template`` takes, of which ``written`` tokens of other sections are written."""
    asked = [place for place in chosen if place.section.filled]
    if model == OFFLINE:
        return Expense(len(asked), model, Usage(), 0.0, 0.0)
    report = settings.report
    frame = count_tokens(SECTION_SYSTEM + SECTION_PROMPT + template.guidance) + sum(
        count_tokens(place.section.heading) + 3 for place in template.places()
    )
    typical = most = Usage()
    before = longest = written
    for place in asked:
        own = count_tokens(place.section.query)
        given = frame + own + settings.answer.source_tokens + report.own_tokens
        output = min(TYPICAL[place.section.kind], report.section_tokens)
        typical = typical + _usage(given + min(before, report.before_tokens), output)
        first = given + min(longest, report.before_tokens)
        again = first + settings.answer.source_tokens + report.section_tokens
        for number in range(report.rounds):
            most = most + _usage(first if number == 0 else again, report.section_tokens)
        before += output
        longest += report.section_tokens
    prices = settings.llm.prices
    return Expense(len(asked), model, typical, cost(typical, model, prices), cost(most, model, prices))


def _usage(given: int, output: int) -> Usage:
    return Usage(math.ceil(given * FINER), math.ceil(output * FINER))
