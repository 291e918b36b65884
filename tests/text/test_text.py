"""Sentences of scripts that the sentence splitter does not know."""

from __future__ import annotations

import pytest

from ragcore.text.periods import column_years, fiscal_of, written_out
from ragcore.text.sentences import clauses, is_statement, labelled, sentence_spans
from tests.documents import Grid, make_document


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("水质很好。我们在四月取样！", ["水质很好。", "我们在四月取样！"]),
        ("他说：“结果合格。”然后离开。", ["他说：“结果合格。”", "然后离开。"]),
        ("هل المياه نظيفة؟ نعم.", ["هل المياه نظيفة؟", "نعم."]),
        ("पानी साफ है। सब ठीक है।", ["पानी साफ है।", "सब ठीक है।"]),
        ("It grew 3.5% in the U.S. market.", ["It grew 3.5% in the U.S. market."]),
        (
            "It fell in non-U.S. markets. So did ex‑U.K. sales.",
            ["It fell in non-U.S. markets.", "So did ex‑U.K. sales."],
        ),
    ],
)
def test_full_stops_of_other_scripts(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_an_amount_stays_with_its_currency() -> None:
    text = "The fee is Rs. 500 for a visit. The grant was Kr. 30 in May. He had no Rs. The rest went home."
    assert [text[start:end] for start, end in sentence_spans(text)] == [
        "The fee is Rs. 500 for a visit.", "The grant was Kr. 30 in May.", "He had no Rs.", "The rest went home.",
    ]  # fmt: skip


def test_a_statement_is_a_whole_sentence_that_says_something() -> None:
    assert is_statement("Larkfield Water sells drinking water to farms and households in the valley of the Tern.")
    assert is_statement("本会社は谷の農家と家庭に飲料水を販売している。")
    for sentence in (
        "SEE THE NOTES THAT ARE PART OF THESE STATEMENTS OF THE WHOLE COMPANY BELOW.",
        "Total 1,204 1,100 998 12.5% 14.1% (3.2)% 1,771 2,004 2,113 990 1,022 1,400.",
        "sold to farms and households in the valley of the Tern and beyond it.",
        "Larkfield Water sells water",
    ):
        assert not is_statement(sentence)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Due date : 13 April 2025", ("Due date", "13 April 2025")),
        ("Term ends.......24 March 2035", ("Term ends", "24 March 2035")),
        ("1. Sponsor: Larkfield Ltd", ("1. Sponsor", "Larkfield Ltd")),
        ("Introduction ....... 5", ("", "")),
        ("Predicates ::: Does it hold?", ("", "")),
        ("the parties agree: nobody pays", ("", "")),
        ("LONDON (WIRE: today) and more", ("", "")),
        ("Note: The rails of this consignment are not lacquered and darken.", ("", "")),
        ("Use:", ("", "")),
        ("Section 4: Notice", ("", "")),
        ("Deliverables: the supplier delivers the following:", ("", "")),
        ("Annex ........ ........ 12", ("", "")),
    ],
)
def test_a_label_with_its_value(text: str, expected: tuple[str, str]) -> None:
    assert labelled(text) == expected


@pytest.mark.parametrize(
    ("text", "as_known"),
    [
        ("net income FY2013, fy12 and FY '11", "net income fiscal 2013, fiscal 2012 and fiscal 2011"),
        ("2Q23, Q2'23 and H1 FY2022", "Q2 2023, Q2 2023 and H1 2022"),
        ("Q2 2023 in 2023", "Q2 2023 in 2023"),
        ("FY99, Q4'98, FY 10-K", "fiscal 1999, Q4 1998, FY 10-K"),
        ("Q4 50 units, H2 19 patients, 1H NMR, IL-2 20 mg", "Q4 50 units, H2 19 patients, 1H NMR, IL-2 20 mg"),
    ],
)
def test_short_notations_of_periods_are_written_out(text: str, as_known: str) -> None:
    assert written_out(text) == as_known


MAY = "For the year ended May 31, 2023. In fiscal 2023 and fiscal 2022 sales grew, as in the year ended May 31, 2022."
MARCH = (
    "The year ended March 31, 2023 is called fiscal 2022, that ended March 31, 2022 fiscal 2021. Guidance for FY2022."
)
JANUARY = "52 weeks ended January 28, 2023 are fiscal 2022; the 53 weeks ended February 1, 2022 are fiscal 2021."
SUNDAY = "The 52 weeks ended January 1, 2022 and the year ended January 3, 2021. The 53 weeks ended December 31, 2022."
BRITISH = "The year ended 31 March 2023 (FY2022). The year ended on 31 March 2022 (FY2021). Approved 24 February 2023."
STATEMENTS = "The year ended May 31, 2023. " + "".join(
    f"Fiscal {year}: May 31, {year}. " for year in (2023, 2022, 2021)
)
CALENDAR = "For the fiscal year ended December 31, 2022. Holders as of February 9, 2023. Fiscal 2022 was a good year."


@pytest.mark.parametrize(
    ("text", "column", "called"),
    [
        (MAY, "May 31, 2022", {2022}),
        (MARCH, "March 31, 2023", {2022}),
        (MARCH, "Three months ended June 30, 2022", {2022}),
        (JANUARY, "January 28, 2023", {2022}),
        (JANUARY, "13 weeks ended April 29, 2023", {2023}),
        (CALENDAR, "March 31, 2023", {2023}),
        (SUNDAY, "January 1, 2022", {2021}),
        (SUNDAY, "April 2, 2022", {2022}),
        (BRITISH, "31 March 2023", {2022}),
        (STATEMENTS, "May 31, 2022", {2022}),
        ("Sales of the year ended March 31, 2023.", "March 31, 2023", {2022, 2023}),
        ("", "January 28, 2023", {2022, 2023}),
    ],
)
def test_a_column_is_called_by_the_fiscal_year_of_its_document(text: str, column: str, called: set[int]) -> None:
    assert column_years(column, fiscal_of(make_document(text), [column])) == called


def test_a_head_repeated_in_each_row_names_its_fiscal_year_once() -> None:
    outlook = [["The plan is", "For fiscal 2023"], *([f"Stores in {n}", "9 %"] for n in range(30))]
    sales = [["", "January 28, 2023", "January 29, 2022"], ["Sales", "3", "2"], ["Costs", "2", "1"]]
    said = "In fiscal 2022 sales rose and costs, too, from fiscal 2021. In fiscal 2022 costs rose more."
    document = make_document(said, Grid("", outlook), Grid("", sales))
    assert document.text.count("fiscal 2023") > 20
    assert column_years("January 28, 2023", fiscal_of(document, ["January 28, 2023"])) == {2022}


def test_clauses_of_a_long_sentence_overlap_and_leave_nothing_out() -> None:
    sentence = "Unless deferred, units are paid in shares; they lapse if he leaves, or is dismissed: no cash is due."
    runs = clauses(sentence, 45)
    assert runs[0] == "Unless deferred, units are paid in shares;"
    assert runs[-1].endswith("no cash is due.")
    assert all(len(run) <= 45 for run in runs)
    assert set(sentence.split()) == set(" ".join(runs).split())
    assert clauses("One clause", 5) == ["One clause"]
