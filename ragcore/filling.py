"""A template → its sections filled: search for what the guidance asks → write → check → search for what is missing →
write again (bounded) → gaps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol

from ragcore.errors import UnknownDocument
from ragcore.report.headed import headed, own_units
from ragcore.report.recall import marked, unmet, with_marks
from ragcore.report.requirements import requirements
from ragcore.reports import Field, FilledSection, Gap, Report, SectionStatus
from ragcore.stop import Stop
from ragcore.terms import Term
from ragcore.types import Answer, Document, Retrieval, Scope, Segment, Source, SubQuery

if TYPE_CHECKING:
    from ragcore.answer.stream import AnswerStream
    from ragcore.config import Settings
    from ragcore.index.store import DocumentInfo
    from ragcore.models import Models
    from ragcore.report.template import Place, Template

NOT_HELD = "The passages found do not hold it."
NOTHING_FOUND = "Nothing that was found is about it."


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
        places = [(place, _within(scope, place.section.documents, infos)) for place in template.places()]
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
    ) -> FilledSection:
        """One section. A section for which nothing was found is never put to the writer."""
        asked = place.section
        form = Field(asked.kind, asked.columns, asked.unit, tuple(requirements(asked.heading, asked.guidance)))
        empty = FilledSection(place.number, place.level, asked.heading, asked.guidance, form, asked.required, "heading")
        if not asked.filled:
            return empty
        retrieval = self.retrieve(asked.query, scope=scope, parts=_guided(asked.heading, form.requirements), stop=stop)
        sources = self._sources(retrieval)
        spans = self._headed(asked.heading, sources)
        sources = (*sources, *self._beside(sources, spans))
        # A value or a table that is only taken where it is certain needs no look ahead.
        taken = self.models.section_writer.extractive and asked.kind in ("value", "table") and bool(sources)
        if not spans and not taken and not self._may_hold(asked.heading, form.requirements, retrieval, sources):
            return replace(empty, status="empty", gaps=tuple(Gap(what, NOTHING_FOUND) for what in form.requirements))
        draft: Answer | None = None
        missing: list[str] = []
        rounds = 0
        while rounds < self.settings.report.rounds:
            stream = self._stream(place, form, about, outline, before, retrieval, sources, spans, draft, missing)
            answer = _followed(stream, stop)
            rounds += 1
            if answer.status != "complete" and draft is not None:
                # A rewrite that failed or was stopped does not take away what was there.
                answer = draft
                break
            missing = self._missing(form, answer, asked.heading)
            if answer.status != "complete" or answer.refused:
                break
            draft = answer
            if not missing or answer.extractive or stop.is_set() or rounds == self.settings.report.rounds:
                break
            more = self.retrieve(
                f"{asked.heading}: {missing[0]}",
                scope=scope,
                parts=_gaps(asked.heading, missing[1:]),
                stop=stop,
            )
            further = _further(sources, self._sources(more))
            if not further:
                break
            sources = (*sources, *further)
        return _filled(empty, answer, missing, rounds)

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

    def _beside(self, sources: Sequence[Source], spans: Sequence[tuple[str, int, int]]) -> tuple[Source, ...]:
        """The beginnings of ``spans`` of which ``sources`` hold nothing, within ``report.own_tokens`` together."""
        lacking = [span for span in spans if not own_units(sources, [span])]
        if not lacking:
            return ()
        from ragcore.answer.sources import build_sources

        segments = tuple(Segment(doc_id, start, end, 0, 0, 0.0, "heading") for doc_id, start, end in lacking)
        own = Retrieval("", "heading", (), segments)
        budget = self.settings.answer.model_copy(update={"source_tokens": self.settings.report.own_tokens})
        return _further(sources, build_sources(own, self.document, budget))

    def _stream(
        self,
        place: Place,
        form: Field,
        about: str,
        outline: Sequence[str],
        before: Sequence[FilledSection],
        retrieval: Retrieval,
        sources: Sequence[Source],
        spans: Sequence[tuple[str, int, int]],
        draft: Answer | None,
        missing: Sequence[str],
    ) -> AnswerStream:
        from ragcore.answer.section import section_request
        from ragcore.answer.stream import AnswerStream

        section = place.section
        return AnswerStream(
            question=section.query,
            query=section.query,
            retrieval=retrieval,
            sources=sources,
            document=self.document,
            llm=self.models.section_writer,
            settings=self.settings,
            reranker=self.models.reranker,
            request=lambda: section_request(
                section.heading,
                section.guidance,
                form,
                outline,
                before,
                sources,
                self.document,
                self.settings,
                about=about,
                terms=self.terms(section.query),
                routes=retrieval.routes,
                own=own_units(sources, spans),
                draft=draft,
                missing=missing,
            ),
        )

    def _missing(self, form: Field, answer: Answer, heading: str) -> list[str]:
        """What of ``form`` is not there: what the text says is missing, and what it passes over in silence."""
        if answer.refused or answer.status == "failed":
            return list(form.requirements)
        said = [what or heading for what in marked(answer.text)]
        if answer.extractive:
            return said
        return [*said, *unmet(form.requirements, answer, heading, self.models.reranker)]


def _further(sources: Sequence[Source], more: Sequence[Source]) -> tuple[Source, ...]:
    """Those of ``more`` that share nothing with ``sources``, numbered after them: a draft's citations hold."""
    new = [
        source
        for source in more
        if not any(s.doc_id == source.doc_id and s.start < source.end and source.start < s.end for s in sources)
    ]
    return tuple(replace(source, number=number) for number, source in enumerate(new, start=len(sources) + 1))


def _guided(heading: str, pieces: Sequence[str]) -> list[SubQuery]:
    """What is searched for beside the whole guidance: each piece of it, where it has several."""
    asked = pieces if len(pieces) > 1 else ()
    return [SubQuery(f"{heading}: {piece}", "guidance", "the guidance asks for it") for piece in asked]


def _gaps(heading: str, missing: Sequence[str]) -> list[SubQuery]:
    return [SubQuery(f"{heading}: {what}", "gap", "it was still missing") for what in missing]


def _followed(stream: AnswerStream, stop: Stop) -> Answer:
    with stop.closing(stream.stop):
        for _ in stream:
            pass
    assert stream.answer is not None  # a stream always ends with Done
    return stream.answer


def _within(scope: Scope, documents: Sequence[str] | None, infos: Sequence[DocumentInfo]) -> Scope:
    """``scope``, narrowed to the documents that a section names."""
    if documents is None:
        return scope
    own = tuple(dict.fromkeys(doc_id for name in documents for doc_id in _named(name, infos)))
    inside = own if scope.doc_ids is None else tuple(doc_id for doc_id in own if doc_id in scope.doc_ids)
    return replace(scope, doc_ids=inside)


def _named(name: str, infos: Sequence[DocumentInfo]) -> list[str]:
    """The documents called ``name``: by id, file name (with or without its ending) or title."""
    called = name.casefold()
    found = [
        info.doc_id
        for info in infos
        if called in (info.doc_id, info.name.casefold(), PurePath(info.name).stem.casefold(), info.title.casefold())
    ]
    if not found:
        raise UnknownDocument(
            f"The template asks for the document “{name}”, which is not in this library.",
            hint="Add it, or name one that is there: `ragcore documents` lists them.",
        )
    return found


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
