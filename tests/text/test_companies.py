"""Whose a document is, and which documents are known to be of different companies."""

from __future__ import annotations

import pytest

from ragcore.text.names import companies, company_alone, of_others
from ragcore.types import Document
from tests.documents import Heading, make_document


def document(title: str, *parts: str) -> Document:
    return make_document(Heading(title), *parts, title=title)


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (document("NIKE, Inc. Form 10-K 2023", "Adidas AG is a competitor."), [{"nike"}]),
        (document("The Carrow Group Company Form 8-K"), [{"carrow"}]),
        (
            document("Annual report", "Carrow Paper, Inc. and Belford Water plc"),
            [{"carrow", "paper"}, {"belford", "water"}],
        ),
        (
            document("Annual report", "Listed on the New York Stock Exchange LLC by Carrow Paper Corp."),
            [{"carrow", "paper"}],
        ),
        (document("Annual report", "1 Main Street, Denver, CO 80202", "Carrow Partners LLP"), [{"carrow", "partners"}]),
        (document("Nitrate in wells", "The survey began in April."), []),
    ],
)
def test_the_company_is_named_by_the_cover(made: Document, names: list[set[str]]) -> None:
    assert [set(one) for one in companies(made)] == names


@pytest.mark.parametrize(
    ("one", "other", "different"),
    [
        ("PepsiCo, Inc. Form 10-K 2022", "PEPSICO INC Form 10-Q March 19, 2023", False),
        ("JPMorgan Chase & Co. Form 10-K 2022", "JPMorgan Chase Form 8-K", False),
        ("Adobe Inc. Form 10-K 2022", "Ulta Beauty, Inc. Form 10-K 2022", True),
        ("Adobe Inc. Form 10-K 2022", "Nitrate in wells", False),
    ],
)
def test_documents_are_of_different_companies_where_both_say_so(one: str, other: str, different: bool) -> None:
    assert of_others(companies(document(one)), companies(document(other))) == different


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("LARKFIELD PUMPS, INC. AND SUBSIDIARIES", "LARKFIELD PUMPS, INC."),
        ("The Corvane Water Company", "The Corvane Water Company"),
        ("The Nasdaq Stock Market LLC", ""),
        ("The Company", ""),
        ("Our Company makes pumps:", ""),
        ("Consolidated balance sheets", ""),
    ],
)
def test_a_line_may_be_a_company_s_name_and_nothing_else(line: str, name: str) -> None:
    assert company_alone(line) == name
