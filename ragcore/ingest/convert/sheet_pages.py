"""Sheets drawn as ruled pages, with the grid of each table kept in its page. Runs in the child process only.

A page shows what fits on it: the header rows stand on each page of a table, and each strip of columns of a table that
is too wide begins with the first column. Cells of other scripts than those of `_SIMPLE` are set by MuPDF's HTML, which
shapes and turns them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any

import pymupdf

from ragcore.errors import FileTooLarge, TooManyPages
from ragcore.ingest.convert.known import keep_page
from ragcore.ingest.convert.workbook import Sheet, SheetCell, SheetTable, Workbook, sheet_parts
from ragcore.ingest.layout import Grid, GridCell, Rect, Region
from ragcore.text.numbers import figure
from ragcore.text.units import UNIT_NOTE
from ragcore.types.places import joined

PAPERS = ((420.0, 595.0), (595.0, 842.0), (842.0, 595.0))  # points: A5, A4, A4 landscape; the first that is wide enough
MARGIN = 36.0
BODY, HEAD, RUNNING = 8.0, 14.0, 7.0  # font sizes
LINE = 1.3  # of the font size: a line's height
PAD = 3.0  # points around a cell's text
MOST_WIDE = 220.0  # points of a column, at most, if its text can be wrapped
NARROW = 44.0  # points that a column has at least for texts as wide
TEXT_WIDE = 340.0  # points that lines of text want
MOST_TEXT = 32_767  # characters of a cell, as in Excel
HEADING_WORDS = 12
_RULE, _FILL = (0.72, 0.72, 0.72), (0.94, 0.94, 0.94)
_SIMPLE = re.compile(r"[\u0000-\u058f\u1e00-\u20cf\u2100-\u2bff\u3000-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]*")
_FONTS = {False: pymupdf.Font("helv"), True: pymupdf.Font("hebo")}


@dataclass
class _Sheet:
    """Pages so far. ``regions`` and ``texts`` (one for each cell of a table, else one) are those of the last page."""

    pages: Any
    most: int
    name: str = ""
    width: float = 0.0
    height: float = 0.0
    page: Any = None
    writer: Any = None
    y: float = 0.0
    regions: list[Region] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)

    def new_page(self, running: str = "") -> None:
        self.end_page()
        if len(self.pages) >= self.most:
            raise TooManyPages(f"{self.name} has more than {self.most} pages; that is the limit.")
        self.page = self.pages.new_page(width=self.width, height=self.height)
        self.writer = pymupdf.TextWriter(self.page.rect)
        self.y = MARGIN
        if running:
            self.line(running, "page-header", RUNNING)

    def end_page(self) -> None:
        """Write the texts of the last page, and keep its regions in it."""
        if self.page is None:
            return
        self.writer.write_text(self.page)
        keep_page(self.pages, self.page, self.regions, self.texts)
        self.page, self.regions, self.texts = None, [], []

    def line(self, text: str, kind: str, size: float, place: str = "") -> None:
        """A text over the page's whole width, in bold unless it is running text."""
        bold = kind in ("section-header", "caption")
        lines = _wrapped(text, self.width - 2 * MARGIN, size, bold)
        height = len(lines) * LINE * size
        if self.y + height > self.height - MARGIN and self.y > 2 * MARGIN:
            self.new_page()
        box = (MARGIN, self.y, self.width - MARGIN, min(self.y + height, self.height - MARGIN))
        self.put(text, box, bold=bold, size=size, pad=0.0)
        self.regions.append(Region(kind, box, place=place))
        self.texts.append([text])
        self.y += height + (4.0 if kind != "page-header" else 6.0)

    def put(self, text: str, box: Rect, *, bold: bool, size: float, pad: float = PAD, right: bool = False) -> None:
        """Write ``text`` in ``box``, smaller if it needs to be."""
        inner = (box[0] + pad, box[1] + pad, box[2] - pad, box[3] - pad)
        if not _SIMPLE.fullmatch(text):
            html = f'<p style="margin: 0; font-family: sans-serif; font-size: {size}px">{escape(text)}</p>'
            self.page.insert_htmlbox(pymupdf.Rect(inner), html, scale_low=0)
            return
        width, height = inner[2] - inner[0], inner[3] - inner[1]
        lines = _wrapped(text, width, size, bold)
        while len(lines) * LINE * size > height + 0.1:
            size *= 0.93
            lines = _wrapped(text, width, size, bold)
        for number, line in enumerate(lines):
            shift = width - _length(bold, line, size) if right else 0.0
            at = (inner[0] + max(0.0, shift), inner[1] + (number * LINE + 1.0) * size)
            self.writer.append(at, line, font=_FONTS[bold], fontsize=size)


