"""Tables in typewriter type: columns one blank apart, which neither the layout model nor the table finder can see.

In a type whose letters are all of one width, what tells two columns from two words is that the blank between them runs
down through all rows. The rows with several values show where the columns are; headers and labels follow them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

import numpy as np

from ragcore.ingest.blocks import visual_lines
from ragcore.ingest.canonical import Line, Ref
from ragcore.ingest.layout import MONO, Grid, GridCell, PageLayout, Region, around
from ragcore.ingest.tables.draft import is_period, is_symbol, is_valued
from ragcore.ingest.tables.titles import is_rule

TYPED = 0.9  # of a region's words that are in typewriter type
ROWS = 3  # with values, at least
MOST = 0.6  # of the lines from the first of them to the last that are such rows; of a column's cells that are values
ABOVE, BELOW = 6, 2  # lines of a region that becomes a table: its header, and what may stand under it
GUTTER = 0.5  # of a letter's width: what stands free between two columns
APART = 1.5  # of a letter's width: between two columns of words
IN_LINE = 0.7  # of a letter's width: how exactly a word is set to its column
SLACK = 1.0  # points by which a word may reach over the next column
_KINDS = ("text", "list-item", "table", "formula", "caption", "footnote")

Span = tuple[float, float]


def typed_tables(page: PageLayout) -> PageLayout:
    """``page`` with the grids of its typewriter tables, also of those that were taken for text."""
    if not (page.flags & MONO).any():
        return page
    regions = list(page.regions)
    for index, region in enumerate(regions):
        members = np.flatnonzero(page.owners == index)
        if region.kind not in _KINDS or not len(members) or (region.grid is not None and region.grid.given):
            continue
        if ((page.flags[members] & MONO) != 0).mean() < TYPED:
            continue
        grid = _grid([line for line in visual_lines(page, members) if not is_rule(line)], region)
        if grid is not None and (region.grid is None or grid.columns > _filled_columns(region.grid, page, index)):
            regions[index] = replace(region, kind="table", grid=grid)
    return replace(page, regions=tuple(regions))


def _grid(lines: Sequence[Line], region: Region) -> Grid | None:
    """The grid of a table's printed ``lines``; None where they are no table, or no line tells its columns."""
    rows = [line for line in lines if sum(map(_is_value, line)) >= 2]
    places = [place for place, line in enumerate(lines) if line in rows]
    if len(rows) < ROWS or (region.kind != "table" and not _are_body(places, len(lines))):
        return None
    letter = median((word.box[2] - word.box[0]) / len(word.text) for line in rows for word in line)
    columns = _columns(rows, letter)
    if len(columns) < 2:
        return None
    first = places[0]
    runs = [run for line in lines[:first] for run in _runs(line, letter) if not _are_set(run, columns, letter)]
    wide = {reach for run in runs if (reach := _reach(run, columns))[0] > 0}
    cells: list[GridCell] = []
    for row, line in enumerate(lines):
        found = _cells(line, columns, letter, None if line in rows else wide)
        header = row < first and max(found) > 0
        cells += [
            GridCell(row, col, 1, span, around(word.box for word in words), header)
            for col, (span, words) in sorted(found.items())
        ]
    return Grid(len(lines), len(columns), tuple(cells))


def _are_body(places: Sequence[int], lines: int) -> bool:
    """Whether the rows at ``places`` are most of a region with so many ``lines``, but for a few above and below."""
    inside = places[-1] - places[0] + 1
    return len(places) >= MOST * inside and places[0] <= ABOVE and lines - 1 - places[-1] <= BELOW


def _is_value(word: Ref) -> bool:
    return is_valued(word.text) and not is_period(word.text)


