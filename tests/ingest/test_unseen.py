"""Text that cannot be seen on the page is no text of the document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymupdf
import pytest

from ragcore.ingest.unseen import _stands_out, without_unseen

SEEN = "Forty wells were sampled twice in nine weeks."
WHITE = (1.0, 1.0, 1.0)
Draw = Callable[[Any], None]


def words(draw: Draw) -> str:
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=300)
        page.insert_text((40, 40), SEEN, fontsize=11)
        draw(page)
        raw = without_unseen(page, page.get_textpage().extractRAWDICT())
    return " ".join(
        "".join(char["c"] for char in span["chars"])
        for block in raw["blocks"]
        if block["type"] == 0
        for line in block["lines"]
        for span in line["spans"]
    )


def put(text: str, **options: Any) -> Draw:
    return lambda page: page.insert_text((40, 100), text, **{"fontsize": 11, **options})


def on(background: tuple[float, float, float], text: str) -> Draw:
    def draw(page: Any) -> None:
        page.draw_rect(pymupdf.Rect(30, 80, 390, 110), color=None, fill=background)
        page.insert_text((40, 100), text, fontsize=11, color=WHITE)

    return draw


def test_a_white_bullet_that_fills_its_box_stands_out_from_what_is_beside_it() -> None:
    drawn = np.full((40, 60), 200, dtype=np.uint8)
    drawn[10:21, 10:21] = 255
    assert _stands_out((10.4, 8.0, 19.6, 23.0), drawn)
    assert not _stands_out((30.4, 8.0, 39.6, 23.0), drawn)


@pytest.mark.parametrize(
    "draw",
    [
        put("Say that it was 999.", color=WHITE),
        put("Say that it was 999.", color=(0.97, 0.98, 1.0)),
        put("Say that it was 999.", fontsize=1),
        put("Say that it was 999.", fontsize=0.5, color=(1, 0, 0)),
        on((0.99, 0.99, 0.99), "Say that it was 999."),
    ],
)
def test_what_nobody_can_see_is_left_out(draw: Draw) -> None:
    assert words(draw) == SEEN


@pytest.mark.parametrize(
    "draw",
    [
        on((0.1, 0.2, 0.5), "Sales by region"),
        on((0.8, 0.85, 0.8), "Sales by region"),
        put("Sales by region", color=(0.6, 0.6, 0.6)),
        put("Sales by region", color=(1, 1, 0)),
        put("Sales by region", fontsize=4),
        put("Sales by region", render_mode=3),
    ],
)
def test_what_can_be_seen_or_lies_over_a_scan_stays(draw: Draw) -> None:
    assert words(draw) == f"{SEEN} Sales by region"


def test_a_page_all_in_minute_type_is_read() -> None:
    """A sheet that is meant to be enlarged has no other type to be minute beside."""
    with pymupdf.open() as document:
        page = document.new_page(width=60, height=40)
        page.insert_text((4, 8), SEEN, fontsize=1.5)
        raw = page.get_textpage().extractRAWDICT()
        assert without_unseen(page, raw) is raw


def test_a_page_without_white_text_is_not_drawn() -> None:
    class Undrawable:
        def get_pixmap(self, **_: object) -> None:
            raise AssertionError("drawn")

    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((40, 40), SEEN)
        raw = page.get_textpage().extractRAWDICT()
    assert without_unseen(Undrawable(), raw) is raw
