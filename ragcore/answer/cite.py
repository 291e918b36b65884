"""Citation markers: parsed from a stream, validated against the sources, resolved to places on the page.

The language (ragcore/prompts.py) is parsed leniently: any case, white space, ``;`` or ``and`` between items, a single
closing ``>``, and dashes of any kind in ranges. A marker that names no given source or unit is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ragcore.types import Box, Citation, Document, Source
from ragcore.types.places import place_of
from ragcore.types.table_labels import LabelledTable, elements_within

_OPENING = r"<<[ \t]{0,3}"
_NAMED = rf"{_OPENING}sources?(?![a-z])(?P<places>[^<>\n]{{0,200}})"  # writers list only a few places
_MARKER = re.compile(rf"{_NAMED}>>?|{_OPENING}no[ \t_-]{{0,3}}answer[ \t]{{0,3}}>>?", re.IGNORECASE)
_UNCLOSED = re.compile(rf"{_NAMED}(?=[<\n]|\Z)", re.IGNORECASE)
_CUT = rf"<|{_OPENING}(?:s|so|sou|sour|sourc|n|no[ \t_-]{{0,3}}(?:a|an|ans|answ|answe|answer[ \t]{{0,3}}>?)?)?"
# What more text may make a marker; and what the end of the text has cut short: places, the last perhaps incomplete.
_BEGUN = re.compile(rf"{_CUT}|{_OPENING}sources?(?:[^a-z<>\n][^<>\n]{{0,199}})?>?", re.IGNORECASE)
_CUT_SHORT = re.compile(
    rf"{_CUT}|{_OPENING}sources?(?:[\s\d.:,;&/|+#\[\]‐‑‒–—-]|sources?|and)*(?:s|so|sou|sour|sourc|a|an)?", re.IGNORECASE
)

_PLACE = r"(\d{1,6})(?:\s*[.:]\s*(\d{1,6}))?(?!\d)"
_ITEM = re.compile(rf"(?:sources?\s*)?{_PLACE}(?:\s*[-‐‑‒–—]+\s*(?:sources?\s*)?{_PLACE})?", re.IGNORECASE)
_PLACES = re.compile(rf"(?:{_ITEM.pattern}(?:[\s,;&/|+]|\band\b)*)*", re.IGNORECASE)
_MOST = 200  # sources of a range


@dataclass(frozen=True, slots=True)
class Part:
    """One place named by a marker: units ``first``..``last`` of ``source``, or (0, 0) for the whole source. ``raw`` is
    the text as written, including marker brackets."""

    source: int
    first: int
    last: int
    raw: str


@dataclass(frozen=True, slots=True)
class Marker:
    """Marker as written. Without ``parts`` it is malformed or, with ``no_answer``, the sentinel for sources that do not
    contain the answer."""

    raw: str
    parts: tuple[Part, ...] = ()
    no_answer: bool = False


class MarkerParser:
    """Incremental parser: text in pieces → text and markers. Piece boundaries never change the result, only the split
    of the text between markers. At most a marker's length of text is held back. A marker truncated by the end of the
    text is discarded: it is neither text nor an error of the writer."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> list[str | Marker]:
        """Items determined after ``text`` has arrived, in order."""
        self._held += text
        return self._drain(final=False)

    def finish(self) -> list[str | Marker]:
        """Items held back, at the end of the text, without a partial marker at its end."""
        return self._drain(final=True)

    def _drain(self, *, final: bool) -> list[str | Marker]:
        out: list[str | Marker] = []
        text, at, given = self._held, 0, 0
        while (at := text.find("<", at)) >= 0:
            if not final and _BEGUN.fullmatch(text, at):
                break
            found = _MARKER.match(text, at)
            if found is None and final and _CUT_SHORT.fullmatch(text, at):
                text = text[:at]
                break
            closed = found is not None
            found = found or _UNCLOSED.match(text, at)
            if found is None or not (closed or re.search(r"\d", found["places"])):
                at += 1
                continue
            if at > given:
                out.append(text[given:at])
            at = given = found.end()
            places = found["places"]
            parts = parse_parts(places) if closed and places is not None else ()
            out.append(Marker(found.group(), parts, no_answer=places is None))
        end = at if at >= 0 else len(text)
        if end > given:
            out.append(text[given:end])
        self._held = text[end:]
        return out


def parse_parts(body: str) -> tuple[Part, ...]:
    """Places named by the inside of a marker, or () if any of it is unreadable.

    A range over two sources gives its two ends, since the text between them is not one passage.
    """
    body = body.replace("[", "").replace("]", "").strip().lstrip("#:").strip()
    if not _PLACES.fullmatch(body):
        return ()
    return tuple(part for item in _ITEM.finditer(body) for part in _parts_of(item))


