"""Why these sources: opened at a stored answer, each passage leads to its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.types import Citation, TracedHit
from tests.browser.conftest import App, Shelf
from tests.browser.test_looks import box
from tests.browser.test_places import assert_lit

SUMMARY = ".gw-why > summary"
ROW = ".gw-why .hit[data-passage]"


def hits(shelf: Shelf, name: str) -> tuple[TracedHit, ...]:
    trace = shelf.answers[name].trace
    assert trace is not None
    return trace.hits


def as_citation(shelf: Shelf, hit: TracedHit) -> Citation:
    with Engine.open(shelf.home) as engine:
        words = engine.document(hit.doc_id).text[hit.start : hit.end]
    return Citation(0, hit.doc_id, "", hit.pages[0], hit.page_labels[0], words, hit.start, hit.end, hit.boxes)


@pytest.mark.parametrize("name", ["survey.pdf", "turned.pdf", "cropped and turned.pdf"])
def test_a_click_on_a_passage_lights_exactly_its_words(
    name: str, app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{app.url}/?c={shelf.conversations[name]}", 1280, 720)
    page.locator(SUMMARY).click()
    row = page.locator(ROW).first
    row.locator(".notes").click()
    page.locator('.gw-highlight[data-role="passage"]').first.wait_for()
    assert_lit(page, shelf.files[name], as_citation(shelf, hits(shelf, name)[0]), role="passage")
    assert row.get_attribute("aria-current") == "true"
    page.locator(".gw-answer a.gw-cite").first.click()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    assert page.locator(f"{ROW}[aria-current]").count() == 0, "another place is open now"


def test_it_says_what_was_searched_for_and_every_score(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    name = "survey.pdf"
    page = open_page(f"{app.url}/?c={shelf.conversations[name]}")
    page.locator(SUMMARY).click()
    facts = page.locator(".gw-why .facts")
    facts.wait_for()
    assert shelf.answers[name].question in facts.inner_text()
    assert "1 document" in facts.inner_text()
    found = hits(shelf, name)
    assert page.locator(ROW).count() == len(found)
    table = page.get_by_role("table", name="Passages found, best first")
    assert table.get_by_role("columnheader").all_inner_texts()[:3] == ["Passage", "Meaning", "Words"]
    cells = table.get_by_role("row").nth(1).get_by_role("cell").all_inner_texts()
    assert f"{found[0].scores['vector']:.2f}" in cells[1]
    assert f"{found[0].score:.2f}" in cells[-1]
    steps = page.locator(".gw-why .times dt").all_inner_texts()
    assert {"Searching by meaning", "Searching by words", "Writing the answer"} <= set(steps)


def test_it_opens_from_the_keyboard_and_moves_nothing_above(
    app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}", 1280, 720)
    summary = page.locator(SUMMARY)
    summary.focus()
    before = [box(page, selector)["y"] for selector in (".gw-q", SUMMARY)]
    page.keyboard.press("Enter")
    page.locator(ROW).first.wait_for()
    assert [box(page, selector)["y"] for selector in (".gw-q", SUMMARY)] == before
    page.keyboard.press("Tab")
    assert page.get_by_role("link", name="See every chunk in Explore").evaluate("e => e === document.activeElement")
    page.keyboard.press("Tab")
    link = page.locator(f"{ROW} a").first
    assert link.evaluate("e => e === document.activeElement")
    assert "page" in link.get_attribute("aria-label") or "p. " in link.get_attribute("aria-label")
    page.keyboard.press("Enter")
    page.locator('.gw-highlight[data-role="passage"]').first.wait_for()
    assert link.evaluate("e => e === document.activeElement"), "the place in the list is kept"
    page.keyboard.press("Shift+Enter")
    page.wait_for_function("() => document.activeElement.matches('.gw-pane .desk')")


def test_opened_at_the_lower_edge_its_first_lines_come_into_sight(
    app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}", 1280, 720)
    summary = page.locator(SUMMARY)
    summary.wait_for()
    # The window is made so low that the heading stands just above the input.
    below = box(page, ".gw-flow")["y"] + box(page, ".gw-flow")["height"] - box(page, SUMMARY)["y"]
    page.set_viewport_size({"width": 1280, "height": int(720 - below + 50)})
    page.locator(".gw-flow").evaluate("e => e.scrollTop = 0")
    summary.click()
    page.locator(ROW).first.wait_for()
    flow, facts = box(page, ".gw-flow"), box(page, ".gw-why .facts dt:first-child")
    assert facts["y"] + facts["height"] <= flow["y"] + flow["height"]
    assert box(page, SUMMARY)["y"] >= flow["y"], "its heading stays in sight"


def test_notes_have_the_width_where_the_column_is_narrow(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}", 1280, 720)
    page.locator(SUMMARY).click()
    page.locator(ROW).first.wait_for()
    assert box(page, f"{ROW} .notes")["width"] > 0.7 * box(page, ROW)["width"]


@pytest.mark.parametrize("width", [1280, 900, 390])
def test_it_fits_every_width(width: int, app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}", width, 844)
    page.locator(SUMMARY).click()
    page.locator(ROW).first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    flow = page.locator(".gw-flow")
    assert flow.evaluate("e => e.scrollWidth <= e.clientWidth"), "nothing sticks out of the column"
    overlaps = """row => {
        const of = (e) => {
            const range = document.createRange();
            range.selectNodeContents(e);
            return range.getBoundingClientRect();
        };
        const all = [...row.querySelectorAll('.ti, .of, .notes, .n')].map(of);
        return all.some((a, i) => all.some((b, j) => i < j && a.left < b.right - 1 && b.left < a.right - 1
            && a.top < b.bottom - 2 && b.top < a.bottom - 2));
    }"""
    clipped = [i for i in range(page.locator(ROW).count()) if page.locator(ROW).nth(i).evaluate(overlaps)]
    assert not clipped
