"""Row repair: two printed rows in one, one printed row split over two, and labels of several rows.

A cell broken over lines shows it in three ways: the previous line was full (the next word would not have fitted), the
sentence continues (a small letter, a word that no label ends with), and its lines are closer than
rows. Two of the three merge two rows into one; a colon, values in both rows, or a following row with the same beginning
count against it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median

from ragcore.ingest.canonical import Line
from ragcore.ingest.tables.draft import Draft, DraftCell, is_number, is_symbol, is_valued
from ragcore.text.lexicon import TOTAL
from ragcore.text.sentences import UNFINISHED
from ragcore.text.words import tokens

WIDER = 0.25  # of the text's height: a gap wider by this than that between lines divides rows
CLOSER = 0.12  # of the text's height: lines closer by this than rows are lines of one row
FULL = 0.5  # of the font size: a full line comes this near to its column's edge
_OPEN_WORDS = UNFINISHED | {"per", "than", "under", "including", "net", "&"}
_CLOSED_ENDS = (":", ";", ".")


def split_rows(draft: Draft) -> None:
    """Divide a row of the grid where a gap runs through all its cells that is wider than those between lines."""
    within = _line_gap(draft)
    between = [_gap(a, b) for r in range(draft.rows - 1) if (a := draft.row(r)) and (b := draft.row(r + 1))]
    least = within + WIDER if len(between) < 2 else min(within + WIDER, max(0.9 * median(between), within + CLOSER))
    row = 0
    while row < draft.rows:
        cells = draft.row(row)
        if len(cells) >= 2 and len(cells) >= draft.columns - 1 and all(c.row_span == 1 for c in cells):
            cut = _cut(cells, least)
            if cut is not None:
                _divide(draft, row, cells, cut)
        row += 1


def _line_gap(draft: Draft) -> float:
    """Usual gap between the lines of one cell, in text heights; 0.2 if no cell has two."""
    gaps = [
        (_head(below) - _foot(above)) / max(cell.height(), 1.0)
        for cell in draft.cells
        for above, below in pairwise(cell.lines)
    ]
    return min(median(gaps), 0.5) if len(gaps) >= 3 else 0.2


def _head(line: Line) -> float:
    return min(word.box[1] for word in line)


def _foot(line: Line) -> float:
    return max(word.box[3] for word in line)


def _cut(cells: Sequence[DraftCell], least: float) -> float | None:
    """Vertical position of a gap through all ``cells``, at least ``least`` text heights wide, with lines on both sides
    in all but one of them."""
    lines = sorted((_head(line), _foot(line)) for cell in cells for line in cell.lines)
    height = max(cells[0].height(), 1.0)
    foot = lines[0][1]
    for top, bottom in lines[1:]:
        if (top - foot) / height >= least:
            middle = (top + foot) / 2
            both = sum(_head(cell.lines[0]) < middle < _foot(cell.lines[-1]) for cell in cells)
            if both >= max(2, len(cells) - 1):
                return middle
        foot = max(foot, bottom)
    return None


def _divide(draft: Draft, row: int, cells: Sequence[DraftCell], cut: float) -> None:
    draft.insert_row(row + 1)
    for cell in cells:
        lower = [line for line in cell.lines if _head(line) > cut]
        cell.lines = [line for line in cell.lines if _head(line) <= cut]
        if not cell.lines:
            cell.row, cell.lines = row + 1, lower
        elif lower:
            draft.cells.append(DraftCell(row + 1, cell.col, 1, cell.col_span, False, lower))
    draft.sort()


def merge_wrapped_rows(draft: Draft) -> None:
    """Merge body rows that are lines of the same cells."""
    apart = _row_gap(draft)
    edges: dict[int, float] = {}  # the right end of each column's text
    for cell in draft.cells:
        if cell.row >= draft.header_rows and cell.col_span == 1:
            edges[cell.col] = max(edges.get(cell.col, 0.0), cell.extent()[1])

    def continues(upper: DraftCell, lower: DraftCell) -> bool:
        last, first = upper.words[-1], lower.words[0]
        if last.text.endswith(_CLOSED_ENDS) or TOTAL.intersection(tokens(first.text)):
            return False
        if not first.text[0].isalnum() and first.text[0] not in "([≥≤\"“'":
            return False
        full = last.box[2] + (first.box[2] - first.box[0]) + 0.25 * last.size
        is_full = full > edges[upper.col] - FULL * last.size
        goes_on = first.text[0].islower() or last.text.lower() in _OPEN_WORDS
        gap = (lower.top() - upper.bottom()) / max(upper.height(), 1.0)
        is_close = apart is not None and gap < apart - CLOSER
        return is_full + goes_on + is_close >= 2

    row = draft.header_rows
    while row + 1 < draft.rows:
        if _wraps(draft.row(row), draft.row(row + 1), continues):
            _merge(draft, row)
        else:
            row += 1


def _row_gap(draft: Draft) -> float | None:
    """Median gap between neighbouring body rows that are certainly two: both with values."""
    gaps: list[float] = []
    for row in range(draft.header_rows, draft.rows - 1):
        upper, lower = draft.row(row), draft.row(row + 1)
        if all(len(c) >= 2 and sum(is_valued(x.text) for x in c[1:]) * 2 >= len(c) - 1 for c in (upper, lower)):
            gaps.append(_gap(upper, lower))
    return median(gaps) if len(gaps) >= 2 else None


def _gap(upper: list[DraftCell], lower: list[DraftCell]) -> float:
    """Gap between the rows' texts in text heights, measured in shared columns if there are any."""
    shared = [(a, b) for a in upper for b in lower if a.col == b.col]
    height = max(upper[0].height(), 1.0)
    if shared:
        return min(b.top() - a.bottom() for a, b in shared) / height
    return (min(c.top() for c in lower) - max(c.bottom() for c in upper)) / height


def _wraps(
    upper: Sequence[DraftCell], lower: Sequence[DraftCell], continues: Callable[[DraftCell, DraftCell], bool]
) -> bool:
    """Whether the row ``lower`` continues the row ``upper`` above it."""
    if not upper or not lower or any(c.row_span > 1 for c in (*upper, *lower)):
        return False
    shared = [(a, b) for a in upper for b in lower if a.col == b.col and a.col_span == b.col_span == 1]
    if not shared or len(shared) < min(len(upper), len(lower)):
        return False
    if any(is_number(cell.text) or is_symbol(cell.text) for pair in shared for cell in pair):
        return False
    if shared[0][0].col == 0 and 1 in (len(upper), len(lower)):
        return continues(*shared[0])
    return len(lower) < len(upper) and all(continues(a, b) for a, b in shared)


def _merge(draft: Draft, row: int) -> None:
    for lower in draft.row(row + 1):
        upper = next((c for c in draft.row(row) if c.col == lower.col), None)
        if upper is None:
            lower.row = row
        else:
            upper.lines = sorted([*upper.lines, *lower.lines], key=lambda line: line[0].box[1])
            lower.lines = []
    draft.compact()
    draft.sort()
