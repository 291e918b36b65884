"""Which questions say the same literally, and which are about the same words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.offline.literals import difference, literals_of, same_words
from ragcore.text.words import word_set

SAME = [
    ("What was 3M's capex in 2018?", "In 2018, what was 3M's capex?"),
    ("What was Acme's total revenue in fiscal 2023?", "In FY2023, what was Acme's total revenue?"),
    ("What was Acme's total revenue in fiscal 2023?", "What were Acme's total revenues for fiscal year 2023?"),
    ("What was Acme's total revenue in fiscal 2023?", "please tell me what Acme's total revenues were in FY23"),
    ("Which risks does the report name?", "List the risks that the report names."),
    ("How did the board vote in 2020?", "How does the board vote in 2020?"),
    ("What's the maximum dose of ABT-450?", "what is the maximum dose of ABT-450"),
    ("Is the total 1,577?", "Is the total 1577?"),
    ("What does long-term debt cost?", "What does long term debt cost?"),
    ("What does “Scope of work” say?", 'What does "Scope  of work" say?'),
]
OTHER = [
    ("numbers", "What was revenue in 2022?", "What was revenue in 2023?"),
    ("numbers", "What was revenue in 2023?", "What was revenue?"),
    ("names", "What was revenue in Q2 2023?", "What was revenue in Q3 2023?"),
    ("numbers", "What was revenue in the second quarter?", "What was revenue in the third quarter?"),
    ("numbers", "What was revenue in March?", "What was revenue in April?"),
    ("numbers", "What was revenue in fiscal 2023?", "What was revenue in 2023?"),
    ("numbers", "How did cash change from 2015 to 2016?", "How did cash change from 2016 to 2015?"),
    ("names", "What does clause 4.2(a) demand?", "What does clause 4.2(b) demand?"),
    ("numbers", "What happens at 5 degrees?", "What happens at -5 degrees?"),
    ("numbers", "Which tests had p<-0.5?", "Which tests had p<0.5?"),
    ("numbers", "Who holds 5% of it?", "Who holds $5 of it?"),
    ("names", "What is the dose of BMS-986158?", "What is the dose of BMS-986159?"),
    ("numbers", "How many had two relapses?", "How many had three relapses?"),
    ("numbers", "What is the latest balance?", "What is the previous balance?"),
    ("names", "What was the revenue of Acme?", "What was the revenue of Globex?"),
    ("names", "What was the revenue of Acme?", "What was the revenue?"),
    ("names", "Did Acme sue Globex?", "Did Globex sue Acme?"),
    ("names", "What do IT costs include?", "What do the costs include?"),
    ("names", "What does vitamin A do?", "What does a vitamin do?"),
    ("names", "What does max_len do in Python?", "What does min_len do in Python?"),
    ("names", "Which library is for C++?", "Which library is for C?"),
    ("order", "Did Acme sue Globex?", "Was Acme sued by Globex?"),
    ("order", "What did Acme sell to Globex?", "What did Acme buy from Globex?"),
    (
        "order",
        "How much did Acme make in 2015 and Globex in 2016?",
        "In 2015 and 2016, how much did Acme and Globex make?",
    ),
    ("signs", "Which items are included?", "Which items are not included?"),
    ("signs", "Which drugs that are not approved were recalled?", "Which drugs that are approved were not recalled?"),
    ("signs", "Does it apply to tenants?", "Doesn't it apply to tenants?"),
    ("signs", "Which items come with a warranty?", "Which items come without a warranty?"),
    ("signs", "Who was there except the chair?", "Who was there besides the chair?"),
    ("signs", "Did costs increase?", "Did costs decrease?"),
    ("signs", "Why were costs higher?", "Why were costs lower?"),
    ("signs", "Did costs rise and sales fall?", "Did costs fall and sales rise?"),
    ("signs", "What happened before the merger?", "What happened after the merger?"),
    ("signs", "What is the minimum dose?", "What is the maximum dose?"),
    ("signs", "Which tests had p < 0.05?", "Which tests had p > 0.05?"),
    ("signs", "What must the tenant pay?", "What may the tenant pay?"),
    ("signs", "How many had at least one dose?", "How many had at most one dose?"),
    ("signs", "Is it for adults and children?", "Is it for adults or children?"),
    ("signs", "Which drugs were approved?", "Which drugs were unapproved?"),
    ("signs", "What are current assets?", "What are non-current assets?"),
    ("kind", "Who signed the contract?", "When was the contract signed?"),
    ("kind", "Where was the sample taken?", "When was the sample taken?"),
    ("kind", "How many samples were taken?", "How were samples taken?"),
    ("kind", "How long is the trial?", "How large is the trial?"),
    ("kind", "What was revenue?", "Why was revenue so?"),
    ("kind", "What is included?", "Is it included?"),
    ("signs", "Do you pay me?", "Do I pay you?"),
    ("signs", "Do we pay you?", "Do you pay us?"),
    ("signs", "What do they owe it?", "What does it owe them?"),
    ("signs", "What happens in Phase I?", "What happens in Phase?"),
    ("signs", "Is it starch → sugar?", "Is it starch ← sugar?"),
    ("signs", "Is it starch -> sugar?", "Is it starch <- sugar?"),
    ("signs", "Is it starch => sugar?", "Is it starch, sugar?"),
    ("capitals", "What was Acme's revenue?", "what was acme's revenue?"),
    ("capitals", "What was Acme's revenue?", "WHAT WAS ACME'S REVENUE?"),
    ("capitals", "Acme's revenue?", "acme's revenue?"),
    ("quotes", "What does 'Safety' say?", "What does 'Scope' say?"),
    ("quotes", 'What does the chapter "scope" say?', "What does the chapter scope say?"),
]
ABOUT_OTHER_THINGS = [
    ("What was Acme's gross margin in 2023?", "What was Acme's operating margin in 2023?"),
    ("What are the rights of the buyer?", "What are the rights of the seller?"),
    ("What was acme's revenue?", "What was globex's revenue?"),
    ("What is hepatitis b?", "What is hepatitis c?"),
    ("Which costs rose while sales of the firm fell?", "Which sales rose while costs of the firm fell?"),
    ("Which old laws were not kept?", "Which laws were not kept old?"),
    ("Does the buyer indemnify the seller?", "Does the seller indemnify the buyer?"),
    ("Which drug inhibits the enzyme?", "Which enzyme inhibits the drug?"),
    ("Which drug inhibits the enzyme?", "Which drug does the enzyme inhibit?"),
    ("Which drug inhibits the enzyme?", "Which drug is inhibited by the enzyme?"),
    ("What causes inflation?", "What does inflation cause?"),
    ("What is the conversion of starch to sugar?", "What is the conversion of sugar to starch?"),
    ("What is the yield of starch → sugar?", "What is the yield of sugar → starch?"),
    ("What is the effect of sleep on mood?", "What is the effect on sleep of mood?"),
    ("Does the lease include the garden?", "Is the lease included in the garden?"),
    ("Who paid?", "Who was paid?"),
    ("Who has paid?", "Who has been paid?"),
    ("Which price is cut?", "Which price cuts?"),
    ("Is the bank suing?", "Is the bank sued?"),
    ("What does the buyer have?", "What does the buyer do?"),
    ("Who is the employer?", "Who is employed?"),
    ("How large are the operations?", "How large are the operators?"),
    ("What is the news?", "What is new?"),
    ("Is the rent due if the roof leaks?", "Is the rent due while the roof leaks?"),
    ("What did the bank say it would pay in 2018?", "In 2018, what did the bank say it would pay?"),
    ("What was the debt due in 2018?", "In 2018, what was the debt due?"),
    ("What were the costs of plants built in 2018?", "In 2018, what were the costs of plants built?"),
    ("売上高はいくらですか", "利益はいくらですか"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_form(one: str, other: str) -> None:
    assert difference(literals_of(one), literals_of(other)) == ""
    assert same_words(literals_of(one), literals_of(other))


@pytest.mark.parametrize(("part", "one", "other"), OTHER)
def test_a_literal_part_differs(part: str, one: str, other: str) -> None:
    assert difference(literals_of(one), literals_of(other)) == part
    assert difference(literals_of(other), literals_of(one)) == part


@pytest.mark.parametrize(("one", "other"), ABOUT_OTHER_THINGS)
def test_other_words(one: str, other: str) -> None:
    assert not same_words(literals_of(one), literals_of(other))


LITERAL = word_set("""
    Acme Globex 2015 2016 4.2 BMS-986158 not without higher lower before after 'Scope' 'Safety' max min increase
    decrease
""")
WORDS = LITERAL | word_set("the a revenue costs pump of who when how many from to margin IT it")
QUESTIONS = st.lists(st.sampled_from(sorted(WORDS)), min_size=1, max_size=9).map(" ".join)


@given(QUESTIONS, QUESTIONS)
def test_questions_with_other_literal_words_always_differ(one: str, other: str) -> None:
    assert difference(literals_of(one), literals_of(one)) == ""
    found = difference(literals_of(one), literals_of(other))
    assert bool(found) == bool(difference(literals_of(other), literals_of(one)))
    if sorted(w for w in one.split() if w in LITERAL) != sorted(w for w in other.split() if w in LITERAL):
        assert found


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_read(one: str, other: str) -> None:
    first, second = literals_of(one), literals_of(other)
    assert difference(first, second) == "" or one != other
    assert same_words(first, first)
    assert bool(difference(first, second)) == bool(difference(second, first))


@given(QUESTIONS, st.sampled_from(["2017", "Initech", "not", "above", "'Terms'", "X-12"]), st.integers(0, 9))
def test_one_literal_word_more_makes_another_question(question: str, more: str, place: int) -> None:
    words = question.split()
    words.insert(place, more)
    assert difference(literals_of(question), literals_of(" ".join(words)))
