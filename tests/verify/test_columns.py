"""A figure is of its column: of two that only a preposition tells apart, and of the span of time that is named."""

from __future__ import annotations

import pytest

from tests.answer.pairs.material import Material
from tests.documents import Grid

REPORT = Material(
    "held",
    "columns",
    "Tern Mills 2023",
    (
        Grid(
            "Election of directors",
            [["", "Votes For", "Votes Against"], ["Alan Feld", "54,760", "5,184"], ["Dona Young", "53,876", "6,074"]],
        ),
        Grid(
            "Share of sales",
            [
                ["", "13 Weeks Ended January 28, 2023", "52 Weeks Ended January 28, 2023"],
                ["Fragrance", "18%", "14%"],
                ["Services", "3%", "4%"],
            ],
        ),
    ),
    (),
)


@pytest.mark.parametrize(
    ("at", "claim", "status"),
    [
        ("Alan Feld · *", "Alan Feld received 54,760 votes for his election.", "supported"),
        ("Alan Feld · *", "Alan Feld received 5,184 votes for his election.", "unsupported"),
        ("Alan Feld · *", "Of the votes, 5,184 were cast against Alan Feld.", "supported"),
        ("Fragrance · *", "Fragrance made up 14% of sales for the full year.", "supported"),
        ("Fragrance · *", "Fragrance made up 18% of sales for the full year.", "unsupported"),
        ("Fragrance · *", "Fragrance made up 18% of sales in the 13 weeks ended January 28, 2023.", "supported"),
    ],
)
def test_a_figure_is_of_its_column(at: str, claim: str, status: str) -> None:
    found = REPORT.judged(claim, at)
    assert found.status == status, found.reason
