"""Settings: checked as they are typed, for this visit or for good, a key that comes and goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import App, Shelf, beside, promise
from tests.browser.test_claude import ask
from tests.browser.test_looks import background
from tests.messages_server import MessagesServer, Reply

Served = tuple[App, MessagesServer]
KEY = "sk-ant-of-a-visit-0123456789"


def opened(page: Any) -> Any:
    """The page with all of its settings."""
    page.locator(".gw-settings .opt").first.wait_for()
    expect(page.locator(".gw-settings .set").first).to_be_hidden()  # they are for those who look for them
    page.locator("#gw-all > summary").click()
    return page


@pytest.mark.slow
def test_settings_of_a_visit(app: App, open_page: Callable[..., Any]) -> None:
    page = opened(open_page(f"{app.url}/settings"))
    with promise("a setting is checked as it is typed"):
        page.get_by_label("Search settings").fill("alpha weight")
        rows = page.locator(".gw-settings .set:visible")
        expect(rows).to_have_count(1)
        field = page.get_by_label("alpha", exact=True)
        field.fill("1.5")
        page.get_by_text("Must be a number from 0 to 1.").wait_for()
        expect(field).to_have_attribute("aria-invalid", "true")
        field.fill("0.6")
        field.press("Enter")
        page.get_by_text("1 setting differs for this visit only").wait_for()
        rows.get_by_text("this visit").wait_for()
        expect(page.locator(".gw-settings .bar").get_by_role("button", name="Save")).to_be_visible()
    with promise("it holds for the visit, and for no other"):
        page.reload()
        opened(page).get_by_text("1 setting differs for this visit only").wait_for()
        opened(beside(page)).get_by_text("1 setting differs for this visit only").wait_for()
        other = opened(open_page(f"{app.url}/settings"))
        expect(other.get_by_label("alpha", exact=True)).to_have_value("0.65")  # another browser is another visit
        page.get_by_role("button", name="retrieve.alpha: back to 0.65").click()
        page.locator(".gw-settings .bar").wait_for(state="hidden")

    with promise("nonsense is refused beside its field and never sent"):
        whole = page.get_by_label("top_k", exact=True)
        for typed in ("-1", "0", "1e99", "NaN", "twenty", "2.5", "", " ", "9" * 40):
            whole.fill(typed)
            page.get_by_text("Must be a whole number").first.wait_for()
            whole.press("Enter")
            assert whole.get_attribute("aria-invalid") == "true", typed
        whole.press("Escape")
        expect(whole).to_have_value("20")
        expect(page.locator(".gw-settings .bar")).to_be_hidden()
    with promise("so is a key that can be none, and the header says that one is missing"):
        page.get_by_role("radio", name="Claude", exact=True).check(force=True)
        page.locator(".gw-pill", has_text="Claude Sonnet 4.6 needs a key").wait_for()
        key = page.get_by_label("API key")
        for typed, said in (
            ("two words", "A key has no spaces"),
            ("clé", "only plain letters"),
            ("x" * 401, "too long"),
        ):
            key.fill(typed)
            page.locator("#gw-key-said", has_text=said).wait_for()
            key.press("Enter")
            expect(key).to_have_value(typed)  # it stays to be corrected
        expect(page.locator(".gw-settings .gw-msg.bad")).to_have_count(0)
    with promise("so is the address of a server"):
        page.get_by_role("radio", name="Your own server").check(force=True)
        address, model = page.get_by_label("Address"), page.get_by_label("Model", exact=True)
        page.get_by_role("button", name="Use this server").click()
        assert address.evaluate("e => e === document.activeElement")
        address.fill("localhost")
        page.locator("#gw-url-said", has_text="Enter a server’s address").wait_for()
        model.fill("own")
        model.press("Enter")
        page.get_by_role("switch", name="Add missing citations").click()
        page.get_by_text("2 settings differ for this visit only").wait_for()
        expect(page.get_by_label("Address")).to_be_visible()  # what is being chosen stays chosen
        page.get_by_role("button", name="Undo all").click()
        page.locator(".gw-settings .bar").wait_for(state="hidden")


@pytest.mark.slow
def test_scans_presets_and_theme(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    page, other = (opened(open_page(f"{app.url}/settings")) for _ in range(2))
    with promise("how scans are read is checked, and kept at once for everybody"):
        language = page.get_by_label("OCR language")
        language.fill("klingon")
        page.get_by_text("There's no OCR model for").wait_for()
        language.fill("de")
        language.press("Enter")
        page.locator('[data-key="ocr.language"] output', has_text="de").wait_for()
        other.reload()
        opened(other)
        expect(other.get_by_label("OCR language")).to_have_value("de")  # for everybody
        assert 'language = "de"' in (app.home / "config.toml").read_text()
        other.get_by_label("OCR language").fill("en")
        other.get_by_label("OCR language").press("Enter")
        other.locator('[data-key="ocr.language"] output', has_text="en").wait_for()

    with promise("presets and length are chosen by keys"):
        expect(page.get_by_role("radio", name="Step by step")).to_be_disabled()  # there is no model
        page.get_by_role("radio", name="Balanced").focus()
        page.keyboard.press("ArrowRight")
        page.locator(".gw-settings .opt.on", has_text="Precise").wait_for()
        assert page.get_by_role("radio", name="Precise").evaluate("e => e === document.activeElement")
        expect(page.get_by_label("top_k", exact=True)).to_have_value("10")
        page.get_by_role("radio", name="Short").check(force=True)
        page.get_by_text("8 settings differ for this visit only").wait_for()
        page.get_by_role("button", name="Undo all").click()
        page.locator(".gw-settings .opt.on", has_text="Balanced").wait_for()

    with promise("all of it fits a phone"):
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator(".st-key-gw_page").evaluate("e => e.scrollWidth <= e.clientWidth")
        page.set_viewport_size({"width": 1440, "height": 900})

    with promise("theme and shortcuts are kept in the browser"):
        assert min(background(page, ".stApp")) > 200
        page.get_by_role("radio", name="Dark").check(force=True)
        page.wait_for_function("() => getComputedStyle(document.querySelector('.stApp')).colorScheme === 'dark'")
        opened(page)
        expect(page.get_by_role("radio", name="Dark")).to_be_checked()
        keys = page.get_by_role("switch", name="Single-key shortcuts")
        keys.click()
        expect(keys).to_have_attribute("aria-checked", "false")
        page.goto(f"{app.url}/?c={shelf.conversations['survey.pdf']}")
        page.locator(".gw-answer a.gw-cite").first.wait_for()
        assert max(background(page, ".gw-pane .tbar")) < 80, "on the other pages too"
        page.locator(".gw-page img").first.wait_for()
        page.keyboard.press("?")
        expect(page.locator("dialog.gw-keys")).to_have_count(0)  # no single key does anything


@pytest.mark.slow
def test_two_windows_and_two_visits(app: App, open_page: Callable[..., Any]) -> None:
    page = opened(open_page(f"{app.url}/settings"))
    with promise("two windows of a browser show the same"):
        other = beside(page)
        opened(other).get_by_role("radio", name="Find all").check(force=True)
        other.get_by_text("9 settings differ for this visit only").wait_for()
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        page.locator(".gw-settings .opt.on", has_text="Find all").wait_for()
        page.get_by_role("button", name="Undo all").click()
        page.locator(".gw-settings .bar").wait_for(state="hidden")
    with promise("what is kept holds for everybody"):
        page.get_by_label("paper").select_option("letter")
        page.get_by_role("button", name="Save").click()
        page.locator(".gw-settings .bar .gw-st.ok").wait_for()
        other = opened(open_page(f"{app.url}/settings"))
        expect(other.get_by_label("paper")).to_have_value("letter")
        assert 'paper = "letter"' in (app.home / "config.toml").read_text()
        other.get_by_label("paper").select_option("a4")
        other.get_by_role("button", name="Save").click()
        other.locator(".gw-settings .bar .gw-st.ok").wait_for()


@pytest.mark.slow
def test_a_key_is_used_for_the_visit_tested_and_forgotten(
    claude: Served, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    app, server = claude
    page = opened(open_page(f"{app.url}/settings"))
    page.get_by_text("This machine’s key").wait_for()
    before = len(server.requests)
    server.reply(Reply(text="ready"))
    page.get_by_label("API key").fill(KEY)
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("Claude Sonnet 4.6 answered in").wait_for()
    expect(page.locator("#gw-key")).to_have_count(0)  # masked
    assert KEY not in page.content()
    assert KEY in repr(server.requests[before]["headers"])
    page.get_by_role("switch", name="Second opinion on claims").click()
    page.get_by_text("1 setting differs for this visit only").wait_for()
    page.get_by_role("button", name="Undo all").click()
    page.locator(".gw-settings .bar").wait_for(state="hidden")
    server.reply(Reply(text="Nobody knows."))
    page.goto(f"{app.url}/?c={shelf.conversations['table.pdf']}")
    page.locator(".gw-turn").first.wait_for()
    ask(page, "Which well had the highest nitrate reading?")
    page.get_by_text("Nobody knows.").wait_for()
    assert KEY in repr(server.requests[-1]["headers"]), "the chat answers with it"
    page.goto(f"{app.url}/settings")
    server.reply(Reply(status=401, message="invalid x-api-key"))
    opened(page).get_by_role("button", name="Test").click()
    page.locator(".gw-settings .tried .gw-st.bad").wait_for()
    page.get_by_role("button", name="Forget").click()
    page.get_by_text("This machine’s key").wait_for()
    assert KEY not in app.log.read_text()


def test_offline_is_one_click_and_the_header_says_so(claude: Served, open_page: Callable[..., Any]) -> None:
    app, _ = claude
    page = opened(open_page(f"{app.url}/settings"))
    page.locator(".gw-pill", has_text="Claude Sonnet 4.6").wait_for()
    page.get_by_role("radio", name="Offline").check(force=True)
    page.locator(".gw-pill", has_text="Offline answerer").wait_for()
    expect(page.get_by_label("API key")).to_have_count(0)


@pytest.mark.slow
def test_relations_are_read_after_their_cost_is_seen(claude: Served, open_page: Callable[..., Any]) -> None:
    app, server = claude
    page = open_page(f"{app.url}/settings")
    part = page.locator("#gw-structures")
    before = len(server.requests)
    with promise("what it costs is said first, and nothing is sent"):
        part.locator('[data-focus="act relations"]').click()
        part.get_by_text("calls to Claude Sonnet 4.6").wait_for()
        part.get_by_role("button", name="Cancel").click()
        part.locator('[data-focus="act relations"]').click()
        assert len(server.requests) == before
    with promise("they are read in the background, by keys alone"):
        go = part.get_by_role("button", name="Read relations")
        expect(go).to_be_focused()
        with page.expect_response(lambda answer: answer.request.method == "POST" and "structures" in answer.url):
            page.keyboard.press("Enter")
        page.reload()
        part.get_by_role("button", name="Forget").wait_for()
        assert len(server.requests) > before
    with promise("they can be forgotten"):
        part.get_by_role("button", name="Forget").click()
        part.get_by_text("costs money again").wait_for()
        page.keyboard.press("Enter")
        part.locator('[data-focus="act relations"]').wait_for()
