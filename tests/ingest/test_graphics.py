"""Pictures for captions, from what is drawn on the page."""

from __future__ import annotations

import numpy as np
import pymupdf
import pytest

from ragcore.ingest.layout import Rect, Region
from ragcore.ingest.read import _captioned


def pictures(regions: list[Region], *drawn: Rect) -> list[Rect]:
    with pymupdf.open() as document:
        page = document.new_page(width=612, height=792)
        shape = page.new_shape()
        for box in drawn:
            shape.draw_rect(pymupdf.Rect(box))
            shape.finish(fill=(0.5, 0.5, 0.5), width=0)
        shape.commit()
        return [region.box for region in _captioned(page, regions)]


def near(box: Rect) -> object:
    return pytest.approx(box, abs=2)


def test_a_caption_gets_what_is_drawn_above_it() -> None:
    caption, text = Region("caption", (100, 300, 400, 312)), Region("text", (100, 80, 400, 120))
    bars = [(120.0 + 40 * n, 150.0 + 20 * n, 150.0 + 40 * n, 290.0) for n in range(5)]
    assert pictures([text, caption], *bars) == [near((120, 150, 310, 290))]


def test_else_what_is_drawn_below_it() -> None:
    assert pictures([Region("caption", (100, 100, 400, 112))], (120, 120, 300, 220)) == [near((120, 120, 300, 220))]


def test_captions_side_by_side_have_a_picture_each() -> None:
    first, second = Region("caption", (60, 580, 150, 590)), Region("caption", (320, 580, 420, 590))
    drawn = [(60.0, 400.0, 260.0, 560.0), (320.0, 400.0, 520.0, 560.0)]
    assert pictures([first, second], *drawn) == [near(drawn[0]), near(drawn[1])]


@pytest.mark.parametrize("kind", ["picture", "table"])
def test_a_caption_that_has_something_gets_nothing(kind: str) -> None:
    caption, own = Region("caption", (100, 300, 400, 312)), Region(kind, (100, 320, 400, 500))
    assert pictures([caption, own], (120, 150, 300, 290)) == []


def test_lines_ornaments_and_backgrounds_are_no_pictures() -> None:
    caption = Region("caption", (100, 300, 400, 312))
    assert pictures([caption], (0, 0, 612, 792), (100, 293, 400, 294), (110, 255, 130, 275)) == []


def test_many_drawings_at_once() -> None:
    rng = np.random.default_rng(1)
    corners = rng.uniform((100, 100), (380, 280), (3_000, 2))
    drawn = np.hstack([corners, corners + rng.uniform(1, 15, (3_000, 2))])
    (found,) = pictures([Region("caption", (100, 300, 400, 312))], *(tuple(box) for box in drawn.tolist()))
    assert found == pytest.approx((100, 100, 393, 293), abs=4)
