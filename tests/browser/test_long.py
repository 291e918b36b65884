"""A long conversation: it opens at its end at once, and what stands before comes as it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from ragcore.index.conversations import Conversations
from ragcore.index.store import Store
from tests.browser.conftest import App, Shelf, idle, still

TURNS = 75


@pytest.fixture(scope="module")
def talk(app: App, shelf: Shelf) -> tuple[str, list[str]]:
    with Engine.open(app.home) as engine:
        conversation = engine.conversations.new()
    store = Store(app.home)
    kept = Conversations(store.database)
    turns = [kept.add_turn(conversation, f"What stands in row {number}?") for number in range(TURNS)]
    for turn in turns:
        kept.put_answer(turn, shelf.answers["survey.pdf"])
    store.database.close()
    return conversation, turns


def numbers(page: Any) -> list[int]:
    return [int(text.split()[-1].rstrip("?")) for text in page.locator(".gw-q").all_inner_texts()]


@pytest.mark.slow
def test_earlier_turns_come_by_scrolling_and_by_hand(
    app: App, talk: tuple[str, list[str]], open_page: Callable[..., Any]
) -> None:
    conversation, turns = talk
    page = open_page(f"{app.url}/?c={conversation}")
    page.locator(f'.gw-turn[data-turn="{turns[-1]}"] .gw-answer').wait_for()
    assert numbers(page) == list(range(TURNS - 30, TURNS))
    expect(page.locator(".gw-earlier")).to_have_text("Show 45 earlier questions", use_inner_text=True)

    page.evaluate("document.querySelector('.gw-flow').scrollTo(0, 300)")
    page.locator(f'.gw-turn[data-turn="{turns[TURNS - 60]}"]').wait_for(state="attached")
    assert numbers(page) == list(range(TURNS - 60, TURNS))
    top = page.locator(f'.gw-turn[data-turn="{turns[TURNS - 30]}"]').evaluate("e => e.getBoundingClientRect().top")
    assert -300 < top < 300, "what is being read stays where it is"

    page.get_by_role("button", name="Show 15 earlier questions").press("Enter")
    page.locator(f'.gw-turn[data-turn="{turns[0]}"]').wait_for(state="attached")
    assert numbers(page) == list(range(TURNS))
    expect(page.locator(".gw-earlier")).to_be_hidden()

    with page.expect_response(f"**/gw/conversations/{conversation}?*"):  # asked for anew, all that is here stays
        page.evaluate("dispatchEvent(new Event('focus'))")
    idle(page)
    assert numbers(page) == list(range(TURNS))


@pytest.mark.slow
def test_a_link_leads_to_a_turn_that_is_not_here_yet_and_a_version_takes_its_place(
    app: App, talk: tuple[str, list[str]], open_page: Callable[..., Any]
) -> None:
    conversation, turns = talk
    page = open_page(f"{app.url}/?c={conversation}&t={turns[10]}&n=1")
    page.locator(f'.gw-turn[data-turn="{turns[10]}"] a.gw-cite[aria-current]').first.wait_for()
    page.locator(f'.gw-turn[data-turn="{turns[0]}"]').wait_for(state="attached")  # which its top brings into sight
    assert numbers(page) == list(range(TURNS))
    page.reload()  # now the address names the citation that is open
    page.locator(f'.gw-turn[data-turn="{turns[10]}"] a.gw-cite[aria-current]').first.wait_for()
    page.locator(f'.gw-turn[data-turn="{turns[0]}"]').wait_for(state="attached")
    assert numbers(page) == list(range(TURNS))

    first = page.locator(".gw-turn").first
    first.get_by_role("button", name="Edit the question").click()
    field = page.get_by_label("Question", exact=True)
    field.fill("What was the highest nitrate reading?")
    field.press("Enter")
    page.locator('.gw-turn[data-state="complete"] .gw-q', has_text="nitrate").wait_for()
    expect(page.locator(".gw-turn")).to_have_count(1)
    page.get_by_role("button", name="Previous version").click()
    page.locator(f'.gw-turn[data-turn="{turns[-1]}"]').wait_for(state="attached")
    assert numbers(page) == list(range(TURNS))


@pytest.mark.slow
def test_a_reload_keeps_what_was_being_read(
    app: App, talk: tuple[str, list[str]], open_page: Callable[..., Any]
) -> None:
    conversation, turns = talk
    page = open_page(f"{app.url}/?c={conversation}&t={turns[40]}&n=1")
    page.locator(f'.gw-turn[data-turn="{turns[40]}"] a.gw-cite[aria-current]').first.wait_for()
    read = page.locator(f'.gw-turn[data-turn="{turns[50]}"]')
    read.evaluate("turn => document.querySelector('.gw-flow').scrollBy({ top: turn.getBoundingClientRect().top - 30 })")
    top = read.bounding_box()["y"]
    page.reload()
    page.locator(f'.gw-turn[data-turn="{turns[40]}"] a.gw-cite[aria-current]').first.wait_for()
    still(page, f'.gw-turn[data-turn="{turns[50]}"]')
    assert read.bounding_box()["y"] == pytest.approx(top, abs=2)

    page.goto(f"{app.url}/?c={conversation}")  # gone to, not loaded again: it begins at its end
    last = page.locator(f'.gw-turn[data-turn="{turns[-1]}"]')
    last.wait_for()
    assert numbers(page) == list(range(TURNS - 30, TURNS))


@pytest.mark.slow
def test_a_long_question_is_cut_until_all_of_it_is_asked_for(app: App, open_page: Callable[..., Any]) -> None:
    page = open_page(app.url)
    field = page.get_by_placeholder("Ask your documents")
    field.fill("What was the highest nitrate reading? " + "It is needed for the yearly report. " * 40)
    field.press("Enter")
    page.locator(".gw-turn").last.locator(".gw-foot").wait_for()  # by then the turn has been drawn anew
    more = page.get_by_role("button", name="Show all")
    more.wait_for()
    question = page.locator(".gw-q").last
    assert question.bounding_box()["height"] < 130
    more.click()
    assert question.bounding_box()["height"] > 300
    page.get_by_role("button", name="Show less").click()
    assert question.bounding_box()["height"] < 130
