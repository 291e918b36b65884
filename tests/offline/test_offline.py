from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcore.answer.cite import Citer, Marker, MarkerParser
from ragcore.answer.requests import build_request
from ragcore.answer.sources import build_sources
from ragcore.offline.question import read
from ragcore.offline.quotes import quotables
from ragcore.offline.rows import captioned, is_share
from ragcore.offline.writer import OfflineWriter
from ragcore.protocols import ModelRequest, WritingTask
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import content_stems, cover
from ragcore.types import Document, Retrieval, Route, Segment, Source
from tests.answer.samples import DIVIDENDS, IND, OTHER, PROSE, SETTINGS, TABLE, document, segment, sources
from tests.documents import Grid, Heading, Item, make_document

ANSWER = SETTINGS.answer.model_copy(update={"offline_floor": 0.0})  # a reader by words is sure of nothing


class WordReranker:
    """A `Reranker` that goes by shared words, so that tests need no model file."""

    name = "words"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        self.asked.append(len(passages))
        wanted = content_stems(query)
        return np.array([cover(wanted, content_stems(passage)) for passage in passages], dtype=np.float64)


def whole(doc: Document) -> Source:
    """All of a document as one source."""
    everything = Segment(doc.doc_id, 0, len(doc.text), 0, 0, 1.0)
    found = Retrieval("q", "hybrid", (), (everything,))
    (source,) = build_sources(found, lambda _: doc, ANSWER)
    return source


def ask(question: str, *segments: Segment, **changes: float) -> str:
    made = sources(*segments)
    request = build_request(question, made, (), document, SETTINGS)
    settings = ANSWER.model_copy(update=changes)
    return "".join(OfflineWriter(WordReranker(), settings).stream(request))


def test_the_sentence_that_answers_comes_quoted_and_cited() -> None:
    text = ask("How much did revenues rise in fiscal 2023?", PROSE, DIVIDENDS, IND)
    assert text.startswith("Sample 10-K: “Revenues rose 10% to $62.4 billion in fiscal 2023.” <<SOURCE 1.2>>\n")
    # Where one document was searched, it is known whose words they are.
    text = ask("How much did revenues rise in fiscal 2023?", PROSE, DIVIDENDS)
    assert text.startswith("“Revenues rose 10% to $62.4 billion in fiscal 2023.” <<SOURCE 1.2>>\n")


def test_a_question_for_a_row_and_a_column_gets_the_cell() -> None:
    text = ask("What was the cost of sales in 2022?", TABLE)
    assert text.startswith("Cost of sales, 2022: **31,886** (in millions) <<SOURCE 1.8>>\n")
    assert "| Cost of sales | 2022 | 31,886 <<SOURCE 1.8>> | In millions |" in text
    assert "“" not in text


def test_a_row_may_be_the_year_and_a_column_the_figure() -> None:
    grid = Grid("", [["Year", "Rent", "Service charge"], ["2025", "84,000", "6,200"], ["2026", "86,100", "6,350"]])
    text = quotes("What was the service charge in 2026?", grid)
    assert text.startswith("2026, Service charge: 6,350 <<SOURCE ")
    assert "86,100" not in text
    assert "6,200" not in text


def test_a_question_for_a_row_gets_a_line_and_a_table_of_its_cells() -> None:
    text = ask("How did cost of sales develop?", TABLE)
    assert text.startswith("Cost of sales: 36,515 (2023), 31,886 (2022) (in millions) <<SOURCE 1.6-1.8>>\n")
    assert "| Cost of sales | 2023 | 36,515 <<SOURCE 1.7>> | In millions |\n" in text
    assert "| Cost of sales | 2022 | 31,886 <<SOURCE 1.8>> | In millions |\n" in text


def test_a_field_of_a_form_is_not_said_again_in_a_table() -> None:
    for mark in ("", ":"):
        rows = [
            [f"Invoice number{mark}", "7719-A"],
            [f"Total due{mark}", "£1,284.50"],
            [f"Due date{mark}", "13 April 2025"],
        ]
        text = quotes("What is the total due?", Grid("", rows, 0))
        assert text.startswith("Total due: **£1,284.50**")
        assert "|" not in text


def test_who_asks_for_a_table_gets_its_rows_and_who_asks_for_one_row_gets_that() -> None:
    rows = [["Sensors", "71,340", "61,905"], ["Balances", "48,215", "46,880"], ["Total revenue", "119,555", "108,785"]]
    titled = Grid("Revenue by segment (in thousands)", [["", "2025", "2024"], *rows])
    cornered = Grid("", [["Revenue by segment (in thousands)", "2025", "2024"], *rows])
    for grid in (titled, cornered):
        for question in ("List revenue by segment", "What was revenue by segment?"):
            text = quotes(question, grid)
            cells = [line.split(" | ")[2].partition(" ")[0] for line in text.splitlines() if " | 20" in line]
            assert cells == ["71,340", "61,905", "48,215", "46,880", "119,555", "108,785"]
            assert text.startswith("Revenue by segment (in thousands):\n")
        assert quotes("What was total revenue in 2024?", grid).startswith("Total revenue, 2024: ")
        assert quotes("What did balances bring in 2025?", grid).startswith("Balances, 2025: ")
        dated = quotes("What was revenue by segment in 2024?", grid)
        assert "46,880" in dated
        assert "48,215" not in dated


