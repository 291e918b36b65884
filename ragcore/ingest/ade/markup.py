"""ADE Markdown parser: a chunk → pieces (headings, paragraphs, list items, descriptions, and tables as grids).

ADE writes transcribed text as Markdown, tables as HTML with the ids of their boxes, and descriptions in its own words
between ``<::`` and ``::>``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from statistics import median

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragcore.ingest.layout import Grid, GridCell, Rect
from ragcore.ingest.words import clean_char

_ANCHOR = re.compile(r"<a\s+id=[^>]*>\s*(</a>)?|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_TABLE_TAG = re.compile(r"<(/?)table\b[^>]*>", re.IGNORECASE)
_DESCRIBED = re.compile(r"<::(.*?)(?:::>|\Z)", re.DOTALL)
_TYPE_SUFFIX = re.compile(r"\n\s*:\s*\w+\s*$")
_BREAKS = re.compile(r"<(?:br|/p|/div|/li|/h[1-6])\b[^>]*>", re.IGNORECASE)
_TAGS = re.compile(
    r"</?(?:a|abbr|b|big|center|code|del|div|em|font|h[1-6]|i|img|ins|label|li|mark|ol|p|pre|s|small|span|strike|strong|"
    r"sub|sup|tt|u|ul)\b[^>]*>",
    re.IGNORECASE,
)
_FAILED = "CAPTION ERROR"  # ADE's text if describing a picture failed


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a chunk. ``kind`` is a region's (``section-header``, ``text``, ``list-item``, ``table``, ``picture``);
    ``lines`` are its text; a heading has a ``level`` from 1; a table has its HTML and no lines; a picture's lines are a
    description."""

    kind: str
    lines: tuple[str, ...] = ()
    level: int = 0
    html: str = ""


def pieces(markdown: str) -> list[Piece]:
    """Parts of a chunk in order, without empty ones."""
    # ADE sometimes writes a line break as JSON's two-character escape for it.
    text = _ANCHOR.sub("", markdown).replace("\\n\\n", "\n\n")
    found: list[Piece] = []
    for part, is_table in _tables(text):
        if is_table:
            found.append(Piece("table", html=part))
            continue
        end = 0
        for match in _DESCRIBED.finditer(part):
            found += _blocks(part[end : match.start()])
            found += _described(match.group(1))
            end = match.end()
        found += _blocks(part[end:])
    return [] if [piece.lines for piece in found] == [(_FAILED,)] else found


def description(markdown: str) -> tuple[str, ...]:
    """All text of a chunk that is a picture, line by line, marked as a description or not."""
    return tuple(line for piece in pieces(markdown) for line in piece.lines)


def _tables(text: str) -> Iterator[tuple[str, bool]]:
    """``text`` cut at its outermost tables; an unclosed table runs to the end."""
    depth, start = 0, 0
    for match in _TABLE_TAG.finditer(text):
        if not match.group(1):
            if depth == 0:
                yield text[start : match.start()], False
                start = match.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield text[start : match.end()], True
                start = match.end()
    yield text[start:], depth > 0


def _described(text: str) -> list[Piece]:
    lines = clean_lines(_plain(_TYPE_SUFFIX.sub("", text)))
    return [Piece("picture", lines)] if lines else []


def _blocks(text: str) -> list[Piece]:
    """Markdown blocks as pieces. Only markup that ADE writes on purpose is parsed; other text that resembles markup (a
    quotation mark of mail, a link, an underline) is printed on the page and kept."""
    found: list[Piece] = []
    marker = ""
    items = 0
    level = 0
    for token in _parser().parse(_plain(text)):
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "heading_close":
            level = 0
        elif token.type == "list_item_open":
            items += 1
            marker = f"{token.info}{token.markup}" if token.info else "•"
        elif token.type == "list_item_close":
            items -= 1
        elif token.type in ("inline", "fence"):
            lines = clean_lines(_inline(token) if token.type == "inline" else token.content)
            if not lines:
                continue
            if level:
                found.append(Piece("section-header", lines, level))
            elif items and marker:
                found.append(Piece("list-item", (f"{marker} {lines[0]}", *lines[1:])))
                marker = ""
            else:
                found.append(Piece("text", lines))
    return found


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    return parser.disable(["code", "blockquote", "reference", "lheading", "link", "image", "autolink", "html_block"])


def _inline(token: Token) -> str:
    parts: list[str] = []
    for child in token.children or ():
        parts.append("\n" if child.type in ("softbreak", "hardbreak") else child.content)
    return "".join(parts)


def _plain(text: str) -> str:
    return _TAGS.sub("", _BREAKS.sub("\n", text))


def clean_lines(text: str) -> tuple[str, ...]:
    """Lines of ``text`` with single blanks, characters as `words.clean_char` gives them, without empty lines."""
    lines: list[str] = []
    for line in text.split("\n"):
        shown = unicodedata.normalize("NFC", "".join(map(clean_char, line))).replace("\u00ad", "")
        if words := " ".join(shown.split()):
            lines.append(words)
    return tuple(lines)


MAX_SPAN = 200  # columns or rows of one cell; more is an error of ADE's


@dataclass(frozen=True, slots=True)
class HtmlCell:
    """Cell at its place in the grid; ``key`` is its HTML id, "" without one."""

    row: int
    col: int
    row_span: int
    col_span: int
    header: bool
    key: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """HTML table. ``cells`` are in the order of the HTML, row by row; no two overlap."""

    key: str
    rows: int
    columns: int
    cells: tuple[HtmlCell, ...]


@dataclass
class _Open:
    """Cell while its text is read."""

    key: str
    row_span: int
    col_span: int
    header: bool
    text: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    """HTML parser for rows of cells, as forgiving as browsers: a cell or row ends where the next begins. Tables inside
    a cell become lines of its text."""

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
    """Span as in HTML; 0 means all remaining slots, which the grid cuts at its size."""
    if not text.strip().isdecimal():
        return 1
    return min(int(text), MAX_SPAN) or whole


def read_table(html: str) -> HtmlTable:
    """Table as a grid, by HTML's own rules (cells move right of cells that span down from above), with spans cut where
    they would leave the table or overlap another cell."""
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
    """Box for each cell of ``table``: the one given for its id, else the place of its column and row as the other cells
    show them, within ``whole``."""
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
    """Edges that divide ``whole`` into ``count`` equal parts."""
    step = (whole[1] - whole[0]) / max(count, 1)
    return [(whole[0] + i * step, whole[0] + (i + 1) * step) for i in range(count)]


def grid_of(table: HtmlTable, boxes: list[Rect]) -> Grid:
    return Grid(
        table.rows,
        table.columns,
        tuple(GridCell(c.row, c.col, c.row_span, c.col_span, box, c.header) for c, box in zip(table.cells, boxes)),
        given=True,
    )
