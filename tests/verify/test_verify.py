# ruff: noqa: E501 (claims are kept whole)
from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.answer.cite import Citer, Marker, MarkerParser
from ragcore.text.markdown import CellRow, cell_table
from ragcore.types import Claim, Mark, Segment
from ragcore.verify.claims import Statement, split_statements
from ragcore.verify.evidence import Evidence
from ragcore.verify.identifiers import check_names, names
from ragcore.verify.support import Support, support
from ragcore.verify.verify import NOT_CHECKED, unchecked, verify
from tests.answer.pairs.material import Material, Pair
from tests.answer.samples import DIVIDENDS, IND, PROSE, REPORT, SETTINGS, TABLE, document, sources
from tests.documents import Grid


def check(text: str, *segments: Segment) -> list[Claim]:
    """Verdicts of ``text``, written with markers over the sources of ``segments``."""
    made = sources(*(segments or (PROSE, TABLE, DIVIDENDS, IND)))
    citer = Citer(made, document)
    parser = MarkerParser()
    out, marks = "", []
    for item in [*parser.feed(text), *parser.finish()]:
        if isinstance(item, Marker):
            cited, dropped = citer.resolve(item)
            assert not dropped
            for citation in cited:
                marks.append(Mark(len(out), len(out) + len(f"[{citation.n}]"), citation.n))
                out += f"[{citation.n}]"
        else:
            out += item
    return list(verify(out, marks, citer.citations, document, SETTINGS.verify))


# The first source is PROSE and TABLE joined: 1.2–1.4 sentences, 1.7–1.9 Revenues, 1.10–1.12 Cost, 1.13–1.15 Net income.
SUPPORTED = [
    "Revenues rose 10% in fiscal 2023 <<SOURCE 1.2>>.",
    "Revenues increased by ten percent to $62.4 billion <<SOURCE 1.2>>.",
    "Revenues were about $62 billion <<SOURCE 1.2>>.",
    "Revenues were $62,418 million in 2023 <<SOURCE 1.8>>.",
    "Revenues were $62.4 billion in 2023 <<SOURCE 1.8>>.",
    "In 2022 revenues were $56.9 billion <<SOURCE 1.7-1.9>>.",
    "Revenues grew by $5,478 million, from $56,940 million to $62,418 million <<SOURCE 1.7-1.9>>.",
    "Revenues grew 9.6% <<SOURCE 1.7-1.9>>.",
    "The net loss of 2022 was $7,052 million <<SOURCE 1.15>>.",
    "The gross margin fell to 41.5% <<SOURCE 1.3>>.",
    "The Company did not repurchase shares in China <<SOURCE 1.4>>.",
    "Dividends of $1.745 per share were declared on June 14, 2023 <<SOURCE 2.2>>.",
    "Tallis is wholly owned <<SOURCE 2.3>>.",
    "A sponsor must submit an IND to FDA <<SOURCE 3.2>>.",
    "An IND goes into effect after thirty days <<SOURCE 3.3>>.",
]
WRONG = {
    "digit": [
        "Revenues were $62,518 million in 2023 <<SOURCE 1.8>>.",
        "Revenues rose 11% <<SOURCE 1.2>>.",
        "Dividends of $1.754 per share were declared <<SOURCE 2.2>>.",
        "An IND goes into effect after 60 days <<SOURCE 3.3>>.",
    ],
    "scale": [
        "Revenues were $62.4 million <<SOURCE 1.2>>.",
        "Revenues were $62,418 thousand in 2023 <<SOURCE 1.8>>.",
        "Revenues were $62,418 billion in 2023 <<SOURCE 1.8>>.",
    ],
    "unit": ["Revenues rose $10 <<SOURCE 1.2>>.", "The gross margin was $41.5 <<SOURCE 1.3>>."],
    "sign": ["Net income of 2022 was $7,052 million <<SOURCE 1.15>>."],
    "year": [
        "Revenues rose 10% in fiscal 2021 <<SOURCE 1.2>>.",
        "Revenues were $62,418 million in 2022 <<SOURCE 1.8>>.",
        "In 2022 revenues were $62,418 million <<SOURCE 1.7-1.9>>.",
        "Dividends were declared on June 14, 2022 <<SOURCE 2.2>>.",
    ],
    "negation": [
        "Revenues were not $62,418 million in 2023 <<SOURCE 1.8>>.",
        "The Company repurchased shares in China: it did repurchase shares <<SOURCE 1.4>>.",
        "Revenues did not rise in fiscal 2023 <<SOURCE 1.2>>.",
        "Tallis is not a wholly owned subsidiary <<SOURCE 2.3>>.",
    ],
    "direction": ["Revenues fell 10% to $62.4 billion <<SOURCE 1.2>>.", "Gross margin rose to 41.5% <<SOURCE 1.3>>."],
    "restated": ["An IND goes into effect after thirty (60) days <<SOURCE 3.3>>."],
    "exchanged": ["Revenues fell from $62,418 million in 2022 to $56,940 million in 2023 <<SOURCE 1.7-1.9>>."],
    "code": ["Study KLM-204818 is not part of the report <<SOURCE 2.4>>."],
    "other matter": ["The weather in Oregon was pleasant throughout <<SOURCE 1.2>>."],
}