def test_headings_and_labels_are_no_answers() -> None:
    text = ask("Results of operations?", PROSE)
    assert "“Results of operations”" not in text


def test_documents_are_named_when_there_are_several() -> None:
    text = ask("Which sponsor shall submit, and what did the Board of Directors declare?", IND, DIVIDENDS)
    assert "Sample 10-K: “The Board of Directors" in text
    assert "21 CFR 312: “A sponsor shall submit" in text


def test_the_same_words_are_quoted_once() -> None:
    twice = segment(OTHER, "A sponsor", "clinical investigation.")
    made = (*sources(IND), *sources(twice))
    request = ModelRequest(task=WritingTask("Who shall submit an IND?", made))
    text = "".join(OfflineWriter(WordReranker(), ANSWER).stream(request))
    assert text.count("A sponsor shall submit") == 1


def test_at_most_60_reach_the_cross_encoder() -> None:
    sentences = [f"Revenue in region {name} rose by {i} percent this year." for i, name in enumerate("abcdefghij" * 8)]
    doc = make_document(*sentences)
    reranker = WordReranker()
    request = ModelRequest(task=WritingTask("How did revenue rise?", (whole(doc),)))
    list(OfflineWriter(reranker, ANSWER).stream(request))
    assert max(reranker.asked) == 60
    assert sum(reranker.asked) < 70


def test_without_a_reranker_words_decide() -> None:
    request = build_request("How much did revenues rise?", sources(PROSE, IND), (), document, SETTINGS)
    text = "".join(OfflineWriter(None, ANSWER).stream(request))
    assert text.startswith("Sample 10-K: “Revenues rose 10%")


def test_quotes_are_the_documents_own_words() -> None:
    made = sources(PROSE, DIVIDENDS, IND)
    request = build_request("What rose, what fell, and what was declared?", made, (), document, SETTINGS)
    text = "".join(OfflineWriter(WordReranker(), ANSWER).stream(request))
    parser, citer = MarkerParser(), Citer(made, document)
    quote = ""
    for item in [*parser.feed(text), *parser.finish()]:
        if isinstance(item, Marker):
            (citation,), dropped = citer.resolve(item)
            assert not dropped
            assert quote.split("“")[-1].rstrip("” ") == citation.quote
        else:
            quote = item


def test_markdown_in_a_quote_is_escaped() -> None:
    doc = make_document("Net sales* rose [see note 3] by 5% in `all` regions <of Europe>.")
    request = ModelRequest(task=WritingTask("How did net sales rise?", (whole(doc),)))
    text = "".join(OfflineWriter(None, ANSWER).stream(request))
    assert r"Net sales\* rose \[see note 3\] by 5% in \`all\` regions \<of Europe>." in text


def quotes(question: str, *blocks: str | Heading | Item | Grid, title: str = "", **changes: float) -> str:
    source = whole(make_document(*blocks))
    source = replace(source, title=title or source.title)
    settings = ANSWER.model_copy(update=changes)
    request = ModelRequest(task=WritingTask(question, (source,)))
    return "".join(OfflineWriter(WordReranker(), settings).stream(request))


def test_a_lead_in_goes_on_with_what_it_announces() -> None:
    question = "When may the office refuse to open a file?"
    lead = "Under rule 14 the office may refuse to open a file if:"
    said = "“The file . . . is incomplete on its face.”"
    text = quotes(question, lead, said, "Its refusal is written.")
    assert f"“{lead}  \n‘The file . . . is incomplete on its face.’” <<SOURCE 1.1-1.2>>" in text
    assert "‘The file" not in quotes(question, lead, Heading("Rule 15"), said)


REFERENCES = (
    Item("3. Orrin T. Efficacy of zinc against hoof disease of cattle: an overview. Herd 2004;3:11–19."),
    Item("4. Vell A, Marsh B. Zinc, hoof disease and the health of cattle. Stable 2011;8:40–47."),
)


def test_a_list_of_cited_works_is_no_answer() -> None:
    said = "We do not know whether zinc helps against hoof disease."
    question = "Is zinc effective against hoof disease of cattle?"
    for heading in ("References", "5. Literaturverzeichnis"):
        blocks = (Heading("Results"), said, Heading(heading), *REFERENCES)
        text = quotes(question, *blocks)
        assert said in text
        assert "Orrin" not in text
    assert "Orrin" in quotes(question, Heading("References"), *REFERENCES)
    assert "Orrin" in quotes("Which references on zinc against hoof disease are cited?", said, *blocks)


def test_a_lead_in_is_quoted_with_its_list() -> None:
    text = quotes(
        "Why did gross margin fall?",
        "Gross margin fell due to:",
        Item("• higher product costs, and"),
        Item("• more promotions."),
        "Inventories rose.",
    )
    assert text.strip().split("  \n") == [
        "“Gross margin fell due to:",
        "• higher product costs, and",
        "• more promotions.” <<SOURCE 1.1-1.3>>",
    ]


@pytest.mark.parametrize(("elected", "shown"), [(5, 5), (10, 8)])
def test_a_lead_in_is_quoted_with_whole_rows_and_the_rest_is_counted(elected: int, shown: int) -> None:
    votes = [[f"Nominee {chr(65 + n)}", f"{700 + n}", f"{20 + n}", f"{90 + n}"] for n in range(elected)]
    text = quotes(
        "Who was elected to the board?",
        "The following nominees were elected to the board:",
        Grid("", [["", "For", "Against", "Abstained"], *votes]),
    )
    told = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| Nominee")]
    assert told == [f"Nominee {chr(65 + n)}" for n in range(shown) for _ in range(3)]
    assert (f"{elected - shown} more rows" in text) == (shown < elected)


