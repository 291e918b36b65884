"""Characters → words: what is kept, what is taken apart, and how tall a word's box is."""

from __future__ import annotations

import time
from typing import Any

import pymupdf
import pytest

from ragcore.ingest.layout import BOLD, GLUED, SIDEWAYS, SOFT_HYPHEN, turned
from ragcore.ingest.read import TEXT_FLAGS
from ragcore.ingest.words import WordColumns, clean_char, read_words, writing_angle
from tests import pdfs


def raw_line(
    text: str, *, size: float = 10.0, direction: tuple[float, float] = (1.0, 0.0), font: str = "Any-Regular"
) -> dict[str, Any]:
    """MuPDF's rawdict of one line, each character 6 points wide, with font boxes that are far too tall."""
    chars = [
        {"c": c, "origin": (72 + 6 * i, 100.0), "bbox": (72 + 6 * i, 84.0, 78 + 6 * i, 106.0)}
        for i, c in enumerate(text)
    ]
    span = {"size": size, "flags": 0, "font": font, "chars": chars}
    return {"blocks": [{"type": 0, "lines": [{"dir": direction, "wmode": 0, "spans": [span]}]}]}


def words_of(text: str) -> WordColumns:
    return read_words(raw_line(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two", ["one", "two"]),
        ("ﬁnal oﬀer", ["final", "offer"]),
        ("12\u00a0500\u2009t", ["12", "500", "t"]),
        ("co\u00adoperate", ["cooperate"]),
        ("a\u200bb\x07c", ["abc"]),
        ("x² ½ ™", ["x²", "½", "™"]),
        ("\uf0b7 item", ["•", "item"]),
        ("e\u0301te\u0301", ["été"]),
        ("BMS-986158 (mM)", ["BMS-986158", "(mM)"]),
        ("２０２３ Ａｂ", ["2023", "Ab"]),
        ("𝑥₂ = ㎡", ["𝑥₂".replace("𝑥", "x"), "=", "㎡"]),
        ("\x93so\x94 \x85 \x84", ["“so”", "…"]),
        ("⼈", ["人"]),
        ("   ", []),
    ],
)
def test_text(text: str, expected: list[str]) -> None:
    assert words_of(text).texts == expected


@pytest.mark.parametrize(
    ("font", "text", "expected"),
    [("Wingdings-Regular", "ü n", ["✓", "■"]), ("ITCZapfDingbats", "n", ["■"]), ("Arial", "n", ["n"])],
)
def test_symbol_fonts_give_symbols(font: str, text: str, expected: list[str]) -> None:
    assert read_words(raw_line(text, font=font)).texts == expected


def test_a_word_drawn_twice_stands_once_and_is_bold() -> None:
    raw = raw_line("Nitrate levels")
    again = raw_line("Nitrate levels")["blocks"][0]["lines"][0]
    for char in again["spans"][0]["chars"]:
        x0, y0, x1, y1 = char["bbox"]
        char["bbox"], char["origin"] = (x0 + 0.4, y0, x1 + 0.4, y1), (char["origin"][0] + 0.4, 100.0)
    raw["blocks"][0]["lines"].append(again)
    words = read_words(raw)
    assert words.texts == ["Nitrate", "levels"]
    assert all(flag & BOLD for flag in words.flags)


def test_a_word_with_a_rule_under_a_part_of_it_is_one_word() -> None:
    document = pymupdf.open()
    page, x = document.new_page(), 72.0
    for part in ('Lund Inc. (the "', "Company", '") is a ', "firm", "."):
        page.insert_text((x, 100), part)
        wide = pymupdf.get_text_length(part)
        page.draw_line((x, 102), (x + wide, 102))
        x += wide
    words = read_words(page.get_textpage(flags=TEXT_FLAGS).extractRAWDICT())
    assert words.texts == ["Lund", "Inc.", "(the", '"Company")', "is", "a", "firm."]
    assert all(box[2] - box[0] > 4 for box in words.boxes)


def test_the_same_word_beside_itself_stands_twice() -> None:
    assert words_of("that that").texts == ["that", "that"]


