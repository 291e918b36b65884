"""How wide the columns of a table should be, and where its words may be broken so that it fits the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from ragcore.export.model import Inline, NoteRef, Runs, Table, Text, joined, plain

BREAK = "\u200b"  # ZERO WIDTH SPACE: a line may end here
WIDE = 7  # columns; a table with more is set smaller
PADDING = 2  # characters that a column's borders and margins take
SHORTEST = 4  # characters that a line of a cell has at least


def widths(table: Table, room: int) -> list[int]:
    """Characters for each column, together at most ``room`` where that can be: what its longest cell needs, or what is
    left of ``room`` after the columns that need less than an equal share of it."""
    wanted = [max((_length(row[place]) for row in table.rows), default=0) + PADDING for place in _columns(table)]
    given = [0] * len(wanted)
    left, open_columns = room, sorted(_columns(table), key=wanted.__getitem__)
    for done, place in enumerate(open_columns):
        given[place] = max(min(wanted[place], left // (len(wanted) - done)), SHORTEST + PADDING)
        left -= given[place]
    return given


def _length(runs: Runs) -> int:
    """Characters of ``runs`` on one line, the numbers of notes among them."""
    return len(plain(runs)) + sum(len(str(run.number)) for run in runs if isinstance(run, NoteRef))


def longest_words(table: Table, room: int) -> Sequence[int | None]:
    """For each column the longest word that may stay whole, None for any: words are broken only where the longest ones
    would together take more than ``room`` characters."""
    words = [
        max((len(word) for row in table.rows for word in plain(row[place]).split()), default=0) + PADDING
        for place in _columns(table)
    ]
    if sum(words) <= room:
        return [None] * len(words)
    return [width - PADDING for width in widths(table, room)]


def broken(text: str, longest: int | None) -> str:
    """``text`` with a place for a line's end after every ``longest`` characters of a longer word."""
    if longest is None:
        return text
    pieces = text.split(" ")
    return " ".join(
        BREAK.join(word[at : at + longest] for at in range(0, len(word), longest)) if len(word) > longest else word
        for word in pieces
    )


def parted(row: tuple[Runs, ...], table: Table, room: int, lines: int) -> list[tuple[Runs, ...]]:
    """``row`` of ``table`` as rows of which no cell has more than about ``lines`` lines: nearly always itself."""
    cells = [_pieces(cell, width * lines) for cell, width in zip(row, widths(table, room))]
    return list(zip_longest(*cells, fillvalue=())) if max(map(len, cells), default=1) > 1 else [row]


def _pieces(runs: Runs, longest: int) -> list[Runs]:
    """``runs`` cut between words so that a piece has at most ``longest`` characters, or one word."""
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
