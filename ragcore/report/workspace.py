"""Report workspace: reports with their own outline, whose sections are filled one by one, edited, accepted and undone.

new (from a template) → change the outline → queue → write: search → write → check → gaps → kept as a version
                                           → edit | add a passage | choose a value → checked → kept as a version
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragcore.cancel import Stop
from ragcore.errors import (
    BadTemplate,
    Cancelled,
    GroundworkError,
    InputError,
    SectionAccepted,
    StoreError,
    UnknownDocument,
    UnknownSection,
)
from ragcore.index.reports import PlaceKind, ReportInfo, Reports, StoredSection, Task, Version
from ragcore.prompts import SECTION_PROMPT, SECTION_SYSTEM
from ragcore.report.editing import HAND, edited, with_passage, with_value
from ragcore.report.evidence import OWN_TOKENS, SectionTask, within
from ragcore.report.fill import BEFORE_TOKENS, Heard, SectionFiller
from ragcore.report.template import Place, Section, Template, from_data, nested
from ragcore.text.names import company_name
from ragcore.text.sentences import count_tokens
from ragcore.types import OFFLINE, Scope, Usage
from ragcore.types.report import (
    NO_FOCUS,
    NOT_KNOWN,
    YEARS,
    Coverage,
    Field,
    FilledSection,
    Focus,
    Report,
    SectionStatus,
    Span,
)
from ragcore.types.spending import Expense, cost

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.providers.registry import Models
    from ragcore.types.library import DocumentInfo

Pair = tuple[StoredSection, Place]
_log = logging.getLogger(__name__)

SAVE_SECONDS = 2.0  # between attempts to store a section when the disk is full
FINER = 1.25  # Claude's tokens are smaller than cl100k's: by about this factor in English prose
_MATERIALS = 40  # documents read before a report is filled
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Draft:
    """Stored report, its template, and each section with its place there."""

    info: ReportInfo
    sections: tuple[StoredSection, ...]
    template: Template
    pairs: tuple[Pair, ...]

    @classmethod
    def of(cls, info: ReportInfo, sections: tuple[StoredSection, ...]) -> Draft:
        template = template_of(info, sections)
        return cls(info, sections, template, tuple(zip(sections, template.places(), strict=True)))

    def pair(self, section_id: str) -> Pair:
        """Section and place by id. Raises `UnknownSection`."""
        found = next((pair for pair in self.pairs if pair[0].section_id == section_id), None)
        if found is None:
            raise UnknownSection("This section is no longer in the report.")
        return found

    def family(self, section_id: str) -> list[StoredSection]:
        """Section and its subsections. Raises `UnknownSection`."""
        sections = self.sections
        first = sections.index(self.pair(section_id)[0])
        last = first + 1
        while last < len(sections) and sections[last].level > sections[first].level:
            last += 1
        return list(sections[first:last])

    def moved(self, section_id: str, by: int) -> list[StoredSection] | None:
        """New order of the sections, this one and its subsections moved past the previous (``by`` -1) or next one (1)
        on its level; None at the first or last place."""
        sections, family = self.sections, self.family(section_id)
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
        at = self.sections.index(section)
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
        info = self.info
        return Report(
            title=info.name,
            guidance=self.template.guidance,
            sections=sections,
            model=writer,
            extractive=bool(answers) and all(answer.extractive for answer in answers),
            created=info.updated,
            focus=info.focus or NO_FOCUS,
        )


@dataclass(frozen=True, slots=True)
class Material:
    """Document that can fill a report: the name of its company, "" without one, and its reporting period."""

    doc_id: str
    company: str
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class ReportWorkspace:
    """All operations on stored reports. ``filler`` writes, ``documents`` lists the library."""

    store: Reports
    filler: SectionFiller
    documents: Callable[[], list[DocumentInfo]]
    models: Models
    settings: Settings

    # Reports

    def new(
        self,
        template: Template,
        *,
        origin: str = "",
        doc_ids: Sequence[str] | None = None,
        focus: Focus | None = None,
    ) -> str:
        """Create a report with its own copy of ``template``, filled from ``doc_ids`` (None: all documents), and return
        its id. Without ``focus``, its company and year, the user still has to be asked."""
        sections = [(place.level, asked_of(place.section)) for place in template.places()]
        return self.store.new(template.title, template.guidance, origin, sections, doc_ids, focus)

    def all(self) -> list[ReportInfo]:
        """Every report, the last changed first."""
        return self.store.all()

    def get(self, report_id: str) -> Draft:
        """Draft of a report. Raises `UnknownReport`."""
        return Draft.of(*self.store.get(report_id))

    def report(self, report_id: str, *, accepted_only: bool = False) -> Report:
        """Report as shown, for export; a section without text is empty, without gaps."""
        return self.get(report_id).report(self.models.writer_name, accepted_only)

    def materials(self) -> list[Material]:
        """Possible subjects of a report: the company of each ready document, and its reporting period. In a large
        library only the first documents are read."""
        out = []
        for place, info in enumerate(one for one in self.documents() if one.status == "ready"):
            company, covered = "", NOT_KNOWN
            if place < _MATERIALS:
                document = self.filler.document(info.doc_id)
                company, covered = company_name(document), self.models.fields.coverage(document)
            out.append(Material(info.doc_id, company, covered))
        return out

    def focus(self, report_id: str, focus: Focus) -> None:
        """Set the company and year of a report; existing text stays until it is filled again. Raises `InputError` for
        an invalid name or year."""
        name = " ".join(focus.subject.split())
        if len(name) > _LONGEST_NAME:
            raise InputError("This name is too long.", hint=f"Use at most {_LONGEST_NAME} characters.")
        if focus.year and not YEARS[0] <= focus.year <= YEARS[1]:
            raise InputError(f"{focus.year} is no year that a report can cover.", hint="Choose one of the list.")
        self.store.update(report_id, subject=name, year=focus.year)

    # The outline

    def rename(self, report_id: str, title: str, guidance: str | None = None) -> None:
        """Change the title, and the guidance unless None. Raises `BadTemplate` for an invalid title."""
        info, draft = self.store.info(report_id), self.get(report_id)
        new = replace(info, title=title, guidance=info.guidance if guidance is None else guidance)
        made = template_of(new, draft.sections)
        self.store.update(report_id, title=made.title, guidance=made.guidance)

    def change(self, section_id: str, changes: Mapping[str, Any]) -> None:
        """Change a section's request (any key of a template section except ``sections``). Its text stays until it is
        filled again. Raises `BadTemplate`, `SectionAccepted`."""
        section = self._open(section_id)
        asked = {key: value for key, value in {**section.asked, **changes}.items() if key != "sections"}
        draft = self.get(section.report_id)
        changed = [replace(one, asked=asked) if one.section_id == section_id else one for one in draft.sections]
        template = template_of(draft.info, changed)
        place = next(p for one, p in zip(changed, template.places(), strict=True) if one.section_id == section_id)
        self.store.set_section(section_id, asked=asked_of(place.section))

    def add(self, report_id: str, heading: str, after: str = "", below: bool = False) -> str:
        """Add a prose section after the section ``after`` and its subsections ("": at the end), or as its last
        subsection (``below``), and return its id. Raises `BadTemplate`."""
        draft = self.get(report_id)
        level, at = 1, ""
        if after:
            family = draft.family(after)
            level, at = family[0].level + below, family[-1].section_id
        asked = asked_of(from_data({"title": "x", "sections": [{"heading": heading}]}).sections[0])
        made = replace(draft.sections[0], section_id="new", level=level, asked=asked)
        listed = list(draft.sections)
        listed.insert(next((i + 1 for i, one in enumerate(listed) if one.section_id == at), len(listed)), made)
        template_of(draft.info, listed)  # raises if it is nested too deep, or there are too many
        return self.store.add_section(report_id, asked, level=level, after=at)

    def move(self, section_id: str, by: int) -> None:
        """Move a section, with its subsections, past the previous (``by`` -1) or next one (1) on its level; no effect
        at the first or last place."""
        section = self.store.section(section_id)
        order = self.get(section.report_id).moved(section_id, by)
        if order is not None:
            self.store.arrange(section.report_id, [(one.section_id, one.level) for one in order])

    def remove(self, section_id: str) -> None:
        """Remove a section with its subsections; `restore` puts them back. Raises `SectionAccepted` if one of them is
        accepted, and `BadTemplate` for the last section."""
        section = self._open(section_id)
        draft = self.get(section.report_id)
        family = draft.family(section_id)
        if any(one.accepted for one in family):
            raise SectionAccepted("A section inside it is accepted.")
        if len(family) == len(draft.pairs):
            raise BadTemplate("A report needs at least one section.", hint="Add another section first.")
        for one in family:
            self.store.drop_task(one.section_id)
            self.store.set_section(one.section_id, removed=True)

    def restore(self, section_id: str) -> None:
        """Put back a removed section."""
        self.store.set_section(section_id, removed=False)

    # Filling

    def queue(
        self,
        report_id: str,
        section_ids: Sequence[str] | None = None,
        instruction: str = "",
        *,
        visit: bool = False,
    ) -> int:
        """Queue sections for writing: these, or (None) all that are neither written nor accepted; return how many now
        wait. An ``instruction`` rewrites the text shown; ``visit`` as in `Reports.queue`. Raises `SectionAccepted`, and
        `InputError` if there is nothing to rewrite or no writer for it."""
        draft = self.get(report_id)
        instruction = instruction.strip()
        if section_ids is None:
            chosen = [one for one, place in draft.pairs if place.section.filled and not one.accepted and unwritten(one)]
        else:
            pairs = [draft.pair(section_id) for section_id in section_ids]
            chosen = [one for one, place in pairs if place.section.filled]
        for section in chosen:
            if section.accepted:
                raise SectionAccepted("This section is accepted.")
        if instruction:
            if self.models.capabilities.extractive:
                raise InputError(
                    "Offline, Groundwork only quotes; it can't rewrite.", hint="Enter a key, or edit the text yourself."
                )
            if any(one.content is None or not one.content.text.strip() for one in chosen):
                raise InputError("There's nothing to rewrite yet.", hint="Fill the section first.")
        asked = [(section.section_id, instruction) for section in chosen]
        self.store.queue(report_id, asked, self.models.writer_name, visit=visit)
        return len(self.store.tasks())

    def write(self, task: Task, heard: Heard, stop: Stop, *, abandoned: Callable[[], bool] = lambda: False) -> bool:
        """Write one section of the queue and store it; return whether that was done. A stopped one is stored as far as
        written, beside the version shown before. If ``abandoned`` returns true at the end nothing is stored and it
        stays queued. An error other than the writer's own leaves the section unchanged, takes it off the queue and is
        raised. Storing is retried until it succeeds or ``stop`` is set, since the text may have been paid for."""
        try:
            draft = self.get(task.report_id)
            stored, place = draft.pair(task.section_id)
            if stored.accepted:
                self.store.drop_task(task.section_id)
                return False
            filled = self._filled(draft, stored, place, task.instruction, heard, stop)
        except Cancelled:
            if not abandoned():
                self.store.drop_task(task.section_id)
            return False
        except GroundworkError as error:
            if not abandoned():
                self.store.drop_task(task.section_id, error.as_dict())
            raise
        if abandoned():
            return False
        answer = filled.answer
        unfinished = filled.status in ("stopped", "failed")
        if filled.status == "stopped" and (answer is None or not answer.text.strip()):
            self.store.drop_task(task.section_id)
            return False
        before = stored.content is not None and stored.content.status != "failed"
        keep = partial(
            self.store.keep,
            task.section_id,
            filled,
            author=answer.model if answer is not None and answer.model else self.models.writer_name,
            change=_change(filled, stored, task.instruction),
            usd=answer.cost_usd if answer is not None else 0.0,
            show=not (unfinished and before),
            done=True,
            trouble=answer.error if answer is not None and filled.status == "failed" else None,
        )
        while True:
            try:
                keep()
                return True
            except StoreError as error:
                if stop.is_set():
                    raise
                _log.warning("A section that was written is not stored yet: %s %s", error.message, error.hint)
                time.sleep(SAVE_SECONDS)

    def _filled(
        self, draft: Draft, stored: StoredSection, place: Place, instruction: str, heard: Heard, stop: Stop
    ) -> FilledSection:
        infos = self.documents()
        scope = self.scope(draft.info, infos)
        content = stored.content
        task = SectionTask(
            place,
            draft.template,
            within(scope, place.section.documents, infos),
            draft.context(stored),
            infos,
            draft.info.focus or NO_FOCUS,
            pinned=stored.pinned,
            excluded=stored.excluded,
            draft=content.answer if instruction and content is not None else None,
            instruction=instruction,
            fresh=stored.versions > 0,
        )
        return self.filler.section(task, stop, heard)

    def scope(self, info: ReportInfo, infos: Sequence[DocumentInfo]) -> Scope:
        """Documents for a report that are still in the library. Raises `UnknownDocument` if there are none."""
        if info.doc_ids is None:
            return Scope()
        known = {one.doc_id for one in infos}
        left = tuple(doc_id for doc_id in info.doc_ids if doc_id in known)
        if not left:
            raise UnknownDocument(
                "This report's documents are no longer in the library.", hint="Choose other documents."
            )
        return Scope(left)

    def expense(self, report_id: str, section_ids: Sequence[str] | None = None) -> Expense:
        """Cost of filling these sections, or (None) all that `queue` would take."""
        draft = self.get(report_id)
        chosen = [
            (one, place)
            for one, place in draft.pairs
            if not one.accepted and (unwritten(one) if section_ids is None else one.section_id in section_ids)
        ]
        places = [place for _, place in chosen if place.section.filled]
        outline = "\n".join(f"1.1 {place.section.heading}" for place in draft.template.places())
        about = f"{draft.template.guidance}\n{outline}"
        return expense(
            [place.section.query for place in places], about, BEFORE_TOKENS, self.models.writer_name, self.settings
        )

    # A section's versions

    def edit(self, section_id: str, text: str) -> FilledSection:
        """Store ``text`` as a manual version, each sentence checked against its marks ``[n]``. Raises
        `SectionAccepted`, `InputError`."""
        section = self._open(section_id)
        return self._kept(section, edited(self.filler, self._content(section), text), "Edited")

    def add_passage(self, section_id: str, span: Span, instead_of: str = "") -> FilledSection:
        """Quote the words at ``span`` in a section, in place of the gap ``instead_of`` if given, and pin them to it.
        Raises `SectionAccepted`, `InputError`, `UnknownDocument`."""
        section = self._open(section_id)
        made = with_passage(self.filler, self._content(section), span, instead_of)
        self.store.place(section_id, span, "pinned")
        return self._kept(section, made, "Passage added")

    def choose(self, section_id: str, conflict: int, rival: int) -> FilledSection:
        """Choose one of the documents' values for a field. Raises `SectionAccepted`, `InputError`."""
        section = self._open(section_id)
        content = self._content(section)
        if not 0 <= conflict < len(content.conflicts) or not 0 <= rival < len(content.conflicts[conflict].rivals):
            raise InputError("This value no longer exists.", hint="Reload the report.")
        chosen = content.conflicts[conflict].rivals[rival]
        return self._kept(section, with_value(self.filler, content, chosen), f"Chosen: {chosen.figure}")

    def accept(self, section_id: str, accepted: bool = True) -> None:
        """Accept a section, which locks it until it is opened again. Raises `InputError` if it has no text or is being
        written."""
        section = self.store.section(section_id)
        if accepted and section.shown is None:
            raise InputError("This section is still empty.", hint="Fill it, or write it yourself.")
        if accepted and section.waits is not None:
            raise InputError("This section is being filled.", hint="Wait, or stop it.")
        self.store.set_section(section_id, accepted=accepted)

    def undo(self, section_id: str) -> None:
        """Show the version that was shown before this one. Raises `SectionAccepted`, `InputError`."""
        section = self._open(section_id)
        if section.shown is None:
            raise InputError("There's nothing to undo.", hint="The history shows every version.")
        self.store.show(section_id, section.shown.parent or None)

    def show(self, section_id: str, version_id: str) -> None:
        """Show one of a section's versions. Raises `SectionAccepted`, `UnknownSection`."""
        self._open(section_id)
        self.store.show(section_id, version_id)

    def versions(self, section_id: str) -> list[Version]:
        """History of a section, newest first."""
        return self.store.versions(section_id)

    def place(self, section_id: str, span: Span, kind: PlaceKind | None) -> None:
        """Pin a place to a section, exclude it, or neither; effective from the next filling."""
        self._open(section_id)
        document = self.filler.document(span.doc_id)
        if not 0 <= span.start < span.end <= len(document.text):
            raise InputError("This place no longer exists in the document.", hint="Reload the report.")
        self.store.place(section_id, span, kind)

    def _open(self, section_id: str) -> StoredSection:
        section = self.store.section(section_id)
        if section.accepted:
            raise SectionAccepted("This section is accepted.")
        return section

    def _content(self, section: StoredSection) -> FilledSection:
        _, place = self.get(section.report_id).pair(section.section_id)
        return placed(section, place)

    def _kept(self, section: StoredSection, made: FilledSection, change: str) -> FilledSection:
        self.store.keep(section.section_id, made, author=HAND, change=change, usd=0.0)
        return made


