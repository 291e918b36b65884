"""Report filling, section by section: search for the guidance → write → check → search for what is missing → write
again (bounded) → gaps and conflicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from ragcore.answer.cite import Citer, MarkerParser
from ragcore.answer.refuse import in_another_language, literals, nearest_units, reason_to_refuse
from ragcore.answer.render import neutralise, render_source
from ragcore.answer.requests import SHOWN_MARK
from ragcore.cancel import Stop
from ragcore.pipelines.stream import AnswerStream, AnswerTask, Services
from ragcore.prompts import SECTION_FORMS, SECTION_PROMPT, SECTION_REVISION, SECTION_SYSTEM
from ragcore.protocols import FieldReader, FieldValue, Message, ModelRequest, Reranker, WritingTask
from ragcore.report.evidence import EvidenceSet, Gathering, SectionTask, further, own_units, within
from ragcore.text.languages import language_of
from ragcore.text.sentences import count_tokens
from ragcore.text.short_titles import short_titles
from ragcore.text.terms import Term
from ragcore.text.words import content_stems, cover
from ragcore.types import Answer, AnswerEvent, Citation, Document, Retrieval, Scope, Source, SubQuery, Usage
from ragcore.types.report import (
    INSUFFICIENT,
    NO_FOCUS,
    Conflict,
    Field,
    FilledSection,
    Focus,
    Gap,
    KnownFacts,
    Missing,
    Report,
    SectionStatus,
    StatedValue,
    missing_mark,
    under,
)

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.providers.registry import Models
    from ragcore.report.template import Section, Template
    from ragcore.types.library import DocumentInfo

Heard = Callable[[AnswerEvent], None]
NOT_HELD = "The passages found don't answer this."
NOT_READ = "Its documents aren't read in full yet."
NOTHING_FOUND = "No passage found is about this."
# A requirement counts as met if this share of its words is in the cited text, or the cross-encoder says so: a false gap
# costs the user more than one they notice themselves.
_WORDS = 0.5
_RELEVANT = 0.3
_NEAREST = 2  # passages given for a gap
_SHOWN = 4  # gaps of a section with passages
BEFORE_TOKENS = 3000  # of the earlier sections that the writer sees


class Retrieve(Protocol):
    """Signature of `Engine.retrieve`, as far as used here."""

    def __call__(self, query: str, *, scope: Scope, parts: Sequence[SubQuery], stop: Stop) -> Retrieval: ...


@dataclass
class ReportRun:
    """Run that fills a report: iterate it for the ``sections`` as they are filled, or call `run` for the `Report`.
    ``stop`` may be called from any thread: the current section ends with its text so far, and later ones are not
    started."""

    template: Template
    sections: Callable[[Stop], Iterator[FilledSection]]
    model: str
    focus: Focus = NO_FOCUS
    _stop: Stop = field(default_factory=Stop, init=False)
    _done: list[FilledSection] = field(default_factory=list, init=False)

    def __iter__(self) -> Iterator[FilledSection]:
        for section in self.sections(self._stop):
            self._done.append(section)
            yield section

    def stop(self) -> None:
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    def run(self) -> Report:
        for _ in self:
            pass
        return self.report

    @property
    def report(self) -> Report:
        """Report with the sections filled so far."""
        return Report(
            title=self.focus.titled(self.template.title),
            guidance=self.template.guidance,
            sections=tuple(self._done),
            model=self.model,
            extractive=all(section.answer is None or section.answer.extractive for section in self._done),
            created=time.time(),
            focus=self.focus,
        )


@dataclass(frozen=True, slots=True)
class SectionFiller:
    """Filler of sections from one library. ``retrieve`` to ``mentions`` are the engine's."""

    retrieve: Retrieve
    document: Callable[[str], Document]
    terms: Callable[[str], tuple[Term, ...]]
    mentions: Callable[[str], dict[str, int]]
    models: Models
    settings: Settings

    def sections(
        self, template: Template, scope: Scope, infos: Sequence[DocumentInfo], stop: Stop, focus: Focus = NO_FOCUS
    ) -> Iterator[FilledSection]:
        """Sections of ``template`` in order, each as soon as it is done. Raises `UnknownDocument` before the first if a
        section names a document that is not in the library."""
        places = [(place, within(scope, place.section.documents, infos)) for place in template.places()]
        before: list[FilledSection] = []
        for place, own_scope in places:
            if stop.is_set():
                return
            section = self.section(SectionTask(place, template, own_scope, before, infos, focus), stop)
            before.append(section)
            yield section

    def section(self, task: SectionTask, stop: Stop, heard: Heard = lambda _: None) -> FilledSection:
        """One section. ``heard`` receives each event of its writing, starting again from `Found` for each rewrite. A
        section without search results is never sent to the writer."""
        place, scope, reader = task.place, task.scope, self.models.fields
        asked = task.asked
        pieces = reader.requirements(asked.heading, asked.guidance)
        pieces = (asked.guidance,) if task.sort and len(pieces) > 1 else pieces
        form = Field(asked.kind, asked.columns, asked.unit, pieces, task.sort)
        empty = FilledSection(place.number, place.level, asked.heading, asked.guidance, form, asked.required, "heading")
        if not asked.filled:
            return empty
        # What is quoted from the first pages of a document may have another place when all are read.
        ready = [info for info in task.infos if info.status == "ready"]
        if any(info.status != "ready" and scope.holds(info.doc_id) for info in task.infos):
            scope = replace(scope, doc_ids=tuple(info.doc_id for info in ready if scope.holds(info.doc_id)))
            if not scope.doc_ids:
                return replace(empty, status="empty", gaps=tuple(Gap(what, NOT_READ) for what in form.requirements))
        known = scope.doc_ids or tuple(info.doc_id for info in ready)
        # Within one document its own name distinguishes no passages.
        sought = task.focus if len(known) > 1 else replace(task.focus, subject="")
        parts = _parts(sought, asked.heading, pieces if len(pieces) > 1 else (), "guidance", "the guidance asks for it")
        if task.instruction:
            parts += _parts(sought, asked.heading, [task.instruction], "guidance", "it is to be rewritten so")
        retrieval = self.retrieve(sought.of(asked.query), scope=scope, parts=parts, stop=stop)
        extractive = self.models.section_writer.capabilities.extractive
        evidence = Gathering(reader, self.document, self.terms, self.settings, extractive, task.excluded)
        names = short_titles({one.doc_id: one.title for one in ready}, {one.doc_id: one.name for one in ready})
        if task.focus.subject and task.scope.doc_ids is None:
            retrieval, known = evidence.of_subject(task.focus.subject, retrieval, known)
        given = evidence.gather(task, form, retrieval, known, names)
        reason = self._nothing_for(task, form, given, retrieval)
        if reason:
            gaps = tuple(Gap(what, reason) for what in form.requirements)
            return replace(empty, status="empty", gaps=self._with_nearest(asked.heading, gaps, given.sources))
        written: Answer | None = None
        missing: list[Missing] = []
        instruction = task.instruction
        spent: list[Answer] = []
        query, models = self.models.analyser.read(asked.query), self.models
        services = Services(
            models.section_writer, self.settings, self.document, models.reranker, entailment=models.entailment
        )
        for rounds in range(1, self.settings.report.rounds + 1):
            request = partial(self._request, task, form, given, retrieval, missing, instruction)
            writing = AnswerTask(asked.query, query, retrieval, given.sources, fresh=task.fresh, request=request)
            stream = AnswerStream(writing, services)
            answer = _followed(stream, stop, heard)
            spent.append(answer)
            values = stream.values
            if answer.status != "complete" and written is not None:
                # A rewrite that failed or was stopped keeps the previous text.
                answer = written
                break
            missing = self._missing(form, answer, stream.missing, asked.heading)
            if answer.status != "complete" or answer.refused:
                break
            written = answer
            if not missing or stop.is_set() or rounds == self.settings.report.rounds:
                break
            searches = self._searches(asked, missing, sought, scope, extractive, stop)
            found: tuple[Source, ...] = ()
            for more in searches:
                found += further((*given.sources, *found), evidence.sources(more))
            # Each search is booked once.
            spent += [replace(answer, usage=more.usage, cost_usd=more.cost_usd) for more in searches]
            retrieval = replace(retrieval, usage=Usage(), cost_usd=0.0)
            if not found:
                break
            given = replace(given, sources=(*given.sources, *found), draft=answer)
            instruction = ""
        why = self._foreign(task, given.sources) or self._of_part(asked, given.stated) or NOT_HELD
        filled = _filled(empty, _booked(answer, spent), missing, rounds, why)
        likely = tuple(self._stated(one, given.sources) for one in values if not one.certain)
        return replace(
            filled,
            gaps=self._with_nearest(asked.heading, filled.gaps, given.sources, likely),
            conflicts=self._conflicts(asked, form, given.sources, given.stated),
            values=tuple(self._stated(one, given.sources) for one in values if one.certain) if answer.citations else (),
            likely=likely,
        )

    # Before writing

    def _nothing_for(self, task: SectionTask, form: Field, given: EvidenceSet, retrieval: Retrieval) -> str:
        """Reason why no source can hold anything for a section, "" if one may."""
        asked = task.asked
        abroad = self._foreign(task, given.sources)
        if abroad and not task.pinned and not literals(self.models.analyser.read(asked.query), given.sources):
            return abroad
        # A value or table that is used only if certain needs no look-ahead.
        extractive = self.models.section_writer.capabilities.extractive
        certain = extractive and asked.kind in ("value", "table") and bool(given.sources)
        may = given.spans or given.draft or certain or self._may_hold(asked.heading, form, retrieval, given.sources)
        return "" if may else abroad or NOTHING_FOUND

    def _foreign(self, task: SectionTask, sources: Sequence[Source]) -> str:
        """Reason why quotes of ``sources`` do not answer a section: it is in another language ("" if not, or if the
        writer does more than quote). A few words are assumed to be in the language of the template around them."""
        if not self.models.section_writer.capabilities.extractive:
            return ""
        headings = (place.section.heading for place in task.template.places())
        around = "\n".join((task.template.guidance, *headings))
        return in_another_language("section", language_of(task.asked.query) or language_of(around), sources)

    def _may_hold(self, heading: str, form: Field, retrieval: Retrieval, sources: Sequence[Source]) -> bool:
        """Whether any requested piece may be in ``sources``."""
        pieces = form.requirements
        asked = dict.fromkeys((heading, *(under(heading, piece) for piece in pieces), *pieces))
        return any(
            not reason_to_refuse(
                self.models.analyser.read(one),
                retrieval,
                sources,
                terms=self.terms(one),
                mentions=self.mentions,
            )
            for one in asked
        )

    # Writing

    def _request(
        self,
        task: SectionTask,
        form: Field,
        given: EvidenceSet,
        retrieval: Retrieval,
        missing: Sequence[Missing],
        instruction: str,
    ) -> ModelRequest:
        """Request for one section. A draft makes it one for a revision: for ``missing`` items, with sources found
        since, or by ``instruction``."""
        asked, template, sources = task.asked, task.template, given.sources
        revision = ""
        if given.draft is not None:
            revision = SECTION_REVISION.format(
                draft=with_markers(given.draft),
                missing="\n".join(f"- {one.words}" for one in missing) or "- nothing",
                instruction=instruction or "Fill what is missing from the sources; keep the rest as it is.",
            )
        unit = f" in {form.unit}" if form.unit else ""
        prompt = SECTION_PROMPT.format(
            sources="\n\n".join(render_source(source, self.document(source.doc_id)) for source in sources),
            outline="\n".join(f"{one.number} {one.section.heading}" for one in template.places()),
            about=task.focus.told(template.guidance) or "–",
            before=_before(task.before, BEFORE_TOKENS) or "None yet.",
            heading=asked.heading,
            guidance=asked.guidance or "–",
            requirements="\n".join(f"{number}. {piece}" for number, piece in enumerate(form.requirements, start=1)),
            form=SECTION_FORMS[form.kind].format(columns=" | ".join(form.columns), unit=unit),
            revision=revision,
        )
        writing = WritingTask(
            asked.heading,
            sources,
            self.terms(asked.query),
            retrieval.routes,
            form,
            own=own_units(sources, given.spans),
            pinned=own_units(sources, [(span.doc_id, span.start, span.end) for span in task.pinned]),
            stated=given.stated,
        )
        most = self.settings.report.section_tokens
        return ModelRequest(SECTION_SYSTEM, (Message(prompt),), max_tokens=most, purpose="report", task=writing)

    def _searches(
        self, asked: Section, missing: Sequence[Missing], sought: Focus, scope: Scope, extractive: bool, stop: Stop
    ) -> list[Retrieval]:
        """Searches for what is ``missing``. What one document lacks is searched for in it alone: in a joint search
        another company's passages may outrank its own. A quoting writer needs only these; for a value or table, each
        document was searched."""
        lacking: dict[str, list[str]] = {}
        for one in missing:
            if not extractive or (one.doc_id and asked.kind not in ("value", "table")):
                lacking.setdefault(one.doc_id, []).append(one.what)
        found = []
        for doc_id, (first, *rest) in lacking.items():
            if stop.is_set():
                break
            focus, where = (NO_FOCUS, Scope((doc_id,))) if doc_id else (sought, scope)
            parts = _parts(focus, asked.heading, rest, "gap", "it was still missing")
            found.append(self.retrieve(focus.of(under(asked.heading, first)), scope=where, parts=parts, stop=stop))
        return found

    # Gaps and conflicts

    def _missing(self, form: Field, answer: Answer, told: Sequence[Missing], heading: str) -> list[Missing]:
        """Missing parts of ``form``: those named as missing in the text, some ``told`` by the writer with their
        document, and those omitted silently."""
        if answer.refused or answer.status == "failed":
            return [Missing(what) for what in form.requirements]
        by_words = {one.words: one for one in told}
        said = [by_words.get(what, Missing(what or heading)) for what in marked(answer.text)]
        if answer.extractive:
            return said
        return [*said, *(Missing(what) for what in _unmet(form.requirements, answer, heading, self.models.reranker))]

    def _of_part(self, asked: Section, stated: KnownFacts) -> str:
        """Notice that ``asked`` is for a year and the documents cover only part of one, else ""."""
        every = stated.interim and set(stated.titles) <= set(stated.interim)
        if not every or not asks_of_a_year(self.models.fields, asked):
            return ""
        covered = [f"“{stated.titles[one]}” ({words})" for one, words in list(stated.interim.items())[:_SHOWN]]
        return f"It asks for a full year, and the documents cover only part of one: {'; '.join(covered)}."

    def _with_nearest(
        self, heading: str, gaps: Sequence[Gap], sources: Sequence[Source], likely: Sequence[StatedValue] = ()
    ) -> tuple[Gap, ...]:
        """``gaps``, the first ones with the nearest passages of ``sources``, for the only one those of what is
        ``likely``; for a gap of one document, from that document only."""
        out = []
        if len(gaps) == 1 and likely:
            near = [one.citation for one in likely if gaps[0].doc_id in ("", one.citation.doc_id)]
            gaps = [replace(gaps[0], nearest=tuple(near))]
        for place, gap in enumerate(gaps):
            if not gap.nearest and place < _SHOWN:
                own = [source for source in sources if gap.doc_id in ("", source.doc_id)]
                found = nearest_units(under(heading, gap.what), own, self.terms(gap.what))[:_NEAREST]
                markers = (f"<<SOURCE {number}.{first}-{number}.{last}>>" for number, first, last, _ in found)
                gap = replace(gap, nearest=tuple(self._cited(marker, sources) for marker in markers))
            out.append(gap)
        return tuple(out)

    def _conflicts(
        self, asked: Section, form: Field, sources: Sequence[Source], stated: KnownFacts
    ) -> tuple[Conflict, ...]:
        """Differing values in the sources for a single-valued field."""
        if form.kind != "value":
            return ()
        found = self.models.fields.rivals(asked.heading, form, self.terms(asked.query), sources, stated)
        return tuple(
            Conflict(
                piece,
                tuple(self._stated(one, sources) for one in rivals),
            )
            for piece, rivals in found
        )

    def _stated(self, one: FieldValue, sources: Sequence[Source]) -> StatedValue:
        return StatedValue(one.figure, one.words, self._cited(one.marker, sources), one.period, one.scale)

    def _cited(self, marker: str, sources: Sequence[Source]) -> Citation:
        """Citation by a marker of a quote of ``sources``."""
        (parsed,) = (item for item in MarkerParser().feed(marker) if not isinstance(item, str))
        return Citer(sources, self.document).resolve(parsed)[0][0]


