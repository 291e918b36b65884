"""Draft table: cells with the words of their page before the table is written, and tests for kinds of cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from ragcore.ingest.blocks import Block
from ragcore.ingest.canonical import Line, Ref, plain
from ragcore.text.numbers import numbers
from ragcore.text.periods import blanked, period_spans

LONGEST_PERIOD = 20  # characters

BEFORE = frozenset({"$", "€", "£", "¥", "(", "US$", "$(", "€(", "£("})
AFTER = frozenset({"%", ")", ")%", "%)", "‰", "pp", "x"})
_NUMBER = re.compile(r"^[\s($€£¥+\-−–<>~≈]*\d[\d\s.,'’]*[)%‰*†‡]*$|^[-–—]+\s?%?$")
_VALUED = re.compile(r"^[\s($€£¥+\-−–<>~≈±≤≥]*\d")


def is_number(text: str) -> bool:
    """Whether ``text`` is a number as tables print it: digits with separators, signs, brackets, currency, percent; a
    dash for none."""
    return bool(_NUMBER.match(text.strip())) if text.strip() else False


def is_valued(text: str) -> bool:
    """Whether ``text`` is a value with its additions: ``34 (45%)``, ``6.4 (6-13) months``, ``$ 1.2 bn``."""
    letters = sum(c.isalpha() for c in text)
    return is_number(text) or (bool(_VALUED.match(text)) and letters <= sum(c.isdigit() for c in text) + 2)


def range_ends(text: str) -> tuple[float, float, str] | None:
    """Ends, unsigned, and kind of a range that ``text`` begins with: ``$11.0 to $11.2 billion``; None for years."""
    found = numbers(text) if _VALUED.match(text) else []
    if len(found) != 2:
        return None
    between = text[found[0].start + len(found[0].raw) : found[1].start] + found[1].raw[0]
    if "=" in between or not any(c.isalpha() or c in "-–—−" for c in between):
        return None  # "34 (45%)", "1 (n = 40)"
    low, high = sorted(abs(number.value) for number in found)
    return low, high, found[1].kind


def is_year(text: str) -> bool:
    """Whether ``text`` is a year (``2023``, ``FY2023``, ``2022/23``)."""
    return _periods(text) == {"year"}


def is_period(text: str) -> bool:
    """Whether ``text`` is a year, a quarter, a month or a date."""
    return bool(_periods(text))


@lru_cache(maxsize=4096)
def _periods(text: str) -> set[str]:
    """Kinds of periods that ``text`` consists of; none if there are other words in it."""
    if len(text) > LONGEST_PERIOD:
        return set()
    rest = text.capitalize() if text.isalpha() else text.replace("fy", "FY")
    spans = period_spans(rest)
    rest = blanked(rest, ((start, end) for _, start, end in spans))
    return {kind for kind, _, _ in spans} if rest.strip(" ,.") in ("", "FY") else set()


def is_symbol(text: str) -> bool:
    """Whether ``text`` is a currency or percent sign or a bracket that belongs to the adjacent number."""
    return text in BEFORE or text in AFTER


@dataclass(eq=False)
class DraftCell:
    """Table cell. ``marks`` counts the words at the cell's end that are footnote marks; ``place`` is that of its
    `GridCell`."""

    row: int
    col: int
    row_span: int
    col_span: int
    header: bool
    lines: list[Line] = field(default_factory=list)
    marks: int = 0
    place: str = ""

    @property
    def text(self) -> str:
        return plain(self.lines)

    @property
    def words(self) -> list[Ref]:
        return [word for line in self.lines for word in line]

    @property
    def value(self) -> str:
        """Text without its footnote marks."""
        words = self.words
        return plain([words[: len(words) - self.marks]])

    @property
    def size(self) -> float:
        """Font size of its first word."""
        return max(self.lines[0][0].size, 1.0)

    @property
    def columns(self) -> range:
        return range(self.col, self.col + self.col_span)

    @property
    def end_row(self) -> int:
        return self.row + self.row_span

    def extent(self) -> tuple[float, float]:
        """Left and right edge of its words."""
        boxes = [word.box for line in self.lines for word in line]
        return min(b[0] for b in boxes), max(b[2] for b in boxes)

    def top(self) -> float:
        return min(word.box[1] for word in self.lines[0])

    def bottom(self) -> float:
        return max(word.box[3] for word in self.lines[-1])

    def height(self) -> float:
        """Height of its first line."""
        return max(word.box[3] for word in self.lines[0]) - self.top()

    def covers(self, row: int, col: int) -> bool:
        return self.row <= row < self.end_row and self.col <= col < self.col + self.col_span


@dataclass(eq=False)
class Draft:
    """Draft of a table, from ``blocks``: where it was found, and where it continues. Rows ``0 .. header_rows - 1`` are
    column headers; ``title`` are the lines that name it. ``above`` is the table that it shares a grid with."""

    rows: int
    columns: int
    cells: list[DraftCell]
    blocks: list[Block]
    header_rows: int = 0
    title: list[Line] = field(default_factory=list)
    above: Draft | None = None

    def row(self, row: int) -> list[DraftCell]:
        """Cells with words that begin in ``row``, left to right."""
        return sorted((c for c in self.cells if c.row == row and c.lines), key=lambda c: c.col)

    def column(self, col: int, first: int = 0) -> Iterator[DraftCell]:
        """Cells with words of one column only, from row ``first`` on."""
        return (c for c in self.cells if c.col == col and c.col_span == 1 and c.row >= first and c.lines)

    def body(self) -> dict[int, list[DraftCell]]:
        """Cells with words that are no headers, in their order, by each row that they cover."""
        out: dict[int, list[DraftCell]] = {}
        for cell in self.cells:
            if cell.lines and not cell.header:
                for row in range(cell.row, cell.end_row):
                    out.setdefault(row, []).append(cell)
        return out

    def sort(self) -> None:
        self.cells.sort(key=lambda c: (c.row, c.col))

    def insert_row(self, at: int) -> None:
        """Insert an empty row before row ``at``; cells that span that place grow."""
        for cell in self.cells:
            if cell.row >= at:
                cell.row += 1
            elif cell.end_row > at:
                cell.row_span += 1
        self.rows += 1
        self.header_rows += at < self.header_rows

    def compact(self) -> None:
        """Remove cells without words, and rows and columns in which no cell begins."""
        self.cells = [cell for cell in self.cells if cell.lines]
        row_at = {old: new for new, old in enumerate(sorted({cell.row for cell in self.cells}))}
        col_at = {old: new for new, old in enumerate(sorted({cell.col for cell in self.cells}))}
        for cell in self.cells:
            cell.row_span = sum(row in row_at for row in range(cell.row, cell.end_row))
            cell.col_span = sum(col in col_at for col in cell.columns)
            cell.row, cell.col = row_at[cell.row], col_at[cell.col]
        self.header_rows = sum(old < self.header_rows for old in row_at)
        self.rows, self.columns = len(row_at), len(col_at)
