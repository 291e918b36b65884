"""Report sections without a language model: the requirements of their guidance, the matching document sections, certain
values and tables, and quoted evidence for the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ragcore.config.settings import AnswerSettings
from ragcore.offline.field_quotes import Evidence
from ragcore.offline.field_tables import table_field
from ragcore.offline.fields import head_stems, requirements, wish
from ragcore.offline.question import requirement
from ragcore.offline.quotable import Quotable, quotables
from ragcore.offline.statements import cover, coverage, rows_of, statements
from ragcore.offline.values import Given, field_values, rivals
from ragcore.offline.writer import listing
from ragcore.prompts import NO_ANSWER
from ragcore.protocols import Capabilities, ModelRequest, Reranker, Rival, StaticStream, WritingTask
from ragcore.text.companies import passed_over
from ragcore.text.markdown import escape
from ragcore.text.short_titles import short_titles
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import content_stems, word_set
from ragcore.types import OFFLINE, Document, Element, Segment, Source, Usage
from ragcore.types.report import Coverage, Field, KnownFacts, Missing, missing_mark

_ALIKE = 0.6  # Dice's coefficient of two headings' words from which their names match
_MOST_HEADED = 2
_NUMBER = re.compile(r"(?:\d+[A-Za-z]?(?:\.\d+)*|[A-Z]|[IVX]+)[.):]?")
_PARTS = word_set("item part note section chapter article annex appendix")
# Headings with one of these words match only as a whole: "Business Innovation" is a different topic.
_BROAD = word_set("busi compani group gener overview")  # stems, on demand: making them loads the stemmer
_NEAREST = 3
_MOST_LACKING = 8  # documents without a value that are named individually
_OF_ONE = 3  # quotes for one of several requirements; a single one gets as many as an answer


class RuleFields:
    """`FieldReader` by rules."""

    def requirements(self, heading: str, guidance: str) -> tuple[str, ...]:
        return tuple(requirements(heading, guidance))

    def coverage(self, document: Document) -> Coverage:
        return coverage(document, list(statements(document)))

    def of_a_year(self, heading: str, guidance: str, unit: str, terms: Sequence[Term] = ()) -> bool:
        asked = wish(heading, guidance, unit, terms)
        return asked.sort == "amount" and asked.annual

    def headed(self, document: Document, heading: str) -> list[tuple[int, int]]:
        wanted = frozenset(content_stems(heading))
        elements = [element for element in document.elements if element.noise is None]
        found: list[tuple[float, int, int]] = []
        for place, element in enumerate(elements):
            alike = _alike(wanted, _heading(document, element)) if element.kind == "heading" else 0.0
            if alike < _ALIKE:
                continue
            after = elements[place + 1 :]
            ends = (one for one in after if one.kind == "heading" and _ends(document, element, one))
            stop = next((one.start for one in ends), len(document.text))
            end = max((one.end for one in after if one.start < stop), default=element.end)
            found += [(alike, element.end, end)] if end > element.end else []
        best = max((alike for alike, _, _ in found), default=0.0)
        chosen: list[tuple[int, int]] = []
        for _, start, end in sorted((one for one in found if one[0] == best), key=lambda one: one[1] - one[2]):
            if len(chosen) < _MOST_HEADED and not any(a <= start and end <= b for a, b in chosen):
                chosen.append((start, end))
        return chosen

    def stated(
        self,
        heading: str,
        form: Field,
        terms: Sequence[Term],
        documents: Sequence[Document],
        known: KnownFacts,
        *,
        whole: bool,
    ) -> tuple[KnownFacts, tuple[Segment, ...]]:
        wishes = [wish(heading, piece, form.unit, terms, known.year) for piece in form.requirements]
        names = {name.own for one in wishes if one.sort == "amount" for name in one.names}
        spans: list[tuple[str, int, int]] = []
        own = {document.doc_id: list(statements(document)) for document in documents}
        for document in documents:
            for one in own[document.doc_id]:
                rows = [(a, b) for label, a, b in rows_of(document, one) if _is_row(label.head, label.group, names)]
                spans += [(document.doc_id, a, b) for a, b in ([(one.start, one.end)] if rows and whole else rows)]
        if any(one.sort == "date" and one.annual for one in wishes):
            spans += [(document.doc_id, *cover(document)) for document in documents]
        covered = {document.doc_id: coverage(document, own[document.doc_id]) for document in documents}
        interim = {doc_id: one.words for doc_id, one in covered.items() if one.part}
        listed = tuple(one for each in own.values() for one in each)
        segments = tuple(Segment(*span, 0, 0, 0.0, "statement") for span in spans)
        return replace(known, statements=listed, interim=interim), segments

    def rivals(
        self, heading: str, form: Field, terms: Sequence[Term], sources: Sequence[Source], known: KnownFacts
    ) -> list[tuple[str, list[Rival]]]:
        wishes = [(piece, wish(heading, piece, form.unit, terms, known.year)) for piece in form.requirements]
        return [(piece, each) for piece, asked in wishes for each in rivals(asked, terms, sources, known)]

    def nearest(
        self,
        heading: str,
        what: str,
        terms: Sequence[Term],
        sources: Sequence[Source],
        settings: AnswerSettings,
        most: int,
    ) -> list[str]:
        asked = f"{heading}: {what}"
        found = list(quotables(requirement(asked), Wanted(asked, terms), sources))
        request = WritingTask(heading, tuple(sources), tuple(terms))
        # By words alone: it is a hint, and the cross-encoder would read every sentence again.
        return [quote.marker for quote in Evidence(request, found, None).nearest([what], most)]


def _heading(document: Document, element: Element) -> str:
    return document.text[element.start : element.end]


def _is_item(heading: str) -> bool:
    return heading.split()[:1] != [] and heading.split()[0].lower() in ("item", "part")


def _ends(document: Document, element: Element, after: Element) -> bool:
    """Whether the section under the heading ``element`` ends before ``after``. An item of a filing extends to the next
    item, even if its inner headings are printed as large as its own."""
    item, next_item = (_is_item(_heading(document, one)) for one in (element, after))
    return after.level < element.level or (after.level == element.level and (not item or next_item))


def _alike(wanted: frozenset[str], heading: str) -> float:
    parts = heading.split()
    if parts and parts[0].lower() in _PARTS:
        parts = parts[2:] or parts
    elif len(parts) > 1 and _NUMBER.fullmatch(parts[0]):
        del parts[0]
    said = frozenset(content_stems(" ".join(parts)))
    if not wanted & said or (wanted != said and len(wanted) == 1 and wanted <= _BROAD):
        return 0.0
    return 2 * len(wanted & said) / (len(wanted) + len(said))


def _is_row(head: str, group: str, names: Iterable[frozenset[str]]) -> bool:
    """Whether a row of a statement may have one of ``names``, with its group or by the first words of its header."""
    said = head_stems(f"{group} {head}")
    return any(name <= said for name in names)


class OfflineSections:
    """`LLM` for requests with a ``form``. ``reranker`` of None ranks by words alone."""

    name = OFFLINE
    capabilities = Capabilities(extractive=True)

    def __init__(self, reranker: Reranker | None, settings: AnswerSettings) -> None:
        self._reranker = reranker
        self._settings = settings

    def stream(self, request: ModelRequest) -> StaticStream:
        """Section text, one requirement at a time. The prompt is not read."""
        stream = StaticStream((), model=self.name, usage=Usage())
        stream.parts = self._write(request.task, stream)
        return stream

    def _write(self, request: WritingTask, stream: StaticStream) -> Iterator[str]:
        form = request.form
        assert form is not None  # a question without guidance goes to the answerer
        pieces = form.requirements or (request.question,)
        everything = " ".join((request.question, *pieces))
        found = list(quotables(requirement(everything), Wanted(everything, request.terms), request.sources))
        evidence = Evidence(request, found, self._reranker)
        known = request.stated
        titles = short_titles({source.doc_id: source.title for source in request.sources}) | dict(known.titles)
        lacks: Sequence[Sequence[Missing]] = ((),) * len(pieces)
        if form.kind == "table":
            texts = [table_field(request.question, form, request.sources)]
            pieces = (request.question,)
        elif form.kind == "value":
            wishes = [wish(request.question, piece, form.unit, request.terms, known.year) for piece in pieces]
            values = [field_values(one, found, evidence.own, known, self._reranker) for one in wishes]
            several = len({quote.source.doc_id for quote in found}) > 1
            texts = [_values(each, several, titles) for each in values]
            given = [[one.quote for one in each] for each in values]
            lacks = [_lacking(piece, each, titles, known) for piece, each in zip(pieces, given)]
        else:
            quotes = self._quoted(pieces, evidence)
            mark = "**" if len(pieces) == 1 else "*"  # requirements are printed bold if there are several
            texts = ["".join(listing(each, mark=mark, titles=titles)).strip() for each in quotes]
            lacks = _lacking_of_each(request, pieces, quotes, titles)
        if any(texts):
            stream.missing = tuple(one for each in lacks for one in each)
            yield from _laid_out(pieces, texts, lacks)
            return
        yield NO_ANSWER
        nearest = evidence.nearest(pieces, _NEAREST)
        if nearest:
            yield " The nearest passages:\n\n"
            yield from listing(nearest)

    def _quoted(self, pieces: Sequence[str], evidence: Evidence) -> list[list[Quotable]]:
        alone = len(pieces) == 1
        most = self._settings.offline_sentences if alone else _OF_ONE
        quotes = [evidence.on(piece, most, alone=alone) for piece in pieces]
        if not any(quotes) and evidence.own:
            # The document has such a section; its text still applies though it names none of this.
            quotes[0] = evidence.on(pieces[0], most, alone=True)
        return quotes


def _values(found: Sequence[Given], several: bool, titles: Mapping[str, str]) -> str:
    if not several:
        return "\n".join(one.text for one in found)
    return "\n".join(f"- {escape(titles[one.quote.source.doc_id])}: {one.text}" for one in found)


def _lacking_of_each(
    request: WritingTask, pieces: Sequence[str], quotes: Sequence[Sequence[Quotable]], titles: Mapping[str, str]
) -> list[list[Missing]]:
    """`_lacking` of each piece; for a document without any quote, the whole section, once."""
    if len(pieces) == 1:
        return [_lacking(pieces[0], quotes[0], titles, request.stated)]
    nothing = _lacking(request.question, [quote for each in quotes for quote in each], titles, request.stated)
    without = {one.doc_id for one in nothing}
    rest = {doc_id: title for doc_id, title in titles.items() if doc_id not in without}
    lacks = [_lacking(_called(piece, pieces), each, rest, request.stated) for piece, each in zip(pieces, quotes)]
    lacks[-1] += nothing
    return lacks


def _lacking(what: str, given: Sequence[Quotable], titles: Mapping[str, str], known: KnownFacts) -> list[Missing]:
    """``what`` as missing in each document of a company without a ``given`` quote while another company has one: the
    first by their ``titles``, the rest by their number."""
    others = passed_over(titles, (quote.source.doc_id for quote in given), known.companies)
    named = [Missing(what, doc_id, titles[doc_id]) for doc_id in others[:_MOST_LACKING]]
    more = len(others) - len(named)
    return [*named, *([Missing(f"{what} ({more} more documents)")] if more > 0 else [])]


def _laid_out(pieces: Sequence[str], texts: Sequence[str], lacks: Sequence[Sequence[Missing]]) -> Iterator[str]:
    """Each piece with its text and missing marks; pieces with identical text are grouped."""
    together: dict[frozenset[str], list[int]] = {}
    for place, (piece, text) in enumerate(zip(pieces, texts)):
        together.setdefault(frozenset(text.splitlines() or [piece]), []).append(place)
    for places in together.values():
        if len(pieces) > 1:
            name = "; ".join(_called(pieces[place], pieces) for place in places)
            yield f"**{escape(name[:1].upper() + name[1:])}**\n\n"
        yield f"{texts[places[0]] or missing_mark(pieces[places[0]])}\n\n"
        yield from (f"{missing_mark(one.words)}\n\n" for place in places for one in lacks[place])


def _called(piece: str, pieces: Sequence[str]) -> str:
    """``piece`` without the antecedent in brackets: "its products (what the company makes)", since that is above it."""
    return piece.removesuffix(f" ({pieces[0]})")
