"""Cells of a grid: one question put to one document, or to a section of one.

Values, dates, names and quotations are filled by the report engine's field extraction, by rules, whatever model writes:
the same document gives the same cell. Yes or no is the question checked as a claim against the document. A list reads
every passage. Free text is a report section by the writer, who can also be asked for what rules leave not stated: an
answer is a cell if the words that it cites support it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile, pairwise
from typing import TYPE_CHECKING, Any, Protocol

from ragcore.answer.cite import Citer, MarkerParser
from ragcore.answer.requests import SHOWN_MARK
from ragcore.answer.sources import Cut, build_sources
from ragcore.cancel import Stop
from ragcore.check.sentences import Checkable
from ragcore.check.verdict import CONFIRMED, Checker
from ragcore.errors import Cancelled
from ragcore.grid.quantities import measured
from ragcore.library import AskedLibrary
from ragcore.progress import IsCancelled
from ragcore.protocols import Reranker
from ragcore.report.evidence import SectionTask, own_units
from ragcore.report.template import Section, Template
from ragcore.text import lexicon as lex
from ragcore.text.clauses import clause_spans
from ragcore.text.markdown import plain
from ragcore.text.names import words_of
from ragcore.text.numbers import lengths, numbers, span_of
from ragcore.text.periods import blanked, date_spans, moments_in
from ragcore.text.words import STOP_WORDS, content_stems, cover, tokens
from ragcore.types import Chunk, Citation, Document, Retrieval, Scope, Segment, Source
from ragcore.types.grid import UNDECIDED, Cell, CellValue, Column, ColumnType, GridCell
from ragcore.types.library import DocumentInfo
from ragcore.types.report import INSUFFICIENT, FieldKind, FilledSection, Period, StatedValue, ValueSort

if TYPE_CHECKING:
    from ragcore.report.workspace import ReportWorkspace

# Rules fill what has one right value: no model is asked, and nothing depends on the machine's load.
BY_RULES: Mapping[str, Any] = {
    "llm.model": "offline",
    "agentic.decompose": "rules",
    "verify.judge": "off",
    "answer.style": "full",
}
_SORTS: dict[ColumnType, ValueSort] = {"value": "figure", "date": "date", "name": "name"}
# What the writer can be asked for, as which kind of report section.
_KINDS: dict[ColumnType, FieldKind] = {
    "value": "value",
    "date": "value",
    "name": "value",
    "yes_no": "yes_no",
    "list": "list",
}
RULES = "rules"
NEAREST = 2
BATCH = 64  # passages scored at once
ABOUT = 0.2  # least probability that a passage which affirms a question speaks of what it asks
SAME = 0.6  # least share of a claim's words in the clause that speaks of it
TOO_MANY = "There are more; these are the first."
LONGEST_NAME = 160  # characters of a sentence that stands for a name
LONGEST_DATE = 24  # characters of a date that is no day
_TO = frozenset({"to", "-", "–", "—"})  # between the ends of a range
BOTH = 2  # values of equal standing that contradict each other; more of them speak of different things
_LOOK = 0.02  # least probability that a passage speaks of what a list asks for
ANSWERS = 0.8  # least probability that a sentence answers a question
NOT_DECIDED = "The passages found don’t decide it."
NOT_CERTAIN = "Nothing in the document says it for certain."
NO_NAME = "The words found name several, or nobody."
NO_ITEM = "No passage is about this."
UNSUPPORTED = "The model answered “{said}”, which the words that it cites don’t support."
UNREAD = "The model answered “{said}”, which has no {kind}."
_UNSAID = {
    "value": "figure",
    "date": "date",
    "name": "name in its document’s words",
    "yes_no": "yes or no",
    "list": "item",
}
_BULLET = "-*•– "


class GridLibrary(AskedLibrary, Protocol):
    """Library whose documents a grid is filled from."""

    @property
    def reports(self) -> ReportWorkspace: ...


class CellFiller:
    """Filler of cells from one library."""

    def __init__(self, library: GridLibrary, cancelled: IsCancelled) -> None:
        self._library = library
        self._cancelled = cancelled
        self._rules = library.with_settings(BY_RULES)
        self._by_rules = self._rules.reports.filler
        self._writer = library.reports.filler
        self._cut = Cut()

    def cell(self, column: Column, info: DocumentInfo, scope: Scope) -> Cell:
        """Cell of ``column`` for one document, or the section of it in ``scope``, outside of which it cites nothing.
        Raises `UnknownDocument`, `Cancelled`, and what retrieval raises."""
        if column.type == "yes_no":
            return self._yes_no(column, info, scope)
        if column.type == "list":
            return self._list(column, info, scope)
        filled = self._section(column, info, scope)
        if column.type == "text":
            return _text(filled)
        return _quotation(filled) if column.type == "quote" else _value(filled, column)

    def by_writer(self, column: Column, info: DocumentInfo, scope: Scope) -> Cell:
        """The same by the writer, for a cell that rules leave not stated (`can_ask`)."""
        return _written(self._section(column, info, scope, _KINDS[column.type]), column)

    def _section(
        self, column: Column, info: DocumentInfo, scope: Scope, kind: FieldKind | None = None
    ) -> FilledSection:
        """Report section that asks what ``column`` asks, by the writer if it is to be of a ``kind``."""
        by_writer = column.type == "text" or kind is not None
        kind = kind or ("value" if column.type in _SORTS else "prose")
        asked = Section(heading=column.name, guidance=column.question, kind=kind, unit=column.unit)
        template = Template(title=column.name, sections=(asked,))
        (place,) = template.places()
        sort = _SORTS.get(column.type, "")
        task = SectionTask(place, template, scope, infos=(info,), sort=sort)
        filler = self._writer if by_writer else self._by_rules
        return filler.section(task, Stop())

    def _yes_no(self, column: Column, info: DocumentInfo, scope: Scope) -> Cell:
        """Yes or no by the check of the question as a claim; no, too, by a sentence that answers it and denies, without
        a condition, what it asks."""
        claim = claim_of(column)
        checker = Checker(self._rules, scope, same=ABOUT, worded=CONFIRMED)
        verdict = checker.verdict(Checkable(claim, 0, len(claim)))
        said = {"confirmed": "Yes", "contradicted": "No"}.get(verdict.status, "")
        words = [word for one in verdict.citations for word in tokens(one.quotation)]
        if said == "Yes" and (lex.denials(words) | lex.DOUBTFUL.intersection(words)) - set(tokens(claim)):
            said = ""  # of a short question a passage may confirm one half and deny the other
        places = verdict.citations
        if not said:
            answer = self._section(column, info, scope).answer
            reranker = self._rules.models.reranker
            best = answer.citations[:1] if answer is not None else ()
            denied = bool(best) and _denies(best[0].quotation, claim)
            if denied and reranker is not None and reranker.score(column.asked, [best[0].quotation])[0] >= ANSWERS:
                said, places = "No", best
        if said:
            return Cell("stated", CellValue(said, citations=places), supported=True, model=RULES)
        return Cell("not_stated", nearest=places, reason=NOT_DECIDED, model=RULES)

    def _list(self, column: Column, info: DocumentInfo, scope: Scope) -> Cell:
        """All that a document says of what is asked: every passage is read, then each sentence and row of those that
        may speak of it."""
        passages = [scope.cut(one) for one in _passages(self._library.chunks(info.doc_id)) if scope.parts(one)]
        reranker = self._rules.models.once().reranker
        worth = [1.0] * len(passages)
        if reranker is not None:
            worth = self._scores(reranker, column.asked, [chunk.grid or chunk.text for chunk in passages])
        reader = self._rules.models.fields
        document = self._library.document(info.doc_id)
        headed = [_of_its_own(document, *span) for span in reader.headed(document, column.name, scope)]
        near = [
            chunk
            for chunk, score in zip(passages, worth, strict=True)
            if score >= _LOOK or any(start < chunk.end and chunk.start < end for start, end in headed)
        ]
        sources = self._sources(near)
        own = own_units(sources, [(info.doc_id, start, end) for start, end in headed])
        markers = reader.items(column.asked, self._by_rules.terms(column.asked), sources, own, reranker)
        cited = self._cited(markers, sources)
        of_all = Cell("stated", supported=True, read=len(passages), passages=len(passages), model=RULES)
        if cited:
            text = "\n".join(" ".join(one.quotation.split()) for one in cited)
            reason = TOO_MANY if len(markers) == reader.MOST_ITEMS else ""
            return replace(of_all, value=CellValue(text, float(len(cited)), citations=cited), reason=reason)
        best = [passages[n] for n in sorted(range(len(passages)), key=lambda n: -worth[n])[:NEAREST]]
        nearest = self._cited([f"<<SOURCE {n}>>" for n in range(1, len(best) + 1)], self._sources(best))
        return replace(of_all, status="not_stated", supported=None, nearest=nearest, reason=NO_ITEM)

    def _scores(self, reranker: Reranker, asked: str, texts: Sequence[str]) -> list[float]:
        """Probability of each text, in batches that a stop ends. Raises `Cancelled`."""
        out: list[float] = []
        for at in range(0, len(texts), BATCH):
            if self._cancelled():
                raise Cancelled("Filling was stopped.")
            out += map(float, reranker.score(asked, texts[at : at + BATCH]))
        return out

    def _sources(self, passages: Sequence[Chunk]) -> list[Source]:
        """A source for each of ``passages``."""
        settings, document = self._library.settings.answer, self._library.document
        out: list[Source] = []
        for chunk in passages:
            segment = Segment(chunk.doc_id, chunk.start, chunk.end, 0, 0, 0.0, "read")
            made = build_sources(Retrieval("", "hand", (), (segment,)), document, settings, self._cut)
            out += [replace(source, number=len(out) + 1) for source in made[:1]]
        return out

    def _cited(self, markers: Sequence[str], sources: Sequence[Source]) -> tuple[Citation, ...]:
        """Citations by markers of ``sources``, numbered from 1."""
        citer = Citer(sources, self._library.document)
        for marker in markers:
            for parsed in MarkerParser().feed(marker):
                if not isinstance(parsed, str):
                    citer.resolve(parsed)
        return citer.citations


def claim_of(column: Column) -> str:
    """Question of yes or no as a claim, in its order of words: "the company pay dividends"."""
    question = column.question or column.name
    words = question.strip().rstrip("?").split()
    inverted = question.rstrip().endswith("?") and len(words) > 1 and words[0].lower() in STOP_WORDS
    return " ".join(words[1:] if inverted else words)


def _denies(quotation: str, claim: str) -> bool:
    """Whether the clause that speaks of a claim denies it, and neither the claim denies nor the clause doubts."""
    said = set(content_stems(claim))
    for start, end in clause_spans(quotation):
        clause = quotation[start:end]
        words = tokens(clause)
        if cover(said, set(content_stems(clause))) >= SAME and lex.denials(words):
            return lex.DOUBTFUL.isdisjoint(words) and not lex.denials(tokens(claim))
    return False


def _of_its_own(document: Document, start: int, end: int) -> tuple[int, int]:
    """Section ``[start, end)`` up to the first heading inside it that text stands before."""
    inner = (one.start for one in document.elements if one.kind == "heading" and start < one.start < end)
    return start, next((place for place in inner if document.text[start:place].strip()), end)


def _passages(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Chunks that have all of a document's text once: tables by groups of rows, where they are grouped."""
    groups = [chunk for chunk in chunks if chunk.tiles is not None]
    spans = [chunk.tiles for chunk in groups if chunk.tiles is not None]
    grouped = {index for first, last in spans for index in range(first, last + 1)}
    tiles = [chunk for chunk in chunks if chunk.tiles is None and chunk.index not in grouped]
    return sorted((*groups, *tiles), key=lambda chunk: chunk.start)


