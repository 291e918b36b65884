"""The word map: the one way from characters to places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.types import Box, Document, Page, WordMap


def lay_out(words: list[str], per_line: int = 5) -> Document:
    """Words on one page, ten points a character, ``per_line`` words a line, joined by one blank."""
    starts, ends, boxes, at = [], [], [], 0
    for number, word in enumerate(words):
        line, column = divmod(number, per_line)
        x = 20.0 if column == 0 else boxes[-1][2] + 4
        starts.append(at)
        ends.append(at + len(word))
        boxes.append((x, 20.0 + 15 * line, x + 10 * len(word), 30.0 + 15 * line))
        at += len(word) + 1
    text = " ".join(words)
    word_map = WordMap(starts, ends, [1] * len(words), boxes, [False] * len(words))
    return Document("d" * 16, "d" * 64, "d.pdf", "D", text, len(text), word_map, (Page(1, "1", 3000, 3000),), ())


words_of_text = st.lists(st.text("abcdefgh", min_size=1, max_size=8), min_size=1, max_size=40)


@given(words_of_text, st.data())
def test_boxes_cover_exactly_the_words_that_a_span_touches(words: list[str], data: st.DataObject) -> None:
    document = lay_out(words)
    start = data.draw(st.integers(0, len(document.text)))
    end = data.draw(st.integers(start, len(document.text)))
    boxes = document.boxes(start, end)
    for word_start, word_end, (x0, y0, x1, y1) in zip(
        document.words.starts, document.words.ends, document.words.boxes.tolist()
    ):
        touched = word_start < end and word_end > start and start < end
        middle = ((x0 + x1) / 2, (y0 + y1) / 2)
        covered = any(b.x0 <= middle[0] <= b.x1 and b.y0 <= middle[1] <= b.y1 for b in boxes)
        assert covered == touched


def test_words_of_one_line_share_a_box_and_lines_do_not() -> None:
    document = lay_out(["one", "two", "three", "four"], per_line=2)
    assert document.boxes(0, len(document.text)) == (Box(1, 20, 20, 84, 30), Box(1, 20, 35, 114, 45))


def test_far_apart_words_of_one_line_do_not_share_a_box() -> None:
    word_map = WordMap([0, 2], [1, 4], [1, 1], [(0, 0, 5, 10), (100, 0, 110, 10)], [False, False])
    document = Document("d", "d", "d", "d", "$ 12", 4, word_map, (Page(1, "1", 200, 200),), ())
    assert document.boxes(0, 4) == (Box(1, 0, 0, 5, 10), Box(1, 100, 0, 110, 10))


def test_a_repeated_header_is_lit_once_and_does_not_decide_the_page() -> None:
    # "Head: 1 | Head: 2": the header stands on page 1, the values on page 2.
    word_map = WordMap(
        [0, 6, 10, 16],
        [4, 7, 14, 17],
        [1, 2, 1, 2],
        [(0, 0, 40, 10), (0, 50, 10, 60), (0, 0, 40, 10), (50, 50, 60, 60)],
        [True, False, True, False],
    )
    document = Document("d", "d", "d", "d", "Head: 1 | Head: 2", 17, word_map, (), ())
    assert [box.page for box in document.boxes(0, 17)] == [1, 2, 2]
    assert document.page_at(0, 17) == 2
    assert document.pages_of(0, 17) == (2,)


@given(words_of_text)
def test_a_word_map_survives_storage(words: list[str]) -> None:
    before = lay_out(words).words
    after = WordMap.from_bytes(before.to_bytes())
    for name in ("starts", "ends", "pages", "boxes", "repeated", "confidence"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


@pytest.mark.parametrize(
    ("starts", "ends"),
    [([0, 2], [3, 5]), ([5, 0], [6, 1]), ([1], [1])],
    ids=["overlapping", "unsorted", "empty"],
)
def test_a_word_map_refuses_what_would_break_look_ups(starts: list[int], ends: list[int]) -> None:
    n = len(starts)
    with pytest.raises(ValueError, match="word map"):
        WordMap(starts, ends, [1] * n, [(0, 0, 1, 1)] * n, [False] * n)
