"""Sentences of scripts that the sentence splitter does not know."""

from __future__ import annotations

import pytest

from ragcore.text.sentences import sentence_spans


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("水质很好。我们在四月取样！", ["水质很好。", "我们在四月取样！"]),
        ("他说：“结果合格。”然后离开。", ["他说：“结果合格。”", "然后离开。"]),
        ("هل المياه نظيفة؟ نعم.", ["هل المياه نظيفة؟", "نعم."]),
        ("पानी साफ है। सब ठीक है।", ["पानी साफ है।", "सब ठीक है।"]),
        ("It grew 3.5% in the U.S. market.", ["It grew 3.5% in the U.S. market."]),
    ],
)
def test_full_stops_of_other_scripts(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_an_amount_stays_with_its_currency() -> None:
    text = "The fee is Rs. 500 for a visit. The grant was Kr. 30 in May. He had no Rs. The rest went home."
    assert [text[start:end] for start, end in sentence_spans(text)] == [
        "The fee is Rs. 500 for a visit.", "The grant was Kr. 30 in May.", "He had no Rs.", "The rest went home.",
    ]  # fmt: skip
