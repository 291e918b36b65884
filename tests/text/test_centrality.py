"""Centrality of a document's tables: what others repeat is central, years and short numbers join nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.text.centrality import LEAST, centrality

STATEMENT = ["Total revenues", "$ 51,217", "46,710", "Net income", "5,070", "2023", "2022"]
SEGMENTS = ["Footwear", "33,135", "Apparel", "13,843", "Total", "51,217"]
TAXES = ["Income before taxes", "6,201", "Net income", "5,070"]
LEASES = ["Due in 2024", "481", "Due in 2025", "400", "2023", "2022"]


def test_the_table_whose_figures_others_repeat_is_central() -> None:
    central = centrality({"statement": STATEMENT, "segments": SEGMENTS, "taxes": TAXES, "leases": LEASES})
    assert central == {"statement": 2 / LEAST, "segments": 1 / LEAST, "taxes": 1 / LEAST, "leases": 0.0}


def test_the_form_of_a_figure_does_not_matter() -> None:
    assert centrality({1: ["$ (1,204)"], 2: ["1204"]}) == {1: 1 / LEAST, 2: 1 / LEAST}


@pytest.mark.parametrize("cell", ["2023", "12", "", "none", "100 %", "Balance at December 31, 2022"])
def test_what_is_alike_by_chance_joins_no_tables(cell: str) -> None:
    assert centrality({1: [cell], 2: [cell]}) == {1: 0.0, 2: 0.0}


@given(st.dictionaries(st.integers(), st.lists(st.integers(100, 140).map(str))))
def test_it_is_a_share_of_the_most_central(tables: dict[int, list[str]]) -> None:
    central = centrality(tables)
    assert central.keys() == tables.keys()
    assert all(0.0 <= share <= 1.0 for share in central.values())
    for table, cells in tables.items():
        others = {cell for other, own in tables.items() if other != table for cell in own}
        assert (central[table] > 0.0) == (not others.isdisjoint(cells))