@pytest.mark.parametrize("text", SUPPORTED)
def test_what_the_words_say_is_supported(text: str) -> None:
    (claim,) = check(text)
    assert claim.status == "supported", claim.reason


@pytest.mark.parametrize(("edit", "text"), [(edit, text) for edit, texts in WRONG.items() for text in texts])
def test_a_controlled_edit_is_found(edit: str, text: str) -> None:
    (claim,) = check(text)
    assert claim.status == "unsupported", (edit, claim.reason)
    assert claim.reason.endswith(".")


def test_a_swapped_name_is_at_least_weak() -> None:
    (claim,) = check("The subsidiary Varden is wholly owned <<SOURCE 2.3>>.")
    assert claim.status in ("weak", "unsupported")
    assert "Varden" in claim.reason


def test_a_derived_figure_shows_its_operands() -> None:
    (claim,) = check("The difference between the two years is $5,478 million <<SOURCE 1.8, 1.9>>.")
    assert claim.status == "supported"
    assert "62,418 − 56,940" in claim.reason


def test_no_citation_is_uncited() -> None:
    first, second = check("Revenues rose 10%. Dividends were $1.745 per share <<SOURCE 2.2>>.")
    assert (first.status, first.citations) == ("uncited", ())
    assert (second.status, second.citations) == ("supported", (1,))


def test_a_quote_is_supported_by_itself() -> None:
    text = (
        "- “Gross margin fell 250 basis points to 41.5%.” <<SOURCE 1.3>>\n"
        "- “Revenues — 2023: 62,418; 2022: 56,940” <<SOURCE 1.7-1.9>>\n"
    )
    assert [c.status for c in check(text)] == ["supported", "supported"]


@given(st.integers(0, len(REPORT.text) - 1), st.integers(1, 400))
def test_quoting_any_unit_is_supported(start: int, length: int) -> None:
    (source,) = sources(Segment(REPORT.doc_id, start, min(start + length, len(REPORT.text)), 0, 0, 1.0)) or (None,)
    if source is None:
        return
    for number, unit in enumerate(source.units, start=1):
        quote = REPORT.text[unit.start : unit.end]
        passage = Segment(REPORT.doc_id, source.start, source.end, 0, 0, 1.0)
        claims = check(f"“{quote}” <<SOURCE 1.{number}>>", passage)
        assert all(claim.status == "supported" for claim in claims), (quote, claims)


def test_verification_is_fast() -> None:
    check(SUPPORTED[0])
    started = time.process_time()
    claims = check(" ".join(SUPPORTED * 4))
    assert len(claims) == 4 * len(SUPPORTED)
    assert (time.process_time() - started) / len(claims) < 0.05


