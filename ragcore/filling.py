"""A template → its sections filled: search for what the guidance asks → write → check → search for what is missing →
write again (bounded) → gaps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ragcore.orders import Orders, further, kept_sources, pinned_sources, within, without, without_marks_of_others
from ragcore.protocols import Request
from ragcore.report.headed import headed, own_units
from ragcore.report.recall import marked, unmet, with_marks
from ragcore.report.requirements import requirements
from ragcore.reports import Conflict, Field, FilledSection, Gap, Report, Rival, SectionStatus
from ragcore.stop import Stop
from ragcore.terms import Term
from ragcore.types import Answer, AnswerEvent, Document, Retrieval, Scope, Segment, Source, SubQuery, Usage

if TYPE_CHECKING:
    from ragcore.answer.cite import Marker
    from ragcore.answer.stream import AnswerStream
    from ragcore.config import Settings
    from ragcore.index.store import DocumentInfo
    from ragcore.models import Models
    from ragcore.report.template import Place, Template

Heard = Callable[[AnswerEvent], None]
NOTHING_ORDERED = Orders()
NEAREST = 2  # passages that are given for what is missing
GAPS_SHOWN = 4  # of a section, for which they are looked for
NOT_HELD = "The passages found do not hold it."
NOTHING_FOUND = "Nothing that was found is about it."


def _unheard(_: AnswerEvent) -> None: ...


class Retrieve(Protocol):
    """`Engine.retrieve`, as far as it is needed here."""

    def __call__(self, query: str, *, scope: Scope, parts: Sequence[SubQuery], stop: Stop) -> Retrieval: ...


class ReportRun:
    """Iterate it for the sections as they are filled, or call `run` for the `Report`. ``stop`` may be called from any
    thread: the section being written then ends with what it has, and those after it are not begun."""

    def __init__(self, template: Template, sections: Callable[[Stop], Iterator[FilledSection]], model: str) -> None:
        self._template = template
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
        """The report as far as it is filled."""
        return Report(
            title=self._template.title,
            guidance=self._template.guidance,
            sections=tuple(self._done),
            model=self._model,
            extractive=all(section.answer is None or section.answer.extractive for section in self._done),
            created=time.time(),
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """One writing of a section: its place, and what goes into the request."""

    place: Place
    form: Field
    about: str
    outline: Sequence[str]
    before: Sequence[FilledSection]
    sources: tuple[Source, ...]
    spans: Sequence[tuple[str, int, int]]
    draft: Answer | None
    missing: Sequence[str]
    instruction: str
    orders: Orders


@dataclass(frozen=True, slots=True)
class Filling:
    """Fills sections from one library. ``retrieve`` to ``mentions`` are the engine's."""

    retrieve: Retrieve
    document: Callable[[str], Document]
    terms: Callable[[str], tuple[Term, ...]]
    mentions: Callable[[str], dict[str, int]]
    models: Models
    settings: Settings

    def sections(
        self, template: Template, scope: Scope, infos: Sequence[DocumentInfo], stop: Stop
    ) -> Iterator[FilledSection]:
        """The sections of ``template`` in their order, each as soon as it is done. Raises `UnknownDocument` before the
        first where a section is about a document that is not in the library."""
        places = [(place, within(scope, place.section.documents, infos)) for place in template.places()]
        outline = [f"{place.number} {place.section.heading}" for place in template.places()]
        before: list[FilledSection] = []
        for place, own_scope in places:
            if stop.is_set():
                return
            section = self.section(place, template.guidance, outline, before, own_scope, stop)
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
        orders: Orders = NOTHING_ORDERED,
        heard: Heard = _unheard,
    ) -> FilledSection:
        """One section, by its template and ``orders``; ``heard`` is told each event of its writing, from `Found` anew
        each time that it is written again. A section for which nothing was found is never put to the writer."""
        asked = place.section
        form = Field(asked.kind, asked.columns, asked.unit, tuple(requirements(asked.heading, asked.guidance)))
        empty = FilledSection(place.number, place.level, asked.heading, asked.guidance, form, asked.required, "heading")
        if not asked.filled:
            return empty
        parts = _guided(asked.heading, form.requirements)
        if orders.instruction:
            parts.append(SubQuery(f"{asked.heading}: {orders.instruction}", "guidance", "it is to be rewritten so"))
        retrieval = self.retrieve(asked.query, scope=scope, parts=parts, stop=stop)
        draft, sources = self._given(orders, retrieval)
        pinned = [(span.doc_id, span.start, span.end) for span in orders.pinned]
        spans = [*pinned, *self._headed(asked.heading, sources)]
        sources = (*sources, *self._beside(sources, spans, orders))
        # A value or a table that is only taken where it is certain needs no look ahead.
        taken = self.models.section_writer.extractive and asked.kind in ("value", "table") and bool(sources)
        if not (spans or draft or taken or self._may_hold(asked.heading, form.requirements, retrieval, sources)):
            return replace(empty, status="empty", gaps=tuple(Gap(what, NOTHING_FOUND) for what in form.requirements))
        written: Answer | None = None
        missing: list[str] = []
        rounds = 0
        instruction = orders.instruction
        spent: list[Answer] = []
        while rounds < self.settings.report.rounds:
            request = _Asked(place, form, about, outline, before, sources, spans, draft, missing, instruction, orders)
            answer = _followed(self._stream(request, retrieval), stop, heard)
            rounds += 1
            spent.append(answer)
            if answer.status != "complete" and written is not None:
                # A rewrite that failed or was stopped does not take away what was there.
                answer = written
                break
            missing = self._missing(form, answer, asked.heading)
            if answer.status != "complete" or answer.refused:
                break
            draft = written = answer
            if not missing or answer.extractive or stop.is_set() or rounds == self.settings.report.rounds:
                break
            more = self.retrieve(
                f"{asked.heading}: {missing[0]}",
                scope=scope,
                parts=_gaps(asked.heading, missing[1:]),
                stop=stop,
            )
            # Each search is booked once, with the writing that follows it.
            retrieval = replace(retrieval, usage=more.usage, cost_usd=more.cost_usd)
            found = further(sources, self._sources(without(more, orders.excluded)))
            if not found:
                spent.append(replace(answer, usage=more.usage, cost_usd=more.cost_usd))
                break
            sources = (*sources, *found)
            instruction = ""
        filled = _filled(empty, _booked(answer, spent), missing, rounds)
        return replace(
            filled,
            gaps=self._with_nearest(asked.heading, filled.gaps, sources),
            conflicts=self._conflicts(place, form, sources),
        )

    def _given(self, orders: Orders, retrieval: Retrieval) -> tuple[Answer | None, tuple[Source, ...]]:
        """What is to be rewritten, if anything, and the sources: those of it with their numbers, what is pinned, and
        what was found."""
        draft = orders.draft
        kept: tuple[Source, ...] = ()
        if draft is not None:
            kept = kept_sources(draft, orders.excluded)
            draft = without_marks_of_others(draft, kept)
        found = without(retrieval, (*orders.excluded, *orders.pinned))
        sources = (*kept, *further(kept, pinned_sources(orders.pinned, self.document, self.settings)))
        return draft, (*sources, *further(sources, self._sources(found)))

    def _with_nearest(self, heading: str, gaps: Sequence[Gap], sources: Sequence[Source]) -> tuple[Gap, ...]:
        """``gaps``, the first of them with the passages of ``sources`` that come nearest to what they lack."""
        from ragcore.answer.cite import Citer, MarkerParser
        from ragcore.providers.nearest import nearest

        citer = Citer(sources, self.document)
        out = []
        for place, gap in enumerate(gaps):
            if not gap.nearest and place < GAPS_SHOWN:
                terms, settings = self.terms(gap.what), self.settings.answer
                # By words alone: it is a hint, and the cross-encoder would read every sentence again.
                markers = nearest(heading, gap.what, terms, sources, None, settings, NEAREST)
                cited = [citer.resolve(each)[0][0] for mark in markers for each in _markers(MarkerParser().feed(mark))]
                gap = replace(gap, nearest=tuple(cited))
            out.append(gap)
        return tuple(out)

    def _conflicts(self, place: Place, form: Field, sources: Sequence[Source]) -> tuple[Conflict, ...]:
        """Where the sources give different values for a field that holds one."""
        if form.kind != "value":
            return ()
        from ragcore.answer.cite import Citer, MarkerParser
        from ragcore.providers.rivals import rivals

        asked = place.section
        out = []
        for piece in form.requirements:
            citer = Citer(sources, self.document)
            found = rivals(asked.heading, piece, asked.unit, self.terms(asked.query), sources)
            each = []
            for figure, words, marker in found:
                (parsed,) = _markers(MarkerParser().feed(marker))
                each.append(Rival(figure, words, citer.resolve(parsed)[0][0]))
            if each:
                out.append(Conflict(piece, tuple(each)))
        return tuple(out)

    def _may_hold(self, heading: str, pieces: Sequence[str], retrieval: Retrieval, sources: Sequence[Source]) -> bool:
        """Whether any piece of what is asked for may stand in ``sources``."""
        from ragcore.answer.refuse import reason_to_refuse

        asked = dict.fromkeys((heading, *(f"{heading}: {piece}" for piece in pieces), *pieces))
        return any(
            not reason_to_refuse(
                one, retrieval, sources, self.settings.answer, terms=self.terms(one), mentions=self.mentions
            )
            for one in asked
        )

    def _sources(self, retrieval: Retrieval) -> tuple[Source, ...]:
        from ragcore.answer.sources import build_sources

        return build_sources(retrieval, self.document, self.settings.answer)

    def _headed(self, heading: str, sources: Sequence[Source]) -> list[tuple[str, int, int]]:
        """Sections called ``heading`` in the documents of ``sources`` (document, start, end)."""
        found = dict.fromkeys(source.doc_id for source in sources)
        return [(doc_id, *span) for doc_id in found for span in headed(self.document(doc_id), heading)]

    def _beside(
        self, sources: Sequence[Source], spans: Sequence[tuple[str, int, int]], orders: Orders
    ) -> tuple[Source, ...]:
        """The beginnings of ``spans`` of which ``sources`` hold nothing, within ``report.own_tokens`` together."""
        lacking = [span for span in spans if not own_units(sources, [span])]
        if not lacking:
            return ()
        from ragcore.answer.sources import build_sources

        segments = tuple(Segment(doc_id, start, end, 0, 0, 0.0, "heading") for doc_id, start, end in lacking)
        own = without(Retrieval("", "heading", (), segments), orders.excluded)
        budget = self.settings.answer.model_copy(update={"source_tokens": self.settings.report.own_tokens})
        return further(sources, build_sources(own, self.document, budget))

    def _stream(self, asked: _Asked, retrieval: Retrieval) -> AnswerStream:
        from ragcore.answer.section import section_request
        from ragcore.answer.stream import AnswerStream

        section = asked.place.section

        def request() -> Request:
            made = section_request(
                section.heading,
                section.guidance,
                asked.form,
                asked.outline,
                asked.before,
                asked.sources,
                self.document,
                self.settings,
                about=asked.about,
                terms=self.terms(section.query),
                routes=retrieval.routes,
                own=own_units(asked.sources, asked.spans),
                draft=asked.draft,
                missing=asked.missing,
                instruction=asked.instruction,
            )
            return replace(made, fresh=asked.orders.fresh)

        return AnswerStream(
            question=section.query,
            query=section.query,
            retrieval=retrieval,
            sources=asked.sources,
            document=self.document,
            llm=self.models.section_writer,
            settings=self.settings,
            reranker=self.models.reranker,
            request=request,
        )

    def _missing(self, form: Field, answer: Answer, heading: str) -> list[str]:
        """What of ``form`` is not there: what the text says is missing, and what it passes over in silence."""
        if answer.refused or answer.status == "failed":
            return list(form.requirements)
        said = [what or heading for what in marked(answer.text)]
        if answer.extractive:
            return said
        return [*said, *unmet(form.requirements, answer, heading, self.models.reranker)]


