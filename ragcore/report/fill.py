"""Report filling, section by section: search for the guidance → write → check → search for what is missing → write
again (bounded) → gaps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ragcore.cancel import Stop
from ragcore.protocols import ModelRequest
from ragcore.report.evidence import (
    FEW,
    EvidenceSet,
    Gathering,
    SectionConstraints,
    further,
    own_units,
    within,
    without,
)
from ragcore.report.gaps import (
    NOT_HELD,
    NOTHING_FOUND,
    GapFinder,
    filled_of,
    foreign,
    lacking_of,
    marked,
    nothing_for,
    of_part,
    unmet,
)
from ragcore.text.short_titles import short_titles
from ragcore.text.terms import Term
from ragcore.types import Answer, AnswerEvent, Document, Retrieval, Scope, Source, SubQuery, Usage
from ragcore.types.report import NO_FOCUS, Field, FilledSection, Focus, Missing, Report

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.pipelines.stream import AnswerStream
    from ragcore.providers.registry import Models
    from ragcore.report.template import Place, Template
    from ragcore.types.library import DocumentInfo

Heard = Callable[[AnswerEvent], None]
NOTHING_ORDERED = SectionConstraints()


def _unheard(_: AnswerEvent) -> None: ...


class Retrieve(Protocol):
    """Signature of `Engine.retrieve`, as far as used here."""

    def __call__(self, query: str, *, scope: Scope, parts: Sequence[SubQuery], stop: Stop) -> Retrieval: ...


class ReportRun:
    """Run that fills a report: iterate it for the sections as they are filled, or call `run` for the `Report`. ``stop``
    may be called from any thread: the current section ends with its text so far, and later ones are not started."""

    def __init__(
        self,
        template: Template,
        sections: Callable[[Stop], Iterator[FilledSection]],
        model: str,
        focus: Focus = NO_FOCUS,
    ) -> None:
        self._template = template
        self._focus = focus
        self._sections = sections
        self._model = model
        self._stop = Stop()
        self._done: list[FilledSection] = []

    def __iter__(self) -> Iterator[FilledSection]:
        for section in self._sections(self._stop):
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
            title=self._focus.titled(self._template.title),
            guidance=self._template.guidance,
            sections=tuple(self._done),
            model=self._model,
            extractive=all(section.answer is None or section.answer.extractive for section in self._done),
            created=time.time(),
            focus=self._focus,
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """Request for one writing of a section: its place, and the inputs."""

    place: Place
    form: Field
    about: str
    outline: Sequence[str]
    before: Sequence[FilledSection]
    given: EvidenceSet
    missing: Sequence[Missing]
    instruction: str
    orders: SectionConstraints


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
        self,
        template: Template,
        scope: Scope,
        infos: Sequence[DocumentInfo],
        stop: Stop,
        orders: SectionConstraints = NOTHING_ORDERED,
    ) -> Iterator[FilledSection]:
        """Sections of ``template`` in order, each as soon as it is done. Raises `UnknownDocument` before the first if a
        section names a document that is not in the library."""
        places = [(place, within(scope, place.section.documents, infos)) for place in template.places()]
        outline = [f"{place.number} {place.section.heading}" for place in template.places()]
        before: list[FilledSection] = []
        for place, own_scope in places:
            if stop.is_set():
                return
            section = self.section(place, template.guidance, outline, before, own_scope, stop, orders, infos=infos)
            before.append(section)
            yield section

    def section(
        self,
        place: Place,
        about: str,
        outline: Sequence[str],
        before: Sequence[FilledSection],
        scope: Scope,
        stop: Stop,
        orders: SectionConstraints = NOTHING_ORDERED,
        heard: Heard = _unheard,
        infos: Sequence[DocumentInfo] = (),
    ) -> FilledSection:
        """One section, by its template and ``orders``; ``infos`` is the library. ``heard`` receives each event of its
        writing, starting again from `Found` for each rewrite. A section without search results is never sent to the
        writer."""
        asked, reader = place.section, self.models.fields
        form = Field(asked.kind, asked.columns, asked.unit, reader.requirements(asked.heading, asked.guidance))
        empty = FilledSection(place.number, place.level, asked.heading, asked.guidance, form, asked.required, "heading")
        if not asked.filled:
            return empty
        parts = _guided(asked.heading, form.requirements)
        if orders.instruction:
            parts.append(SubQuery(f"{asked.heading}: {orders.instruction}", "guidance", "it is to be rewritten so"))
        focus = orders.focus
        ready = [info for info in infos if info.status == "ready"]
        known = scope.doc_ids or tuple(info.doc_id for info in ready)
        # Within one document its own name distinguishes no passages.
        sought = focus if len(known) > 1 else replace(focus, subject="")
        retrieval = self.retrieve(sought.of(asked.query), scope=scope, parts=_on(sought, parts), stop=stop)
        extractive = self.models.section_writer.capabilities.extractive
        evidence = Gathering(reader, self.document, self.terms, self.settings, extractive)
        names = short_titles({one.doc_id: one.title for one in ready}, {one.doc_id: one.name for one in ready})
        if focus.subject and scope.doc_ids is None:
            retrieval, known = self._of_subject(focus.subject, retrieval, known)
        gathered = evidence.gather(asked, form, orders, retrieval, known, names)
        sources, draft, spans = gathered.sources, gathered.draft, gathered.spans
        abroad = foreign(asked.query, "\n".join((about, *outline)), sources) if extractive else ""
        # A value or table that is used only if certain needs no look-ahead.
        taken = extractive and asked.kind in ("value", "table") and bool(sources)
        may_hold = spans or draft or taken or self._may_hold(asked.heading, form.requirements, retrieval, sources)
        from ragcore.answer.refuse import literals

        alike = not abroad or literals(self.models.analyser.read(asked.query), sources)
        if not may_hold or not (alike or orders.pinned):
            return nothing_for(empty, abroad or NOTHING_FOUND)
        written: Answer | None = None
        missing: list[Missing] = []
        rounds = 0
        instruction = orders.instruction
        spent: list[Answer] = []
        while rounds < self.settings.report.rounds:
            written_from = replace(gathered, sources=sources, draft=draft)
            request = _Asked(place, form, about, outline, before, written_from, missing, instruction, orders)
            stream = self._stream(request, retrieval)
            answer = _followed(stream, stop, heard)
            rounds += 1
            spent.append(answer)
            if answer.status != "complete" and written is not None:
                # A rewrite that failed or was stopped keeps the previous text.
                answer = written
                break
            missing = self._missing(form, answer, stream.missing, asked.heading)
            if answer.status != "complete" or answer.refused:
                break
            draft = written = answer
            if not missing or stop.is_set() or rounds == self.settings.report.rounds:
                break
            if answer.extractive:
                if asked.kind in ("value", "table"):
                    break  # each document was searched
                lacking = lacking_of(missing)
                found = self._of_each(asked.heading, lacking, sources, orders, evidence, stop)
                if not found:
                    break
                sources = (*sources, *found)
                continue
            more = self.retrieve(
                sought.of(f"{asked.heading}: {missing[0].what}"),
                scope=scope,
                parts=_on(sought, _gaps(asked.heading, [one.what for one in missing[1:]])),
                stop=stop,
            )
            # Each search is booked once, with the following writing.
            retrieval = replace(retrieval, usage=more.usage, cost_usd=more.cost_usd)
            found = further(sources, evidence.sources(without(more, orders.excluded)))
            if not found:
                spent.append(replace(answer, usage=more.usage, cost_usd=more.cost_usd))
                break
            sources = (*sources, *found)
            instruction = ""
        why = abroad or of_part(reader, asked, gathered.stated) or NOT_HELD
        filled = filled_of(empty, _booked(answer, spent), missing, rounds, why)
        lacks = GapFinder(reader, self.document, self.terms, self.settings)
        return replace(
            filled,
            gaps=lacks.with_nearest(asked.heading, filled.gaps, sources),
            conflicts=lacks.conflicts(asked, form, sources, gathered.stated),
        )

    def _of_subject(
        self, subject: str, retrieval: Retrieval, documents: Sequence[str]
    ) -> tuple[Retrieval, tuple[str, ...]]:
        """``retrieval`` and ``documents`` without documents known to be of other companies than ``subject``, unless
        nothing else was found."""
        from ragcore.text.companies import companies, company, of_others

        own = company(subject)
        found = {*(hit.chunk.doc_id for hit in retrieval.hits), *(segment.doc_id for segment in retrieval.segments)}
        looked_into = {*found, *(documents if len(documents) <= FEW else ())}
        of_another = {one for one in looked_into if of_others(own, companies(self.document(one)))}
        if found <= of_another:
            return retrieval, tuple(documents)
        kept = replace(
            retrieval,
            hits=tuple(hit for hit in retrieval.hits if hit.chunk.doc_id not in of_another),
            segments=tuple(segment for segment in retrieval.segments if segment.doc_id not in of_another),
        )
        return kept, tuple(one for one in documents if one not in of_another)

    def _of_each(
        self,
        heading: str,
        lacking: Mapping[str, Sequence[str]],
        sources: Sequence[Source],
        orders: SectionConstraints,
        evidence: Gathering,
        stop: Stop,
    ) -> tuple[Source, ...]:
        """Results of a separate search in each document for the pieces ``lacking`` there, in addition to ``sources``:
        in a joint search another company's passages may outrank them."""
        found: tuple[Source, ...] = ()
        for doc_id, (first, *rest) in lacking.items():
            if stop.is_set():
                break
            scope = Scope((doc_id,))
            more = self.retrieve(f"{heading}: {first}", scope=scope, parts=_gaps(heading, rest), stop=stop)
            own = evidence.sources(without(more, orders.excluded))
            found = (*found, *further((*sources, *found), own))
        return found

    def _may_hold(self, heading: str, pieces: Sequence[str], retrieval: Retrieval, sources: Sequence[Source]) -> bool:
        """Whether any requested piece may be in ``sources``."""
        from ragcore.answer.refuse import reason_to_refuse

        asked = dict.fromkeys((heading, *(f"{heading}: {piece}" for piece in pieces), *pieces))
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

    def _stream(self, asked: _Asked, retrieval: Retrieval) -> AnswerStream:
        from ragcore.answer.section import section_request
        from ragcore.pipelines.stream import AnswerStream, AnswerTask, Services

        section = asked.place.section

        def request() -> ModelRequest:
            made = section_request(
                section.heading,
                section.guidance,
                asked.form,
                asked.outline,
                asked.before,
                asked.given.sources,
                self.document,
                self.settings,
                about=asked.orders.focus.told(asked.about),
                terms=self.terms(section.query),
                routes=retrieval.routes,
                own=own_units(asked.given.sources, asked.given.spans),
                draft=asked.given.draft,
                missing=[one.words for one in asked.missing],
                instruction=asked.instruction,
            )
            pinned = [(span.doc_id, span.start, span.end) for span in asked.orders.pinned]
            held = own_units(asked.given.sources, pinned)
            task = replace(made.task, pinned=held, stated=asked.given.stated)
            return replace(made, fresh=asked.orders.fresh, task=task)

        query = self.models.analyser.read(section.query)
        return AnswerStream(
            AnswerTask(section.query, query, retrieval, asked.given.sources, request=request),
            Services(
                self.models.section_writer,
                self.settings,
                self.document,
                self.models.reranker,
                entailment=self.models.entailment,
            ),
        )

    def _missing(self, form: Field, answer: Answer, told: Sequence[Missing], heading: str) -> list[Missing]:
        """Missing parts of ``form``: those named as missing in the text, some ``told`` by the writer with their
        document, and those omitted silently."""
        if answer.refused or answer.status == "failed":
            return [Missing(what) for what in form.requirements]
        by_words = {one.words: one for one in told}
        said = [by_words.get(what, Missing(what or heading)) for what in marked(answer.text)]
        if answer.extractive:
            return said
        silent = unmet(form.requirements, answer, heading, self.models.reranker)
        return [*said, *(Missing(what) for what in silent)]


