"""Periods of checked sentences: words of a release leave theirs to a heading, and name the one they compare with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragcore.check.checks import Checks
from ragcore.engine import Engine
from ragcore.types import EVERYTHING
from ragcore.types.check import CheckedSentence
from tests import pdfs, prepared

RELEASE = {
    "For the Third Quarter of Fiscal 2031": [
        "Net sales increased 14.2% to $2.6 billion compared to $2.3 billion in the third quarter of fiscal 2030.",
        "Operating income increased 9.1% to $352.4 million, or 13.6% of net sales, compared to $323.0 million, or "
        "14.0% of net sales, in the third quarter of fiscal 2030.",
        "Diluted earnings per share increased to $4.57 compared to $4.12 in the third quarter of fiscal 2030.",
    ],
    "For the First Nine Months of Fiscal 2031": [
        "Net sales increased 11.8% to $7.4 billion compared to $6.6 billion in the first nine months of fiscal 2030.",
    ],
    "Fiscal 2032 Outlook": ["Diluted earnings per share in fiscal 2032 are expected to be $19.70 to $20.40."],
    "Warehouses": [
        "Three new warehouses were opened, and each is let for a one-year term to its own staff.",
        "Rent costs increased $41.5 million and energy costs increased $12.3 million.",
        "Cash of $7.8 million was held at the year end, a net decrease of $2.9 million from the prior year.",
        "Spending on roofs was $23.1 million and $20.3 million for 2031 and 2030, respectively.",
        "Spending on doors in 2031 and 2030 was $9.1 million and $8.3 million.",
        "Mr. Okafor will no longer be eligible to receive bonus shares after he leaves the board.",
    ],
    "Online Orders of Fiscal 2031": [
        "Online orders increased 17.4% compared to an increase of 41.6% in fiscal 2030, driven by an 11.2% increase in "
        "visits and a 5.6% increase in the average basket.",
        "At the end of fiscal 2031, $60.5 million of the credit line was drawn, and $39.5 million is free until 2036.",
    ],
    "Loading Bay": [
        "The loading bay closes for good on SEPTEMBER 1, 2031.",
    ],
}


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checks]:
    files = {"tarn.pdf": pdfs.report("Tarn Outfitters third quarter results", RELEASE)}
    home = prepared.home(tmp_path_factory.mktemp("periods") / "home", files)
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        yield engine.checks


def sentence(checks: Checks, text: str) -> CheckedSentence:
    check_id = checks.add("draft.md", text.encode(), EVERYTHING).check_id
    checks.run(check_id)
    [found] = checks.get(check_id).sentences
    assert found is not None
    return found


@pytest.mark.parametrize(
    "text",
    [
        "Net sales in the third quarter of fiscal 2031 were $2.6 billion, up 14.2%.",
        "Operating income came to $352.4 million in the third quarter of fiscal 2031.",
        "In the third quarter of fiscal 2030, net sales had been $2.3 billion.",
        "Net sales of the first nine months of fiscal 2031 rose 11.8% to $7.4 billion.",
        "Each of the warehouses is let for a one-year term.",
        "Energy costs increased $12.3 million.",
        "Cash fell by $2.9 million from the prior year, to $7.8 million.",
        "Spending on roofs was $20.3 million in 2030.",
        "Spending on doors was $8.3 million in 2030.",
        "Online orders rose by 17.4% in fiscal 2031.",
        "Online orders rose by 41.6% in fiscal 2030.",
        "In fiscal 2031 online orders rose by 17.4%, after 41.6% in fiscal 2030.",
        "At the end of fiscal 2031, $60.5 million of the credit line was drawn, and $39.5 million was free.",
        "Online orders rose by 17.4% in fiscal 2031, against 41.6% a year before.",
        "Online orders rose by 17.4%, much less than in fiscal 2030.",
    ],
)
def test_a_year_that_is_only_compared_with_is_not_held_against_a_sentence(checks: Checks, text: str) -> None:
    found = sentence(checks, text)
    assert (found.status, found.reason) == ("confirmed", "")


@pytest.mark.parametrize(
    "text",
    [
        "Net sales in the third quarter of fiscal 2032 were $2.6 billion, up 14.2%.",
        "Net sales in the third quarter of fiscal 2030 were $2.6 billion.",
        "Operating income fell to $352.4 million in the third quarter of fiscal 2031.",
        "Four new warehouses were opened.",
        "Each of the warehouses is let for a three-year term.",
        "Energy costs increased $41.5 million.",
        "Rent costs increased $12.3 million.",
        "Spending on roofs was $23.1 million in 2030.",
        "Spending on doors was $9.1 million in 2030.",
        "Rent costs decreased $41.5 million because energy costs increased.",
        "Mr. Okafor may receive bonus shares after he leaves the board.",
        "Online orders rose by 17.4% in fiscal 2030.",
    ],
)
def test_an_error_beside_it_is_not_confirmed(checks: Checks, text: str) -> None:
    assert sentence(checks, text).status in ("contradicted", "partly", "not_found")


def test_a_swapped_digit_is_contradicted_by_the_figure_in_its_place(checks: Checks) -> None:
    found = sentence(checks, "Diluted earnings per share were $4.75 in the third quarter of fiscal 2031.")
    assert [(one.said, one.found) for one in found.corrections] == [("$4.75", "$4.57")]


@pytest.mark.parametrize(
    ("text", "said", "instead"),
    [
        ("Online orders in fiscal 2031 rose by 41.6%.", "41.6%", "17.4%"),
        ("In fiscal 2031 orders online grew 41.6%.", "41.6%", "17.4%"),
        ("Online orders in fiscal 2031 rose by 18.4%.", "18.4%", "17.4%"),
    ],
)
def test_a_figure_is_contradicted_by_that_of_its_own_year(checks: Checks, text: str, said: str, instead: str) -> None:
    found = sentence(checks, text)
    assert [(one.said, one.found) for one in found.corrections] == [(said, instead)]


@pytest.mark.parametrize(
    ("said", "write"),
    [
        ("1 October 2031", "1 September 2031"),
        ("1st October 2031", "1st September 2031"),
        ("October 12, 2031", "September 1, 2031"),
        ("Oct. 12, 2031", "Sep. 1, 2031"),
        ("2031-10-12", "2031-09-01"),
        ("1 October", "1 September"),
    ],
)
def test_a_day_is_corrected_in_the_form_of_the_draft(checks: Checks, said: str, write: str) -> None:
    found = sentence(checks, f"The loading bay closes on {said} for good.")
    assert [(one.said, one.found, one.write) for one in found.corrections] == [(said, "SEPTEMBER 1, 2031", write)]


def test_a_wrong_year_is_not_corrected_to_the_one_compared_with(checks: Checks) -> None:
    found = sentence(checks, "Net sales in the third quarter of fiscal 2032 were $2.6 billion, up 14.2%.")
    assert {(one.said, one.found) for one in found.corrections} <= {("2032", "2031")}


def test_a_figure_with_more_digits_than_the_documents_is_not_contradicted(checks: Checks) -> None:
    found = sentence(checks, "Net sales in the third quarter of fiscal 2031 were $2,612.4 million.")
    assert found.status != "contradicted"
