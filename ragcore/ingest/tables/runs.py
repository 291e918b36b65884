"""Runs of words that the table finder's columns cut in two: ``2022 vs. | 2021`` is one header over two columns.

Words that stand no further apart than a blank were set as one piece of text, so they belong to one cell. A run that
begins at the left edge of the first column is a label that is longer than its column; any other names all the columns
that it stands over.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from ragcore.ingest.canonical import Line, Ref
from ragcore.ingest.tables.draft import Draft, DraftCell, is_number, is_period, is_symbol, is_year

BLANK = 1.4  # of the table's own blank: words closer than this stand in one run
WIDEST_BLANK = 0.45  # of the font size: no wider gap counts as a blank
USUAL_BLANK = 0.28  # of the font size: where the table's cells have too few words to tell
ALIGNED = 0.3  # of the font size: how exactly a header stands over the left edge of its column
WIDER = 1.5  # times the gap between a header's words: a gap this wide parts two headers
LABEL_EDGE = 1.0  # of the font size: a run that starts this near the first column's edge starts at it


def mend_runs(draft: Draft) -> None:
    """Give each run of words that crosses from one cell of a row into another to one cell."""
    blank = _blank(draft)
    edge = min((c.extent()[0] for c in draft.cells if c.col == 0 and c.lines), default=0.0)
    row = 0
    while row < draft.rows:
        cells = draft.row(row)
        for left, right in pairwise(cells):
            if _join(draft, left, right, blank, edge):
                break  # and look at the row again
        else:
            row += 1


def _blank(draft: Draft) -> float:
    """The widest gap, in font sizes, that is a blank in this table."""
    gaps = [
        (second.box[0] - first.box[2]) / max(first.size, 1.0)
        for cell in draft.cells
        for line in cell.lines
        for first, second in pairwise(line)
    ]
    usual = median(gaps) if len(gaps) >= 5 else USUAL_BLANK
    return min(BLANK * max(usual, 0.0), WIDEST_BLANK)


def _join(draft: Draft, left: DraftCell, right: DraftCell, blank: float, edge: float) -> bool:
    """Join what runs from ``left`` into ``right``; whether anything did."""
    if right.col != left.col + left.col_span or left.row_span != 1 or right.row_span != 1:
        return False
    if left.header and right.header and left.col > 0 and _take_run(left, right, blank):
        return True
    dated = is_period(left.words[-1].text)  # "December | 31, 2022"
    if any(is_number(cell.text) and not is_year(cell.text) and not dated for cell in (left, right)):
        return False
    label = left.col == 0 and left.extent()[0] - edge < LABEL_EDGE * left.size
    if _begins_column(draft, right) and (label or _begins_column(draft, left)):
        return False
    first, second = left.lines[0], right.lines[0]
    if not _one_run(first[-1], second[0], blank):
        return False
    lower = [*left.lines[1:], *right.lines[1:]]
    if any(_one_run(a[-1], b[0], blank) for a in left.lines[1:] for b in right.lines[1:]):
        lines: list[Line] = side_by_side(left.lines, right.lines)
    elif not lower:
        lines = [(*first, *second)]
    elif left.lines[1:] and right.lines[1:]:
        _split_off(draft, left, right)  # a name over two columns, set above theirs within one grid row
        lines = [(*first, *second)]
    else:
        return False
    left.lines, right.lines = lines, []
    if not label:
        left.col_span += right.col_span
        draft.cells = [c for c in draft.cells if c is not right]
    return True


def _take_run(left: DraftCell, right: DraftCell, blank: float) -> bool:
    """Move what runs on from the header ``left`` into ``right``, up to a gap that is no blank, where more follows it:
    ``Three Months Ended June | 30    Total``. Whether anything did."""
    line = right.lines[0]
    if len(left.lines) > 1 or len(right.lines) > 1 or not _one_run(left.lines[0][-1], line[0], blank):
        return False
    end = next((k for k, (a, b) in enumerate(pairwise(line), start=1) if not _one_run(a, b, blank)), len(line))
    if end == len(line):
        return False
    left.lines, right.lines = [(*left.lines[0], *line[:end])], [line[end:]]
    return True


def _begins_column(draft: Draft, cell: DraftCell) -> bool:
    """Whether ``cell`` begins where the words of its column's body do: that is set left, and the cell is in it."""
    body = [c for c in draft.column(cell.col) if c is not cell and not c.header]
    others = [c.extent()[0] for c in body if not is_number(c.text)]
    return bool(others) and abs(cell.extent()[0] - median(others)) <= ALIGNED * cell.size