def test_what_is_shown_of_a_table_is_whole_rows_and_says_how_many_more_there_are() -> None:
    votes = [[f"Nominee {chr(65 + n)}", f"{700 + n}", f"{20 + n}", f"{90 + n}"] for n in range(10)]
    table = [["", "For", "Against", "Abstained"], *votes]
    text = quotes(
        "Were the nominees elected to the board?",
        "Nominees were elected to the board.",
        "The nominees to be elected to the board had these votes cast:",
        Grid("", table),
    )
    assert text.startswith("“Nominees were elected"), "another sentence comes first"
    told = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| Nominee")]
    assert told == ["Nominee A"] * 3 + ["Nominee B"] * 3
    assert "\n8 more rows of this table on its page.\n" in text
    listed = quotes("List votes for the board", Grid("Votes for the board", table))
    assert listed.count("| Nominee") == 24
    assert listed.endswith("\n2 more rows of this table on its page.\n\n")


def test_a_list_ends_where_an_outer_one_goes_on() -> None:
    text = quotes(
        "When may a sponsor ship the drug?",
        Item("(c) A sponsor may ship the drug:"),
        Item("(1) after thirty days; or"),
        Item("(2) on earlier notice."),
        Item("(d) An investigator may not ship it."),
    )
    assert "on earlier notice.” <<SOURCE 1.1-1.3>>" in text


def test_a_list_ends_where_the_level_of_its_numbers_ends() -> None:
    text = quotes(
        "What must a sponsor who charges for the drug do?",
        Item("(1) Charging. A sponsor who wishes to charge for the drug must:"),
        Item("(i) show the benefit of the drug;"),
        Item("(ii) show that:"),
        Item("(a) the cost is great; and"),
        Item("(b) the trial needs it; and"),
        Item("(iii) ask the agency."),
        Item("(2) Duration. Charging may go on for a year."),
        Item("(c) Charging for other use."),
    )
    assert "(iii) ask the agency.” <<SOURCE" in text


def test_a_long_sentence_is_quoted_with_all_that_it_counts_up_and_a_part_of_it_after_its_beginning() -> None:
    parts = (
        "Cause means a finding by the board of the harbour that the diver has (i) broken the contract of work with it;",
        "(ii) shown others the maps of the wrecks or of the channels, or the tables of tides that belong to it, when "
        "they were not to have them;",
        "(iii) sold a boat, a net, a lamp or a rope of the harbour without having asked the board in writing; or",
        "(iv) slept on watch.",
    )
    text = quotes("What does cause mean?", " ".join(parts))
    assert f"“{' '.join(parts)}” <<SOURCE 1.1-1.4>>" in text
    text = quotes("Who sold a boat, a net, a lamp or a rope without having asked in writing?", " ".join(parts))
    assert text.startswith(f"“{parts[0]}” <<SOURCE 1.1>> “{parts[2]}” <<SOURCE 1.3>>")


def test_a_letter_that_is_also_a_roman_number_goes_on_where_it_follows() -> None:
    items = [Item(f"({letter}) bring tool {letter};") for letter in "abcdefghij"]
    text = quotes("What must a diver bring?", Item("(1) A diver must bring:"), *items, Item("(2) Rain is no excuse."))
    assert "(j) bring tool j;” <<SOURCE" in text


def test_a_list_that_is_cut_says_how_many_items_it_goes_on_with() -> None:
    items = [Item(f"({n}) {'bring the tools for the work in the harbour ' * 9}{n}.") for n in range(1, 9)]
    text = quotes("What must a diver bring?", "A diver must bring:", *items, "It rained in May.")
    told = sum(f" {n}." in text for n in range(1, 9))
    assert 1 < told < 8
    assert f"\n{8 - told} more items of this list on its page.\n" in text


def test_two_periods_asked_for_are_two_rows() -> None:
    table = Grid(
        "TALLIS (Dollars in millions)",
        [["", "June 30, 2023", "June 30, 2022", "June 30, 2021"], ["Total revenues", "3,118", "2,984", "2,761"]],
    )
    text = quotes("How did total revenues change from 2021 to 2022?", table)
    assert text == (
        "Total revenues: 2,984 (June 30, 2022), 2,761 (June 30, 2021) (dollars in millions) <<SOURCE 1.4-1.7>>\n\n"
        "| Row | Period | Value | Unit |\n| --- | ---: | ---: | ---: |\n"
        "| Total revenues | June 30, 2022 | 2,984 <<SOURCE 1.6>> | Dollars in millions |\n"
        "| Total revenues | June 30, 2021 | 2,761 <<SOURCE 1.7>> | Dollars in millions |\n\n"
    )


def test_rows_of_one_name_in_several_tables_are_told_apart() -> None:
    header = ["", "Fiscal 2020", "Fiscal 2019"]
    text = quotes(
        "What were net sales by region in fiscal 2020?",
        Grid("Asia net sales were as follows:", [header, ["Net sales", "$ 1,526", "$ 1,653"]]),
        "Sales fell in Asia for want of rice.",
        Grid("Europe net sales were as follows:", [header, ["Net sales", "$ 1,838", "$ 1,886"]]),
        Grid("Taxes", [header, ["Income taxes", "$ 480", "$ 367"]]),
    )
    assert "| Asia net sales were as follows: Net sales |" in text
    assert "| Europe net sales were as follows: Net sales |" in text
    assert text.startswith(("Asia net sales", "Europe net sales"))


