"""Drafts of stored reports: the template rebuilt from the stored rows, each section in its place, the report to export,
and the expected cost of filling it, before any search or request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragcore.answer.section import BEFORE_TOKENS
from ragcore.config.settings import Settings
from ragcore.errors import UnknownSection
from ragcore.index.reports import ReportInfo, StoredReport, StoredSection
from ragcore.prompts import SECTION_PROMPT, SECTION_SYSTEM
from ragcore.report.editing import HAND
from ragcore.report.evidence import OWN_TOKENS
from ragcore.report.template import Kind, Place, Section, Template, from_data
from ragcore.text.sentences import count_tokens
from ragcore.types import OFFLINE, Usage
from ragcore.types.report import NO_FOCUS, Field, FilledSection, Report, SectionStatus
from ragcore.types.spending import cost

Pair = tuple[StoredSection, Place]
# Claude's tokens are smaller than cl100k's: by about this factor in English prose.
FINER = 1.25
# Typical tokens of a section of each kind.
TYPICAL: dict[Kind, int] = {"prose": 450, "list": 350, "table": 400, "value": 60, "yes_no": 120}


@dataclass(frozen=True, slots=True)
class Draft:
    """Stored report, its template, and each section with its place there."""

    stored: StoredReport
    template: Template
    pairs: tuple[Pair, ...]

    @classmethod
    def of(cls, stored: StoredReport) -> Draft:
        template = template_of(stored.info, stored.sections)
        return cls(stored, template, tuple(zip(stored.sections, template.places(), strict=True)))

    def pair(self, section_id: str) -> Pair:
        """Section and place by id. Raises `UnknownSection`."""
        found = next((pair for pair in self.pairs if pair[0].section_id == section_id), None)
        if found is None:
            raise UnknownSection("This section is no longer in the report.")
        return found

    def family(self, section_id: str) -> list[StoredSection]:
        """Section and its subsections. Raises `UnknownSection`."""
        sections = self.stored.sections
        first = sections.index(self.pair(section_id)[0])
        last = first + 1
        while last < len(sections) and sections[last].level > sections[first].level:
            last += 1
        return list(sections[first:last])

    def moved(self, section_id: str, by: int) -> list[StoredSection] | None:
        """New order of the sections, this one and its subsections moved past the previous (``by`` -1) or next one (1)
        on its level; None at the first or last place."""
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
        """Texts of the other sections, from later ones only the accepted; these come first, since the list is cut from
        its start."""
        at = self.stored.sections.index(section)
        before, after = self.pairs[:at], self.pairs[at + 1 :]
        accepted = [pair for pair in after if pair[0].accepted]
        return [placed(stored, place) for stored, place in (*accepted, *before) if stored.content is not None]

    def report(self, writer: str, accepted_only: bool) -> Report:
        """Whole report, or its accepted part; ``writer`` names its writer if nothing is written yet."""
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
            # As printed after "Written by".
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
    """Stored form of a template section's request, without its subsections."""
    return section.model_dump(mode="json", exclude_defaults=True, exclude={"sections"})


def template_of(info: ReportInfo, sections: Sequence[StoredSection]) -> Template:
    """Template described by the rows. A row more than one level below the previous row counts as one level below.
    Raises `BadTemplate`."""
    top: list[dict[str, Any]] = []
    lists = [top]
    for section in sections:
        level = min(section.level, len(lists))
        made: dict[str, Any] = {**section.asked, "sections": []}
        lists[level - 1].append(made)
        lists[level:] = [made["sections"]]
    return from_data({"title": info.title, "guidance": info.guidance, "sections": top}, "The report")


def unwritten(section: StoredSection) -> bool:
    """Whether a section still needs filling: it has no text, or only part of it."""
    return section.content is None or section.content.status in ("failed", "stopped")


def placed(section: StoredSection, place: Place) -> FilledSection:
    """Displayed state of a section, at its current place."""
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
    """Expected cost of filling ``sections`` (a count) by ``model``: the ``usage`` of writing each once with the maximum
    of sources, and its price ``usd``; ``most_usd`` if each is written as often and as long as allowed. Both are 0.0 for
    the offline answerer and None if ``model`` has no price. Planning the search is not included."""

    sections: int
    model: str
    usage: Usage
    usd: float | None
    most_usd: float | None


def expected(template: Template, chosen: Sequence[Place], written: int, model: str, settings: Settings) -> Expense:
    """Cost of writing ``chosen`` sections of ``template`` when other sections already have ``written`` tokens."""
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
        given = frame + own + settings.answer.source_tokens + OWN_TOKENS
        output = min(TYPICAL[place.section.kind], report.section_tokens)
        typical = typical + _usage(given + min(before, BEFORE_TOKENS), output)
        first = given + min(longest, BEFORE_TOKENS)
        again = first + settings.answer.source_tokens + report.section_tokens
        for number in range(report.rounds):
            most = most + _usage(first if number == 0 else again, report.section_tokens)
        before += output
        longest += report.section_tokens
    prices = settings.llm.prices
    return Expense(len(asked), model, typical, cost(typical, model, prices), cost(most, model, prices))


def _usage(given: int, output: int) -> Usage:
    return Usage(math.ceil(given * FINER), math.ceil(output * FINER))
