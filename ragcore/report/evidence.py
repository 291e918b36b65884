"""Evidence of a report section: search results, the user's orders, document sections of the same name and, for a value,
the statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from ragcore.errors import InputError, UnknownDocument
from ragcore.protocols import FieldReader
from ragcore.text.terms import Term
from ragcore.types import Answer, Document, Mark, Retrieval, Scope, Segment, Source
from ragcore.types.report import NO_FOCUS, NOTHING_STATED, Field, Focus, KnownFacts, Span

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.report.template import Section
    from ragcore.types.library import DocumentInfo

FEW = 12  # documents that are all searched individually
OWN_TOKENS = 1500  # of a document's section of the same name, given beside what was found
_OPENING = 2000  # characters of a section's opening, which gives its topic
_LEAST = 60  # minimum characters worth adding to the search results
_CHARACTERS = 4  # per token
_ALL = 1_000_000  # tokens: no budget
NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class SectionConstraints:
    """User's constraints on a section. ``pinned`` places are always among the sources and ``excluded`` ones never;
    ``draft`` is rewritten by ``instruction``. ``fresh`` ignores a model's stored answer to the same request. ``focus``:
    the company and year of the report."""

    pinned: tuple[Span, ...] = ()
    excluded: tuple[Span, ...] = ()
    draft: Answer | None = None
    instruction: str = ""
    fresh: bool = False
    focus: Focus = NO_FOCUS


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
    quotes."""

    reader: FieldReader
    document: Callable[[str], Document]
    terms: Callable[[str], tuple[Term, ...]]
    settings: Settings
    extractive: bool

    def gather(
        self,
        asked: Section,
        form: Field,
        orders: SectionConstraints,
        retrieval: Retrieval,
        documents: Sequence[str] = (),
        names: Mapping[str, str] = NO_NAMES,
    ) -> EvidenceSet:
        """Evidence for the first writing of ``asked``. If ``documents``, its whole scope, are few, each is searched for
        a value, found or not, and, for a writer that only quotes, for a section of that name. ``names`` are the
        documents' short names."""
        stated, segments = NOTHING_STATED, tuple[Segment, ...]()
        found = list(dict.fromkeys((*(hit.chunk.doc_id for hit in retrieval.hits), *_documents(retrieval.segments))))
        narrowed = retrieval.scope.pages or retrieval.scope.kinds
        states = asked.kind == "value" and not narrowed
        quotes = self.extractive and asked.kind not in ("value", "table") and not narrowed
        if (states or quotes) and len(documents) <= FEW:
            found = list(dict.fromkeys((*found, *documents)))
        if states or quotes:
            stated = self._known(found, names, orders.focus.year)
        if states:
            opened, terms = [self.document(doc_id) for doc_id in found], self.terms(asked.query)
            stated, segments = self.reader.stated(asked.heading, form, terms, opened, stated, whole=self.extractive)
        own = self._headed(asked.heading, found) if quotes else []
        draft, sources = self._given(orders, retrieval, segments)
        pinned = [(span.doc_id, span.start, span.end) for span in orders.pinned]
        spans = [*pinned, *(own or self._headed(asked.heading, _documents(sources)))]
        return EvidenceSet((*sources, *self._beside(sources, spans, orders)), draft, tuple(spans), stated)

    def sources(self, retrieval: Retrieval, stated: Sequence[Segment] = ()) -> tuple[Source, ...]:
        """Sources for ``retrieval`` within an answer's budget, and in addition ``stated``, merged with adjacent
        sources."""
        from ragcore.answer.sources import Cut, build_sources

        if not stated:
            return build_sources(retrieval, self.document, self.settings.answer)
        alone = replace(retrieval, hits=(), segments=tuple(stated))
        unbounded = self.settings.answer.model_copy(update={"source_tokens": _ALL})
        cut = Cut()
        own = build_sources(alone, self.document, unbounded, cut)
        tokens = sum(cut.tokens(one, self.document(one.doc_id)) for one in own)
        budget = self.settings.answer.model_copy(update={"source_tokens": self.settings.answer.source_tokens + tokens})
        hits = (hit.chunk for hit in retrieval.hits)
        ranked = retrieval.segments or [Segment(c.doc_id, c.start, c.end, 0, 0, 0.0, "hit") for c in hits]
        both = replace(retrieval, segments=(*stated, *ranked))
        return build_sources(both, self.document, budget, cut)

    def _known(self, found: Sequence[str], names: Mapping[str, str], year: int) -> KnownFacts:
        """Companies and names of the documents ``found``."""
        from ragcore.text.companies import companies

        documents = [self.document(doc_id) for doc_id in found]
        return KnownFacts(
            companies={document.doc_id: companies(document) for document in documents},
            titles={document.doc_id: names.get(document.doc_id, document.title) for document in documents},
            year=year,
        )

    def _given(
        self, orders: SectionConstraints, retrieval: Retrieval, segments: Sequence[Segment]
    ) -> tuple[Answer | None, tuple[Source, ...]]:
        """Text to rewrite, if any, and the sources: the draft's with their numbers, the pinned ones, and the search
        results."""
        draft = orders.draft
        kept: tuple[Source, ...] = ()
        if draft is not None:
            kept = kept_sources(draft, orders.excluded)
            draft = without_marks_of_others(draft, kept)
        beside = (*orders.excluded, *orders.pinned)
        own = without(replace(retrieval, hits=(), segments=tuple(segments)), beside).segments
        sources = (*kept, *further(kept, pinned_sources(orders.pinned, self.document, self.settings)))
        return draft, (*sources, *further(sources, self.sources(without(retrieval, beside), own)))

    def _headed(self, heading: str, documents: Iterable[str]) -> list[tuple[str, int, int]]:
        """Sections named ``heading`` in ``documents`` (document, start, end)."""
        return [(doc_id, *span) for doc_id in documents for span in self.reader.headed(self.document(doc_id), heading)]

    def _beside(
        self, sources: Sequence[Source], spans: Sequence[tuple[str, int, int]], orders: SectionConstraints
    ) -> tuple[Source, ...]:
        """Openings of ``spans`` not yet in ``sources``, within `OWN_TOKENS` together."""
        lacking = []
        for doc_id, start, end in spans:
            held = [one.start for one in sources if one.doc_id == doc_id and one.start < end and start < one.end]
            upto = min([*held, end])
            if not held or upto - start >= _LEAST:
                lacking.append((doc_id, start, upto))
        # Each of several documents gets a share.
        share = max(_OPENING, _CHARACTERS * OWN_TOKENS // max(1, len(lacking)))
        lacking = [(doc_id, start, min(end, start + share)) for doc_id, start, end in lacking]
        if not lacking:
            return ()
        from ragcore.answer.sources import build_sources

        segments = tuple(Segment(doc_id, start, end, 0, 0, 0.0, "heading") for doc_id, start, end in lacking)
        own = without(Retrieval("", "heading", (), segments), orders.excluded)
        budget = self.settings.answer.model_copy(update={"source_tokens": OWN_TOKENS})
        return further(sources, build_sources(own, self.document, budget))


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


def _documents(parts: Sequence[Source] | Sequence[Segment]) -> dict[str, None]:
    return dict.fromkeys(part.doc_id for part in parts)


# The user's orders, and their effect on the sources


def without(found: Retrieval, spans: Sequence[Span]) -> Retrieval:
    """``found`` without ``spans``: segments are cut around them, and overlapping hits are left out."""
    if not spans:
        return found
    return replace(
        found,
        hits=tuple(hit for hit in found.hits if not _shares(hit.chunk.doc_id, hit.chunk.start, hit.chunk.end, spans)),
        segments=tuple(part for segment in found.segments for part in _cut(segment, spans)),
    )


def _shares(doc_id: str, start: int, end: int, spans: Sequence[Span]) -> bool:
    return any(span.doc_id == doc_id and span.start < end and start < span.end for span in spans)


def _cut(segment: Segment, spans: Sequence[Span]) -> list[Segment]:
    parts = [(segment.start, segment.end)]
    for span in spans:
        if span.doc_id == segment.doc_id:
            parts = [
                part
                for start, end in parts
                for part in ((start, min(end, span.start)), (max(start, span.end), end))
                if part[0] < part[1]
            ]
    return [replace(segment, start=start, end=end) for start, end in parts]


def pinned_sources(
    pinned: Sequence[Span], document: Callable[[str], Document], settings: Settings
) -> tuple[Source, ...]:
    """Sources of the ``pinned`` spans, numbered from 1. Raises `InputError` if they are longer than
    ``report.pinned_tokens`` together, and `UnknownDocument`."""
    if not pinned:
        return ()
    from ragcore.answer.sources import build_sources

    segments = tuple(Segment(span.doc_id, span.start, span.end, 0, 0, 0.0, "pinned") for span in pinned)
    budget = settings.answer.model_copy(update={"source_tokens": settings.report.pinned_tokens})
    sources = build_sources(Retrieval("", "pinned", (), segments), document, budget)
    for span in pinned:
        held = any(
            source.doc_id == span.doc_id and source.start < span.end and span.start < source.end for source in sources
        )
        if not held:
            raise InputError(
                f"The pinned passages are longer than {settings.report.pinned_tokens:,} tokens together.",
                hint="Unpin one, or raise report.pinned_tokens.",
            )
    return sources


def kept_sources(draft: Answer, excluded: Sequence[Span]) -> tuple[Source, ...]:
    """Sources of ``draft``, with their numbers, that do not overlap ``excluded``."""
    return tuple(source for source in draft.sources if not _shares(source.doc_id, source.start, source.end, excluded))


def without_marks_of_others(draft: Answer, sources: Sequence[Source]) -> Answer:
    """``draft`` without marks that cite anything but ``sources``, since its rewriting cannot cite them."""
    numbers = {source.number for source in sources}
    held = {citation.n for citation in draft.citations if citation.source in numbers}
    text, marks, at, length = [], [], 0, 0
    for mark in draft.marks:
        keeps = mark.n in held
        piece = draft.text[at : mark.end if keeps else mark.start]
        piece = piece if keeps else piece.rstrip(" ")
        text.append(piece)
        length += len(piece)
        if keeps:
            marks.append(Mark(length - (mark.end - mark.start), length, mark.n, mark.added))
        at = mark.end
    return replace(draft, text="".join([*text, draft.text[at:]]), marks=tuple(marks))


def further(sources: Sequence[Source], more: Sequence[Source]) -> tuple[Source, ...]:
    """Sources of ``more`` that do not overlap ``sources``, numbered after them, so that a draft's citations stay
    valid."""
    last = max((source.number for source in sources), default=0)
    new = [
        source
        for source in more
        if not any(s.doc_id == source.doc_id and s.start < source.end and source.start < s.end for s in sources)
    ]
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