def statements(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """``[n]`` in ``text`` are taken as its marks."""
    marks = [Mark(m.start(), m.end(), int(m.group(1))) for m in re.finditer(r"\[(\d+)\]", text)]
    found = split_statements(text, marks)
    for one in found:
        assert 0 <= one.start < one.end <= len(text)
    return [(one.text, one.citations) for one in found]


def test_sentences_items_and_trailing_marks() -> None:
    text = (
        "# Heading\n\nHere is what they say:\n\n- It **rose** [1]. It fell. [2][3]\n- Done [1]\n  and dusted.\n\n"
        "Last one [2], with more [4]. Is it?\n\n```\ncode\n```\n"
    )
    assert statements(text) == [
        ("It rose.", (1,)),
        ("It fell.", (2, 3)),
        ("Done\n  and dusted.", (1,)),
        ("Last one, with more.", (2, 4)),
    ]


def test_table_cells_are_statements() -> None:
    text = "| | 2023 | 2022 |\n|---|---|---|\n| Revenues | 62,418 [1] | 56,940 [2] |\n"
    assert statements(text) == [("62,418", (1,)), ("56,940", (2,))]
    assert [s.context for s in split_statements(text, [])] == ["Revenues · 2023", "Revenues · 2022"]


def test_in_a_table_of_single_cells_the_headers_are_no_statements() -> None:
    text = cell_table([CellRow("Operating income", "Consolidated", "2015", "305", "in thousands", "[1]")])
    assert statements(text) == [("305", (1,))]
    other = "| Firm | Head | Revenue |\n|---|---|---|\n| Dray | Ann Poe | 305 [1] |\n"
    assert statements(other) == [("Ann Poe", ()), ("305", (1,))]


def test_a_quotation_of_several_sentences_is_one_statement() -> None:
    assert statements("- “It rose. It fell.” [1]\n") == [("“It rose. It fell.”", (1,))]


@pytest.mark.parametrize(
    "item",
    [
        "Table 4. Genes reported in each study group.: “genes / A — n: 5”",
        "NOTE 5. FAIR VALUE MEASUREMENTS (CONTINUED): “Cash — 2022: 10”",
        "Table 4. Genes of the “core” set. All groups: “It rose. It fell.”.",
    ],
)
def test_a_list_items_lead_in_and_its_quote_are_one_statement(item: str) -> None:
    assert statements(f"- {item} [1]\n- It rose [2].\n") == [(item, (1,)), ("It rose.", (2,))]


def test_a_cited_sentence_before_a_quote_is_its_own_statement() -> None:
    assert statements("- It rose [1]. It says: “It fell.” [2]\n\nIt is so. It says: “It fell.” [2]\n") == [
        ("It rose.", (1,)),
        ("It says: “It fell.”", (2,)),
        ("It is so.", ()),
        ("It says: “It fell.”", (2,)),
    ]


def test_remarks_on_what_the_sources_lack_are_no_claims() -> None:
    assert statements("It rose [1]. The sources do not give the cause.") == [("It rose.", (1,))]


def test_table_claims_are_checked_with_their_row_and_column() -> None:
    text = "| | 2023 | 2022 |\n|---|---|---|\n| Revenues | 62,418 <<SOURCE 1.8>> | 62,418 <<SOURCE 1.8>> |\n"
    assert [c.status for c in check(text)] == ["supported", "unsupported"]


@pytest.mark.parametrize(
    ("table", "status"),
    [
        ("| Row | Period | Value | Unit |\n|-|-|-|-|\n| Revenues | 2023 | $ 62,418 @ | in millions |", "supported"),
        ("| Row | Period | Value | Unit |\n|-|-|-|-|\n| Revenues | 2022 | $ 62,418 @ | in millions |", "unsupported"),
        ("| Row | Period | Value | Unit |\n|-|-|-|-|\n| Revenues | 2023 | 62,418 @ | in thousands |", "unsupported"),
        ("| (In millions) | 2023 |\n|-|-|\n| Revenues | $ 62,418 @ |", "supported"),
        ("| (In billions) | 2023 |\n|-|-|\n| Revenues | 62,418 @ |", "unsupported"),
        ("| Row | Revenues in millions |\n|-|-|\n| 2023 | $ 62,418 @ |", "supported"),
        ("| Row | 2023 |\n|-|-|\n| Revenues | $ 62,418 @ |", "weak"),
    ],
)
def test_a_cited_cell_is_read_with_its_row_and_the_unit_beside_it(table: str, status: str) -> None:
    (claim,) = check(table.replace("@", "<<SOURCE 1.8>>"))
    assert claim.status == status


@pytest.mark.parametrize(
    "beside",
    [
        "99,999 (2023)",
        "The company went bankrupt",
        "$ 99,999 in 2022",
        "up 40% since 2021",
        "higher than in 2022",
        "12 months",
    ],
)
def test_what_else_stands_uncited_beside_a_cited_cell_is_a_claim_of_its_own(beside: str) -> None:
    text = f"| Row | Note | Value |\n|-|-|-|\n| Revenues 2023 | {beside} | 62,418 <<SOURCE 1.8>> |\n"
    assert [(claim.text, claim.status) for claim in check(text)] == [(beside, "uncited"), ("62,418", "supported")]


@pytest.mark.parametrize("corner", ["Fiscal 2024 review", "2023 vs 2022", "Segment"])
def test_a_caption_in_the_corner_is_no_part_of_a_claim(corner: str) -> None:
    (claim,) = check(f"| {corner} | 2023 |\n|-|-|\n| Revenues | 62,418 <<SOURCE 1.8>> |\n")
    assert claim.status == "supported"


def test_a_scale_of_something_else_is_no_scale_of_the_figure() -> None:
    (claim,) = check("Revenues in 2023 were 62,418 after thousands of shops opened <<SOURCE 1.8>>.")
    assert "thousands" not in claim.reason


def test_an_uncited_figure_beside_a_cited_one_is_a_claim() -> None:
    text = "| | 2023 | 2022 |\n|-|-|-|\n| Revenues | 62,418 <<SOURCE 1.8>> | 56,940 |\n"
    assert [claim.status for claim in check(text)] == ["supported", "uncited"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Since California’s rules changed", ["California"]),
        ("Weaker American business", ["American"]),
        ("Adobe Systems and the Board", ["Adobe", "Systems", "Board"]),
        ("General Mills fell. Net Sales rose.", ["General", "Mills", "Sales"]),
    ],
)
def test_a_word_that_begins_a_sentence_is_a_name_if_it_is_mostly_capitalised(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_a_name_may_have_another_ending() -> None:
    evidence = Evidence("Bottling in Africa grew; so did Johnston.", "", "", sentences=("Bottling in Africa grew.",))
    assert not check_names(Statement("Its African bottler grew.", 0, 25, (1,)), evidence)
    makers = Evidence("Every PC maker pays.", "", "", sentences=("Every PC maker pays.",))
    assert not check_names(Statement("Makers of PCs pay.", 0, 18, (1,)), makers)
    assert check_names(Statement("So did the Johnson bottler.", 0, 27, (1,)), evidence)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Total revenues were $36,515 million in 2023 <<SOURCE 1.11>>.", "Cost of sales"),
        ("Revenues were €62,418 million in 2023 <<SOURCE 1.2, 1.8>>.", "$ 62,418 million"),
        ("Revenues were 62,418 million in 2022 and 56,940 million in 2023 <<SOURCE 1.7-1.9>>.", "2023"),
        ("Revenues fell by 5,478 million <<SOURCE 1.8, 1.9>>.", "62,418 − 56,940"),
        ("Revenues were lower in 2023 than in 2022 <<SOURCE 1.8, 1.9>>.", "62,418 > 56,940"),
        ("An IND goes into effect before 30 days <<SOURCE 3.3>>.", "before"),
        ("An IND goes into effect 30 weeks after FDA receives it <<SOURCE 3.3>>.", "30 days"),
    ],
)
def test_the_reason_names_what_is_wrong(text: str, said: str) -> None:
    (claim,) = check(text)
    assert claim.status != "supported"
    assert said in claim.reason


