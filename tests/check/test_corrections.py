"""Corrections: what stands in the place of a wrong figure."""

from __future__ import annotations

import pytest

from ragcore.check.corrections import in_cell
from ragcore.types.check import Correction


@pytest.mark.parametrize(
    ("cell", "given", "after"),
    [
        ("28.9", Correction(0, 12, "28.9 million", "$28.1 million", "28.1 million"), "28.1"),
        ("$1,234 (unaudited)", Correction(0, 6, "$1,234", "$1,334", "$1,334"), "$1,334 (unaudited)"),
        ("12 (3%)", Correction(4, 6, "3%", "4%", "4%"), "12 (4%)"),
    ],
)
def test_only_the_wrong_figure_of_a_cell_is_replaced(cell: str, given: Correction, after: str) -> None:
    [one] = in_cell(cell, [given])
    assert cell[one.start : one.end] == one.said
    assert cell[: one.start] + one.write + cell[one.end :] == after


def test_a_cell_without_a_figure_has_no_correction() -> None:
    assert in_cell("none", [Correction(0, 9, "4 million", "5 million", "5 million")]) == ()