def _change(filled: FilledSection, stored: StoredSection, instruction: str) -> str:
    done = f"Rewritten: {instruction}" if instruction else "Filled" if not stored.versions else "Filled again"
    return f"{done} ({filled.status})" if filled.status in ("stopped", "failed") else done


def asked_of(section: Section) -> dict[str, Any]:
    """Stored form of a template section's request, without its subsections."""
    return section.model_dump(mode="json", exclude_defaults=True, exclude={"sections"})


def template_of(info: ReportInfo, sections: Sequence[StoredSection]) -> Template:
    """Template described by the rows. Raises `BadTemplate`."""
    top = nested((section.level, dict(section.asked)) for section in sections)
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


def expense(queries: Sequence[str], about: str, before: int, model: str, settings: Settings) -> Expense:
    """Maximum cost of filling a section for each of ``queries``, told ``about`` the whole and given ``before`` tokens
    of earlier sections."""
    if model == OFFLINE:
        return Expense(len(queries), model, Usage(), 0.0)
    report, sources = settings.report, settings.answer.source_tokens
    given = count_tokens(SECTION_SYSTEM + SECTION_PROMPT + about) + sources + OWN_TOKENS + before
    # Each round adds sources and the draft.
    again = report.rounds * given + (report.rounds - 1) * (sources + report.section_tokens)
    read = sum(again + report.rounds * count_tokens(query) for query in queries)
    written = len(queries) * report.rounds * report.section_tokens
    usage = Usage(math.ceil(read * FINER), math.ceil(written * FINER))
    return Expense(len(queries), model, usage, cost(usage, model, settings.llm.prices))