def test_a_quoted_cell_under_its_tables_title_is_supported() -> None:
    text = "- Statements of income (In millions): “Cost of sales, 2022: 31,886” <<SOURCE 1.12>>\n"
    (claim,) = check(text)
    assert (claim.status, claim.reason) == ("supported", "Matches the source.")


@pytest.mark.parametrize(("figure", "status"), [("31,886", "supported"), ("56,940", "unsupported")])
def test_a_value_before_its_title_and_quote_must_be_the_one_quoted(figure: str, status: str) -> None:
    where = "Sample 10-K; Statements of income (In millions)"
    (claim,) = check(f"**{figure}** — {where}: “Cost of sales, 2022: 31,886” <<SOURCE 1.12>>\n")
    assert claim.status == status


def test_a_bare_yes_is_no_claim_and_a_leading_no_denies_nothing() -> None:
    assert statements("Yes. It rose [1].") == [("It rose.", (1,))]
    (claim,) = check("No, gross margin fell to 41.5% <<SOURCE 1.3>>.")
    assert claim.status == "supported"


STAFF = Material(
    "tuned",
    "staff",
    "Office survey",
    (
        "The rules allow the office to notify members of deficiencies as soon as possible.",
        "Until 1 October 2012 members paid nothing. Members must present a card.",
        "Members of APER sat significantly lower (3 cm in APER vs. 5 cm in LAR).",
        "Table 3. Answers by age group, 2007",
        Grid("", [["", "Not at all", "Quite a lot", "Difficulty"], ["Stress", "26", "31", "43"]]),
    ),
    (),
)


