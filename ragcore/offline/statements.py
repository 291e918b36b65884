"""Financial statements in a document: their tables, the names of their rows, and the document's reporting period.

A search ranks passages, and an income statement is one table among hundreds about net income. Titles identify the
statements of the whole company, so they are scanned directly instead of searched for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from ragcore.offline.periods import YEAR, day_of, days_in, is_part, spans_time
from ragcore.offline.quote_ranking import name_of
from ragcore.text.words import STOP_WORDS, stem, tokens
from ragcore.types import Document, Element, Table
from ragcore.types.document import Cell
from ragcore.types.report import Coverage, Period, Statement
from ragcore.types.table_labels import LabelledTable, RowLabel

_UNIT = re.compile(r"\(.{1,100}\)")
_ABOVE = 4  # headings above a table that may be its title
_COVER_LENGTH = 4000  # characters
_COVER = 2  # pages on which a document identifies itself
_AFTER = 60  # characters within which the date follows


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("ragcore.offline").joinpath("statements.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=16)
def _stems(section: str, name: str) -> frozenset[str]:
    return frozenset(stem(word) for word in tokens(_data()[section][name]))


@lru_cache(maxsize=16)
def _phrases(section: str, name: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(stem, tokens(phrase))) for phrase in _data()[section][name])


def _says(text: str, section: str, name: str) -> bool:
    words = [stem(word) for word in tokens(text.replace("%", " percent "))]
    return any(
        tuple(words[at : at + len(phrase)]) == phrase
        for phrase in _phrases(section, name)
        for at in range(len(words) - len(phrase) + 1)
    )


def is_statement(where: str) -> bool:
    """Whether ``where``, a table's title with the heading above it, names a statement of the whole."""
    return _says(where, "titles", "statements") and not _says(where, "titles", "never")


def has_other_owners(text: str) -> bool:
    """Whether ``text`` mentions owners of a share in the income other than the shareholders."""
    return _says(text, "rows", "other_owners")


def of_other_groups() -> frozenset[str]:
    """Stems of statement groups that are not part of the whole."""
    return _stems("rows", "groups")


def named_alike(name: str) -> tuple[str, ...]:
    """Synonyms of ``name`` in statements, without itself; empty if they have no name of their own for it."""
    asked = name_of(name)
    found = next((names for names in _data()["rows"]["names"] if any(name_of(other) == asked for other in names)), ())
    return tuple(other for other in found if name_of(other) != asked)


def plain_name(head: str, *, of_owners: bool = False) -> str:
    """Row name in a statement without a tail that leaves the amount unchanged: "Long-term debt, less current portion".
    ``of_owners``: also without the owners it is attributable to."""
    opens, words = ("owners", "of_owners") if of_owners else ("tails", "of_tails")
    parts = head.replace("(", " ( ").split()
    for place in range(1, len(parts)):
        first = tokens(parts[place])
        rest = [stem(word) for word in tokens(" ".join(parts[place + 1 :])) if word not in STOP_WORDS]
        if first and stem(first[0]) in _stems("rows", opens) and rest and set(rest) <= _stems("rows", words):
            return " ".join(parts[:place]).strip(" ,(") or head
    return head


def statements(document: Document) -> Iterator[Statement]:
    """Tables of ``document`` that are statements of the whole, in text order."""
    for place, element in enumerate(document.body):
        table = element.table
        if table is None or not table.row_spans:
            continue
        name = _name(document, element, table, place)
        if is_statement(name):
            dates = _dates(document, table)
            heads = " ".join(_words(document, cell.start, cell.end) for cell in table.cells if cell.header)
            years = YEAR.findall(" ".join((heads, *dates.values())))
            yield Statement(document.doc_id, element.start, element.end, name, max(map(int, years), default=0), dates)


def rows_of(document: Document, statement: Statement) -> Iterator[tuple[RowLabel, int, int]]:
    """Rows of ``statement`` with their names."""
    table = _table(document, statement)
    labelled = LabelledTable(document, table)
    for row, (start, end) in zip(table.row_numbers, table.row_spans):
        cell = next((cell for cell in table.cells if cell.row == row and not cell.header), None)
        if cell is not None:
            yield labelled.row_label(cell), start, end


def cover(document: Document) -> tuple[int, int]:
    """Span of the opening of ``document``, where it identifies itself."""
    first = [element for element in document.body if element.page == document.body[0].page]
    ends = [element.end for element in first if element.end - first[0].start <= _COVER_LENGTH]
    return (first[0].start, ends[-1] if ends else first[0].end) if first else (0, 0)


