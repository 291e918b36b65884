"""ADE Markdown parser: a chunk → pieces (headings, paragraphs, list items, descriptions, and tables as grids).

ADE writes transcribed text as Markdown, tables as HTML with the ids of their boxes, and descriptions in its own words
between ``<::`` and ``::>``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

from ragcore.ingest.words import clean_char
from ragcore.text.markdown import blocks, item_of, words

_ANCHOR = re.compile(r"<a\s+id=[^>]*>\s*(</a>)?|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_TABLE = re.compile(r"(<table\b.*?(?:</table>|\Z))", re.DOTALL | re.IGNORECASE)
_DESCRIBED = re.compile(r"<::(.*?)(?:::>|\Z)", re.DOTALL)
_TYPE_SUFFIX = re.compile(r"\n\s*:\s*\w+\s*$")
_BREAKS = re.compile(r"<(?:br|/p|/div|/li|/h[1-6])\b[^>]*>", re.IGNORECASE)
_TAGS = re.compile(
    r"</?(?:a|abbr|b|big|center|code|del|div|em|font|h[1-6]|i|img|ins|label|li|mark|ol|p|pre|s|small|span|strike|strong|"
    r"sub|sup|tt|u|ul)\b[^>]*>",
    re.IGNORECASE,
)
# Rules of Markdown whose signs are printed on the page.
_PRINTED = (
    "blockquote", "reference", "lheading", "table", "strikethrough", "link", "image", "autolink", "html_block",
    "html_inline",
)  # fmt: skip
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
    for part in _TABLE.split(text):
        if _TABLE.match(part):
            found.append(Piece("table", html=part))
            continue
        end = 0
        for match in _DESCRIBED.finditer(part):
            found += _blocks(part[end : match.start()])
            if lines := clean_lines(_plain(_TYPE_SUFFIX.sub("", match.group(1)))):
                found.append(Piece("picture", lines))
            end = match.end()
        found += _blocks(part[end:])
    return [] if [piece.lines for piece in found] == [(_FAILED,)] else found


def _blocks(text: str) -> list[Piece]:
    """Markdown blocks as pieces. Only markup that ADE writes on purpose is parsed; other text that resembles markup (a
    quotation mark of mail, a link, an underline) is printed on the page and kept."""
    found: list[Piece] = []
    for block, _ in blocks(_plain(text), *_PRINTED):
        lines = clean_lines(words(block, "\n"))
        if lines and block.type == "heading":
            found.append(Piece("section-header", lines, int(block.tag[1:])))
        elif lines and (item := item_of(block)):
            marker = f"{item.info}{item.markup}" if item.info else "•"
            found.append(Piece("list-item", (f"{marker} {lines[0]}", *lines[1:])))
        elif lines:
            found.append(Piece("text", lines))
    return found


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


@dataclass
class HtmlCell:
    """Cell at its place in the grid; ``key`` is its HTML id, "" without one."""

    row: int
    col: int
    row_span: int
    col_span: int
    header: bool
    key: str
    text: list[str] = field(default_factory=list)

    @property
    def lines(self) -> tuple[str, ...]:
        return clean_lines("".join(self.text).replace("<::", " ").replace("::>", " "))


class HtmlTable(HTMLParser):
    """HTML table as a grid: ``cells`` in the order of the HTML. As in browsers, a cell or row ends where the next
    begins, and cells move right of those that span down from above; a span is cut where it would overlap another cell
    or leave the table."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.key = ""
        self.rows = self.columns = 0
        self.cells: list[HtmlCell] = []
        self._head = False
        self._row_begins = True
        self._busy: dict[int, int] = {}  # column → first row in which it is free again
        self.feed(html)
        self.close()
        for cell in self.cells:
            cell.row_span = min(cell.row_span, self.rows - cell.row)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.key = given.get("id", "")
        elif tag in ("thead", "tbody", "tfoot"):
            self._head = tag == "thead"
        elif tag == "tr":
            self._row_begins = True
        elif tag in ("td", "th"):
            self._add(given, header=self._head or tag == "th")
        elif tag in ("br", "p", "div", "li"):
            self.handle_data("\n")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1].text.append(data)

    def _add(self, given: Mapping[str, str], *, header: bool) -> None:
        self.rows += self._row_begins
        self._row_begins = False
        row, col, width = self.rows - 1, 0, 1
        while self._busy.get(col, 0) > row:
            col += 1
        while width < _span(given.get("colspan", "")) and self._busy.get(col + width, 0) <= row:
            width += 1
        height = _span(given.get("rowspan", ""))
        self._busy.update(dict.fromkeys(range(col, col + width), row + height))
        self.columns = max(self.columns, col + width)
        self.cells.append(HtmlCell(row, col, height, width, header, given.get("id", "")))


def _span(text: str) -> int:
    return min(max(int(text), 1), MAX_SPAN) if text.strip().isdecimal() else 1
