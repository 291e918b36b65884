"""Column repair: two printed columns in one, one split over two, and signs apart from numbers.

Words no further apart than a blank were set as one piece of text, so they belong to one cell. A run that begins at the
left edge of the first column is a label longer than its column; any other run names all the columns under it: ``2022
vs. | 2021`` is one header over two columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from ragcore.ingest.canonical import Line, Ref
from ragcore.ingest.tables.draft import (
    AFTER,
    BEFORE,
    Draft,
    DraftCell,
    is_number,
    is_period,
    is_symbol,
    is_valued,
    is_year,
)

WIDEST_JUSTIFIED = 2.5  # of the font size: the widest space in a justified header


def join_empty_columns(draft: Draft) -> None:
    """Join a column with words only in the header to the nearest one: the words of a justified header are so far apart
    that the table finder took them for columns."""
    col = 1
    while col < draft.columns and draft.columns > 2 and draft.rows - draft.header_rows >= 3:
        header = [c for c in draft.cells if c.col == col and c.header and c.lines]
        body = [c for c in draft.cells if c.columns.start <= col < c.columns.stop and not c.header and c.lines]
        left = {c.row: c for c in draft.cells if c.header and c.lines and c.col + c.col_span == col}
        near = [c for c in header if c.row in left and _near(left[c.row], c)]
        if body or not header or len(near) < len(header) or any(c.col_span > 1 for c in header):
            col += 1
            continue
        for cell in header:
            left[cell.row].lines = side_by_side(left[cell.row].lines, cell.lines)
            cell.lines = []
        draft.remove_column(col)


def _near(left: DraftCell, right: DraftCell) -> bool:
    return right.extent()[0] - max(line[-1].box[2] for line in left.lines) < WIDEST_JUSTIFIED * right.size


def join_symbol_columns(draft: Draft) -> None:
    """Join a column of ``$`` (or ``%``, ``)``) to the adjacent column of numbers."""
    col = 0
    while col < draft.columns and draft.columns > 2:
        own = [c for c in draft.cells if c.col == col and c.col_span == 1 and c.lines]
        values = [c.text for c in own]
        step = 0
        if values and all(v in BEFORE for v in values) and col + 1 < draft.columns:
            step = 1
        elif values and all(v in AFTER for v in values) and col > 0:
            step = -1
        if not step:
            col += 1
            continue
        for cell in own:
            other = next((c for c in draft.cells if c.covers(cell.row, col + step)), None)
            if other is None:
                cell.col += step
                continue
            first, second = (cell, other) if step > 0 else (other, cell)
            other.lines = side_by_side(first.lines, second.lines)
            cell.lines = []
        draft.remove_column(col)


APART = 0.8  # of the font size: header words closer than this belong to one header
_SUM = r"(?:US)?[$€£¥]\s*(?:\(?[\d.,]+\s?\)?|[-–—])"
_CURRENCY = re.compile(r"[$€£¥]")
_TWO_SUMS = re.compile(rf"^{_SUM}\s+{_SUM}$")
BLANK = 0.4  # of the font size: words closer than this are in one run
ALIGNED = 0.3  # of the font size: largest offset of a header from the left edge of its column
LABEL_EDGE = 1.0  # of the font size: a run that starts this near the first column's edge starts at it


def mend_runs(draft: Draft) -> None:
    """Assign each run of words that crosses cells of a row to one cell."""
    edge = min((c.extent()[0] for c in draft.cells if c.col == 0 and c.lines), default=0.0)
    row = 0
    while row < draft.rows:
        cells = draft.row(row)
        for left, right in pairwise(cells):
            if _join(draft, left, right, edge):
                break  # and check the row again
        else:
            row += 1


def _join(draft: Draft, left: DraftCell, right: DraftCell, edge: float) -> bool:
    """Join text that runs from ``left`` into ``right``; returns whether anything was joined."""
    if right.col != left.col + left.col_span or left.row_span != 1 or right.row_span != 1:
        return False
    dated = is_period(left.words[-1].text)  # "December | 31, 2022"
    if any(is_number(cell.text) and not is_year(cell.text) and not dated for cell in (left, right)):
        return False
    label = left.col == 0 and left.extent()[0] - edge < LABEL_EDGE * left.size
    if _begins_column(draft, right) and (label or _begins_column(draft, left)):
        return False
    first, second = left.lines[0], right.lines[0]
    if not _one_run(first[-1], second[0]):
        return False
    lower = [*left.lines[1:], *right.lines[1:]]
    if any(_one_run(a[-1], b[0]) for a in left.lines[1:] for b in right.lines[1:]):
        lines: list[Line] = side_by_side(left.lines, right.lines)
    elif not lower:
        lines = [(*first, *second)]
    elif left.lines[1:] and right.lines[1:]:
        _split_off(draft, left, right)  # a name over two columns, set above their names within one grid row
        lines = [(*first, *second)]
    else:
        return False
    left.lines, right.lines = lines, []
    if not label:
        left.col_span += right.col_span
        draft.cells = [c for c in draft.cells if c is not right]
    return True


def _begins_column(draft: Draft, cell: DraftCell) -> bool:
    """Whether ``cell`` begins where the words of its column's body do: the column is set left, the cell in it."""
    body = [c for c in draft.column(cell.col) if c is not cell and not c.header]
    others = [c.extent()[0] for c in body if not is_number(c.text)]
    return bool(others) and abs(cell.extent()[0] - median(others)) <= ALIGNED * cell.size


