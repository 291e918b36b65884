"""What passes between the stages: frozen dataclasses, and the one map from characters to places.

The invariant that everything rests on: a document has one canonical ``text``; every element, table cell, chunk,
source unit and citation is a half-open span ``[start, end)`` of it (in Python characters); and the word map gives
the boxes of any span. Nothing is ever located by searching for its text again.

`ragcore.places` has `Box`, the one convention for places, and the word map itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ragcore.places import Box as Box
from ragcore.places import WordMap as WordMap
from ragcore.places import line_boxes

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
ClaimStatus = Literal["supported", "weak", "unsupported", "uncited"]
UnitKind = Literal["sentence", "cell"]


@dataclass(frozen=True, slots=True)
class Page:
    """One page as displayed. ``label`` is the printed page label where the PDF has one, else the number as text;
    ``width`` and ``height`` are points after rotation and crop; ``rotation`` is the page's own, in degrees;
    ``degraded`` says why a page was read by a simpler method, or is None."""

    number: int
    label: str
    width: float
    height: float
    rotation: int = 0
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One table cell: its place in the grid, its span (printed once, its own words) and whether it is a header."""

    row: int
    col: int
    row_span: int
    col_span: int
    start: int
    end: int
    header: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """``cells`` in row order, header cells included; ``row_spans[i]`` is the span of the i-th linearised body row
    (title and headers repeated in it) and ``row_numbers[i]`` its row in the grid. ``title`` is "" where none was found.
    """

    title: str
    rows: int
    columns: int
    cells: tuple[Cell, ...]
    row_spans: tuple[tuple[int, int], ...] = ()
    row_numbers: tuple[int, ...] = ()

    def headers_of(self, cell: Cell) -> tuple[Cell, ...]:
        """The column-header cells above ``cell``, outermost first (none for a header cell itself)."""
        if cell.header:
            return ()
        columns = range(cell.col, cell.col + cell.col_span)
        return tuple(
            other
            for other in self.cells
            if other.header
            and other.row < cell.row
            and any(other.col <= c < other.col + other.col_span for c in columns)
        )

    def row_header_of(self, cell: Cell) -> Cell | None:
        """The cell that names the row: its first non-empty cell to the left of ``cell``, or None."""
        for other in self.cells:
            covers = other.row <= cell.row < other.row + other.row_span
            if covers and not other.header and other.col < cell.col and other.end > other.start:
                return other
        return None


@dataclass(frozen=True, slots=True)
class Element:
    """A piece of a document with one role. ``id`` counts in reading order over the whole document, furniture included.
    ``region`` holds layout boxes for what has no words of its own (a figure). ``section`` is the path of headings
    above it. ``noise`` is None, or the reason why it is not indexed."""

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


