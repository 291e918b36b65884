"""Raised marks of footnotes in running text: told from exponents, left out of what is shown, kept in the text."""

from __future__ import annotations

import pytest

from ragcore.types.document import raised_marks, without
from ragcore.types.geometry import WordMap


def shown(*words: str) -> str:
    """``words`` on one line without their marks; one that begins with ``^`` is glued to the one before, and raised."""
    text, starts, ends, boxes = "", [], [], []
    left = 0.0
    for word in words:
        raised = word.startswith("^")
        word = word.removeprefix("^")
        text += "" if raised or not text else " "
        left += 0.0 if raised or not starts else 3.0
        starts.append(len(text))
        text += word
        ends.append(len(text))
        width = len(word) * (2.5 if raised else 5.0)
        boxes.append((left, 100.0, left + width, 106.0) if raised else (left, 100.0, left + width, 112.0))
        left += width
    found = WordMap(starts, ends, [1] * len(starts), boxes, [False] * len(starts))
    return without(text, 0, raised_marks(text, found, 0, len(text)))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("in", "prospective", "trials.", "^13"), "in prospective trials."),
        (("since", "June", "2020,", "^22", "it", "rose"), "since June 2020, it rose"),
        (("the", "assets", "^(1)", "fell"), "the assets fell"),
        (("the", "assets", "^a,", "and"), "the assets, and"),
        (("said", "others", "^4–7"), "said others"),
        (("an", "area", "of", "5", "m", "^2"), "an area of 5 m2"),
        (("some", "10", "^6", "cells"), "some 106 cells"),
        (("the", "R", "^2", "is"), "the R2 is"),
        (("in", "mmol", "^2"), "in mmol2"),
        (("the", "1", "^st", "of", "May"), "the 1st of May"),
        (("trials.", "13"), "trials. 13"),
        (("on", "day", "4.", "^13", "The", "regimen"), "on day 4. The regimen"),
        (("it", "costs", "4.", "^99", "5", "units"), "it costs 4.99 5 units"),
    ],
)
def test_marks_are_left_out_and_exponents_stay(words: tuple[str, ...], text: str) -> None:
    assert shown(*words) == text
