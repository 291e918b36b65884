"""Periods: years, quarters, months and days in questions, claims, tables and titles.

``Q2``, ``2Q23`` and ``second quarter`` are one quarter; ``May 31, 2023`` and ``31 May 2023`` are one day. A report
covers more than the year in its name, so a document partly fits a question about a near year (`period_fit`).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ragcore.text import words
from ragcore.types import Document, FiscalYear

MONTHS = tuple(month.lower() for month in words.MONTHS)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "last": 4}
_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}
_MONTH = words.MONTH
_AND = frozenset({"and", "or"})

_YEAR = re.compile(
    r"(?:(?<![\w.,$€£-])|(?<=\b[Mm]id-))(?:(?:FY|fy|[1-4]Q|Q[1-4]|H[12])[\s-]?['’]?)?((?:19|20)\d{2})(?:(?![\w%]|[.,]\d)|(?=\s?Q[1-4]\b|[a-h]\b))"
)
_SHORT_YEAR = re.compile(r"(?<!\w)(?:(?:FY|fy)[\s-]?['’]?|[1-4]Q|Q[1-4]\s?['’]|['’])(\d{2})(?!\w)")
_YEAR_SPAN = re.compile(r"(?<![\w.,$€£-])((?:19|20)\d{2})\s?[-–/]\s?(\d{2}|(?:19|20)\d{2})(?![\w%/-]|[.,]\d)")
YEAR_PATTERNS = (_YEAR_SPAN, _YEAR, _SHORT_YEAR)

_QUARTER = re.compile(r"(?<!\w)(?:(?:(?:19|20)\d\d\s?)?Q([1-4])|([1-4])Q)(?=['’\s\d\W]|$)", re.IGNORECASE)
_QUARTER_WORDS = re.compile(
    r"\b(first|second|third|fourth|1st|2nd|3rd|4th)\s+(?:fiscal\s+|calendar\s+)?quarter\b", re.I
)
_HALF = re.compile(
    r"(?<!\w)(?:H([12])(?!\w)|([12])H(?=['’\s\d]|$))|\b(first|second)[\s-]+half\b|\b(first)\s+six\s+months\b", re.I
)
_PART_OF_YEAR = re.compile(
    r"\bquarter|\bhalf\b|\b(?:three|six|nine|[369])[\s-]months?\b|\b(?:13|26|39)[\s-]weeks?\b"
    r"|\b[1-4]?\d[\s-]weeks?\s+(?:ended|ending)\b|\b(?:Q[1-4]|[1-4]Q)|\byear[\s-]to[\s-]date\b",
    re.IGNORECASE,
)
# In column headers the year may be on a line of its own: "MAY 31, · 2023". Of days in figures only those that can be
# read in one way: "28.05.2020", "5/28/2020", but not "05/10/2015".
_DATE = re.compile(
    rf"\b(?P<month>{_MONTH}|{_MONTH.upper()})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)"
    r"(?:,?[\s·]+(?P<year>(?:19|20)\d{2}))?"
    rf"|\b(?P<day2>\d{{1,2}})(?:\s?(?:st|nd|rd|th))?\s+(?:day\s+)?(?:of\s+)?(?P<month2>{_MONTH}|{_MONTH.upper()})\b\.?"
    r"(?:,?\s+(?P<year2>(?:19|20)\d{2}))?"
    r"|\b(?P<year3>(?:19|20)\d{2})-(?P<month3>\d{2})-(?P<day3>\d{2})\b"
    r"|(?<![\w./-])(?:(?P<day4>1[3-9]|2\d|3[01])(?P<sign>[./])(?P<month4>0?[1-9]|1[0-2])(?P=sign)(?P<year4>(?:19|20)\d{2})"
    r"|(?P<month5>0?[1-9]|1[0-2])/(?P<day5>1[3-9]|2\d|3[01])/(?P<year5>(?:19|20)\d{2}))(?![\w/-]|\.\d)"
)
_IN_YEAR = re.compile(r"(?:\b(?i:in|since|from|until|during|by)\s+|\()((?:19|20)\d{2})(?![\w/–-]|[.,]\d|\s+[A-Z])")
_MONTH_OF_YEAR = re.compile(
    rf"(?<![\w./-])(?<!day\sof\s)(?:(?P<month>{_MONTH}|{_MONTH.upper()})\.?,?\s+(?:of\s+)?"
    r"|(?P<number>0?[1-9]|1[0-2])/)(?P<year>(?:19|20)\d{2})(?![\w/-]|[.,]\d)"
)
_EARLY = 5  # a fiscal year that ends in this month, May, or before may be named after the year before
_WEEK = 7
_CLEAR = 1.3  # three years named as often as they end fit 1.5 times as well as shifted by one
_LEAP = 2000  # a year in which each month is as long as it can be
_FISCAL = re.compile(r"\b(?:fiscal(?:[\s-]+years?)?[\s-]+20|FY[\s-]?['’]?(?:20)?)(\d\d)\b", re.IGNORECASE)
_YEAR_ENDED = re.compile(
    r"\b(?:years?|5[23]\s+weeks|fifty-(?:two|three)\s+weeks)\W{1,3}end(?:ed|ing|s)\W{1,3}(?:on\s+)?", re.IGNORECASE
)
_MONTH_ALONE = re.compile(
    rf"(?<![\w’'])(?!May\b|Mar\b|Jan\b|Dec\b)({_MONTH})\b"
    r"|\b(May|Mar|Jan|Dec)\b(?=\.?\s+\d|\s*$|\s*[,;:|]|\s+(?:and|or|to|through|than)\b)"
    r"|(?<=\b[Ii]n\s)(May)\b|(?<=\b[Oo]f\s)(May)\b|(?<=\b[Bb]y\s)(May)\b|(?<=since\s)(May)\b|(?<=until\s)(May)\b"
)


@dataclass(frozen=True)
class Periods:
    """Periods named in a text. ``quarters`` are 1–4, ``halves`` 1–2, ``months`` 1–12; ``dates`` are (month, day, year
    or 0)."""

    years: frozenset[int]
    quarters: frozenset[int]
    halves: frozenset[int]
    months: frozenset[int]
    dates: frozenset[tuple[int, int, int]]


def years(text: str) -> set[int]:
    """Calendar and fiscal years named in ``text``: 2023, FY2023, FY23, '23, and both ends of 2022-23."""
    found = {int(match.group(1)) for match in _YEAR.finditer(text)}
    found |= {2000 + int(match.group(1)) for match in _SHORT_YEAR.finditer(text)}
    for match in _YEAR_SPAN.finditer(text):
        first, second = match.groups()
        found |= {int(first), int(second) if len(second) == 4 else int(first[:2] + second)}
    found |= {int(_part(match, "year")) for match in _DATE.finditer(text) if _in_figures(match)}
    return found


