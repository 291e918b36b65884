"""The years, quarters, months and days of a claim held against those of what it cites.

The cited words come first, then the headers of the cited cells, then title, section and table; a period that stands
only near by is accepted where the cited words have none of their kind.
"""

from __future__ import annotations

from collections.abc import Iterable

from ragcore.text.numbers import agree, numbers
from ragcore.text.periods import Periods, month_name, periods, years
from ragcore.text.units import frequencies
from ragcore.verify.claims import Statement
from ragcore.verify.evidence import Evidence, Finding

_QUARTERS = {1: "the first quarter", 2: "the second quarter", 3: "the third quarter", 4: "the fourth quarter"}
_HALVES = {1: "the first half", 2: "the second half"}


def check_periods(statement: Statement, evidence: Evidence) -> list[Finding]:
    """What is to be said of the periods of ``statement``."""
    said = periods(f"{statement.text} {statement.context}")
    given, around, near = periods(evidence.words), periods(evidence.around), periods(evidence.near)
    out = _check_years(said, given, around, near, evidence)
    if not out and len(said.years) == 1 and evidence.cells:
        out.extend(_check_columns(statement, evidence, next(iter(said.years))))
    out.extend(_missing(said.quarters, given.quarters, around.quarters, near.quarters, _QUARTERS))
    out.extend(_missing(said.halves, given.halves, around.halves, near.halves, _HALVES))
    dates = _check_dates(said, given)
    out.extend(dates)
    if not dates:
        months = {number: month_name(number) for number in range(1, 13)}
        out.extend(_missing(said.months, given.months, around.months, near.months, months))
    out.extend(_check_frequency(statement, evidence))
    return out


def _check_years(said: Periods, given: Periods, around: Periods, near: Periods, evidence: Evidence) -> list[Finding]:
    out = []
    for year in sorted(said.years - given.years):
        if year in around.years and not given.years:
            continue
        if given.years:
            listed = ", ".join(str(other) for other in sorted(given.years))
            out.append(Finding("unsupported", f"It says {year}; the cited words say {listed}.", (str(year),)))
        elif year not in near.years or around.years:
            out.append(Finding("weak", f"The year {year} is not in the cited words.", (str(year),)))
    return out


def _check_columns(statement: Statement, evidence: Evidence, year: int) -> list[Finding]:
    """The one figure of a claim must stand in the column of the year that it names."""
    figures = [n for n in numbers(statement.text) if not (n.unit and n.unit.measures == "time")]
    if len(figures) != 1:
        return []
    labels = [
        label
        for text, label in evidence.cells
        if any(agree(figures[0], given, evidence.scale) for given in numbers(text)) and years(label)
    ]
    if labels and not any(year in years(label) for label in labels):
        wrong = ", ".join(str(other) for other in sorted(years(labels[0])))
        reason = f"{figures[0].raw} is the figure of {wrong}, not of {year}."
        return [Finding("unsupported", reason, (figures[0].raw,))]
    return []


def _missing(
    said: Iterable[int], given: frozenset[int], around: frozenset[int], near: frozenset[int], names: dict[int, str]
) -> list[Finding]:
    out = []
    for one in sorted(set(said) - given):
        if given:
            listed = ", ".join(names[other] for other in sorted(given))
            out.append(Finding("unsupported", f"It says {names[one]}; the cited words say {listed}."))
        elif one not in around and one not in near:
            out.append(Finding("weak", f"{names[one].capitalize()} is not in the cited words."))
    return out


def _check_dates(said: Periods, given: Periods) -> list[Finding]:
    out = []
    for month, day, year in sorted(said.dates):
        same = [y for m, d, y in given.dates if (m, d) == (month, day)]
        if not given.dates or any(not year or other in (0, year) for other in same):
            continue
        listed = ", ".join(_date(*other) for other in sorted(given.dates))
        out.append(Finding("unsupported", f"It says {_date(month, day, year)}; the cited words say {listed}."))
    return out


def _date(month: int, day: int, year: int) -> str:
    return f"{month_name(month)} {day}, {year}" if year else f"{month_name(month)} {day}"


def _check_frequency(statement: Statement, evidence: Evidence) -> list[Finding]:
    """Per month is not per year."""
    said, given = frequencies(statement.text), frequencies(evidence.words)
    if not said or said & given:
        return []
    given = given or frequencies(evidence.around)
    if said & given or not given:
        return []
    return [Finding("unsupported", f"It says per {min(said)}; the cited words say per {min(given)}.")]
