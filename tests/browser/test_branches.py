"""Versions of a question: edited, asked again, and the branch that is shown; what an answer says about itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from ragcore.index.conversations import Conversations
from ragcore.types import Mark
from tests.browser.conftest import QUESTION, App, Shelf, beside, promise
from tests.browser.test_claude import Served, ask
from tests.messages_server import Reply

COMPLETE = '.gw-turn[data-state="complete"]'


def questions(page: Any) -> list[str]:
    found: list[str] = page.locator(".gw-q").all_inner_texts()
    return found


@pytest.mark.slow
def test_a_question_is_edited_asked_again_and_its_versions_are_a_key_away(
    claude: Served, open_page: Callable[..., Any]
) -> None:
    app, server = claude
    page = open_page(app.url)
    page.get_by_text("documents are ready").wait_for()
    server.reply(Reply(text="The first one."), Reply(text="The second one."))
    ask(page, "Which pump stood highest in May?")
    page.locator(COMPLETE).get_by_text("The first one.").wait_for()
    ask(page, "And in June?")
    page.locator(COMPLETE).get_by_text("The second one.").wait_for()
    expect(page.locator(".gw-understood")).to_contain_text("June", use_inner_text=True)
    expect(page.locator(".gw-understood")).to_contain_text("Understood as: ", use_inner_text=True)
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_text("The second one.").wait_for()

    pencil = page.get_by_role("button", name="Edit the question").first
    pencil.press("Enter")
    field = page.get_by_label("Question", exact=True)
    page.get_by_text("The 1 question below stays with the previous version.").wait_for()
    field.fill("Something else")
    field.press("Escape")
    assert pencil.evaluate("e => e === document.activeElement"), "Esc leaves all as it was"
    assert questions(page) == ["Which pump stood highest in May?", "And in June?"]
    pencil.press("Enter")
    seen = threading.Event()
    server.reply(Reply(text=["The edited ", *["word "] * 9, "one."], delay=0.1, until=seen))
    field.fill("Which pump stood lowest in May?")
    field.press("Enter")

    page.get_by_text("The edited").wait_for()
    previous, again = (page.get_by_role("button", name=name) for name in ("Previous version", "Edit the question"))
    for resting in (previous, again):
        expect(resting).to_have_attribute("aria-disabled", "true")
        assert "wait for the answer" in (resting.get_attribute("title") or "")
    previous.click(force=True)  # does nothing: it can be pressed, and says why not
    other.get_by_text("The edited").wait_for()
    seen.set()
    for tab in (page, other):
        tab.locator(COMPLETE).get_by_text("word one.").wait_for()
        assert questions(tab) == ["Which pump stood lowest in May?"], "what was below belongs to the other version"
        expect(tab.locator(".gw-versions")).to_have_text("2/2")

    page.get_by_role("button", name="Previous version").press("ArrowLeft")
    for tab in (page, other):
        tab.get_by_text("The second one.").wait_for()
        assert questions(tab) == ["Which pump stood highest in May?", "And in June?"]
    assert page.get_by_role("button", name="Previous version").evaluate("e => e === document.activeElement")
    expect(page.get_by_role("button", name="Previous version")).to_have_attribute("aria-disabled", "true")
    page.reload()
    page.locator(COMPLETE).get_by_text("The second one.").wait_for()

    server.reply(Reply(text="The second one anew."))
    page.locator(".gw-turn").last.get_by_role("button", name="Ask it again").click()
    page.locator(COMPLETE).get_by_text("The second one anew.").wait_for()
    expect(page.locator(".gw-versions")).to_have_text(["1/2", "2/2"], use_inner_text=True)
    ask(page, "And in July?")
    page.locator(COMPLETE).nth(2).wait_for()  # or it would take a reply of the next test
    assert questions(page)[1:] == ["And in June?", "And in July?"], "it goes on where it is shown"


@pytest.mark.slow
def test_what_was_spent_and_a_question_that_is_being_edited(claude: Served, open_page: Callable[..., Any]) -> None:
    app, server = claude
    page = open_page(app.url)
    with promise("what a conversation has cost stands beside all that was spent"):
        server.reply(Reply(text="Answered once.", usage={"input_tokens": 100_000, "output_tokens": 10}))
        page.get_by_text("documents are ready").wait_for()
        ask(page, "What was the nitrate reading at Station Road in April?")
        page.locator(COMPLETE).get_by_text("Answered once.").wait_for()
        page.get_by_role("button", name="More about this conversation").click()
        spent = page.locator(".gw-panel .spent p")
        spent.first.wait_for()
        assert spent.first.inner_text().split("\n")[-1] > "$0.000"
        assert spent.nth(1).inner_text().split("\n")[-1] > "$0.000"
        page.get_by_text("Claude Sonnet 4.6, answers").wait_for()
        page.keyboard.press("Escape")
        expect(page.locator(".gw-panel .spent:visible")).to_have_count(0)

    with promise("a question that is being edited stays when another tab changes the branch"):
        server.reply(Reply(text="The second of these."))
        other = beside(page)
        other.get_by_text("Answered once.").wait_for()
        page.get_by_role("button", name="Edit the question").click()
        field = page.get_by_label("Question", exact=True)
        field.fill("Half of a quest")
        other.get_by_role("button", name="Ask it again").click()
        page.locator(COMPLETE).get_by_text("The second of these.").wait_for()
        expect(field).to_have_value("Half of a quest")
        field.press("Escape")
        page.get_by_text("Answered once.").wait_for(state="detached")
        expect(page.locator(".gw-versions")).to_have_text(["2/2"], use_inner_text=True)


@pytest.mark.slow
def test_what_checking_added_and_could_not_do_is_said(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    answer = shelf.answers["survey.pdf"]
    with Engine.open(app.home) as engine:
        talk = engine.conversations.new()
        run = engine.chat(talk, QUESTION)
        Conversations(engine.store.database).put_answer(
            run.turn_id or "",
            replace(
                answer,
                marks=tuple(Mark(mark.start, mark.end, mark.n, added=i == 0) for i, mark in enumerate(answer.marks)),
                standalone="What was the highest nitrate reading of the survey?",
                rewritten_by="claude-haiku-4-5",
                notes=("The judge could not be reached, so claims were checked by rules only.",),
            ),
        )
    page = open_page(f"{app.url}/?c={talk}")
    said = page.locator(".gw-understood")
    said.wait_for()
    expect(said).to_have_text(
        "Understood as: “What was the highest nitrate reading of the survey?” Rewritten by Claude Haiku 4.5.",
        use_inner_text=True,
    )
    page.get_by_text("The judge could not be reached, so claims were checked by rules only.").wait_for()
    chip = page.locator(".gw-answer a.gw-cite.added")
    expect(chip).to_have_count(1)
    assert (chip.get_attribute("aria-label") or "").endswith("added by Groundwork")
    assert chip.evaluate("e => getComputedStyle(e).outlineStyle") == "dashed"
    chip.hover()
    page.locator(".gw-card").get_by_text("Added by Groundwork: the answer had no citation here").wait_for()
    page.keyboard.press("Escape")  # the card
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy with citations").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert "added by Groundwork" in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="More about this conversation").click()
    page.get_by_role("button", name="Rename", exact=True).wait_for()
    expect(page.locator(".gw-panel .spent")).to_have_text("", use_inner_text=True)  # nothing was ever spent
