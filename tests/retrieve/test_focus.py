"""What a question asks, without how it is to be answered."""

from __future__ import annotations

import pytest

from ragcore.retrieve.focus import focused

ASKS = "What was the rent in 2019?"


@pytest.mark.parametrize(
    "form",
    [
        "Round your answer to two decimal places.",
        "Please round to the nearest cent.",
        "Answer in units of percents.",
        "Give your answer as a list.",
        "If rent is not meant here, then please state that and explain why.",
        "Explain your reasoning step by step.",
        "Be brief, in one sentence.",
    ],
)
def test_sentences_on_the_form_of_the_answer_are_left_out(form: str) -> None:
    assert focused(f"{ASKS} {form}") == ASKS
    assert focused(f"{form} {ASKS}") == ASKS


@pytest.mark.parametrize(
    "question",
    [
        ASKS,
        "Round your answer to two decimal places.",
        "Explain why revenue fell in 2020.",
        "Explain the mechanism of action.",
        "Rent fell. Explain why the rent fell in 2020.",
        "What was the rent? What did it pay for?",
        "Rent is defined as: what is paid for the use of land. What was it in 2019?",
        "Show the purchases of property in 2018.",
        "List the adverse events. Which was the most frequent?",
        "If the tenant does not pay, what may the landlord do?",
        "Was ist die Miete? Bitte kurz.",
        "",
    ],
)
def test_what_is_asked_stays(question: str) -> None:
    assert focused(question) == question


def test_who_is_to_answer_is_left_out_but_not_what_is_to_be_read() -> None:
    assert focused(f"You are a seasoned land agent. {ASKS}") == ASKS
    assert focused(f"You are an agent and may read: the lease. Here's the question: {ASKS}") == (
        f"You are an agent and may read: the lease. {ASKS}"
    )
