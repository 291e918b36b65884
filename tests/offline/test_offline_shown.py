"""How the offline answer prints what it quotes: long rows, quotation marks, headings that run on, contents, order."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from ragcore.answer.cite import Citer, Marker, MarkerParser
from ragcore.answer.requests import build_request
from ragcore.answer.sources import build_sources
from ragcore.offline.writer import OfflineWriter
from ragcore.types import Mark, Retrieval, Segment
from ragcore.verify.claims import split_statements
from ragcore.verify.verify import verify
from tests.answer.samples import SETTINGS
from tests.documents import Grid, Heading, Item, make_document
from tests.offline.test_offline import WordReranker, quotes

REGIONS = (
    "North America",
    "Latin America",
    "Western Europe",
    "Eastern Europe",
    "Middle East",
    "Africa",
    "China",
    "Japan",
)
WIDE = Grid(
    "Net sales by region (in millions of US dollars)",
    [
        ["", *REGIONS],
        ["Laboratory balances", *(f"1,{n}10" for n in range(1, 9))],
        ["Sensors", *(f"2,{n}20" for n in range(1, 9))],
    ],
)


def rows(text: str) -> list[list[str]]:
    """The cells of the rows of the tables in ``text``, without headers and markers."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.partition(" <<")[0] for cell in line] for line in lines if line[0] not in ("Row", "---")]


def test_of_a_long_row_the_first_cells_are_shown() -> None:
    found = [row for row in rows(quotes("How did laboratory balances do?", WIDE)) if row[0] == "Laboratory balances"]
    assert [row[1:3] for row in found] == [[name, f"1,{n}10"] for n, name in enumerate(REGIONS[:4], start=1)]


def test_of_a_long_row_the_cell_asked_for_is_shown_alone() -> None:
    found = rows(quotes("What did laboratory balances have in the Middle East?", WIDE))
    unit = "in millions"
    assert [row for row in found if row[0] == "Laboratory balances"] == [
        ["Laboratory balances", "Middle East", "1,510", unit]
    ]


def test_rows_stand_below_the_line_that_introduces_them() -> None:
    auditor, directors = Grid("", [["", "For"], ["All", "57,310"]]), Grid("", [["", "For"], ["All", "40,115"]])
    text = quotes(
        "How many votes were cast on the choice of the auditor?",
        "The votes on the choice of the auditor were cast as set forth below:",
        auditor,
        "The votes on the choice of the directors were cast as set forth below:",
        directors,
    )
    first = text.partition("> “The votes on the choice of the directors")[0]
    assert "57,310" in first
    assert "40,115" not in first


def test_a_cell_of_prose_is_quoted_under_its_headers() -> None:
    words = "Checked against the weights of the national institute each spring and autumn by two people."
    text = quotes("How are balances checked?", Grid("Care", [["", "How checked"], ["Balances", words]]))
    assert text.startswith(f"Balances, How checked: “{words}” <<SOURCE 1.3>>")


def test_a_row_of_dashes_is_no_answer() -> None:
    grid = Grid(
        "Dividends", [["", "2023", "2022"], ["Dividend per share", "—", "–"], ["Earnings per share", "3.1", "3"]]
    )
    text = quotes("What was the dividend per share?", grid)
    assert "Dividend per share |" not in text
    assert "—" not in text


def test_each_cell_of_a_table_is_cited_and_holds() -> None:
    doc = make_document(WIDE)
    found = Retrieval("q", "hybrid", (), (Segment(doc.doc_id, 0, len(doc.text), 0, 0, 1.0),))
    made = build_sources(found, lambda _: doc, SETTINGS.answer)
    request = build_request("How did laboratory balances do?", made, (), lambda _: doc, SETTINGS)
    parser, citer = MarkerParser(), Citer(made, lambda _: doc)
    pieces = parser.feed("".join(OfflineWriter(WordReranker(), SETTINGS.answer).stream(request))) + parser.finish()
    text, marks = "", []
    for piece in pieces:
        if isinstance(piece, Marker):
            (citation,), dropped = citer.resolve(piece)
            assert not dropped
            marks.append(Mark(len(text), len(text) + 3, citation.n))
            text += f"[{citation.n}]"
        else:
            text += piece
    claims = verify(text, marks, citer.citations, lambda _: doc, SETTINGS.verify)
    cited = [claim for claim in claims if claim.citations]
    assert len(cited) >= 4
    assert {claim.status for claim in cited} == {"supported"}


def test_quotation_marks_within_a_quote_are_single() -> None:
    text = quotes(
        "What does unexpected refer to?", "“Unexpected,” as used here, also refers to events of a class of drugs."
    )
    assert text.startswith("“‘Unexpected,’ as used here, also refers")
    assert "““" not in text


