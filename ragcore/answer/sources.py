"""Sources: segments and neighbours as numbered passages with numbered units, within the token budget.

Segments come first, best first, then neighbours. A passage is included whole or not at all; the first is always
included and is the only one that may be truncated, at a unit border. Passages of one document that overlap or touch
become one source, so no text is repeated.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from ragcore.answer.render import render_source
from ragcore.config.settings import AnswerSettings
from ragcore.text.centrality import centrality
from ragcore.text.clauses import ENUMERATOR
from ragcore.text.periods import blanked, fiscal_of
from ragcore.text.sentences import count_tokens, sentence_spans
from ragcore.types import GENERATED_MARKS, Document, Hit, Retrieval, Source, Unit
from ragcore.types.table_labels import LabelledTable, elements_within

LONGEST_PASSAGE = 600  # characters of a line that a cross-encoder reads
_BULLET = re.compile(r"\s*[•◦‣▪▫●○■□►➢✓·*–—-]\s+")  # printed before a list item, not part of its text
_NOTE = re.compile(r"\d{1,3}\s+(?=\W?[^\W\d_])")  # number of a footnote before its text
# A longer "sentence" is a run-on enumeration, as in regulations: too much for one citation.
_LONGEST_SENTENCE = 60
# Upper bound of characters per token (text has about 4, numbers 2): a passage longer than this many times the remaining
# budget cannot fit, and is not split and rendered to find that out.
_SPARSEST = 8
_BEGINNING = 40  # characters of a list item
_NUMBER_TOKENS = 4  # least tokens of a unit's number ("[3.12] ")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class _Passage:
    doc_id: str
    start: int
    end: int
    score: float
    via: str


class Cut:
    """Cache of passages of unchanged documents, split into units and measured. This takes most of the time of building
    sources and does not depend on the question."""

    def __init__(self) -> None:
        self._sources: dict[tuple[str, int, int], Source] = {}
        self._tokens: dict[tuple[str, int, int, int], int] = {}
        self._central: dict[str, Mapping[int, float]] = {}

    def source(self, number: int, passage: _Passage, document: Document) -> Source:
        key = (passage.doc_id, passage.start, passage.end)
        if key not in self._sources:
            source = _source(number, passage, document)
            if any(unit.kind == "cell" for unit in source.units):
                source = replace(source, central=self._tables(source, document))
            self._sources[key] = source
        return replace(self._sources[key], number=number, score=passage.score, via=passage.via)

    def _tables(self, source: Source, document: Document) -> tuple[tuple[int, int, float], ...]:
        """Spans of the tables in ``source``, and how central each is in ``document``."""
        if source.doc_id not in self._central:
            cells = {one.id: one.table.cells for one in document.body if one.table is not None}
            texts = {i: [document.text[c.start : c.value_end] for c in of if not c.header] for i, of in cells.items()}
            self._central[source.doc_id] = centrality(texts)
        inside, central = elements_within(document, source.start, source.end), self._central[source.doc_id]
        return tuple((one.start, one.end, central[one.id]) for one in inside if one.id in central)

    def tokens(self, source: Source, document: Document) -> int:
        """Number of tokens of the source as rendered for the writer."""
        key = (source.doc_id, source.start, source.end, source.number)
        if key not in self._tokens:
            self._tokens[key] = count_tokens(render_source(source, document))
        return self._tokens[key]


def build_sources(
    retrieval: Retrieval, document: Callable[[str], Document], settings: AnswerSettings, cut: Cut | None = None
) -> tuple[Source, ...]:
    """Sources for ``retrieval``, numbered from 1 in best-first order; at most ``source_tokens`` cl100k tokens as
    `render_source` renders them, unless a single unit alone is longer. ``document`` gives a document by its id; ``cut``
    caches earlier splits of the same documents.

    ``Source.score`` is the best rerank score (else the ranking's score) of a hit inside the source.
    """
    cut = cut if cut is not None else Cut()
    taken: list[tuple[_Passage, Source, int]] = []  # with token counts
    used = 0
    for passage in _passages(retrieval):
        doc = document(passage.doc_id)
        passage = _led_in(passage, doc)
        touching = [entry for entry in taken if _touch(entry[0], passage, doc.text)]
        if any(entry[0].start <= passage.start and passage.end <= entry[0].end for entry in touching):
            continue
        merged = _merge([entry[0] for entry in touching], passage)
        freed = sum(entry[2] for entry in touching)
        room = settings.source_tokens - used + freed
        if taken and merged.end - merged.start > _SPARSEST * room:
            continue
        # The digits of the final number hardly change the count, so the current position replaces it.
        source = cut.source(len(taken) + 1, merged, doc)
        if not source.units or (taken and _NUMBER_TOKENS * len(source.units) > room):
            continue
        cost = cut.tokens(source, doc)
        if cost > room:
            if taken:
                continue
            source = _trim(source, doc, settings.source_tokens, cut)
            merged = replace(merged, start=source.start, end=source.end)
            cost = cut.tokens(source, doc)
        used += cost - freed
        place = taken.index(touching[0]) if touching else len(taken)
        taken = [entry for entry in taken if entry not in touching]
        taken.insert(place, (merged, source, cost))
    return tuple(replace(source, number=number) for number, (_, source, _) in enumerate(taken, start=1))


def unbounded(settings: AnswerSettings) -> AnswerSettings:
    """``settings`` without a budget for sources."""
    return settings.model_copy(update={"source_tokens": 1_000_000})


def headed(title: str, headings: Sequence[str], text: str) -> str:
    """``text`` below its document's title and the nearest of its headings, for a cross-encoder."""
    where = " > ".join(part for part in (title, *headings[-1:]) if part)
    return f"{where}: {text}"[:LONGEST_PASSAGE]


def _passages(retrieval: Retrieval) -> Iterable[_Passage]:
    """Segments before neighbours, each in ranking order; bare hits, cut to the sections in scope, if the mode has no
    segments."""
    by_document: dict[str, list[Hit]] = {}
    for hit in retrieval.hits:
        by_document.setdefault(hit.chunk.doc_id, []).append(hit)

    def score(doc_id: str, start: int, end: int) -> float:
        inside = [h for h in by_document.get(doc_id, ()) if h.chunk.start < end and h.chunk.end > start]
        return max((hit.scores.get("rerank", hit.score) for hit in inside), default=0.0)

    if not retrieval.segments:
        for hit in retrieval.hits:
            for part in retrieval.scope.parts(hit.chunk):
                yield _Passage(hit.chunk.doc_id, *part, hit.scores.get("rerank", hit.score), "hit")
        return
    for segment in sorted(retrieval.segments, key=lambda s: s.via == "neighbour"):
        yield _Passage(
            segment.doc_id,
            segment.start,
            segment.end,
            score(segment.doc_id, segment.start, segment.end),
            segment.via,
        )


def _led_in(passage: _Passage, document: Document) -> _Passage:
    """``passage``, from the lead-in of the list with whose first item it begins."""
    at, near = passage.start, max(passage.start - 9, 0)
    end = near + len(document.text[near:at].rstrip())
    around = [*elements_within(document, max(end - 1, 0), end), *elements_within(document, at, at + 1)]
    if len(around) < 2 or around[1].kind != "list_item" or around[1].start != at:
        return passage
    leads = document.text[:end].endswith(":") and around[0].section == around[1].section
    return replace(passage, start=around[0].start) if leads else passage


def _touch(one: _Passage, other: _Passage, text: str) -> bool:
    """Whether the two overlap or are separated only by white space."""
    if one.doc_id != other.doc_id:
        return False
    left, right = (one, other) if one.start <= other.start else (other, one)
    after = _SPACE.match(text, left.end)
    return after is not None and after.end() >= right.start


def _merge(touching: list[_Passage], passage: _Passage) -> _Passage:
    parts = [*touching, passage]
    return _Passage(
        passage.doc_id,
        min(part.start for part in parts),
        max(part.end for part in parts),
        max(part.score for part in parts),
        parts[0].via,
    )


def _source(number: int, passage: _Passage, document: Document) -> Source:
    units = build_units(document, passage.start, passage.end)
    start = units[0].start if units else passage.start
    end = units[-1].end if units else passage.start
    first = next(elements_within(document, start, max(end, start + 1)), None)
    pages = document.pages_of(start, end)
    return Source(
        number=number,
        doc_id=document.doc_id,
        title=document.title,
        start=start,
        end=end,
        text=document.text[start:end],
        units=units,
        section=first.section if first else (),
        pages=pages,
        page_labels=tuple(document.pages[page - 1].label for page in pages),
        score=passage.score,
        via=passage.via,
        marks=tuple(mark for unit in units if unit.kind != "cell" for mark in document.marks(unit.start, unit.end)),
        fiscal=fiscal_of(document, dict.fromkeys(unit.label for unit in units)),
        after=_after(document, end),
    )


def _after(document: Document, end: int) -> tuple[str, ...]:
    """Beginnings of the list items that follow on ``end``."""
    following = takewhile(lambda one: one.kind == "list_item", elements_within(document, end, len(document.text)))
    return tuple(document.text[one.start : one.start + _BEGINNING] for one in following if one.start >= end)


def build_units(document: Document, start: int, end: int) -> tuple[Unit, ...]:
    """Citable units in ``[start, end)``, in text order, without overlap.

    A heading is one unit; other elements give their sentences, cut at the borders of the span and, in sentences of more
    than 60 words, before enumerators ("…; and" | "(iii) …"); a table gives one unit for each cell whose own words are
    in the span, header cells included. Sentences of an AI-written description are ``generated``.
    """
    units: list[Unit] = []
    covered = start
    for element in elements_within(document, start, end):
        low, high = max(element.start, covered), min(element.end, end)
        if high <= low:
            continue
        new: list[Unit] = []
        if element.table is not None and element.table.cells:
            labelled = LabelledTable(document, element.table)
            new = [Unit(c.start, c.end, "cell", labelled.label(c)) for c in labelled.cells(low, high)]
        elif element.kind == "heading":
            whole = _clip([(element.start, element.end)], low, high, document.text)
            new = [replace(unit, heading=True) for unit in whole]
        else:
            own_end = element.generated[0] if element.generated else element.end
            number = _NOTE.match(document.text, element.start, own_end) if element.kind == "footnote" else None
            opening = number.end() if number is not None else element.start
            new = _sentences(document, opening, own_end, low, high)
            if element.kind == "list_item" and low == element.start:
                new[:1] = [replace(unit, item=True) for unit in new[:1]]
            if element.generated:
                opening, closing = (len(mark) for mark in GENERATED_MARKS)
                inner = element.generated[0] + opening, element.generated[1] - closing
                new += [replace(unit, generated=True) for unit in _sentences(document, *inner, low, high)]
        units.extend(new)
        covered = max(covered, high)
    return tuple(units)


def _sentences(document: Document, start: int, end: int, first: int, last: int) -> list[Unit]:
    """Sentences of ``[start, end)``, cut at ``first`` and ``last``. A raised footnote mark belongs to the one that it
    ends: "on day 4.", with a raised 13, is no figure."""
    text, marks = document.text, dict(document.marks(start, end))
    read = blanked(text[start:end], ((low - start, high - start) for low, high in marks.items()))
    spans = [(begin, marks.get(stop, stop)) for begin, stop in sentence_spans(read, start)]
    return _clip((item for span in spans for item in _items(text, *span)), first, last, text)


def _items(text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    """Parts of a sentence: split at its enumerators if it is very long."""
    if len(text[start:end].split()) > _LONGEST_SENTENCE:
        for match in ENUMERATOR.finditer(text, start, end):
            yield start, match.end()
            start = match.end()
    yield start, end


def _clip(spans: Iterable[tuple[int, int]], low: int, high: int, text: str) -> list[Unit]:
    units = []
    for start, end in spans:
        start, end = max(start, low), min(end, high)
        if bullet := _BULLET.match(text, start, end):
            start = bullet.end()
        piece = text[start:end] if end > start else ""
        if piece.strip():
            left = start + len(piece) - len(piece.lstrip())
            units.append(Unit(left, left + len(piece.strip()), "sentence"))
    return units


def _trim(source: Source, document: Document, budget: int, cut: Cut) -> Source:
    """Longest run of whole units from the start of ``source`` that fits the budget; at least one unit."""
    more = range(2, len(source.units) + 1)
    fits = bisect_right(more, budget, key=lambda n: cut.tokens(_first_units(source, n, document), document))
    return _first_units(source, 1 + fits, document)


def _first_units(source: Source, count: int, document: Document) -> Source:
    units = source.units[:count]
    end = units[-1].end
    pages = document.pages_of(source.start, end)
    return replace(
        source,
        end=end,
        text=document.text[source.start : end],
        units=units,
        after=_after(document, end),
        pages=pages,
        page_labels=tuple(document.pages[page - 1].label for page in pages),
    )
