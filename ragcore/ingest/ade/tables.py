"""The HTML tables of ADE → grids: cells with spans, headers, text, and the boxes that ADE gives by their ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from statistics import median

from ragcore.ingest.ade.markup import clean_lines
from ragcore.ingest.layout import Grid, GridCell, Rect

MAX_SPAN = 200  # columns or rows that one cell may take: more is a slip of the pen


@dataclass(frozen=True, slots=True)
class HtmlCell:
    """A cell at its place in the grid; ``key`` is its HTML id, "" without one."""

    row: int
    col: int
    row_span: int
    col_span: int
    header: bool
    key: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """``cells`` in order of the HTML, which is row by row; no two of them overlap."""

    key: str
    rows: int
    columns: int
    cells: tuple[HtmlCell, ...]


@dataclass
class _Open:
    """A cell while its text is read."""

    key: str
    row_span: int
    col_span: int
    header: bool
    text: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    """Rows of cells, forgiving as browsers are: a cell or row ends where the next begins. Tables inside a cell become
    lines of its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.key = ""
        self.rows: list[list[_Open]] = []
        self._depth = 0
        self._cell: _Open | None = None
        self._head = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "table":
            self._depth += 1
            if self._depth == 1:
                self.key = given.get("id", "")
        if self._depth > 1:
            if tag in ("tr", "td", "th", "br") and self._cell is not None:
                self._cell.text.append("\n" if tag in ("tr", "br") else " ")
        elif tag in ("thead", "tbody", "tfoot"):
            self._head = tag == "thead"
            self._cell = None
        elif tag == "tr":
            self.rows.append([])
            self._cell = None
        elif tag in ("td", "th"):
            if not self.rows:
                self.rows.append([])
            self._cell = _Open(
                given.get("id", ""),
                _span(given.get("rowspan", ""), whole=MAX_SPAN),
                _span(given.get("colspan", ""), whole=1),
                self._head or tag == "th",
            )
            self.rows[-1].append(self._cell)
        elif tag in ("br", "p", "div", "li") and self._cell is not None:
            self._cell.text.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self._depth:
            self._depth -= 1
        if self._depth <= 1 and tag in ("td", "th", "tr", "table"):
            self._cell = None if tag != "table" or self._depth == 0 else self._cell
        if tag == "thead" and self._depth == 1:
            self._head = False

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.text.append(data)


def _span(text: str, *, whole: int) -> int:
    """A span as HTML has it; 0 means all that is left, of which the grid cuts off what is not there."""
    if not text.strip().isdecimal():
        return 1
    return min(int(text), MAX_SPAN) or whole


def read_table(html: str) -> HtmlTable:
    """The table as a grid, by HTML's own rules (cells move right of what reaches down from above), with spans cut
    where they would leave the table or run into another cell."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    rows = [row for row in reader.rows if row]
    busy: dict[int, int] = {}  # column → first row in which it is free again
    cells: list[HtmlCell] = []
    columns = 0
    for number, row in enumerate(rows):
        col = 0
        for cell in row:
            while busy.get(col, 0) > number:
                col += 1
            width = 1
            while width < cell.col_span and busy.get(col + width, 0) <= number:
                width += 1
            height = min(cell.row_span, len(rows) - number)
            for taken in range(col, col + width):
                busy[taken] = number + height
            text = "".join(cell.text).replace("<::", " ").replace("::>", " ")
            cells.append(HtmlCell(number, col, height, width, cell.header, cell.key, clean_lines(text)))
            col += width
            columns = max(columns, col)
    return HtmlTable(reader.key, len(rows), columns, tuple(cells))


def cell_boxes(table: HtmlTable, boxes: Mapping[str, Rect], whole: Rect) -> list[Rect]:
    """A box for each cell of ``table``: the one given by its id, else where its column and row stand as the other
    cells show them, within ``whole``."""
    given = [boxes.get(cell.key) for cell in table.cells]
    columns = _edges(table.columns, (whole[0], whole[2]))
    rows = _edges(table.rows, (whole[1], whole[3]))
    for place in range(table.columns):
        own = [
            box for cell, box in zip(table.cells, given) if box is not None and (cell.col, cell.col_span) == (place, 1)
        ]
        if own:
            columns[place] = (median(box[0] for box in own), median(box[2] for box in own))
    for place in range(table.rows):
        own = [
            box for cell, box in zip(table.cells, given) if box is not None and (cell.row, cell.row_span) == (place, 1)
        ]
        if own:
            rows[place] = (median(box[1] for box in own), median(box[3] for box in own))
    return [
        box
        or (
            min(edge[0] for edge in columns[cell.col : cell.col + cell.col_span]),
            min(edge[0] for edge in rows[cell.row : cell.row + cell.row_span]),
            max(edge[1] for edge in columns[cell.col : cell.col + cell.col_span]),
            max(edge[1] for edge in rows[cell.row : cell.row + cell.row_span]),
        )
        for cell, box in zip(table.cells, given)
    ]


def _edges(count: int, whole: tuple[float, float]) -> list[tuple[float, float]]:
    """``whole`` in ``count`` equal parts."""
    step = (whole[1] - whole[0]) / max(count, 1)
    return [(whole[0] + i * step, whole[0] + (i + 1) * step) for i in range(count)]


def grid_of(table: HtmlTable, boxes: list[Rect]) -> Grid:
    return Grid(
        table.rows,
        table.columns,
        tuple(GridCell(c.row, c.col, c.row_span, c.col_span, box, c.header) for c, box in zip(table.cells, boxes)),
        given=True,
    )