def _value(filled: FilledSection, column: Column) -> Cell:
    """Cell of a value, a date or a name; rivals are the other values that the document gives for it, or, where none is
    certain, those that may be meant."""
    given = filled.values[0] if filled.values else None
    answer = filled.answer
    others = [one for conflict in filled.conflicts for one in conflict.rivals]
    if given is None and len(others) == BOTH:
        given = others[0]
    if given is None:
        cell, likely = _not_stated(filled), tuple(_read(one, column) for one in filled.likely)
        return replace(cell, rivals=likely, reason=NOT_CERTAIN if likely else cell.reason)
    if column.type == "name" and not given.figure and len(given.words) > LONGEST_NAME:
        return Cell("not_stated", nearest=(given.citation,), reason=NO_NAME, model=RULES)
    cited = answer.citations if answer is not None and filled.values else ()
    value = _read(given, column, cited)
    rivals = tuple(one for other in others if (one := _read(other, column)).text != value.text)
    claims = answer.claims if answer is not None and filled.values else ()
    supported = all(claim.status in ("supported", "weak") for claim in claims)
    return Cell("rival" if rivals else "stated", value, rivals, supported=supported, model=RULES)


def _read(given: StatedValue, column: Column, cited: Sequence[Citation] = ()) -> CellValue:
    """Value as data; its own place comes first among those ``cited``."""
    own = given.citation
    rest = [one for one in cited if (one.doc_id, one.start, one.end) != (own.doc_id, own.start, own.end)]
    places = tuple(replace(one, n=n) for n, one in enumerate((own, *rest), start=1))
    text = " ".join((given.figure or given.words).split())
    if column.type == "name":
        return CellValue(text, citations=places)
    period = iso(given.period)
    if column.type == "date":
        return CellValue(period if given.period[2] else text, period=period, citations=places)
    number, unit = measured(given.figure, given.scale, column.unit)
    return CellValue(text, number, unit, period, places)