def column_years(column: str, fiscal: FiscalYear | None = None) -> set[int]:
    """Years that a table's column may be called by: where it ends by May, that of its ``fiscal`` year, or, if it is not
    known, this and the year before."""
    named, ends = years(without_dates(column)), days_in(column)
    if named or not ends:
        return named
    year, month, _ = ends[-1]
    if month > _EARLY:
        return {year}
    return {fiscal.name(ends[-1])} if fiscal else {year, year - 1}


def called_year(end: tuple[int, int, int], fiscal: FiscalYear | None) -> int:
    """Year that a period with this ``end`` (year, month, day) is called by, given its document's `fiscal_year`."""
    return fiscal.name(end) if fiscal else end[0]


def fiscal_of(document: Document, columns: Iterable[str]) -> FiscalYear | None:
    """`fiscal_year` of a document by its printed words if one of its ``columns`` ends by May, else None."""
    early = any(day[1] <= _EARLY for one in columns for day in days_in(one))
    return fiscal_year(document.printed) if early else None


@lru_cache(maxsize=16)
def fiscal_year(text: str) -> FiscalYear | None:
    """Fiscal year of a document, which ends in the month in which most years of its ``text`` do, else in January or
    February. One that ends by May is named after this year or the one before: whichever fits the fiscal years that it
    names and the days of that month clearly better; in January or February, else the one from the fiscal year that it
    names first to the most frequent of these days. None if that is open."""
    dates = (_DATE.match(text, match.end()) for match in _YEAR_ENDED.finditer(text))
    ends = [day for date in dates if date for day in days_in(date.group())]
    # A year of 52 or 53 weeks may end in the first days of the next month.
    months = Counter(month if day > _WEEK else (month - 2) % 12 + 1 for _, month, day in ends)
    month = max(2, months.most_common(1)[0][0]) if months else 2
    if month > _EARLY:
        in_january = month == 12 and any(ended == 1 for _, ended, _ in ends)
        return FiscalYear(1, 1) if in_january else FiscalYear(month, 0)
    named = Counter(2000 + int(year) for year in _FISCAL.findall(text))
    days = Counter(year for year, ended, _ in days_in(text) if ended == month or ended < month == 2)
    same, later = (sum(count * days[year + lag] for year, count in named.items()) for lag in (0, 1))
    if not (same or later):
        return None
    if max(same, later) >= _CLEAR * min(same, later):
        return FiscalYear(month, int(later > same))
    lag = max(days, key=lambda year: (days[year], year)) - next(iter(named))
    return FiscalYear(month, lag) if month == 2 and lag in (0, 1) else None


