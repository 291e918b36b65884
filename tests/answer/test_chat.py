from __future__ import annotations

import pytest

from ragcore.answer.chat import standalone
from ragcore.types import Turn

REVENUES = "What were Nike's total revenues in fiscal 2023?"
DRUG = "What is the IC50 of BMS-986158?"
IND = "What is an IND?"


def asked(*questions: str) -> list[Turn]:
    return [Turn(question, "An answer.") for question in questions]


@pytest.mark.parametrize(
    ("earlier", "question", "expected"),
    [
        ([REVENUES], "And in 2022?", "What were Nike's total revenues in 2022?"),
        ([REVENUES], "What about fiscal 2021?", "What were Nike's total revenues in fiscal 2021?"),
        ([REVENUES, "And in 2022?"], "And 2021?", "What were Nike's total revenues in 2021?"),
        ([IND], "And in 2021?", "What is an IND in 2021?"),
        ([REVENUES], "Why?", "What were Nike's total revenues in fiscal 2023? Why?"),
    ],
)
def test_a_fragment_takes_the_question_before(earlier: list[str], question: str, expected: str) -> None:
    assert standalone(question, asked(*earlier)) == expected


@pytest.mark.parametrize(
    ("earlier", "question", "words"),
    [
        (REVENUES, "What about Converse?", ["Converse", "revenues", "2023"]),
        (REVENUES, "How does that compare to 2021?", ["2021", "revenues", "Nike's"]),
        (REVENUES, "Why did it increase?", ["increase", "revenues", "Nike's"]),
        (DRUG, "And its half-life?", ["half-life", "BMS-986158"]),
        (DRUG, "Is it safe in children?", ["safe", "children", "BMS-986158"]),
        (IND, "Who must submit it?", ["submit", "IND"]),
        ("Who audits Nike?", "Since when?", ["audits", "Nike", "when"]),
    ],
)
def test_a_pronoun_or_fragment_borrows_the_subject(earlier: str, question: str, words: list[str]) -> None:
    rewritten = standalone(question, asked(earlier))
    assert all(word in rewritten for word in words), rewritten


@pytest.mark.parametrize(
    "question",
    [
        "How many employees does Nike have?",
        "What must a sponsor include in an IND that is submitted to FDA?",
        "Does Nike state that it faces currency risk?",
        "In what cases is an IND not required?",
        "When is an IND not required?",
        "For Phase 1, what must be submitted?",
        "Which segments are the largest?",
        "What were Converse's revenues in 2022 and how did they change?",
        "Summarize this document",
        "Is it true that Nike pays a dividend?",
    ],
)
def test_what_stands_alone_is_left_alone(question: str) -> None:
    assert standalone(question, asked(REVENUES)) == question


def test_without_history_nothing_changes_but_white_space() -> None:
    assert standalone("  And in\n2022? ", []) == "And in 2022?"


def test_answers_are_never_mixed_into_the_query() -> None:
    rewritten = standalone("And in 2022?", [Turn(REVENUES, "It was secret.")])
    assert "secret" not in rewritten
