"""The period that a document reports on: a year or a part of one, and when that ended.

A filing says so on its cover ("for the fiscal year ended …", "quarterly period ended …"); a release, which does not,
in the columns of its statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragcore.offline.field_names import wish
from ragcore.offline.field_rows import Period, period_of
from ragcore.offline.periods import day_of, days_in, is_part, spans_time
from ragcore.report.template import Section
from ragcore.text.terms import Term
from ragcore.types import Document
from ragcore.types.document import Cell
from ragcore.types.report import Statement

_COVER = 2  # pages on which a document says what it is
_AFTER = 60  # characters in which the day follows
_QUARTER = re.compile(r"\bquarterly\s+period\s+ended\b", re.IGNORECASE)
_PART_OF_YEAR = re.compile(
    r"\bform\s+10-?\s?q\b|\bquarterly\s+report\b"
    r"|\b(?:half[\s-]year(?:ly)?|interim)\s+(?:financial\s+)?(?:report|results|statements?)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\bannual\s+report\b|\bform\s+10-?\s?k\b|\bfiscal\s+year\s+ended\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Coverage:
    """``part``: of a year; ``end`` is its last day, as far as it is known; ``words`` say it as the document does, ""
    where it does not. ``years`` are those that the columns of its statements are of, the latest first."""

    part: bool = False
    end: Period = (0, 0, 0)
    words: str = ""
    years: tuple[int, ...] = ()


NOT_KNOWN = Coverage()


def coverage(document: Document, statements: Sequence[Statement]) -> Coverage:
    """What ``document`` reports on; ``statements`` are its own."""
    opening = " ".join(document.text[e.start : e.end] for e in document.body if e.page <= _COVER and e.table is None)
    quarter = _QUARTER.search(opening)
    says = _PART_OF_YEAR.search(opening) is not None and _YEAR.search(opening) is None
    columns = [one for each in statements if spans_time(each.name) for one in _columns(document, each)]
    parts = [column for column in columns if is_part(column)]
    # A release says nothing of the kind on its cover, and has no column that is of a year.
    part = says or quarter is not None or (bool(parts) and len(parts) == len(columns) and not _YEAR.search(opening))
    of_years = [period for column in columns if not is_part(column) and (period := period_of(column)) is not None]
    years = () if part else tuple(sorted({period[0] for period in of_years}, reverse=True))
    dated = [(period, column) for column in (parts if part else columns) if (period := period_of(column)) is not None]
    end, column = max(dated, default=((0, 0, 0), ""))
    for said in (quarter,) if quarter is not None else () if part else _YEAR.finditer(opening):
        days = days_in(opening[said.start() : said.end() + _AFTER])
        # What is said of another year's report is older than the statements.
        if days and days[0][0] >= end[0]:
            return Coverage(part, days[0], f"{' '.join(said.group().lower().split())} {day_of(days[0])}", years)
    words = " ".join(column.split()) if part else f"year ended {day_of(end)}" if end[1] else str(end[0] or "")
    return Coverage(part, end, words, years)


def asks_of_a_year(section: Section, terms: Sequence[Term] = ()) -> bool:
    """Whether ``section`` asks for an amount of a year, or of its end."""
    asked = wish(section.heading, section.guidance, section.unit, terms)
    return section.kind == "value" and asked.sort == "amount" and asked.annual


def _columns(document: Document, statement: Statement) -> Iterator[str]:
    """What stands over each column of figures that names a period, with the title where only that says of what part."""
    table = next(one.table for one in document.body if one.start == statement.start and one.table is not None)
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
