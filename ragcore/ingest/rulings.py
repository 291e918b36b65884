"""Drawn rules against the table finder's grid: in a table with ruled cells, the rules decide.

The finder makes a row of each printed line, so a ruled cell with several lines falls apart, and it does not detect
cells that span rows or columns without a dividing rule. If rules divide most neighbouring slots of a grid, slots
without a rule between them are one cell. In any other table, a rule under a header over several columns shows the
columns that it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.layout import Grid, GridCell, PageLayout, Rect, around, overlap
from ragcore.ingest.tables.draft import is_valued

THIN = 3.2  # points: nothing thicker is a rule
LIGHT = 200  # brightness of 255 above which a colour may be the background of cells
BOXED = 0.5  # share of the grid's inner edges that are ruled, in both directions, for rules to decide
COVERED = 0.8  # of an edge's length that its rule must cover
REACHED = 0.6  # of a column's width that a rule under its header covers
HEADER_ROWS = 4  # first row that cannot be a header
TOUCH = 1.5  # points: rules at most this far apart are one
INSET = 2.0  # points by which a rule may stop short at either end
SNAP = 3.0  # points: PyMuPDF's table finder takes sides this near for one, and thinner rectangles for rules
LEAST = 1.0  # points: it takes no shorter side
MANY = 200  # drawings that are too many to look at before it does


@dataclass(frozen=True)
class Rulings:
    """Rules in the upright frame: ``across`` float32 ``(n, 3)`` as y, x0, x1; ``down`` float32 ``(m, 3)`` as x, y0,
    y1."""

    across: NDArray[np.float32]
    down: NDArray[np.float32]


@dataclass(frozen=True)
class Drawn:
    """Rectangle drawn on the page: box in the upright frame, colour as 0xRRGGBB, and whether it is an outline."""

    box: Rect
    color: int
    outlined: bool


def rulings(drawn: Sequence[Drawn]) -> Rulings:
    """Rules among ``drawn``: thin shapes, and the four edges of outlines. A thin piece in the colour of a larger light
    area belongs to that area."""
    areas = {d.color for d in drawn if not d.outlined and not _is_thin(d.box) and _is_light(d.color)}
    across: list[tuple[float, float, float]] = []
    down: list[tuple[float, float, float]] = []
    for item in drawn:
        x0, y0, x1, y1 = item.box
        if item.outlined and not _is_thin(item.box):
            across += [(y0, x0, x1), (y1, x0, x1)]
            down += [(x0, y0, y1), (x1, y0, y1)]
        elif item.color not in areas:
            if y1 - y0 <= THIN:
                across.append(((y0 + y1) / 2, x0, x1))
            if x1 - x0 <= THIN:
                down.append(((x0 + x1) / 2, y0, y1))
    return Rulings(np.asarray(across, np.float32).reshape(-1, 3), np.asarray(down, np.float32).reshape(-1, 3))


def _is_thin(box: Rect) -> bool:
    return box[3] - box[1] <= THIN or box[2] - box[0] <= THIN


def _is_light(color: int) -> bool:
    red, green, blue = color >> 16 & 255, color >> 8 & 255, color & 255
    return 0.299 * red + 0.587 * green + 0.114 * blue > LIGHT


def divides(paths: Sequence[Mapping[str, Any]]) -> bool:
    """Whether PyMuPDF's table finder could see two columns in drawings (`Page.get_drawings`): upright sides at three
    places. It takes the sides of lines and rectangles and of the boxes around drawings that touch; these are all of
    them and more, so it finds no table where this is False."""
    if len(paths) > MANY:
        return True
    sides: list[float] = []
    groups: list[list[Rect]] = []
    for path in paths:
        filled = path["type"] == "f" and min(path["rect"].width, path["rect"].height) > SNAP
        for rect in (item[1] for item in path["items"] if item[0] == "re"):
            if (rect.height > SNAP or rect.height >= rect.width) and (rect.width <= SNAP or not filled):
                sides += [rect.x0, rect.x1]
        if not filled:
            groups.append([tuple(path["rect"])])
            lines = [item[1] if item[0] == "qu" else item[1:] for item in path["items"] if item[0] in ("l", "qu")]
            ys = [point.y for line in lines for point in line] or [0.0]
            if max(ys) - min(ys) >= LEAST:
                sides += [point.x for line in lines for point in line]
    while groups:
        group = groups.pop()
        box = around(group)
        near = [other for other in groups if min(overlap(around(other), box)) >= -SNAP]
        if near:
            groups = [other for other in groups if other not in near] + [sum(near, group)]
        elif box[3] - box[1] >= LEAST:
            sides += [x for member in group for x in member[::2]]
    places, last = 0, -np.inf
    for x in sorted(sides):
        if x > last + SNAP:
            places, last = places + 1, x
    return places >= 3


def rule_tables(page: PageLayout, drawn: Rulings) -> PageLayout:
    """``page`` with its table grids corrected by the rules."""
    if not len(drawn.across):
        return page
    regions = tuple(
        replace(region, grid=_ruled(region.grid, drawn, page))
        if region.grid is not None and not region.grid.given
        else region
        for region in page.regions
    )
    return replace(page, regions=regions)


def _ruled(grid: Grid, drawn: Rulings, page: PageLayout) -> Grid:
    xs, ys = _edges(grid)
    if xs is None or ys is None or grid.rows < 2 or grid.columns < 2:
        return grid
    if not len(drawn.down):
        return _underlined(grid, drawn, page, xs, ys)
    below = np.zeros((grid.rows - 1, grid.columns), bool)  # a rule under slot (r, c)
    right = np.zeros((grid.rows, grid.columns - 1), bool)  # a rule to the right of slot (r, c)
    lines = list(ys)  # y of the rules that divide the rows
    for r in range(grid.rows - 1):
        reach = min(ys[r + 1] - ys[r], ys[r + 2] - ys[r + 1]) / 2
        near = drawn.across[np.abs(drawn.across[:, 0] - ys[r + 1]) <= reach]
        below[r] = [_covered(near[:, 1:], xs[c], xs[c + 1]) for c in range(grid.columns)]
        if below[r].any():
            inside = (near[:, 2] > xs[0]) & (near[:, 1] < xs[-1])
            lines[r + 1] = float(np.median(near[inside, 0]))
    for c in range(grid.columns - 1):
        reach = min(xs[c + 1] - xs[c], xs[c + 2] - xs[c + 1]) / 2
        near = drawn.down[np.abs(drawn.down[:, 0] - xs[c + 1]) <= reach, 1:]
        right[:, c] = [_covered(near, ys[r], ys[r + 1]) for r in range(grid.rows)]
    if below.any(axis=1).mean() < BOXED or right.any(axis=0).mean() < BOXED or right.mean() < BOXED:
        return _underlined(grid, drawn, page, xs, ys)
    cells = [
        replace(c, box=(c.box[0], lines[c.row], c.box[2], lines[c.row + c.row_span]))
        for c in grid.cells
        if lines[c.row + c.row_span] > lines[c.row]
    ]
    if len(cells) == len(grid.cells):
        grid = replace(grid, cells=tuple(cells))
    return _joined(grid, below, right, _valued(grid, page, xs, ys))


def _underlined(grid: Grid, drawn: Rulings, page: PageLayout, xs: Sequence[float], ys: Sequence[float]) -> Grid:
    """``grid`` with each header that is alone over a rule of several columns extended over all of them."""
    columns, rows = _slots(page, xs, ys)
    cells = {(c.row, c.col): c for c in grid.cells}
    for r in range(min(HEADER_ROWS, grid.rows - 1)):
        reach = min(ys[r + 1] - ys[r], ys[r + 2] - ys[r + 1]) / 2
        near = drawn.across[np.abs(drawn.across[:, 0] - ys[r + 1]) <= reach, 1:]
        for x0, x1 in _runs(near):
            under = [
                c for c in range(grid.columns) if min(x1, xs[c + 1]) - max(x0, xs[c]) > REACHED * (xs[c + 1] - xs[c])
            ]
            if not 2 <= len(under) < grid.columns - (0 not in under):
                continue
            own = (rows == r) & (columns >= under[0]) & (columns <= under[-1])
            words = page.boxes[own]
            alone = len(words) and len(set(columns[own].tolist())) == 1
            slots = [cells.get((r, c)) for c in under]
            plain = all(slot is not None and slot.row_span == slot.col_span == 1 for slot in slots)
            if alone and plain and words[:, 0].min() >= x0 - 2 * INSET and words[:, 2].max() <= x1 + 2 * INSET:
                whole = cells[r, under[0]]
                for c in under[1:]:
                    whole = _union(whole, cells.pop((r, c)))
                cells[r, under[0]] = whole
    return replace(grid, cells=tuple(cells[key] for key in sorted(cells)))


def _runs(rules: NDArray[np.float32]) -> list[tuple[float, float]]:
    """Rules merged end to end if they touch."""
    runs: list[tuple[float, float]] = []
    for first, last in sorted(rules.tolist()):
        if runs and first <= runs[-1][1] + TOUCH:
            runs[-1] = (runs[-1][0], max(runs[-1][1], last))
        else:
            runs.append((first, last))
    return runs


def _slots(page: PageLayout, xs: Sequence[float], ys: Sequence[float]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Column and row of each word of the page; out of range outside the table."""
    columns = np.searchsorted(np.asarray(xs), (page.boxes[:, 0] + page.boxes[:, 2]) / 2) - 1
    rows = np.searchsorted(np.asarray(ys), (page.boxes[:, 1] + page.boxes[:, 3]) / 2) - 1
    return columns, rows