@dataclass(frozen=True)
class Document:
    """A parsed document: one canonical text, the word map, pages and elements.

    ``text`` is the body followed by the furniture (page headers, footers and other noise, kept but never indexed):
    ``text[:body_end]`` is what chunks tile. ``doc_id`` is the first 16 hex digits of ``sha256``.
    """

    doc_id: str
    sha256: str
    name: str
    title: str
    text: str
    body_end: int
    words: WordMap
    pages: tuple[Page, ...]
    elements: tuple[Element, ...]

    def boxes(self, start: int, end: int) -> tuple[Box, ...]:
        """The places of ``text[start:end]``, one box for each run of words that follow one another on a line.

        In order of the text; words of the span that stand elsewhere on the page (a repeated header) get the box of
        what they repeat, once. A partly covered word gives its whole box.
        """
        part = self.words.within(start, end)
        return tuple(line_boxes(self.words.pages[part], self.words.boxes[part]))

    def page_at(self, start: int, end: int) -> int:
        """The page on which the span's own (not repeated) words begin; 1 when the span has no words."""
        part = self.words.within(start, end)
        own = np.flatnonzero(~self.words.repeated[part])
        first = part.start + int(own[0]) if len(own) else part.start
        return int(self.words.pages[first]) if part.stop > part.start else 1

    def pages_of(self, start: int, end: int) -> tuple[int, ...]:
        """Every page that the span's own words touch, ascending."""
        part = self.words.within(start, end)
        own = self.words.pages[part][~self.words.repeated[part]]
        return tuple(int(page) for page in np.unique(own))

    def element_boxes(self, element: Element) -> tuple[Box, ...]:
        return self.boxes(element.start, element.end) or element.region

    @cached_property
    def body(self) -> tuple[Element, ...]:
        """The elements that are not noise, in the order of the text."""
        return tuple(sorted((e for e in self.elements if e.noise is None), key=lambda e: (e.start, e.end, e.id)))


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document that is retrieved as one. ``text == document.text[start:end]``.

    ``header`` (title and section path) and ``lead_in`` (the end of the chunk before) are embedded and BM25-indexed
    in front of the text and cannot be cited. ``tokens`` counts cl100k tokens of ``text``.
    ``index`` is its place in the document's tiling.
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

    @property
    def index_text(self) -> str:
        """What is embedded and BM25-indexed."""
        return "\n".join(part for part in (self.header, self.lead_in, self.text) if part)


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that retrieval found. ``score`` is the one the ranking used; ``scores`` has every step's
    (``vector`` cosine, ``bm25`` raw, ``fused`` 0–1, ``rerank`` 0–1; absent where the step did not see the chunk);
    ``ranks`` the rank at each step, from 1; ``via`` says which steps put it here, e.g. ``vector+bm25``."""

    rank: int
    chunk: Chunk
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    via: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of neighbouring chunks of one document chosen by relevant segment extraction, or a single neighbour.

    Chunks ``first_chunk``..``last_chunk`` (both included, by index); ``value`` is the sum of their RSE values;
    ``via`` is ``rse``, ``hit`` or ``neighbour``."""

    doc_id: str
    start: int
    end: int
    first_chunk: int
    last_chunk: int
    value: float
    via: str = "rse"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Everything one retrieval found. ``hits`` best first; ``segments`` best first."""

    query: str
    mode: str
    hits: tuple[Hit, ...]
    segments: tuple[Segment, ...]
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or a table cell of a source: the smallest thing a citation can name. ``label`` gives a cell's row
    and column headers (``Total revenues · Fiscal 2023``), "" for a sentence."""

    start: int
    end: int
    kind: UnitKind
    label: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered passage given to the writer: span of one document, cut into numbered units (from 1)."""

    number: int
    doc_id: str
    title: str
    start: int
    end: int
    text: str
    units: tuple[Unit, ...]
    section: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    page_labels: tuple[str, ...] = ()
    score: float = 0.0
    via: str = ""

    def lines(self) -> list[tuple[int, int]]:
        """Numbers first..last of the units that stand on one line of the text: the sentences of a paragraph or list
        item, the cells of a table row."""
        runs: list[tuple[int, int]] = []
        for number, unit in enumerate(self.units, start=1):
            before = self.units[number - 2] if runs else None
            joins = (
                before is not None
                and before.kind == unit.kind
                and "\n" not in self.text[before.end - self.start : unit.start - self.start]
            )
            runs.append((runs.pop()[0], number) if joins else (number, number))
        return runs

    def words(self, first: int, last: int) -> str:
        """What units ``first`` to ``last`` are in the text, with single blanks."""
        start, end = self.units[first - 1].start, self.units[last - 1].end
        return " ".join(self.text[start - self.start : end - self.start].split())


@dataclass(frozen=True, slots=True)
class Citation:
    """``n`` as shown, from 1 in order of first use. ``quote == document.text[start:end]`` and
    ``boxes == document.boxes(start, end)``. ``head_boxes`` are the row and column headers of a cited cell.
    ``source`` and ``units`` are what the marker named: unit numbers first..last, or (0, 0) for the whole source."""

    n: int
    doc_id: str
    title: str
    page: int
    page_label: str
    quote: str
    start: int
    end: int
    boxes: tuple[Box, ...]
    head_boxes: tuple[Box, ...] = ()
    label: str = ""
    section: tuple[str, ...] = ()
    source: int = 0
    units: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Mark:
    """Where in `Answer.text` a citation stands: ``text[start:end]`` is ``[n]``."""

    start: int
    end: int
    n: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the answer, ``answer.text[start:end]`` with its marks left out as ``text``; the citations that
    stand in it; and the verdict with its reason in words."""

    text: str
    start: int
    end: int
    citations: tuple[int, ...]
    status: ClaimStatus
    reason: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished (or stopped) answer. ``text`` is Markdown with marks ``[n]`` at ``marks``; ``status`` is
    ``complete``, ``stopped`` (by the person) or ``failed`` (``error`` says why; what had arrived is kept)."""

    answer_id: str
    question: str
    queries: tuple[str, ...]
    text: str
    refused: bool
    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    marks: tuple[Mark, ...]
    dropped: tuple[str, ...]
    sources: tuple[Source, ...]
    model: str
    extractive: bool
    usage: Usage
    cost_usd: float | None
    timings_ms: Mapping[str, float]
    settings_hash: str
    status: Literal["complete", "stopped", "failed"] = "complete"
    error: Mapping[str, Any] | None = None
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier exchange of a conversation, as the writer sees it."""

    question: str
    answer: str


# What an answer stream yields, in order: one Found; Text, Cited and Dropped as they arrive; Checked; Done.


@dataclass(frozen=True, slots=True)
class Found:
    """Retrieval is done and the sources are numbered; nothing is written yet."""

    retrieval: Retrieval
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer's prose."""

    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    """A marker was resolved: a chip with ``citation.n`` stands here. The same citation may come again."""

    citation: Citation


@dataclass(frozen=True, slots=True)
class Dropped:
    """A marker named no given source; it is not shown as a citation."""

    marker: str


@dataclass(frozen=True, slots=True)
class Checked:
    """Verdicts of all claims."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """The finished answer."""

    answer: Answer


AnswerEvent = Found | Text | Cited | Dropped | Checked | Done
