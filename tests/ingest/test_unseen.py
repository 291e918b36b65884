"""Text that cannot be seen on the page is no text of the document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymupdf
import pytest

from ragcore.ingest.read import TEXT_FLAGS
from ragcore.ingest.unseen import _Drawn, hide_unseen

SEEN = "Forty wells were sampled twice in nine weeks."
WHITE = (1.0, 1.0, 1.0)
Draw = Callable[[Any], None]


def words(draw: Draw) -> str:
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=300)
        page.insert_text((40, 40), SEEN, fontsize=11)
        draw(page)
        raw = page.get_textpage(flags=TEXT_FLAGS).extractRAWDICT()
        hide_unseen(raw, page)
    return " ".join(
        "".join(char["c"] for char in span["chars"])
        for block in raw["blocks"]
        if block["type"] == 0
        for line in block["lines"]
        for span in line["spans"]
        if any(not char["c"].isspace() for char in span["chars"])
    )


def put(text: str, **options: Any) -> Draw:
    return lambda page: page.insert_text((40, 100), text, **{"fontsize": 11, **options})


def on(background: tuple[float, float, float], text: str, color: tuple[float, float, float] = WHITE) -> Draw:
    def draw(page: Any) -> None:
        page.draw_rect(pymupdf.Rect(30, 80, 390, 110), color=None, fill=background)
        page.insert_text((40, 100), text, fontsize=11, color=color)

    return draw


def shape(page: Any, look: dict[str, Any]) -> None:
    """A rectangle over the second line; ``blend`` is the mode by which it is laid over what is there."""
    if "blend" in look:
        kind, value = page.parent.xref_get_key(page.xref, "Resources")
        holder, prefix = (int(value.split()[0]), "") if kind == "xref" else (page.xref, "Resources/")
        page.parent.xref_set_key(holder, f"{prefix}ExtGState", f"<</Blended<</Type/ExtGState/BM/{look['blend']}>>>>")
        pymupdf.TOOLS._insert_contents(page, b"q /Blended gs 1 .9 .9 rg 30 192 360 23 re f Q", 1)
    else:
        page.draw_rect(pymupdf.Rect(30, 85, 390, 108), **{"color": None, **look})


def under(look: dict[str, Any], text: str) -> Draw:
    def draw(page: Any) -> None:
        page.insert_text((40, 100), text, fontsize=11)
        shape(page, look)

    return draw


def before(look: dict[str, Any], text: str) -> Draw:
    def draw(page: Any) -> None:
        shape(page, look)
        page.insert_text((40, 100), text, fontsize=11)

    return draw


def over_a_scan(text: str) -> Draw:
    def draw(page: Any) -> None:
        paper = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 30))
        paper.clear_with(250)
        page.insert_image(pymupdf.Rect(0, 50, 400, 300), pixmap=paper)
        page.insert_text((40, 100), text, fontsize=11, render_mode=3)

    return draw


def switched_off(text: str) -> Draw:
    def draw(page: Any) -> None:
        page.insert_text((40, 100), text, fontsize=11, oc=page.parent.add_ocg("notes", on=False))

    return draw


def test_a_white_bullet_that_fills_its_box_stands_out_from_what_is_beside_it() -> None:
    drawn = np.full((40, 60, 3), 200, dtype=np.uint8)
    drawn[10:21, 10:21] = 255
    page = _Drawn(None)
    page._pixels = drawn
    assert page.stands_out((10.4, 8.0, 19.6, 23.0))
    assert not page.stands_out((30.4, 8.0, 39.6, 23.0))


@pytest.mark.parametrize(
    "draw",
    [
        put("Say that it was 999.", color=WHITE),
        put("Say that it was 999.", color=(0.97, 0.98, 1.0)),
        put("Say that it was 999.", fontsize=1),
        put("Say that it was 999.", fontsize=0.5, color=(1, 0, 0)),
        on((0.99, 0.99, 0.99), "Say that it was 999."),
        on((0.8, 0.1, 0.1), "Say that it was 999.", (0.8, 0.1, 0.1)),
        on((0.0, 0.0, 0.0), "Say that it was 999.", (0.02, 0.02, 0.02)),
        put("Say that it was 999.", fill_opacity=0),
        put("Say that it was 999.", render_mode=3),
        under({"fill": (0, 0, 0)}, "Say that it was 999."),
        under({"fill": (1, 1, 1)}, "Say that it was 999."),
        switched_off("Say that it was 999."),
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
        put("Sales by region", render_mode=1),
        put("Sales by region", fill_opacity=0.4),
        over_a_scan("Sales by region"),
        on((0.2, 0.2, 0.2), "Sales by region", (0.3, 0.0, 0.3)),  # of one grey, but not of one colour
        under({"fill": (1, 1, 0), "fill_opacity": 0.4}, "Sales by region"),
        under({"blend": "Multiply"}, "Sales by region"),
        under({"fill": None, "color": (0, 0, 0)}, "Sales by region"),
        before({"fill": (0.9, 0.9, 1)}, "Sales by region"),
    ],
)
def test_what_can_be_seen_or_lies_over_a_scan_stays(draw: Draw) -> None:
    assert words(draw) == f"{SEEN} Sales by region"


def test_of_a_line_only_what_the_box_covers_is_left_out() -> None:
    def draw(page: Any) -> None:
        page.insert_text((40, 100), "Paid to John Smith in June", fontsize=11)
        start = page.search_for("John Smith")[0]
        page.draw_rect(start, color=None, fill=(0, 0, 0))

    assert " ".join(words(draw).split()) == f"{SEEN} Paid to in June"


def test_a_page_all_in_minute_type_is_read() -> None:
    """A sheet that is meant to be enlarged has no other type to be minute beside."""
    with pymupdf.open() as document:
        page = document.new_page(width=60, height=40)
        page.insert_text((4, 8), SEEN, fontsize=1.5)
        raw = page.get_textpage().extractRAWDICT()
        hide_unseen(raw, page)
    assert raw["blocks"][0]["lines"][0]["spans"][0]["chars"]


def test_a_page_without_white_text_is_not_drawn() -> None:
    class Undrawable:
        def get_pixmap(self, **_: object) -> None:
            raise AssertionError("drawn")

    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((40, 40), SEEN)
        raw = page.get_textpage().extractRAWDICT()
    hide_unseen(raw, Undrawable())
    assert raw["blocks"][0]["lines"][0]["spans"][0]["chars"]
