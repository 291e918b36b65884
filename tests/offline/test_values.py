"""The value that a simple question asks for, and when there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcore.answer.cite import Citer, Marker, MarkerParser
from ragcore.answer.sources import build_sources
from ragcore.offline.fields import wish
from ragcore.offline.figures import figures
from ragcore.offline.likely import names_in
from ragcore.offline.question import requirement
from ragcore.offline.quotes import quotables
from ragcore.offline.rows import form_line
from ragcore.offline.values import field_values
from ragcore.offline.writer import OfflineWriter
from ragcore.protocols import ModelRequest, WritingTask
from ragcore.retrieve.synonyms import Synonyms
from ragcore.text.terms import Wanted
from ragcore.types import Document, Retrieval, Route, Segment
from ragcore.types.report import NOTHING_STATED, ValueSort
from tests.answer.samples import SETTINGS
from tests.documents import Grid, Heading, Item, make_document
from tests.offline.test_offline import WordReranker, whole

SYNONYMS = Synonyms.load()
YEARS = ["", "2018", "2017", "2016"]
CASH = Grid(
    "Consolidated Statement of Cash Flows (Millions)",
    [
        YEARS,
        ["Net income", "5,363", "4,869", "5,058"],
        ["Purchases of property, plant and equipment (PP&E)", "(1,577)", "(1,373)", "(1,420)"],
        ["Proceeds from sale of PP&E and other assets", "262", "49", "58"],
    ],
)
ASSETS = Grid(
    "Consolidated Balance Sheet (Millions)",
    [["", "2018", "2017"], ["Property, plant and equipment", "8,738", "8,866"], ["Total assets", "36,500", "37,987"]],
)


def written(question: str, *documents: Document, routes: tuple[Route, ...] = ()) -> str:
    segments = tuple(Segment(doc.doc_id, 0, len(doc.text), 0, 0, 1.0) for doc in documents)
    by_id = {doc.doc_id: doc for doc in documents}
    made = build_sources(Retrieval("q", "hybrid", (), segments), by_id.__getitem__, SETTINGS.answer)
    task = WritingTask(question, made, SYNONYMS.terms(question), routes)
    request = ModelRequest(task=task)
    text = "".join(OfflineWriter(WordReranker(), SETTINGS.answer).stream(request))
    parser, citer = MarkerParser(), Citer(made, by_id.__getitem__)
    for item in [*parser.feed(text), *parser.finish()]:
        if isinstance(item, Marker):
            assert item.no_answer or not citer.resolve(item)[1]
    return text


def first_line(question: str, *blocks: Grid | Heading | str) -> str:
    """The value that is handed out, "" where there is none."""
    line = written(question, make_document(*blocks)).partition("\n")[0]
    return line if "**" in line else ""


@pytest.mark.parametrize(
    "question",
    [
        "What was 3M's capex in FY2018?",
        "What were capital expenditures in 2018?",
        "How much were the purchases of property, plant and equipment in fiscal 2018?",
    ],
)
def test_a_cell_by_its_row_and_its_year(question: str) -> None:
    document = make_document(CASH, ASSETS, title="3M 10-K 2018")
    line, _, rest = written(question, document).partition("\n\n")
    name = "Purchases of property, plant and equipment (PP&E)"
    assert line == f"{name}, 2018: **(1,577)** (millions) <<SOURCE 1.9>>"
    assert f"| {name} | 2018 | (1,577) <<SOURCE 1.9>> |" in rest


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("What was net income in 2017?", "4,869"),
        ("What were total assets in 2018?", "36,500"),
        ("What is the value of property, plant and equipment at the end of 2017?", "8,866"),
        ("Net income in 2017?", ""),
        # No year, several years, one that no column has.
        ("What was net income?", ""),
        ("What was net income in 2016, 2017 and 2018?", ""),
        ("What was net income in 2012?", ""),
        # Yes or no, lists, reasons, and what has to be worked out.
        ("Did net income rise in 2018?", ""),
        ("Why was net income low in 2018?", ""),
        ("What was the change in net income in 2018?", ""),
        ("Which was larger in 2018, net income or total assets?", ""),
        # Something else of nearly the same name.
        ("What was the net income per share in 2018?", ""),
        ("What was the net income of the Tallis segment in 2018?", ""),
        ("What was the property in 2018?", ""),
        ("What was net income in the second quarter of 2018?", ""),
    ],
)
def test_only_what_is_certain(question: str, figure: str) -> None:
    line = first_line(question, CASH, ASSETS)
    assert f"**{figure}**" in line if figure else line == ""


def test_a_statement_comes_before_a_summary_that_differs() -> None:
    summary = Grid("Selected data (Millions)", [YEARS, ["Net income", "5,363", "4,868", "5,058"]])
    text = written("What was net income in 2017?", make_document(summary, CASH))
    assert text.startswith("Net income, 2017: **4,869** (millions) <<")


def test_of_two_tables_that_differ_none_is_certain() -> None:
    other = Grid("Consolidated Statement of Income (Millions)", [YEARS, ["Net income", "5,363", "4,868", "5,058"]])
    assert "**" not in written("What was net income in 2017?", make_document(other, CASH))
    assert "**5,363**" in written("What was net income in 2018?", make_document(other, CASH))


def test_of_two_tables_that_differ_at_one_day_none_is_certain() -> None:
    at = ["", "December 31, 2018", "December 31, 2017"]
    one = Grid("Consolidated Balance Sheet (Millions)", [at, ["Total assets", "36,500", "37,987"]])
    other = Grid("Consolidated Balance Sheet (Millions)", [at, ["Total assets", "36,500", "39,078"]])
    assert "**" not in written("What were total assets in 2017?", make_document(one, other))
    assert "**36,500**" in written("What were total assets in 2018?", make_document(one, other))


def test_a_figure_rounded_elsewhere_is_the_same() -> None:
    exact = Grid("Statements of Income (in thousands)", [YEARS, ["Net income", "5,363,211", "4,868,900", "5,058,000"]])
    assert "**" in written("What was net income in 2017?", make_document(CASH, exact))


def test_a_scale_said_above_the_table_is_the_unit() -> None:
    table = Grid("Income", [["", "2018", "2017"], ["Net income", "5,363", "4,869"]])
    above = "All amounts are in millions of dollars, unless said."
    text = written("What was net income in 2018?", make_document(above, table))
    assert "| Net income | 2018 | 5,363 <<SOURCE 1.5>> | in millions |" in text


def units_of(text: str) -> list[str]:
    """Last column of the rows of the table in an answer, "" if it has no column of units."""
    head, *rows = [line.strip("| ").split(" | ") for line in text.replace("|  |", "| - |").splitlines() if "|" in line]
    return [row[-1].strip(" -") if head[-1] == "Unit" else "" for row in rows[1:]]


@pytest.mark.parametrize(
    "above",
    [
        "(In thousands, except per share data)",
        "(In thousands, except share and per share data)",
        "(Except for per share data, in thousands)",
        "(In thousands, except par value)",
        "Selected data (presented in thousands, except per-share amounts and head count):",
    ],
)
def test_what_a_scale_does_not_except_has_it_without_a_sign_of_money(above: str) -> None:
    rows = [["Total revenue", "5,854,430", "4,795,511"], ["Operating income", "1,493,602", "903,095"]]
    table = Grid("", [["", "2016", "2015"], *rows])
    line = written("What was total revenue in 2016?", make_document(above, table)).splitlines()[0]
    assert "thousands)" in line
    assert "5,854,430" in line


def test_a_scale_of_a_table_under_another_heading_is_not_that_of_a_row() -> None:
    scaled = ("Cash flows", "(in thousands)", Grid("", [["", "2018"], ["Net income", "5,363"]]))
    stores = Grid("", [["", "2018"], ["Gross square feet", "13,922,600"]])
    assert "(in thousands)" in first_line("What was net income in 2018?", *scaled)
    line = first_line("What were gross square feet in 2018?", *scaled, Heading("Stores", 1), stores)
    assert "**13,922,600**" in line
    assert "thousands" not in line


def test_a_count_among_amounts_with_decimals_is_not_in_their_money() -> None:
    rows = [["", "2018", "2017"], ["Net sales", "$ 3,226.8", "$ 2,729.4"], ["Gross profit", "1,213.0", "1,027.9"]]
    table = Grid("Results (Dollars in millions)", [*rows, ["New stores, net", "47", "44"]])
    assert "millions" in first_line("What was gross profit in 2018?", table)
    assert first_line("How many new stores, net, were there in 2018?", table).count("47") == 1
    assert "millions" not in first_line("How many new stores, net, were there in 2018?", table)


def test_a_scale_beside_one_year_is_that_of_the_others() -> None:
    table = Grid(
        "Consolidated Balance Sheets",
        [
            ["", "As of December 31, 2017", "2016", "2015 (in thousands)", "2014"],
            ["Long-term debt", "6,499,432", "3,364,311", "2,371,362", "885,849"],
        ],
    )
    assert "(in thousands)" in written("What was long-term debt in 2017?", make_document(table)).splitlines()[0]


def test_a_scale_beside_one_quantity_is_not_that_of_another() -> None:
    head = ["", "Shares granted (thousands)", "Price paid", "Years remaining"]
    table = Grid("Options", [head, ["Ending outstanding", "1,210", "38.13", "4.2"]])
    text = written("What is the price paid of ending outstanding?", make_document(table))
    assert "38.13" in text
    assert not any(units_of(text))
    assert "(thousands)" not in text.splitlines()[0].replace("Shares granted (thousands)", "")


@pytest.mark.parametrize(
    ("above", "column"),
    [
        ("(in thousands, except average amounts)", "Average"),
        ("(in millions, except head counts)", "Head count"),
        ("(In millions, except number of shares)", "Shares"),
        ("(in thousands, except ratios and percentages)", "Percentage of total"),
    ],
)
@pytest.mark.parametrize("money", ["$ ", ""])
def test_what_a_scale_excepts_has_none(above: str, column: str, money: str) -> None:
    table = Grid("", [["", column, "Cost"], ["Repurchases of January", f"{money}97.16", f"{money}1,013"]])
    text = written("What were the repurchases of January?", make_document("Repurchases", above, table))
    given = dict(zip(["97.16", "1,013"], units_of(text), strict=True))
    assert not given["97.16"]
    assert given["1,013"] == above.strip("(").partition(",")[0]


def test_points_under_a_column_of_percent_have_no_scale_of_money() -> None:
    rows = [["Compensation of staff", "6%", "2%"], ["Consulting fees", "4", "(1)"], ["3.25% notes", "12", "11"]]
    table = Grid("Changes (dollars in millions)", [["", "% Change 2016-2015", "% Change 2015-2014"], *rows])
    assert not any(units_of(written("How did consulting fees change?", make_document(table))))
    debts = Grid("Debt (dollars in millions)", [["", "2016", "2015"], ["3.25% notes", "600", "550"]])
    assert "(dollars in millions)" in written("What were the 3.25% notes in 2016?", make_document(debts))


@pytest.mark.parametrize("scale", ["$'000s", "EUR million", "£m"])
def test_a_scale_is_read_as_accountants_write_it(scale: str) -> None:
    table = Grid(f"Balance Sheet ({scale})", [["", "2018", "2017"], ["Total assets", "36,500", "37,987"]])
    assert f"**36,500** ({scale})" in written("What were total assets in 2018?", make_document(table))


def test_the_document_that_the_question_names_comes_first() -> None:
    ours = make_document(CASH, doc_id="a" * 16, title="3M 10-K 2018")
    row = ["Net income", "9,100", "8,700", "8,100"]
    theirs = make_document(Grid("Consolidated Statement of Income", [YEARS, row]), doc_id="b" * 16, title="Acme")
    routes = (Route("a" * 16, 1.0, "3M"), Route("b" * 16, 0.1))
    text = written("What was 3M's net income in 2018?", theirs, ours, routes=routes)
    assert text.startswith("3M 10-K 2018: Net income, 2018: **5,363** (millions) <<SOURCE 2")
    text = written("What was net income in 2018?", theirs, ours)
    assert "| 3M 10-K 2018: " in text
    assert "| Acme: " in text


@pytest.mark.parametrize(
    ("question", "figure"),
    [("What was long-term debt in 2020?", ""), ("What was other long-term debt in 2020?", "4")],
)
def test_the_other_kind_of_a_thing_is_not_the_thing(question: str, figure: str) -> None:
    table = Grid("Debt by maturity (Millions)", [["", "2020", "2019"], ["Other long-term debt", "4", "7"]])
    assert figure in first_line(question, table)
    assert bool(first_line(question, table)) == bool(figure)


INCOME = Grid(
    "Income Statements (Millions)",
    [
        ["", "2022", "2021"],
        ["Other income (expense), net", "(431)", "333"],
        ["Income before income taxes", "19,751", "18,507"],
        ["Net income", "16,798", "12,193"],
    ],
)
BALANCE = Grid(
    "Balance Sheets (Millions)",
    [["", "2022", "2021"], ["Other assets", "841", "883"], ["Current liabilities", "1,403", "1,210"]],
)


@pytest.mark.parametrize(
    ("question", "figure", "table"),
    [
        ("What was net income in 2022?", "16,798", INCOME),
        ("What were income taxes in 2022?", "", INCOME),
        ("What was the net loss in 2022?", "", INCOME),
        ("What were total assets in 2022?", "", BALANCE),
        ("What were current liabilities in 2022?", "1,403", BALANCE),
    ],
)
def test_a_value_is_not_that_of_something_like_it(question: str, figure: str, table: Grid) -> None:
    line = first_line(question, table)
    assert figure in line
    assert bool(line) == bool(figure)


class SureReranker(WordReranker):
    """Sure of a passage with most of the words, and that others are about something else."""

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        return np.where(super().score(query, passages) > 0.5, 1 - 1e-6, 1e-6)


def stated(sort: ValueSort, name: str, question: str, *blocks: Grid | str, unit: str = "") -> str:
    """Value of a field in a document, "" without one."""
    both = f"{name} {question}"
    found = list(quotables(requirement(both), Wanted(both), [whole(make_document(*blocks))]))
    asked = wish(name, question, unit, (), wanted=sort)
    given = field_values(asked, found, (), NOTHING_STATED, SureReranker())
    return next((one.figure for one in given if one.certain), "")


FORM = (
    "Invoice date: 14 March 2025",
    "Due date: 13 APRIL 2025",
    "Customer account: MQH-0077",
    "CAS number: 3344-18-1",
    "Retest date ...... about 1 December 2027",
    "Principal investigator: Dr. Yusuf Tembo",
    "Co-investigator: Dr. Hanne Solberg",
    "Planned sites: 58 sites in 11 countries of Europe",
)


@pytest.mark.parametrize(
    ("sort", "name", "question", "value"),
    [
        ("date", "Due date", "Date by which payment is due", "13 APRIL 2025"),
        ("date", "Retest date", "Retest date", "1 December 2027"),
        ("name", "Account", "Customer account", "MQH-0077"),
        ("name", "CAS number", "CAS number of the product", "3344-18-1"),
        ("name", "Principal investigator", "Who is the principal investigator?", "Dr. Yusuf Tembo"),
        ("name", "Approver", "Approver", ""),
    ],
)
def test_a_form_gives_the_value_beside_its_label(sort: ValueSort, name: str, question: str, value: str) -> None:
    assert stated(sort, name, question, *FORM) == value


@pytest.mark.parametrize(
    ("name", "question", "said", "figure"),
    [
        ("Salary", "What is the salary?", ("Salary: see Section 4", "The salary is £500."), "£500"),
        ("Sites", "How many sites are there?", ("Sites: Building 7, Leeds",), ""),
        ("Price", "What is the price?", ("Price: 15:30",), ""),
        ("Remarks", "How many remarks are there?", (Grid("Remarks", [["—", "5"], ["Remarks", "none"]], 0),), ""),
        ("Rent", "What is the rent?", ("Rent: about GBP 46,800 a year",), "about GBP 46,800 a year"),
    ],
)
def test_a_form_s_line_gives_an_amount_only_as_its_value(
    name: str, question: str, said: tuple[str | Grid, ...], figure: str
) -> None:
    assert stated("figure", name, question, *said) == figure


PILLOW = "Go to sleep and place your phone within 50 cm of your pillow."


@pytest.mark.parametrize(("year", "figure"), [("2022", "10,208.6"), ("2021", "8,630.9"), ("2023", "")])
def test_a_value_is_of_the_year_as_its_document_calls_it(year: str, figure: str) -> None:
    head = ["", "52 Weeks Ended January 28, 2023", "52 Weeks Ended January 29, 2022"]
    table = Grid("Sales (in millions)", [head, ["Net sales", "10,208.6", "8,630.9"]])
    said = "Larkfield announces its results of fiscal 2022, which ended January 28, 2023."
    assert stated("figure", "Net sales", f"What were net sales in fiscal {year}?", said, table) == figure


@pytest.mark.parametrize(
    ("said", "figure"),
    [
        ([PILLOW], "50 cm"),
        ([PILLOW, "At night a phone uses 80 W."], "50 cm"),
        ([PILLOW, "Place your phone 80 cm from the pillow, then go to sleep."], ""),
        (["The phone weighs 300 g and the pillow 2 kg."], ""),
        (["The strap is 50 cm long."], ""),
    ],
)
def test_the_place_that_ranks_first_gives_a_value_if_it_stands_out(said: list[str], figure: str) -> None:
    question = "How near to your pillow do you place your phone to go to sleep?"
    assert stated("figure", "Distance", question, *said, unit="cm") == figure


STATEMENT = Grid(
    "Statements of Income (in millions)",
    [["", "2022", "2021"], ["Net sales", "1,110", "980"], ["Net income", "310", "210"]],
)
PARTS = Grid(
    "Sales of Pumps (in millions)",
    [["", "2022", "2021"], ["Pump sales in Norway", "40", "35"], ["Pump sales in Chile", "12", "11"]],
)
SAID = "Of the net sales of 2022, a large customer bought pumps for $77 million, $60 million and $51 million."


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("What were net sales in 2021?", "980"),
        ("What were net sales?", "1,110"),
        ("Pump sales in Norway in 2021", "35"),
        ("What were pump sales in Peru in 2022?", ""),
        ("How much did the large customer buy pumps for?", ""),
        ("What were net sales in 2020?", ""),
        ("What were net sales in the second quarter of 2022?", ""),
        ("What was the change in net sales?", ""),
        ("What percentage of net sales was net income in 2022?", ""),
    ],
)
def test_a_question_gets_the_figure_of_the_quote_that_answers_it_best(question: str, figure: str) -> None:
    assert stated("figure", question, question, SAID, STATEMENT, PARTS) == figure
    cut = f"{question[:22]}…"
    assert stated("figure", cut, question, SAID, STATEMENT, PARTS) == figure, "its head may be cut"


QUARTER = Grid("Sales", [["", "Three months ended June 30, 2022"], ["Net sales", "40"]])


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What were net sales in 2022?", QUARTER),
        ("What were net sales in 2022?", "Net sales are expected to be $5 million in 2022."),
        ("What were net sales in 2022?", "Net sales in 2022 were not $5 million."),
        ("What is the weight of the pump?", "Weight of the pump: see Section 4"),
        ("How many sites are there?", "Sites: Building 7, Leeds"),
        ("How many employees were there in 2022?", Grid("Costs", [["", "2022"], ["Employees", "$ 40"]])),
        ("How many years is the lease?", Grid("Leases", [["", "2022"], ["Lease", "40"]])),
        ("Revenue", Grid("Sales", [["", "2022"], ["Cost of revenue", "40"]])),
    ],
)
def test_what_is_not_asked_for_is_no_figure_of_a_question(question: str, said: str | Grid) -> None:
    assert stated("figure", question, question, said) == ""


ADVERTISING = "Advertising costs for fiscal 2022, 2021 and 2020 were $104 million, $86 million and $59 million."


@pytest.mark.parametrize(
    ("asked", "said", "figure"),
    [
        ("What were advertising costs?", ADVERTISING, "$104 million"),
        ("What were advertising costs in 2021?", ADVERTISING, "$86 million"),
        ("What were advertising costs in 2019?", ADVERTISING, ""),
        (
            "What was rent in 2019?",
            "Rent was $14 million and $16 million in 2020 and 2019, respectively.",
            "$16 million",
        ),
        ("What was rent in 2019?", "Rent was $14 million, of which $9 million for 2020 and 2019 in Chile.", ""),
        ("What was rent in 2021?", "Rent was $60 million and costs were $40 million in 2022 and 2021.", ""),
        ("What was rent in 2021?", "Rent was $5 million ($6 million with taxes) in 2022 and 2021.", ""),
        ("What was rent in 2021?", "Rent rose by $4 million to $60 million in 2022 from 2021.", ""),
        (
            "What was rent in 2021?",
            "Rent was $56 million and $60 million for the quarters ended June 2022 and 2021.",
            "",
        ),
    ],
)
def test_figures_are_of_the_years_in_whose_order_they_stand(asked: str, said: str, figure: str) -> None:
    assert stated("figure", asked, asked, said) == figure


OFFICERS = Grid(
    "Executive officers",
    [
        ["Name", "Age", "Position"],
        ["Daniel Durn", "56", "Executive Vice President and Chief Financial Officer"],
        ["Gloria Chen", "58", "Chief People Officer"],
    ],
)
SIGNED = ["Daniel Durn, our Chief Financial Officer, spoke.", "/s/ Daniel Durn Chief Financial Officer"]
FORMER = "Shawn M. Guertin has been Chief Financial Officer of Belford Health Corporation since May 2021."


def test_what_the_holder_of_an_office_earns_is_no_person() -> None:
    said = "The salary of the chief financial officer, Daniel Durn, was $912,000."
    assert stated("figure", "Salary of the chief financial officer", "", said, unit="USD") == "$912,000"


@pytest.mark.parametrize(
    ("said", "person"),
    [
        ([OFFICERS], "Daniel Durn"),
        ([FORMER], "Shawn M. Guertin"),
        (["/s/ DANIEL DURN Daniel Durn Chief Financial Officer Date: May 4, 2023"], "Daniel Durn"),
        (["Daniel Durn retired as Chief Financial Officer in May."], ""),
        (["Mr. Durn is on the board with the former Chief Financial Officer Gloria Chen."], ""),
        (["Gloria Chen is Vice Chief Financial Officer."], ""),
        (["Former Chief Financial Officer Jane Doe left."], ""),
        (["Noel Quinn Group Chief Financial Officer"], "Noel Quinn"),
        (["Jean-Pierre Jones-Dupont, Co-Chief Financial Officer"], "Jean-Pierre Jones-Dupont"),
        (["J P Smith J P, Chief Financial Officer"], "J P Smith J P"),
        (["Goldman Larkfield, Inc., Chief Financial Officer"], ""),
        (["Gloria Chen, Chief Financial Officer", "Daniel Durn signs as Chief Financial Officer."], ""),
        ([OFFICERS, "Gloria Chen was Chief Financial Officer of NXP.", *SIGNED], "Daniel Durn"),
        (["The Chief Financial Officer signs the accounts of Belford Health Corporation."], ""),
    ],
)
def test_an_office_is_held_by_a_person(said: list[Grid | str], person: str) -> None:
    assert stated("name", "CFO", "Who is the chief financial officer?", *said) == person


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("The law is that of England and Wales. It may be amended only in writing.", "England and Wales"),
        ("The auditor is Smith & Co. It was appointed in May.", "Smith & Co"),
        ("The auditor is J. R. Lund of Lund & Sons.", "J. R. Lund of Lund & Sons"),
        ("The auditor is Lund & Sons, Inc., the firm here.", "Lund & Sons, Inc"),
        ("The law is that of England, the oldest here.", "England"),
    ],
)
def test_a_name_ends_with_its_sentence(said: str, name: str) -> None:
    asked = wish("Who", "Which law, and which auditor?", "", (), wanted="name")
    quotes = quotables(requirement("Who"), Wanted("Who"), [whole(make_document(said))])
    assert [one for quote in quotes for one in names_in(asked, quote, frozenset({"the"}))] == [name]


@pytest.mark.parametrize(
    ("company", "said", "names"),
    [
        ("Larkfield Steel Co", "Larkfield Steel Co is a holding company of Ohio.", ["Ohio"]),
        ("Oslo Times Co", "The Oslo Times Company was founded in Oslo.", ["Oslo"]),
    ],
)
def test_a_filing_s_own_company_is_no_name_in_it(company: str, said: str, names: list[str]) -> None:
    read = replace(make_document(said), title=f"{company} Form 10-K 2021")
    asked = wish("State", "State of incorporation", "", (), wanted="name")
    quotes = quotables(requirement("State"), Wanted("State"), [whole(read)])
    assert [one for quote in quotes for one in names_in(asked, quote, frozenset({"the"}))] == names


COST = "In 2004, costs amounted to EUR 1 107 million: the cost of a student was EUR 8 467."


@pytest.mark.parametrize(("year", "figure"), [("2004", "EUR 8 467"), ("2005", "")])
def test_a_clause_is_of_the_year_of_its_sentence(year: str, figure: str) -> None:
    assert stated("figure", "Student", f"Cost of a student in {year}", COST, unit="EUR") == figure


@pytest.mark.parametrize(
    ("said", "place"),
    [
        (["The factory was built in San Francisco.", "The factory was built in San Jose."], ""),
        (["The factory was built in San Jose.", "So the factory was built in San Jose."], "San Jose"),
    ],
)
def test_names_that_begin_alike_are_two(said: list[str], place: str) -> None:
    assert stated("name", "Place", "Where was the factory built?", *said) == place


SHARE = "Research and development expense was $11.9 million, or 8.0% of revenue, most of it for one product."


@pytest.mark.parametrize(("name", "figure"), [("Revenue", ""), ("Research expense", "$11.9 million")])
def test_what_a_percentage_is_of_is_not_given(name: str, figure: str) -> None:
    assert stated("figure", name, name, SHARE, unit="USD million") == figure


@pytest.mark.parametrize(
    ("name", "question", "unit", "said"),
    [
        ("Revenue", "Revenue of the company", "USD million", "The company expects revenue of $50 million."),
        ("Revenue", "Revenue of the company", "USD million", "Revenue of the company would be $50 million then."),
        ("Employees", "Number of employees of the company", "employees", "The company has employees in 35 countries."),
        ("Employees", "Number of employees", "employees", "The number of employees is not more than 500."),
        ("Revenue", "Revenue of the company", "", Grid("Results", [["", "2022"], ["Cost of revenue", "40"]])),
    ],
)
def test_what_is_uncertain_or_of_something_else_is_no_value(
    name: str, question: str, unit: str, said: Grid | str
) -> None:
    assert stated("figure", name, question, said, unit=unit) == ""


@pytest.mark.parametrize(
    ("said", "day"),
    [
        (["The company was founded in 1998."], "1998"),
        (["The company was founded in May 1998."], "May 1998"),
        (["The company was founded in 1998.", "The company was founded on 3 May 1998."], "3 May 1998"),
        (["The company was founded under the Companies Act 1998."], ""),
        (["The company founded the 1998 Plan."], ""),
        (["The company was not founded in 1998."], ""),
    ],
)
def test_a_date_is_a_day_or_the_year_in_which_something_is_said_to_be(said: list[str], day: str) -> None:
    assert stated("date", "Founded", "When was the company founded?", *said) == day


def test_what_stands_in_brackets_behind_a_date_is_said_of_that_date() -> None:
    said = "The lease runs from August 19, 2022 (the “Start of the Lease”) through January 31, 2026 (the “Term”)."
    assert stated("date", "Start", "Start of the lease", said) != "January 31, 2026"


@pytest.mark.parametrize(("name", "day"), [("Date of report", "May 20, 2022"), ("Date of event", "May 18, 2022")])
def test_a_label_with_another_in_brackets_gives_each_its_value(name: str, day: str) -> None:
    said = "Date of report (Date of earliest event reported): May 20, 2022 (May 18, 2022)"
    assert stated("date", name, name, said) == day


def test_days_until_an_annual_report_are_not_of_a_year() -> None:
    question = "How many days after the anniversary is the annual report due?"
    said = "The annual report is due unless waived 60 days after the anniversary."
    assert stated("figure", question, question, said) == "60 days"


def test_a_sentence_is_read_without_the_list_that_it_leads_in() -> None:
    listed = [Item(f"({letter}) The planned purpose of the trial, as was expected.") for letter in "ab"]
    said = "The sponsor shall report within 60 days of the anniversary the following:"
    name = "Report of the sponsor within days of the anniversary"
    assert stated("figure", name, name, said, *listed, unit="days") == "60 days"


def test_the_number_of_an_item_is_no_figure() -> None:
    asked = wish("Forms", "Number of forms of the sponsor", "", (), wanted="figure")
    document = make_document("(1) Forms of the sponsor and its 3 sites.")
    (quote,) = quotables(requirement("Forms"), Wanted("Forms"), [whole(document)])
    assert [one.text for one in figures(asked, quote, 0)] == ["3"]


def test_nobody_is_an_act() -> None:
    asked = wish("Signatory", "Who signed the report?", "", (), wanted="name")
    document = make_document("Under the Exchange Act, the report was signed by Jane Roe of Lund & Sons, Inc.")
    (quote,) = quotables(requirement("Who"), Wanted("Who"), [whole(document)])
    assert names_in(asked, quote, frozenset({"the"})) == ["Jane Roe of Lund & Sons, Inc"]


@pytest.mark.parametrize(
    "said", ["Jane Roe, former Chief Financial Officer, left.", "Jane Roe, Deputy Chief Financial Officer"]
)
def test_who_left_an_office_or_stands_in_does_not_hold_it(said: str) -> None:
    assert stated("name", "CFO", "Who is the chief financial officer?", said) == ""


def test_a_row_of_somebody_whom_the_question_names_does_not_say_who() -> None:
    votes = Grid("Votes", [["Name", "For", "Against"], ["Richard Johnson", "54,484", "16,105"]])
    said = "The board announced that Mary Dillon replaces Johnson as chief executive of the company in September."
    document = make_document(votes, said)
    assert written("Who replaces Richard Johnson as chief executive?", document).startswith("“The board announced")


def test_a_value_that_is_cut_behind_an_item_s_number_is_none() -> None:
    assert form_line(1, "Primary endpoint: Phase II 1.") is None
    assert form_line(1, "Primary endpoint: survival at 24 months") is not None


def test_what_is_said_of_the_year_comes_before_figures_of_another() -> None:
    outlook = Grid("Outlook", [["", "FY23 outlook"], ["Effective tax rate", "24.6%"]])
    said = "The effective tax rate increased to 24.4% compared to 23.9% in fiscal 2021."
    text = written(
        "What was the effective tax rate in fiscal 2022?", make_document(Heading("Fiscal 2022"), said, outlook)
    )
    assert text.startswith(f"“{said}”")


def test_paragraphs_below_a_heading_are_no_list() -> None:
    pumps = (
        "Sales of pumps rose by 18% to $3.2 billion in the year, since prices rose and new models were well received. "
    )
    wells = (
        "Costs of wells fell by 4% to $1.1 billion in the year, since wages fell and fewer wells were dug than before. "
    )
    document = make_document(Heading("The year of 2022"), Item(pumps * 2), Item(wells * 2))
    text = written("Why did sales of pumps rise in the year 2022?", document)
    assert "Sales of pumps" in text.partition("<<")[0]
    assert "Costs of wells" not in text.partition("<<")[0]
