"""Table cells: a table region → cells with their own words, by correcting the table finder's grid pass by pass.

`columns` rejoins words that a column cut apart and joins currency signs to their values, `marks` footnote marks; `rows`
divides and joins rows, `headers` settles the column headers; `pages` then joins tables that continue over pages, and
`text` writes the result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragcore.ingest.blocks import Block, visual_lines
from ragcore.ingest.canonical import Line
from ragcore.ingest.layout import COARSE, Grid, around
from ragcore.ingest.tables.columns import (
    join_empty_columns,
    join_symbol_columns,
    mend_runs,
    split_columns,
)
from ragcore.ingest.tables.draft import Draft, DraftCell
from ragcore.ingest.tables.headers import mark_headers, settle_headers
from ragcore.ingest.tables.marks import count_marks, follow_marks
from ragcore.ingest.tables.rows import merge_wrapped_rows, split_rows
from ragcore.ingest.tables.titles import is_rule, take_name, take_notes
from ragcore.types import ElementKind


def draft_tables(per_page: Sequence[list[Block]]) -> dict[Block, Draft]:
    """Trusted tables, by block; the others become paragraphs that keep their lines. Names and notes that the table
    finder took for rows become separate blocks before and after the table; rules made of dots or dashes become
    furniture."""
    drafts: dict[Block, Draft] = {}
    for blocks in per_page:
        for block in [b for b in blocks if b.kind == "table"]:
            rules = [line for line in block.lines if is_rule(line)]
            if rules:
                rule = _part(block, "paragraph", rules)
                rule.noise = "rule"
                blocks.insert(blocks.index(block) + 1, rule)
            draft = draft_table(block)
            if draft is None:
                block.kind, block.verbatim = "paragraph", True
                continue
            drafts[block] = draft
            if block.grid is not None and block.grid.given:
                continue
            name, notes = take_name(draft), take_notes(draft)
            if name:
                blocks.insert(blocks.index(block), _part(block, "caption", name))
            if notes:
                blocks.insert(blocks.index(block) + 1, _part(block, "footnote", notes))
    return drafts


def _part(table: Block, kind: ElementKind, lines: list[Line]) -> Block:
    """Separate block made of some lines of ``table``."""
    box = around(word.box for line in lines for word in line)
    taken = {word for line in lines for word in line}
    table.lines = [kept for line in table.lines if (kept := tuple(word for word in line if word not in taken))]
    table.words = tuple(word for word in table.words if word not in taken)
    table.box = around(word.box for word in table.words) if table.words else table.box
    return Block(table.page, kind, table.role, box, lines)


def draft_table(block: Block) -> Draft | None:
    """Table of ``block``; None if its grid can't be trusted (no grid, one column, one row, nothing in it)."""
    if block.grid is None or not block.words:
        return None
    draft = Draft(block.grid.rows, block.grid.columns, _fill(block, block.grid))
    if block.grid.given:
        return _as_given(draft)
    draft.compact()
    split_columns(draft)
    mend_runs(draft)
    draft.compact()
    join_symbol_columns(draft)
    count_marks(draft)
    if draft.rows < 2 or draft.columns < 2:
        return None
    draft.sort()
    split_rows(draft)
    settle_headers(draft)
    merge_wrapped_rows(draft)
    join_empty_columns(draft)
    count_marks(draft)
    draft.sort()
    return draft if draft.rows >= 2 else None


def _as_given(draft: Draft) -> Draft | None:
    """Table with given cells: only its header rows and footnote marks are detected."""
    draft.sort()
    mark_headers(draft)
    count_marks(draft)
    return draft if draft.rows >= 2 and draft.columns >= 2 else None


def _fill(block: Block, grid: Grid) -> list[DraftCell]:
    """Cells filled with words: each word goes to the cell that holds its centre, else to the nearest one; a word with
    the box of a whole area to the cell of that box."""
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
    coarse = (page.flags[members] & COARSE) != 0
    nearest[coarse] = np.abs(boxes[coarse][:, None] - frames).sum(axis=2).argmin(axis=1)
    if not grid.given:
        follow_marks(page, members, nearest)
    return [
        DraftCell(c.row, c.col, c.row_span, c.col_span, c.header, visual_lines(page, members[nearest == i]))
        for i, c in enumerate(grid.cells)
    ]
