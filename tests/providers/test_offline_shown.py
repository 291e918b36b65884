"""How the offline answer prints what it quotes: long rows, quotation marks, headings that run on, contents, order."""

from __future__ import annotations

from ragcore.answer.cite import Citer, Marker, MarkerParser
from ragcore.answer.generate import build_request
from ragcore.answer.sources import build_sources
from ragcore.answer.verify import verify
from ragcore.providers.offline import OfflineWriter
from ragcore.types import Mark, Retrieval, Segment
from tests.answer.samples import SETTINGS
from tests.documents import Grid, Heading, make_document
from tests.providers.test_offline import WordReranker, quotes

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


def shown(question: str) -> str:
    line = next(line for line in quotes(question, WIDE).splitlines() if "Laboratory balances" in line)
    return line.partition("“")[2].partition("”")[0]


def test_of_a_long_row_the_rest_is_left_out() -> None:
    first = "North America: 1,110; Latin America: 1,210; Western Europe: 1,310"
    assert shown("How did laboratory balances do?") == f"Laboratory balances — {first}; …"


def test_of_a_long_row_the_cell_asked_for_is_shown_alone() -> None:
    assert shown("What did laboratory balances have in the Middle East?") == "Laboratory balances, Middle East: 1,510"


def test_a_long_cell_is_cut_between_words() -> None:
    words = "Checked against the weights of the national institute each spring and autumn by two people. " * 4
    text = quotes("What is said of balances?", Grid("Care", [["", "How checked"], ["Balances", words.strip()]]))
    row = text.partition("“")[2].partition("”")[0]
    assert row.startswith("Balances — How checked: Checked against the weights")
    assert row.endswith(" …")
    assert len(row) < 160


def test_a_row_that_reads_well_is_shown_whole() -> None:
    grid = Grid("Sales", [["", "2023", "2022"], ["Net sales", "5,110", "4,910"]])
    assert "“Net sales — 2023: 5,110; 2022: 4,910”" in quotes("How did net sales develop?", grid)


def test_a_shortened_row_is_cited_whole_and_holds() -> None:
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
    row = next(citation for citation in citer.citations if "Laboratory balances" in citation.quote)
    assert all(f"{name}: 1,{n}10" in row.quote for n, name in enumerate(REGIONS, start=1))
    claims = verify(text, marks, citer.citations, lambda _: doc, SETTINGS.verify)
    assert [claim.status for claim in claims if row.n in claim.citations] == ["supported"]


def test_quotation_marks_within_a_quote_are_single() -> None:
    text = quotes(
        "What does unexpected refer to?", "“Unexpected,” as used here, also refers to events of a class of drugs."
    )
    assert text.startswith("- “‘Unexpected,’ as used here, also refers")
    assert "““" not in text


def test_a_heading_that_runs_on_is_quoted_with_what_it_heads() -> None:
    text = quotes(
        "What is a serious adverse event?",
        "Serious adverse event or reaction. An adverse event counts as serious if it results in death or in a stay in "
        "hospital.",
    )
    assert text.startswith("- “Serious adverse event or reaction. An adverse event counts as serious if")
    assert "<<SOURCE 1.1-1.2>>" in text


def test_a_numbered_heading_is_no_answer() -> None:
    text = quotes(
        "Are foreign clinical studies accepted?",
        Heading("§ 312.120 Foreign clinical studies."),
        "The agency will accept foreign clinical studies if they were well designed.",
    )
    assert "§ 312.120" not in text
    assert "will accept foreign clinical studies" in text


def test_a_note_in_brackets_of_where_a_text_was_amended_is_no_answer() -> None:
    text = quotes(
        "How do I withdraw an IND?",
        "At any time a sponsor may withdraw an IND without prejudice.",
        "[52 FR 8831, Mar. 19, 1987, as amended at 52 FR 23031, June 17, 1987; IND 67 FR 9586, Mar. 4, 2002]",
        offline_share=0.0,
        offline_floor=0.0,
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
    assert text.startswith("- “An IND goes into effect 30 days")
