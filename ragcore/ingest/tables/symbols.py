"""Columns that hold only ``$`` or ``%``: they belong to the numbers beside them."""

from __future__ import annotations

from ragcore.ingest.canonical import Line
from ragcore.ingest.tables.draft import AFTER, BEFORE, Draft


def join_symbol_columns(draft: Draft) -> None:
    """Join a column of ``$`` (or ``%``, ``)``) to the number's column beside it."""
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
            other.lines = _beside(first.lines, second.lines)
            cell.lines = []
        draft.remove_column(col)


def _beside(left: list[Line], right: list[Line]) -> list[Line]:
    if len(left) <= 1 and len(right) <= 1:
        return [tuple(word for line in (*left, *right) for word in line)]
    return left + right
