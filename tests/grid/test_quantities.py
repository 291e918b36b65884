"""Figures as numbers in the unit of their column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.grid.quantities import measured
from ragcore.grid.summary import shown


@pytest.mark.parametrize(
    ("figure", "scale", "asked", "number", "unit"),
    [
        ("$ 4,795,511", "(in thousands)", "USD million", 4795.511, "USD million"),
        ("$3.2 billion", "", "USD million", 3200.0, "USD million"),
        ("(61)", "(in millions of dollars)", "USD million", -61.0, "USD million"),
        ("€5 million", "", "USD million", 5e6, "€"),  # another currency
        ("9,300", "", "USD million", 9300.0, ""),  # its scale isn't told
        ("33 000", "", "kg", 33000.0, ""),
        ("120 135", "", "kg", None, ""),  # two columns
        ("13.5%", "", "%", 13.5, "%"),
        ("13.5", "(%)", "%", 13.5, "%"),
        ("13.5", "", "%", 13.5, ""),
        ("$500", "", "%", 500.0, "$"),
        ("$500", "", "months", 500.0, "$"),
        ("5,217", "(EUR million)", "USD million", 5217e6, "€"),
        ("520", "Net weight (g)", "kg", 0.52, "kg"),
        ("3", "Warranty (years)", "months", 36.0, "months"),
        ("1 year and 6 months", "", "months", 18.0, "months"),
        ("1 year and 6 months", "", "", None, ""),
        ("2 - 3 years", "", "years", None, ""),
        ("13.5%", "", "USD million", 13.5, "%"),
        ("2.5 mg", "", "µg", 2500.0, "µg"),
        ("sixty (60) days", "", "days", 60.0, "days"),
        ("3 weeks", "", "days", 21.0, "days"),
        ("24 months", "", "years", 2.0, "years"),
        ("2 months", "", "days", 2.0, "months"),  # not a fixed number of days
        ("thirty business days", "", "days", 30.0, "business days"),
        ("649", "", "employees", 649.0, "employees"),
        ("649 and 700", "", "employees", None, ""),
        ("none", "", "", None, ""),
    ],
)
def test_a_figure_is_converted_where_that_is_exact(
    figure: str, scale: str, asked: str, number: float | None, unit: str
) -> None:
    assert measured(figure, scale, asked) == (number, unit)


@given(st.integers(1, 10**9), st.sampled_from([("thousands", 1e3), ("millions", 1e6), ("billions", 1e9)]))
def test_scale_of_the_table_and_of_the_column_cancel(amount: int, scale: tuple[str, float]) -> None:
    name, factor = scale
    number, unit = measured(f"{amount:,}", f"(in {name})", f"USD {name.removesuffix('s')}")
    assert (number, unit) == (amount, f"USD {name.removesuffix('s')}")
    number, _ = measured(f"${amount:,}", f"(in {name})", "USD")
    assert number == pytest.approx(amount * factor)


@given(st.floats(-1e12, 1e12).map(lambda number: round(number, 4)))
def test_a_number_is_shown_so_that_it_is_read_again(number: float) -> None:
    assert float(shown(number).replace(",", "")) == pytest.approx(number, abs=1e-4)