def years_of(title: str, row: str, *values: str) -> Grid:
    return Grid(title, [["", "Fiscal 2020", "Fiscal 2019"], [row, *values]])


REGIONS = tuple(
    years_of(f"{name} (Dollars in millions)", "Total net sales", *values)
    for name, values in (("ASIA", ("$ 1,526", "$ 1,653")), ("EUROPE", ("$ 1,838", "$ 1,886")))
)
WHOLE = "Total net sales were $3.4 billion in fiscal 2020."


def test_a_row_that_several_tables_have_with_other_values_comes_after_the_whole() -> None:
    income = years_of("INCOME (In millions)", "Total net sales", "$ 3,364", "$ 3,539")
    billions = years_of("(In billions)", "Total net sales", "$ 3.4", "$ 3.5")
    for whole_of_it, told in ((income, "$ 3,364"), (billions, "$ 3.4")):
        assert told in quotes("What were total net sales in fiscal 2020?", *REGIONS, whole_of_it).splitlines()[0]
        asia = quotes("What were total net sales in Asia in fiscal 2020?", *REGIONS, whole_of_it)
        assert "$ 1,526" in asia.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "blocks"),
    [
        ("What were total net sales in fiscal 2020?", (*REGIONS, WHOLE)),
        (
            "What was operating income in fiscal 2020?",
            (
                years_of("NORTH (in millions)", "Operating income", "$ 300", "$ 280"),
                years_of("SOUTH (in millions)", "Operating income", "$ 90", "$ 80"),
                "Operating income was $250 million in fiscal 2020, after corporate costs of $140 million.",
            ),
        ),
        (
            "What was the yield of product in fiscal 2020?",
            (
                years_of("BATCH A", "Yield of product", "1.2 kg", ""),
                years_of("BATCH B", "Yield of product", "450 g", ""),
            ),
        ),
        (
            "What was revenue in fiscal 2020?",
            (
                years_of("In millions of US$", "Revenue", "$ 8,100", "$ 7,900"),
                years_of("In millions of yen", "Revenue", "¥ 890,000", "¥ 870,000"),
            ),
        ),
    ],
)
def test_of_different_values_none_is_certain_by_its_size(question: str, blocks: tuple[str | Grid, ...]) -> None:
    assert "**" not in first_line(question, *blocks)


def test_a_statement_is_certain_beside_a_greater_namesake() -> None:
    own = years_of("CONSOLIDATED STATEMENTS OF INCOME (in millions)", "Operating income", "$ 150", "$ 140")
    for other in (
        years_of("NORTH (in millions)", "Operating income", "$ 600", "$ 580"),
        years_of("CORPORATE (in millions)", "Operating income", "$ (450)", "$ (400)"),
    ):
        assert "**$ 150**" in first_line("What was operating income in fiscal 2020?", other, own)


def test_a_row_with_all_that_is_asked_for_comes_before_a_whole() -> None:
    boats = Grid("Revenue from boats", [["", "2020"], ["Total boat revenue", "$ 640"], ["River", "$ 210"]])
    assert "$ 210" in first_line("What was boat revenue on the river in 2020?", boats)
    assert "$ 640" in first_line("What was total boat revenue in 2020?", boats)


def first_line(question: str, *blocks: str | Heading | Item | Grid) -> str:
    return quotes(question, *blocks).splitlines()[0]


def test_a_figure_that_other_tables_repeat_comes_first() -> None:
    bodies = Grid("INVESTEES", [["", "2020", "2019"], ["Operating income", "$ 7,577", "$ 5,652"]])
    own = [["", "2020", "2019"], ["OPERATING INCOME", "3,501", "3,626"]]
    tables = (bodies, Grid("INCOME (Audited)", own), Grid("SUMMARY (Audited)", own))
    assert "3,501" in first_line("What was operating income?", *tables)


def test_the_table_from_which_others_take_their_figures_comes_first() -> None:
    north = years_of("NORTH (in millions)", "Operating income", "$ 600", "$ 580")
    rows = [[name, f"{1200 + n}", f"{1300 + n}"] for n, name in enumerate(("Sales", "Rent", "Wages", "Taxes", "Fuel"))]
    statement = Grid("INCOME (in millions)", [["", "2020", "2019"], *rows, ["Operating income", "150", "140"]])
    notes = (Grid(f"{row[0]} of boats", [["", "2020", "2019"], ["River", *row[1:]]]) for row in rows)
    assert "600" in first_line("What was operating income in 2020?", north, statement)
    assert "150" in first_line("What was operating income in 2020?", north, statement, *notes)


COVER = (
    "Tallis Instruments, Inc.", "(Exact name of registrant)",
    "Ontario", "98-1234567", "(State or other jurisdiction of", "incorporation)", "(Employer number)",
    "12 Quay Street, Halifax", "(Address of offices)", "(Zip code)",
    "STATEMENTS OF INCOME", "(In thousands of dollars)",
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the jurisdiction of incorporation?", "State or other jurisdiction of incorporation: Ontario <<"),
        ("What is its employer number?", "Employer number: 98-1234567 <<"),
        ("What is the address of its offices?", "Address of offices: 12 Quay Street, Halifax <<SOURCE 1.8-1.9>>"),
    ],
)
def test_what_stands_in_brackets_below_a_line_names_it(question: str, told: str) -> None:
    assert told in first_line(question, *COVER).replace("**", "")


