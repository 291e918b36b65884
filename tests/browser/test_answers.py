"""Under an answer: what to ask next, what one thinks of it, and taking it along as text or as a link."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.types import Scope
from ragcore.types.library import Feedback
from tests import prepared
from tests.browser.conftest import QUESTION, App, Shelf

SAMPLE = Path(__file__).resolve().parents[2] / "ui" / "sample" / "sample.pdf"


@pytest.fixture(scope="module")
def report(app: App) -> tuple[str, str]:
    """A conversation about the sample, and its turn: a document with tables and sections, unlike those of the shelf."""
    with Engine.open(app.home) as engine:
        doc_id = prepared.read(engine, SAMPLE.read_bytes(), "annual report.pdf")
        engine.index()
        conversation = engine.conversations.new(Scope((doc_id,)))
        run = engine.chat(conversation, "What was total revenue in 2025?")
        run.run()
        return conversation, run.turn_id or ""


@pytest.mark.slow
def test_a_question_to_go_on_with_is_asked_by_a_click(
    app: App, report: tuple[str, str], open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{app.url}/?c={report[0]}")
    page.locator(".gw-answer a.gw-cite").first.wait_for()
    top = page.locator(".gw-q").bounding_box()
    offered = page.get_by_role("region", name="Ask next").get_by_role("button")
    offered.first.wait_for()
    assert page.locator(".gw-q").bounding_box() == top, "nothing above it moves"
    question = offered.first.inner_text()
    page.reload()
    offered.first.wait_for()
    assert offered.first.inner_text() == question, "kept with the answer"
    offered.first.focus()
    page.keyboard.press("Enter")
    second = page.locator(".gw-turn").nth(1)
    second.locator(".gw-answer a.gw-cite").first.wait_for()
    assert second.locator(".gw-q").inner_text() == question
    assert page.locator(".gw-turn").first.locator(".gw-next").count() == 0, "only under the last answer"


def test_what_one_thinks_of_an_answer_is_kept_and_shown_again(
    app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    name = "turned.pdf"
    page = open_page(f"{app.url}/?c={shelf.conversations[name]}")
    more = page.get_by_role("button", name="More", exact=True)
    down = page.get_by_role("button", name="Not helpful")
    more.click()
    down.click()
    page.get_by_role("button", name="A citation doesn’t match").click()
    page.get_by_label("In your own words").fill("The page is another.")
    page.get_by_role("button", name="Send", exact=True).click()
    page.get_by_text("Saved in this library only.").wait_for()
    with Engine.open(app.home) as engine:
        kept = engine.feedback.of([shelf.turns[name]])
    assert kept == {shelf.turns[name]: Feedback(False, "citation", "The page is another.")}
    page.reload()
    more.click()
    assert down.get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Helpful", exact=True).click()
    page.locator('[data-opinion="up"][aria-pressed="true"]').wait_for()
    assert down.get_attribute("aria-pressed") == "false"
    page.locator('[data-opinion="up"]').click()
    page.locator('[data-opinion="up"][aria-pressed="false"]').wait_for()
    with Engine.open(app.home) as engine:
        assert engine.feedback.of([shelf.turns[name]]) == {}, "taken back"


def test_a_link_opens_the_same_answer_and_page_again(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    name = "cropped.pdf"
    page = open_page(f"{app.url}/?c={shelf.conversations[name]}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    turn = shelf.turns[name]
    link = f"{app.url}/?c={shelf.conversations[name]}&t={turn}"
    assert page.evaluate("navigator.clipboard.readText()") == link
    chip = page.locator(".gw-answer a.gw-cite").first
    page.keyboard.press("Tab")  # so that the focus is one of the keyboard
    chip.focus()
    page.locator(".gw-card .lk").wait_for()
    page.keyboard.press("c")
    page.get_by_text("Link copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == f"{link}&n=1"
    page.locator(".gw-card .lk").click()
    page.get_by_text("Link copied").wait_for()
    other = open_page(f"{link}&n=1")
    other.locator('.gw-highlight[data-role="cited"][data-n="1"]').first.wait_for()
    assert other.locator(".gw-answer a.gw-cite").first.get_attribute("aria-current") == "true"
    assert "t=" not in other.url.partition("?")[2].replace("cite=", ""), (
        "from here on it is the address of what is open"
    )
    gone = open_page(f"{app.url}/?c={shelf.conversations[name]}&t=0123456789abcdef&n=1")
    gone.get_by_text("This link’s answer can’t be shown.").wait_for()


def test_a_link_to_an_earlier_answer_shows_the_page_of_that_answer(
    app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    documents = tuple(shelf.answers[name].citations[0].doc_id for name in ("survey.pdf", "table.pdf"))
    with Engine.open(app.home) as engine:
        conversation = engine.conversations.new(Scope(documents))
        asked = [engine.chat(conversation, question) for question in (QUESTION, "What did the survey test for?")]
        first, last = (run.run().citations[0] for run in asked)
    assert first.doc_id != last.doc_id
    page = open_page(f"{app.url}/?c={conversation}&t={asked[0].turn_id}")
    page.locator(".gw-pane .gw-highlight").first.wait_for()
    assert page.locator(".gw-pane .dt").input_value() == first.doc_id


def test_an_answer_is_copied_as_text_and_for_a_word_processor(
    app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy with citations").click()
    page.get_by_role("button", name="Copied").wait_for()
    rich, plain = page.evaluate(
        """async () => {
            const [item] = await navigator.clipboard.read();
            const text = async (kind) => (await item.getType(kind)).text();
            return [await text("text/html"), await text("text/plain")];
        }"""
    )
    citation = shelf.answers["survey.pdf"].citations[0]
    note = f"p. {citation.page_label}: “{' '.join(citation.quote.split())}”"
    assert f"[1] {citation.title}, {note}" in plain
    assert f"<i>{citation.title}</i>, {note}" in rich
    assert "<sup>[1]</sup>" in rich
    assert "class=" not in rich

    # One line says what it rests on; the list of sources lies behind.
    line = page.locator(".gw-line")
    assert "1 source on p. 1" in line.inner_text()
    assert "Checked" in line.inner_text()
    assert page.locator(".gw-sources").is_hidden()
    line.get_by_role("button", name="1 source on p. 1").click()
    page.locator(".gw-sources a.gw-cite").click()
    page.locator('.gw-highlight[data-role="cited"][data-n="1"]').first.wait_for()
