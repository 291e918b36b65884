"""Column selection by the question: by words, years, and the dates on which periods ended.

`ragcore.text.periods` parses them; this module separates fiscal from calendar years in one table's columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.text.periods import dates_in, month_name, periods, without_dates, years
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems, tokens, word_set

YEAR = re.compile(r"(?:19|20)\d\d")
_FISCAL = re.compile(r"\b(?:fiscal|financial\s+year|FY(?=[\s\d'’-]|$))", re.IGNORECASE)
_FISCAL_YEAR = re.compile(
    r"\b(?:(?:fiscal|financial)(?:\s+year)?\s+((?:19|20)\d\d)|FY[\s'’-]*((?:19|20)\d\d|\d\d))(?!\d)", re.IGNORECASE
)
PART_OF_YEAR = re.compile(
    r"\bquarter|\bhalf\b|\b(?:three|six|nine|[369])[\s-]months?\b|\b(?:13|26|39)[\s-]weeks?\b"
    r"|\b[1-4]?\d[\s-]weeks?\s+(?:ended|ending)\b",
    re.IGNORECASE,
)
QUARTER = re.compile(r"\b(?:(first|second|third|fourth)(?:\s+fiscal)?\s+quarter|Q([1-4])|([1-4])Q)", re.IGNORECASE)
_AT_A_DAY = word_set("balance position condition")


@dataclass(frozen=True, slots=True)
class Asked:
    """Column criteria of a question: its ``words`` (stems), ``days`` (year, month, day), other ``years``, whether those
    are ``fiscal``, and ``quarters``."""

    words: frozenset[str]
    days: frozenset[tuple[int, int, int]]
    years: frozenset[int]
    fiscal: bool
    quarters: frozenset[int]

    def may_end(self, year: int, month: int) -> bool:
        """Whether a requested period may have ended in this month.

        Fiscal year N ends from January N to May N + 1, its quarters up to nine months earlier. A year not marked as
        fiscal also matches the calendar year.
        """
        at = 12 * year + month - 1
        backs = [3 * (4 - quarter) for quarter in self.quarters] or [0]
        for asked in self.years:
            if not self.fiscal and year == asked:
                return True
            opens, closes = 12 * asked, 12 * asked + 16
            for back in backs:
                start = opens - back if self.fiscal else max(opens, 12 * asked)
                if start <= at <= closes - back:
                    return True
        return False


def asked_of(question: str, wanted: Wanted) -> Asked:
    """Column criteria of ``question``, whose words are ``wanted``."""
    rest = without_dates(question)
    found = periods(rest)
    quarters = found.quarters or (frozenset({1, 2, 3, 4}) if PART_OF_YEAR.search(rest) else frozenset())
    fiscal = _FISCAL.search(rest) is not None
    return Asked(wanted.everything, frozenset(days_in(question)), found.years, fiscal, quarters)


def _fiscal_years(text: str) -> set[int]:
    return {year for match in _FISCAL_YEAR.finditer(text) for year in years(match.group())}


def is_part(column: str) -> bool:
    """Whether a column header names a part of a year."""
    return PART_OF_YEAR.search(column) is not None or QUARTER.search(column) is not None


def spans_time(statement: str) -> bool:
    """Whether a statement with this name covers a period; a balance sheet is for a day."""
    return not _AT_A_DAY & set(tokens(statement))


def day_of(day: tuple[int, int, int]) -> str:
    """Date such as ``January 28, 2023``."""
    year, month, of_month = day
    return f"{month_name(month)} {of_month}, {year}"


def days_in(text: str) -> list[tuple[int, int, int]]:
    """Dates in ``text`` as (year, month, day)."""
    return [(year, month, day) for month, day, year in dates_in(text) if year]


def named_columns(columns: Sequence[str], asked: Asked) -> list[int]:
    """Columns that the question names, empty if none. For a column with an end date, the period must match; an equal
    year number is not enough."""
    by_words = [index for index, key in enumerate(_keys(columns)) if key and key <= asked.words]
    ends = {index: days[-1] for index, column in enumerate(columns) if (days := days_in(column))}
    if not ends or not (asked.years or asked.days):
        return by_words
    on_day = asked.days & set(ends.values())
    # A date that no column has may still lie in a column's year.
    others = replace(asked, years=asked.years | {year for year, _, _ in asked.days - on_day})
    kept = []
    for index, end in ends.items():
        called = _fiscal_years(without_dates(columns[index]))
        if end in on_day or called & others.years or (not (called and asked.fiscal) and others.may_end(*end[:2])):
            kept.append(index)
    told_apart = [
        index
        for index, key in zip(kept, _keys([columns[index] for index in kept]))
        if key and key <= asked.words and not any(YEAR.fullmatch(word) for word in key)
    ]
    return sorted({*(told_apart or kept), *(index for index in by_words if index not in ends)})


def _keys(columns: Sequence[str]) -> list[set[str]]:
    """Words by which a question would name each column: its years, or else its words shared by the fewest columns."""
    stems = [set(content_stems(column)) for column in columns]
    keys = []
    for own in stems:
        counts = {word: sum(word in other for other in stems) for word in own}
        fewest = min(counts.values(), default=0)
        rare = {word for word, count in counts.items() if count == fewest < max(2, len(columns))}
        keys.append({word for word in rare if YEAR.fullmatch(word)} or rare)
    return keys
