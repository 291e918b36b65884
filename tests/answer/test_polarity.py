from __future__ import annotations

import pytest

from ragcore.verify.polarity import polarity_conflicts


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The drug was not approved.", "The drug was approved."),
        ("The drug was approved.", "The drug was not approved."),
        ("Dividends were paid.", "No dividends were paid."),
        ("The investigator may supply the drug to others.", "The investigator may not supply the drug to others."),
        ("The sponsor is able to comply.", "The sponsor is unable to comply."),
        ("Margins rose.", "Gross margin fell."),
        ("Revenue increased while costs decreased.", "Revenue decreased while costs increased."),
    ],
)
def test_opposites_conflict(claim: str, evidence: str) -> None:
    (reason, *_) = polarity_conflicts(claim, evidence)
    assert reason.endswith(".")


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("It did not repurchase shares.", "No shares were repurchased."),
        ("The drug was approved.", "If approved, for 2 years; or, if not approved, until the study ends."),
        ("Revenue grew.", "The Company did not pay a dividend, and revenue grew."),
        ("Margins fell.", "Gross margin decreased 250 basis points due to higher costs."),
        ("Costs rose and margins fell.", "Higher costs led to a lower margin."),
        ("It is not unable to pay.", "It is able to pay."),
        ("The board met.", "The board met in May."),
    ],
)
def test_the_same_said_otherwise_does_not(claim: str, evidence: str) -> None:
    assert polarity_conflicts(claim, evidence) == []
