"""A click on a citation lights exactly the quoted words: compared with the words as PyMuPDF gives them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from playwright.sync_api import expect

from ragcore.types import Citation
from tests.browser.conftest import App, Shelf, promise, still
from tests.matrix import standing_for

SLACK = 1.5  # CSS pixels
Rect = dict[str, float]


def words_on(file: Path, page_number: int) -> list[tuple[str, pymupdf.Rect]]:
    """The words of a page with their boxes as displayed, in points, and the page's size last.

    PyMuPDF's boxes reach from the font's ascender to its descender; each loses a quarter of that height above and
    below, which leaves what is printed of it.
    """
    with pymupdf.open(file) as pdf:
        page = pdf[page_number - 1]
        turn = page.rotation_matrix
        words = []
        for x0, y0, x1, y1, text, *_ in page.get_text("words"):
            inset = 0.25 * (y1 - y0)
            # A word that the crop box cuts shows only its part within the page.
            words.append((text, (pymupdf.Rect(x0, y0 + inset, x1, y1 - inset) * turn) & page.rect))
        return [*words, ("", page.rect)]


def quoted_and_not(file: Path, citation: Citation) -> tuple[list[pymupdf.Rect], list[pymupdf.Rect], pymupdf.Rect]:
    """Boxes of the words of the quote, of all other words on the page, and the page's own rectangle."""
    *words, (_, sheet) = words_on(file, citation.page)
    wanted = citation.quote.replace("|", " ").split()
    texts = [text for text, _ in words]
    places = [i for i in range(len(texts)) if texts[i : i + len(wanted)] == wanted]
    assert len(places) == 1, f"the quote stands {len(places)} times on the page"
    inside = range(places[0], places[0] + len(wanted))
    return [words[i][1] for i in inside], [box for i, (_, box) in enumerate(words) if i not in inside], sheet


def client_rects(page: Any, selector: str) -> list[Rect]:
    script = """all => all.map(e => e.getBoundingClientRect())
        .map(r => ({x0: r.left, y0: r.top, x1: r.right, y1: r.bottom}))"""
    rects: list[Rect] = page.locator(selector).evaluate_all(script)
    return rects


def assert_lit(page: Any, file: Path, citation: Citation, role: str = "cited") -> None:
    """The rectangles lie over the quoted words on the picture, and over no other word."""
    selector = f'.gw-page[data-page="{citation.page}"]'
    page.wait_for_function(
        "s => { const i = document.querySelector(s + ' img'); return i && i.complete && i.naturalWidth > 0 }",
        arg=selector,
    )
    marks = f'{selector} .gw-highlight[data-n="{citation.n}"][data-role="{role}"]'
    still(page, marks)
    (picture,) = client_rects(page, f"{selector} img")
    lit = client_rects(page, marks)
    quoted, others, sheet = quoted_and_not(file, citation)
    across = (picture["x1"] - picture["x0"]) / sheet.width
    down = (picture["y1"] - picture["y0"]) / sheet.height
    assert across == pytest.approx(down, rel=0.01), "the picture is out of shape"

    def on_screen(box: pymupdf.Rect) -> Rect:
        return {
            "x0": picture["x0"] + box.x0 * across,
            "y0": picture["y0"] + box.y0 * down,
            "x1": picture["x0"] + box.x1 * across,
            "y1": picture["y0"] + box.y1 * down,
        }

    for box in map(on_screen, quoted):
        assert any(
            rect["x0"] <= box["x0"] + SLACK
            and rect["x1"] >= box["x1"] - SLACK
            and rect["y0"] <= box["y0"] + SLACK
            and rect["y1"] >= box["y1"] - SLACK
            for rect in lit
        ), f"a quoted word at {box} is not covered by {lit}"
    for box in map(on_screen, others):
        x, y = (box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2
        assert not any(r["x0"] < x < r["x1"] and r["y0"] < y < r["y1"] for r in lit), f"a word at {box} is lit"


@pytest.mark.parametrize("name", standing_for(["cropped and turned.pdf"], ["survey.pdf", "cropped and turned.pdf"]))
def test_a_click_lights_exactly_the_quoted_words(
    name: str, app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    answer, file = shelf.answers[name], shelf.files[name]
    assert answer.citations
    page = open_page(f"{app.url}/?c={shelf.conversations[name]}")
    with promise("a click lights exactly the quoted words"):
        for citation in answer.citations[:2]:
            page.locator(f'.gw-answer a.gw-cite[data-n="{citation.n}"]').first.click()
            page.locator(f'.gw-highlight[data-n="{citation.n}"][data-role="cited"]').first.wait_for()
            assert_lit(page, file, citation)
    with promise("at another zoom too"):
        before = page.locator(".gw-page").first.bounding_box()["width"]
        for _ in range(3):
            page.get_by_role("button", name="Zoom in").click()
        assert page.locator(".gw-page").first.bounding_box()["width"] > before * 1.1
        assert_lit(page, file, citation)
    with promise("a reload reopens the conversation with its highlights"):
        page.reload()
        page.locator(f'.gw-highlight[data-n="{citation.n}"]').first.wait_for()
        assert_lit(page, file, citation)
        assert page.locator(f'.gw-answer a.gw-cite[data-n="{citation.n}"][aria-current]').count() >= 1


def test_the_lit_words_are_in_sight_and_the_chip_says_so(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}", 1280, 720)
    chip = page.locator('.gw-answer a.gw-cite[data-n="1"]').first
    chip.focus()
    page.keyboard.press("Enter")
    still(page, '.gw-highlight[data-n="1"]')
    (lit, *_) = client_rects(page, '.gw-highlight[data-n="1"]')
    (desk,) = client_rects(page, ".gw-pane .desk")
    assert desk["y0"] <= lit["y0"]
    assert lit["y1"] <= desk["y1"]
    expect(chip).to_have_attribute("aria-current", "true")
    page.get_by_role("tab", name="Contents").click()
    page.wait_for_function(
        "() => document.querySelector('.gw-page').getBoundingClientRect().left"
        " >= document.querySelector('.gw-pane .side').getBoundingClientRect().right"
    )
    page.get_by_role("tab", name="Thumbnails").click()
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    page.locator(".gw-pane .desk").evaluate("desk => desk.scrollTo(9999, 0)")
    chip.click()
    # Nothing of the page's left is cut off for which there is room beside what is lit.
    page.wait_for_function(
        "() => { const desk = document.querySelector('.gw-pane .desk'), { right } = desk.getBoundingClientRect();"
        " const lit = [...document.querySelectorAll('.gw-highlight[data-n=\"1\"]')];"
        " const end = Math.max(...lit.map(e => e.getBoundingClientRect().right));"
        " return end <= right && (desk.scrollLeft < 1 || right - end < 20); }"
    )
