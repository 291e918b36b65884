"""A table row as it can be quoted: its name, and the cells of the columns that a question names.

A source is known here by its units alone: cells that follow one another on a line of the text are a row, and a cell's
label is ``row · column``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragcore.providers.periods import Asked, named_columns
from ragcore.types import Source
from ragcore.words import content_stems, cover

DOT_LEADERS = re.compile(r"(?:\.\s?){5,}|(?:…\s?){2,}|_{4,}")
_PAGE_COLUMN = re.compile(r"(?:form \S+ )?page(?:\s*(?:no\.?|number|#))?", re.IGNORECASE)
_SCALE = re.compile(
    r"\b(?:in|dollars|amounts?|figures|U\.?S\.?\s?\$|[$€£])\s*(?:in\s+)?(?:[a-z.$€£]+\s+){0,2}(?:thousands|millions|billions)\b"
    r"|\(\s*(?:thousands|millions|billions)\b",
    re.IGNORECASE,
)
_LONGEST_SCALE = 160


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a row: its unit number, its column's header and its text."""

    number: int
    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """``first``..``last`` are the units to cite, ``text`` what is quoted. ``head`` is the row's own header, ``name``
    that with the group it stands in, ``table`` what the table is called. ``named`` are the places in ``cells`` of the
    columns that the question names, none where it names none."""

    first: int
    last: int
    text: str
    head: str
    name: str
    table: str
    cells: tuple[Cell, ...]
    named: tuple[int, ...]

    def of(self, cell: Cell) -> str:
        """One cell with its headers, as it is quoted."""
        return _pair(", ".join(part for part in (self.name, cell.column) if part), cell.text)


def row_of(source: Source, asked: Asked, first: int, last: int) -> Row | None:
    """A row as ``row header — column: value; …``. When the question names columns only those are shown, and when it
    names one, and something of the row, that cell alone is cited.

    Rows without a labelled value (header rows, group headings) and rows of a table of contents say nothing.
    """
    units = [(number, source.units[number - 1]) for number in range(first, last + 1)]
    labelled = [(number, unit) for number, unit in units if unit.label]
    if not labelled or DOT_LEADERS.search(" ".join(source.words(number, number) for number, _ in units)):
        return None
    head = next((source.words(number, number) for number, unit in units if not unit.label), "")
    whole = labelled[0][1].label.partition(" · ")[0]
    # The label knows the group that the row stands in ("Footwear / North America"), its first cell does not.
    name = whole if head and whole.endswith(head) else head
    columns = [unit.label.removeprefix(name).removeprefix(" · ").strip() for _, unit in labelled]
    if all(_PAGE_COLUMN.fullmatch(column) for column in columns):
        return None
    cells = tuple(Cell(number, column, source.words(number, number)) for (number, _), column in zip(labelled, columns))
    named = tuple(named_columns(columns, asked))
    row = Row(first, labelled[-1][0], "", head, name, table_name(source, first), cells, named)
    if len(named) == 1 and cover(content_stems(name), asked.words) > 0:
        cell = cells[named[0]]
        return _shown(row, cell.number, cell.number, row.of(cell))
    pairs = "; ".join(_pair(cell.column, cell.text) for cell in ([cells[i] for i in named] or cells))
    return _shown(row, row.first, row.last, f"{name} — {pairs}" if name else pairs)


def scale_of(source: Source, row: Row) -> tuple[int, str]:
    """The unit of the source that says in which scale ``row`` is (``in millions``), the nearest one before it, and its
    words; (0, "") where the row's table or column says it already, or nothing does."""
    if _SCALE.search(" ".join((row.table, row.name, *(cell.column for cell in row.cells)))):
        return 0, ""
    for number in range(row.first - 1, 0, -1):
        words = source.words(number, number)
        if len(words) <= _LONGEST_SCALE and _SCALE.search(words):
            return number, words
    return 0, ""


def _shown(row: Row, first: int, last: int, text: str) -> Row:
    return Row(first, last, text, row.head, row.name, row.table, row.cells, row.named)


def _pair(name: str, value: str) -> str:
    return f"{name}: {value}" if name else value


def table_name(source: Source, first: int) -> str:
    """What the row's line begins with: its table's title, with the section where the title is only a unit."""
    at = source.units[first - 1].start - source.start
    line = source.text[source.text.rfind("\n", 0, at) + 1 : at]
    title = " ".join(line.rpartition(" — ")[0].split()) if " — " in line else ""
    if (not title or title.startswith("(")) and source.section:
        title = f"{source.section[-1]} {title}".strip()
    return title
