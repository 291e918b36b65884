from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.text.words import Rarity, content_stems, cover, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The company's U.S. sales", ["the", "company", "us", "sales"]),
        ("long-term and/or BMS-986158", ["long", "term", "and", "or", "bms-986158"]),
        ("FY2018, FY18 and 10-K", ["2018", "2018", "and", "10-k"]),
        ("R&D of ﬁve", ["r&d", "of", "five"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_forms_of_a_word_share_a_stem() -> None:
    assert content_stems("paid dividends grew") == content_stems("pays the dividend, growing")


@given(st.text(max_size=60))
def test_a_text_covers_itself(text: str) -> None:
    assert cover(content_stems(text), content_stems(text)) == 1.0
    assert cover(content_stems(text), []) in (0.0, 1.0)


@given(st.lists(st.frozensets(st.sampled_from("abc")), max_size=8))
def test_a_word_of_fewer_texts_weighs_more(texts: list[frozenset[str]]) -> None:
    rarity = Rarity(texts)
    held = {word: sum(word in text for text in texts) for word in "abcd"}
    assert all(rarity.of(one) > rarity.of(other) for one in held for other in held if held[one] < held[other])
    assert rarity.total("aa") == 2 * rarity.of("a")
