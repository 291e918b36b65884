"""Columns that the table finder drew wrongly: two printed columns in one, and one over two."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.ingest.canonical import Line
from ragcore.ingest.tables.draft import Draft, DraftCell, is_symbol, is_valued
from ragcore.ingest.tables.runs import side_by_side

APART = 0.8  # of the font size: a gap this wide through a whole column divides it
BOTH_SIDES = 0.6  # of the column's cells that must have words on both sides of it
WIDEST_JUSTIFIED = 2.5  # of the font size: how far the words of a justified header stand apart
_SUM = r"(?:US)?[$€£¥]\s*(?:\(?[\d.,]+\s?\)?|[-–—])"
_CURRENCY = re.compile(r"[$€£¥]")
_TWO_SUMS = re.compile(rf"^{_SUM}\s+{_SUM}$")


def split_columns(draft: Draft) -> None:
    """Divide a column through whose body a gap runs that most of its cells have words on both sides of."""
    col = 0
    while col < draft.columns:
        body = [c for c in draft.column(col) if not c.header]
        cut = _gap_through(body)
        if cut is None:
            cut = _gap_between_sums(body)
        if cut is not None:
            _divide(draft, col, cut)
        col += 1


def _gap_through(cells: Sequence[DraftCell]) -> float | None:
    """The middle of a gap that all ``cells`` leave free and most have words on both sides of."""
    if len(cells) < 3:
        return None
    spans = sorted((word.box[0], word.box[2]) for cell in cells for word in cell.words)
    size = cells[0].size
    edge = spans[0][1]
    for x0, x1 in spans[1:]:
        if x0 - edge >= APART * size:
            middle = (x0 + edge) / 2
            sides = [_sides(cell.lines, middle) for cell in cells]
            both = [side for side in sides if side[0] and side[1]]
            symbols = any(all(is_symbol(word.text) for line in side for word in line) for pair in both for side in pair)
            if len(both) >= max(3, BOTH_SIDES * len(cells)) and not symbols:
                return middle
        edge = max(edge, x1)
    return None


def _gap_between_sums(cells: Sequence[DraftCell]) -> float | None:
    """Where the second amount begins in the cells that hold two, each with its currency sign (``$ 3 $ 8,299``): two
    columns of which most rows have one value only. All other cells hold a value that stands on one side of it."""
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
    """Make two columns of column ``col``; a header that stands over the cut reaches over both."""
    out: list[DraftCell] = []
    for cell in draft.cells:
        if cell.col > col:
            cell.col += 1
        elif cell.col + cell.col_span - 1 >= col and cell.col_span > 1:
            left, right = _sides(cell.lines, cut)
            if cell.header and left and right and not _close(left, right, cell.size):
                out.append(DraftCell(cell.row, col + 1, cell.row_span, cell.col + cell.col_span - col, True, right))
                cell.lines, cell.col_span = left, col + 1 - cell.col
            else:
                cell.col_span += 1
        elif cell.col == col:
            left, right = _sides(cell.lines, cut)
            over = cell.lines and max(w.box[2] for w in cell.words if w.box[0] < cut) > cut if left else False
            if cell.header and (over or (left and right and _close(left, right, cell.size))):
                cell.col_span = 2
            elif right:
                out.append(DraftCell(cell.row, col + 1, cell.row_span, 1, cell.header, right))
                cell.lines = left
        out.append(cell)
    draft.cells = out
    draft.columns += 1
    draft.sort()


def _close(left: Sequence[Line], right: Sequence[Line], size: float) -> bool:
    return min(line[0].box[0] for line in right) - max(line[-1].box[2] for line in left) < APART * size


def join_label_columns(draft: Draft) -> None:
    """Join two neighbouring columns of labels of which each row has one: the same column, set left and right."""
    col = 0
    while col + 1 < draft.columns and draft.columns > 2:
        left, right = ([c for c in draft.cells if c.col <= k < c.col + c.col_span and c.lines] for k in (col, col + 1))
        rows = [r for c in (*left, *right) for r in range(c.row, c.end_row)]
        alone = all(c.col_span == 1 for c in (*left, *right)) and len(set(rows)) == len(rows) >= draft.rows - 2
        if not (alone and min(len(left), len(right)) >= 2) or any(is_valued(c.text) for c in (*left, *right)):
            col += 1
            continue
        for cell in right:
            draft.cells = [c for c in draft.cells if not (c.col == col and c.row == cell.row and not c.lines)]
            cell.col = col
        draft.remove_column(col + 1)


def join_empty_columns(draft: Draft) -> None:
    """Join a column that has words in the header only to the nearest one: the words of a justified header stand so
    far apart that the table finder took them for columns."""
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
