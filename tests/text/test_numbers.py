"""Numbers, units and periods as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.text.numbers import agree, codes, numbers, plural, same_figure, scale_note
from ragcore.text.periods import periods, years


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("$62.4 billion, up 10%", [62.4e9, 10.0]),
        ("(3,067) and $ (1.5)", [-3067.0, -1.5]),
        ("-5.3% or −2", [-5.3, -2.0]),
        ("the 10-K of KLM-204817 and COVID-19", []),
        ("in FY2022, 2023 and 2021–22", []),
        ("5-10 people", [5.0, 10.0]),
        ("a 10-year note of $5.1bn at 3.5x", [10.0, 5.1e9, 3.5]),
        ("three segments", [3.0]),
        ("US$ 5 million", [5e6]),
        ("P < 0·05 at 63·4 years, 2023 · 2022", [0.05, 63.4]),
        ("between October 1, 2012, 30 September 2017 and 2019-06-01", []),
        ("the 5 cases of May 31", [5.0]),
        ("one of the firms, and only one", []),
        ("thirty-one or sixty two firms", [31.0, 62.0]),
        ("two hundred and five of nineteen hundred boxes", [205.0, 1900.0]),
        ("one million people, two thousand a day", [1e6, 2e3]),
        ("1,21,04,38,380 shares, 3,02,16,492.50 paid", [1210438380.0, 30216492.5]),
        ("₹ 2.5 crore, or 250 lakhs", [2.5e7, 2.5e7]),
        ("457.30ppm after 24h, 3.7 times as much", [457.3, 24.0, 3.7]),
        ("Sales fell for two quarters, and once a quarter the board met.", [2.0]),
        ("in three quarters of 2024 and in the first three quarters of the year", [3.0, 3.0]),
        ("opened a third, smaller plant, two in one year", [2.0]),
        ("31,5±0.50 of 3,25 %, 1,234 and 1,2,3", [31.5, 0.5, 3.25, 1234.0]),
        ("EUR 1 107 million, on average EUR 8 467 in 2004", [1.107e9, 8467.0]),
        ("€ 12 345 678,50 and EUR 1 107 200.5 for 2 100 mg tablets", [12345678.5, 1107200.5, 2.0, 100.0]),
        # Columns of a statement, or of a cell.
        ("Net income $ 148 131 120", [148.0, 131.0, 120.0]),
        ("120 135", [120.0, 135.0]),
        ("€ 12 345\t678, EUR 12 345 6789", [12.0, 345.0, 678.0, 12.0, 345.0, 6789.0]),
        ("$ 5 2021 and $5 100-mg doses", [5.0, 5.0]),
        ("8.90 μg.mL-1, 5 mg kg−1 day−1 and 2 g·L⁻¹", [8.9, 5.0, 2.0]),
    ],
)
def test_numbers_are_read(text: str, values: list[float]) -> None:
    assert [n.amount for n in numbers(text)] == pytest.approx(values)


def test_years_and_codes_are_read() -> None:
    assert years("FY2022, '23, fiscal 2021 and 2019-20; $2,018 and 2015%") == {2022, 2023, 2021, 2019, 2020}
    assert codes("Form 10-K, KLM-204817, 10-year, 25bps, FY2022, 3rd") == ["10-K", "KLM-204817"]


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("(In millions, except per share data)", 1e6),
        ("(Dollars in thousands)", 1e3),
        ("(U.S. dollars in billions)", 1e9),
        ("(millions)", 1e6),
        ("(000s)", 1e3),
        ("£m", 1e6),
        ("(m) any other fee", None),
        ("Millions of people", None),
        ("Revenues", None),
    ],
)
def test_a_tables_scale_is_read(text: str, scale: float | None) -> None:
    assert scale_note(text) == scale


@given(st.floats(0.01, 1e9), st.integers(0, 3))
def test_rounding_agrees_and_a_changed_leading_digit_does_not(value: float, decimals: int) -> None:
    (exact,) = numbers(f"{value:,.3f}")
    (rounded,) = numbers(f"{value:,.{decimals}f}")
    assert agree(rounded, exact, None)
    (changed,) = numbers(f"{value * 2 + 1:,.{decimals}f}")
    assert not agree(changed, exact, None)


@pytest.mark.parametrize(
    ("text", "amounts", "percent", "currency"),
    [
        ("$22 to 25 billion", [22e9, 25e9], False, "$"),
        ("between 2 and $3 million", [2e6, 3e6], False, "$"),
        ("€3–4 million", [3e6, 4e6], False, "€"),
        ("2 to 3 percent", [2.0, 3.0], True, ""),
    ],
)
def test_both_ends_of_a_range_have_its_scale(text: str, amounts: list[float], percent: bool, currency: str) -> None:
    found = numbers(f"It may take {text} more.")
    assert [one.amount for one in found] == amounts
    assert {(one.percent, one.currency) for one in found} == {(percent, currency)}


@pytest.mark.parametrize("text", ["$500 to $1 million", "2 of 3 percent", "12 and 15 million", "5 mg to 3 million"])
def test_two_figures_that_are_no_range_keep_their_own_scale(text: str) -> None:
    first, _ = numbers(text)
    assert (first.scale, first.percent) == (1.0, False)


@pytest.mark.parametrize("text", ["thirty-one per cent", "thirty one percent", "31 per cent", "31%"])
def test_a_share_in_words_is_a_share(text: str) -> None:
    (number,) = numbers(f"only {text} of the market")
    assert (number.amount, number.percent, number.raw) == (31.0, True, text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("12 months", "1 year", True),
        ("0.5 g", "500 mg", True),
        ("5 mg", "5 g", False),
        ("120 basis points", "1.2%", True),
        ("$5", "€5", False),
        ("USD 5", "$5", True),
        ("about 10 days", "10.4 hours", False),
        ("8.90 μg.mL-1", "8.9 µg/mL", True),
        ("5 mg kg−1 day−1", "5 mg/kg/day", True),
        ("5 mg mL⁻¹", "5 mg", False),
    ],
)
def test_units_and_currencies_are_compared(one: str, other: str, same: bool) -> None:
    (a,), (b,) = numbers(one), numbers(other)
    assert agree(a, b, None, hedged=one.startswith("about")) is same


@pytest.mark.parametrize(
    ("text", "dates", "quarters"),
    [
        ("May 31, 2023", {(5, 31, 2023)}, set()),
        ("31 May 2023 and 2023-06-01", {(5, 31, 2023), (6, 1, 2023)}, set()),
        ("due 05/28/2020, 28/5/2020 or 28.05.2020.", {(5, 28, 2020)}, set()),
        ("05/10/2015, version 28.05.2020.1, 13/05-2020", set(), set()),
        ("Q2 2023, 3Q22 and the first quarter", set(), {1, 2, 3}),
        ("It may rise by 5 in the second half", set(), set()),
    ],
)
def test_dates_and_quarters_are_read(text: str, dates: set[tuple[int, int, int]], quarters: set[int]) -> None:
    assert (periods(text).dates, periods(text).quarters) == (dates, quarters)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("two thirds of all revenue", 200 / 3),
        ("about two in five people", 40.0),
        ("nine out of every ten", 90.0),
        ("three quarters of which came from rates", 75.0),
        ("a third more than before", 100 / 3),
    ],
)
def test_a_fraction_in_words_is_a_share(text: str, share: float) -> None:
    [found] = numbers(text)
    assert (found.percent, found.value) == (True, pytest.approx(share))


@pytest.mark.parametrize(
    ("form", "amount", "text"),
    [
        ("$142.6 million", 148.61e6, "$148.6 million"),
        ("1,204", 98765.0, "98,765"),
        ("(3.1)", -2.74, "(2.7)"),
        ("12.4%", 9.0, "9.0%"),
    ],
)
def test_an_amount_is_written_in_the_form_of_another(form: str, amount: float, text: str) -> None:
    [number] = numbers(form)
    assert number.written(amount) == text


def test_a_half_of_a_year_is_no_share() -> None:
    assert [number.value for number in numbers("Half of the plants closed in the second half of 2022.")] == [50.0]


def test_a_letter_after_the_year_of_a_reference_is_no_scale() -> None:
    assert numbers("as others found (Okafor et al., 2023b)") == []
    assert years("as others found (Okafor et al., 2023b)") == {2023}


def test_one_is_singular() -> None:
    assert [plural(n, "page") for n in (0, 1, 2, 1200)] == ["0 pages", "1 page", "2 pages", "1,200 pages"]


def test_a_raised_point_stays_as_it_is_written() -> None:
    [age] = numbers("a mean age of 63·4 years")
    assert (age.raw, age.decimals) == ("63·4", 1)
    assert age.written(64.26) == "64·3"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("$4.1 billion", "4,125", True),  # in a table in millions
        ("4,125", "4,125,300", True),  # in tables in millions and in thousands
        ("(1,577)", "$1,577 million", True),
        ("1.2", "12", False),
        ("10 employees", "100 employees", False),
        ("$3", "$30 million", False),
        ("12%", "1.2%", False),
        ("$3 million", "$3 billion", False),
    ],
)
def test_one_figure_is_told_in_two_ways(one: str, other: str, same: bool) -> None:
    assert same_figure(one, other) == same_figure(other, one) == same


@pytest.mark.parametrize("text", ["49.8 ± 0.4 mg/mL", "of (200 µL)", "a = 5 mg", "is − 12.5 %", "cost $ (3) million"])
def test_a_number_stands_where_its_words_do(text: str) -> None:
    assert [text[one.start :][: len(one.raw)] for one in numbers(text)] == [one.raw for one in numbers(text)]