@pytest.mark.parametrize(
    ("at", "claim", "supported"),
    [
        ("allow the office", "The rules allow the office to notify members of deficiencies.", True),
        ("allow the office", "The rules allow members to notify the office of deficiencies.", False),
        ("Until 1 October", "Until October 1, 2012, members paid nothing.", True),
        ("Until 1 October", "Until October 10, 2012, members paid nothing.", False),
        ("must present", "Members may present a card.", False),
        ("sat significantly", "Members of LAR sat at 5 cm, those of APER significantly lower, at 3 cm.", True),
        ("Stress · Not at all", "Of those with stress 26 said not at all in 2007.", True),
        ("Stress · Not at all", "Of those with stress 26 said not at all in 2006.", False),
        ("Stress · Not at all", "Stress was not 26 in Not at all.", False),
        ("Stress · Not at all", "Stress was 26 in Quite a lot.", False),
    ],
)
def test_order_days_captions_and_headers_of_function_words(at: str, claim: str, supported: bool) -> None:
    pair = Pair("tuned", "staff", "stated", claim, (at,), supported, claim, (at,))
    verdict = STAFF.verdict(pair)
    assert (verdict.status == "supported") is supported, verdict.reason


def stores(named: str) -> Material:
    cells = [["", "January 28, 2023", "January 29, 2022"], ["Total assets", "5,370", "4,764"]]
    return Material("tuned", "stores", "Stores", (f"Results of {named}. Sales rose.", Grid("", cells)), ())


@pytest.mark.parametrize(
    ("named", "at", "claim", "supported"),
    [
        ("fiscal 2022", "January 28, 2023", "Total assets were 5,370 at the end of fiscal 2022.", True),
        ("fiscal 2022", "January 29, 2022", "Total assets were 4,764 at the end of fiscal 2022.", False),
        ("fiscal year 2023", "January 28, 2023", "Total assets were 5,370 at the end of fiscal 2022.", False),
        ("fiscal year 2023", "January 29, 2022", "Total assets were 4,764 at the end of fiscal 2022.", True),
        ("fiscal 2022", "January 28, 2023", "Total assets were 5,370 on January 28, 2023.", True),
        ("fiscal 2022", "January 28, 2023", "Total assets were 5,370 on January 29, 2022.", False),
        ("the year", "January 28, 2023", "Total assets were 5,370 at the end of fiscal 2022.", True),
    ],
)
def test_a_year_that_ends_in_january_is_called_as_its_document_does(
    named: str, at: str, claim: str, supported: bool
) -> None:
    verdict = stores(named).judged(claim, f"Total assets · {at}")
    assert (verdict.status == "supported") is supported, verdict.reason


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("Total assets: 5,370 (May 31, 2023), 4,764 (May 31, 2022)", True),
        ("Total assets: 4,764 (May 31, 2023), 5,370 (May 31, 2022)", False),
        ("On May 31, 2023, total assets were 5,370, and on May 31, 2022, 4,764.", True),
        ("On May 31, 2023, total assets were 4,764, and on May 31, 2022, 5,370.", False),
    ],
)
def test_a_day_and_what_is_in_brackets_belong_to_one_figure(claim: str, supported: bool) -> None:
    cells = [["", "May 31, 2023", "May 31, 2022"], ["Total assets", "5,370", "4,764"]]
    mills = Material("tuned", "mills", "Mills", (Grid("", cells),), ())
    verdict = mills.judged(claim, "Total assets · May 31, 2023", "Total assets · May 31, 2022")
    assert (verdict.status == "supported") is supported, verdict.reason