def column_quarter(column: str) -> int:
    """Calendar quarter that a table's column is of ("Three months ended June 30"), 1–4; 0 if of none."""
    months = [month for month, _, _ in dates_in(column)]
    return months[-1] // 3 if months and months_of_part(column) == {3} and months[-1] % 3 == 0 else 0


def date_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the days named in ``text``."""
    return [match.span() for match in _DATE.finditer(text) if 1 <= _day(match) <= 31]


def month_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the months with their year that ``text`` names without a day: "December 2017", "3/2023"."""
    days = date_spans(text)
    found = (match.span() for match in _MONTH_OF_YEAR.finditer(text))
    return [(start, end) for start, end in found if not any(a < end and start < b for a, b in days)]


def names_date(text: str) -> bool:
    """Whether ``text`` names a day, or a month, of a known year."""
    return bool(days_in(text) or month_spans(text))


def moments_in(text: str) -> list[tuple[int, int, int]]:
    """Days named in ``text`` as (year, month, day), in order; without one the months, with day 0, else the last year,
    with month 0."""
    if days := days_in(text):
        return days
    found = [(int(one["year"]), int(one["number"] or _month(one["month"])), 0) for one in _MONTH_OF_YEAR.finditer(text)]
    return found or [(year, 0, 0) for year in sorted(years(text))[-1:]]


def year_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the years in ``text`` in which something is said to be: "since 1983", "(1964)"."""
    return [match.span(1) for match in _IN_YEAR.finditer(text)]


def period_spans(text: str) -> list[tuple[str, int, int]]:
    """Spans of years, parts of a year (quarter, half, month) and days in ``text``, in order, each with its kind
    (``year``, ``part``, ``day``). The year of a day is a span of its own, so that either can be replaced."""
    found: list[tuple[str, int, int]] = []
    for match in _DATE.finditer(text):
        if _in_figures(match):
            found.append(("day", *match.span()))
        elif match.group("month"):
            found.append(("day", match.start("month"), match.end("day")))
        else:
            found.append(("day", match.start("day2"), match.end("month2")))
    found += [("year", *match.span()) for pattern in (_YEAR_SPAN, _SHORT_YEAR) for match in pattern.finditer(text)]
    found += [("year", match.start(1), match.end()) for match in _YEAR.finditer(text)]
    for pattern in (_QUARTER, _QUARTER_WORDS, _HALF, _MONTH_ALONE):
        found += [("part", *match.span()) for match in pattern.finditer(text)]
    found.sort(key=lambda span: (span[1], -span[2]))
    return [one for n, one in enumerate(found) if not any(one[1] < end for _, _, end in found[:n])]


def years_in_order(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Years of the figures at ``spans``, in their order, if both stand in a row and are as many: "in 2022 and 2021 were
    $5 and $4"; else none."""
    named = [(start, end) for kind, start, end in period_spans(text) if kind == "year"]
    apart = any(
        "(" in (between := text[end:start]) or not allowed.issuperset(words.tokens(between))
        for row, allowed in ((spans, _AND), (named, _AND | {"fiscal"}))
        for (_, end), (start, _) in pairwise(row)
    )
    if len(spans) < 2 or len(named) != len(spans) or apart:
        return []
    found = [years(text[start:end]) for start, end in named]
    return [year for (year,) in found] if all(len(one) == 1 for one in found) else []