def _parts_of(item: re.Match[str]) -> Iterable[Part]:
    source, first, other, last = (int(group) if group is not None else None for group in item.groups())
    raw = f"<<SOURCE {item.group().strip()}>>"
    assert source is not None  # the pattern's first group always matches
    if other is None:
        yield _single(source, first, raw)
    elif first is None and last is None:
        low, high = sorted((source, other))
        yield from (_single(number, None, raw) for number in range(low, min(high, low + _MOST) + 1))
    elif first is not None and (last is None or other == source):
        ends = sorted((first, other if last is None else last))
        yield Part(source, ends[0], ends[1], raw) if ends[0] > 0 else _single(source, 0, raw)
    else:
        yield _single(source, first, raw)
        yield _single(other, last, raw)


def _single(source: int, unit: int | None, raw: str) -> Part:
    """One unit, or the whole source if no unit is named. Unit 0 was named and cannot exist, hence -1."""
    number = 0 if unit is None else unit or -1
    return Part(source, number, number, raw)


class Citer:
    """Citation numbering: markers → citations, numbered from 1 in order of first use; equal spans get equal numbers."""

    def __init__(self, sources: Sequence[Source], document: Callable[[str], Document]) -> None:
        self._sources = {source.number: source for source in sources}
        self._document = document
        self._by_span: dict[tuple[str, int, int], Citation] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All citations so far, by number."""
        return tuple(self._by_span.values())

    def resolve(self, marker: Marker) -> tuple[list[Citation], list[str]]:
        """Distinct citations of ``marker``, and its parts, as written, that name no given source or unit."""
        if not marker.parts:
            return [], [marker.raw]
        cited: list[Citation] = []
        dropped: list[str] = []
        for part in marker.parts:
            citation = self.cite(part)
            raw = marker.raw if len(marker.parts) == 1 else part.raw
            if citation is None and raw not in dropped:
                dropped.append(raw)
            elif citation is not None and citation not in cited:
                cited.append(citation)
        return cited, dropped

    def cite(self, part: Part) -> Citation | None:
        """Citation of ``part``, added to `citations`; None if the place does not exist."""
        citation = self.look(part)
        if citation is not None:
            self._by_span[citation.doc_id, citation.start, citation.end] = citation
        return citation

    def look(self, part: Part) -> Citation | None:
        """Citation that `cite` would give, without adding it."""
        source = self._sources.get(part.source)
        if source is None or not source.units or part.last > len(source.units) or part.first < 0:
            return None
        units = source.units[part.first - 1 : part.last] if part.first else source.units
        start, end = units[0].start, units[-1].end
        known = self._by_span.get((source.doc_id, start, end))
        if known is not None:
            return known
        document = self._document(source.doc_id)
        heads, label = heads_of(document, start, end)
        return replace(
            cite_span(document, start, end, len(self._by_span) + 1, source.section),
            title=source.title,
            head_boxes=heads,
            label=label,
            source=source.number,
            units=(part.first, part.last),
            generated=any(unit.generated for unit in units),
        )


def cite_span(document: Document, start: int, end: int, n: int, section: tuple[str, ...] = ()) -> Citation:
    """Citation ``n`` of the words ``[start, end)`` of ``document``; ``section`` is the fallback outside elements."""
    page, shown = document.page_at(start, end), document.shown(start, end)
    quote = document.text[start:end]
    return Citation(
        n=n,
        doc_id=document.doc_id,
        title=document.title,
        page=page,
        page_label=document.pages[page - 1].label,
        quote=quote,
        start=start,
        end=end,
        boxes=document.boxes(start, end),
        section=next((element.section for element in elements_within(document, start, end)), section),
        ocr=document.ocr_confidence(start, end),
        shown=shown if shown != quote else "",
        place=place_of(document, start, end),
    )


def heads_of(document: Document, start: int, end: int) -> tuple[tuple[Box, ...], str]:
    """Boxes of the row and column headers, outside ``[start, end)``, of the cells in it, and the label of the span: a
    single cell's row and column headers, or the row header shared by all its cells."""
    boxes: dict[Box, None] = {}
    labels: list[str] = []
    rows: set[str] = set()
    for element in elements_within(document, start, end):
        if element.table is None:
            return (), ""
        labelled = LabelledTable(document, element.table)
        for cell in labelled.cells(start, end):
            for head_start, head_end in labelled.head_spans(cell):
                if not (start <= head_start and head_end <= end):
                    boxes.update(dict.fromkeys(document.boxes(head_start, head_end)))
            if not cell.header:
                labels.append(labelled.label(cell))
                rows.add(labelled.row_label(cell).name)
    if len(labels) == 1:
        return tuple(boxes), labels[0]
    return tuple(boxes), rows.pop() if len(rows) == 1 else ""