def test_a_scale_in_brackets_names_nothing() -> None:
    source = whole(make_document(*COVER))
    assert [row.head for row in captioned(source, source.lines()).values()] == [
        "Exact name of registrant",
        "State or other jurisdiction of incorporation",
        "Employer number",
        "Address of offices",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("Smoking is allowed in the courtyard.", "(Not in the stairwell)"),
        ("Total due: £1,284.50", "(Including VAT)"),
        ("The tenant shall pay:", "(A) the rent (monthly)", "(B) the electricity (quarterly)"),
        ("J. Smith", "The board will pay a dividend of 12 cents to all holders on record on 5 May.", "(Name)", "(Day)"),
        ("_____", "(Date of birth)"),
        ("Institute of Water, Kabul", "(Received 21 Sep 2012; accepted 29 Nov 2016)"),
    ],
)  # fmt: skip
def test_other_lines_in_brackets_name_nothing(lines: tuple[str, ...]) -> None:
    source = whole(make_document(*lines))
    assert not captioned(source, source.lines())


def test_a_line_with_its_caption_heads_the_table_below() -> None:
    blocks = (
        "Quarter ended December 31, 2020", Grid("", [["", "2020"], ["Net income", "$ 310"]]),
        "Year ended December 31, 2020", "(Audited)", Grid("", [["", "2020"], ["Net income", "$ 520"]]),
    )  # fmt: skip
    assert "$ 520" in first_line("What was net income in the year 2020?", *blocks)


def test_a_figure_without_a_span_is_one_of_a_year() -> None:
    asia = Grid("ASIA (in millions)", [["", "2020"], ["Net sales", "$ 310"]])
    income = Grid("INCOME (in millions)", [["", "Year ended December 31, 2020"], ["Net sales", "$ 920"]])
    assert "$ 920" in first_line("What were net sales in 2020?", asia, income)


def test_a_common_word_in_a_title_is_no_name_of_the_document() -> None:
    rows = Grid("", [["", "2020", "2019"], ["Income tax", "1,886", "1,000"], ["Property tax", "500", "400"]])
    text = quotes("What was income in 2020?", rows, title="Tax Report 2020")
    assert "**" not in text.splitlines()[0]


def test_what_is_told_of_a_part_twice_is_no_whole() -> None:
    twice = (
        years_of("ASIA (Dollars in millions)", "Total net sales", "$ 1,526", "$ 1,653"),
        years_of("NET SALES (Dollars in millions)", "Asia", "1,526", "1,653"),
    )
    whole = years_of("SALES (Dollars in millions)", "Total Tallis, Inc. net sales", "$ 3,364", "$ 3,539")
    text = quotes("What were total net sales in fiscal 2020?", *twice, whole, title="Tallis, Inc. Form 10-K 2020")
    assert "$ 3,364" in text.splitlines()[0]


def test_a_quarter_is_no_part_of_a_greater_year() -> None:
    quarter = Grid("INCOME (in millions)", [["", "13 weeks ended May 2, 2020"], ["Net income", "$ 340"]])
    year = Grid("INCOME (in millions)", [["", "52 weeks ended May 2, 2020"], ["Net income", "$ 1,242"]])
    assert "$ 340" in first_line("What was net income in the quarter ended May 2, 2020?", quarter, year)


def test_a_row_that_is_split_by_something_else_than_time_comes_after_the_whole() -> None:
    split = Grid("BY REGION", [["", "North", "South"], ["Total net sales", "$ 21", "$ 34"]])
    over_time = Grid("INCOME", [["(Audited)", "Fiscal 2020", "Fiscal 2019"], ["Total net sales", "$ 55", "$ 50"]])
    assert "$ 55" in first_line("What were total net sales?", split, over_time)
    assert "$ 34" in first_line("What were total net sales in the South?", split, over_time)


def test_who_names_a_table_and_a_row_of_it_gets_the_row() -> None:
    paying = Grid("River ferries", [["", "2020"], ["Total boats", "52"], ["New boats", "5"]])
    ferries = Grid("River ferries segment", [["", "2020"], ["Revenue", "615"], ["Passengers", "54"]])
    assert "615" in first_line("River ferries revenue 2020", paying, ferries)
    assert first_line("river ferries", paying, ferries).startswith("River ferries:")


def test_without_a_year_the_latest_comes_first_and_a_group_may_give_it() -> None:
    def results(year: int, profit: str) -> Grid:
        return Grid(
            f"Results for the year ended December 31, {year}",
            [["", "Consolidated"], ["Net profit", profit], ["Net costs", "7"]],
        )

    costs = Grid("Costs", [["", "2020", "2019"], ["Rent", "3", "2"], ["Fuel", "4", "4"]])
    assert "$ 558" in first_line("What is the net profit?", results(2019, "$ 186"), results(2020, "$ 558"), costs)
    years = [["2020", "", ""], ["Net profit", "10", "1"], ["2019", "", ""], ["Net profit", "8", "2"]]
    divided = Grid("", [["", "North", "South"], *years])
    assert ": 8" in first_line("net profit of North in 2019", divided)


