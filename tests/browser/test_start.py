"""The first page of a server that has just been started: something stands there at once, and a question can be asked
before any model is loaded."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import pdfs
from tests.browser.conftest import App, serve
from tests.browser.test_claude import ask
from tests.matrix import standing_for

QUESTION = "What did the crews find in year {} of the survey?"


@pytest.mark.parametrize("theme", standing_for(["light"], ["light", "dark"]))
def test_the_page_is_never_blank(app: App, browser: Any, theme: str) -> None:
    """Streamlit's script is held back: what stands there meanwhile says so, in the theme that will follow."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=theme)
    page = context.new_page()
    held: list[Any] = []
    page.route("**/static/js/index.*.js", lambda route: held.append(route))
    page.goto(app.url, wait_until="commit")
    opening = page.locator(".gw-opening")
    expect(opening.get_by_role("status")).to_have_text("Opening Groundwork")
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    ground = opening.evaluate("screen => getComputedStyle(screen).backgroundColor")
    for route in held:
        route.continue_()
    page.locator(".st-key-gw_composer textarea").wait_for()
    expect(opening).to_have_count(0)
    assert ground == page.evaluate(
        "getComputedStyle(document.querySelector('.stSidebar')).backgroundColor"
    )  # the tokens' --bg
    context.close()


def test_what_takes_long_is_said_in_the_theme_that_was_chosen(app: App, browser: Any) -> None:
    context = browser.new_context(color_scheme="light")
    sooner = "const real = setTimeout; window.setTimeout = (work, ms) => real(work, ms === 8000 ? 200 : ms);"
    context.add_init_script(sooner)
    context.add_init_script("localStorage.setItem('stActiveTheme-/-v2', '\"Dark\"')")
    page = context.new_page()
    page.route("**/static/js/index.*.js", lambda _: None)
    page.goto(app.url, wait_until="commit")
    opening = page.locator(".gw-opening")
    expect(opening).to_have_css("background-color", "rgb(18, 20, 19)")
    expect(opening.get_by_role("status")).to_contain_text("goes on by itself")
    context.close()


@pytest.mark.slow
def test_the_sample_is_one_click_from_its_first_answer_before_any_model_is_loaded(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    with serve(tmp_path / "home") as app:
        page = open_page(app.url)
        page.get_by_role("button", name="When does the credit facility mature?").click()
        expect(page.locator(".gw-trial")).to_be_visible(timeout=15_000)
        expect(page.locator(".gw-opening")).to_have_count(0)
        answer = page.locator('.gw-turn[data-state="complete"] .gw-answer')
        answer.wait_for(timeout=120_000)
        expect(answer).to_contain_text("30 June 2029", use_inner_text=True)
        page.get_by_text("Quotes from your documents").wait_for()
        answer.locator("a.gw-cite").first.click()
        page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
        expect(page.get_by_label("Page", exact=True).first).to_be_visible()


def dropped(page: Any) -> Any:
    """The page with a document of 60 pages, which is asked while it is read."""
    page.locator("input[type=file]").set_input_files(
        {"name": "long.pdf", "mimeType": "application/pdf", "buffer": pdfs.running_headers(60)}
    )
    expect(page.locator(".gw-ov .now")).to_contain_text("You can already ask about pages 1–")
    ask(page, QUESTION.format(3))
    return page


@pytest.mark.slow
def test_a_long_document_is_asked_while_it_is_read_and_again_when_all_of_it_is_and_shown_as_it_has_grown(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    with serve(tmp_path / "home") as app:
        page = dropped(open_page(app.url))
        early, late = page.locator(".gw-turn").first, page.locator(".gw-turn").nth(1)
        again, later = (turn.get_by_role("checkbox", name="Ask again when all is read") for turn in (early, late))
        expect(early).to_have_attribute("data-state", "complete")
        expect(early.locator(".gw-partly")).to_contain_text(re.compile(r"From pages 1–\d+ of 60 of “.*”"))
        early.locator(".gw-cite").first.click()
        page.locator(".gw-pane .gw-highlight").first.wait_for()
        expect(again).to_be_visible()
        ask(page, QUESTION.format(2))
        expect(late).to_have_attribute("data-state", "complete")
        expect(again).to_be_hidden()

        later.check()
        expect(late.get_by_role("group", name="Version 2 of 2")).to_be_visible(timeout=120_000)
        expect(late).to_have_attribute("data-state", "complete")
        expect(late.locator(".gw-partly")).to_have_count(0)
        expect(early.locator(".gw-partly")).to_contain_text("All pages are read now.")
        expect(page.locator(".gw-pane")).to_contain_text("of 60")
        expect(page.locator(".gw-pane .gw-highlight").first).to_be_visible()

        ask(page, QUESTION.format(55))
        page.locator(".gw-turn").nth(2).locator(".gw-cite").first.click()
        expect(page.locator(".gw-pane .pgbox")).to_contain_text("of 60")
        expect(page.locator('.gw-pane .gw-highlight[data-page="55"]').first).to_be_visible()
        late.get_by_role("button", name="Previous version").click()
        expect(late.locator(".gw-partly")).to_contain_text("All pages are read now.")
        late.get_by_role("button", name="Ask again", exact=True).click()
        expect(late.get_by_role("group", name="Version 3 of 3")).to_be_visible()


@pytest.mark.slow
def test_a_citation_stays_lit_in_its_answer_when_all_of_the_document_is_read(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    with serve(tmp_path / "home") as app:
        page = dropped(open_page(app.url))
        early = page.locator(".gw-turn").first
        early.locator(".gw-cite").first.click()
        expect(early.locator(".gw-cite[aria-current]")).not_to_have_count(0)
        expect(early.locator(".gw-partly")).to_contain_text("All pages are read now.", timeout=120_000)
        expect(early.locator(".gw-cite[aria-current]")).not_to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("changed", [False, True])
def test_a_question_that_is_sent_before_anything_can_be_asked_is_not_lost(
    tmp_path: Path, open_page: Callable[..., Any], changed: bool
) -> None:
    with serve(tmp_path / "home") as app:
        page = open_page(app.url)
        page.get_by_text("Ask the sample document").wait_for()
        data = pdfs.report("Harbour", {"Quay": ["The quay is 412 m long. It was built in 1931."]})
        given = {"name": "quay.pdf", "mimeType": "application/pdf", "buffer": data}
        page.locator("input[type=file]").first.set_input_files(given)
        page.get_by_role("heading", name="Your document is being read").wait_for()
        box = page.get_by_label("Ask your documents")
        box.fill("How long is the quay?")
        box.press("Enter")
        page.get_by_text("Nothing has been read yet.").wait_for()
        expect(box).to_have_value("How long is the quay?")
        if changed:  # by somebody who is still writing
            box.fill("When was the quay")
            page.get_by_text("Your document is ready").wait_for()
            expect(page.get_by_text("Nothing has been read yet.")).to_have_count(0)
            expect(box).to_have_value("When was the quay")
            box.press_sequentially(" built?")
            box.press("Enter")
        wanted = ("When was the quay built?", "1931") if changed else ("How long is the quay?", "412 m")
        expect(page.locator(".gw-q")).to_have_text(wanted[0])
        expect(page.locator('.gw-turn[data-state="complete"] .gw-answer')).to_contain_text(wanted[1])
        expect(box).to_have_value("")
