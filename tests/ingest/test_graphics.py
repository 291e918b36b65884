"""Pictures completed from what is drawn: rules one by one, on rectangles made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ragcore.ingest.detection import complete_pictures
from ragcore.ingest.layout import Rect, Region

PAGE = (612.0, 792.0)


def completed(regions: list[Region], *drawn: Rect) -> list[Rect]:
    """The boxes of the pictures."""
    boxes = np.asarray(drawn, np.float64).reshape(-1, 4)
    return [region.box for region in complete_pictures(regions, boxes, *PAGE) if region.kind == "picture"]


def test_a_picture_grows_over_what_lies_partly_in_it() -> None:
    picture = Region("picture", (100, 100, 250, 200))
    assert completed([picture], (120, 120, 300, 180), (290, 150, 320, 260)) == [(100, 100, 320, 260)]
    assert completed([picture], (260, 120, 300, 180)) == [(100, 100, 250, 200)]


def test_it_takes_no_text_in() -> None:
    picture, text = Region("picture", (100, 100, 250, 200)), Region("text", (100, 210, 400, 260))
    frame_around_both = (90.0, 90.0, 410.0, 270.0)
    bar = (200.0, 150.0, 300.0, 190.0)
    assert completed([picture, text], frame_around_both, bar) == [(100, 100, 300, 200)]


def test_backgrounds_and_rules_of_the_text_do_not_count() -> None:
    picture, table = Region("picture", (100, 100, 250, 200)), Region("table", (100, 190, 400, 300))
    rule_of_the_table = (90.0, 195.0, 410.0, 196.0)
    assert completed([picture, table], (0, 0, *PAGE), rule_of_the_table) == [(100, 100, 250, 200)]


def test_a_caption_gets_what_is_drawn_above_it() -> None:
    caption, text = Region("caption", (100, 300, 400, 312)), Region("text", (100, 80, 400, 120))
    bars = [(120.0 + 40 * n, 150.0 + 20 * n, 150.0 + 40 * n, 290.0) for n in range(5)]
    assert completed([text, caption], *bars) == [(120, 150, 310, 290)]


def test_captions_side_by_side_have_a_picture_each() -> None:
    first, second = Region("caption", (60, 580, 150, 590)), Region("caption", (320, 580, 420, 590))
    drawn = [(60.0, 400.0, 260.0, 560.0), (320.0, 400.0, 520.0, 560.0), (200.0, 420.0, 345.0, 566.0)]
    assert completed([first, second], *drawn) == [(60, 400, 320, 566), (150, 400, 520, 566)]


def test_else_what_is_drawn_below_it() -> None:
    assert completed([Region("caption", (100, 100, 400, 112))], (120, 120, 300, 220)) == [(120, 120, 300, 220)]


@pytest.mark.parametrize("kind", ["picture", "table"])
def test_a_caption_that_has_something_gets_nothing(kind: str) -> None:
    caption, own = Region("caption", (100, 300, 400, 312)), Region(kind, (100, 320, 400, 500))
    found = completed([caption, own], (120, 150, 300, 290))
    assert found == ([own.box] if kind == "picture" else [])


def test_a_line_or_an_ornament_is_no_picture() -> None:
    assert completed([Region("caption", (100, 300, 400, 312))], (100, 295, 400, 296), (110, 270, 130, 290)) == []


def test_many_drawings_at_once() -> None:
    rng = np.random.default_rng(1)
    corners = rng.uniform((100, 100), (380, 280), (20_000, 2))
    drawn = np.hstack([corners, corners + rng.uniform(1, 15, (20_000, 2))])
    caption = Region("caption", (100, 300, 400, 312))
    (found,) = completed([caption], *drawn.tolist())
    assert found[0] == pytest.approx(100, abs=1)
    assert found[2] == pytest.approx(395, abs=2)
