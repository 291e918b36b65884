"""Table cells: a table region → cells with their own words, by correcting the table finder's grid pass by pass.

Here words go to cells, words that a column cut apart are rejoined, and currency signs and footnote marks go to their
values; `rows` divides and joins rows, `headers` settles the column headers; `pages` then finds titles and joins tables
that continue over pages, and `text` writes the result.

Words no further apart than a blank were set as one piece of text, so they belong to one cell. A run that begins at the
left edge of the first column is a label longer than its column; any other run names all the columns under it: ``2022
vs. | 2021`` is one header over two columns.

A footnote mark (the raised ``2`` after ``1,234``, ``(a)`` after a label, ``*`` after a value) stays in its cell's text,
separated by a blank, but is no part of the value. Exponents (``m2``, ``×10-6``) and values in brackets (``15 (36)``,
``(5)``) are no marks.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.blocks import Block, visual_lines
from ragcore.ingest.canonical import Line, Ref
from ragcore.ingest.layout import COARSE, SUPERSCRIPT, Grid, PageLayout
from ragcore.ingest.tables.draft import (
    AFTER,
    BEFORE,
    Draft,
    DraftCell,
    is_number,
    is_period,
    is_symbol,
    is_year,
)
from ragcore.ingest.tables.headers import mark_headers, pair_columns, settle_headers
from ragcore.ingest.tables.rows import merge_wrapped_rows, split_rows

BLANK = 0.4  # of the font size: words closer than this are in one run
LABEL_EDGE = 1.0  # of the font size: a run that starts this near the first column's edge starts at it
NEAR = 1.5  # of the font size: largest distance between a mark and its value
SMALL = 0.85  # of the previous font size: a raised word is smaller
RAISED = 0.12  # of the previous font size: least rise of its foot above the line's
_RAISED_MARK = re.compile(r"^(?:\(?(?:\d{1,2}|[a-z]{1,2}|[ivx]{1,4}|[*∗†‡§¶#]+)\)?[,;.]?)+$", re.IGNORECASE)
_LEVEL_MARK = re.compile(r"^(?:\([a-z]\)[,;]?)+$|^[*∗†‡§¶]+$|^\[[a-z\d]{1,2}\]$")
_EARLY = "e"  # letter up to which a mark may stand alone: those before it are on another page
_TAIL = re.compile(r"(?<=[\w)%.])(?:[*∗†‡§¶]+|(?:\([a-z]\))+)$")
_UNIT = re.compile(r"(?:^|[/·(\d])(?:[a-zµ]{1,2}|R)$")  # units that a raised 2 or 3 makes an area, a volume or a share
_POWER = re.compile(r"[×x·∙*]\s*10$|^10$")


def draft_table(block: Block) -> Draft | None:
    """Table of ``block``; None if its grid can't be trusted (no grid, one column, one row, nothing in it)."""
    if block.grid is None or not block.words:
        return None
    draft = Draft(block.grid.rows, block.grid.columns, _fill(block, block.grid), [block])
    if block.grid.headers is not None:
        draft.header_rows = block.grid.headers
    elif block.grid.given:
        draft.sort()
        mark_headers(draft)
    else:
        draft.compact()
        _mend_runs(draft)
        draft.compact()
        _join_symbol_columns(draft)
        count_marks(draft)
        if draft.rows < 2 or draft.columns < 2:
            return None
        draft.sort()
        split_rows(draft)
        settle_headers(draft)
        merge_wrapped_rows(draft)
        pair_columns(draft)
    if block.grid.headers is None:  # else its cells are known, and none has a mark
        count_marks(draft)
    draft.sort()
    known = block.grid.headers is not None
    return draft if known or (draft.rows >= 2 and draft.columns >= 2) else None


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
        _follow_marks(page, members, nearest)
    return [
        DraftCell(
            *(c.row, c.col, c.row_span, c.col_span, c.header, visual_lines(page, members[nearest == i])), place=c.place
        )
        for i, c in enumerate(grid.cells)
    ]


def _mend_runs(draft: Draft) -> None:
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
    first, second = left.lines[0], right.lines[0]
    if not _one_run(first[-1], second[0]):
        return False
    lower = [*left.lines[1:], *right.lines[1:]]
    if any(_one_run(a[-1], b[0]) for a in left.lines[1:] for b in right.lines[1:]):
        lines: list[Line] = _side_by_side(left.lines, right.lines)
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


