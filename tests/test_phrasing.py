"""Questions made of a document's cells, headings, terms and sentences: natural ones, or none."""

from __future__ import annotations

import pytest

from ragcore.suggest.phrasing import Heading, heading, inside, of_cell, of_heading, of_term
from ragcore.suggest.telling import defined, of_cause, of_duty
from ragcore.text.words import word_set

WORDS = word_set("""
    cost of sales net income annual reports phases an investigation clinical holds and requests for modification the
    balance sheets year at glance results operations total revenue inventories employees field sensors laboratory
    balances filing review assessment Adobe Aberfeld
""")


@pytest.mark.parametrize(
    ("row", "column", "question"),
    [
        ("Inventories", "December 31, 2022", "What were inventories at December 31, 2022?"),
        ("Inventories", "As of December 31, 2022", "What were inventories at December 31, 2022?"),
        ("Net cash provided by operations", "Fiscal 2021", "What was net cash provided by operations in fiscal 2021?"),
        ("Net income", "Year Ended December 2, · 2022", "What was net income in the year ended December 2, 2022?"),
        ("EBITDA", "2020", "What was EBITDA in 2020?"),
        ("Cost of sales (1)", "2020", "What was the cost of sales in 2020?"),
        ("Property and equipment, net", "2020", "What was property and equipment, net, in 2020?"),
        ("Sales, general and other expenses", "2020", "What were sales, general and other expenses in 2020?"),
        ("Gross margin", "Change", "How did gross margin change?"),
        ("Ethanol", "Boiling point", "What is the boiling point of ethanol?"),
        ("Total", "2020", ""),
        ("as a percent of revenue", "2020", ""),
        ("Percentage of total revenue", "2020", ""),
        ("12", "2020", ""),
        ("Revenue", "%", ""),
        ("Revenue", "2022 vs 2021", ""),
        ("Aberfeld", "2020", ""),
        ("§ 312.120", "Review of ongoing investigations.", ""),
        ("Moody’s", "Outlook", ""),
    ],
)  # fmt: skip
def test_a_cell_is_asked_for_by_its_headers(row: str, column: str, question: str) -> None:
    assert of_cell(row, column, WORDS | {"ethanol", "boiling", "point"}) == question


def test_a_part_is_asked_for_by_what_its_table_measures() -> None:
    title = "Results of operations Revenue by segment (in thousands)"
    assert of_cell("Field Sensors", "2025", WORDS, title) == "What was the revenue of Field Sensors in 2025?"
    assert of_cell("Aberfeld", "2025", WORDS, "Employees by site") == "How many employees did Aberfeld have in 2025?"
    assert of_cell("Field service, 14 countries", "2025", WORDS, "Employees by site") == ""
    assert of_cell("Developed Europe", "2025", WORDS, "The following summarizes revenues by area") == ""


@pytest.mark.parametrize(
    ("name", "within"),
    [
        ("Cost of sales", "cost of sales"),
        ("NET INCOME", "net income"),
        ("Jordan Brand", "Jordan Brand"),
        ("Aberfeld", "Aberfeld"),
        ("FDA", "FDA"),
        ("ADOBE BALANCE SHEETS", "Adobe balance sheets"),
        ("Filing Review and Assessment", "filing review and assessment"),
    ],
)
def test_names_within_a_sentence(name: str, within: str) -> None:
    assert inside(name, WORDS) == within


@pytest.mark.parametrize(
    ("text", "label", "name"),
    [
        ("4.2 Results of operations", "", "Results of operations"),
        ("Item 7. The year at a glance", "", "The year at a glance"),
        ("IV. Legal proceedings", "", "Legal proceedings"),
        ("§ 312.42 Clinical holds and requests.", "§ 312.42", "Clinical holds and requests"),
        ("Note 7 — Debt", "Note 7", "Debt"),
        ("E. Protocols [21 CFR 312.23(a)(6)]:", "", "Protocols"),
        ("Protocol Amendment(s):", "", "Protocol Amendments"),
    ],
)  # fmt: skip
def test_a_heading_has_a_label_and_a_name(text: str, label: str, name: str) -> None:
    assert heading(text) == Heading(label, name)


