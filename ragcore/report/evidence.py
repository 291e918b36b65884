"""Evidence of a report section: search results, the user's constraints, document sections of the same name and, for a
value, the statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from ragcore.answer.sources import Cut, build_sources, build_units, unbounded
from ragcore.errors import InputError, UnknownDocument
from ragcore.protocols import FieldReader
from ragcore.text.names import companies, company, of_others
from ragcore.text.sentences import count_tokens
from ragcore.text.terms import Term
from ragcore.types import Answer, Chunk, Document, Retrieval, Scope, Segment, Source
from ragcore.types.report import NO_FOCUS, NOTHING_STATED, Field, FilledSection, Focus, KnownFacts, Span, ValueSort
from ragcore.types.table_labels import elements_within

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.report.template import Place, Section, Template
    from ragcore.types.library import DocumentInfo

FEW = 12  # documents that are all searched individually
OWN_TOKENS = 1500  # of a document's section of the same name, given beside what was found
_OPENING = 2000  # characters of a section's opening, which gives its topic
_CHARACTERS = 4  # per token
NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class SectionTask:
    """Section to write, at its ``place`` in ``template``, from the documents in ``scope`` of the library ``infos``;
    ``before`` are sections to agree with, and ``focus`` is the report's company and year. ``pinned`` places are always
    among the sources, ``excluded`` ones never; ``draft`` is rewritten by ``instruction``. ``fresh`` skips a kept answer
    to the same request. ``sort`` is that of a value, if it is known."""

    place: Place
    template: Template
    scope: Scope
    before: Sequence[FilledSection] = ()
    infos: Sequence[DocumentInfo] = ()
    focus: Focus = NO_FOCUS
    pinned: tuple[Span, ...] = ()
    excluded: tuple[Span, ...] = ()
    draft: Answer | None = None
    instruction: str = ""
    fresh: bool = False
    sort: ValueSort = ""

    @property
    def asked(self) -> Section:
        return self.place.section


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """Sources of a section. ``draft`` is the text to rewrite, if any; ``spans`` are document sections of the same name
    and pinned places (document, start, end); ``stated`` are the known facts about the documents."""

    sources: tuple[Source, ...]
    draft: Answer | None
    spans: tuple[tuple[str, int, int], ...]
    stated: KnownFacts = NOTHING_STATED


@dataclass(frozen=True, slots=True)
class Gathering:
    """Collector of a section's evidence. ``document`` and ``terms`` are the engine's; ``extractive``: the writer only
    quotes. What is ``excluded`` becomes no source."""

    reader: FieldReader
    document: Callable[[str], Document]
    terms: Callable[[str], tuple[Term, ...]]
    settings: Settings
    extractive: bool
    excluded: tuple[Span, ...] = ()

    def gather(
        self,
        task: SectionTask,
        form: Field,
        retrieval: Retrieval,
        documents: Sequence[str] = (),
        names: Mapping[str, str] = NO_NAMES,
    ) -> EvidenceSet:
        """Evidence for the first writing of a section. If ``documents``, its whole scope, are few, each is searched for
        a value, found or not, and, for a writer that only quotes, for a section of that name. ``names`` are the
        documents' short names."""
        asked, draft = task.asked, task.draft
        stated, segments = NOTHING_STATED, tuple[Segment, ...]()
        found = _documents(retrieval)
        narrowed = retrieval.scope.narrowed
        states = asked.kind == "value" and not narrowed
        quotes = self.extractive and asked.kind not in ("value", "table") and not narrowed
        if (states or quotes) and len(documents) <= FEW:
            found = list(dict.fromkeys((*found, *documents)))
        opened = [self.document(doc_id) for doc_id in found] if states or quotes else []
        if opened:
            stated = _known(opened, names, task.focus.year)
        if states:
            terms = self.terms(asked.query)
            stated, segments = self.reader.stated(asked.heading, form, terms, opened, stated, whole=self.extractive)
        names_of = (asked.heading, *(form.requirements if quotes else ()))
        own = self._headed(names_of, found if quotes else _documents(retrieval), retrieval.scope)
        kept = draft.sources if draft is not None else ()
        kept = tuple(one for one in kept if not _shares(one, self.excluded))
        given = (*self._pinned(task.pinned), *segments, *self._openings(own))
        sources = (*kept, *further(kept, self.sources(retrieval, given)))
        pinned = [(span.doc_id, span.start, span.end) for span in task.pinned]
        return EvidenceSet(sources, draft, (*pinned, *own), stated)

    def of_subject(
        self, subject: str, retrieval: Retrieval, documents: Sequence[str]
    ) -> tuple[Retrieval, tuple[str, ...]]:
        """``retrieval`` and ``documents`` without documents known to be of other companies than ``subject``, unless
        nothing else was found."""
        own = company(subject)
        found = set(_documents(retrieval))
        looked_into = {*found, *(documents if len(documents) <= FEW else ())}
        of_another = {one for one in looked_into if of_others(own, companies(self.document(one)))}
        if found <= of_another:
            return retrieval, tuple(documents)
        hits = tuple(hit for hit in retrieval.hits if hit.chunk.doc_id not in of_another)
        segments = tuple(one for one in retrieval.segments if one.doc_id not in of_another)
        rest = tuple(one for one in documents if one not in of_another)
        return replace(retrieval, hits=hits, segments=segments), rest

    def sources(self, retrieval: Retrieval, stated: Sequence[Segment] = ()) -> tuple[Source, ...]:
        """Sources for ``retrieval`` within an answer's budget, and in addition ``stated``, merged with adjacent
        sources."""
        if self.excluded:
            found = tuple(hit for hit in retrieval.hits if not _shares(hit.chunk, self.excluded))
            retrieval = replace(retrieval, hits=found, segments=_without(retrieval.segments, self.excluded))
            stated = _without(stated, self.excluded)
        if not stated:
            return build_sources(retrieval, self.document, self.settings.answer)
        alone = replace(retrieval, hits=(), segments=tuple(stated))
        cut = Cut()
        own = build_sources(alone, self.document, unbounded(self.settings.answer), cut)
        tokens = sum(cut.tokens(one, self.document(one.doc_id)) for one in own)
        budget = self.settings.answer.model_copy(update={"source_tokens": self.settings.answer.source_tokens + tokens})
        hits = ((hit.chunk, part) for hit in retrieval.hits for part in retrieval.scope.parts(hit.chunk))
        ranked = retrieval.segments or [Segment(c.doc_id, *part, 0, 0, 0.0, "hit") for c, part in hits]
        both = replace(retrieval, segments=(*stated, *ranked))
        return build_sources(both, self.document, budget, cut)

    def _headed(self, names: Sequence[str], documents: Sequence[str], scope: Scope) -> list[tuple[str, int, int]]:
        """Sections with one of ``names`` in ``documents`` (document, start, end), each once."""
        opened = [(one, self.document(one)) for one in documents]
        every = (
            (one, span) for name in names for one, read in opened for span in self.reader.headed(read, name, scope)
        )
        return list(dict.fromkeys((one, *span) for one, span in every))

    def _openings(self, spans: Sequence[tuple[str, int, int]]) -> list[Segment]:
        """Openings of ``spans``, each with a share of `OWN_TOKENS`."""
        share = max(_OPENING, _CHARACTERS * OWN_TOKENS // max(1, len(spans)))
        cut = ((doc, start, _opening_end(self.document(doc), start, end, share)) for doc, start, end in spans)
        return [Segment(*span, 0, 0, 0.0, "heading") for span in cut]

    def _pinned(self, pinned: Sequence[Span]) -> list[Segment]:
        """The ``pinned`` spans. Raises `InputError` if they are longer than ``report.pinned_tokens`` together, and
        `UnknownDocument`."""
        most = self.settings.report.pinned_tokens
        if sum(count_tokens(self.document(span.doc_id).text[span.start : span.end]) for span in pinned) > most:
            raise InputError(
                f"The pinned passages are longer than {most:,} tokens together.",
                hint="Unpin one, or raise report.pinned_tokens.",
            )
        return [Segment(span.doc_id, span.start, span.end, 0, 0, 0.0, "pinned") for span in pinned]


def _opening_end(document: Document, start: int, end: int, most: int) -> int:
    """End of the last sentence or cell of ``[start, end)`` that is whole within ``most`` characters; of the first if
    that is longer."""
    at = start + most
    over = next(elements_within(document, at, at + 1), None) if at < end else None
    if over is None:
        return min(end, at)
    units = build_units(document, max(over.start, start), min(over.end, end))
    whole = [unit.end for unit in units if unit.end <= at]
    if not whole and over.start > start:
        return over.start
    return max(whole, default=units[0].end if units else min(end, at))


def _known(documents: Sequence[Document], names: Mapping[str, str], year: int) -> KnownFacts:
    """Companies and names of ``documents``."""
    return KnownFacts(
        companies={document.doc_id: companies(document) for document in documents},
        titles={document.doc_id: names.get(document.doc_id, document.title) for document in documents},
        year=year,
    )


def own_units(sources: Sequence[Source], spans: Sequence[tuple[str, int, int]]) -> tuple[tuple[int, int, int], ...]:
    """Parts of ``sources`` inside ``spans`` (document, start, end): (source number, first unit, last unit)."""
    out = []
    for source in sources:
        for doc_id, start, end in spans:
            inside = [
                number
                for number, unit in enumerate(source.units, start=1)
                if source.doc_id == doc_id and start <= unit.start and unit.end <= end
            ]
            if inside:
                out.append((source.number, inside[0], inside[-1]))
    return tuple(out)


def _documents(found: Retrieval) -> list[str]:
    """Documents of the search results, best first."""
    hits = (hit.chunk.doc_id for hit in found.hits)
    return list(dict.fromkeys((*hits, *(segment.doc_id for segment in found.segments))))


def _shares(one: Chunk | Source, others: Sequence[Source | Span]) -> bool:
    """Whether any of ``others`` overlaps ``one``."""
    return any(other.doc_id == one.doc_id and other.start < one.end and one.start < other.end for other in others)


def _without(segments: Sequence[Segment], spans: Sequence[Span]) -> tuple[Segment, ...]:
    """``segments`` cut around ``spans``."""
    for span in spans:
        segments = [
            part
            for one in segments
            for part in (
                (replace(one, end=min(one.end, span.start)), replace(one, start=max(one.start, span.end)))
                if one.doc_id == span.doc_id
                else (one,)
            )
            if part.start < part.end
        ]
    return tuple(segments)


def further(sources: Sequence[Source], more: Sequence[Source]) -> tuple[Source, ...]:
    """Sources of ``more`` that do not overlap ``sources``, numbered after them, so that a draft's citations stay
    valid."""
    last = max((source.number for source in sources), default=0)
    new = [source for source in more if not _shares(source, sources)]
    return tuple(replace(source, number=number) for number, source in enumerate(new, start=last + 1))


def within(scope: Scope, documents: Sequence[str] | None, infos: Sequence[DocumentInfo]) -> Scope:
    """``scope`` narrowed to the documents that a section names. Raises `UnknownDocument`."""
    if documents is None:
        return scope
    own: dict[str, None] = {}
    for name in documents:
        found = named(name, infos)
        if not found:
            raise UnknownDocument(
                f"The template uses “{name}”, which isn't in this library.",
                hint="Add it, or name another: `groundwork documents` lists them.",
            )
        own.update(dict.fromkeys(found))
    inside = tuple(doc_id for doc_id in own if scope.doc_ids is None or doc_id in scope.doc_ids)
    return replace(scope, doc_ids=inside)


def named(name: str, infos: Sequence[DocumentInfo]) -> list[str]:
    """Documents matching ``name``: by id, file name (with or without extension) or title."""
    called = name.casefold()
    return [
        info.doc_id
        for info in infos
        if called in (info.doc_id, info.name.casefold(), PurePath(info.name).stem.casefold(), info.title.casefold())
    ]
