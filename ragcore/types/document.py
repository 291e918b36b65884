"""Parsed documents: pages, elements, tables and chunks.

A document has one canonical ``text``; every element, table cell and chunk is a half-open span ``[start, end)`` of it
(in Python characters); and the word map gives the boxes of any span. Nothing is ever located by searching for its text
again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from ragcore.types.geometry import Box, WordMap, line_boxes

ElementKind = Literal[
    "heading",
    "paragraph",
    "list_item",
    "table",
    "figure",
    "caption",
    "footnote",
    "formula",
    "page_header",
    "page_footer",
]
ChunkKind = Literal["text", "table", "figure"]
GENERATED_MARKS = ("<::", "::>")  # around an AI-written description in the canonical text

# Raised footnote marks, such as the "13" of "prospective trials.13", are characters of the text but not of quotations.
# Relative to the height of the word before: a mark's largest height, least rise and largest distance from that word.
_SMALL, _RAISED, _NEAR = 0.85, 0.12, 0.5
_MARK = re.compile(r"(?:\((?:\d{1,2}|[a-z])\)|\d{1,3}(?:[,–-]\d{1,3})*|[a-z]|[*∗†‡§¶#]+)[,;.]?")
# A mark follows a word or the end of a clause, not a figure, a unit or a symbol: m2, 106, R2.
_BASE = re.compile(r"(?:[^\W\d_]{4,}|(?:[^\W\d_]{2,}|%|\b(?:19|20)\d\d)[.,;:!?”’\"'»)\]]{1,3}|\b(?:19|20)\d\d)$")
# Or it follows a figure that ends a sentence, before the next one: "on day 4.", 13, "The".
_FIGURE_ENDED = re.compile(r"\d[.!?]$")
_UNITS = frozenset({"mmol", "µmol", "nmol", "kcal", "mmHg", "metre", "metres", "meter", "meters", "inch"})


@dataclass(frozen=True, slots=True)
class Page:
    """Page as displayed. ``label`` is the printed page label if the PDF has one, else the number as text; ``width`` and
    ``height`` are points after rotation and crop; ``rotation`` is the page's own, in degrees; ``degraded`` is the
    reason for a simpler reading method, or None; ``ocr`` is the mean confidence (0–1) of a page read by OCR, None if
    the PDF's own text was used; ``unread``: nothing on it could be read (``degraded`` gives the reason)."""

    number: int
    label: str
    width: float
    height: float
    rotation: int = 0
    degraded: str | None = None
    ocr: float | None = None
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """Table cell: its grid position, the span of its own printed words, and whether it is a header. ``mark`` is the
    span of its trailing footnote marks, which are not part of the value (`` a`` in ``1,234 a``, including the blank),
    or None. ``place`` is where it is in the file that the pages were made of (``Sheet1!B12``), "" for a PDF's."""

    row: int
    col: int
    row_span: int
    col_span: int
    start: int
    end: int
    header: bool = False
    mark: tuple[int, int] | None = None
    place: str = ""

    @property
    def value_end(self) -> int:
        """End of the cell's value, without its footnote marks."""
        return self.end if self.mark is None else self.mark[0]


@dataclass(frozen=True, slots=True)
class Table:
    """Table of cells. ``cells`` are in row order, header cells included; ``row_spans[i]`` is the span of the i-th
    linearised body row (with title and headers repeated in it) and ``row_numbers[i]`` its grid row. ``title`` is "" if
    none was found."""

    title: str
    rows: int
    columns: int
    cells: tuple[Cell, ...]
    row_spans: tuple[tuple[int, int], ...] = ()
    row_numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Element:
    """Part of a document with one role. ``id`` is its position in reading order over the whole document, furniture
    included. ``region`` holds layout boxes of elements without words (a figure). ``section`` is the path of headings
    above it. ``noise`` is the reason for not indexing it, or None. ``caption`` is the id of a figure's caption, and the
    caption's ``caption_of`` are the ids of its figures. ``generated`` is the span, within the element's, of an
    AI-written description including its marks ``<::`` and ``::>``; none of it was printed, and `Document.boxes` maps it
    to the figure's region. ``place`` is as of `Cell`."""

    id: int
    kind: ElementKind
    start: int
    end: int
    page: int
    level: int = 0
    section: tuple[str, ...] = ()
    region: tuple[Box, ...] = ()
    noise: str | None = None
    table: Table | None = None
    caption: int | None = None
    caption_of: tuple[int, ...] = ()
    generated: tuple[int, int] | None = None
    place: str = ""


@runtime_checkable
class Arranged(Protocol):
    """Sequence of elements that gives its body without creating all of them."""

    def body(self) -> Sequence[Element]: ...