def dates_in(text: str) -> list[tuple[int, int, int]]:
    """Days named in ``text`` as (month, day, year or 0), in order."""
    found = []
    for match in _DATE.finditer(text):
        month, year, day = _part(match, "month"), _part(match, "year"), _day(match)
        number = int(month) if month.isdigit() else _month(month)
        if 1 <= number <= 12 and 1 <= day <= monthrange(_LEAP, number)[1]:
            found.append((number, day, int(year) if year else 0))
    return found


def is_part(text: str) -> bool:
    """Whether ``text`` names a part of a year."""
    return _PART_OF_YEAR.search(text) is not None


def months_of_part(text: str) -> set[int]:
    """Lengths in months of the parts of a year that ``text`` names: 3 for a quarter, "three months" and "13 weeks"; 12
    for "52 weeks"."""
    found = {(_IN_MONTHS | _IN_WEEKS)[next(filter(None, one)).lower()] for one in _SEVERAL_MONTHS.findall(text)}
    return found | ({3} if _QUARTERLY.search(text) else set()) | ({6} if _HALF.search(text) else set())


@lru_cache(maxsize=4096)
def spans_of_time(text: str) -> frozenset[int]:
    """Lengths in months of what ``text`` covers, by its `months_of_part`, else 12 for "full year" and "year ended"."""
    return frozenset(months_of_part(text) or ({12} if _WHOLE_YEAR.search(text) else ()))


def columns_of_span(columns: Sequence[str], kept: list[int], spans: Set[int], quarters: Set[int]) -> list[int]:
    """Indexes ``kept`` of a table's columns without those of other ``spans`` of time or ``quarters``, or without spans
    those shorter than another; all if none would be left. A plain year is as long as one. Four days without a year, a
    quarter apart ("December 31", "September 30", …), are the quarters of one in that order."""
    if not spans:
        length = [max(spans_of_time(one), default=12 if years(one) and not is_part(one) else 0) for one in columns]
        return [n for n in kept if length[n] in (0, max(length[other] for other in kept))]
    months = [month for column in columns for month, _, year in dates_in(column)[:1] if not year]
    steps = {(after - month) % 12 for month, after in pairwise(months)}
    own = [periods(column).quarters for column in columns]
    if len(months) == len(columns) == 4 and (steps <= {2, 3, 4} or steps <= {8, 9, 10}):
        own = [frozenset({n}) for n in ((1, 2, 3, 4) if min(steps) < 8 else (4, 3, 2, 1))]
    kept = [n for n in kept if spans & spans_of_time(columns[n])] or kept
    return [n for n in kept if quarters & own[n]] or kept


def without_parts(text: str) -> str:
    """``text`` without the parts of a year that are told by their length: "three months ended"."""
    return _SEVERAL_MONTHS.sub(" ", text)


def days_in(text: str) -> list[tuple[int, int, int]]:
    """Days of a known year in ``text`` as (year, month, day), in order."""
    return [(year, month, day) for month, day, year in dates_in(text) if year]


def blanked(text: str, spans: Iterable[tuple[int, int]], sign: str = " ") -> str:
    """``text`` with blanks, or another ``sign``, in the places of ``spans``."""
    for start, end in spans:
        text = f"{text[:start]}{sign * (end - start)}{text[end:]}"
    return text