def iso(period: Period) -> str:
    """ISO 8601 form of a period: its year, with the month and day of its end as far as they are known."""
    year, month, day = period
    known = [f"{year:04}", f"{month:02}", f"{day:02}"][: 1 + bool(month) + bool(month and day)]
    return "-".join(known) if year else ""


def period_of(text: str) -> str:
    """First day, else the first month or last year, that ``text`` gives, "" without one."""
    return next(map(iso, moments_in(text)), "")


def _quotation(filled: FilledSection) -> Cell:
    """Cell of a quotation: the document's words that answer best, to the letter."""
    answer = filled.answer
    if answer is None or not answer.citations:
        return _not_stated(filled)
    quoted = answer.citations[0]
    return Cell("stated", CellValue(quoted.quotation, citations=(quoted,)), supported=True, model=RULES)


def _text(filled: FilledSection) -> Cell:
    """Cell of free text: a section by the writer, with its citations."""
    answer = filled.answer
    if answer is not None and answer.status == "failed":
        return Cell("failed", error=answer.error, model=answer.model, cost_usd=answer.cost_usd)
    said = "" if answer is None else INSUFFICIENT.sub("", answer.text).strip()
    if answer is None or not answer.citations or not SHOWN_MARK.sub("", said).strip(" ."):
        cell = _not_stated(filled)
        near = cell.nearest or (() if answer is None else answer.citations)
        return replace(cell, nearest=near, model="" if answer is None else answer.model)
    bad = any(claim.status == "unsupported" for claim in answer.claims)
    value = CellValue(said, citations=answer.citations)
    return Cell("stated", value, supported=not bad, model=answer.model, cost_usd=answer.cost_usd)


