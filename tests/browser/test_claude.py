"""With a key: the answer streams, chips work meanwhile, Stop stops, an error says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from tests.browser.conftest import App, Shelf, promise, talk_to
from tests.browser.test_places import assert_lit
from tests.messages_server import MessagesServer, Reply

Served = tuple[App, MessagesServer]


def ask(page: Any, question: str) -> None:
    box = page.get_by_label("Ask your documents")
    box.fill(question)
    box.press("Enter")


def unit_with(shelf: Shelf, name: str, question: str, words: str) -> str:
    """``N.M`` of the first unit whose text or label has ``words``, among the sources that the question gets."""
    with Engine.open(shelf.home) as engine:
        document = engine.document(shelf.answers[name].citations[0].doc_id)
        for source in engine.ask(question, doc_ids=[document.doc_id]).run().sources:
            for number, unit in enumerate(source.units, 1):
                if words in unit.label or words in document.text[unit.start : unit.end]:
                    return f"{source.number}.{number}"
    raise AssertionError(f"no unit has {words!r}")


def test_a_chip_opens_its_page_while_the_answer_streams_and_stop_keeps_what_came(
    claude: Served, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    app, server = claude
    question = "Which well had the highest reading?"
    unit = unit_with(shelf, "survey.pdf", question, "61.4")
    words = [f"word{i} " for i in range(600)]
    server.reply(Reply(text=[f"It was the Orchard Lane pump <<SOURCE {unit}>>. ", *words], delay=0.1))
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}")
    page.locator(".gw-answer a.gw-cite").first.wait_for()
    ask(page, question)
    live = page.locator('.gw-turn[data-state="live"]')
    live.locator("a.gw-cite").click(delay=500)  # a slow finger, under which words arrive
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    expect(live).to_have_count(1)  # the answer was still being written
    ask(page, "And the lowest?")
    waits = page.get_by_text("The previous answer is still being written.")
    waits.wait_for()
    expect(page.get_by_label("Ask your documents")).to_have_value("And the lowest?")  # it stays in the field
    stop = page.get_by_role("button", name="Stop", exact=True)
    stop.click()
    done = page.locator('.gw-turn[data-state="stopped"]')
    done.wait_for()
    expect(done).to_contain_text("It was the Orchard Lane pump", use_inner_text=True)
    expect(done).not_to_contain_text("word599", use_inner_text=True)
    waits.wait_for(state="detached")
    assert page.locator('.gw-highlight[data-role="cited"]').count() >= 1, "the lit words stay lit"


@pytest.mark.slow
def test_a_reload_and_a_second_tab_follow_the_same_answer(
    claude: Served, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    app, server = claude
    server.reply(Reply(text=["The survey ", *[f"word{i} " for i in range(60)], "is over."], delay=0.1))
    page = open_page(f"{app.url}/?c={shelf.conversations['turned.pdf']}")
    page.locator(".gw-answer a.gw-cite").first.wait_for()
    ask(page, "How long did it run?")
    page.get_by_text("word5").wait_for()
    page.reload()
    second = open_page(page.url)
    for tab in (page, second):
        tab.get_by_text("word9").wait_for()
        tab.get_by_text("is over.").wait_for()
        tab.get_by_text("without a citation").last.wait_for()


def test_what_an_answer_cites(claude: Served, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    app, server = claude
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}")
    with promise("next and previous citation are a key away"):
        question = "What should the council do?"
        first, second = (unit_with(shelf, "survey.pdf", question, words) for words in ("close the", "18,500"))
        server.reply(Reply(text=f"Close the pump <<SOURCE {first}>>. It costs 18,500 euros <<SOURCE {second}>>."))
        page.locator(".gw-turn").first.wait_for()
        ask(page, question)
        chips = page.locator(".gw-turn:last-child .gw-answer a.gw-cite")
        page.locator('.gw-turn:last-child[data-state="complete"]').get_by_text("Close the pump").wait_for()
        chips.first.click()
        page.get_by_text("1 of 2", exact=True).wait_for()
        for key, place in (("n", "2 of 2"), ("n", "1 of 2"), ("p", "2 of 2")):
            page.keyboard.press(key)
            page.locator(".gw-pane .cn").get_by_text(place, exact=True).wait_for()
        expect(chips.nth(1)).to_have_attribute("aria-current", "true")
    with promise("a cited cell is lit with its headers"):
        question = "What was the nitrate at Mill Bridge in June?"
        unit = unit_with(shelf, "table.pdf", question, "12.9")
        server.reply(Reply(text=f"It stood at 12.9 <<SOURCE {unit}>>."))
        talk_to(page, shelf.conversations["table.pdf"])
        page.locator(".gw-turn").first.wait_for()
        ask(page, question)
        page.locator('.gw-turn[data-state="complete"]').nth(1).wait_for()
        page.locator(".gw-turn").nth(1).locator(".gw-answer a.gw-cite").click()
        page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
        with Engine.open(app.home) as engine:
            answer = engine.conversations.get(shelf.conversations["table.pdf"]).turns[-1].answer
        assert answer is not None
        (cell,) = answer.citations
        assert cell.quote == "12.9"
        assert_lit(page, shelf.files["table.pdf"], cell)
        assert page.locator('.gw-highlight[data-role="head"]').count() == len(cell.head_boxes) >= 2
    with promise("what the documents do not hold is refused with the nearest passage"):
        server.reply(Reply(text="<<NO ANSWER>> The documents do not say who took it."))
        talk_to(page, shelf.conversations["cropped and turned.pdf"])
        page.locator(".gw-turn").first.wait_for()
        ask(page, "Who took the highest nitrate reading?")
        page.get_by_text("do not say who took it").wait_for()
        nearest = page.locator(".gw-turn:last-child .gw-answer a.gw-cite")
        nearest.first.click()
        page.locator('.gw-highlight[data-role="cited"]').first.wait_for()


@pytest.mark.slow
def test_an_error_says_what_to_do_and_can_be_tried_again(
    claude: Served, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    app, server = claude
    server.reply(Reply(status=401, message="invalid x-api-key"))
    page = open_page(f"{app.url}/?c={shelf.conversations['cropped.pdf']}")
    page.locator(".gw-turn").first.wait_for()
    ask(page, "Who sampled the wells?")
    card = page.locator('.gw-turn[data-state="failed"] .gw-msg')
    card.wait_for()
    expect(card.get_by_role("button", name="Try again")).to_be_visible()
    card.get_by_role("link", name="Settings").click()
    page.locator("#gw-answers:focus").wait_for()
    page.go_back()
    card.wait_for()
    server.reply(Reply(status=400, message="no"), Reply(text="Nobody knows."))
    page.locator(".gw-turn").nth(1).get_by_role("button", name="Edit the question").click()
    page.get_by_label("Question", exact=True).press("Enter")
    failed = page.locator('.gw-turn[data-state="failed"]')
    failed.locator(".gw-versions", has_text="2/2").wait_for()
    failed.get_by_role("button", name="Edit the question").click()
    page.get_by_label("Question", exact=True).press("Enter")
    page.get_by_text("without a citation").wait_for()
    expect(page.locator(".gw-turn")).to_have_count(2)  # another version, not another question
    expect(page.locator(".gw-versions")).to_have_text("3/3")


@pytest.mark.slow
def test_an_answer_that_was_cut_keeps_its_sources_and_names_what_was_dropped(
    claude: Served, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    app, server = claude
    question = "Which pump stood highest?"
    unit = unit_with(shelf, "survey.pdf", question, "61.4")
    text = [f"It was the Orchard Lane pump <<SOURCE {unit}>>. ", "It stood highest <<SOURCE 99.1>>. ", "word ", "word "]
    server.reply(Reply(text=text, disconnect_after=3))
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}")
    page.locator(".gw-turn").first.wait_for()
    ask(page, question)
    cut = page.locator('.gw-turn[data-state="failed"]')
    cut.locator(".gw-msg").wait_for()
    expect(cut.locator(".gw-sources a.gw-cite")).to_have_count(1)
    expect(cut.get_by_role("button", name="Copy with citations")).to_have_count(1)
    expect(cut.get_by_role("button", name="Try again")).to_have_count(1)
    expect(cut.locator(".gw-note-line")).to_contain_text("1 citation named an unknown source", use_inner_text=True)


@pytest.mark.slow
def test_a_conversation_is_deleted_while_an_answer_is_written_in_it(
    claude: Served, open_page: Callable[..., Any]
) -> None:
    app, server = claude
    server.reply(Reply(text=["It was ", *[f"word{i} " for i in range(100)]], delay=0.1))
    page = open_page(app.url)
    page.get_by_text("documents are ready").wait_for()
    ask(page, "Which well had the highest reading?")
    page.get_by_text("word3").wait_for()
    page.get_by_role("button", name="More about this conversation").click()
    page.get_by_role("button", name="Delete conversation").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("documents are ready").wait_for()
    assert page.get_by_label("Ask your documents").evaluate("e => e === document.activeElement")
    server.reply(Reply(text="Nobody knows."))
    ask(page, "Which well had the lowest reading?")  # after it, the other answer's thread has ended too
    page.get_by_text("Nobody knows.").wait_for()
    assert "Traceback" not in app.log.read_text()