def in_form_of(form: str, date: str) -> str:
    """``date`` written as ``form``, another day, is: with its order, its short or capital month, and a year if it has
    one."""
    match, [(month, day, year)] = _DATE.search(form), dates_in(date)
    assert match is not None  # it is a day
    out = form
    for group in sorted(filter(match.group, match.groupdict().keys() - {"sign"}), key=match.start, reverse=True):
        own, (start, end) = match.group(group), match.span(group)
        if group.startswith("day"):
            padded = "0" in (own[0], _part(match, "month")[0]) or group == "day3"
            new = f"{day:0{2 if padded else 1}}"
            if out[end : end + 2].isalpha():
                new, end = f"{day}{'th' if 10 < day < 20 else _SUFFIXES.get(day % 10, 'th')}", end + 2
        elif group.startswith("year"):
            new = str(year or own)
        elif own.isdigit():
            new = f"{month:0{1 if own[0] != '0' and group != 'month3' else 2}}"
        else:
            new = month_name(month)[: None if len(own) == len(month_name(_month(own))) else 3]
            new = new.upper() if own.isupper() else new
        out = f"{out[:start]}{new}{out[end:]}"
    return out if [(own, of) for own, of, _ in dates_in(out)] == [(month, day)] else date  # else it has two readings


def without_dates(text: str) -> str:
    return _DATE.sub(" ", text)


@lru_cache(maxsize=4096)
def periods(text: str) -> Periods:
    """All periods named in ``text``."""
    dates = dates_in(text)
    months = {_month(next(filter(None, match.groups()))) for match in _MONTH_ALONE.finditer(text)}
    quarters = {int(match.group(1) or match.group(2)) for match in _QUARTER.finditer(text)}
    quarters |= {_ORDINALS[match.group(1).lower()] for match in _QUARTER_WORDS.finditer(text)}
    return Periods(
        years=frozenset(years(text)),
        quarters=frozenset(quarters),
        halves=frozenset(_half(match) for match in _HALF.finditer(text)),
        months=frozenset(months | {month for month, _, _ in dates}),
        dates=frozenset(dates),
    )


def canonical(text: str) -> str:
    """``text`` with quarters and halves as ``q2`` and ``h1``, and fiscal years as plain years, for comparison by
    words."""
    text = _QUARTER_WORDS.sub(lambda match: f"q{_ORDINALS[match.group(1).lower()]}", text)
    text = _HALF.sub(lambda match: f" h{_half(match)} ", text)
    text = re.sub(r"(?<!\w)([1-4])Q(?=['’\s\d]|$)", r"q\1 ", text)
    return re.sub(r"(?<!\w)(Q[1-4])['’]?(?=\d)", r"\1 ", text)


_LAST_CENTURY = 70  # years from there on, in two digits, are of the last one
_NOTED = re.compile(
    r"(?<!\w)(?:(?P<part>(?:Q[1-4]|H[12])(?=\s?(?:FY|['’]|20\d\d))|(?:[1-4]Q|[12]H)(?=\d\d|\s?(?:FY|['’]|20\d\d)))[\s-]?"
    r"|(?=FY|fy))(?:(?:FY|fy)[\s-]?)?['’]?(?P<year>(?:19|20)\d\d|\d\d)(?![\w-])"
)


def written_out(text: str) -> str:
    """``text`` with short notations of periods as models know them: ``FY13`` as ``fiscal 2013``, ``2Q23`` as
    ``Q2 2023``."""

    def period(match: re.Match[str]) -> str:
        part, year = match.group("part"), match.group("year")
        century = "" if len(year) == 4 else "20" if int(year) < _LAST_CENTURY else "19"
        return f"{''.join(sorted(part, reverse=True)) if part else 'fiscal'} {century}{year}"

    return _NOTED.sub(period, text)


def _day(match: re.Match[str]) -> int:
    return int(_part(match, "day"))


def _part(match: re.Match[str], name: str) -> str:
    """Day, month or year of a day, in whichever form it is written; "" for no year."""
    return next(filter(None, (match.group(f"{name}{form}") for form in ("", 2, 3, 4, 5))), "")


def _in_figures(match: re.Match[str]) -> bool:
    return _part(match, "month").isdigit()


def _half(match: re.Match[str]) -> int:
    digit = match.group(1) or match.group(2)
    return int(digit) if digit else 1 if (match.group(3) or match.group(4)).lower() == "first" else 2


def _month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, start=1) if month.startswith(name.lower()[:3]))


def month_name(number: int) -> str:
    return words.MONTHS[number - 1]