def can_ask(column: Column, cell: GridCell) -> bool:
    """Whether the writer can be asked for a cell: rules found nothing in it, and nobody decided on it."""
    left = cell.found is not None and cell.found.status == "not_stated" and cell.found.model == RULES
    return left and column.type in _KINDS and cell.decision == UNDECIDED


def _written(filled: FilledSection, column: Column) -> Cell:
    """Cell of the writer's answer: what is read of its first sentence, or its items. It is stated only if its claims
    are supported by what they cite."""
    answer = filled.answer
    if answer is None or answer.status == "failed" or not answer.citations:
        return _text(filled)
    said = [" ".join(plain(claim.text).split()).lstrip(_BULLET) for claim in answer.claims if claim.citations]
    cell = Cell("not_stated", nearest=answer.citations, model=answer.model, cost_usd=answer.cost_usd)
    told = (said[0] if said else answer.text).rstrip(".")
    if not said or any(claim.status in ("unsupported", "uncited") for claim in answer.claims):
        return replace(cell, reason=UNSUPPORTED.format(said=told))
    value = of_words(said, column, answer.citations)
    if value is None:
        return replace(cell, reason=UNREAD.format(said=told, kind=_UNSAID[column.type]))
    return replace(cell, status="stated", value=replace(value, citations=answer.citations), nearest=(), supported=True)