def test_what_falls_due_later_is_not_the_latest() -> None:
    sheet = Grid("Balance sheets", [["", "2023", "2022"], ["Long-term debt", "8,927", "8,920"], ["Cash", "7", "6"]])
    due = Grid("Maturities of long-term debt", [["", "2024", "2025"], ["Long-term debt", "1,000", "500"]])
    assert "8,927" in first_line("What is the long-term debt?", due, sheet)


def test_quarters_split_a_row_by_time_and_a_year_in_a_name_is_no_period() -> None:
    quarters = Grid("Sales by quarter", [["", "Q1", "Q2", "Q3"], ["Total sales", "100", "200", "250"]])
    assert "100" in first_line("What were total sales?", quarters, "Total sales of spare parts were $3 thousand.")
    plan = Grid("Shares under the 2021 Equity Plan", [["", "Number"], ["Shares available for grant", "5,000,000"]])
    sentence = "At the end of 2023 the company had shares listed in Oslo."
    assert "5,000,000" in first_line("How many shares were available for grant at the end of 2023?", plan, sentence)


def test_a_share_of_what_is_asked_for_is_not_it() -> None:
    costs = Grid("COSTS (Dollars in millions)", [["", "Fiscal 2020"], ["Rent", "$ 310"], ["% of net sales", "9.2 %"]])
    assert quotes("What were total net sales in fiscal 2020?", costs, WHOLE).startswith(f"“{WHOLE}”")
    assert "9.2 %" in quotes("What were costs in % of net sales in fiscal 2020?", costs, "Rent rose.").splitlines()[0]


def test_an_amount_per_share_is_no_share() -> None:
    assert all(map(is_share, ("% of net sales", "Ratio of earnings to fixed charges", "Proportion of sales")))
    assert not any(map(is_share, ("Net income per share", "Dividends on common shares")))


def test_the_scale_of_a_table_is_not_that_of_words_or_of_amounts_per_share() -> None:
    table = Grid(
        "BONDS (Dollars in millions)",
        [
            ["", "Fiscal 2020", "Interest"],
            ["Bonds of 2016", "500", "Semi-annual"],
            ["Profit per common share", "3.23", ""],
        ],
    )
    text = quotes("What do the bonds of 2016 pay?", table)
    assert "| 500 <<SOURCE 1.4>> | Dollars in millions |" in text
    assert "| Semi-annual <<SOURCE 1.5>> |  |" in text
    assert "illions" not in quotes("What was profit per common share in fiscal 2020?", table)


def test_contents_are_not_quoted() -> None:
    contents = Grid("Contents", [["", "Page"], ["Dividends and stock repurchases", "41"]])
    text = quotes("What does it say of dividends?", contents, "Dividends and repurchases . . . . . . . . . 41")
    assert text.startswith("<<NO ANSWER>>")


def test_a_lead_in_and_its_list_on_one_line_are_quoted_together() -> None:
    text = quotes(
        "What shall a sponsor submit to the agency?",
        "A sponsor who intends to begin the trial shall submit to the agency all of the following in one piece: "
        "(1) A cover sheet with the name of the person who is in charge of the trial; (2) the plan with its rationale "
        "and the first indication that is to be studied in the year after that; and (3) a reference to any paper that "
        "has been received before that time by any office.",
    )
    assert text.startswith("“A sponsor who intends")
    assert text.strip().endswith("by any office.” <<SOURCE 1.1-1.4>>")


def test_a_heading_is_no_quote() -> None:
    text = quotes(
        "Where are disputes settled, by arbitration or by courts?",
        Heading("11. Disputes are settled by arbitration."),
        "Any claim shall be settled by arbitration in Bergen.",
        Heading("9. Courts and Disputes."),
        "Disputes go to arbitration in Turku.",
        offline_share=0.0,
    )
    assert "settled by arbitration in Bergen" in text
    assert "Disputes go to arbitration in Turku" in text
    assert "“11. Disputes" not in text
    assert "“9. Courts and Disputes.”" not in text


WEEKS = Grid(
    "Net sales (in millions)",
    [["", "13 Weeks Ended January 28, 2023", "13 Weeks Ended January 29, 2022"], ["Net sales", "4,107.5", "3,461.2"]],
)


def columns(question: str, headers: Sequence[str], *before: str) -> list[str]:
    """Which columns the quote of a row with a cell under each header shows."""
    cells = [f"{number},110" for number in range(1, len(headers) + 1)]
    grid = Grid("Sales", [["", *headers], ["Net sales", *cells]])
    text = quotes(question, *before, grid, offline_sentences=9)
    return [header for header, cell in zip(headers, cells) if f" {cell} <<" in text.partition("\n\n")[2]]


@pytest.mark.parametrize(
    "question",
    [
        "What was net sales in the fourth quarter of fiscal 2022?",
        "What was net sales in Q4 FY2022?",
        "What was net sales in FY22?",
        "What was net sales in 2022?",
    ],
)
def test_a_fiscal_year_that_ends_the_next_january_keeps_its_column(question: str) -> None:
    assert "| 13 Weeks Ended January 28, 2023 | 4,107.5 <<" in quotes(question, WEEKS)