# Fit by document year minus requested year: comparative figures look back, and a fiscal year that ends in January is
# named after either year. Any other year: 0.
_NEAR = {0: 1.0, 1: 0.6, 2: 0.3, -1: 0.3}
_SPAN = 2  # years this close form a range, covered by a report of the last one
_OTHER_QUARTER, _OTHER_FORM = 0.6, 0.7  # factors
_ANNUAL = 0.8  # factor of a document with no quarter for a question about one
_UNDATED = 0.5  # fit of a document without a year
_FORM = re.compile(r"(?<![A-Za-z0-9])(10-?[KQ]|8-?K|20-?F|6-?K)(?![A-Za-z0-9])", re.IGNORECASE)
FILED_FORM = re.compile(r"\bform\s+((?:10-?[KQ]|8-?K|20-?F|6-?K)(?:/A)?|S-1|DEF 14A)\b", re.IGNORECASE)
_IN_MONTHS = {"three": 3, "3": 3, "six": 6, "6": 6, "nine": 9, "9": 9, "twelve": 12, "12": 12}
_IN_WEEKS = {"thirteen": 3, "13": 3, "14": 3, "26": 6, "27": 6, "39": 9, "40": 9, "fifty-two": 12, "52": 12, "53": 12}
_SEVERAL_MONTHS = re.compile(
    rf"\b(?:({'|'.join(_IN_MONTHS)})[- ]months?|({'|'.join(_IN_WEEKS)})[- ]weeks?)\b", re.IGNORECASE
)
_WHOLE_YEAR = re.compile(r"\b(?:full|fiscal|whole|entire)[\s-]year\b|\byears?\s+end(?:ed|ing)\b|^\W*year\W*$", re.I)
_QUARTERLY = re.compile(r"\bquarter(?:ly)?\b|\bQ[1-4]\b|\b[1-4]Q(?:\d\d)?\b", re.IGNORECASE)
_HYPHEN = re.compile(r"_|(?<=[A-Za-z])-(?=\d)")


@dataclass(frozen=True, slots=True)
class Period:
    """Years, quarters (1–4) and forms (``10K``, ``8K``) named by a question or a title."""

    years: frozenset[int] = frozenset()
    quarters: frozenset[int] = frozenset()
    forms: frozenset[str] = frozenset()


def period_of(text: str) -> Period:
    """Period of a question or a title; underscores count as blanks."""
    forms = {found.upper().replace("-", "") for found in _FORM.findall(text.replace("_", " "))}
    found = periods(_HYPHEN.sub(" ", text))
    return Period(found.years, found.quarters, frozenset(forms))


@lru_cache(maxsize=50_000)
def period_of_title(text: str) -> Period:
    """Period of a title as by `period_of`; the date of a quarterly report (``Form 10-Q March 31, 2021``) also gives its
    quarter."""
    period = period_of(text)
    if "10Q" not in period.forms or period.quarters:
        return period
    ends = frozenset((month - 1) // 3 + 1 for month, _, _ in dates_in(text.replace("_", " ")))
    return Period(period.years, ends, period.forms)


def period_fit(asked: Period, document: Period) -> float:
    """Fit of ``document`` to ``asked``, 0–1; 1.0 unless it contradicts the request."""
    share = 1.0
    if asked.years:
        last = [year for year in asked.years if not any(0 < other - year <= _SPAN for other in asked.years)]
        differences = (year - other for year in document.years for other in last)
        share = max((_NEAR.get(one, 0.0) for one in differences), default=_UNDATED)
    if asked.quarters and not asked.quarters & document.quarters:
        share *= _OTHER_QUARTER if document.quarters else _ANNUAL
    if asked.forms and document.forms and not asked.forms & document.forms:
        share *= _OTHER_FORM
    return share


def period_name(period: Period) -> str:
    """Years, quarters and forms in words, e.g. ``2018, Q2``."""
    forms = (f"{form[:-1]}-{form[-1]}" for form in sorted(period.forms))
    return ", ".join([*map(str, sorted(period.years)), *(f"Q{quarter}" for quarter in sorted(period.quarters)), *forms])
