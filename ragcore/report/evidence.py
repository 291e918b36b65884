"""What a section of a report is written from: what was found, what a person ordered, a section of the same name in the
documents, and for a value what their statements say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragcore.offline.formed import formed, sentences_with
from ragcore.report.constraints import (
    SectionConstraints,
    further,
    kept_sources,
    pinned_sources,
    without,
    without_marks_of_others,
)
from ragcore.report.headed import headed
from ragcore.text.terms import Term
from ragcore.types import Answer, Document, Retrieval, Segment, Source
from ragcore.types.report import NOTHING_STATED, Field, KnownFacts

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.report.template import Section

FEW = 12  # documents, of which each is looked into
_OPENING = 2000  # characters of a section in which it says what it is about
_LEAST = 60  # and so many are worth giving beside what was found of it
_CHARACTERS = 4  # of a token
_ALL = 1_000_000  # tokens: no budget
NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """``draft`` is what is to be rewritten, if anything, ``spans`` where documents have a section of the same name or a
    person pinned something (document, start, end), ``stated`` what is known of the documents."""

    sources: tuple[Source, ...]
    draft: Answer | None
    spans: tuple[tuple[str, int, int], ...]
    stated: KnownFacts = NOTHING_STATED


@dataclass(frozen=True, slots=True)
class Gathering:
    """``document`` and ``terms`` are the engine's; ``extractive``: nothing but quotes is written from the sources."""

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
        """Everything that ``asked`` is first written from. Where ``documents``, all of its scope, are few, a value is
        looked for in each, found or not, and so is a section of that name by a writer that only quotes. ``names`` are
        what documents are called for short."""
        stated, segments = NOTHING_STATED, tuple[Segment, ...]()
        found = list(dict.fromkeys((*(hit.chunk.doc_id for hit in retrieval.hits), *_documents(retrieval.segments))))
        narrowed = retrieval.scope.pages or retrieval.scope.kinds
        states = asked.kind == "value" and not narrowed
        quotes = self.extractive and asked.kind not in ("value", "table") and not narrowed
        if (states or quotes) and len(documents) <= FEW:
            found = list(dict.fromkeys((*found, *documents)))
        if states:
            stated, segments = self._stated(asked, form, found, names, orders.focus.year)
        own: list[tuple[str, int, int]] = []
        if quotes:
            stated = self._known(found, names, orders.focus.year)
            own = self._headed(asked.heading, found)
            segments = tuple(one for doc_id in found for one in formed(self.document(doc_id), form, own, stated))
        draft, sources = self._given(orders, retrieval, segments)
        pinned = [(span.doc_id, span.start, span.end) for span in orders.pinned]
        spans = [*pinned, *(own or self._headed(asked.heading, _documents(sources)))]
        return EvidenceSet((*sources, *self._beside(sources, spans, orders)), draft, tuple(spans), stated)

    def sources(self, retrieval: Retrieval, stated: Sequence[Segment] = ()) -> tuple[Source, ...]:
        """The sources for ``retrieval`` within the budget of an answer, and beside them ``stated``, as one with what it
        touches."""
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
        """Whose the documents ``found`` are, and what they are called."""
        from ragcore.text.companies import companies

        documents = [self.document(doc_id) for doc_id in found]
        return KnownFacts(
            companies={document.doc_id: companies(document) for document in documents},
            titles={document.doc_id: names.get(document.doc_id, document.title) for document in documents},
            year=year,
        )

    def _stated(
        self, asked: Section, form: Field, found: Sequence[str], names: Mapping[str, str], year: int
    ) -> tuple[KnownFacts, tuple[Segment, ...]]:
        """What is known of the documents ``found``, and where their statements have such a row: all of them for a
        writer that only quotes, for one that is paid by the word the rows. The day of a year stands on the cover."""
        from ragcore.offline.field_names import wish
        from ragcore.offline.firms import AUDITOR, asks_auditor
        from ragcore.offline.periods import spans_time
        from ragcore.offline.statements import cover, rows_called, statements
        from ragcore.report.coverage import coverage

        terms = self.terms(asked.query)
        wishes = [wish(asked.heading, piece, asked.unit, terms, year) for piece in form.requirements]
        amounts = [one for one in wishes if one.sort == "amount"]
        documents = [self.document(doc_id) for doc_id in found]
        listed = [(document, one) for document in documents for one in statements(document)]
        segments = []
        for document, one in listed:
            rows = rows_called(document, one, amounts)
            for start, end in [(one.start, one.end)] if rows and self.extractive else rows:
                segments.append(Segment(one.doc_id, start, end, 0, 0, 0.0, "statement"))
        if self.extractive and any(asks_auditor(asked.heading, piece) for piece in form.requirements):
            segments += [each for document in documents for each in sentences_with(document, AUDITOR)]
        if any(one.sort == "date" and one.annual for one in wishes):
            segments += [Segment(one.doc_id, *cover(one), 0, 0, 0.0, "cover") for one in documents]
            if self.extractive:
                of_time = (one for _, one in listed if spans_time(one.name))
                first = {one.doc_id: one for one in reversed(list(of_time))}
                segments += [Segment(one.doc_id, one.start, one.end, 0, 0, 0.0, "statement") for one in first.values()]
        covered = {each.doc_id: coverage(each, [one for of, one in listed if of is each]) for each in documents}
        interim = {doc_id: one.words for doc_id, one in covered.items() if one.part}
        known = replace(self._known(found, names, year), statements=tuple(one for _, one in listed), interim=interim)
        return known, tuple(segments)

    def _given(
        self, orders: SectionConstraints, retrieval: Retrieval, segments: Sequence[Segment]
    ) -> tuple[Answer | None, tuple[Source, ...]]:
        """What is to be rewritten, if anything, and the sources: those of it with their numbers, what is pinned, and
        what was found."""
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
        """Sections called ``heading`` in ``documents`` (document, start, end)."""
        return [(doc_id, *span) for doc_id in documents for span in headed(self.document(doc_id), heading)]

    def _beside(
        self, sources: Sequence[Source], spans: Sequence[tuple[str, int, int]], orders: SectionConstraints
    ) -> tuple[Source, ...]:
        """The beginnings of ``spans`` as far as ``sources`` do not hold them, within ``report.own_tokens`` together."""
        lacking = []
        for doc_id, start, end in spans:
            held = [one.start for one in sources if one.doc_id == doc_id and one.start < end and start < one.end]
            upto = min([*held, end])
            if not held or upto - start >= _LEAST:
                lacking.append((doc_id, start, upto))
        # Of several documents each has its share.
        share = max(_OPENING, _CHARACTERS * self.settings.report.own_tokens // max(1, len(lacking)))
        lacking = [(doc_id, start, min(end, start + share)) for doc_id, start, end in lacking]
        if not lacking:
            return ()
        from ragcore.answer.sources import build_sources

        segments = tuple(Segment(doc_id, start, end, 0, 0, 0.0, "heading") for doc_id, start, end in lacking)
        own = without(Retrieval("", "heading", (), segments), orders.excluded)
        budget = self.settings.answer.model_copy(update={"source_tokens": self.settings.report.own_tokens})
        return further(sources, build_sources(own, self.document, budget))


def _documents(parts: Sequence[Source] | Sequence[Segment]) -> dict[str, None]:
    return dict.fromkeys(part.doc_id for part in parts)
