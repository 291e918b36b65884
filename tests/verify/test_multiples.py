"""A comparison by a factor ("more than twice the year before") holds if the cited words say it or their figures give
it."""

from __future__ import annotations

import pytest

from tests.answer.pairs.material import Material
from tests.documents import Grid

MILLS = Material(
    "held",
    "multiples",
    "Tern Mills annual report 2023",
    (
        Grid(
            "Balance sheet (In millions)",
            [["", "2023", "2022"], ["Cash", "738", "432"], ["Inventories", "905", "410"], ["Loans", "120", "361"]],
        ),
        "Orders for looms tripled in 2023, when the plant at Dray opened.",
        "Exports came to 61 million in 2023, after 20 million in 2022.",
        "The dye is given twice daily to the double-blind panel.",
    ),
    (),
)

RIGHT = [
    ("Cash · *", "Cash was $738 million in 2023, over 1.7 times the $432 million of 2022."),
    ("Inventories · *", "Inventories of $905 million in 2023 were more than twice those of 2022."),
    ("Inventories · *", "Inventories more than doubled to $905 million in 2023."),
    ("Loans · *", "Loans fell to $120 million in 2023, from three times as much in 2022."),
    ("Orders for looms", "Orders for looms grew threefold in 2023."),
    ("Exports came to", "Exports of 61 million in 2023 were about three times the 20 million of 2022."),
    ("The dye is given", "The dye is given to the double-blind panel twice daily."),
]
WRONG = [
    ("Cash · *", "Cash was $738 million in 2023, more than twice the amount of 2022."),
    ("Cash · *", "Cash doubled to $738 million in 2023."),
    ("Cash · 2023", "Cash of $738 million in 2023 was double that of the year before."),
    ("Inventories · *", "Inventories nearly tripled to $905 million in 2023."),
    ("Orders for looms", "Orders for looms doubled in 2023."),
    ("Exports came to", "Exports of 61 million in 2023 were more than four times the 20 million of 2022."),
]


def status(at: str, claim: str) -> tuple[str, str]:
    found = MILLS.judged(claim, at)
    return found.status, found.reason


@pytest.mark.parametrize(("at", "claim"), RIGHT)
def test_a_factor_that_is_said_or_follows_is_supported(at: str, claim: str) -> None:
    found, reason = status(at, claim)
    assert found == "supported", reason


@pytest.mark.parametrize(("at", "claim"), WRONG)
def test_any_other_factor_is_not(at: str, claim: str) -> None:
    found, reason = status(at, claim)
    assert found != "supported"
    assert reason
