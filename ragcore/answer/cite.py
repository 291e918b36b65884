"""Citation markers: parsed from a stream, validated against the sources, resolved to places on the page.

The language (ragcore/prompts.py) is parsed leniently: any case, white space, ``;`` or ``and`` between items, a single
closing ``>``, and dashes of any kind in ranges. A marker that names no given source or unit is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ragcore.types import Box, Citation, Document, Source
from ragcore.types.table_labels import LabelledTable, elements_within

_OPENING = re.compile(r"<<[ \t]{0,3}([A-Za-z]*)")
_NO_ANSWER = re.compile(r"<<[ \t]{0,3}NO[ \t_-]{0,3}ANSWER[ \t]{0,3}>{1,2}", re.IGNORECASE)
_KEYWORDS = ("SOURCE", "SOURCES", "NO", "NOANSWER")
# Prefix of the inside of an incomplete marker: places, and words of the language, the last perhaps truncated.
_BEGINNING_OF_PLACES = re.compile(
    r"(?:[\s\d.:,;&/|+#\[\]‐‑‒–—-]|sources?|and)*(?:s|so|sou|sour|sourc|a|an)?", re.IGNORECASE
)
_BEGINNING_OF_ANSWER = re.compile(r"[ \t_-]{0,3}(?:A|AN|ANS|ANSW|ANSWE|ANSWER)?[ \t]{0,3}", re.IGNORECASE)
# Longest marker waited for; writers list only a few places.
_LONGEST = 200

_PLACE = r"(\d{1,6})(?:\s*[.:]\s*(\d{1,6}))?"
_ITEM = re.compile(rf"(?:sources?\s*)?{_PLACE}(?:\s*[-‐‑‒–—]+\s*(?:sources?\s*)?{_PLACE})?", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:\s*[,;&/|+]\s*|\s+and\s+|\s+)*", re.IGNORECASE)


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
        plain: list[str] = []
        while self._held:
            at = self._held.find("<")
            if at != 0:
                cut = len(self._held) if at < 0 else at
                plain.append(self._held[:cut])
                self._held = self._held[cut:]
                continue
            length, marker = _scan(self._held, final)
            if length == 0:
                if final:
                    self._held = ""
                break
            if marker is None:
                plain.append(self._held[:length])
            else:
                if plain:
                    out.append("".join(plain))
                    plain = []
                out.append(marker)
            self._held = self._held[length:]
        if plain:
            out.append("".join(plain))
        return out


def _scan(held: str, final: bool) -> tuple[int, Marker | None]:
    """Length and marker of the beginning of ``held``, which begins with ``<``; None for plain text. Length 0 means that
    all of it may be the beginning of a marker and more text is needed; ``final``: there is none."""
    opening = _OPENING.match(held)
    if opening is None:
        return (0 if held == "<" else 1), None
    word, end = opening.group(1).upper(), opening.end()
    if end == len(held):
        may_grow = any(keyword.startswith(word) for keyword in _KEYWORDS)
        return (0 if may_grow else 1), None
    if word not in _KEYWORDS:
        return 1, None

    window = held[end : end + _LONGEST]
    stop = next((i for i, character in enumerate(window) if character in "<>\n"), None)
    if stop is None:
        if len(held) - end > _LONGEST:
            return 1, None
        beginning = _BEGINNING_OF_PLACES if word.startswith("SOURCE") else _BEGINNING_OF_ANSWER
        if not final or beginning.fullmatch(window):
            return 0, None
        return _unclosed(held, word)
    if window[stop] != ">":
        return _unclosed(held[: end + stop], word)
    close = end + stop + 1
    if close == len(held) and not final:
        return 0, None
    length = close + 1 if held[close : close + 1] == ">" else close
    raw = held[:length]
    if word.startswith("NO"):
        return (length, Marker(raw, no_answer=True)) if _NO_ANSWER.fullmatch(raw) else (1, None)
    return length, Marker(raw, parse_parts(held[end : end + stop]))


def _unclosed(raw: str, word: str) -> tuple[int, Marker | None]:
    """Unclosed marker: malformed if it already names a place, else plain text."""
    named = word.startswith("SOURCE") and re.search(r"\d", raw) is not None
    return (len(raw), Marker(raw)) if named else (1, None)


def parse_parts(body: str) -> tuple[Part, ...]:
    """Places named by the inside of a marker, or () if any of it is unreadable.

    A range over two sources gives its two ends, since the text between them is not one passage.
    """
    parts: list[Part] = []
    body = body.replace("[", "").replace("]", "").strip().lstrip("#:").strip()
    position = 0
    while position < len(body):
        item = _ITEM.match(body, position)
        if item is None:
            return ()
        parts.extend(_parts_of(item))
        position = item.end()
        between = _BETWEEN.match(body, position)
        gap = between.end() if between else position
        if gap == position and position < len(body):
            return ()
        position = gap
    return tuple(parts)


def _parts_of(item: re.Match[str]) -> Iterable[Part]:
    source, first, other, last = (int(group) if group is not None else None for group in item.groups())
    raw = f"<<SOURCE {item.group().strip()}>>"
    assert source is not None  # the pattern's first group always matches
    if other is None:
        yield _single(source, first, raw)
    elif first is None and last is None:
        low, high = sorted((source, other))
        yield from (_single(number, None, raw) for number in range(low, min(high, low + _LONGEST) + 1))
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