def _edges(grid: Grid) -> tuple[list[float] | None, list[float] | None]:
    """Lines between columns and between rows, outer ones included; None if cells of one slot do not show all."""
    xs = [np.nan] * (grid.columns + 1)
    ys = [np.nan] * (grid.rows + 1)
    for cell in grid.cells:
        xs[cell.col], xs[cell.col + cell.col_span] = cell.box[0], cell.box[2]
        ys[cell.row], ys[cell.row + cell.row_span] = cell.box[1], cell.box[3]
    rising = all(b > a for line in (xs, ys) for a, b in pairwise(line))
    return (xs, ys) if rising else (None, None)


def _covered(rules: NDArray[np.float32], low: float, high: float) -> bool:
    """Whether ``rules`` ``(n, 2)``, each a start and an end, cover the interval from ``low`` to ``high``."""
    whole = high - low - 2 * INSET
    low, high = low + INSET, high - INSET
    length = 0.0
    for first, last in sorted(rules.tolist()):
        length += max(0.0, min(last, high) - max(first, low))
        low = max(low, last)
    return length >= COVERED * whole


def _valued(grid: Grid, page: PageLayout, xs: Sequence[float], ys: Sequence[float]) -> NDArray[np.bool_]:
    """Whether each slot holds nothing but a value."""
    texts: dict[tuple[int, int], list[str]] = {}
    columns, rows = _slots(page, xs, ys)
    for text, row, col in zip(page.texts, rows.tolist(), columns.tolist()):
        texts.setdefault((row, col), []).append(text)
    out = np.zeros((grid.rows, grid.columns), bool)
    for (row, col), words in texts.items():
        if 0 <= row < grid.rows and 0 <= col < grid.columns:
            out[row, col] = is_valued(" ".join(words))
    return out


