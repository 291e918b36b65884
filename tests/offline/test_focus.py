"""What a question asks, without how it is to be answered."""

from __future__ import annotations

import pytest

from ragcore.offline.focus import focused

ASKS = "What was the rent in 2019?"


@pytest.mark.parametrize(
    "form",
    [
        "Round your answer to two decimal places.",
        "Please round to the nearest cent.",
        "Round to 2 decimals.",
        "Answer in units of percents and round to one decimal place.",
        "Give your answer as a list.",
        "If rent is not a useful measure here, then please state that and explain why.",
        "Be brief, in one sentence.",
        "You are a seasoned land agent.",
        "Hello.",
        "Thank you.",
        "I need help.",
    ],
)
def test_sentences_that_say_nothing_of_what_is_asked_are_left_out(form: str) -> None:
    assert focused(f"{ASKS} {form}") == ASKS
    assert focused(f"{form} {ASKS}") == ASKS


@pytest.mark.parametrize(
    "question",
    [
        ASKS,
        "Round your answer to two decimal places.",
        "Explain why revenue fell in 2020.",
        "Rent fell. Explain why the rent fell in 2020.",
        "Explain the mechanism of action.",
        "What was the rent? What did it pay for?",
        "Rent is defined as: what is paid for the use of land. What was it in 2019?",
        "Show the purchases of property in 2018. Were they large?",
        "Is the drug effective? Give the response rates as a table.",
        "Describe the reactor. Provide the yield as a percentage of theory.",
        "Who is the head of the board? Give a brief biography of him.",
        "What is the pKa? Use a solution of 0.1 M HCl.",
        "If the tenant defaults, the landlord must state that in writing. How long does the tenant have to cure?",
        "You are the landlord under the Birmingham lease. What may you do?",
        "You are an agent of Acme in Leeds. What may you do?",
        "As an analyst noted, revenue fell. Why?",
        "Acme filed a complaint. Explain the answer of the defendant.",
        "Give revenue for 2019. Give net income for 2020 as a number.",
        "Was ist die Miete? Bitte kurz.",
        "Rent? Give it in euros.",
        "",
    ],
)
def test_what_is_asked_stays(question: str) -> None:
    assert focused(question) == question


@pytest.mark.parametrize("greeting", ["Hello.", "Good morning.", "I need help."])
def test_a_greeting_is_never_all_that_is_searched_for(greeting: str) -> None:
    asked = "Give the revenue of Acme in 2019 to two decimals."
    assert focused(f"{greeting} {asked}") == asked


def test_what_may_be_read_stays() -> None:
    assert focused(f"You are an agent and may read: the lease. Here's the question: {ASKS}") == (
        f"You are an agent and may read: the lease. {ASKS}"
    )
