"""The highest and lowest of a table: the row is found by computing, in the column that is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.offline.question import read
from ragcore.text.numbers import amounts_in
from tests.documents import Grid
from tests.offline.test_offline import quotes
from tests.offline.test_offline_shown import rows

PORTS = Grid(
    "Landings by port (tonnes)",
    [
        ["Port", "Oysters 2022", "Oysters 2023", "Crabs 2023"],
        ["Hollin Bay", "5,210", "4,020", "75"],
        ["Marrow Head", "940", "4,980", "310"],
        ["Skerry", "3,300", "1,015", "9"],
        ["Other ports", "9,000", "8,000", "1"],
        ["Total", "18,450", "18,015", "395"],
    ],
)


@pytest.mark.parametrize(
    ("question", "row", "value"),
    [
        ("Which port landed the most oysters in 2022?", "Hollin Bay", "5,210"),
        ("Which port landed the most oysters in 2023?", "Marrow Head", "4,980"),
        ("Where were the fewest oysters landed in 2023?", "Skerry", "1,015"),
        ("Which port had the lowest landings of crabs?", "Skerry", "9"),
        ("Which port had the highest landings of crabs?", "Marrow Head", "310"),
    ],
)
def test_the_row_is_the_extreme_of_the_column_asked_for(question: str, row: str, value: str) -> None:
    text = quotes(question, PORTS)
    first = rows(text)[0]
    assert (first[0], first[-1]) == (row, value), text
    assert "of the 3 values that were found" in text


def test_numbers_of_a_form_are_not_compared() -> None:
    folio = ("Invoice number: 1000110140", "Room number: 459", "Guest number: 1076955", "Page number: 1")
    assert "values that were found" not in quotes("What is the highest room number?", *folio)
    charges = ("Room charge: $265.00", "Parking charge: $31.00", "Service charge: $12.50")
    assert "Highest of the 3 values" in quotes("What is the highest charge?", *charges)


YEARS = Grid(
    "Results of the fleet",
    [
        ["In thousands", "2021", "2022", "2023", "% Change"],
        ["Fuel costs", "77", "103", "91", "-12%"],
        ["Revenue", "", "", "", ""],
        ["Oysters", "310", "470", "455", "-3%"],
        ["Crabs", "95", "80", "88", "10%"],
        ["Mussels", "120", "118", "140", "19%"],
        ["Profit", "", "", "", ""],
        ["Oysters", "31", "22", "48", "118%"],
        ["Crabs", "45", "19", "50", "163%"],
        ["Mussels", "12", "11", "40", "264%"],
    ],
)
PARTS = Grid(
    "Sales by region",
    [
        ["2023", "North", "South", "Isles", "Total"],
        ["Sales", "40", "75", "12", "127"],
        ["Costs", "30", "20", "52", "102"],
    ],
)
QUARTERS = Grid(
    "Boats of the fleet",
    [
        ["2023", "Boats at the beginning of the quarter", "Boats sold during the quarter"],
        ["First quarter", "40", "2"],
        ["Second quarter", "38", "5"],
        ["Third quarter", "33", "1"],
    ],
)


@pytest.mark.parametrize(
    ("question", "grid", "place", "value"),
    [
        ("In which year were fuel costs highest?", YEARS, "2022", "103"),
        ("When were fuel costs lowest?", YEARS, "2021", "77"),
        ("What had the highest profit in 2023?", YEARS, "Crabs", "50"),
        ("Which region had the highest sales?", PARTS, "South", "75"),
        ("Which region had the highest costs?", PARTS, "Isles", "52"),
        ("In which quarter were the most boats sold?", QUARTERS, "Second quarter", "5"),
    ],
)
def test_a_row_has_an_extreme_too_and_a_group_its_own(question: str, grid: Grid, place: str, value: str) -> None:
    text = quotes(question, grid)
    first = rows(text)[0]
    assert value in first, text
    assert place in " ".join(first), text


def test_at_least_and_both_ends_ask_for_no_extreme() -> None:
    asked = [
        read(text).extreme
        for text in (
            "Which port landed the most crabs?",
            "Where is the yield lowest?",
            "Which ports landed at least 100 tonnes?",
            "What were the highest and lowest landings?",
            "What was landed in Skerry?",
        )
    ]
    assert asked == [1, -1, 0, 0, 0]


def test_a_sentence_that_says_which_is_better_than_a_table_of_something_else() -> None:
    text = quotes("Which quay is the longest?", "Skerry has the longest quay of the coast.", PORTS)
    assert text.startswith("“Skerry has the longest quay of the coast.”")


@given(st.lists(st.integers(1, 99_999), min_size=3, max_size=9, unique=True), st.booleans())
def test_it_is_the_highest_whatever_the_figures(amounts: list[int], most: bool) -> None:
    if len(amounts) > 3 and max(amounts) * 1.01 > sum(amounts) - max(amounts) > max(amounts) * 0.99:
        return  # a row that is the sum of the others is their total
    grid = Grid(
        "Landings by port", [["Port", "Crabs"], *([f"Port {'ABCDEFGHI'[n]}", f"{a:,}"] for n, a in enumerate(amounts))]
    )
    text = quotes(f"Which port had the {'highest' if most else 'lowest'} landings of crabs?", grid)
    wanted = max(amounts) if most else min(amounts)
    assert rows(text)[0][-1] == f"{wanted:,}", text


@pytest.mark.parametrize(
    ("column", "amounts"),
    [
        (["5,210", "940", "—", "(75)"], [5210, 940, None, -75]),
        (["1 649 692", "298 839", "2 961"], [1649692, 298839, 2961]),
        (["3.597", "1.178", "363"], [3597, 1178, 363]),
        (["3.597", "1.17", "363"], [3.597, 1.17, 363]),
        (["3.597", "1.178"], [3.597, 1.178]),
        (["n.a.", "about 5"], [None, None]),
    ],
)
def test_the_column_tells_its_separators(column: list[str], amounts: list[float | None]) -> None:
    assert amounts_in(column) == amounts
