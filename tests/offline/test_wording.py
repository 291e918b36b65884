"""Questions made of a document's own cells, headings and sentences: natural ones, or none."""

from __future__ import annotations

from functools import partial

from ragcore.offline.wording import of_cell, of_heading, within, written

TEXT = """
The cost of sales and net income of a year stand in the balance sheets. We keep inventories, annual reports, filing
review and assessment, general and other expenses. We speak of the drug substance; the drug substance is pure. Adobe
and the site at Aberfeld, laboratory balances, with Field Sensors and the Jordan Brand, property and equipment, a
placebo and its age group, results of operations at a glance, total revenue and its growth.
"""
WORDS = written(TEXT)
cell = partial(of_cell, words=WORDS)
BY_SEGMENT = "Results of operations Revenue by segment (in thousands)"
# As people would ask, of names that no rule was written for; "" where the words make no question.
CORPUS = [
    (cell("Inventories", "As of December 31, 2022", ""), "What were inventories at December 31, 2022?"),
    (cell("Net income", "Year Ended May 2, · 2022", ""), "What was net income in the year ended May 2, 2022?"),
    (cell("EBITDA", "2020", ""), "What was EBITDA in 2020?"),
    (cell("Cost of sales (1)", "Fiscal 2020", ""), "What was the cost of sales in fiscal 2020?"),
    (cell("Property and equipment, net", "2020", ""), "What was property and equipment, net, in 2020?"),
    (cell("Field Sensors", "2025", BY_SEGMENT), "What was the revenue of Field Sensors in 2025?"),
    (cell("Age", "Placebo", "Table 2. Baseline values"), "What does Table 2 give for age under placebo?"),
    (cell("Laboratory balances", "2022", "Goods"), "What does the table give for laboratory balances in 2022?"),
    (cell("Total", "2020", ""), ""),
    (cell("Percentage of total revenue", "2020", ""), ""),
    (cell("12", "2020", ""), ""),
    (cell("Net income", "", ""), ""),
    (of_heading("§ 312.33 Annual reports.", WORDS, several=True), "What does § 312.33 say about annual reports?"),
    (of_heading("Note 7 — Inventories", WORDS, several=False), "What does Note 7 say about inventories?"),
    (of_heading("Note 7 — Inventories", WORDS, several=True), "What do the documents say about inventories?"),
    (of_heading("4.2 Results of operations", WORDS, several=False),
     "What does the document say about results of operations?"),
    (of_heading("FILING REVIEW AND ASSESSMENT", WORDS, several=False),
     "What does the document say about filing review and assessment?"),
    (of_heading("Drug substance", WORDS, several=False), "What does the document say about drug substance?"),
    (of_heading("Who may apply for a licence?", WORDS, several=False), "Who may apply for a licence?"),
    (of_heading("Introduction", WORDS, several=False), ""),
    (of_heading("Revenue was higher", WORDS, several=False), ""),
    (of_heading("See the notes", WORDS, several=False), ""),
    (of_heading("Summary of the", WORDS, several=False), ""),
    (of_heading("12", WORDS, several=False), ""),
    (cell("Growth", "2005/06", ""), "What does the table give for growth in 2005/06?"),
    (within("ADOBE BALANCE SHEETS", WORDS), "Adobe balance sheets"),
    (within("Jordan Brand", WORDS), "Jordan Brand"),
    (within("IND SAFETY REPORTS", {"safety", "reports"}), "IND safety reports"),
    (within("Withdrawal of an IND", {"withdrawal", "of", "an"}), "withdrawal of an IND"),
]  # fmt: skip


def test_questions_are_as_people_ask_them() -> None:
    others = [(made, wanted) for made, wanted in CORPUS if made != wanted]
    assert len(others) <= 0.1 * len(CORPUS), others


def test_nothing_is_asked_of_what_names_no_thing() -> None:
    assert [made for made, wanted in CORPUS if made and not wanted] == []
