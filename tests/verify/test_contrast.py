"""A word of one class in the claim, of its opposite in the cited words, on the same argument."""

from __future__ import annotations

import pytest

from ragcore.text import lexicon
from ragcore.verify.claims import Statement
from ragcore.verify.contrast import check_contrast
from ragcore.verify.evidence import Evidence
from ragcore.verify.support import support
from tests.answer.samples import SETTINGS


def reasons(claim: str, cited: str) -> list[str]:
    evidence = Evidence(cited, "", "", sentences=(cited,))
    return [finding.reason for finding in check_contrast(claim, evidence) if finding.status != "supported"]


LIMIT = (
    "The Company reimburses the fees, provided that in no event shall the amount of such reimbursement exceed $40,000."
)


@pytest.mark.parametrize(
    ("claim", "cited", "found"),
    [
        ("The Company reimburses the fees up to $40,000.", LIMIT, False),
        ("The reimbursement does not exceed $40,000.", LIMIT, False),
        ("The Company reimburses the fees with at least $40,000.", LIMIT, True),
        ("The amount of such reimbursement shall exceed $40,000.", LIMIT, True),
        ("The fees do not exceed $40,000.", "The fees exceed $40,000.", True),
        ("The tenant pays up to $25.", "The tenant pays up to a total of $25.", False),
        ("The tenant pays at least $25.", "The tenant pays up to a total of $25.", True),
    ],
)
def test_a_limit_denies_nothing_and_bounds_its_figure(claim: str, cited: str, *, found: bool) -> None:
    assert bool(reasons(claim, cited)) == found


def test_an_opposite_in_the_next_sentence_is_of_something_else() -> None:
    said = "The executive agrees that for two years thereafter the executive shall not compete with the company."
    beside = "Competition is what the executive sold to the company in the two years preceding it."
    claim = "The executive shall not compete with the company for two years after."
    evidence = Evidence(f"{said} {beside}", "", "", sentences=(said, beside))
    assert not check_contrast(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        ("The drug was not approved.", "The drug was approved."),
        ("The drug was approved.", "The drug was not approved."),
        ("Dividends were paid.", "No dividends were paid."),
        ("The investigator may supply the drug to others.", "The investigator may not supply the drug to others."),
        ("The sponsor is able to comply.", "The sponsor is unable to comply."),
        ("Margins rose.", "Gross margin fell."),
        # Both words stand in the cited sentence: only the place of each tells.
        ("Take it 2 hours after a meal.", "Take it 2 hours before a meal and again after sleep."),
        ("The board will not only call on members who wrote.", "The board will only call on members who wrote."),
        ("The tenant may return the keys and may leave.", "The tenant must return the keys and may leave."),
        ("Notice is given at least 30 days ahead.", "Notice is given no more than 30 days ahead."),
        ("The north plant closed.", "The north plant opened."),
        ("Costs fell and margins fell on lower prices.", "Costs rose and margins fell on lower prices."),
    ],
)
def test_an_opposite_on_the_same_argument_is_found(claim: str, cited: str) -> None:
    found = reasons(claim, cited)
    assert found
    assert all(reason.endswith(".") for reason in found)


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        ("It did not repurchase shares.", "No shares were repurchased."),
        ("The drug was approved.", "If approved, for 2 years; or, if not approved, until the study ends."),
        ("Revenue grew.", "The Company did not pay a dividend, and revenue grew."),
        ("Margins fell.", "Gross margin decreased 250 basis points due to higher costs."),
        ("Costs rose and margins fell.", "Higher costs led to a lower margin."),
        ("It is not unable to pay.", "It is able to pay."),
        ("Revenue did not fall.", "Revenue rose."),
        ("The board met.", "The board met in May."),
        ("Payment is due within 30 days.", "Payment is due no later than 30 days after the invoice."),
    ],
)
def test_the_same_said_otherwise_is_no_contrast(claim: str, cited: str) -> None:
    assert reasons(claim, cited) == []


@pytest.mark.parametrize(
    ("claim", "cited", "status"),
    [
        (
            "All 12 shops that opened in the last two quarters sold 19 pumps a day.",
            "All 19 shops that opened in the last two quarters sold 12 pumps a day.",
            "unsupported",
        ),
        (
            "The crew must leave the lower deck of the ship by noon.",
            "The crew must leave the lower wing of the ship by noon.",
            "weak",
        ),
        ("In May some members of the panel met weekly.", "In May most members of the panel met weekly.", "weak"),
        (
            "The drug may be safe for adults who have mild asthma.",
            "The drug is safe for adults who have mild asthma.",
            "weak",
        ),
        ("Nike opened nine stores in the quarter.", "We opened nine stores in the quarter.", ""),
        ("The firm bought nine stores in the quarter.", "The firm purchased nine stores in the quarter.", ""),
        ("The firm opened about 20 stores in the quarter.", "The firm opened 19 stores in the quarter.", ""),
    ],
)
def test_a_copy_with_another_word_in_one_place_is_found(claim: str, cited: str, status: str) -> None:
    found = check_contrast(claim, Evidence(cited, "", "", sentences=(cited,)))
    assert [finding.status for finding in found] == ([status] if status else [])


def test_every_class_is_written_as_words_are_read() -> None:
    phrases = [*lexicon.IDIOMS, *lexicon.BOUNDS]
    words = {word for phrase in phrases for word in phrase} | lexicon.UP | lexicon.DOWN | set(lexicon.OPPOSITES)
    assert not [word for word in words if word != word.lower() or not word.replace("-", "").replace("'", "").isalpha()]
    assert not lexicon.UP & lexicon.DOWN
    assert not lexicon.MORE & lexicon.LESS


def test_a_judge_may_overrule_another_word_but_no_other_figure() -> None:
    said = "The company opened {} in the second week of the month."
    cited = said.format("19 stores")
    evidence = Evidence(cited, "", "", sentences=(cited,))
    for claim, agrees in ((said.format("19 outlets"), True), (said.format("12 stores"), False)):
        found = support(Statement(claim, 0, len(claim), (1,)), evidence, SETTINGS.verify)
        assert (found.finding.status != "supported", found.agrees) == (True, agrees)
