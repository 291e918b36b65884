"""Columns of a grid as they are given."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragcore.errors import BadColumns
from ragcore.grid.columns import MAX_COLUMNS, ColumnSpec, from_json, of_question, of_template, type_of
from ragcore.offline.question import RuleAnalyser
from ragcore.offline.sections import RuleFields
from ragcore.report.template import from_data


def given(*columns: Any) -> str:
    return json.dumps({"columns": columns})


def test_a_column_needs_only_its_name_and_type() -> None:
    [column] = from_json(given({"name": " Auditor ", "type": "name"}))
    assert (column.name, column.question, column.unit) == ("Auditor", "", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1"),
        ("[]", "columns"),
        ('{"columns": 1}', "columns"),
        (given(), "no columns"),
        (given("Auditor"), "column 1"),
        (given({"name": "A", "type": "name"}, {"name": "", "type": "name"}), "column 2, “name”: it is empty"),
        (given({"name": "A"}), "column 1 “A”, “type”: it is missing"),
        (given({"name": "A", "type": "number"}), "value, date, name"),
        (given({"name": "A", "type": "name", "color": "red"}), "“color”: unknown key"),
        (given({"name": "A", "type": "name", "unit": "USD"}), "belongs to a value"),
        (given({"name": "A\nB", "type": "name"}), "“name”"),
        (given({"name": "A", "type": "name"}, {"name": "a", "type": "date"}), "Two columns are called “a”"),
        (given(*({"name": str(n), "type": "name"} for n in range(MAX_COLUMNS + 1))), f"more than {MAX_COLUMNS}"),
        ("[" * 100_000, "nested"),
    ],
)
def test_a_mistake_is_named_with_its_place_in_one_line(text: str, said: str) -> None:
    with pytest.raises(BadColumns) as raised:
        from_json(text, "mine.json")
    assert said in raised.value.message
    assert "\n" not in raised.value.message
    assert raised.value.hint


def asked(question: str) -> ColumnSpec:
    return of_question(question, RuleAnalyser(), RuleFields())


@pytest.mark.parametrize(
    ("question", "type_"),
    [
        ("Who audits the accounts?", "name"),
        ("When does the facility mature?", "date"),
        ("How many people are employed?", "value"),
        ("What does the company make?", "quote"),
        ("May a party assign the agreement?", "yes_no"),
    ],
)
def test_a_question_of_a_chat_is_a_column(question: str, type_: str) -> None:
    column = asked(question)
    assert (column.name, column.question, column.type) == (question, question, type_)
    long = asked("What does the company make of " + "all its many old instruments " * 9 + "?")
    assert len(long.name) <= 61
    assert long.name.endswith("…")


@pytest.mark.parametrize(
    "more", ["", "  in  Peru", " and at the end of the fiscal year before, in all of its countries together"]
)
def test_a_question_that_heads_its_column_is_asked_once(more: str) -> None:
    question = f"How many people are employed at the end of the year{more}?"
    assert asked(question).column("").asked == question
    assert ColumnSpec(name="Staff", question=question, type="value").column("").asked == f"Staff: {question}"


@pytest.mark.parametrize(
    ("name", "question", "type_"),
    [
        ("Auditor", "Who audits the accounts?", "name"),
        ("Notice", "How many days of notice must be given?", "value"),
        ("Signed", "Date on which it was signed", "date"),
        ("Assignable", "May a party assign the agreement?", "yes_no"),
        ("Effective date", "", "date"),
        ("Headquarters", "", "name"),
        ("Hold", "What can lead to a hold of the trial?", "quote"),
    ],
)
def test_the_type_of_a_column_is_proposed_from_its_words(name: str, question: str, type_: str) -> None:
    assert type_of(name, question, RuleAnalyser(), RuleFields()) == type_


def test_sections_of_a_template_are_columns() -> None:
    sections = [
        {"heading": "Business", "guidance": "What it sells."},
        {"heading": "Revenue", "kind": "value", "unit": "USD million"},
        {"heading": "Segments", "kind": "table", "columns": ["Segment", "Revenue"]},
        {"heading": "Effective date", "kind": "value", "guidance": "The date on which the agreement takes effect."},
        {"heading": "Auditor", "kind": "value", "guidance": "The firm that audits the accounts."},
        {"heading": "More", "sections": [{"heading": "revenue", "kind": "yes_no", "guidance": "Did it grow?"}]},
    ]
    columns = of_template(from_data({"title": "Profile", "sections": sections}), RuleFields())
    assert [(column.name, column.type, column.unit) for column in columns] == [
        ("Business", "text", ""),
        ("Revenue", "value", "USD million"),
        ("Effective date", "date", ""),
        ("Auditor", "name", ""),
        ("6.1 revenue", "yes_no", ""),
    ]
    with pytest.raises(BadColumns):
        of_template(from_data({"title": "Tables", "sections": [sections[2]]}), RuleFields())
