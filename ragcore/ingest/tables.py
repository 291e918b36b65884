"""A table region → cells with their own words, header levels, and one line of text per row.

Rows are written as ``Title — RowHeader | Header: value | Header: value`` into the canonical text. A cell's own words
are printed once and carry its span; titles, headers and row groups that a later row repeats map, as repeated words,
to where they are printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ragcore.ingest.blocks import Block, visual_lines
from ragcore.ingest.canonical import CanonicalText, Line, plain
from ragcore.ingest.layout import Grid
from ragcore.ingest.table_headers import Draft, DraftCell, header_levels, settle_headers
from ragcore.types import Cell, Table

MAX_GROUP_WORDS = 12  # a longer one-cell row is a note, not the name of the rows below it
_BEFORE = frozenset({"$", "€", "£", "¥", "(", "US$", "$(", "€(", "£("})
_AFTER = frozenset({"%", ")", ")%", "%)", "‰", "pp", "x"})
_TOTAL = re.compile(r"^(sub)?total\b", re.IGNORECASE)


def draft_table(block: Block) -> Draft | None:
    """The table of ``block``; None when its grid can't be trusted (no grid, one column, one row, nothing in it)."""
    if block.grid is None or not block.words:
        return None
    cells = _fill(block, block.grid)
    rows, columns = _compact(cells, block.grid.rows, block.grid.columns)
    columns = _merge_symbol_columns(cells, rows, columns)
    if rows < 2 or columns < 2:
        return None
    cells.sort(key=lambda c: (c.row, c.col))
    draft = Draft(rows, columns, cells, 0)
    settle_headers(draft)
    return draft


def _fill(block: Block, grid: Grid) -> list[DraftCell]:
    """Each word goes to the cell that holds its centre, else to the nearest one."""
    page = block.page
    members = np.asarray(sorted(word.index for word in block.words), dtype=np.intp)
    boxes = page.boxes[members]
    x = (boxes[:, 0] + boxes[:, 2])[:, None] / 2
    y = (boxes[:, 1] + boxes[:, 3])[:, None] / 2
    frames = np.asarray([cell.box for cell in grid.cells], dtype=np.float32)
    away_x = np.maximum(np.maximum(frames[:, 0] - x, x - frames[:, 2]), 0)
    away_y = np.maximum(np.maximum(frames[:, 1] - y, y - frames[:, 3]), 0)
    # Ties (several cells hold the centre) go to the smallest cell.
    areas = (frames[:, 2] - frames[:, 0]) * (frames[:, 3] - frames[:, 1])
    nearest = np.argmin(np.hypot(away_x, away_y) + areas * 1e-9, axis=1)
    return [
        DraftCell(c.row, c.col, c.row_span, c.col_span, c.header, visual_lines(page, members[nearest == i]))
        for i, c in enumerate(grid.cells)
    ]


def _compact(cells: list[DraftCell], rows: int, columns: int) -> tuple[int, int]:
    """Take out rows and columns in which no cell with words begins or is alone, and cells without words that only
    filled them. Returns the new counts."""
    full = [cell for cell in cells if cell.lines]
    keep_rows = sorted({cell.row for cell in full})
    keep_cols = sorted({cell.col for cell in full})
    row_at = {old: new for new, old in enumerate(keep_rows)}
    col_at = {old: new for new, old in enumerate(keep_cols)}
    out: list[DraftCell] = []
    for cell in cells:
        inner_rows = [row_at[r] for r in range(cell.row, cell.row + cell.row_span) if r in row_at]
        inner_cols = [col_at[c] for c in range(cell.col, cell.col + cell.col_span) if c in col_at]
        if inner_rows and inner_cols:
            cell.row, cell.row_span = inner_rows[0], len(inner_rows)
            cell.col, cell.col_span = inner_cols[0], len(inner_cols)
            out.append(cell)
    cells[:] = out
    return len(keep_rows), len(keep_cols)


