"""Values that are called nearly as what is asked for: net income of the shareholders only, a cell of a table over
several things."""

from __future__ import annotations

import pytest

from ragcore.answer.sources import build_sources
from ragcore.offline.fields import wish
from ragcore.offline.question import requirement
from ragcore.offline.quotes import quotables
from ragcore.offline.values import field_values
from ragcore.text.terms import Wanted
from ragcore.types import Retrieval, Segment
from ragcore.types.report import NOTHING_STATED
from tests.answer.samples import SETTINGS
from tests.documents import Grid, Heading, Item, make_document

STATEMENT = "Consolidated Statements of Operations (In millions)"
OWNERS = "Net income attributable to common shareholders"
ASKED = "Net income of the latest fiscal year."


def value(title: str, *rows: list[str]) -> list[str]:
    return given(Grid(title, [["", "2021", "2020"], *rows]))


def given(*parts: Grid | str | Item, heading: str = "Net income", asked: str = ASKED, unit: str = "") -> list[str]:
    made = make_document(Heading("Results"), *parts, title="Annual report 2021")
    whole = Segment(made.doc_id, 0, made.body_end, 0, 0, 1.0, "rse")
    sources = build_sources(Retrieval(asked, "hybrid", (), (whole,), {}), lambda _: made, SETTINGS.answer)
    quotes = list(quotables(requirement(asked), Wanted(asked, ()), sources))
    return [one.text for one in field_values(wish(heading, asked, unit, ()), quotes, [], NOTHING_STATED, None)]


SALES = ["Net sales", "3,930", "3,777"]


@pytest.mark.parametrize(
    "rows",
    [
        [["Net income attributable to noncontrolling interests", "70", "60"], [OWNERS, "1,263", "709"]],
        [["Preferred stock dividends", "(98)", "(98)"], [OWNERS, "1,263", "709"]],
        [
            ["Basic earnings per share:", "", ""],
            ["Net income per share attributable to common shareholders", "6.9", "3.9"],
        ],
    ],
)
def test_what_is_the_shareholders_or_per_share_is_none(rows: list[list[str]]) -> None:
    assert value(STATEMENT, SALES, *rows) == []


def test_a_row_that_is_called_so_comes_first() -> None:
    (text,) = value(STATEMENT, SALES, ["Net income", "1,333", "780"], [OWNERS, "1,263", "709"])
    assert text.startswith("**1,333** — ")


def test_an_item_of_a_list_does_not_say_of_whom_it_is() -> None:
    led_in = "The business that we contributed to the joint venture had"
    assert given(led_in, Item("sales of $400 million in 2021;"), Item("a net income of $89 million in 2021; and")) == []
    (text,) = given("The net income was $89 million in 2021.")
    assert text.startswith("**$89 million** — ")
    assert given("Net income would be $89 million in 2021.") == []


IMPORTED = ["Country", "Cases", "Imported cases"]
FINLAND = ["Finland", "4,050", "3,121"]


@pytest.mark.parametrize(
    ("heading", "asked", "title", "head", "row", "figure"),
    [
        ("Imported cases", "Imported cases of mumps in Finland", "Mumps in humans", IMPORTED, FINLAND, "3,121"),
        ("Imported cases", "Imported cases of mumps in Finland", "Mumps and measles", IMPORTED, FINLAND, ""),
        ("Imported cases", "Imported cases of mumps in Finland", "Measles in humans", IMPORTED, FINLAND, ""),
        (
            "Temporary staff",
            "Temporary staff in Norway",
            "Staff at the year’s end, of which temporary",
            ["Country", "Staff", "Share"],
            ["Norway", "2,800", "14%"],
            "",
        ),
        (
            "Methane",
            "Threshold for releases of methane to water",
            "Threshold for releases to air and to water",
            ["Pollutant", "Threshold to air", "Note"],
            ["Methane", "100", "a"],
            "",
        ),
        (
            "Operating income",
            "Operating income of the Field Sensors segment",
            "Revenue and operating income by segment",
            ["Segment", "Revenue", "Operating income"],
            ["Field Sensors", "405", "30"],
            "30",
        ),
    ],
)
def test_a_cell_is_of_what_its_title_names_where_that_is_one_thing(
    heading: str, asked: str, title: str, head: list[str], row: list[str], figure: str
) -> None:
    values = given(Grid(title, [head, row]), heading=heading, asked=asked, unit="cases")
    assert [value.split("**")[1] for value in values] == ([figure] if figure else [])
