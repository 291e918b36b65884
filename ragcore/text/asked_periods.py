"""Years, quarters and forms, in a question and in what a document is called.

A report covers more than the year it is named after: an annual report has the year before in its balance sheet and the
two before in its statement of income. So a document fits a question about a near year in part (`Asked.fit`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ragcore.text.words import MONTHS

# How well a document fits by its year minus the year asked about: comparative figures look back, and a fiscal year that
# ends in January is called after either year. Any other year: 0.
NEAR = {0: 1.0, 1: 0.6, 2: 0.3, -1: 0.3}
SPAN = 2  # years this near are one range, and a report of the last of them has them all
OTHER_QUARTER, OTHER_FORM = 0.6, 0.7  # factors
ANNUAL = 0.8  # factor of a document with no quarter for a question about one
UNDATED = 0.5  # fit of a document that does not say its year

_YEAR = r"(?:19[5-9]\d|20\d\d)"
_ALONE = re.compile(rf"(?<![\d$€£.,])({_YEAR})(?!\d|[.,]\d|\s*%)")
_FISCAL = re.compile(rf"(?<![A-Za-z])FY[\s'’-]*({_YEAR}|\d\d)(?!\d|[.,]\d|\s*%)", re.IGNORECASE)
_QUARTERS = (
    re.compile(rf"(?<![A-Za-z])Q([1-4])(?!\d[.,]\d)(?:['’-]?({_YEAR})|['’-](\d\d))?(?!\d)", re.IGNORECASE),
    re.compile(rf"(?<![A-Za-z0-9.,])([1-4])Q[\s'’-]?({_YEAR}|)(\d\d|)(?!\w)", re.IGNORECASE),
)
_QUARTER_WORDS = re.compile(r"\b(first|second|third|fourth)\s+(?:fiscal\s+)?quarter\b", re.IGNORECASE)
_FORM = re.compile(r"(?<![A-Za-z0-9])(10-?[KQ]|8-?K|20-?F|6-?K)(?![A-Za-z0-9])", re.IGNORECASE)
_QUARTER_END = re.compile(rf"\b({'|'.join(MONTHS)})\s+\d{{1,2}}\b")
_ORDINALS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class Period:
    """The years, quarters (1–4) and forms (``10K``, ``8K``) that a text names."""

    years: frozenset[int] = frozenset()
    quarters: frozenset[int] = frozenset()
    forms: frozenset[str] = frozenset()


def period_of(text: str) -> Period:
    """What ``text`` says: ``FY2018``, ``FY18``, ``fiscal year 2018``, ``2018``, ``Q2'2023``, ``2021Q1``, ``1Q21``,
    ``second quarter``, ``10-K``. A price or a percentage is no year. Underscores count as blanks."""
    text = text.replace("_", " ")
    years = {int(found) for found in _ALONE.findall(text)}
    years |= {_year(found) for found in _FISCAL.findall(text)}
    quarters = {_ORDINALS.index(found.lower()) + 1 for found in _QUARTER_WORDS.findall(text)}
    for pattern in _QUARTERS:
        for quarter, *digits in pattern.findall(text):
            quarters.add(int(quarter))
            years |= {_year(found) for found in digits if found}
    forms = {found.upper().replace("-", "") for found in _FORM.findall(text)}
    return Period(frozenset(years), frozenset(quarters), frozenset(forms))


@lru_cache(maxsize=50_000)
def period_of_title(text: str) -> Period:
    """As `period_of`; the date of a quarterly report (``Form 10-Q March 31, 2021``) gives its quarter too."""
    period = period_of(text)
    if "10Q" not in period.forms or period.quarters:
        return period
    ends = frozenset(MONTHS.index(found) // 3 + 1 for found in _QUARTER_END.findall(text))
    return Period(period.years, ends, period.forms)


def fit(asked: Period, document: Period) -> float:
    """How well ``document`` fits, 0–1; 1.0 where nothing is asked that it says otherwise."""
    share = 1.0
    if asked.years:
        if document.years:
            share = max(NEAR.get(year - last, 0.0) for year in document.years for last in _last_years(asked.years))
        else:
            share = UNDATED
    if asked.quarters and not asked.quarters & document.quarters:
        share *= OTHER_QUARTER if document.quarters else ANNUAL
    if asked.forms and document.forms and not asked.forms & document.forms:
        share *= OTHER_FORM
    return share


def said(period: Period) -> str:
    """The years, quarters and forms in words, e.g. ``2018, Q2``."""
    forms = (f"{form[:-1]}-{form[-1]}" for form in sorted(period.forms))
    return ", ".join([*map(str, sorted(period.years)), *(f"Q{quarter}" for quarter in sorted(period.quarters)), *forms])


def _last_years(years: frozenset[int]) -> list[int]:
    """The last year of each range."""
    return [year for year in years if not any(0 < other - year <= SPAN for other in years)]


def _year(digits: str) -> int:
    return int(digits) if len(digits) == 4 else 2000 + int(digits)