def _one_run(first: Ref, second: Ref) -> bool:
    if is_symbol(first.text) or is_symbol(second.text) or first.text.endswith("...") or first.page is not second.page:
        return False
    gap = (second.box[0] - first.box[2]) / max(first.size, 1.0)
    return -0.1 < gap <= BLANK and abs(first.box[3] - second.box[3]) < 0.3 * first.size


def _side_by_side(left: list[Line], right: list[Line]) -> list[Line]:
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
    draft.insert_row(row + 1)
    for cell in draft.cells:
        if cell.row == row and cell not in (left, right):
            cell.row_span += 1
    for cell in (left, right):
        draft.cells.append(DraftCell(row + 1, cell.col, 1, cell.col_span, cell.header, cell.lines[1:]))
        cell.lines = cell.lines[:1]


def _join_symbol_columns(draft: Draft) -> None:
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
        for over in (c for c in draft.cells if c.col == col and c.col_span > 1):
            over.col, over.col_span = col + 1, over.col_span - 1
        for cell in own:
            other = next((c for c in draft.cells if c.covers(cell.row, col + step)), None)
            if other is None:
                cell.col += step
                continue
            first, second = (cell, other) if step > 0 else (other, cell)
            other.lines = _side_by_side(first.lines, second.lines)
            cell.lines = []
        draft.compact()


def count_marks(draft: Draft) -> None:
    """Count each cell's marks. Marks are given in order, so a letter far down the alphabet without its neighbours, as
    in "Harvest (t)", is a unit."""
    ends = {cell.words[-1].text for cell in draft.cells if cell.lines}
    letters = {text[1] for text in ends if len(text) == 3 and _LEVEL_MARK.match(text)}
    units = {f"({one})" for one in letters if one > _EARLY and not letters & {chr(ord(one) - 1), chr(ord(one) + 1)}}
    for cell in draft.cells:
        if cell.lines:
            cell.marks = 0 if cell.words[-1].text in units else _count(cell)


def _follow_marks(page: PageLayout, members: NDArray[np.intp], cells: NDArray[np.intp]) -> None:
    """Move each raised mark to the cell of the previous word on its printed line, whatever the grid says. ``cells`` int
    ``(n,)`` has the cell of each word of ``members`` and is changed in place."""
    places = {index: place for place, index in enumerate(members.tolist())}
    for line in visual_lines(page, members):
        for before, word in pairwise(line):
            gap = word.box[0] - before.box[2]
            near = -0.1 * before.size <= gap <= NEAR * before.size
            if near and _RAISED_MARK.match(word.text) and _is_raised(word, before):
                cells[places[word.index]] = cells[places[before.index]]


def tail(word: Ref) -> int:
    """Number of characters at the end of ``word`` that are a mark on the value's own level: ``4.5*``."""
    match = _TAIL.search(word.text)
    if match is None:
        return 0
    mark, value = match.group(), word.text[: match.start()]
    return len(mark) if mark.startswith("(") or is_number(value) or value[-1].isalpha() else 0


def _is_raised(word: Ref, base: Ref) -> bool:
    """Whether ``word`` is set as a superscript of ``base``."""
    if word.flags & SUPERSCRIPT and not base.flags & SUPERSCRIPT:
        return True
    lifted = base.box[3] - word.box[3] > RAISED * base.size
    return word.size <= SMALL * base.size and lifted and word.box[1] < base.box[1] + 0.5 * base.size


def _count(cell: DraftCell) -> int:
    words = cell.words
    count = 0
    while count < len(words) - 1:
        word = words[-1 - count]
        base = next((w for w in reversed(words[: len(words) - 1 - count]) if not _RAISED_MARK.match(w.text)), words[0])
        if base is word or not _is_mark(word, base, words[: len(words) - 1 - count]):
            break
        count += 1
    return count


def _is_mark(word: Ref, base: Ref, before: list[Ref]) -> bool:
    text = word.text
    if _LEVEL_MARK.match(text):
        return True
    last = before[-1].text
    if not _RAISED_MARK.match(text) or not any(_is_raised(word, other) for other in (base, before[-1], before[0])):
        return False
    return not (text[0].isdigit() and (_POWER.search(last) or (text in "23" and _UNIT.search(last))))