def test_a_chart_of_dots_is_read_at_once() -> None:
    lines = []
    for row in range(60):
        (line,) = raw_line(". " * 100)["blocks"][0]["lines"]
        for char in line["spans"][0]["chars"]:
            (x, _y), (x0, y0, x1, y1) = char["origin"], char["bbox"]
            char["origin"], char["bbox"] = (x, 100.0 + 12 * row), (x0, y0 + 12 * row, x1, y1 + 12 * row)
        lines.append(line)
    began = time.process_time()
    assert len(read_words({"blocks": [{"type": 0, "lines": lines}]}).texts) == 6000
    assert time.process_time() - began < 5


def test_lam_alef_in_the_order_in_which_it_is_read() -> None:
    """The ligature is one glyph: MuPDF gives its alef no width, before the lam."""
    raw = raw_line("خال")
    chars = raw["blocks"][0]["lines"][0]["spans"][0]["chars"]
    for place, (left, right) in enumerate(((20.0, 26.0), (20.0, 20.0), (14.0, 20.0))):
        chars[place]["bbox"] = (left, 84.0, right, 106.0)
    assert read_words(raw).texts == ["خلا"]


def test_scripts_without_blanks_have_a_place_for_each_character() -> None:
    words = words_of("数据 abc 中文x")
    assert words.texts == ["数", "据", "abc", "中", "文", "x"]
    assert [bool(flag & GLUED) for flag in words.flags] == [False, True, False, False, True, True]
    assert len(set(words.boxes)) == 6


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([("D ", 10), ("AVID ", 8), ("W ", 10), ("ELLS, ", 8), ("chief", 10)], ["DAVID", "WELLS,", "chief"]),
        ([("A ", 10), ("NNUAL ", 8), ("R ", 10), ("EPORT", 8)], ["ANNUAL", "REPORT"]),
        ([("A ", 10), ("NEW DAY", 8)], ["A", "NEW", "DAY"]),
        ([("Class B ", 10), ("COMMON", 10)], ["Class", "B", "COMMON"]),
        ([("Class B     ", 10), ("COMMON", 8)], ["Class", "B", "COMMON"]),
        ([("D ", 30), ("AVID", 8)], ["D", "AVID"]),
    ],
)
def test_small_capitals_with_a_blank_behind_the_capital_are_one_word(
    parts: list[tuple[str, float]], expected: list[str]
) -> None:
    page = pymupdf.open().new_page()
    at = 72.0
    for text, size in parts:
        page.insert_text((at, 100), text, fontsize=size)
        at += pymupdf.get_text_length(text, fontsize=size)
    assert read_words(page.get_text("rawdict")).texts == expected


def test_a_soft_hyphen_at_the_line_end_is_remembered() -> None:
    words = words_of("inter\u00ad")
    assert words.texts == ["inter"]
    assert words.flags[0] & SOFT_HYPHEN


def test_the_box_comes_from_baseline_and_size() -> None:
    (box,) = words_of("word").boxes
    assert box == pytest.approx((72, 92.0, 96, 102.2))


def test_a_font_whose_size_says_nothing_keeps_its_box() -> None:
    (box,) = read_words(raw_line("word", size=1.0)).boxes
    assert box == pytest.approx((72, 84.0, 96, 106.0))


@pytest.mark.parametrize("char", ["\ud800"])
def test_lone_surrogates_become_the_replacement_character(char: str) -> None:
    assert clean_char(char) == "\ufffd"


@pytest.mark.parametrize(
    ("direction", "angle"), [((1.0, 0.0), 0), ((0.0, 1.0), 90), ((-1.0, 0.0), 180), ((0.0, -1.0), 270)]
)
def test_writing_angle(direction: tuple[float, float], angle: int) -> None:
    raw = raw_line("turned", direction=direction)
    assert writing_angle(raw) == angle
    assert not read_words(raw, angle).flags[0] & SIDEWAYS
    assert read_words(raw, (angle + 90) % 360).flags[0] & SIDEWAYS


def test_no_text_has_no_angle() -> None:
    with pymupdf.open(stream=pdfs.blank(), filetype="pdf") as document:
        assert writing_angle(document[0].get_text("rawdict")) is None


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_turning_a_frame_and_back(angle: int) -> None:
    box = (10.0, 20.0, 40.0, 60.0)
    there = turned(box, angle, 100.0, 200.0)
    frame = (100.0, 200.0) if angle in (0, 180) else (200.0, 100.0)
    assert turned(there, (360 - angle) % 360, *frame) == box
