"""Dates as texts name them: days, months of a year, years."""

from __future__ import annotations

import pytest

from ragcore.text.periods import moments_in, month_spans


@pytest.mark.parametrize(
    ("text", "spans", "moments"),
    [
        ("DECEMBER 2017", ["DECEMBER 2017"], [(2017, 12, 0)]),
        ("Form 1571 (3/2023)", ["3/2023"], [(2023, 3, 0)]),
        ("from May 2014 to June of 2015", ["May 2014", "June of 2015"], [(2014, 5, 0), (2015, 6, 0)]),
        ("3 December 2017", [], [(2017, 12, 3)]),
        ("the 3rd of December 2017", [], [(2017, 12, 3)]),
        ("this 12 th day of February, 2021", [], [(2021, 2, 12)]),
        ("the twelfth day of February, 2021", [], [(2021, 0, 0)]),
        ("12/31/2017", [], [(2017, 12, 31)]),
        ("in May, and again in 2019", [], [(2019, 0, 0)]),
        ("May 27", [], []),
    ],
)
def test_a_month_of_a_year_is_a_date_where_no_day_is_named(
    text: str, spans: list[str], moments: list[tuple[int, int, int]]
) -> None:
    assert [text[start:end] for start, end in month_spans(text)] == spans
    assert moments_in(text) == moments
