"""Both themes, from a phone to a large screen: nothing overlaps, nothing sticks out, nothing is open to others."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import App, Shelf, promise, still


def background(page: Any, selector: str) -> tuple[int, ...]:
    color: str = page.locator(selector).first.evaluate("e => getComputedStyle(e).backgroundColor")
    return tuple(int(float(part)) for part in color[color.index("(") + 1 : -1].split(",")[:3])


def box(page: Any, selector: str) -> dict[str, float]:
    found: dict[str, float] = page.locator(selector).first.bounding_box()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_both_themes_and_three_panes(
    size: tuple[int, int], app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    width, height = size
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}", width, height)
    page.locator(".gw-answer a.gw-cite").first.click()
    page.locator(".gw-highlight").first.wait_for()
    for theme in ("dark", "light"):
        with promise(f"the theme follows the system: {theme}"):
            page.emulate_media(color_scheme=theme)
            page.wait_for_function(
                "theme => getComputedStyle(document.querySelector('.stApp')).colorScheme === theme", arg=theme
            )
            themed(page, theme == "dark")
    page.locator(".gw-page img").first.wait_for()
    with promise("three panes share the window"):
        still(page, ".gw-flow, .gw-pane, .gw-splitter")
        side, flow, composer, pane = (
            box(page, s) for s in (".stSidebar", ".gw-flow", ".st-key-gw_composer", ".gw-pane")
        )
        assert side["x"] + side["width"] <= flow["x"] + 1
        assert flow["x"] + flow["width"] <= pane["x"] + 1
        assert pane["x"] + pane["width"] <= width + 1
        assert flow["y"] + flow["height"] <= composer["y"] + 1
        assert composer["y"] + composer["height"] <= height + 1
        assert abs(pane["y"] + pane["height"] - height) <= 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        buttons = page.locator(".gw-pane .tbar > *:visible").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect()).map(r => [r.left, r.right])"
        )
        assert all(a[1] <= b[0] + 1 for a, b in pairwise(buttons)), "the toolbar overlaps itself"
    with promise("the border between them is moved by hand or by keys, stays so, and neither side vanishes"):
        border = page.get_by_role("separator", name="Width of the page")
        at = box(page, ".gw-splitter")
        page.mouse.move(at["x"] + at["width"] / 2, at["y"] + 200)
        page.mouse.down()
        page.mouse.move(at["x"] + at["width"] / 2 - 60, at["y"] + 200, steps=3)
        page.mouse.up()
        assert box(page, ".gw-pane")["width"] == pytest.approx(pane["width"] + 60, abs=2)
        page.keyboard.press("ArrowLeft")
        wide = box(page, ".st-key-gw_pane")["width"]
        assert wide > pane["width"] + 70
        expect(border).to_have_attribute("aria-valuenow", str(round(wide)))
        page.reload()
        page.locator(".gw-page img").first.wait_for()
        assert box(page, ".st-key-gw_pane")["width"] == wide
        border.focus()
        page.keyboard.press("End")
        assert box(page, ".gw-flow")["width"] >= 320
        page.keyboard.press("Enter")
        assert box(page, ".gw-pane")["width"] == pane["width"]


def themed(page: Any, dark: bool) -> None:
    for selector in (".st-key-gw_split", ".stSidebar", ".gw-pane .tbar"):
        assert (max(background(page, selector)) < 80) is dark, selector
    assert background(page, ".gw-page") == (255, 255, 255), "paper is paper in both themes"
    assert background(page, '.gw-highlight[data-role="cited"]') == (255, 212, 59)
    ink = page.locator(".gw-answer").evaluate("e => getComputedStyle(e).color")
    assert (int(ink.split("(")[1].split(",")[0]) > 200) is dark
    assert page.evaluate("document.fonts.check('16px \"Source Serif 4\"') && document.fonts.check('13px Inter')")


@pytest.mark.slow
def test_on_a_phone_the_page_is_a_drawer(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}", 390, 844, has_touch=True)
    chip = page.locator(".gw-answer a.gw-cite").first
    chip.wait_for()
    expect(page.locator(".gw-pane")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    composer = box(page, ".st-key-gw_composer")
    assert composer["y"] + composer["height"] <= 844
    chip.tap()
    # Pages are laid out anew when the drawer opens, so that what was lit a moment ago may have been replaced.
    page.wait_for_function(
        "() => { const lit = document.querySelector('.gw-highlight')?.getBoundingClientRect();"
        " return lit && lit.height > 0 && 844 * 0.12 < lit.top && lit.top < 844; }"
    )
    page.get_by_role("button", name="Close page").click()
    page.locator(".gw-pane").wait_for(state="hidden")
    page.locator(".gw-peek").click()
    page.locator(".gw-highlight").first.wait_for()
    page.get_by_role("button", name="Close page").click()
    unfold = page.get_by_test_id("stExpandSidebarButton")
    unfold.tap()
    unfold.wait_for(state="detached")
    page.get_by_role("button", name="New conversation").tap()
    page.get_by_text("documents are ready").wait_for()
    unfold.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"{app.url}/library")
    page.locator(".gw-library tr[data-doc]").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_nothing_is_given_to_who_has_no_token(app: App, shelf: Shelf) -> None:
    doc_id = shelf.answers["survey.pdf"].citations[0].doc_id
    for path, status in (
        (f"gw/documents/{doc_id}/pages/1.png?w=640", 403),
        ("gw/library?t=x.y.z", 403),
        ("_stcore/metrics", 404),
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{app.url}/{path}", timeout=10)
        assert refused.value.code == status
    with urllib.request.urlopen(app.url, timeout=10) as answer:
        assert "default-src 'self'" in answer.headers["content-security-policy"]
