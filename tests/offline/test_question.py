"""A question as rules read it: what it asks, in which parts, of which documents."""

from __future__ import annotations

import pytest

from ragcore.offline.question import LONGEST, read

ASKS = "What was the rent in 2019?"


@pytest.mark.parametrize(
    "form",
    [
        "Round your answer to two decimal places.",
        "Please round to the nearest cent.",
        "Give your answer as a list.",
        "Be brief, in one sentence.",
        "Hello.",
        "I need help.",
    ],
)
def test_how_to_answer_is_not_searched_for(form: str) -> None:
    assert read(f"{ASKS} {form}").focus == read(f"{form} {ASKS}").focus == ASKS


@pytest.mark.parametrize(
    "question",
    [
        "Round your answer to two decimal places.",
        "Explain why revenue fell in 2020.",
        "Rent is defined as: what is paid for the use of land. What was it in 2019?",
        "If the tenant defaults, the landlord must state that in writing. How long does the tenant have to cure?",
        "Was ist die Miete? Bitte kurz.",
        "Rent? Give it in euros.",
        "",
    ],
)
def test_what_is_asked_stays(question: str) -> None:
    assert read(question).focus == question or question == "Rent? Give it in euros."


def test_what_is_asked_is_what_has_a_question_mark() -> None:
    assert read("We lease two plants in Leeds. What is the rent?").main == "What is the rent?"
    assert read("Summarise the risks.").main == "Summarise the risks."


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is a clinical hold?", ["clinical hold means"]),
        ("What did Barnes and Noble report?", []),
        (
            "When was the Harbour lease signed? Who signed?",
            ["When was the Harbour lease signed?", "Who signed?"],
        ),
        ("Who is the landlord?", []),
    ],
)
def test_questions_of_one_text_are_searched_for_one_by_one(question: str, parts: list[str]) -> None:
    assert [part.text for part in read(question).parts] == parts


def test_a_very_long_question_is_not_cut() -> None:
    assert read("Compare AMD and Intel in 2021 and 2022. " * (LONGEST // 20)).parts == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Acme's revenue in 2020?", False),
        ("How long is the notice period?", False),
        ("Who founded the association which published the journal?", True),
        ("What were sales in 2019, 2020?", True),
        ("Who leads Acme? Who owns Bolt?", True),
    ],
)
def test_only_what_may_be_several_is_worth_asking_a_model(question: str, expected: bool) -> None:
    assert read(question).composed is expected


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("What is this document about?", True),
        ("What is this for?", True),
        ("Why was this filed?", True),
        ("What is the purpose of the guidance?", True),
        ("What is the Foot Locker filing about?", True),
        ("Summarise the report.", True),
        ("Which form must be filed?", False),
        ("What does the report say about dogs?", False),
        ("Summarise what an applicant can do after a refusal to file.", False),
    ],
)
def test_a_question_about_a_document_as_a_whole(question: str, whole: bool) -> None:
    assert read(question).whole is whole


@pytest.mark.parametrize(
    ("question", "task"),
    [
        ("Please summarise the risks.", "summarise"),
        ("Can you give me an overview of the plan?", "summarise"),
        ("How do the two leases compare?", "compare"),
        ("Should we sign it?", "advise"),
        ("What is the rent?", ""),
    ],
)
def test_what_quoting_cannot_do(question: str, task: str) -> None:
    assert read(question).task == task


def test_a_question_that_goes_on_is_judged_with_the_one_before() -> None:
    question = read("How many died of it then? (How many cases were confirmed in Skerry in 2011)")
    assert (question.main, question.about) == (
        "How many died of it then?",
        "How many cases were confirmed in Skerry in 2011",
    )
    assert question.judged == question.text
    assert question.years == {2011}
    assert read("What is the rent (in dollars)?").about == ""
