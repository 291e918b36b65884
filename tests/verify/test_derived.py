"""A figure follows only from figures that belong together: of one kind, and cells of one row or column, neighbours in a
sentence, or figures that the claim itself has."""

from __future__ import annotations

import pytest

from tests.answer.pairs.material import Material
from tests.documents import Grid

TRIAL = Material(
    "held",
    "trial",
    "Orvex in advanced thymoma",
    (
        "After a median of 29 months (IQR 20–40), 35 patients had no progression and 33 were alive, with a 2-year"
        " overall survival of 46% (95% CI 39–53). Grade 3 toxicity was mostly of the blood: neutropenia in 46 (61%) of"
        " 75 patients, low platelets in 45 (60%), and anaemia in 26 (35%).",
        "Of those screened, 84 of 120 patients were enrolled at Dunmere. Rash occurred in 12 patients, nausea in 18 and"
        " fever in 30.",
        "Sales of Orvex were $48 million in 2023, compared with $40 million in 2022, and 15 pharmacies sold it.",
        Grid(
            "Patients by site",
            [
                ["", "Enrolled", "Screened", "Response"],
                ["Dunmere", "84", "120", "47 (56%)"],
                ["Tollan", "30", "64", "12 (40%)"],
                ["Ferris", "21", "50", "9 (43%)"],
            ],
        ),
    ),
    (),
)

FOLLOWS = [
    ("Of those screened", "At Dunmere, 70% of the patients screened were enrolled."),
    ("Sales of Orvex", "Sales of Orvex rose 20% in 2023."),
    ("Sales of Orvex", "Sales of Orvex rose by $8 million in 2023."),
    ("Dunmere · *", "Dunmere enrolled 70% of those screened."),
    ("Grade 3 toxicity", "Neutropenia was 26 percentage points more frequent than anaemia: 61% against 35%."),
]
BY_CHANCE = [
    ("After a median", "The 2-year overall survival was 64%."),  # 29 months, 45 patients
    ("After a median", "The 2-year overall survival was 62%."),  # 33 patients, an end of an interval
    ("After a median", "The 2-year overall survival was 57%."),  # an end of a range, 35 patients
    ("After a median", "The 2-year overall survival was 94%."),  # of no part and whole
    ("Grade 3 toxicity", "Anaemia was found in 26% of the patients."),  # 61% less 35%, and the count beside it
    ("Grade 3 toxicity", "Anaemia was found in 35 patients."),  # the share beside the count
    ("Of those screened", "Rash occurred in 67% of the patients."),  # 12 and 18 are no part and whole
    ("Of those screened", "Rash was more than twice as frequent as nausea at Dunmere, in 30% of them."),
    ("Sales of Orvex", "Sales of Orvex rose 37% in 2023."),  # 15 pharmacies, $40 million
    ("Dunmere · *", "Dunmere had a response of 70%."),  # it has 56%
    ("Dunmere · Enrolled, Ferris · Screened", "Of those screened at Dunmere, 60% were not enrolled."),
]


def status(at: str, claim: str) -> tuple[str, str]:
    found = TRIAL.judged(claim, *at.split(", "))
    return found.status, found.reason


@pytest.mark.parametrize(("at", "claim"), FOLLOWS)
def test_a_figure_follows_from_figures_that_belong_together(at: str, claim: str) -> None:
    found, reason = status(at, claim)
    assert found == "supported", reason


@pytest.mark.parametrize(("at", "claim"), BY_CHANCE)
def test_no_figure_follows_by_chance(at: str, claim: str) -> None:
    found, reason = status(at, claim)
    assert found == "unsupported", reason
