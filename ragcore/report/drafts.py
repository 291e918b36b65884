"""A stored report as it stands: its template made of its rows, each section in its place, and all of it as a report
that can be exported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragcore.errors import UnknownSection
from ragcore.index.report_rows import ReportInfo, StoredReport, StoredSection
from ragcore.report.editing import HAND
from ragcore.report.requirements import requirements
from ragcore.report.template import Place, Section, Template, from_data
from ragcore.types import OFFLINE
from ragcore.types.report import NO_FOCUS, Field, FilledSection, Report, SectionStatus

Pair = tuple[StoredSection, Place]


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
    form = Field(asked.kind, asked.columns, asked.unit, tuple(requirements(asked.heading, asked.guidance)))
    status: SectionStatus = "empty" if asked.filled else "heading"
    return FilledSection(place.number, place.level, asked.heading, asked.guidance, form, asked.required, status)
