"""Documents made by hand for tests: words laid out on pages as ingest would, with a true word map.

``make_document(Heading("Results"), "One sentence. Another.", Grid("Sales", [["", "2023"], ["Total", "5"]]))``. Rows of
a grid are written as ingest writes them: ``Title — Group / Row | Header: value``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ragcore.types import Cell, Document, Element, ElementKind, Page, Table, WordMap

WIDTH, HEIGHT, MARGIN, LINE, CHARACTER = 612.0, 792.0, 72.0, 14.0, 5.0
COLUMN = 120.0


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 1


@dataclass(frozen=True)
class Item:
    """A list item."""

    text: str


@dataclass(frozen=True)
class Grid:
    """A table; a row of one cell is the group of the rows after it."""

    title: str
    rows: list[list[str]]
    header_rows: int = 1


@dataclass(frozen=True)
class Break:
    """The next block begins on a new page."""


@dataclass
class _Writer:
    text: str = ""
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)
    repeated: list[bool] = field(default_factory=list)
    page: int = 1
    x: float = MARGIN
    y: float = MARGIN

    def separate(self, text: str) -> None:
        self.text += text

    def word(self, word: str, page: int, box: tuple[float, float, float, float], *, repeated: bool = False) -> None:
        self.starts.append(len(self.text))
        self.text += word
        self.ends.append(len(self.text))
        self.pages.append(page)
        self.boxes.append(box)
        self.repeated.append(repeated)

    def new_line(self) -> None:
        self.x, self.y = MARGIN, self.y + LINE
        if self.y > HEIGHT - MARGIN:
            self.new_page()

    def new_page(self) -> None:
        self.page, self.x, self.y = self.page + 1, MARGIN, MARGIN

    def prose(self, text: str) -> tuple[int, int]:
        start = len(self.text)
        for place, word in enumerate(text.split()):
            width = len(word) * CHARACTER
            if place:
                self.separate(" ")
            if self.x + width > WIDTH - MARGIN:
                self.new_line()
            self.word(word, self.page, (self.x, self.y, self.x + width, self.y + 10))
            self.x += width + CHARACTER
        self.new_line()
        return start, len(self.text)

    def cell(self, text: str, column: int) -> tuple[int, int]:
        start = len(self.text)
        x = MARGIN + column * COLUMN
        for place, word in enumerate(text.split()):
            if place:
                self.separate(" ")
            self.word(word, self.page, (x, self.y, x + len(word) * CHARACTER, self.y + 10))
            x += (len(word) + 1) * CHARACTER
        return start, len(self.text)

    def repeat(self, start: int, end: int) -> None:
        """Write ``text[start:end]`` again; its words keep their places."""
        words = [i for i in range(len(self.starts)) if start <= self.starts[i] < end]
        for place, i in enumerate(words):
            if place:
                self.separate(" ")
            self.word(self.text[self.starts[i] : self.ends[i]], self.pages[i], self.boxes[i], repeated=True)


def make_document(
    *blocks: str | Heading | Item | Grid | Break,
    doc_id: str = "0123456789abcdef",
    title: str = "Annual report",
    labels: list[str] | None = None,
) -> Document:
    """A document of ``blocks`` in order. ``labels`` are the printed page labels (default: the numbers)."""
    out = _Writer()
    elements: list[Element] = []
    path: list[str] = []
    for block in blocks:
        if isinstance(block, Break):
            out.new_page()
            continue
        if elements:
            out.separate("\n\n")
        page, table, level = out.page, None, 0
        kind: ElementKind = "paragraph"
        if isinstance(block, Grid):
            start, (table, end) = len(out.text), _write_grid(out, block)
            kind = "table"
            start = min([start, *(cell.start for cell in table.cells)])
        elif isinstance(block, Heading):
            path = [*path[: block.level - 1], block.text]
            (start, end), level, kind = out.prose(block.text), block.level, "heading"
        else:
            kind = "list_item" if isinstance(block, Item) else "paragraph"
            start, end = out.prose(block.text if isinstance(block, Item) else block)
        elements.append(Element(len(elements), kind, start, end, page, level=level, section=tuple(path), table=table))
    count = out.page
    names = labels or [str(number) for number in range(1, count + 1)]
    return Document(
        doc_id=doc_id,
        sha256=doc_id * 4,
        name=f"{title}.pdf",
        title=title,
        text=out.text,
        body_end=len(out.text),
        words=WordMap(out.starts, out.ends, out.pages, out.boxes, out.repeated),
        pages=tuple(Page(number, names[number - 1], WIDTH, HEIGHT) for number in range(1, count + 1)),
        elements=tuple(elements),
    )


def _write_grid(out: _Writer, grid: Grid) -> tuple[Table, int]:
    cells: list[Cell] = []
    heads: dict[int, list[tuple[int, int]]] = {}
    row_spans: list[tuple[int, int]] = []
    row_numbers: list[int] = []
    group: tuple[int, int] | None = None
    for number, row in enumerate(grid.rows):
        header = number < grid.header_rows
        if number:
            out.separate("\n")
        start = len(out.text)
        filled = [(column, text) for column, text in enumerate(row) if text]
        if not header:
            if grid.title:
                out.separate(grid.title)
                out.separate(" — ")
            if len(filled) > 1 and group is not None:
                out.repeat(*group)
                out.separate(" / ")
        for place, (column, text) in enumerate(filled):
            if place:
                out.separate(" | ")
            if not header and place and heads.get(column):
                for level, span in enumerate(heads[column]):
                    if level:
                        out.separate(" / ")
                    out.repeat(*span)
                out.separate(": ")
            span = out.cell(text, column)
            cells.append(Cell(number, column, 1, 1, *span, header=header))
            if header:
                heads.setdefault(column, []).append(span)
            elif len(filled) == 1:
                group = span
        if not header:
            row_spans.append((start, len(out.text)))
            row_numbers.append(number)
        out.new_line()
    columns = max(len(row) for row in grid.rows)
    return (
        Table(grid.title, len(grid.rows), columns, tuple(cells), tuple(row_spans), tuple(row_numbers)),
        len(out.text),
    )