def _one_run(first: Ref, second: Ref) -> bool:
    if is_symbol(first.text) or is_symbol(second.text) or first.text.endswith("...") or first.page is not second.page:
        return False
    gap = (second.box[0] - first.box[2]) / max(first.size, 1.0)
    return -0.1 < gap <= BLANK and abs(first.box[3] - second.box[3]) < 0.3 * first.size


def side_by_side(left: list[Line], right: list[Line]) -> list[Line]:
    """Lines of two cells, merged if they are at the same height."""
    rest = list(right)
    lines: list[Line] = []
    for line in left:
        beside = next((r for r in rest if abs(r[0].box[3] - line[-1].box[3]) < 0.3 * line[-1].size), None)
        if beside is not None:
            rest.remove(beside)
        lines.append((*line, *beside) if beside is not None else line)
    return sorted([*lines, *rest], key=lambda line: line[0].box[1])


def _split_off(draft: Draft, left: DraftCell, right: DraftCell) -> None:
    """Move the text below the first lines of the two cells into a row of its own."""
    row = left.row
    others = [c for c in draft.cells if c.row == row and c is not left and c is not right]
    draft.insert_row(row + 1)
    for cell in others:
        cell.row_span += 1
    for cell in (left, right):
        draft.cells.append(DraftCell(row + 1, cell.col, 1, cell.col_span, cell.header, cell.lines[1:]))
        cell.lines = cell.lines[:1]


def split_columns(draft: Draft) -> None:
    """Divide a column whose cells hold two amounts (`_gap_between_sums`)."""
    col = 0
    while col < draft.columns:
        cut = _gap_between_sums([c for c in draft.column(col) if not c.header])
        if cut is not None:
            _divide(draft, col, cut)
        col += 1


def _gap_between_sums(cells: Sequence[DraftCell]) -> float | None:
    """Position of the second amount in cells that hold two, each with its currency sign (``$ 3 $ 8,299``): two columns
    of which most rows have one value only. All other cells hold a value on one side of it."""
    pairs = [cell for cell in cells if len(cell.lines) == 1 and _TWO_SUMS.match(cell.text)]
    single = [cell for cell in cells if cell not in pairs]
    if len(pairs) < 2 or not all(is_valued(cell.text) for cell in single):
        return None
    seconds = [next(w for w in reversed(cell.words) if _CURRENCY.search(w.text)) for cell in pairs]
    right = min(word.box[0] for word in seconds)
    left = max(w.box[2] for cell, second in zip(pairs, seconds) for w in cell.words if w.box[0] < second.box[0])
    middle = (left + right) / 2
    if left >= right or any(w.box[0] < middle < w.box[2] for cell in single for w in cell.words):
        return None
    return middle if all(_sides(cell.lines, middle).count([]) == 1 for cell in single) else None


def _sides(lines: Sequence[Line], middle: float) -> tuple[list[Line], list[Line]]:
    left = [part for line in lines if (part := tuple(w for w in line if w.box[0] < middle))]
    right = [part for line in lines if (part := tuple(w for w in line if w.box[0] >= middle))]
    return left, right


def _divide(draft: Draft, col: int, cut: float) -> None:
    """Make two columns of column ``col``; a header that crosses the cut spans both."""
    for cell in list(draft.cells):
        if cell.col > col:
            cell.col += 1
        elif cell.col + cell.col_span > col:
            left, right = _sides(cell.lines, cut)
            both = cell.header and left and right
            crosses = left and max(word.box[2] for line in left for word in line) > cut
            if both and right[0][0].box[0] - left[0][-1].box[2] < APART * cell.size:
                crosses = True
            if (cell.header and crosses) or (cell.col_span > 1 and not both):
                cell.col_span += 1
            elif right:
                span = cell.col + cell.col_span - col
                draft.cells.append(DraftCell(cell.row, col + 1, cell.row_span, span, cell.header, right))
                cell.lines, cell.col_span = left, col + 1 - cell.col
    draft.columns += 1
    draft.sort()