def of_words(said: Sequence[str], column: Column, citations: Sequence[Citation]) -> CellValue | None:
    """Value of the type of ``column`` in the sentences of an answer, which begins with it; None if it has none."""
    first = said[0]
    period = period_of(first)
    match column.type:
        case "value":
            found = _figures(blanked(first, date_spans(first)), column.unit)
            return replace(found, period=period) if found is not None else None
        case "date":
            begins = first.partition(period)[0] + period  # "March 2024", "mid-2026"
            text = begins if period in first and len(begins) <= LONGEST_DATE else period
            return CellValue(text, period=period) if period else None
        case "yes_no":
            word = first.partition(",")[0].partition(" ")[0].rstrip(".:;")
            return CellValue(word) if word in ("Yes", "No") else None
        case "list":
            return CellValue("\n".join(said), float(len(said)))
        case _:
            name = _quoted_name(first, column, citations)
            return CellValue(name) if name else None


def _figures(text: str, unit: str) -> CellValue | None:
    """First figure of ``text`` that can be given in ``unit``, else its first; a duration counts where it begins. None
    without one, or if it is one end of a range."""
    ends = {}
    for one in numbers(text):
        start, end = span_of(text, one)
        whole = one.value < 0  # with the brackets that make it so
        ends[one.start if whole else start] = max(end, one.start + len(one.raw.rstrip())) if whole else end
    ends |= {one.start: one.end for one in lengths(text)}
    found = [(start, end, *measured(text[start:end], "", unit)) for start, end in sorted(ends.items())]
    wanted = [one for one in found if unit and one[3] == unit] or found
    if not wanted:
        return None
    start, end, number, own = wanted[0]
    between = {text[one[1] : other[0]].strip() for one, other in pairwise(found) if start in (one[0], other[0])}
    return CellValue(text[start:end], number, own) if _TO.isdisjoint(between) else None


def _quoted_name(text: str, column: Column, citations: Sequence[Citation]) -> str:
    """Longest beginning of ``text``, articles aside, that a citation has, word by word; "" if nothing in it is spelt
    like a name, or more than is asked for."""
    cited = [f" {' '.join(tokens(one.quotation))} " for one in citations]
    asked = set(content_stems(column.asked))
    words = list(dropwhile(lambda word: word.plain in STOP_WORDS, words_of(text)))
    for count in range(len(words), 0, -1):
        name = text[words[0].start : words[count - 1].end]
        own = [word for word in words[:count] if word.capital or word.marked]
        if own[-1:] == words[count - 1 : count] and any(f" {' '.join(tokens(name))} " in one for one in cited):
            return name if any(not asked.issuperset(content_stems(word.plain)) for word in own) else ""
    return ""


def _not_stated(filled: FilledSection) -> Cell:
    gaps = filled.gaps
    nearest = tuple(dict.fromkeys(one for gap in gaps for one in gap.nearest))
    spent = filled.answer.cost_usd if filled.answer is not None else 0.0
    return Cell("not_stated", nearest=nearest, reason=gaps[0].why if gaps else "", model=RULES, cost_usd=spent)
