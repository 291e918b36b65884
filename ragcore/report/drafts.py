"""A stored report as it stands: its template made of its rows, each section in its place, and all of it as a report
that can be exported; and what filling it costs, before anything is searched or sent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragcore.config.settings import Settings
from ragcore.errors import UnknownSection
from ragcore.index.reports import ReportInfo, StoredReport, StoredSection
from ragcore.prompts import SECTION_PROMPT, SECTION_SYSTEM
from ragcore.report.editing import HAND
from ragcore.report.template import Kind, Place, Section, Template, from_data
from ragcore.text.sentences import count_tokens
from ragcore.types import OFFLINE, Usage
from ragcore.types.report import NO_FOCUS, Field, FilledSection, Report, SectionStatus
from ragcore.types.spending import cost

Pair = tuple[StoredSection, Place]
# The service's tokens are smaller than cl100k's: in English prose by about this.
FINER = 1.25
# Tokens that a section of each kind usually has.
TYPICAL: dict[Kind, int] = {"prose": 450, "list": 350, "table": 400, "value": 60, "yes_no": 120}


@dataclass(frozen=True, slots=True)
class Draft:
    """What is stored of a report, its template, and each section with its place in that."""

    stored: StoredReport
    template: Template
    pairs: tuple[Pair, ...]

    @classmethod
    def of(cls, stored: StoredReport) -> Draft:
        template = template_of(stored.info, stored.sections)
        return cls(stored, template, tuple(zip(stored.sections, template.places(), strict=True)))

    def pair(self, section_id: str) -> Pair:
        """Raises `UnknownSection`."""
        found = next((pair for pair in self.pairs if pair[0].section_id == section_id), None)
        if found is None:
            raise UnknownSection("This section is no longer in the report.")
        return found

    def family(self, section_id: str) -> list[StoredSection]:
        """A section and those below it. Raises `UnknownSection`."""
        sections = self.stored.sections
        first = sections.index(self.pair(section_id)[0])
        last = first + 1
        while last < len(sections) and sections[last].level > sections[first].level:
            last += 1
        return list(sections[first:last])

    def moved(self, section_id: str, by: int) -> list[StoredSection] | None:
        """The sections with this one and those below it past the one before it (``by`` -1) or after it (1) on its
        level; None at the first or last place."""
        sections, family = self.stored.sections, self.family(section_id)
        first, level = sections.index(family[0]), family[0].level
        rest = [one for one in sections if one not in family]
        if by < 0:
            place = max((i for i in range(first) if sections[i].level <= level), default=-1)
            if place < 0 or sections[place].level < level:
                return None
        else:
            after = first + len(family)
            if after >= len(sections) or sections[after].level != level:
                return None
            place = first + len(self.family(sections[after].section_id))
        rest[place:place] = family
        return rest

    def context(self, section: StoredSection) -> list[FilledSection]:
        """What is written of the other sections: of those after it only what is accepted, and that first, since what
        stands last is left out last."""
        at = self.stored.sections.index(section)
        before, after = self.pairs[:at], self.pairs[at + 1 :]
        accepted = [pair for pair in after if pair[0].accepted]
        return [placed(stored, place) for stored, place in (*accepted, *before) if stored.content is not None]

    def report(self, writer: str, accepted_only: bool) -> Report:
        """All of it, or what is accepted; ``writer`` is who fills it, told where nothing is written."""
        sections = tuple(
            placed(stored, place)
            for stored, place in self.pairs
            if not accepted_only or stored.accepted or not place.section.filled
        )
        answers = [section.answer for section in sections if section.answer is not None]
        models = dict.fromkeys(answer.model for answer in answers if answer.model != HAND)
        if HAND not in (answer.model for answer in answers):
            writer = ", ".join(models) or writer
        else:
            # As it is read after "Written by".
            names = ["the offline answerer" if name == OFFLINE else name for name in models]
            writer = " and ".join([*names, "a person"])
        info = self.stored.info
        return Report(
            title=info.name,
            guidance=self.template.guidance,
            sections=sections,
            model=writer,
            extractive=bool(answers) and all(answer.extractive for answer in answers),
            created=info.updated,
            focus=info.focus or NO_FOCUS,
        )


def asked_of(section: Section) -> dict[str, Any]:
    """What a section of a template asks for, as it is stored: without those below it."""
    return section.model_dump(mode="json", exclude_defaults=True, exclude={"sections"})


def template_of(info: ReportInfo, sections: Sequence[StoredSection]) -> Template:
    """The template that the rows are. A row deeper than one below the row above it counts as that. Raises
    `BadTemplate`."""
    top: list[dict[str, Any]] = []
    lists = [top]
    for section in sections:
        level = min(section.level, len(lists))
        made: dict[str, Any] = {**section.asked, "sections": []}
        lists[level - 1].append(made)
        lists[level:] = [made["sections"]]
    return from_data({"title": info.title, "guidance": info.guidance, "sections": top}, "The report")


def unwritten(section: StoredSection) -> bool:
    """Whether a section is filled with the rest: nothing is written of it, or not all."""
    return section.content is None or section.content.status in ("failed", "stopped")


def placed(section: StoredSection, place: Place) -> FilledSection:
    """What is shown of a section, where it stands now."""
    asked = place.section
    if section.content is not None:
        return replace(
            section.content,
            number=place.number,
            level=place.level,
            heading=asked.heading,
            required=asked.required,
            guidance=asked.guidance,
        )
    form = Field(asked.kind, asked.columns, asked.unit)
    status: SectionStatus = "empty" if asked.filled else "heading"
    return FilledSection(place.number, place.level, asked.heading, asked.guidance, form, asked.required, status)


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
