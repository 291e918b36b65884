"""Financial statements in a document: their tables, and the document's reporting period.

A search ranks passages, and an income statement is one table among hundreds about net income. Titles identify the
statements of the whole company, so they are scanned directly instead of searched for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ragcore.offline.lists import data
from ragcore.text import lexicon as lex
from ragcore.text.periods import called_year, days_in, fiscal_of, is_part, month_name, years
from ragcore.text.words import stem, tokens
from ragcore.types import Document, Element, Table
from ragcore.types.report import Coverage, Period, Statement
from ragcore.types.table_labels import LabelledTable, RowLabel

_UNIT = re.compile(r"\(.{1,100}\)")
_ABOVE = 4  # headings above a table that may be its title
_COVER_LENGTH = 4000  # characters
_COVER = 2  # pages on which a document identifies itself
_AT_A_DAY = frozenset({"balance", "position", "condition"})  # words of a statement for a day, not a period
_AFTER = 60  # characters within which the date follows


def is_statement(where: str) -> bool:
    """Whether ``where``, a table's title with the heading above it, names a statement of the whole."""
    return bool(_places(where, "titles", "statements")) and not _places(where, "titles", "never")


def statements(document: Document) -> Iterator[Statement]:
    """Tables of ``document`` that are statements of the whole, in text order."""
    for place, element in enumerate(document.body):
        table = element.table
        if table is not None and table.row_spans and is_statement(name := _name(document, element, table, place)):
            heads = " ".join(_words(document, cell.start, cell.end) for cell in table.cells if cell.header)
            yield Statement(document.doc_id, element.start, element.end, name, max(years(heads), default=0))


def rows_of(document: Document, statement: Statement) -> Iterator[tuple[RowLabel, int, int]]:
    """Rows of ``statement`` with their names."""
    table = _table(document, statement)
    labelled = LabelledTable(document, table)
    for row, (start, end) in zip(table.row_numbers, table.row_spans):
        cell = next((cell for cell in table.cells if cell.row == row and not cell.header), None)
        if cell is not None:
            yield labelled.row_label(cell), start, end


def opening(document: Document) -> tuple[int, int]:
    """Span of the opening of ``document``, where it identifies itself."""
    first = [element for element in document.body if element.page == document.body[0].page]
    ends = [element.end for element in first if element.end - first[0].start <= _COVER_LENGTH]
    return (first[0].start, ends[-1] if ends else first[0].end) if first else (0, 0)


def coverage(document: Document, own: Sequence[Statement]) -> Coverage:
    """Reporting period of ``document``; ``own`` are its statements. A filing states it on its cover ("for the fiscal
    year ended …"), a release only in the columns of its statements."""
    pages = (element for element in document.body if element.page <= _COVER and element.table is None)
    opening = " ".join(" ".join(document.text[element.start : element.end] for element in pages).split())
    quarter, yearly = _places(opening, "cover", "quarter"), _places(opening, "cover", "year")
    columns = [one for each in own if _AT_A_DAY.isdisjoint(tokens(each.name)) for one in _columns(document, each)]
    # A release has no such phrase on its cover, and no annual column.
    says_part = bool(_places(opening, "cover", "part")) and not yearly
    part = bool(quarter) or says_part or (bool(columns) and not yearly and all(map(is_part, columns)))
    dated = [(period, one) for one in columns if is_part(one) == part and (period := period_of(one)) is not None]
    fiscal = fiscal_of(document, columns)
    covered = () if part else tuple(sorted({called_year(period, fiscal) for period, _ in dated}, reverse=True))
    end, column = max(dated, default=((0, 0, 0), ""))
    for start, stop in quarter or (() if part else yearly):
        days = days_in(opening[start : stop + _AFTER])
        # A statement about another year's report is older than the statements.
        if days and days[0][0] >= end[0]:
            said = [*_WORD.findall(opening[start:stop].lower()), _day(days[0])]  # no quotes of a defined term
            return Coverage(part, days[0], " ".join(said), covered)
    words = " ".join(column.split()) if part else f"year ended {_day(end)}" if end[1] else str(end[0] or "")
    return Coverage(part, end, words, covered)


def period_of(header: str) -> Period | None:
    """Last period named in a column header."""
    days = days_in(header)
    named = years(header)
    return max(days) if days else (max(named), 0, 0) if named else None


def _day(day: Period) -> str:
    year, month, of_month = day
    return f"{month_name(month)} {of_month}, {year}"


def _places(text: str, section: str, name: str) -> list[tuple[int, int]]:
    """Spans of phrases of ``statements.toml`` in ``text``, as whole words by their stems."""
    words = list(_WORD.finditer(text))
    stems = [_stem(word.group()) for word in words]
    phrases = _phrases(section, name)
    return sorted(
        (words[at].start(), words[at + len(phrase) - 1].end()) for phrase in phrases for at in lex.places(phrase, stems)
    )


_WORD = re.compile(r"[^\W_]+|%")


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    return "percent" if word == "%" else stem(word.lower())


@lru_cache(maxsize=8)
def _phrases(section: str, name: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_stem(word) for word in tokens(phrase)) for phrase in data()[section][name])


def _table(document: Document, statement: Statement) -> Table:
    return next(one.table for one in document.body if one.start == statement.start and one.table is not None)


def _name(document: Document, element: Element, table: Table, place: int) -> str:
    """Name of the table at ``place`` in the body: its title, with headers over the row names, and the headings right
    above it on its page; body text separates it from those, a unit does not."""
    above: list[str] = []
    for before in reversed(document.body[max(0, place - _ABOVE) : place]):
        words = _words(document, before.start, before.end)
        if before.page != element.page or not (before.kind == "heading" or _UNIT.fullmatch(words)):
            break
        item = words.split()[:2]  # "Item 8." of a form names everything after it
        if before.kind == "heading" and not (item[0].lower() == "item" and item[-1][:1].isdigit()):
            above.insert(0, words)
    over = [cell for cell in table.cells if cell.header and cell.col == 0]
    heads = [head for cell in over if is_statement(head := _words(document, cell.start, cell.end))]
    parts = [part for part in dict.fromkeys((*above, *heads, table.title)) if part]
    # A title often includes the heading above it.
    return " ".join(part for part in parts if not any(part != other and part in other for other in parts))


def _columns(document: Document, statement: Statement) -> Iterator[str]:
    """Header of each column of figures that names a period."""
    labels = LabelledTable(document, _table(document, statement)).column_labels()[1:]
    return (label for label in labels if period_of(label) is not None)


def _words(document: Document, start: int, end: int) -> str:
    return " ".join(document.text[start:end].split())