def draw_sheets(book: Workbook, name: str, most_pages: int) -> Any:
    """PDF with the sheets of ``book``, each from a new page on. Raises `TooManyPages`, `FileTooLarge`."""
    out = _Sheet(pymupdf.open(), most_pages, name)
    for sheet in book.sheets:
        parts = list(sheet_parts(sheet))
        widths = [_widths(name, part) if isinstance(part, SheetTable) else {0: TEXT_WIDE} for part in parts]
        wide = max(sum(each.values()) for each in widths) + 2 * MARGIN
        out.width, out.height = next((paper for paper in PAPERS if wide <= paper[0]), PAPERS[-1])
        out.new_page()
        out.line(sheet.name, "section-header", HEAD, sheet.name)
        for number, part in enumerate(parts):
            if isinstance(part, SheetTable):
                _draw_table(out, sheet, part, widths[number])
            else:
                _check_text(name, part[0])
                above = any(isinstance(after, SheetTable) for after in parts[number + 1 :])
                out.line(part[0].text, _kind(part[0].text, above), BODY + 1, part[0].place)
    out.end_page()
    return out.pages


def _kind(text: str, above: bool) -> str:
    """Role of a line, ``above`` a table or not: a heading of it, or running text."""
    short = len(text.split()) <= HEADING_WORDS and not text.endswith((".", ":", ";", ","))
    named = above and short and not UNIT_NOTE.search(text) and figure(text) is None and any(map(str.isalpha, text))
    return "section-header" if named else "text"


def _check_text(name: str, cell: SheetCell) -> None:
    if len(cell.text) > MOST_TEXT:
        raise FileTooLarge(
            f"{name}: cell {cell.place} has {len(cell.text):,} characters; the limit is {MOST_TEXT:,}.",
            hint="Put long texts into a file of their own.",
        )


def _draw_table(out: _Sheet, sheet: Sheet, table: SheetTable, widths: dict[int, float]) -> None:
    strips = _strips(sorted(widths), widths, out.width - 2 * MARGIN)
    for number, columns in enumerate(strips):
        letters = ", ".join(re.sub(r".*!|\d", "", place) for place in _letters(table, columns))
        running = f"{sheet.name}, columns {letters}" if len(strips) > 1 else f"{sheet.name}, continued"
        if number:
            out.new_page(running)
            out.line(sheet.name, "caption", BODY + 1, sheet.name)
        _draw_strip(out, table, columns, widths, running)


def _widths(name: str, table: SheetTable) -> dict[int, float]:
    """Width of each column: of its longest text, less if that makes all columns fit on a page and no word is cut."""
    widths: dict[int, float] = {}
    least: dict[int, float] = {}
    for number, row in enumerate(table.rows):
        bold = number < table.headers
        for cell in row:
            _check_text(name, cell)
            wide = _length(bold, cell.text, BODY)
            word = wide
            if cell.columns == 1 and " " in cell.text:
                word = max(_length(bold, each, BODY) for each in cell.text.split())
            for known, length, most in ((widths, wide, MOST_WIDE), (least, max(word, min(wide, NARROW)), MOST_WIDE)):
                share = min(length + 2 * PAD + 1.0, most) if cell.columns == 1 else 0.0
                known[cell.column] = max(known.get(cell.column, 4 * BODY), share)
    room, free = PAPERS[-1][0] - 2 * MARGIN, sum(widths.values()) - sum(least.values())
    if sum(widths.values()) > room >= sum(least.values()):
        share = (room - sum(least.values())) / free
        widths = {column: least[column] + share * (wide - least[column]) for column, wide in widths.items()}
    return widths