@pytest.mark.parametrize(
    ("sentence", "claim", "supported"),
    [
        ("Total assets were $52 million and net assets were $31 million.", "Net assets were $52 million.", False),
        ("Total assets were $52 million and net assets were $31 million.", "Net assets were $31 million.", True),
        ("The minimum fee is $5 million and the maximum fee is $7 million.", "The maximum fee is $5 million.", False),
        ("Sales were $9 million (2022: $4 million, and 2021: $3 million).", "In 2022 sales were $4 million.", True),
        ("Sales were $9 million (2022: $4 million, and 2021: $3 million).", "In 2022 sales were $3 million.", False),
        ("Costs rose (payroll by $4 million, and rent by $3 million).", "Payroll rose by $3 million.", False),
    ],
)
def test_figures_of_one_sentence_keep_their_words(sentence: str, claim: str, supported: bool) -> None:
    verdict = Material("tuned", "mills", "Mills", (sentence,), ()).judged(claim, sentence[:20])
    assert (verdict.status == "supported") is supported, verdict.reason


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("Net income (loss), 2023: 5,070 (in millions)", True),
        ("Operating income (loss): / Mills, 2023: 399 (in millions)", True),
        ("Net income (loss) in 2023 was a loss of $5,070 million.", False),
        ("The cost of the revenues was $62,418 million in 2023.", False),
        ("The change was 5% in 2023.", True),
        ("The change was (5%) in 2023.", False),
    ],
)
def test_a_rows_name_says_of_neither_gain_nor_loss_and_brackets_are_a_minus(claim: str, supported: bool) -> None:
    rows = [["Revenues", "62,418"], ["Cost of revenues", "40,104"], ["Net income (loss)", "5,070"], ["Change", "5%"]]
    rows += [["Operating income (loss):", ""], ["Mills", "399"]]
    mills = Material("tuned", "mills", "Mills", (Grid("Results (In millions)", [["", "2023"], *rows]),), ())
    at = next(f"{row} · 2023" for row, figure in rows if figure and figure in claim)
    at = f"Operating income (loss): / {at}" if "399" in claim else at
    verdict = mills.judged(claim, at)
    assert (verdict.status == "supported") is supported, verdict.reason


def test_a_sentence_is_not_read_anew_for_each_of_its_figures() -> None:
    def seconds(count: int) -> float:
        sentence = ", ".join(f"${n}.{n % 10} million on May {n % 27 + 1}, 2021" for n in range(1, count))
        started = time.process_time()
        assert Evidence(sentence, "", "", sentences=(sentence,)).figures
        return time.process_time() - started

    seconds(20)
    assert seconds(200) < 60 * max(seconds(20), 0.002)


def test_a_row_gives_its_own_scale_and_one_of_a_unit_is_no_rival() -> None:
    rows = [["Interest paid", "433", "403"], ["Assets (billions)", "228", "191"], ["(In millions)", "1", "2"]]
    cells = [["", "2023", "2022"], *rows]
    bank = Material("tuned", "bank", "Bank", (Grid("Summary (Millions)", cells),), ())
    for claim, at in (
        ("Interest paid: 433 (2023), 403 (2022) (in millions)", "Interest paid · *"),
        ("Assets, 2022: $191 billion", "Assets (billions) · 2022"),
    ):
        verdict = bank.judged(claim, at)
        assert verdict.status == "supported", verdict.reason


def test_the_scale_of_a_table_before_is_no_scale_of_this_one() -> None:
    loans = Grid("Loans (in billions)", [["", "2023", "2022"], ["Loans", "1,300", "1,135"]])
    deposits = Grid("Deposits", [["", "2023", "2022"], ["Total deposits", "2,354,131", "2,523,979"]])
    bank = Material("tuned", "bank", "Bank", (loans, "These are averages.", deposits), ())
    verdict = bank.judged("Total deposits were $2,354,131 in 2023.", "Total deposits · 2023")
    assert verdict.status == "supported", verdict.reason