def asks_of_a_year(reader: FieldReader, asked: Section) -> bool:
    """Whether ``asked`` is a value for a year or year-end."""
    return asked.kind == "value" and reader.of_a_year(asked.heading, asked.guidance, asked.unit)


def marked(text: str) -> list[str]:
    """Pieces that ``text`` itself reports as missing, in order; "" for one without a name."""
    return list(dict.fromkeys((match.group(1) or "").strip(" .") for match in INSUFFICIENT.finditer(text)))


def _parts(
    focus: Focus, heading: str, pieces: Sequence[str], origin: Literal["guidance", "gap"], reason: str
) -> list[SubQuery]:
    return [SubQuery(focus.of(under(heading, piece)), origin, reason) for piece in pieces]


def _followed(stream: AnswerStream, stop: Stop, heard: Heard) -> Answer:
    with stop.closing(stream.stop):
        for event in stream:
            heard(event)
    assert stream.answer is not None  # a stream always ends with Done
    return stream.answer


def with_markers(answer: Answer) -> str:
    """Text of an answer as written, with citations as the writer's markers."""
    by_number = {citation.n: citation for citation in answer.citations}
    pieces: list[str] = []
    at = 0
    for mark in answer.marks:
        citation = by_number[mark.n]
        first, last = citation.units
        unit = f"{citation.source}.{first}" if first else str(citation.source)
        pieces += [
            answer.text[at : mark.start],
            f"<<SOURCE {unit}{f'-{citation.source}.{last}' if last > first else ''}>>",
        ]
        at = mark.end
    return "".join([*pieces, answer.text[at:]])


