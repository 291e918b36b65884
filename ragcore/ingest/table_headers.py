"""The column headers of a table: which rows they are, how far each reaches, and how levels become one path.

The table finder marks header rows well but gives a header that stands centred over several columns to one of them;
here its reach comes from where it is printed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ragcore.ingest.canonical import Line, plain

_NUMBER = re.compile(r"^[\s($€£¥+\-−–<>~≈]*\d[\d\s.,'’]*[)%‰*†‡]*$|^[-–—]+$")
_YEAR = re.compile(r"^(fy\s*)?(19|20)\d\d([/\-–]\d{2,4})?$", re.IGNORECASE)
UNIT = re.compile(
    r"\b(in|of)\s+(thousands?|millions?|billions?)\b|[$€£]\s*(000|m|mm|bn)\b|\b(thousands?|millions?|billions?) of\b"
    r"|\b(unaudited|unit|units|in %|in percent|per cent)\b",
    re.IGNORECASE,
)
CENTRED = 0.2  # of a column's pitch: how exactly a header must stand over the middle of the columns it names
TIGHT = 0.6  # of the text's height: a smaller gap between two header rows is a line break within one header


@dataclass
class DraftCell:
    row: int
    col: int
    row_span: int
    col_span: int
    header: bool
    lines: list[Line] = field(default_factory=list)

    @property
    def text(self) -> str:
        return plain(self.lines)

    def extent(self) -> tuple[float, float]:
        """Left and right edge of its words."""
        boxes = [word.box for line in self.lines for word in line]
        return min(b[0] for b in boxes), max(b[2] for b in boxes)

    def top(self) -> float:
        return min(word.box[1] for word in self.lines[0])

    def bottom(self) -> float:
        return max(word.box[3] for word in self.lines[-1])

    def height(self) -> float:
        """Of its first line."""
        return max(word.box[3] for word in self.lines[0]) - self.top()

    def covers(self, row: int, col: int) -> bool:
        return self.row <= row < self.row + self.row_span and self.col <= col < self.col + self.col_span


@dataclass
class Draft:
    """A table before it is written. Rows ``0 .. header_rows - 1`` are column headers."""

    rows: int
    columns: int
    cells: list[DraftCell]
    header_rows: int


def is_number(text: str) -> bool:
    """A value as tables print them: digits with separators, signs, brackets, currency, percent; a dash for none."""
    return bool(_NUMBER.match(text.strip())) if text.strip() else False


def settle_headers(draft: Draft) -> None:
    """Find the header rows of ``draft``, widen spanning headers, join headers that were broken over two lines, and
    mark the cells."""
    draft.header_rows = _count_header_rows(draft)
    for row in range(draft.header_rows - 1):
        _spread(draft, row)
    row = 0
    while row < draft.header_rows - 1:
        if not _join_broken(draft, row):
            row += 1
    for cell in draft.cells:
        cell.header = cell.row < draft.header_rows


def _count_header_rows(draft: Draft) -> int:
    """The leading rows that name the columns: those marked by the table finder, else those above the first row that
    has numbers (years aside) in other columns than the first."""
    marked = 0
    while marked < draft.rows - 1:
        top = [c for c in draft.cells if c.row == marked and c.lines]
        if not top or not all(c.header for c in top):
            break
        marked += 1
    marked = min(marked, draft.rows - 1)
    while marked > 1 and _has_values(draft, marked - 1):
        marked -= 1
    if marked:
        return marked
    first_values: int | None = None
    for row in range(draft.rows):
        if _has_values(draft, row):
            first_values = row
            break
    if first_values is None or first_values == 0 or first_values > 4:
        return 0
    # A header names several columns; a single filled cell above the numbers is the first group's name.
    last = first_values
    while last > 0 and sum(c.col > 0 and bool(c.lines) for c in draft.cells if c.row == last - 1) < 1:
        last -= 1
    return last


def _has_values(draft: Draft, row: int) -> bool:
    """Whether at least half of the row's cells after the first are numbers; years name columns and do not count."""
    values = [c.text for c in draft.cells if c.row == row and c.col > 0 and c.lines]
    return bool(values) and sum(is_number(v) and not _YEAR.match(v.strip()) for v in values) >= len(values) / 2


def _spread(draft: Draft, row: int) -> None:
    """Let each header of ``row`` reach over the empty slots beside it when it stands over their common middle, or
    when the names below repeat from group to group (2022, 2023, 2022, 2023)."""
    named = [c for c in draft.cells if c.row == row and c.lines and c.col > 0]
    filled = {col for c in draft.cells if c.row <= row < c.row + c.row_span and c.lines for col in _columns(c)}
    extents = [_extent(draft, col, row + 1) for col in range(draft.columns)]
    for place, cell in enumerate(named):
        low = named[place - 1].col + named[place - 1].col_span if place else 1
        high = named[place + 1].col if place + 1 < len(named) else draft.columns
        first, last = cell.col, cell.col + cell.col_span - 1
        reach = _centred_reach(cell, extents, range(low, first + 1), range(last, high), filled)
        if reach is not None:
            _widen(draft, cell, *reach)
    named = [c for c in draft.cells if c.row == row and c.lines and c.col > 0]
    below = [c.text for c in sorted(draft.cells, key=lambda c: c.col) if c.row == row + 1 and c.lines and c.col > 0]
    period = len(below) // len(named) if named and len(named) > 1 and len(below) % len(named) == 0 else 0
    if period > 1 and len(below) == draft.columns - 1 and below == below[:period] * len(named):
        starts = [1 + place * period for place in range(len(named))]
        if all(start <= cell.col < start + period for cell, start in zip(named, starts)):
            for cell, start in zip(named, starts):
                _widen(draft, cell, start, start + period - 1)