def _joined(grid: Grid, below: NDArray[np.bool_], right: NDArray[np.bool_], valued: NDArray[np.bool_]) -> Grid:
    """``grid`` with rows merged if no rule divides them, and slots merged into one cell likewise."""
    # Values over values are rows of a list, though they share one box.
    lists = valued[:-1] & valued[1:]
    apart = below.any(axis=1) | (lists.sum(axis=1) >= 2)
    row_at = np.concatenate([[0], np.cumsum(apart)])
    first, last = np.flatnonzero(np.append(True, apart)), np.flatnonzero(np.append(apart, True))
    cells: dict[tuple[int, int], GridCell] = {}
    for cell in grid.cells:
        row, end = int(row_at[cell.row]), int(row_at[cell.row + cell.row_span - 1])
        moved = replace(cell, row=row, row_span=end - row + 1)
        held = cells.get((row, cell.col))
        cells[row, cell.col] = moved if held is None else _union(held, moved)
    # A slot joins the one below if they are divided elsewhere, but not here; and the one beside it likewise.
    beside = np.pad(right, ((0, 0), (1, 1)))
    down = ~below & below.any(axis=1, keepdims=True) & (beside[:-1, :-1] | beside[:-1, 1:]) & ~lists
    across = ~right & (right.mean(axis=0, keepdims=True) >= BOXED) & ~(valued[:, :-1] & valued[:, 1:])
    for key in sorted(cells):
        whole = cells.get(key)
        if whole is None or whole.col_span > 1 or whole.row_span > 1:
            continue
        row, col = key
        while whole.row + whole.row_span < len(first) and down[last[whole.row + whole.row_span - 1], col]:
            other = cells.get((whole.row + whole.row_span, col))
            if other is None or other.col_span > 1:
                break
            whole = _union(whole, cells.pop((other.row, col)))
        while whole.row_span == 1 and whole.col + whole.col_span < grid.columns:
            other = cells.get((row, whole.col + whole.col_span))
            if other is None or other.row_span > 1 or not across[first[row], other.col - 1]:
                break
            whole = _union(whole, cells.pop((row, other.col)))
        cells[key] = whole
    joined = Grid(len(first), grid.columns, tuple(cells[key] for key in sorted(cells)))
    return joined if _is_sound(joined) else grid


def _is_sound(grid: Grid) -> bool:
    """Whether no two cells share a slot."""
    slots = [
        (row, col)
        for c in grid.cells
        for row in range(c.row, c.row + c.row_span)
        for col in range(c.col, c.col + c.col_span)
    ]
    return len(slots) == len(set(slots))


def _union(first: GridCell, second: GridCell) -> GridCell:
    row, col = min(first.row, second.row), min(first.col, second.col)
    return GridCell(
        row,
        col,
        max(first.row + first.row_span, second.row + second.row_span) - row,
        max(first.col + first.col_span, second.col + second.col_span) - col,
        around((first.box, second.box)),
        first.header,
    )
