"""The most and the least of a column, held against an independent maximum."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragcore.offline.question import read
from ragcore.offline.quotable import quotables
from ragcore.offline.values import amounts_of, extremes
from ragcore.text.terms import Wanted
from tests.documents import Grid, make_document
from tests.offline.test_offline import whole

CITIES = ("Turku", "Bergen", "Aarhus", "Gdynia", "Ghent", "Cork", "Porto")


def cells(question: str, *grids: Grid) -> list[str]:
    wanted = Wanted(question)
    found = list(quotables(read(question), wanted, (whole(make_document(*grids)),)))
    return [quote.text for quote in extremes(read(question), wanted, found)]


amounts = st.lists(st.integers(0, 99_999), min_size=3, max_size=7)


@given(amounts, st.booleans(), st.data())
def test_the_row_of_the_most_or_the_least(sales: list[int], most: bool, data: st.DataObject) -> None:
    staff = data.draw(st.lists(st.integers(1, 500), min_size=len(sales), max_size=len(sales)))
    rows = [[city, f"{sale:,}", str(count)] for city, sale, count in zip(CITIES, sales, staff)]
    grid = Grid("Shops", [["City", "Sales", "Staff"], *rows, ["Total", f"{sum(sales):,}", str(sum(staff))]])
    best = max(sales) if most else min(sales)
    expected = [f"{city}, Sales: {sale:,}" for city, sale in zip(CITIES, sales) if sale == best]
    asked = f"Which city had the {'highest' if most else 'lowest'} sales?"
    assert cells(asked, grid) == (expected if len(expected) < len(sales) else [])


def test_what_is_not_certain_is_not_answered() -> None:
    rows = [["Turku", "5", "9"], ["Bergen", "7", "3"], ["Aarhus", "6", "4"]]
    either = Grid("Shops", [["City", "Net sales", "Gross sales"], *rows])
    assert cells("Which city had the highest sales?", either) == []
    assert cells("Which city had the highest gross sales?", either) == ["Turku, Gross sales: 9"]
    twice = [Grid(title, [["City", "Sales"], *(row[:2] for row in rows)]) for title in ("North", "South")]
    assert cells("Which city had the highest sales?", *twice) == []
    assert cells("What were the sales of Bergen?", either) == []


def test_figures_that_cannot_be_compared() -> None:
    assert amounts_of(["1.726", "268", "43.5"]) is None
    assert amounts_of(["$5", "7%", "9"]) is None
    assert amounts_of(["5 to 7", "8", "9"]) is None
    assert amounts_of(["5%", "–", "7%"]) == {0: 5.0, 2: 7.0}
    dates = amounts_of(["May 3, 2022", "May 1, 2022", "June 2, 2021"])
    assert dates is not None
    assert max(dates, key=dates.__getitem__) == 0