@dataclass(frozen=True)
class Document:
    """Parsed document: canonical text, word map, pages and elements.

    ``text`` is the body followed by the furniture (page headers, footers and other noise, kept but never indexed);
    chunks tile ``text[:body_end]``. ``doc_id`` is the first 16 hex digits of ``sha256``.
    """

    doc_id: str
    sha256: str
    name: str
    title: str
    text: str
    body_end: int
    words: WordMap
    pages: tuple[Page, ...]
    elements: Sequence[Element]

    def boxes(self, start: int, end: int) -> tuple[Box, ...]:
        """Boxes of ``text[start:end]`` in text order, one for each run of words on a line.

        Repeated words (a header carried into a row) get the box of their original, once. A partly covered word gives
        its whole box.
        """
        part = self.words.within(start, end)
        return tuple(line_boxes(self.words.pages[part], self.words.boxes[part]))

    def shown(self, start: int, end: int) -> str:
        """``text[start:end]`` as quoted: without raised footnote marks."""
        return without(self.text[start:end], start, self.marks(start, end))

    def marks(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Spans of raised footnote marks in ``[start, end)``; table cells have theirs in `Cell.mark`."""
        return raised_marks(self.text, self.words, start, end)

    def page_at(self, start: int, end: int) -> int:
        """Page on which the span's own (not repeated) words begin; 1 if it has none."""
        part = self.words.within(start, end)
        own = np.flatnonzero(~self.words.repeated[part])
        first = part.start + int(own[0]) if len(own) else part.start
        return int(self.words.pages[first]) if part.stop > part.start else 1

    def pages_of(self, start: int, end: int) -> tuple[int, ...]:
        """Pages of the span's own words, ascending; for a span without any (a description), the pages of its boxes."""
        part = self.words.within(start, end)
        own = self.words.pages[part][~self.words.repeated[part]]
        own = own if len(own) else self.words.pages[part]
        return tuple(int(page) for page in np.unique(own))

    def first_and_last_page(self, start: int, end: int) -> tuple[int, int]:
        """First and last page of the span's words, else of its elements; (0, 0) if it has neither."""
        pages = self.pages_of(start, end) or sorted(e.page for e in self.elements if e.start < end and e.end > start)
        return (pages[0], pages[-1]) if pages else (0, 0)

    def ocr_confidence(self, start: int, end: int) -> float | None:
        """Mean OCR confidence (0–1) of the span's own words on pages read by OCR; None if it has none."""
        part = self.words.within(start, end)
        read = [page.number for page in self.pages if page.ocr is not None]
        chosen = ~self.words.repeated[part] & np.isin(self.words.pages[part], read)
        return float(self.words.confidence[part][chosen].mean()) / 100 if chosen.any() else None

    def element_boxes(self, element: Element) -> tuple[Box, ...]:
        return self.boxes(element.start, element.end) or element.region

    def element_pages(self, element: Element) -> set[int]:
        """Pages of the element."""
        return {element.page, *self.pages_of(element.start, element.end)}

    @cached_property
    def printed(self) -> str:
        """``text`` with blanks for repeated words, so that each is there as often as on the pages."""
        pieces, at, chosen = list[str](), 0, self.words.repeated
        for start, end in zip(self.words.starts[chosen].tolist(), self.words.ends[chosen].tolist(), strict=True):
            pieces += [self.text[at:start], " " * (end - start)]
            at = end
        return "".join([*pieces, self.text[at:]])

    @cached_property
    def body(self) -> Sequence[Element]:
        """Elements that are not noise, in text order."""
        if isinstance(self.elements, Arranged):
            return self.elements.body()
        return tuple(sorted((e for e in self.elements if e.noise is None), key=lambda e: (e.start, e.end, e.id)))


@dataclass(frozen=True, slots=True)
class FiscalYear:
    """Fiscal year of a document: the ``month`` of its end, and the years from its name to its end, 0 or 1."""

    month: int
    lag: int

    def name(self, end: tuple[int, int, int]) -> int:
        """Year that a fiscal year with this ``end`` (year, month, day) is called by; of another end, its year."""
        return end[0] - self.lag if 0 < end[1] <= self.month else end[0]


@dataclass(frozen=True, slots=True)
class ModelReport:
    """Outcome of describing a document's figures, or of writing its contexts. Of ``figures`` large enough to describe,
    ``described`` have a description, ``empty`` show nothing worth one, and ``repeated`` are described at their first
    occurrence. Of contexts, ``written`` counts summaries and ``situated`` passages. ``left`` are unfinished because of
    ``reason`` ("" if no model was to be asked). ``usd`` is the document's cost so far; ``error`` is
    `GroundworkError.as_dict` of a fault of the service or of the drawing."""

    figures: int = 0
    described: int = 0
    empty: int = 0
    repeated: int = 0
    written: int = 0
    situated: int = 0
    left: int = 0
    usd: float = 0.0
    reason: str = ""
    error: Mapping[str, Any] | None = None

    @property
    def unfinished(self) -> bool:
        """Whether another attempt may finish the rest."""
        return self.left > 0 and bool(self.reason)

    @property
    def words(self) -> str:
        """Outcome as a sentence, or "" if there is nothing to report."""
        parts = [
            f"{count} {one if count == 1 else several} {done}"
            for count, one, several, done in (
                (self.described, "figure", "figures", "described"),
                (self.written, "summary", "summaries", "written"),
                (self.situated, "passage", "passages", "situated"),
            )
            if count
        ]
        if parts:
            parts.append(f"${self.usd:.2f}" if self.usd >= 0.01 or not self.usd else f"${self.usd:.4f}")
        told = [", ".join(parts)] if parts else []
        if self.unfinished:
            kind = ("figure" if self.left == 1 else "figures") if self.figures else "of its contexts"
            done = "described" if self.figures else "written"
            told.append(f"{self.left} {'left' if parts else f'{kind} not {done}'}: {self.reason}")
        return "; ".join(told)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Retrieval unit: a span of a document, ``text == document.text[start:end]``.

    A *tile* is part of the document's tiling: ``index`` is its position and ``tiles`` is None. A *composite* is
    additional: it spans the tiles ``tiles[0]`` to ``tiles[1]`` (inclusive), which hold rows of one table, and ``grid``
    is their short form (title and headers once). Composites are numbered after the last tile.

    ``header`` (title and section path), ``context`` (summaries, and a sentence that situates the chunk) and ``lead_in``
    (the end of the chunk before) are embedded and BM25-indexed in front of the text (or ``grid``) and cannot be cited;
    ``context`` may be written by AI and is never shown as the document's words. ``tokens`` counts cl100k tokens of
    ``grid``, else of ``text``.
    """

    chunk_id: str
    doc_id: str
    index: int
    kind: ChunkKind
    start: int
    end: int
    text: str
    section: tuple[str, ...] = ()
    header: str = ""
    lead_in: str = ""
    tokens: int = 0
    tiles: tuple[int, int] | None = None
    grid: str = ""
    context: str = ""

    @property
    def index_text(self) -> str:
        """Text for embedding and BM25."""
        return "\n".join(part for part in (self.header, self.context, self.lead_in, self.grid or self.text) if part)

    @property
    def passage(self) -> str:
        """Text for the reranker."""
        return "\n".join(part for part in (self.header, self.grid or self.text) if part)

    @property
    def reach(self) -> tuple[int, int]:
        """First and last tile that it spans; for a tile, its own index twice."""
        return self.tiles or (self.index, self.index)

    @property
    def rows(self) -> range:
        """Tiles that a composite spans; none for a tile."""
        return range(self.tiles[0], self.tiles[1] + 1) if self.tiles else range(0)


def raised_marks(text: str, words: WordMap, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """Spans of raised footnote marks among the words of ``text[start:end]``."""
    part = words.within(start, end)
    first = max(part.start, 1)
    last = max(part.stop, first)
    # Most words follow a blank and are no candidates.
    glued = (words.starts[first:last] == words.ends[first - 1 : last - 1]).nonzero()[0] + first
    out: list[tuple[int, int]] = []
    for index in glued.tolist():
        low, high = int(words.starts[index]), int(words.ends[index])
        before = text[max(start, int(words.starts[index - 1])) : low]
        if low <= start or high > end or not _MARK.fullmatch(text[low:high]):
            continue
        of_word = _BASE.search(before) and re.split(r"\W", before)[-1] not in _UNITS
        behind = text[high : high + 2].lstrip()
        of_figure = _FIGURE_ENDED.search(before) and (not behind or behind.isupper())
        if (of_word or of_figure) and _is_raised(words, index):
            out.append((low, high))
    return tuple(out)


def without(text: str, start: int, marks: tuple[tuple[int, int], ...]) -> str:
    """``text``, which begins at ``start``, without ``marks``; a full stop or comma inside a mark is kept."""
    for low, high in reversed(marks):
        if start <= low and high <= start + len(text):
            mark = text[low - start : high - start]
            text = text[: low - start] + (mark[-1] if mark[-1] in ",;." else "") + text[high - start :]
    return text


def _is_raised(words: WordMap, index: int) -> bool:
    if words.pages[index] != words.pages[index - 1]:
        return False
    (_, top, right, foot), (left, high, _, low) = words.boxes[index - 1].tolist(), words.boxes[index].tolist()
    height = foot - top
    return bool(
        low - high <= _SMALL * height and foot - low >= _RAISED * height and abs(left - right) <= _NEAR * height
    )
