"""Composite chunks: the rows of a table together, beside the tiling in which each row is a chunk of its own.

A row says one thing well ("Total revenues | 2023: 1,204"); a question across rows ("which product sold most") is like
no single row but like the table. A composite spans the tiles of a table, of as many rows as fit, and is indexed as a
grid: title and column headers once, then each row's cells, where the text repeats title and headers in every row.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import groupby

from ragcore.text.sentences import count_tokens
from ragcore.types import Cell, Chunk, Document, Element, Table

BETWEEN = " | "


def composite_chunks(document: Document, tiles: Sequence[Chunk], *, max_tokens: int) -> list[Chunk]:
    """One composite for each table of several tiles, by even runs of tiles where its grid has more than ``max_tokens``
    cl100k tokens; each run but the first also carries the group heading ("Current assets") that its first row stands
    under. ``tiles`` is the whole tiling. A table of one tile has none, and neither has a run of one."""
    starts = [tile.start for tile in tiles]
    made: list[Chunk] = []
    for element in document.body:
        if element.table is None or not element.table.row_spans:
            continue
        first, after = bisect_right(starts, element.start) - 1, bisect_left(starts, element.end)
        if after - first < 2:
            continue
        grid = _Grid(document, element, element.table, tiles[first])
        for run in _runs(grid, tiles[first:after], max_tokens):
            made.append(_composite(document, run, grid.text(run), index=len(tiles) + len(made)))
    return made


def _composite(document: Document, run: Sequence[Chunk], grid: str, *, index: int) -> Chunk:
    start, end = run[0].start, run[-1].end
    return Chunk(
        chunk_id=f"{run[0].doc_id}:{index}",
        doc_id=run[0].doc_id,
        index=index,
        kind="table",
        start=start,
        end=end,
        text=document.text[start:end],
        section=run[0].section,
        header=run[0].header,
        tokens=count_tokens(grid),
        tiles=(run[0].index, run[-1].index),
        grid=grid,
    )


def _runs(grid: _Grid, tiles: Sequence[Chunk], max_tokens: int) -> list[Sequence[Chunk]]:
    """``tiles`` in the fewest runs whose grids fit, as even as can be; without the runs of one tile,
    and without those that hold no row: a long header row can fill tiles of its own."""
    room = max_tokens - count_tokens("".join(f"{line}\n" for line in grid.head))
    if room < 1:
        return []
    # A line's end is a token border, so lines counted apart add up to at least the whole.
    rows = [count_tokens("".join(f"{line}\n" for line in grid.lines(tile))) for tile in tiles]
    carried = [count_tokens(f"{line}\n") if line else 0 for line in map(grid.carried, tiles)]

    def packed(limit: int) -> list[tuple[int, int]]:
        runs: list[tuple[int, int]] = []
        used = 0
        for place, tokens in enumerate(rows):
            if runs and used + tokens <= limit:
                runs[-1] = (runs[-1][0], place + 1)
                used += tokens
            else:
                runs.append((place, place + 1))
                used = carried[place] + tokens
        return runs

    low, high = 1, room
    fewest = len(packed(high))
    while low < high:
        middle = (low + high) // 2
        if len(packed(middle)) <= fewest:
            high = middle
        else:
            low = middle + 1
    return [tiles[first:after] for first, after in packed(high) if after - first > 1 and any(rows[first:after])]


class _Grid:
    """A table in short form, a tile at a time. ``head`` is its title (else what stands above it) and header rows."""

    def __init__(self, document: Document, element: Element, table: Table, first: Chunk) -> None:
        self._document = document
        self._title = " ".join(table.title.split())
        self._first = first
        cells = sorted((c for c in table.cells if c.end > c.start), key=lambda c: (c.start, c.end))
        self._body = [cell for cell in cells if not cell.header]
        self._starts = [cell.start for cell in self._body]
        above = self._title or " ".join(document.text[first.start : element.start].split())
        rows = groupby((c for c in cells if c.header and self._cell(c) not in above), key=lambda c: c.row)
        self.head = [line for line in (above, *(BETWEEN.join(map(self._cell, row)) for _, row in rows)) if line]

    def lines(self, tile: Chunk) -> list[str]:
        """The rows of ``tile``: the cells whose own words stand in it, cut at its borders. What it carries of title,
        headers and group stands in the grid already."""
        inside = self._body[bisect_left(self._starts, tile.start) : bisect_left(self._starts, tile.end)]
        before = bisect_left(self._starts, tile.start) - 1
        if before >= 0 and self._body[before].end > tile.start:
            inside = [self._body[before], *inside]
        rows = groupby(inside, key=lambda cell: cell.row)
        lines = [BETWEEN.join(self._cell(cell, tile.start, tile.end) for cell in row) for _, row in rows]
        return [line for line in lines if line]

    def carried(self, tile: Chunk) -> str:
        """What names the first row of ``tile`` beside its own cells: its group, or a cell that spans rows. "" for the
        first tile of the table, in which nothing stands that was printed before."""
        place = bisect_left(self._starts, tile.start)
        if tile is self._first or place == len(self._body):
            return ""
        before = " ".join(self._document.text[tile.start : self._body[place].start].split())
        before = before.removeprefix(self._title).strip(" —")
        return before.partition(BETWEEN)[0].removesuffix("/").strip()

    def text(self, run: Sequence[Chunk]) -> str:
        carried = [self.carried(run[0])] if self.carried(run[0]) else []
        return "\n".join([*self.head, *carried, *(line for tile in run for line in self.lines(tile))])

    def _cell(self, cell: Cell, low: int = 0, high: int | None = None) -> str:
        end = cell.end if high is None else min(cell.end, high)
        return " ".join(self._document.text[max(cell.start, low) : end].split())