def _letters(table: SheetTable, columns: Sequence[int]) -> list[str]:
    places = {cell.column: cell.place for row in table.rows for cell in row}
    return [places[column] for column in columns]


def _strips(columns: Sequence[int], widths: dict[int, float], room: float) -> list[list[int]]:
    """Columns side by side on a page with this ``room``, the first one in each strip."""
    if len(columns) > 1:
        widths[columns[0]] = min(widths[columns[0]], room / 2)
    strips: list[list[int]] = []
    left = 0.0
    for column in columns:
        if not strips or widths[column] > left:
            strips.append([columns[0]] if strips else [])
            left = room - sum(widths[each] for each in strips[-1])
        strips[-1].append(column)
        left -= widths[column]
    return strips


@dataclass(frozen=True)
class _Slot:
    """Cell in a strip: its first row and column in it, those after its last, and its text's least height."""

    cell: SheetCell
    top: int
    bottom: int
    left: int
    right: int
    height: float


def _slots(table: SheetTable, columns: Sequence[int], edges: Sequence[float]) -> list[_Slot]:
    at = {row[0].row: number for number, row in enumerate(table.rows)}
    slots = []
    for number, row in enumerate(table.rows):
        for cell in row:
            inside = [n for n, column in enumerate(columns) if 0 <= column - cell.column < cell.columns]
            if inside:
                rows = [
                    n
                    for place in range(cell.row, cell.row + min(cell.rows, 10_000))
                    if (n := at.get(place)) is not None
                ]
                wide = edges[inside[-1] + 1] - edges[inside[0]] - 2 * PAD
                lines = _wrapped(cell.text, wide, BODY, number < table.headers)
                tall = len(lines) * LINE * BODY + 2 * PAD
                slots.append(_Slot(cell, number, max(rows) + 1, inside[0], inside[-1] + 1, tall))
    return slots


def _draw_strip(out: _Sheet, table: SheetTable, columns: Sequence[int], widths: dict[int, float], running: str) -> None:
    """Rows of some columns, on as many pages as they need."""
    edges = [MARGIN]
    for column in columns:
        edges.append(edges[-1] + widths[column])
    slots = _slots(table, columns, edges)
    tall = [LINE * BODY + 2 * PAD] * len(table.rows)
    for slot in sorted(slots, key=lambda one: one.bottom - one.top):
        missing = slot.height - sum(tall[slot.top : slot.bottom])
        tall[slot.bottom - 1] += max(0.0, missing)
    headed = sum(tall[: table.headers])
    room = out.height - 3 * MARGIN
    if headed > room / 2:
        tall[: table.headers] = [room / 2 / table.headers] * table.headers
        headed = room / 2
    tall = [min(each, room - headed) if n >= table.headers else each for n, each in enumerate(tall)]
    by_row: dict[int, list[_Slot]] = {}
    for slot in slots:
        for row in range(slot.top, slot.bottom):
            by_row.setdefault(row, []).append(slot)
    place = joined(table.rows[0][0].place, table.rows[-1][-1].place)
    row, continues = table.headers, False
    while row < len(table.rows) or not continues:
        first = headed + (tall[row] if row < len(table.rows) else 0.0)
        if out.y + first > out.height - MARGIN:
            out.new_page(running)
        rows, y = list(range(table.headers)), out.y + headed
        while row < len(table.rows) and y + tall[row] <= out.height - MARGIN + 0.1:
            y += tall[row]
            rows.append(row)
            row += 1
        _draw_rows(out, rows, by_row, tall, edges, table.headers, continues, place)
        continues = True


