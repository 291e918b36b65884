"""Names in a text."""

from __future__ import annotations

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
        ("She met J. P. Morgan & Co. of the U.S. at noon.", ["j p morgan co", "us"]),
        ("They bought 3M and sold AT&T.", ["3m", "at t"]),
        ("Then O’Brien’s team read Form 10-K.", ["obrien", "form 10 k"]),
        ("He sang “Hello Love” twice.", ["hello love"]),
        ("He sang “hello” twice.", []),
        ("In 2023 it rose by 4 to 12.", []),
        ("NOTES TO THE CONSOLIDATED FINANCIAL STATEMENTS OF THE COMPANY", []),
        ("Вчера Иван Петров приехал в Москву.", ["вчера иван петров", "москву"]),
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
        ("obama", 3, False),
    ]


@pytest.mark.parametrize("spelling", ["The Élodie-Works", "elodie works", "ELODIE WORKS’", "Élodie Works's"])
def test_spellings_of_a_name_have_one_key(spelling: str) -> None:
    assert key_of(spelling) == "elodie works"


@given(st.text(alphabet="AbÉ .’&\n“”3-", max_size=60))
def test_a_name_stands_where_it_is_said_to_and_crosses_no_sentence(text: str) -> None:
    spans = sentence_spans(text)
    for one in mentions(text):
        low, high = spans[one.sentence]
        assert low <= one.start < one.end <= high
        assert key_of(text[one.start : one.end]) == one.key
        assert key_of(one.key) == one.key