def _guided(heading: str, pieces: Sequence[str]) -> list[SubQuery]:
    """What is searched for beside the whole guidance: each piece of it, where it has several."""
    asked = pieces if len(pieces) > 1 else ()
    return [SubQuery(f"{heading}: {piece}", "guidance", "the guidance asks for it") for piece in asked]


def _gaps(heading: str, missing: Sequence[str]) -> list[SubQuery]:
    return [SubQuery(f"{heading}: {what}", "gap", "it was still missing") for what in missing]


def _followed(stream: AnswerStream, stop: Stop, heard: Heard) -> Answer:
    with stop.closing(stream.stop):
        for event in stream:
            heard(event)
    assert stream.answer is not None  # a stream always ends with Done
    return stream.answer


def _markers(items: Sequence[str | Marker]) -> list[Marker]:
    return [item for item in items if not isinstance(item, str)]


def _booked(answer: Answer, spent: Sequence[Answer]) -> Answer:
    """``answer`` with what all of the writing and searching took."""
    costs = [one.cost_usd for one in spent]
    known = [cost for cost in costs if cost is not None]
    total = sum(known) if len(known) == len(costs) else None
    return replace(answer, usage=sum((one.usage for one in spent), Usage()), cost_usd=total)


def _filled(section: FilledSection, answer: Answer, missing: Sequence[str], rounds: int) -> FilledSection:
    gaps = tuple(Gap(what, NOT_HELD, answer.citations if answer.refused else ()) for what in missing)
    status: SectionStatus = "partial" if gaps else "filled"
    if answer.status != "complete":
        status = "failed" if answer.status == "failed" else "stopped"
    elif answer.refused or not answer.citations:
        status = "empty"
    if answer.refused:
        # What a refusal tells is in the gaps; a report says what is missing in its own way.
        answer = replace(answer, text=with_marks("", missing), marks=(), citations=(), claims=())
    else:
        unsaid = [what for what in missing if what not in marked(answer.text)]
        answer = replace(answer, text=with_marks(answer.text, unsaid))
    return replace(section, status=status, answer=answer, gaps=gaps, rounds=rounds)
