from __future__ import annotations

import pytest

from ragcore.offline.asks import asks, places


@pytest.mark.parametrize("question", ["What is an IND?", "Summarize the risks.", "Explain how revenue is recognised"])
def test_a_plain_question_is_itself(question: str) -> None:
    assert asks(question) == [question]


def test_instructions_and_roles_are_left_out() -> None:
    question = (
        "You are an analyst. Here's the question: what was the gross margin of X in 2022 (round to one decimal)? "
        "Give your answer in USD."
    )
    assert asks(question) == ["what was the gross margin of X in 2022?"]


def test_a_defined_quantity_asks_for_its_parts_with_their_period() -> None:
    question = "What is the FY2020 quick ratio of X? It is defined as: liquid assets / (total current liabilities)."
    assert asks(question) == [
        "What is the FY2020 quick ratio of X?",
        "liquid assets FY2020",
        "total current liabilities FY2020",
    ]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is COGS? Use the statement of income.", ["statement of income"]),
        (
            "According to the balance sheet and the cash flow statement, what is it?",
            ["balance sheet", "cash flow statement"],
        ),
        (
            "What does Table 3 say on the statement of financial position?",
            ["Table 3", "statement of financial position"],
        ),
        ("What is the revenue of the segment?", []),
    ],
)
def test_where_a_question_says_to_look(question: str, said: list[str]) -> None:
    assert places(question) == said


def test_a_wish_is_no_part_of_what_is_asked() -> None:
    assert asks("What should I do if I want to change the protocol?") == ["How to change the protocol?"]