def _guided(heading: str, pieces: Sequence[str]) -> list[SubQuery]:
    """Searches in addition to the whole guidance: one for each of its pieces, if there are several."""
    asked = pieces if len(pieces) > 1 else ()
    return [SubQuery(f"{heading}: {piece}", "guidance", "the guidance asks for it") for piece in asked]


def _on(focus: Focus, parts: Sequence[SubQuery]) -> list[SubQuery]:
    return [replace(part, text=focus.of(part.text)) for part in parts]


def _gaps(heading: str, missing: Sequence[str]) -> list[SubQuery]:
    return [SubQuery(f"{heading}: {what}", "gap", "it was still missing") for what in missing]


def _followed(stream: AnswerStream, stop: Stop, heard: Heard) -> Answer:
    with stop.closing(stream.stop):
        for event in stream:
            heard(event)
    assert stream.answer is not None  # a stream always ends with Done
    return stream.answer


def _booked(answer: Answer, spent: Sequence[Answer]) -> Answer:
    """``answer`` with the cost of all writing and searching."""
    costs = [one.cost_usd for one in spent]
    known = [cost for cost in costs if cost is not None]
    total = sum(known) if len(known) == len(costs) else None
    return replace(answer, usage=sum((one.usage for one in spent), Usage()), cost_usd=total)