def test_a_numbered_heading_is_no_answer() -> None:
    text = quotes(
        "Are foreign clinical studies accepted?",
        Heading("§ 312.120 Foreign clinical studies."),
        "The agency will accept foreign clinical studies if they were well designed.",
    )
    assert "§ 312.120" not in text
    assert "will accept foreign clinical studies" in text


def test_a_heading_loses_to_a_sentence_of_its_section() -> None:
    text = quotes(
        "How long should the general plan be?",
        Heading("C. Introductory statement and general plan [21 CFR 312.23(a)(3)]:"),
        "Ordinarily, two to three pages should suffice.",
        Heading("D. Other parts of the general submission:"),
        "They have no length of their own, and may be left out.",
    )
    assert text.startswith("“Ordinarily, two to three pages")


def test_a_note_in_brackets_of_where_a_text_was_amended_is_no_answer() -> None:
    text = quotes(
        "How do I withdraw an IND?",
        "At any time a sponsor may withdraw an IND without prejudice.",
        "[52 FR 8831, Mar. 19, 1987, as amended at 52 FR 23031, June 17, 1987; IND 67 FR 9586, Mar. 4, 2002]",
        offline_share=0.0,
    )
    assert "may withdraw an IND" in text
    assert "52 FR" not in text


def test_contents_without_page_numbers_are_no_answer() -> None:
    contents = Grid(
        "", [["Sec.", "Review of investigations."], ["§ 312.120", "Foreign clinical studies not under an IND."]]
    )
    text = quotes("Are foreign clinical studies not conducted under an IND accepted?", contents)
    assert text.startswith("<<NO ANSWER>>")


def test_the_best_quote_comes_first() -> None:
    text = quotes(
        "When does an IND go into effect?",
        "A sponsor reports within 60 days of the day on which the IND was submitted.",
        "An IND goes into effect 30 days after the agency has received it.",
        offline_share=0.1,
    )
    assert text.startswith("“An IND goes into effect 30 days")


ITEMS = [Item("• repair the quay"), Item("• train two divers"), Item("• buy a second crane")]


def test_the_items_below_a_heading_are_quoted_with_it() -> None:
    text = quotes("How will the harbour be improved?", Heading("Improving the harbour"), *ITEMS, "It rained in May.")
    assert in_one_line(text).startswith(
        "“Improving the harbour • repair the quay • train two divers • buy a second crane”"
    )


def test_a_list_goes_on_over_a_heading_and_a_sentence_between_its_items() -> None:
    blocks = ("The plan for the harbour is:", Heading("Works"), *ITEMS[:2], "The last is the dearest.", ITEMS[2])
    text = quotes("What is the plan for the harbour?", *blocks, "It rained in May.")
    assert "Works • repair the quay • train two divers The last is the dearest. • buy a second crane”" in in_one_line(
        text
    )


@pytest.mark.parametrize("style", ["{}. ", "{}) ", "- ", "({}) ", "• "])
def test_the_items_of_a_list_are_lines_of_one_quotation(style: str) -> None:
    items = [Item(f"{style.format(n)}train {n} divers") for n in (1, 2, 3)]
    text = quotes("What is the plan for the harbour?", "The plan for the harbour is:", *items, "It rained in May.")
    [kept] = [line for line in text.split("\n\n") if "divers" in line]
    paragraph, inline, end = (token for token in MarkdownIt().parse(kept))
    assert (paragraph.type, end.type) == ("paragraph_open", "paragraph_close")
    assert [child.type for child in inline.children or ()].count("hardbreak") == 3
    assert len(split_statements(kept, ())) == 1


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_a_sentence_that_points_back_is_shown_with_the_one_before() -> None:
    paragraph = "The pilot boat waits off Skerry. It sails in any weather for ships above 90 metres."
    text = quotes("Which ships above 90 metres in any weather?", paragraph, "Crabs are landed at dawn.")
    assert text.startswith(
        "“The pilot boat waits off Skerry. It sails in any weather for ships above 90 metres.” <<SOURCE 1.1-1.2>>"
    )


def test_a_sentence_that_is_shown_already_is_not_shown_again() -> None:
    paragraph = "The pilot boat of Skerry waits for ships. It leads ships of Skerry above 90 metres."
    for question in ("Which ships above 90 metres of Skerry?", "What waits for ships of Skerry?"):
        text = quotes(question, paragraph, offline_share=0.1)
        assert text.count("The pilot boat of Skerry waits for ships.") == 1, text
        assert text.count("It leads ships of Skerry above 90 metres.") == 1, text


def test_a_long_cell_does_not_hide_the_figures_beside_it() -> None:
    source = "Survey of the harbour board, printed in its yearbook, with the help of two retired pilots."
    grid = Grid("Depth of harbours", [["Port", "Depth", "Change", "Source"], ["Skerry", "9.4", "+2", source]])
    found = rows(quotes("How deep is Skerry?", grid))
    assert [row[1:3] for row in found] == [["Depth", "9.4"], ["Change", "+2"]]