def _before(sections: Sequence[FilledSection], tokens: int) -> str:
    """Earlier sections that fit ``tokens`` together, newest first, in the report's order, without citation marks, whose
    numbers belong to other sources."""
    kept: list[str] = []
    for section in reversed([section for section in sections if section.text]):
        text = neutralise(f"{section.number} {section.heading}\n{SHOWN_MARK.sub('', section.text)}")
        cost = count_tokens(text)
        if cost > tokens:
            break
        kept.append(text)
        tokens -= cost
    return "\n\n".join(reversed(kept))


def _booked(answer: Answer, spent: Sequence[Answer]) -> Answer:
    """``answer`` with the cost of all writing and searching."""
    costs = [one.cost_usd for one in spent]
    total = None if None in costs else sum(cost or 0.0 for cost in costs)
    return replace(answer, usage=sum((one.usage for one in spent), Usage()), cost_usd=total)


def _unmet(requirements: Sequence[str], answer: Answer, heading: str, reranker: Reranker | None) -> list[str]:
    """``requirements`` that no cited claim of ``answer`` covers and that are not marked as missing."""
    told = [claim.text for claim in answer.claims if claim.citations and claim.status != "unsupported"]
    said = set(content_stems(" ".join([heading, *told, *marked(answer.text)])))
    missing = [piece for piece in requirements if cover(content_stems(piece), said) < _WORDS]
    if not missing or reranker is None or not told:
        return missing
    return [piece for piece in missing if float(reranker.score(piece, told).max()) < _RELEVANT]


def _filled(section: FilledSection, answer: Answer, missing: Sequence[Missing], rounds: int, why: str) -> FilledSection:
    """``section`` with its new text and its ``missing`` pieces named; ``why`` is the reason."""
    nearest = answer.citations if answer.refused else ()
    gaps = tuple(Gap(one.words, why, nearest, one.doc_id) for one in missing)
    status: SectionStatus = "partial" if gaps else "filled"
    if answer.status != "complete":
        status = "failed" if answer.status == "failed" else "stopped"
    elif answer.refused or not answer.citations:
        status = "empty"
    if answer.refused:
        # The gaps hold the content of a refusal; a report marks missing pieces in its own way.
        answer = replace(answer, text="", marks=(), citations=(), claims=())
    unsaid = [missing_mark(gap.what) for gap in gaps if gap.what not in marked(answer.text)]
    answer = replace(answer, text="\n\n".join([*([answer.text] if answer.text else []), *unsaid]))
    return replace(section, status=status, answer=answer, gaps=gaps, rounds=rounds)