MEMBERS = Material(
    "tuned",
    "members",
    "Marlowe Club 10-K 2021",
    (
        "Neither Mr. Adler nor Ms. Boyd will be paid for serving on the Board. John Adler chairs the audit committee.",
        Grid(
            "Worldwide revenues by geography (in thousands, except revenue per member)",
            [
                ["", "Worldwide 2021", "Worldwide 2020", "International % Change"],
                ["Clubs / Day passes", "316", "317", "(2)"],
                ["Revenue per member", "$ 9.40", "$ 9.10", "3"],
                ["Increase (decrease) in accounts payable", "1,004", "812", "24"],
                ["Interest and other income", "4.9", "4.2", "17"],
                ["Income before taxes", "205", "190", "8"],
                ["Income taxes", "51", "48", "6"],
            ],
        ),
    ),
    (),
)


@pytest.mark.parametrize(
    ("at", "claim", "supported"),
    [
        ("Clubs / Day passes · *", "Worldwide revenues: “Clubs / Day passes — Worldwide 2021: 316; Worldwide 2020: 317”", True),
        ("Clubs / Day passes · *", "Worldwide revenues: “Clubs / Day passes — Worldwide 2021: 317; Worldwide 2020: 316”", False),
        ("Clubs / Day passes · *", "Worldwide revenues: “Tennis — Worldwide 2021: 316; Worldwide 2020: 317”", False),
        ("Revenue per member · Worldwide 2021", "Revenue per member was $9.40 worldwide in 2021.", True),
        ("Increase (decrease) in accounts payable · Worldwide 2021", "The increase in accounts payable was 1,004 in 2021.", True),
        ("Interest and other income · Worldwide 2021", "Interest and other income came to 4.9 in 2021.", True),
        ("Income before taxes · Worldwide 2021", "Pretax income was 205 in 2021.", True),
        ("John Adler chairs", "Mr. Adler chairs the audit committee.", True),
        ("John Adler chairs", "Ms. Boyd chairs the audit committee.", False),
    ],
)  # fmt: skip
def test_the_subject_of_a_figure_and_how_it_is_quoted(at: str, claim: str, supported: bool) -> None:
    pair = Pair("tuned", "members", "stated", claim, (at,), supported, claim, (at,))
    verdict = MEMBERS.verdict(pair)
    assert (verdict.status == "supported") is supported, (verdict.status, verdict.reason)


REVENUES = "“Revenues rose 10% to $62.4 billion in fiscal 2023.” <<SOURCE 1.2>>"


@pytest.mark.parametrize(
    "lead",
    [
        "Sample 10-K: **$62.4 billion** — ",
        "**$62.4 billion** — ",
        "- Sample 10-K: **$62.4 billion** — ",
        "**Sample 10-K** — ",
    ],
)
def test_a_value_before_its_quote_with_the_title_before_both_is_quoted(lead: str) -> None:
    (claim,) = check(f"{lead}{REVENUES}")
    assert (claim.status, claim.reason) == ("supported", "Matches the source.")


@pytest.mark.parametrize(
    "lead",
    [
        "Sample 10-K: **$51.3 billion** — ",
        "**€62.4 billion** — ",
        "**250** — ",  # stands in the next sentence, not in what is quoted
        "Sample 10-K: **$1.745** — ",
        "**$56,940 million** — ",
    ],
)
def test_another_value_before_a_quote_is_not_taken_for_its_heading(lead: str) -> None:
    (claim,) = check(f"{lead}{REVENUES}")
    assert claim.status != "supported"


def test_a_value_before_its_row_with_title_and_table_is_quoted() -> None:
    lead = "- Sample 10-K: **62,418** — Statements of income (In millions): "
    row = "“Revenues, 2023: 62,418”"
    assert [c.status for c in check(f"{lead}{row} <<SOURCE 1.8>>")] == ["supported"]
    assert [c.status for c in check(f"{lead.replace('62,418', '56,940')}{row} <<SOURCE 1.8>>")] != ["supported"]


