"""Table layout for pages of fixed width: column widths, break points in words, and splitting of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest

from ragcore.export.model import Block, Inline, Items, NoteRef, Quote, Runs, Table, Text, joined, plain

BREAK = "\u200b"  # ZERO WIDTH SPACE: an allowed line break
WIDE = 7  # columns; a wider table is set smaller
PADDING = 2  # characters for a column's borders and margins
LINES = 25  # less than half a page
SHORTEST = 4  # minimum characters on a line of a cell


def widths(table: Table, room: int) -> list[int]:
    """Characters per column, together at most ``room`` if possible: the need of its longest cell, or the rest of
    ``room`` after the columns that need less than an equal share."""
    wanted = [max((_length(row[place]) for row in table.rows), default=0) + PADDING for place in _columns(table)]
    given = [0] * len(wanted)
    left, open_columns = room, sorted(_columns(table), key=wanted.__getitem__)
    for done, place in enumerate(open_columns):
        given[place] = max(min(wanted[place], left // (len(wanted) - done)), SHORTEST + PADDING)
        left -= given[place]
    return given


def _length(runs: Runs) -> int:
    """Characters of ``runs`` on one line, note numbers included."""
    return len(plain(runs)) + sum(len(str(run.number)) for run in runs if isinstance(run, NoteRef))


def fitted(blocks: Sequence[Block], room: Callable[[int], int]) -> tuple[Block, ...]:
    """``blocks`` with tables that fit: a line of a table of n columns has ``room(n)`` characters, longer words get
    break points, and a row of more than `LINES` lines is split."""
    return tuple(_fitted(block, room) for block in blocks)


def _fitted(block: Block, room: Callable[[int], int]) -> Block:
    match block:
        case Items():
            return replace(block, items=tuple(fitted(item, room) for item in block.items))
        case Quote():
            return replace(block, blocks=fitted(block.blocks, room))
        case Table():
            line = room(len(block.aligns))
            longest = _longest_words(block, line)
            parts = [_parted(row, block, line) for row in block.rows]
            rows = (tuple(map(_broken, row, longest)) for each in parts for row in each)
            return replace(block, rows=tuple(rows), heads=sum(map(len, parts[: block.heads])))
        case _:
            return block


def _longest_words(table: Table, room: int) -> Sequence[int | None]:
    """Maximum unbroken word length per column, None for any: words are broken only if the longest ones together exceed
    ``room`` characters."""
    words = [
        max((len(word) for row in table.rows for word in plain(row[place]).split()), default=0) + PADDING
        for place in _columns(table)
    ]
    if sum(words) <= room:
        return [None] * len(words)
    return [width - PADDING for width in widths(table, room)]


def _broken(runs: Runs, longest: int | None) -> Runs:
    """``runs`` with a break point after every ``longest`` characters of a longer word."""
    if longest is None:
        return runs
    return tuple(replace(run, text=_breakable(run.text, longest)) if isinstance(run, Text) else run for run in runs)


def _breakable(text: str, longest: int) -> str:
    return " ".join(BREAK.join(_slices(word, longest)) for word in text.split(" "))


def _parted(row: tuple[Runs, ...], table: Table, room: int) -> list[tuple[Runs, ...]]:
    """``row`` of ``table`` split into rows whose cells have at most about `LINES` lines; usually unchanged."""
    cells = [_pieces(cell, width * LINES) for cell, width in zip(row, widths(table, room))]
    return list(zip_longest(*cells, fillvalue=())) if max(map(len, cells), default=1) > 1 else [row]


def _pieces(runs: Runs, longest: int) -> list[Runs]:
    """``runs`` cut between words into pieces of at most ``longest`` characters, or one word."""
    if len(plain(runs)) <= longest:
        return [runs]
    pieces: list[list[Inline]] = [[]]
    length = 0
    for run in runs:
        words = re.findall(r"\s*\S+\s*", run.text) if isinstance(run, Text) else [""]
        for word in (part for each in words for part in _slices(each, longest)):
            if length and length + len(word) > longest:
                pieces.append([])
                length = 0
            pieces[-1].append(replace(run, text=word) if isinstance(run, Text) else run)
            length += len(word)
    return [joined(piece) for piece in pieces]


def _slices(word: str, longest: int) -> list[str]:
    return [word[at : at + longest] for at in range(0, len(word), longest)] or [""]


def _columns(table: Table) -> range:
    return range(len(table.aligns))