def coverage(document: Document, own: Sequence[Statement]) -> Coverage:
    """Reporting period of ``document``; ``own`` are its statements. A filing states it on its cover ("for the fiscal
    year ended …"), a release only in the columns of its statements."""
    opening = " ".join(document.text[e.start : e.end] for e in document.body if e.page <= _COVER and e.table is None)
    opening = " ".join(opening.split())
    quarter, yearly = _places(opening, "quarter"), _places(opening, "year")
    columns = [one for each in own if spans_time(each.name) for one in _columns(document, each)]
    parts = [column for column in columns if is_part(column)]
    # A release has no such phrase on its cover, and no annual column.
    says = _says(opening, "cover", "part") and not yearly
    part = says or bool(quarter) or (bool(parts) and len(parts) == len(columns) and not yearly)
    of_years = [period for column in columns if not is_part(column) and (period := period_of(column)) is not None]
    years = () if part else tuple(sorted({period[0] for period in of_years}, reverse=True))
    dated = [(period, column) for column in (parts if part else columns) if (period := period_of(column)) is not None]
    end, column = max(dated, default=((0, 0, 0), ""))
    for start, stop in quarter or (() if part else yearly):
        days = days_in(opening[start : stop + _AFTER])
        # A statement about another year's report is older than the statements.
        if days and days[0][0] >= end[0]:
            return Coverage(part, days[0], f"{opening[start:stop].lower()} {day_of(days[0])}", years)
    words = " ".join(column.split()) if part else f"year ended {day_of(end)}" if end[1] else str(end[0] or "")
    return Coverage(part, end, words, years)


def period_of(header: str) -> Period | None:
    """Last period named in a column header."""
    days = days_in(header)
    if days:
        return max(days)
    years = [int(year) for year in YEAR.findall(header)]
    return (max(years), 0, 0) if years else None


def _places(text: str, name: str) -> list[tuple[int, int]]:
    """Spans of a cover phrase in ``text``, which has single blanks."""
    low = text.lower().replace("-", " ")
    found = {
        at: at + len(phrase)
        for phrase in _data()["cover"][name]
        for at in range(len(low))
        if low.startswith(phrase, at)
    }
    return sorted(found.items())


def _table(document: Document, statement: Statement) -> Table:
    return next(one.table for one in document.body if one.start == statement.start and one.table is not None)


def _name(document: Document, element: Element, table: Table, place: int) -> str:
    """Name of the table at ``place`` in the body: its title, with headers over all columns or over the row names, and
    the headings right above it on its page; body text separates it from those, a unit does not."""
    above: list[str] = []
    for before in reversed(document.body[max(0, place - _ABOVE) : place]):
        words = _words(document, before.start, before.end)
        if before.page != element.page or not (before.kind == "heading" or _UNIT.fullmatch(words)):
            break
        item = words.split()[:2]  # "Item 8." of a form names everything after it
        if before.kind == "heading" and not (item[0].lower() == "item" and item[-1][:1].isdigit()):
            above.insert(0, words)
    over = [cell for cell in table.cells if cell.header and (cell.col == 0 or cell.col_span >= table.columns)]
    heads = [head for cell in over if is_statement(head := _words(document, cell.start, cell.end))]
    parts = [part for part in dict.fromkeys((*above, *heads, table.title)) if part]
    # A title often includes the heading above it.
    return " ".join(part for part in parts if not any(part != other and part in other for other in parts))


def _dates(document: Document, table: Table) -> dict[int, str]:
    """Period of each cell below the first row that names one over every column of figures, if the table's header names
    none."""
    if any(cell.header and period_of(document.text[cell.start : cell.end]) for cell in table.cells):
        return {}
    body = [cell for cell in table.cells if not cell.header and cell.col > 0]
    first = [cell for cell in body if cell.row == min(other.row for other in body)] if body else []
    over = {cell.col: document.text[cell.start : cell.end] for cell in first}
    if len(over) < table.columns - 1 or not all(map(period_of, over.values())):
        return {}
    return {cell.start: over[cell.col] for cell in body if cell not in first and cell.col in over}


def _columns(document: Document, statement: Statement) -> Iterator[str]:
    """Header of each column of figures that names a period, with the title if only that names the part."""
    table = _table(document, statement)
    body = min((cell.row for cell in table.cells if not cell.header), default=0)
    heads = [cell for cell in table.cells if cell.header and cell.row < body]
    over = [_over(document, heads, number) for number in range(1, table.columns)]
    titled = [
        column if is_part(column) or not is_part(statement.name) else f"{statement.name} {column}" for column in over
    ]
    yield from dict.fromkeys(column for column in titled if period_of(column) is not None or is_part(column))


def _over(document: Document, heads: Sequence[Cell], column: int) -> str:
    own = [cell for cell in heads if cell.col <= column < cell.col + cell.col_span]
    return " ".join(document.text[cell.start : cell.end] for cell in own)


def _words(document: Document, start: int, end: int) -> str:
    return " ".join(document.text[start:end].split())
