"""Where a document's own statements say what a value field asks for.

A search ranks passages, and an income statement is one table among hundreds that speak of net income; but which tables
are statements of the whole is known from their titles, so they are looked through and not searched for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragcore.offline.field_names import Wish
from ragcore.offline.field_rows import is_called, is_statement, period_of
from ragcore.offline.periods import YEAR
from ragcore.types import Document, Element, Table
from ragcore.types.report import Statement

_UNIT = re.compile(r"\(.{1,100}\)")
_ITEM = re.compile(r"item\s+\d+[a-z]?\b", re.IGNORECASE)  # of a form, which names all that follows
_ABOVE = 4  # headings above a table that may be its title
_COVER_LENGTH = 4000  # characters


def statements(document: Document) -> Iterator[Statement]:
    """The tables of ``document`` that are statements of the whole, in the order of the text."""
    for place, element in enumerate(document.body):
        table = element.table
        if table is None or not table.row_spans:
            continue
        name = _name(document, element, place)
        if is_statement(name):
            dates = _dates(document, table)
            heads = " ".join(document.text[cell.start : cell.end] for cell in table.cells if cell.header)
            years = YEAR.findall(" ".join((heads, *dates.values())))
            yield Statement(document.doc_id, element.start, element.end, name, max(map(int, years), default=0), dates)


def rows_called(document: Document, statement: Statement, asked: Sequence[Wish]) -> list[tuple[int, int]]:
    """The spans of the rows of ``statement`` that are called as one of ``asked``."""
    element = next(one for one in document.body if one.start == statement.start and one.table is not None)
    assert element.table is not None
    return [
        (start, end)
        for start, end in element.table.row_spans
        if any(is_called(one, *_named(document.text[start:end])) for one in asked)
    ]


def cover(document: Document) -> tuple[int, int]:
    """The span of the beginning of ``document``, where it says what it is."""
    first = [element for element in document.body if element.page == document.body[0].page]
    ends = [element.end for element in first if element.end - first[0].start <= _COVER_LENGTH]
    return (first[0].start, ends[-1] if ends else first[0].end) if first else (0, 0)


def _name(document: Document, element: Element, place: int) -> str:
    """What the table at ``place`` in the body is called: its title, with what stands among its headers over all columns
    or over the rows' names, and the headings right above it on its page; text parts it from those, a unit does not."""
    table = element.table
    assert table is not None
    above: list[str] = []
    for before in reversed(document.body[max(0, place - _ABOVE) : place]):
        words = _words(document, before.start, before.end)
        if before.page != element.page or not (before.kind == "heading" or _UNIT.fullmatch(words)):
            break
        if before.kind == "heading" and not _ITEM.match(words):
            above.insert(0, words)
    over = [cell for cell in table.cells if cell.header and (cell.col == 0 or cell.col_span >= table.columns)]
    heads = [head for cell in over if is_statement(head := _words(document, cell.start, cell.end))]
    parts = [part for part in dict.fromkeys((*above, *heads, table.title)) if part]
    # A title often has the heading above it in it.
    return " ".join(part for part in parts if not any(part != other and part in other for other in parts))


def _named(line: str) -> tuple[str, str]:
    """The group and the name of a row, of its line ``Title — Group / Name | Header: value``."""
    name = line.partition(" | ")[0].rpartition(" — ")[2]
    group, _, head = name.rpartition(" / ")
    return " ".join(group.split()), " ".join(head.split())


def _dates(document: Document, table: Table) -> dict[int, str]:
    """The period of each cell below the first row that names one over every column of figures, where the header of the
    table names none."""
    if any(cell.header and period_of(document.text[cell.start : cell.end]) for cell in table.cells):
        return {}
    body = [cell for cell in table.cells if not cell.header and cell.col > 0]
    first = [cell for cell in body if cell.row == min(other.row for other in body)] if body else []
    over = {cell.col: document.text[cell.start : cell.end] for cell in first}
    if len(over) < table.columns - 1 or not all(map(period_of, over.values())):
        return {}
    return {cell.start: over[cell.col] for cell in body if cell not in first and cell.col in over}


def _words(document: Document, start: int, end: int) -> str:
    return " ".join(document.text[start:end].split())
