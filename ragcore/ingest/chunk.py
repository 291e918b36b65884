"""Chunking: consecutive spans that tile a document's body without gap or overlap, plus composites of tables.

Splitting is recursive: an element stays whole if it fits, else it is cut at lines, then sentences, then words, then
anywhere; a table is cut at its rows. Small neighbours in one section are then merged up to a target. A heading stays
with the text that follows it, a caption with its figure; a table is never mixed with prose, nor is an AI-written
description of a figure; no chunk holds text of two top sections.

A row states one fact well ("Total revenues | 2023: 1,204"); a question across rows ("which product sold most")
resembles the table, not any single row. A composite spans the tiles of a table, as many rows as fit, and is indexed as
a grid: title and column headers once, then each row's cells, whereas the text repeats title and headers in every row.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Literal

from ragcore.config.settings import ChunkSettings
from ragcore.text.sentences import count_tokens, sentence_spans
from ragcore.types import Cell, Chunk, ChunkKind, Document, Element, Table

SMALL = 3  # a piece below target / SMALL tokens may merge with another subsection of its top section

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    tokens: int
    # lead: a heading, or the caption above a table or figure; group: a table row of one cell that names the rows below
    # it; figure: an AI-written description
    role: Literal["lead", "group", "table", "figure", "text"]
    element: int
    section: tuple[str, ...]
    caption: int | None = None  # for figures and their caption: the caption's element

    @property
    def in_table(self) -> bool:
        return self.role in ("group", "table")

    @property
    def top(self) -> str:
        return self.section[0] if self.section else ""


def chunk_document(document: Document, settings: ChunkSettings) -> tuple[Chunk, ...]:
    """Tiles in order, then composites. The first tile starts at 0, each starts where the previous one ends, the last
    ends at ``body_end``. No chunk's ``tokens`` exceed ``settings.max_tokens``. A document with an empty body has no
    chunks."""
    tiles = _tiles(document, settings)
    composites = composite_chunks(document, tiles, max_tokens=settings.max_tokens) if settings.composites else ()
    return (*tiles, *composites)


def _tiles(document: Document, settings: ChunkSettings) -> list[Chunk]:
    chunks: list[Chunk] = []
    for index, group in enumerate(_merge(_pieces(document, settings), settings)):
        start, end = group[0].start, group[-1].end
        text = document.text[start:end]
        # The section of the group's text; that of its last heading if it has nothing else.
        section = next((piece for piece in group if piece.role != "lead"), group[-1]).section
        kind = _kind(group)
        before = chunks[-1] if chunks else None
        lead_in = ""
        if before is not None and before.section == section and before.kind == kind == "text":
            lead_in = _lead_in(before.text, settings.lead_in_tokens)
        chunks.append(
            Chunk(
                chunk_id=f"{document.doc_id}:{index}",
                doc_id=document.doc_id,
                index=index,
                kind=kind,
                start=start,
                end=end,
                text=text,
                section=section,
                header=" › ".join(filter(None, (document.title, *section))),
                lead_in=lead_in,
                tokens=count_tokens(text),
            )
        )
    return chunks


def _kind(group: Sequence[_Piece]) -> ChunkKind:
    if any(piece.in_table for piece in group):
        return "table"
    return "figure" if any(piece.role == "figure" for piece in group) else "text"


def _pieces(document: Document, settings: ChunkSettings) -> list[_Piece]:
    body = [element for element in document.body if element.end > element.start]
    pieces: list[_Piece] = []
    for place, element in enumerate(body):
        start = element.start if place else 0
        end = body[place + 1].start if place + 1 < len(body) else document.body_end
        following = body[place + 1] if place + 1 < len(body) else None
        role: Literal["lead", "group", "table", "figure", "text"] = "text"
        section = element.section
        groups: frozenset[int] = frozenset()
        if element.table is not None:
            role, groups = "table", _group_rows(element.table)
        elif element.kind == "table":
            role = "table"
        elif element.kind == "heading":
            role = "lead"
            section = (*section, document.text[element.start : element.end])
        elif following is not None and (
            (element.kind == "caption" and following.kind == "table") or following.id in element.caption_of
        ):
            role = "lead"
        caption = element.id if element.caption_of else element.caption
        generated = element.generated[0] if element.generated else end
        for piece_start, piece_end in _split(document.text, (start, end), element, settings):
            tokens = count_tokens(document.text[piece_start:piece_end])
            own = "group" if any(piece_start <= row < piece_end for row in groups) else role
            own = "figure" if piece_end > generated else own
            pieces.append(_Piece(piece_start, piece_end, tokens, own, element.id, section, caption))
    return pieces


def _group_rows(table: Table) -> frozenset[int]:
    """Start offsets of the body rows with one cell."""
    filled = Counter(
        row for cell in table.cells if cell.end > cell.start for row in range(cell.row, cell.row + cell.row_span)
    )
    return frozenset(
        start for (start, _end), row in zip(table.row_spans, table.row_numbers, strict=True) if filled[row] == 1
    )


def _split(text: str, span: Span, element: Element, settings: ChunkSettings) -> list[Span]:
    """Parts of ``span`` with at most max_tokens each; a table is always cut at its rows, for the merge to pack
    again."""
    if element.table is not None and element.table.row_spans:
        # Header rows stay with the first row.
        cuts = sorted({start for start, _end in element.table.row_spans})[1:]
        return [part for row in _cut(span, cuts) for part in _shrink(text, row, settings, _CUTTERS[1:])]
    return _shrink(text, span, settings, _CUTTERS)


def _line_cuts(text: str, start: int, end: int) -> list[int]:
    return [match.end() for match in re.compile(r"\n+").finditer(text, start, end)]


def _sentence_cuts(text: str, start: int, end: int) -> list[int]:
    return [first for first, _last in sentence_spans(text[start:end], start)]


def _word_cuts(text: str, start: int, end: int) -> list[int]:
    return [match.end() for match in re.compile(r"\s+").finditer(text, start, end)]


_Cutter = Callable[[str, int, int], list[int]]
_CUTTERS: tuple[_Cutter, ...] = (_line_cuts, _sentence_cuts, _word_cuts, lambda _text, start, end: [(start + end) // 2])


def _shrink(text: str, span: Span, settings: ChunkSettings, cutters: Sequence[_Cutter]) -> list[Span]:
    start, end = span
    if count_tokens(text[start:end]) <= settings.max_tokens or end - start <= 1:
        return [span]
    parts = _cut(span, cutters[0](text, start, end))
    # The last cutter halves, and is applied again until the parts fit.
    rest = cutters[1:] or cutters
    if len(parts) == 1:
        return _shrink(text, span, settings, rest)
    limit = min(settings.max_tokens, settings.target_tokens)
    packed = _pack(text, parts, limit)
    if packed == [span]:  # too long together, though not by the sum of its parts
        packed = parts
    return [piece for part in packed for piece in _shrink(text, part, settings, rest if part in parts else cutters)]


def _cut(span: Span, cuts: Sequence[int]) -> list[Span]:
    """Parts of ``span`` between those of ``cuts`` that lie inside it."""
    return list(pairwise([span[0], *(cut for cut in cuts if span[0] < cut < span[1]), span[1]]))


def _pack(text: str, parts: Sequence[Span], limit: int) -> list[Span]:
    """Neighbouring parts packed up to ``limit`` tokens, counted per part (almost never less than for the whole)."""
    packed: list[Span] = []
    room = 0
    for start, end in parts:
        tokens = count_tokens(text[start:end])
        if packed and tokens <= room:
            packed[-1] = (packed[-1][0], end)
            room -= tokens
        else:
            packed.append((start, end))
            room = limit - tokens
    return packed


def _merge(pieces: Sequence[_Piece], settings: ChunkSettings) -> list[list[_Piece]]:
    groups: list[list[_Piece]] = []
    current: list[_Piece] = []
    for piece in pieces:
        if current and not _joins(current, piece, settings):
            carried = _trailing_leads(current)
            if carried and _joins(carried, piece, settings):
                groups.append(current[: -len(carried)])
                current = carried
            else:
                groups.append(current)
                current = []
        current.append(piece)
    if current:
        groups.append(current)
    return groups


def _trailing_leads(group: Sequence[_Piece]) -> list[_Piece]:
    """Headings at the end of a group that has other text before them."""
    count = 0
    while count < len(group) and group[-1 - count].role == "lead":
        count += 1
    return list(group[len(group) - count :]) if 0 < count < len(group) else []


def _joins(group: Sequence[_Piece], piece: _Piece, settings: ChunkSettings) -> bool:
    tokens = sum(p.tokens for p in group)
    # Counted separately, pieces can total one token less each than when joined, so leave room for that.
    if tokens + piece.tokens + len(group) > settings.max_tokens or piece.top != group[-1].top:
        return False
    content = [p for p in group if p.role != "lead"]
    if not content:
        return True
    if piece.caption is not None and all(p.caption == piece.caption for p in content):
        return True
    target = settings.target_tokens
    if any(p.role == "figure" for p in (*content, piece)):
        return all(p.element == piece.element for p in content)
    if piece.caption is not None and piece.caption == group[-1].caption and piece.role == "text":
        return True
    if piece.in_table or content[-1].in_table:
        limit = target if content[-1].role == "group" else settings.row_tokens
        return piece.element == content[-1].element and tokens + piece.tokens <= limit
    small = target // SMALL
    if piece.role == "lead":
        return tokens < small
    if group[-1].role == "lead":
        return tokens + piece.tokens <= target
    same = piece.section == content[-1].section
    return (same or min(tokens, piece.tokens) < small) and tokens + piece.tokens <= target


def _lead_in(text: str, limit: int) -> str:
    """Last sentences of ``text`` with at most ``limit`` tokens together."""
    kept = ""
    for first, _last in reversed(sentence_spans(text)):
        longer = " ".join(text[first:].split())
        if count_tokens(longer) > limit:
            break
        kept = longer
    return kept


BETWEEN = " | "


def composite_chunks(document: Document, tiles: Sequence[Chunk], *, max_tokens: int) -> list[Chunk]:
    """One composite per table of several tiles, split into even runs of tiles if its grid exceeds ``max_tokens`` cl100k
    tokens. Each run but the first also carries the group heading ("Current assets") of its first row. ``tiles`` is the
    whole tiling. A table of one tile gets no composite, nor does a run of one tile."""
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
            start, end, text = run[0].start, run[-1].end, grid.text(run)
            made.append(
                replace(
                    run[0],
                    chunk_id=f"{document.doc_id}:{len(tiles) + len(made)}",
                    index=len(tiles) + len(made),
                    kind="table",
                    end=end,
                    text=document.text[start:end],
                    lead_in="",
                    tokens=count_tokens(text),
                    tiles=(run[0].index, run[-1].index),
                    grid=text,
                )
            )
    return made


def _runs(grid: _Grid, tiles: Sequence[Chunk], max_tokens: int) -> list[Sequence[Chunk]]:
    """Fewest runs of ``tiles`` whose grids fit, as even as possible, excluding runs of one tile and runs without rows
    (a long header row can fill tiles of its own)."""
    room = max_tokens - count_tokens("".join(f"{line}\n" for line in grid.head))
    if room < 1:
        return []
    # A line's end is a token boundary, so lines counted separately add up to at least the whole.
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

    fewest = len(packed(room))
    limit = bisect_left(range(room), -fewest, lo=1, key=lambda limit: -len(packed(limit)))
    return [tiles[first:after] for first, after in packed(limit) if after - first > 1 and any(rows[first:after])]


class _Grid:
    """Table in short form, one tile at a time. ``head`` is its title (else the text above it) and header rows."""

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
        """Rows of ``tile``: the cells whose own words are in it, cut at its borders. Repeated title, headers and group
        are left out, since the grid already has them."""
        inside = self._body[bisect_left(self._starts, tile.start) : bisect_left(self._starts, tile.end)]
        before = bisect_left(self._starts, tile.start) - 1
        if before >= 0 and self._body[before].end > tile.start:
            inside = [self._body[before], *inside]
        rows = groupby(inside, key=lambda cell: cell.row)
        lines = [BETWEEN.join(self._cell(cell, tile.start, tile.end) for cell in row) for _, row in rows]
        return [line for line in lines if line]

    def carried(self, tile: Chunk) -> str:
        """Text that names the first row of ``tile`` besides its own cells: its group, or a cell that spans rows. "" for
        the first tile of the table, which has nothing printed before it."""
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