def test_a_row_named_word_by_word_is_not_another_that_a_synonym_names() -> None:
    row = "<<SOURCE 1.7-1.12>>"
    assert [c.status for c in check(f"Sales were $56,940 million in 2022 {row}")] == ["supported"]
    assert [c.status for c in check(f"Cost of sales was $31,886 million in 2022 {row}")] == ["supported"]
    (claim,) = check(f"Cost of sales was $56,940 million in 2022 {row}")
    assert (claim.status, claim.reason) == (
        "unsupported",
        "$56,940 million is the figure of “Revenues”, not of “Cost of sales”.",
    )


def test_of_a_long_answer_the_rest_is_said_to_be_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcore.verify.verify.MOST_TEXT", 2000)
    claims = check(" ".join(f"Revenues rose 1{n}% in fiscal 2023 <<SOURCE 1.2>>." for n in range(2000)))
    assert claims[0].status == "supported"
    assert claims[1].status == "unsupported"
    rest = [claim for claim in claims if claim.reason.startswith(NOT_CHECKED)]
    assert len(rest) > 1000
    assert {claim.status for claim in rest} == {"weak"}
    assert unchecked(claims) == (f"{len(rest):,} claims were not checked: the answer is too long.",)


def test_the_same_claim_is_looked_at_once() -> None:
    began = time.monotonic()
    claims = check("Revenues rose 11% in fiscal 2023 <<SOURCE 1.2>>. " * 1000)
    assert time.monotonic() - began < 10
    assert {claim.status for claim in claims} == {"unsupported"}


@pytest.mark.parametrize("words", ["revenues rose 10% and " * 2000, "1 2 3 " * 100])
def test_a_claim_that_is_too_much_is_said_to_be_unchecked(words: str) -> None:
    began = time.monotonic()
    (claim,) = check(f"{words} <<SOURCE 1.2>>.")
    assert (claim.status, claim.reason[: len(NOT_CHECKED)]) == ("weak", NOT_CHECKED)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Revenues were $62,518 million in 2023 <<SOURCE 1.8>>.", ["$62,518 million"]),
        ("Revenues were **$62,518** million in 2023 <<SOURCE 1.8>>.", ["62,518"]),
        ("Revenues rose 11% to $62.4 billion <<SOURCE 1.2>>.", ["11%"]),
        ("Yes, revenues rose 11% in fiscal 2023 <<SOURCE 1.2>>.", ["11%"]),
        ("Revenues rose 10% in fiscal 2021 <<SOURCE 1.2>>.", ["2021"]),
        ("Net income of 2022 was $7,052 million <<SOURCE 1.15>>.", ["$7,052 million"]),
        ("Revenues were $62,418 million in 2023 <<SOURCE 1.8>>.", []),
        ("Revenues rose 1% <<SOURCE 1.2>>. In 2023 there were 11 of them <<SOURCE 1.2>>.", ["1%"]),
    ],
)
def test_the_wrong_figure_is_named_by_its_place(text: str, wrong: list[str]) -> None:
    made = re.sub(r" <<SOURCE ([\d.]+)>>", " [1]", text)
    claim = check(text)[0]
    assert [made[start:end] for start, end in claim.wrong] == wrong


def test_support_is_a_probability_that_no_wrong_figure_outweighs() -> None:
    cited = "The board approved a buyback of 40 million shares in May."
    evidence = Evidence(cited, "", "", sentences=(cited,))

    def carried(text: str) -> Support:
        return support(Statement(text, 0, len(text), (1,)), evidence, SETTINGS.verify)

    right, other, wrong = (
        carried(text)
        for text in (
            "The board approved a buyback of 40 million shares.",
            "Rain delayed the harvest of olives and grapes.",
            "The board approved a buyback of 50 million shares.",
        )
    )
    assert right.finding.status == "supported"
    assert right.probability > 0.8
    assert other.probability < 0.2
    assert other.agrees
    assert other.finding.status != "supported"
    assert (wrong.probability, wrong.agrees, wrong.finding.status) == (0.0, False, "unsupported")