def _one_run(first: Ref, second: Ref, blank: float) -> bool:
    if is_symbol(first.text) or is_symbol(second.text) or first.text.endswith("...") or first.page is not second.page:
        return False
    gap = (second.box[0] - first.box[2]) / max(first.size, 1.0)
    return -0.1 < gap <= blank and abs(first.box[3] - second.box[3]) < 0.3 * first.size


def side_by_side(left: list[Line], right: list[Line]) -> list[Line]:
    """The lines of two cells, those at one height as one."""
    rest = list(right)
    lines: list[Line] = []
    for line in left:
        beside = next((r for r in rest if abs(r[0].box[3] - line[-1].box[3]) < 0.3 * line[-1].size), None)
        if beside is not None:
            rest.remove(beside)
        lines.append((*line, *beside) if beside is not None else line)
    return sorted([*lines, *rest], key=lambda line: line[0].box[1])


def _split_off(draft: Draft, left: DraftCell, right: DraftCell) -> None:
    """Put what stands below the first lines of the two cells into a row of its own."""
    row = left.row
    others = [c for c in draft.cells if c.row == row and c is not left and c is not right]
    draft.insert_row(row + 1)
    for cell in others:
        cell.row_span += 1
    for cell in (left, right):
        draft.cells.append(DraftCell(row + 1, cell.col, 1, cell.col_span, cell.header, cell.lines[1:]))
        cell.lines = cell.lines[:1]


def part_headers(draft: Draft) -> None:
    """Divide a header over several columns that is two headers: where its lines have a gap that is no blank, and parts
    of its columns stand nearer to either side."""
    blank = _blank(draft)
    for cell in [c for c in draft.cells if c.header and c.col_span > 1 and c.lines]:
        while (right := _second_header(draft, cell, blank)) is not None:
            draft.cells.append(right)
            cell = right
    draft.sort()


def _second_header(draft: Draft, cell: DraftCell, blank: float) -> DraftCell | None:
    """What stands to the right of the first gap in ``cell`` that parts its columns, taken out of it."""
    parts = sorted((word.box[0], word.box[2]) for word in cell.words)
    extents = {
        col: (min(x0 for x0, _x1 in own), max(x1 for _x0, x1 in own))
        for col in cell.columns
        if (own := [c.extent() for c in draft.column(col, cell.end_row)])
    }
    if len(extents) < cell.col_span:
        return None
    usual = median([b[0] - a[1] for a, b in pairwise(parts)] or [0.0])
    edge = parts[0][1]
    for x0, x1 in parts[1:]:
        if x0 - edge > max(blank * cell.size, WIDER * usual):
            first = next((col for col in cell.columns if _away(extents[col], x0) < _away(extents[col], edge)), None)
            if first is not None and first > cell.col:
                middle = (edge + x0) / 2
                lines = [tuple(w for w in line if w.box[0] > middle) for line in cell.lines]
                cell.lines = [left for line in cell.lines if (left := tuple(w for w in line if w.box[0] < middle))]
                span, cell.col_span = cell.col_span, first - cell.col
                end = cell.col + span - first
                return DraftCell(cell.row, first, cell.row_span, end, True, [line for line in lines if line])
        edge = max(edge, x1)
    return None


def _away(extent: tuple[float, float], x: float) -> float:
    """How far ``x`` is from a column; 0 inside it."""
    return max(extent[0] - x, x - extent[1], 0.0)