def _draw_rows(
    out: _Sheet,
    rows: Sequence[int],
    by_row: dict[int, list[_Slot]],
    tall: Sequence[float],
    edges: Sequence[float],
    headers: int,
    continues: bool,
    place: str,
) -> None:
    """Part of a strip that is on one page, ruled, as one region."""
    ends = [out.y]
    for row in rows:
        ends.append(ends[-1] + tall[row])
    at = {row: number for number, row in enumerate(rows)}
    cells: list[GridCell] = []
    texts: list[str] = []
    covered: set[tuple[int, int]] = set()
    merged: list[Rect] = []
    shape = out.page.new_shape()
    filled = (edges[0], ends[0], edges[-1], ends[headers])
    if headers:
        shape.draw_rect(filled)
        shape.finish(color=None, fill=_FILL)
    for slot in dict.fromkeys(slot for row in rows for slot in by_row.get(row, ())):
        inside = [at[row] for row in range(slot.top, slot.bottom) if row in at]
        free = [n for n in inside if all((n, column) not in covered for column in range(slot.left, slot.right))]
        if not free:
            continue  # under a merged cell
        top, bottom = free[0], free[-1] + 1
        covered.update((n, column) for n in range(top, bottom) for column in range(slot.left, slot.right))
        box = (edges[slot.left], ends[top], edges[slot.right], ends[bottom])
        header = bottom <= headers
        numeric = not header and figure(slot.cell.text) is not None
        out.put(slot.cell.text, box, bold=header, size=BODY, right=numeric)
        if slot.right - slot.left > 1 or bottom - top > 1:
            merged.append(box)
        span = (bottom - top, slot.right - slot.left)
        cells.append(GridCell(top, slot.left, *span, box, header, place=slot.cell.place))
        texts.append(slot.cell.text)
    for y in ends:
        shape.draw_line((edges[0], y), (edges[-1], y))
    for x in edges:
        shape.draw_line((x, ends[0]), (x, ends[-1]))
    shape.finish(color=_RULE, width=0.5)
    for box in merged:
        shape.draw_rect(box)
        shape.finish(color=_RULE, width=0.5, fill=_FILL if box[3] <= ends[headers] + 0.1 else (1, 1, 1))
    shape.commit(overlay=False)
    grid = Grid(len(rows), len(edges) - 1, tuple(cells), given=True, headers=headers, continues=continues)
    if cells:
        box = (edges[0], ends[0], edges[-1], ends[-1])
        out.regions.append(Region("table", box, grid, place=place))
        out.texts.append(texts)
    out.y = ends[-1] + 14.0


def _wrapped(text: str, width: float, size: float, bold: bool) -> list[str]:
    """Lines of ``text``, broken at blanks, and within a word that is longer than a line."""
    if _length(bold, text, size) <= width:
        return [text]
    lines, line, used, blank = [], "", 0.0, _length(bold, " ", size)
    for word in text.split(" "):
        wide = _length(bold, word, size)
        if line and used + blank + wide <= width:
            line, used = f"{line} {word}", used + blank + wide
            continue
        if line:
            lines.append(line)
        while wide > width and len(word) > 1:
            fit = max(1, min(len(word) - 1, int(len(word) * width / wide)))
            while fit > 1 and _length(bold, word[:fit], size) > width:
                fit -= 1
            lines.append(word[:fit])
            word = word[fit:]
            wide = _length(bold, word, size)
        line, used = word, wide
    return [*lines, line]


def _length(bold: bool, text: str, size: float) -> float:
    """Width of ``text`` in points."""
    return size * sum(_advance(bold, character) for character in text)


@cache
def _advance(bold: bool, character: str) -> float:
    return float(_FONTS[bold].text_length(character, 1))