def _centred_reach(
    cell: DraftCell,
    extents: list[tuple[float, float] | None],
    lefts: range,
    rights: range,
    filled: set[int],
) -> tuple[int, int] | None:
    """The columns over whose middle ``cell`` stands, if they are more than it has and fit clearly better."""
    x0, x1 = cell.extent()
    middle = (x0 + x1) / 2
    own = set(_columns(cell))

    def miss(first: int, last: int) -> float | None:
        inside = [extents[col] for col in range(first, last + 1)]
        if any(e is None for e in inside) or any(col in filled and col not in own for col in range(first, last + 1)):
            return None
        left, right = inside[0], inside[-1]
        assert left is not None
        assert right is not None
        return abs(middle - (left[0] + right[1]) / 2)

    alone = miss(cell.col, cell.col + cell.col_span - 1)
    best: tuple[float, int, int] | None = None
    for first in lefts:
        for last in rights:
            error = miss(first, last)
            if error is not None and (first, last) != (cell.col, cell.col + cell.col_span - 1):
                best = min(best or (error, first, last), (error, first, last))
    if best is None or alone is None:
        return None
    error, first, last = best
    left, right = extents[first], extents[last]
    assert left is not None
    assert right is not None
    pitch = (right[1] - left[0]) / (last - first + 1)
    return (first, last) if error <= CENTRED * pitch and alone > 2 * error + CENTRED * pitch else None


def _columns(cell: DraftCell) -> range:
    return range(cell.col, cell.col + cell.col_span)


def _extent(draft: Draft, col: int, below: int) -> tuple[float, float] | None:
    """Left and right edge of the words in a column from row ``below`` on."""
    parts = [c.extent() for c in draft.cells if c.col == col and c.col_span == 1 and c.row >= below and c.lines]
    return (min(p[0] for p in parts), max(p[1] for p in parts)) if parts else None


def _widen(draft: Draft, cell: DraftCell, first: int, last: int) -> None:
    reach = range(first, last + 1)
    draft.cells = [
        c for c in draft.cells if c is cell or c.lines or c.row != cell.row or c.row_span > 1 or c.col not in reach
    ]
    cell.col, cell.col_span = first, last - first + 1
    draft.cells.sort(key=lambda c: (c.row, c.col))


def _join_broken(draft: Draft, row: int) -> bool:
    """Join the cells of header row ``row`` with those closely below that go on with them: neither reaches over
    several columns. Where all of row ``row + 1`` is taken up that way the row goes, which is the result."""
    for cell in [c for c in draft.cells if c.row == row and c.lines and c.col_span == c.row_span == 1]:
        lower = next((c for c in draft.cells if c.row == row + 1 and c.col == cell.col and c.lines), None)
        if lower is None or lower.col_span > 1 or lower.row_span > 1:
            continue
        if lower.top() - cell.bottom() < TIGHT * lower.height():
            cell.lines = [*cell.lines, *lower.lines]
            cell.row_span = 2
            draft.cells = [c for c in draft.cells if c is not lower]
    upper = {col for c in draft.cells if c.row == row and c.lines for col in _columns(c)}
    rest = [c for c in draft.cells if c.row == row + 1 and c.lines]
    if any(c.col_span > 1 or c.row_span > 1 or c.col in upper for c in rest) or len(rest) >= len(upper):
        return False
    for cell in draft.cells:
        if cell.row == row:
            cell.row_span = max(1, cell.row_span - 1)
    moved = {c.col for c in rest}
    kept: list[DraftCell] = []
    for cell in draft.cells:
        if (cell.row == row + 1 and not cell.lines) or (cell.row == row and cell.col in moved and not cell.lines):
            continue
        if cell.row > row:
            cell.row -= 1
        kept.append(cell)
    draft.cells = sorted(kept, key=lambda c: (c.row, c.col))
    draft.rows -= 1
    draft.header_rows -= 1
    return True


def header_levels(draft: Draft) -> tuple[list[DraftCell], list[list[DraftCell]]]:
    """Header cells that name the whole table (its title inside the grid, its unit in the corner), and per column the
    cells above it, outermost first."""
    headers = [c for c in draft.cells if c.header and c.lines]
    whole = [
        c
        for c in headers
        if (c.col_span >= draft.columns and draft.columns > 1)
        or (c.col == 0 and c.col_span == 1 and UNIT.search(c.text))
    ]
    levels: list[list[DraftCell]] = []
    for col in range(draft.columns):
        above: list[DraftCell] = []
        for cell in headers:
            if cell in whole or not cell.col <= col < cell.col + cell.col_span:
                continue
            if not above or above[-1].text != cell.text:
                above.append(cell)
        levels.append(above)
    return whole, levels
