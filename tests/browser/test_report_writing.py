"""Reports that Claude writes, down to a local server: what is missing is looked for again before one's eyes, a filling
is stopped, reloaded and restarted without loss, a section rewritten by an instruction, and every version kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from ragcore.report.template import from_data
from ragcore.types.report import NO_FOCUS
from tests import prepared
from tests.browser.conftest import promise, serve
from tests.messages_server import MessagesServer, Reply

HEADINGS = ("Wells sampled", "The highest nitrate reading", "Nitrate above the limit")
WELLS = {"heading": "Wells", "guidance": "State how many wells were sampled and the highest nitrate reading."}
LACKING = "The highest reading of nitrate was 61.4 <<SOURCE 1>>. [INSUFFICIENT DATA: how many wells were sampled]"
STILL_LACKING = "Wells were sampled <<SOURCE 1.1>>. [INSUFFICIENT DATA: the highest nitrate reading]"
WHOLE = "The highest reading of nitrate was 61.4 <<SOURCE 1>>. Forty wells were sampled <<SOURCE 2>>."
REPLY = "Wells were sampled, and nitrate readings taken <<SOURCE 1.1>>."


@pytest.fixture
def home(surveyed: Path, tmp_path: Path) -> Path:
    prepared.copied(surveyed, tmp_path / "home")
    return tmp_path / "home"


def with_key(server: MessagesServer) -> dict[str, str]:
    """What the app is started with. Few sources at once, so that a second search finds others."""
    return {
        "ANTHROPIC_API_KEY": "test",
        "ANTHROPIC_BASE_URL": server.url,
        "GROUNDWORK_ANSWER__SOURCE_TOKENS": "90",
        "GROUNDWORK_LLM__CACHE": "false",
    }


def new(home: Path, *sections: dict[str, Any]) -> str:
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        made = from_data({"title": "Survey report", "sections": list(sections)})
        return engine.reports.new(made, focus=NO_FOCUS)


def written(server: MessagesServer) -> int:
    """How often a section was asked for."""
    return sum("tools" not in request["body"] for request in server.requests)


def state(page: Any, heading: str, wanted: str) -> None:
    page.locator(f'.gw-report .out a[data-state="{wanted}"]', has_text=heading).first.wait_for()


def looked_for(page: Any, home: Path, url: str, server: MessagesServer) -> None:
    """What is missing is looked for in sight, and written again at most twice."""
    report_id, before = new(home, WELLS, {**WELLS, "heading": "Wells again"}), written(server)
    server.reply(
        Reply(text=LACKING, delay=0.05),
        Reply(text=WHOLE, chunks=30, delay=0.1),
        *[Reply(text=STILL_LACKING)] * 4,
    )
    page.goto(f"{url}/reports?r={report_id}")
    money = page.locator(".gw-report .money")
    money.get_by_text(re.compile(r"^At most \$\d")).wait_for()
    page.get_by_role("button", name="Fill this section").click()
    page.locator(".gw-report .live-said", has_text="round 2: what was missing was looked for").wait_for()
    state(page, "Wells", "draft")
    page.locator(".gw-report .meta", has_text="written 2 times").wait_for()
    page.locator(".gw-report .live").wait_for(state="detached")
    text = page.locator(".gw-report .tx")
    expect(text).to_contain_text("61.4", use_inner_text=True)
    expect(text).to_contain_text("Forty", use_inner_text=True)
    expect(page.locator(".gw-report .ins")).to_have_count(0)
    assert written(server) - before == 2
    expect(money).to_contain_text("spent", use_inner_text=True)
    # What stays missing is named, and not asked for again and again.
    page.get_by_role("button", name="Fill what is empty").click()
    state(page, "Wells again", "gap")
    page.locator(".gw-report .out a", has_text="Wells again").click()
    page.locator(".gw-report .ins", has_text="[INSUFFICIENT DATA: the highest nitrate reading]").wait_for()
    assert written(server) - before == 4


@pytest.mark.slow
def test_a_reload_a_restart_and_a_stop_in_the_middle_lose_nothing_and_what_is_missing_is_looked_for(
    home: Path, server: MessagesServer, open_page: Callable[..., Any]
) -> None:
    report_id = new(home, *({"heading": heading} for heading in HEADINGS))
    slow = Reply(text=REPLY, chunks=40, delay=0.25)
    server.reply(Reply(text=REPLY), slow)
    with serve(home, **with_key(server)) as app:
        page = open_page(f"{app.url}/reports?r={report_id}")
        page.get_by_role("button", name="Fill what is empty").click()
        state(page, HEADINGS[1], "working")
        page.locator(".gw-report .out a", has_text=HEADINGS[1]).click()
        live = page.locator(".gw-report .live .tx")
        live.get_by_text("Wells").wait_for()
        page.reload()
        live.get_by_text("Wells were").wait_for()  # the section that was open, as far as it is written
        state(page, HEADINGS[2], "waiting")
        page.close()
    server.reply(*[Reply(text=REPLY)] * 2)
    with serve(home, **with_key(server)) as app:
        page = open_page(f"{app.url}/reports?r={report_id}")
        for heading in HEADINGS:
            state(page, heading, "draft")
        for heading in HEADINGS:
            page.locator(".gw-report .out a", has_text=heading).click()
            history = page.get_by_role("button", name=re.compile("^History"))
            expect(history).to_have_text(re.compile(r"^History\s+1$"), use_inner_text=True)
            expect(page.locator(".gw-report .tx")).to_contain_text("nitrate readings taken", use_inner_text=True)

        with promise("Stop keeps what is done"):
            second = new(home, *({"heading": heading} for heading in HEADINGS))
            server.reply(Reply(text=REPLY), Reply(text=REPLY, chunks=60, delay=0.3))
            page.goto(f"{app.url}/reports?r={second}")
            page.get_by_role("button", name="Fill what is empty").click()
            state(page, HEADINGS[0], "draft")
            page.locator(".gw-report .out a", has_text=HEADINGS[1]).click()
            page.locator(".gw-report .live .tx").get_by_text("Wells").wait_for()
            page.locator(".gw-report .rh").get_by_role("button", name="Stop").click(delay=1000)
            state(page, HEADINGS[1], "stopped")
            state(page, HEADINGS[2], "empty")
            server.reply(*[Reply(text=REPLY)] * 2)
            page.get_by_role("button", name="Fill what is empty").click()
            state(page, HEADINGS[1], "draft")
            state(page, HEADINGS[2], "draft")
        with promise("a rewrite is a version that can be taken back"):
            server.reply(Reply(text="Shorter: nitrate readings <<SOURCE 1.1>>.", chunks=20, delay=0.05))
            page.locator(".gw-report .out a", has_text=HEADINGS[2]).click()
            page.get_by_role("button", name="Rewrite").click()
            field = page.get_by_label("How to rewrite it")
            page.locator(".form.line", has_text="$").wait_for()
            field.fill("Make it shorter.")
            page.reload()
            expect(field).to_have_value("Make it shorter.")
            field.press("Enter")
            page.locator(".gw-report .tx", has_text="Shorter: nitrate").wait_for()
            assert "Make it shorter." in str(server.requests[-1]["body"]["messages"])
            page.get_by_role("button", name=re.compile("^History")).click()
            page.locator(".hist li", has_text="Rewritten: Make it shorter.").wait_for()
            page.get_by_role("button", name="Undo").click()
            page.locator(".gw-report .tx", has_text="nitrate readings taken").wait_for()
            page.get_by_role("button", name=re.compile("^History")).click()
            page.get_by_role("button", name="Show version 2").click()
            page.locator(".gw-report .tx", has_text="Shorter: nitrate").wait_for()
        with promise("what is missing is looked for in sight, and written again at most twice"):
            looked_for(page, home, app.url, server)
