"""What loads a component: of calls that overlap, the newest is shown, however long each takes to fetch, and where one
cannot be fetched the page opens when the server answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import prepared
from tests.browser.conftest import STOPPED, App, idle, serve
from ui.components import LOADER

# Two calls for one element, the module of the first comes last; resolves to what was mounted and what was tidied up.
OVERLAP = """async (text) => {
    const { default: load } = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    const parentElement = document.body.appendChild(document.createElement("div"));
    window.said = [];
    const calls = ["slow", "fast"].map((name) => load({ parentElement, data: { module: `/${name}.js` } }));
    const [first, second] = await Promise.all(calls);
    first();
    const before = [...window.said];
    parentElement.remove();
    second();
    return [before, window.said];
}"""

# As Streamlit does it when newer data comes while a call is under way: that call's clean-up is run as it ends.
SUPERSEDED = """async (text) => {
    const { default: load } = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    const parentElement = document.body.appendChild(document.createElement("div"));
    window.said = [];
    const call = () => load({ parentElement, data: { module: "/fast.js" } });
    (await call())();
    const end = await call();
    const before = [...window.said];
    parentElement.remove();
    end();
    return [before, window.said];
}"""

# Each button that is seen is pressed, and Enter in each field.
PRESS_ALL = """() => {
    const seen = (one) => one.checkVisibility({ visibilityProperty: true });
    for (const one of [...document.querySelectorAll("[class*=gw-] button")].filter(seen)) one.click();
    const enter = { key: "Enter", bubbles: true, cancelable: true };
    const fields = document.querySelectorAll("[class*=gw-] input");
    for (const one of fields) one.dispatchEvent(new KeyboardEvent("keydown", enter));
}"""


def module(page: Any, name: str, seconds: float) -> None:
    """Serves ``/name.js`` after ``seconds``: it says when it is mounted and when it is gone."""

    def answer(route: Any) -> None:
        time.sleep(seconds)
        said = f"window.said.push('{name} mounted'); return () => window.said.push('{name} gone');"
        route.fulfill(content_type="text/javascript", body=f"export function mount() {{ {said} }}")

    page.route(f"**/{name}.js", answer)


def test_the_newest_of_overlapping_calls_is_shown(app: App, open_page: Callable[..., Any]) -> None:
    page = open_page(app.url)
    module(page, "fast", 0.0)
    module(page, "slow", 0.5)
    before, after = page.evaluate(OVERLAP, LOADER)
    assert before == ["fast mounted"]
    assert after == ["fast mounted", "fast gone"]


def test_a_call_that_newer_data_overtakes_closes_nothing_that_is_shown(app: App, open_page: Callable[..., Any]) -> None:
    page = open_page(app.url)
    module(page, "fast", 0.0)
    before, after = page.evaluate(SUPERSEDED, LOADER)
    assert before == ["fast mounted", "fast mounted"]
    assert after == ["fast mounted", "fast mounted", "fast gone"]


LISTENERS = """
    window.listeners = 0;
    for (const [name, step] of [["addEventListener", 1], ["removeEventListener", -1]]) {
        const own = window[name];
        window[name] = function (event, ...rest) {
            if (event === "keydown") window.listeners += step;
            return own.call(window, event, ...rest);
        };
    }
"""


@pytest.mark.slow
def test_what_has_left_the_page_listens_no_more(app: App, open_page: Callable[..., Any]) -> None:
    page = open_page("about:blank")
    page.add_init_script(LISTENERS)
    page.goto(app.url)
    counts = []
    for _ in range(4):
        page.get_by_role("link", name="Chat").first.click()
        page.locator(".gw-start a.gw-cite").first.wait_for()
        idle(page)
        counts.append(page.evaluate("window.listeners"))
        page.get_by_role("link", name="Library").first.click()
        page.locator("tr[data-doc]").first.wait_for()
        idle(page)
    assert counts[1:] == counts[1:2] * 3


@pytest.mark.slow
def test_a_page_whose_server_went_away_while_it_loaded_says_so_and_opens_when_it_is_back(
    app: App, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{app.url}/settings")
    page.locator(".gw-settings h2").first.wait_for()
    STOPPED.add("/components/library/index.js")
    asked: list[str] = []

    def gone(route: Any) -> None:
        asked.append(route.request.resource_type)
        if len(asked) < 4:  # the module, and two questions whether the server answers
            route.abort()
        else:
            route.continue_()

    page.route("**/components/library/index.js", gone)
    page.goto(f"{app.url}/library")
    page.get_by_text("Groundwork does not answer.").wait_for()
    page.locator("tr[data-doc]").first.wait_for()
    assert asked[:4] == ["script", "fetch", "fetch", "fetch"]
    expect(page.get_by_text("Error")).to_have_count(0)


@pytest.mark.slow
def test_nothing_that_is_pressed_before_there_is_data_fails(
    sampled: Path, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    with serve(prepared.copied(sampled, tmp_path / "home")) as app:
        page = open_page(app.url)
        page.locator(".st-key-gw_composer textarea").fill("What was total revenue?")
        page.keyboard.press("Enter")
        page.locator('.gw-turn[data-state="complete"]').wait_for()
        made = [page.url]
        for path, shown in (("grid", ".gw-grid .ln .ce"), ("check", ".gw-check .s[data-key]")):
            page.goto(f"{app.url}/{path}")
            page.get_by_role("button", name="Try it").click()
            page.locator(shown).first.wait_for()
            made.append(page.url)
        pages = ["library", "reports", "grid", "check", "explore", "evaluate", "settings"]
        page.route("**/gw/**", lambda route: None if route.request.resource_type == "fetch" else route.continue_())
        for url in [*made, app.url, *(f"{app.url}/{path}" for path in pages)]:
            with page.expect_request(lambda asked: asked.resource_type == "fetch" and "/gw/" in asked.url):
                page.goto(url)
            idle(page)
            page.evaluate(PRESS_ALL)