def _merge_symbol_columns(cells: list[DraftCell], rows: int, columns: int) -> int:
    """Join a column that holds only ``$`` (or ``%``, ``)``) below the headers to the number's column beside it."""
    col = 0
    while col < columns and columns > 2:
        own = [c for c in cells if c.col == col and c.col_span == 1 and c.lines]
        values = [c.text for c in own if c.text]
        step = 0
        if values and all(v in _BEFORE for v in values) and col + 1 < columns:
            step = 1
        elif values and all(v in _AFTER for v in values) and col > 0:
            step = -1
        if not step:
            col += 1
            continue
        for cell in own:
            other = next((c for c in cells if c.covers(cell.row, col + step)), None)
            if other is None:
                continue
            first, second = (cell, other) if step > 0 else (other, cell)
            other.lines = _side_by_side(first.lines, second.lines)
            cell.lines = []
        _remove_column(cells, col)
        columns -= 1
    return columns


def _side_by_side(left: list[Line], right: list[Line]) -> list[Line]:
    if len(left) <= 1 and len(right) <= 1:
        return [tuple(word for line in (*left, *right) for word in line)]
    return left + right


def _remove_column(cells: list[DraftCell], col: int) -> None:
    kept: list[DraftCell] = []
    for cell in cells:
        if cell.col == col and cell.col_span == 1:
            continue
        if cell.col <= col < cell.col + cell.col_span:
            cell.col_span -= 1
        elif cell.col > col:
            cell.col -= 1
        kept.append(cell)
    cells[:] = kept


def write_table(text: CanonicalText, draft: Draft, title: Sequence[Line]) -> Table:
    """Append the table to the canonical text: header rows once, then a line per body row."""
    spans: dict[int, tuple[int, int]] = {}
    heading = list(title)
    inner_title, levels = header_levels(draft)
    for cell in inner_title:
        if cell.text and cell.text not in plain(heading):
            heading += cell.lines
    title_text = plain(heading)
    first_line = True

    def own(cell: DraftCell) -> None:
        spans[id(cell)] = text.lines(cell.lines)

    for row in range(draft.header_rows):
        row_cells = [c for c in draft.cells if c.row == row and c.lines]
        if not row_cells:
            continue
        if not first_line:
            text.separate("\n")
        first_line = False
        for place, cell in enumerate(row_cells):
            if place:
                text.separate(" | ")
            own(cell)

    row_spans: list[tuple[int, int]] = []
    row_numbers: list[int] = []
    group: DraftCell | None = None
    for row in range(draft.header_rows, draft.rows):
        row_cells = [c for c in draft.cells if c.row <= row < c.row + c.row_span and c.lines and not c.header]
        if not any(c.row == row for c in row_cells):
            continue
        if not first_line:
            text.separate("\n")
        first_line = False
        start = len(text)
        if heading:
            text.lines(heading, repeated=True)
            text.separate(" — ")
        head = row_cells[0]
        if len(row_cells) == 1:
            group = head if head.col == 0 and len(head.text.split()) <= MAX_GROUP_WORDS else None
        elif group is not None and head is not group:
            text.lines(group.lines, repeated=True)
            text.separate(" / ")
        for place, cell in enumerate(row_cells):
            if place:
                text.separate(" | ")
                _write_header(text, levels, cell)
            if cell.row == row:
                own(cell)
            else:
                text.lines(cell.lines, repeated=True)
        if len(row_cells) > 1 and _TOTAL.match(head.text):
            group = None
        row_spans.append((start, len(text)))
        row_numbers.append(row)
    cells = tuple(
        Cell(c.row, c.col, c.row_span, c.col_span, *spans[id(c)], header=c.header)
        for c in draft.cells
        if id(c) in spans
    )
    return Table(title_text, draft.rows, draft.columns, cells, tuple(row_spans), tuple(row_numbers))


def _write_header(text: CanonicalText, levels: list[list[DraftCell]], cell: DraftCell) -> None:
    above = levels[cell.col]
    for place, header in enumerate(above):
        if place:
            text.separate(" / ")
        text.lines(header.lines, repeated=True)
    if above:
        text.separate(": ")