@pytest.mark.parametrize(("year", "kept"), [("2022", "4,107.5"), ("2021", "3,461.2")])
def test_a_year_is_called_as_its_document_calls_it(year: str, kept: str) -> None:
    table = Grid("Sales", [["", "52 Weeks Ended January 28, 2023", "January 29, 2022"], *WEEKS.rows[1:]])
    text = quotes(f"What were net sales in fiscal {year}?", "Results of fiscal 2022, ended January 28, 2023.", table)
    assert kept in text
    assert sum(cell in text for cell in WEEKS.rows[1][1:]) == 1


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        # A year that ends in January to May is called after either year.
        ("What was net sales in fiscal 2022?", ["May 31, 2023", "May 31, 2022"]),
        ("What was net sales in 2022?", ["May 31, 2023", "May 31, 2022"]),
        # A day is a day.
        ("What was net sales for the year ended May 31, 2022?", ["May 31, 2022"]),
        ("What was net sales for the year ended 31 May 2022?", ["May 31, 2022"]),
        ("How did net sales develop?", ["May 31, 2023", "May 31, 2022", "May 31, 2021", "May 31, 2020"]),
    ],
)
def test_columns_with_end_dates_are_kept_where_they_may_be_the_year_asked_for(question: str, kept: list[str]) -> None:
    assert columns(question, ["May 31, 2023", "May 31, 2022", "May 31, 2021", "May 31, 2020"]) == kept


@pytest.mark.parametrize(
    ("question", "headers", "kept"),
    [
        ("net sales in fiscal 2022?", ["December 31, 2022", "December 31, 2021"], [0]),
        ("net sales in 2022?", ["Sept. 30, 2023", "Sept. 30, 2022"], [1]),
        ("net sales in fiscal 2022?", ["2023", "2022"], [1]),
        ("net sales in Q1 2023?", ["March 31, 2023", "March 31, 2022"], [0]),
        # Whatever the day, a row without a column of that year stays whole.
        ("net sales in the first quarter of fiscal 2024?", ["September 30, 2023", "September 30, 2022"], [0, 1]),
        # Of columns of the same day, a year is asked for unless a part of one is.
        ("net sales of fiscal 2022?", ["13 Weeks January 28, 2023", "52 Weeks January 28, 2023", "Change"], [1]),
        ("net sales of 52 weeks of 2022?", ["13 Weeks January 28, 2023", "52 Weeks January 28, 2023"], [1]),
        # Of parts of a year the one asked for is kept, or without one the longest.
        ("net sales of fiscal 2022?", ["13 Weeks Ended January 28, 2023", "9 Months Ended January 28, 2023"], [1]),
        ("net sales in Q4 2022?", ["13 Weeks January 28, 2023", "52 Weeks January 28, 2023"], [0]),
        ("net sales in the first half of 2023?", ["Three Months Ended June 30, 2023", "6 Months June 30, 2023"], [1]),
        ("net sales in the first nine months of 2023?", ["3 Months Sep. 30, 2023", "9 Months Sep. 30, 2023"], [1]),
        ("net sales in the second quarter of 2022?", ["2Q22", "1Q22", "Six months ended June 30, 2022"], [0]),
        ("net sales?", ["First Quarter", "Second Quarter", "Full Year"], [2]),
        # The year may stand elsewhere, over the table or its columns.
        ("net sales in 2022?", ["First Quarter", "Second Quarter", "Full Year"], [2]),
        ("net sales in the quarter ended June 3, 2016?", ["Quarter Ended March 4", "Quarter Ended June 3"], [1]),
        # Four days a quarter apart are the quarters of a year.
        ("net sales in the third quarter?", ["December 31", "September 30", "June 30", "March 31"], [1]),
        ("net sales in the third quarter?", ["April 30", "July 30", "October 29", "January 28"], [2]),
        ("net sales in fiscal 2022?", ["Fiscal 52 Weeks Ended January 28, 2023", "January 31, 2021"], [0]),
        # A header whose year stands under its day.
        ("net sales in fiscal 2022?", ["Years ended March 31, · 2023", "Years ended March 31, · 2021"], [0]),
        # A header that says the fiscal year besides the date is that year's.
        ("net sales in fiscal 2022?", ["Fiscal 2022 (January 28, 2023)", "Fiscal 2021 (January 29, 2022)"], [0]),
        # What changed in a year is told by it, the one before and a column of changes.
        ("the growth of net sales in 2022?", ["2023", "2022", "2021", "2020", "% Change"], [1, 2, 4]),
        ("net sales in 2022?", ["2023", "2022", "2021", "2020", "% Change"], [1]),
    ],
)
def test_columns_kept(question: str, headers: list[str], kept: list[int]) -> None:
    assert columns(f"What was {question}", headers) == [headers[index] for index in kept]


def test_a_heading_alone_is_no_answer() -> None:
    question = read("Who is the investigator?")
    source = whole(
        make_document(Heading("Subpart D—Responsibilities of Sponsors and Investigators"), "It is Mona Dahl of Bergen.")
    )
    found = quotables(question, Wanted(question.judged), [source])
    assert [one.text for one in found] == ["It is Mona Dahl of Bergen."]


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("What were net sales in 2012?", False),
        ("What were net sales in 2022?", True),
        ("What were net sales in the first quarter of fiscal 2024?", True),  # which may end in 2023
        ("What are the 2029 notes?", True),
    ],
)
def test_a_row_of_other_years_is_no_answer(question: str, answered: bool) -> None:
    rows = [["", "2023", "2022"], ["Net sales", "2,110", "1,110"], ["Notes due 2029", "320", "310"]]
    said = quotes(question, Grid("Sales and debt", rows))
    assert ("<<SOURCE" in said) == answered
    assert ("The figures found are for 2022, 2023, not for 2012." in said) != answered