@pytest.mark.parametrize(
    ("head", "question"),
    [
        (Heading("§ 312.33", "Annual reports"), "What does § 312.33 say about annual reports?"),
        (Heading("", "Results of operations"), "What does the document say about results of operations?"),
        (Heading("", "The year at a glance"), "What does the document say about the year at a glance?"),
        (Heading("", "About Larkfield Instruments"), "What does the document say about Larkfield Instruments?"),
        (Heading("", "Phases of an investigation"), "What are the phases of an investigation?"),
        (Heading("", "Who may apply for a licence?"), "Who may apply for a licence?"),
        (Heading("§ 312.1", "Scope"), ""),
        (Heading("", "Contents"), ""),
        (Heading("", "Introduction"), ""),
        (Heading("", "Protocols"), ""),
        (Heading("", "Revenue was higher"), ""),
        (Heading("", "See the notes"), ""),
        (Heading("", "Summary of the"), ""),
        (Heading("", "The name of its manufacturer"), ""),
        (Heading("", "Toxicology - Full data"), ""),
        (Heading("", "12"), ""),
    ],
)
def test_a_heading_that_names_a_thing_is_asked_about(head: Heading, question: str) -> None:
    assert of_heading(head, WORDS) == question


def test_what_the_document_calls_the_so_and_so_gets_its_article() -> None:
    found = of_heading(Heading("", "Drug substance"), frozenset({"drug", "substance"}), definite=lambda _: True)
    assert found == "What does the document say about the drug substance?"


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Inventories rose by $4.4 million because we built up a stock.", "Why did inventories rise?"),
        ("In fiscal 2025, net income fell 3.2%, mainly due to taxes.", "Why did net income fall in fiscal 2025?"),
        ("Cost of sales decreased $5.4 billion in the second quarter of 2023, primarily due to lower sales.",
         "Why did the cost of sales decrease in the second quarter of 2023?"),
        ("Our effective tax rate increased during fiscal 2022 as compared to fiscal 2021 primarily due to credits.",
         "Why did the effective tax rate increase in fiscal 2022?"),
        ("Net sales increased 18% compared to the fourth quarter of fiscal 2021 due to prices.",
         "Why did net sales increase?"),
        ("Net cash used in investing activities decreased because fewer plants were built.",
         "Why did net cash used in investing activities decrease?"),
        ("Inventories rose by $4.4 million.", ""),
        ("It rose because of the weather.", ""),
        ("This reflects what we said, and it is why income from the plant, which was sold, fell because of that.", ""),
    ],
)  # fmt: skip
def test_a_cause_is_asked_for(sentence: str, question: str) -> None:
    assert of_cause(sentence, WORDS) == question


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("(c) A sponsor shall retain the records and reports required by this part for 2 years.",
         "How long must a sponsor retain the records and reports?"),
        ("The sponsor shall notify FDA of the new investigator within 30 days of the investigator being added.",
         "How soon must the sponsor notify FDA of the new investigator?"),
        ("FDA shall respond in writing to the sponsor within 30 calendar days.", "How soon must FDA respond?"),
        ("A sponsor shall submit an IND to FDA if the sponsor intends to begin.", "What must a sponsor submit?"),
        ("(c) A sponsor may ship an investigational new drug to investigators named in the IND: (1) after thirty days.",
         "When may a sponsor ship an investigational new drug?"),
        ("The Tenant must inform the Landlord and the agent of any damage.", "Whom must the Tenant inform?"),
        ("An investigator may not administer the drug until the IND goes into effect.", ""),
        ("FDA may require sponsors to monitor a patient if the use is long.", ""),
        ("FDA may place a proposed study on clinical hold if it finds a risk.", ""),
        ("The summary is required to include the following information:", ""),
        ("It must contain the name of the drug.", ""),
        ("An investigation may only resume after FDA has said so.", ""),
    ],
)  # fmt: skip
def test_a_duty_is_asked_for(sentence: str, question: str) -> None:
    assert of_duty(sentence, WORDS) == question


def test_a_term_that_is_defined_is_asked_for() -> None:
    assert defined("Clinical investigation means any experiment in which a drug is given.") == "Clinical investigation"
    assert defined("The term “Market risk” refers to a change in fair value.") == "Market risk"
    assert defined("This means that nobody knows.") == ""
    assert of_term("Annual reports", WORDS) == "What does “annual reports” mean?"
    assert of_term("IND", WORDS) == "What does “IND” mean?"


def test_one_of_several_documents_is_named() -> None:
    found = of_heading(Heading("", "Annual reports"), WORDS, "“Trial handbook”")
    assert found == "What does “Trial handbook” say about annual reports?"
