"""What a document is called: the largest type of its cover, held against metadata and file name, and whose it is."""

from __future__ import annotations

import pytest

from ragcore.ingest.layout import FileInfo
from tests.ingest.pages import Box, build, page

TEXT = [f"This is line {n} of a paragraph that says how the year went" for n in ("one", "two", "three")]


def titled(*boxes: Box, given: str = "", name: str = "scan 0017.pdf", more: tuple[Box, ...] = ()) -> str:
    second = (page(*more, number=2),) if more else ()
    return build(page(*boxes), *second, name=name, info=FileInfo(pages=1 + len(second), title=given)).title


def body(y: float = 300) -> Box:
    return Box("text", 50, y, TEXT)


def test_the_largest_type_of_the_cover_is_the_title() -> None:
    label = Box("section-header", 50, 40, ["*Exhibit* *99.1*"], size=20)
    headline = Box("title", 50, 90, ["*Larkfield* *Announces* *Results* *for* *the* *Spring*"], size=20)
    small = Box("section-header", 50, 200, ["*Net* *Sales* *Rose*"], size=12)
    assert titled(label, headline, small, body()) == "Larkfield Announces Results for the Spring"


def test_a_number_of_a_paper_is_no_title() -> None:
    label = Box("section-header", 50, 40, ["*Exhibit* *99.1*"], size=20)
    assert titled(label, body()) == "scan 0017"
    assert titled(Box("title", 50, 40, ["*Budget* *2025*"], size=20), body()) == "Budget 2025"


def test_a_heading_of_the_second_page_is_no_title() -> None:
    head = Box("title", 50, 40, ["*What* *the* *Board* *decided*"], size=24)
    assert titled(body(50), more=(head, body())) == "scan 0017"


@pytest.mark.parametrize("size", [10, 16])
def test_a_heading_below_running_text_heads_a_part_of_an_excerpt(size: float) -> None:
    head = Box("section-header", 50, 200, ["*What* *the* *Board* *decided*"], size=size)
    assert titled(body(50), head, body()) == "scan 0017"


def test_a_running_header_in_large_type_is_a_title() -> None:
    head = Box("section-header", 50, 30, ["*Report* *on* *the* *Wells*"], size=18)
    part = Box("section-header", 50, 140, ["*Aims* *and* *Scope*"], size=12)
    pages = [page(head, body(60), part, body(), number=n) for n in (1, 2, 3, 4)]
    assert build(*pages, name="x.pdf", info=FileInfo(pages=4)).title == "Report on the Wells"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("The Wells of Larkfield: A Survey", "The Wells of Larkfield: A Survey"),  # as the cover says, in its spelling
        ("The Wells Supplement", "THE WELLS OF LARKFIELD: A SURVEY"),  # not all of it is printed
        ("Wells_final_4.30.20", "THE WELLS OF LARKFIELD: A SURVEY"),  # a file's name
        ("The Wells of Larkfield: A Surv", "THE WELLS OF LARKFIELD: A SURVEY"),  # cut off within a word
        ("Minutes of a Meeting", "THE WELLS OF LARKFIELD: A SURVEY"),  # of another document
        ("Microsoft Word - wells.doc", "THE WELLS OF LARKFIELD: A SURVEY"),
    ],
)
def test_the_metadata_is_held_against_the_cover(given: str, expected: str) -> None:
    head = Box("title", 50, 40, ["*THE* *WELLS* *OF* *LARKFIELD:* *A* *SURVEY*"], size=20)
    assert titled(head, body(), given=given) == expected


def test_the_metadata_stands_if_it_is_printed_in_the_largest_type_taken_for_a_running_header() -> None:
    over = Box("page-header", 50, 20, ["*Wells* *of* *the* *County*"], size=18)
    name = Box("page-header", 50, 60, ["*Larkfield* *Hill*"], size=18)
    date = Box("section-header", 50, 100, ["*Search* *date* *January* *2010*"], size=10)
    assert titled(over, name, date, body(), given="Larkfield Hill") == "Larkfield Hill"


def test_the_metadata_stands_where_the_cover_has_no_title() -> None:
    assert titled(body(50), given="Handbook of Pumps") == "Handbook of Pumps"


def test_the_authors_stand_behind_the_title() -> None:
    head = Box("title", 50, 40, ["*Nitrate* *in* *Shallow* *Wells*"], size=20)
    three = Box("text", 50, 80, ["Ada B. Marsh, Ole van der Berg, Mina Okafor"], size=11)
    two = Box("text", 50, 80, ["Ada B. Marsh and Ole van der Berg"], size=11)
    place = Box("text", 50, 80, ["County Office, Larkfield, Norway"], size=11)
    assert titled(head, three, body()) == "Nitrate in Shallow Wells (Marsh et al.)"
    assert titled(head, two, body()) == "Nitrate in Shallow Wells (Marsh and Berg)"
    assert titled(head, place, body()) == "Nitrate in Shallow Wells"


def test_control_characters_and_marks_of_direction_leave_titles() -> None:
    head = Box("title", 50, 40, ["*Wells\u202efdp* *of\x07* *\u2066Larkfield*"], size=20)
    assert titled(head, body()) == "Wellsfdp of Larkfield"
    assert titled(body(50), given="Wells\u200b of\u202e\x1b[31m\nLarkfield") == "Wells of [31m Larkfield"
    assert titled(body(50), name="wells\u202efdp.pdf") == "wellsfdp"


@pytest.mark.parametrize(
    ("form", "period", "named"),
    [
        ("FORM 10-K", "For the fiscal year ended DECEMBER 31 , 2022", "Form 10-K 2022"),
        ("Form 10-Q", "For the quarterly period ended: June 30, 2023", "Form 10-Q June 30, 2023"),
        ("FORM 8-K/A", "Date of Report (Date of earliest event reported): May 20, 2022", "Form 8-K/A May 20, 2022"),
        ("FORM 10-Q", "For the quarterly period ended", "Form 10-Q"),
    ],
)
def test_a_filing_is_called_by_registrant_form_and_period(form: str, period: str, named: str) -> None:
    lines = [form, period, "Larkfield Pumps, Inc.", "(Exact name of Registrant as specified in its charter)"]
    assert titled(*(Box("text", 50, 40 + 40 * n, [line]) for n, line in enumerate(lines)), body()) == (
        f"Larkfield Pumps, Inc. {named}"
    )
