"""Under an answer: what to ask next, what one thinks of it, and taking it along as text or as a link."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from ragcore.types import Scope
from ragcore.types.library import Feedback
from tests.browser.conftest import QUESTION, App, Shelf, conversation, lent, promise

SAMPLE = Path(__file__).resolve().parents[2] / "ui" / "sample" / "sample.pdf"


@pytest.mark.slow
def test_a_question_to_go_on_with_is_asked_by_a_click(app: App, open_page: Callable[..., Any]) -> None:
    with lent(app, {"annual report.pdf": SAMPLE.read_bytes()}) as (doc_id,):  # with tables, unlike those of the shelf
        talk = conversation(app, "What was total revenue in 2025?", doc_id)
        page = open_page(f"{app.url}/?c={talk}", suggestions=True)
        page.locator(".gw-answer a.gw-cite").first.wait_for()
        top = page.locator(".gw-q").bounding_box()
        offered = page.get_by_role("region", name="Ask next").get_by_role("button")
        offered.first.wait_for()
        assert page.locator(".gw-q").bounding_box() == top, "nothing above it moves"
        question = offered.first.inner_text()
        page.reload()
        offered.first.wait_for()
        expect(offered.first).to_have_text(question, use_inner_text=True)  # kept with the answer
        offered.first.focus()
        page.keyboard.press("Enter")
        second = page.locator(".gw-turn").nth(1)
        second.locator(".gw-answer a.gw-cite").first.wait_for()
        expect(second.locator(".gw-q")).to_have_text(question, use_inner_text=True)
        expect(page.locator(".gw-turn").first.locator(".gw-next")).to_have_count(0)  # only under the last answer


@pytest.mark.slow
def test_what_can_be_done_with_an_answer(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    name = "cropped.pdf"
    turn, citation = shelf.turns[name], shelf.answers[name].citations[0]
    page = open_page(f"{app.url}/?c={shelf.conversations[name]}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with promise("it is copied as text and for a word processor"):
        page.get_by_role("button", name="Copy with citations").click()
        page.get_by_role("button", name="Copied").wait_for()
        rich, plain = page.evaluate(
            """async () => {
                const [item] = await navigator.clipboard.read();
                const text = async (kind) => (await item.getType(kind)).text();
                return [await text("text/html"), await text("text/plain")];
            }"""
        )
        note = f"p. {citation.page_label}: “{' '.join(citation.quote.split())}”"
        assert f"[1] {citation.title}, {note}" in plain
        assert f"<i>{citation.title}</i>, {note}" in rich
        assert "<sup>[1]</sup>" in rich
        assert "class=" not in rich
    with promise("also where the page has no clipboard of its own"):
        taken = """() => navigator.clipboard.writeText("").then(() => {
            globalThis.own = navigator.clipboard;
            Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true });
        })"""
        page.evaluate(taken)
        page.get_by_role("button", name="Copy with citations").click()
        page.get_by_role("button", name="Copied").wait_for()
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: globalThis.own, configurable: true })")
        assert page.evaluate("navigator.clipboard.readText()") == plain

    with promise("one line says what it rests on; the list of sources lies behind"):
        line = page.locator(".gw-line")
        expect(line).to_contain_text("1 source on p. 1", use_inner_text=True)
        expect(line).to_contain_text("Quoted word for word", use_inner_text=True)
        expect(page.locator(".gw-sources")).to_be_hidden()
        line.get_by_role("button", name="1 source on p. 1").click()
        page.locator(".gw-sources a.gw-cite").click()
        page.locator('.gw-highlight[data-role="cited"][data-n="1"]').first.wait_for()

    more = page.get_by_role("button", name="More", exact=True)
    with promise("its link, and that of a citation, are copied"):
        more.click()
        page.get_by_role("button", name="Copy link").click()
        page.get_by_role("button", name="Copied").last.wait_for()
        link = f"{app.url}/?c={shelf.conversations[name]}&t={turn}"
        page.wait_for_function("async link => (await navigator.clipboard.readText()) === link", arg=link)
        chip = page.locator(".gw-answer a.gw-cite").first
        page.keyboard.press("Tab")  # so that the focus is one of the keyboard
        chip.focus()
        page.locator(".gw-card .lk").wait_for()
        page.keyboard.press("c")
        page.get_by_text("Link copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == f"{link}&n=1"
        page.locator(".gw-card .lk").click()
        page.get_by_text("Link copied").wait_for()
        page.keyboard.press("Escape")

    with promise("the link opens the same answer and page again"):
        page.evaluate("sessionStorage.clear()")
        page.goto(f"{link}&n=1")
        page.locator('.gw-highlight[data-role="cited"][data-n="1"]').first.wait_for()
        expect(page.locator(".gw-answer a.gw-cite").first).to_have_attribute("aria-current", "true")
        address = page.url.partition("?")[2].replace("cite=", "")
        assert "t=" not in address, "from here on it is the address of what is open"


@pytest.mark.slow
def test_what_one_thinks_of_an_answer_and_links_to_others(
    app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    name = "cropped.pdf"
    turn = shelf.turns[name]
    page = open_page(f"{app.url}/?c={shelf.conversations[name]}")
    more = page.get_by_role("button", name="More", exact=True)
    down = page.get_by_role("button", name="Not helpful")
    with promise("what one thinks of it is kept and shown again"):
        more.click()
        down.click()
        page.get_by_role("button", name="A citation doesn’t match").click()
        page.get_by_label("In your own words").fill("The page is another.")
        page.get_by_role("button", name="Send", exact=True).click()
        page.get_by_text("Saved in this library only.").wait_for()
        assert opinions(app, turn) == {turn: Feedback(False, "citation", "The page is another.")}
        page.reload()
        more.click()
        expect(down).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="Helpful", exact=True).click()
        page.locator('[data-opinion="up"][aria-pressed="true"]').wait_for()
        expect(down).to_have_attribute("aria-pressed", "false")
        page.locator('[data-opinion="up"]').click()
        page.locator('[data-opinion="up"][aria-pressed="false"]').wait_for()
        assert opinions(app, turn) == {}, "taken back"

    with promise("a link to an earlier answer shows the page of that answer"):
        earlier, doc_id = two_answers(app, shelf)
        page.goto(earlier)
        page.locator(".gw-pane .gw-highlight").first.wait_for()
        expect(page.locator(".gw-pane .dt")).to_have_value(doc_id)
    with promise("a link whose answer is gone says so"):
        page.goto(f"{app.url}/?c={shelf.conversations[name]}&t=0123456789abcdef&n=1")
        page.get_by_text("This link’s answer can’t be shown.").wait_for()


def opinions(app: App, turn: str) -> dict[str, Feedback]:
    with Engine.open(app.home) as engine:
        return dict(engine.feedback.of([turn]))


def two_answers(app: App, shelf: Shelf) -> tuple[str, str]:
    """The address of the first of two answers from two documents, and the document that it cites."""
    documents = tuple(shelf.answers[name].citations[0].doc_id for name in ("survey.pdf", "table.pdf"))
    with Engine.open(app.home) as engine:
        made = engine.conversations.new(Scope(documents))
        asked = [engine.chat(made, question) for question in (QUESTION, "What did the survey test for?")]
        first, last = (run.run().citations[0] for run in asked)
    assert first.doc_id != last.doc_id
    return f"{app.url}/?c={made}&t={asked[0].turn_id}", first.doc_id