@pytest.mark.parametrize("said", ["In 2022 net sales increased 18.3%.", ["Net sales", "10.2", "8.6", "18.3%"]])
def test_what_says_a_change_comes_before_amounts(said: str | list[str]) -> None:
    change = said if isinstance(said, str) else Grid("Summary", [["", "2022", "2021", "Change"], said])
    amounts = Grid("Income (in thousands)", [["", "2022", "2021"], ["Net sales", "10,208,580", "8,630,889"]])
    text = quotes("How much did net sales grow in 2022?", amounts, Heading("Results"), change)
    assert "18.3%" in text.partition("\n")[0]


def test_other_names_of_a_term_are_words_of_the_question() -> None:
    source = whole(make_document("Capital expenditure was $9.7 million.", "Weather was mild in the north this year."))
    terms = (Term("capex", ("capital expenditures",)),)
    request = ModelRequest(task=WritingTask("What was the capex?", (source,), terms=terms))
    text = "".join(OfflineWriter(WordReranker(), ANSWER).stream(request))
    assert text.startswith("“Capital expenditure was $9.7 million.” <<SOURCE 1.1>>\n\n")


def test_the_document_that_the_question_names_is_quoted_first() -> None:
    ours, theirs = (make_document("Revenues rose 10% this year.", doc_id=name * 16, title=name) for name in "ab")
    made = tuple(replace(whole(doc), number=n) for n, doc in enumerate((theirs, ours), start=1))
    routes = (Route(ours.doc_id, 1.0, "a"), Route(theirs.doc_id, 0.1))
    request = ModelRequest(task=WritingTask("How did revenues rise?", made, routes=routes))
    assert "<<SOURCE 2.1>>" in "".join(OfflineWriter(WordReranker(), ANSWER).stream(request))


def test_a_year_that_is_asked_for_comes_before_rows_of_others() -> None:
    text = quotes(
        "What net sales does the company expect for fiscal 2023?",
        "Results of fiscal 2022, ended January 28, 2023.",
        Grid(
            "Net sales of the company", [["", "January 28, 2023", "January 29, 2022"], ["Net sales", "10,208", "8,630"]]
        ),
        "The company expects the following.",
        Grid("Outlook", [["", "Range"], ["Net sales", "$10.95 to $11.05 billion"]]),
    )
    assert "11.05" in text.partition("\n\n")[0]


def test_an_item_is_quoted_with_what_leads_it_in() -> None:
    tools = "Any tool that was lost in the harbour, with its name, its owner and its place. " * 8
    text = quotes(
        "Must any suit that was torn under water be reported?",
        Item("(c) Reports. (1) A diver must report each of these within nine calendar days:"),
        Item(f"(i) Lost tools. {tools}"),
        Item(f"(ii) Borrowed tools. {tools}"),
        Item(f"(iii) Found tools. {tools}"),
        Item("(iv) Torn suits. Any suit that was torn under water."),
        Item("(d) A diver may keep a suit."),
    )
    first = text.partition("\n\n")[0]
    assert "within nine calendar days:” <<SOURCE 1.1>>" in first
    assert "torn under water" in first
    assert "tool" not in first


def test_a_list_is_found_by_the_heading_of_its_section() -> None:
    text = quotes(
        "What must the yearly report contain?",
        Heading("§ 12.32 Logs of divers."),
        "A diver must keep a log, which the report may contain.",
        Heading("§ 12.33 Yearly report."),
        "Within 60 days of the new year it is sent in, with:",
        Item("(a) the hours under water;"),
        Item("(b) the tools that were lost."),
    )
    assert "(a) the hours under water;" in text.partition("\n\n")[0]


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_list_whose_passage_ends_says_how_many_items_follow(after: int) -> None:
    items = [Item(f"({n}) bring tool {n};") for n in range(1, 4 + after)]
    doc = make_document("A diver must bring:", *items, "It rained in May.")
    end = doc.elements[3].end
    found = Retrieval("q", "hybrid", (), (Segment(doc.doc_id, 0, end, 0, 0, 1.0),))
    request = ModelRequest(task=WritingTask("What must a diver bring?", build_sources(found, lambda _: doc, ANSWER)))
    text = "".join(OfflineWriter(WordReranker(), ANSWER).stream(request))
    assert "(3) bring tool 3;” <<SOURCE" in text
    assert ("more item" in text) == (after > 0)
    assert after == 0 or f"\n{after} more item{'s' * (after > 1)} of this list on its page.\n" in text


def test_the_best_quote_comes_first_however_relevant_its_source_is_as_a_whole() -> None:
    near, far = (replace(one, score=score) for one, score in zip(sources(PROSE, IND), (0.99, 0.01), strict=True))
    question = "What effect did the IND have in fiscal 2023, after FDA receives it?"
    text = "".join(
        OfflineWriter(WordReranker(), ANSWER).stream(build_request(question, (near, far), (), document, SETTINGS))
    )
    assert "“An IND goes into effect 30 days after FDA receives it.” <<SOURCE 2." in text.partition("\n")[0]
