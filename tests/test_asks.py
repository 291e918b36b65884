from __future__ import annotations

import pytest

from ragcore.asks import asks, spelled_out


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


def test_abbreviations_are_spelled_out_for_a_search_by_words() -> None:
    assert spelled_out("capex in 2022") == "capex in 2022 capital expenditures"
    assert spelled_out("revenue") == "revenue"
