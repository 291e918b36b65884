"""The order in which regions are read."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from ragcore.ingest.layout import Rect, Region
from ragcore.ingest.regions import reading_order


def read(named: dict[str, Rect], *, right_to_left: bool = False, kinds: dict[str, str] | None = None) -> str:
    """The names in the order in which they are read, whatever order they are given in."""
    regions = {Region((kinds or {}).get(name, "text"), box): name for name, box in named.items()}
    given = list(regions)
    random.Random(1).shuffle(given)
    return "".join(regions[region] for region in reading_order(given, right_to_left=right_to_left))


def test_one_column_from_the_top() -> None:
    assert read({"a": (50, 50, 550, 90), "b": (50, 100, 300, 140), "c": (50, 150, 550, 190)}) == "abc"


def test_two_columns_whose_paragraphs_end_side_by_side() -> None:
    """A blank stripe across the page is no reason to leave a column."""
    left = {"a": (50, 50, 290, 200), "b": (50, 210, 290, 400), "c": (50, 410, 290, 700)}
    right = {"d": (310, 50, 550, 200), "e": (310, 210, 550, 400), "f": (310, 410, 550, 700)}
    assert read(left | right) == "abcdef"
    assert read(left | right, right_to_left=True) == "defabc"


def test_three_columns_under_a_title() -> None:
    boxes = {"t": (50, 40, 550, 70)}
    for place, name in enumerate("abc"):
        boxes[name] = (50 + 180 * place, 90, 210 + 180 * place, 390)
        boxes[name.upper()] = (50 + 180 * place, 400, 210 + 180 * place, 700)
    assert read(boxes) == "taAbBcC"


def test_a_wide_figure_between_columns_divides_the_page() -> None:
    boxes = {"a": (50, 50, 290, 200), "b": (310, 50, 550, 200), "F": (50, 220, 550, 400), "f": (50, 405, 550, 425)}
    boxes |= {"c": (50, 440, 290, 700), "d": (310, 440, 550, 690)}
    assert read(boxes, kinds={"F": "picture", "f": "caption"}) == "abFfcd"


def test_a_figure_in_a_column_stays_there() -> None:
    boxes = {"a": (50, 50, 290, 200), "F": (50, 210, 290, 400), "b": (50, 420, 290, 700)}
    boxes |= {"c": (310, 50, 550, 330), "d": (310, 340, 550, 700)}
    assert read(boxes, kinds={"F": "picture"}) == "aFbcd"


def test_a_sidebar_is_read_as_a_column() -> None:
    boxes = {"s": (40, 300, 140, 500), "S": (40, 510, 140, 600), "a": (160, 300, 560, 420), "b": (160, 430, 560, 700)}
    boxes |= {"t": (40, 60, 560, 120)}
    assert read(boxes) == "tsSab"


def test_a_heading_of_the_full_width_goes_with_what_follows() -> None:
    boxes = {"a": (50, 50, 290, 200), "b": (310, 50, 550, 200), "h": (50, 230, 180, 245), "p": (50, 250, 550, 400)}
    assert read(boxes, kinds={"h": "section-header"}) == "abhp"


def test_a_page_number_beside_a_list_makes_no_column() -> None:
    boxes = {"h": (290, 44, 325, 50), "a": (20, 65, 80, 72), "b": (20, 85, 170, 93), "n": (571, 95, 587, 111)}
    boxes |= {"c": (76, 116, 214, 123), "d": (20, 136, 160, 143)}
    assert read(boxes, kinds={"h": "section-header"}) == "habncd"


def test_headers_first_and_footers_last() -> None:
    kinds = {"h": "page-header", "f": "page-footer", "n": "page-footer"}
    boxes = {"h": (50, 20, 200, 30), "a": (50, 60, 550, 700), "n": (500, 760, 550, 770), "f": (50, 760, 200, 770)}
    assert read(boxes, kinds=kinds) == "hafn"


@given(
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 700), st.integers(1, 300), st.integers(1, 200)), max_size=14)
)
def test_every_region_is_read_once(boxes: list[tuple[int, int, int, int]]) -> None:
    regions = [Region("text", (x, y, x + w, y + h)) for x, y, w, h in boxes]
    ordered = reading_order(regions)
    assert sorted(map(id, ordered)) == sorted(map(id, regions))
