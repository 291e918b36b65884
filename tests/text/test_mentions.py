"""Names in a text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.text.mentions import key_of, mentions
from ragcore.text.sentences import sentence_spans


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("The plan of Graham Parker was praised.", ["graham parker"]),
        ("It was sold by the Bank of England’s agent in Saint-Étienne.", ["bank of england", "saint etienne"]),
        ("She met J. P. Morgan & Co. of the U.S. at noon.", ["j p morgan", "j p morgan co", "co", "us"]),
        ("They bought 3M and sold AT&T.", ["3m", "at t"]),
        ("Then O’Brien’s team read Form 10-K.", ["obrien", "form 10 k"]),
        ("He sang “Hello Love” twice.", ["hello love"]),
        ("He sang “hello” twice.", []),
        ("In 2023 it rose by 4 to 12.", []),
        ("He met John Smith and Ann Lee.", ["john smith", "john smith and ann lee", "ann lee"]),
        ("Chair: Graham Parker\nSecretary: John Smith", ["chair", "graham parker", "secretary", "john smith"]),
        (
            "at the Department of Health and Human Services",
            ["department of health", "department of health and human services", "human services"],
        ),
        ("NOTES TO THE CONSOLIDATED FINANCIAL STATEMENTS OF THE COMPANY", []),
        ("Вчера Иван Петров приехал в Москву.", ["вчера иван петров", "иван петров", "москву"]),
        ("東京は日本の首都です。", []),
        ("", []),
    ],
)
def test_names_are_runs_of_capitals_and_quoted_titles(text: str, keys: list[str]) -> None:
    assert [one.key for one in mentions(text)] == keys


def test_one_word_that_begins_a_sentence_is_doubtful() -> None:
    found = mentions("Revenue rose. It was due to Larkfield. Larkfield Water said so. However, Obama left.")
    assert [(one.key, one.sentence, one.doubtful) for one in found] == [
        ("revenue", 0, True),
        ("larkfield", 1, False),
        ("larkfield water", 2, False),
        ("water", 2, True),
        ("obama", 3, False),
    ]


@pytest.mark.parametrize("spelling", ["The Élodie-Works", "elodie works", "ELODIE WORKS’", "Élodie Works's"])
def test_spellings_of_a_name_have_one_key(spelling: str) -> None:
    assert key_of(spelling) == "elodie works"


def test_marks_in_front_of_a_long_sentence_take_no_time_of_their_own() -> None:
    text = "— " * 20_000 + "Ab — " * 8_000
    started = time.process_time()
    assert len(mentions(text)) == 8_000
    assert time.process_time() - started < 5


@given(st.text(alphabet="AbÉ .’&\n“”3-", max_size=60))
def test_a_name_stands_where_it_is_said_to_and_crosses_no_sentence(text: str) -> None:
    spans = sentence_spans(text)
    for one in mentions(text):
        low, high = spans[one.sentence]
        assert low <= one.start < one.end <= high
        assert key_of(text[one.start : one.end]) == one.key
        assert key_of(one.key) == one.key