def _columns(rows: Sequence[Line], letter: float) -> list[Span]:
    """Left and right edge of each column of ``rows``: what gutters divide. Words that no more than a blank divides are
    columns of their own only where one of the two has values."""
    parts: list[Span] = []
    for left, right in sorted((word.box[0], word.box[2]) for line in rows for word in line):
        if parts and left - parts[-1][1] < GUTTER * letter:
            parts[-1] = parts[-1][0], max(parts[-1][1], right)
        else:
            parts.append((left, right))
    found: list[tuple[Span, bool]] = []
    for part in parts:
        valued = _has_values(rows, part)
        before = found[-1] if found else None
        if before is not None and not valued and not before[1] and part[0] - before[0][1] < APART * letter:
            found[-1] = (before[0][0], part[1]), False
        else:
            found.append((part, valued))
    return [span for span, _valued in found] if sum(valued for _span, valued in found) >= 2 else []


def _has_values(rows: Sequence[Line], column: Span) -> bool:
    """Whether a column holds values for the most part, in most of the rows."""
    cells = [inside for line in rows if (inside := [w for w in line if column[0] <= w.box[0] < column[1]])]
    valued = sum(any(is_valued(w.text) for w in cell) and len(cell) - _symbols(cell) == 1 for cell in cells)
    return valued >= MOST * len(cells) and len(cells) >= MOST * len(rows)


def _symbols(cell: Sequence[Ref]) -> int:
    return sum(is_symbol(word.text) for word in cell)


def _cells(
    line: Line, columns: Sequence[Span], letter: float, wide: Collection[tuple[int, int]] | None
) -> dict[int, tuple[int, list[Ref]]]:
    """The cells of ``line`` by their first column: number of columns and words. In a row with values (``wide`` None)
    each word is in its column. Elsewhere words a blank apart are one cell, unless each is set to the left, the right or
    the middle of a column of its own and they are not over columns that another line names together (``wide``); a label
    keeps to the first column."""
    cells: dict[int, tuple[int, list[Ref]]] = {}
    for run in _runs(line, letter):
        reach = _reach(run, columns)
        one = wide is not None and (reach in wide or not _are_set(run, columns, letter))
        for words in [run] if one else [[word] for word in run]:
            start, end = _reach(words, columns)
            span, held = cells.get(start, (1, []))
            cells[start] = max(span, end - start + 1 if start else 1), held + words
    for start, after in pairwise(sorted(cells)):
        cells[start] = min(cells[start][0], after - start), cells[start][1]
    return cells


def _runs(line: Line, letter: float) -> list[list[Ref]]:
    """Words a blank apart."""
    runs: list[list[Ref]] = []
    for word in line:
        if runs and word.box[0] - runs[-1][-1].box[2] < APART * letter:
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def _reach(words: Sequence[Ref], columns: Sequence[Span]) -> tuple[int, int]:
    """The first and last column that ``words`` stand over."""
    over = [col for word in words for col in _over(word, columns)]
    return min(over), max(over)


def _are_set(run: Sequence[Ref], columns: Sequence[Span], letter: float) -> bool:
    """Whether each word stands over one column and in line with it; over the first one, anywhere."""
    for word in run:
        first, *others = _over(word, columns)
        (left, right), (x0, x1) = columns[first], (word.box[0], word.box[2])
        off = min(abs(left - x0), abs(right - x1), abs(left + right - x0 - x1) / 2)
        if others or (first > 0 and off >= IN_LINE * letter):
            return False
    return True


def _over(word: Ref, columns: Sequence[Span]) -> list[int]:
    """The columns that ``word`` stands over; the nearest where it stands over none."""
    shared = [min(word.box[2], right) - max(word.box[0], left) for left, right in columns]
    return [col for col, width in enumerate(shared) if width > SLACK] or [
        max(range(len(shared)), key=shared.__getitem__)
    ]


def _filled_columns(grid: Grid, page: PageLayout, index: int) -> int:
    """How many columns of ``grid`` have words."""
    members = page.boxes[page.owners == index]
    centres = ((members[:, 0] + members[:, 2]) / 2)[:, None]
    single = [cell for cell in grid.cells if cell.col_span == 1]
    return sum(
        bool(((centres >= min(c.box[0] for c in own)) & (centres <= max(c.box[2] for c in own))).any())
        for col in range(grid.columns)
        if (own := [cell for cell in single if cell.col == col])
    )
