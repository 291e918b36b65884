"""Check: from the sample draft to a file, with the keyboard; a draft of one's own, pasted and as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import prepared
from tests.browser.conftest import App, only_way_back, promise, serve
from tests.browser.test_axe import check, check_both
from tests.messages_server import MessagesServer, Reply

PASTED = """# Note 🌍 &lt;img src=x onerror="document.title='run'">

Revenue grew 12.4% to $148.6 million. At year end $28 million was drawn.

| | 2025 |
|---|---|
| Field Sensors | 71,340 |
| Laboratory Balances | 48,215 |
"""
UNEVEN = """In 2021 the margin was 12.0%.

| Site | Rings |
|---|---|
| Leuven | 70.2 |
| Bergen | 2.8 |
| Total | 75.0 |

In 2021 the margin was 14.0%.
"""

WITH_A_LONG_NAME = "() => (document.querySelector('.gw-check h1').textContent = 'Quarterly results '.repeat(9))"
COUNTS_OUT_OF_SIGHT = """() => {
    const shown = document.querySelector(".gw-check .tal").getBoundingClientRect();
    const out = ({ left, right, top, bottom }) =>
        left < shown.left - 1 || right > shown.right + 1 || top < shown.top - 1 || bottom > shown.bottom + 1;
    const counts = [...document.querySelectorAll(".gw-check .tal button b")];
    return counts.filter((one) => out(one.getBoundingClientRect())).map((one) => one.parentElement.textContent);
}"""


@pytest.fixture(scope="module")
def sample(sampled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app on a home that has the sample only."""
    home = prepared.copied(sampled, tmp_path_factory.mktemp("check") / "home")
    with serve(home) as served:
        yield served


def marked(page: Any, mark: str) -> Any:
    return page.locator(f".gw-check .memo a.s.{mark}")


@pytest.mark.slow
def test_the_sample_draft_from_three_errors_to_a_file(
    sample: App, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    page = open_page(f"{sample.url}/check", 1280, 720)
    card = page.locator(".gw-check .ccard")
    lit = page.locator('.gw-highlight[data-role="cited"]').first
    current = page.locator(".gw-check .memo a.s[aria-current]")
    said = page.locator(".gw-check p[role=status]")
    with promise("one press shows three errors, the first of them open with its words lit on the page"):
        page.get_by_role("button", name="Try it").wait_for()
        check_both(page, "the start of a check")
        page.get_by_role("button", name="Try it").click()
        # All sentences are checked first, which takes a slow machine longer than a page's wait.
        expect(page.locator('.tal [data-status="contradicted"]')).to_have_text(re.compile("3"), timeout=180_000)
        expect(page.locator(".prog")).to_be_empty()
        expect(marked(page, "x")).to_have_count(3)
        expect(current).to_contain_text("30 June 2028")
        expect(card.locator("blockquote mark")).to_have_text("30 June 2029")
        lit.wait_for()
        check_both(page, "a checked draft")
        expect(page.locator(".gw-pane .cn button[aria-keyshortcuts]")).to_have_count(0)
    with promise("all counts are in sight however long the draft's name is"):
        for width in (1280, 1024):
            page.set_viewport_size({"width": width, "height": 720})
            page.evaluate(WITH_A_LONG_NAME)
            assert page.evaluate(COUNTS_OUT_OF_SIGHT) == [], width
        page.set_viewport_size({"width": 1280, "height": 720})
    with promise("an address that names no sentence opens the first problem too"):
        page.goto(f"{page.url.split('&')[0]}&s=%22")
        expect(current).to_contain_text("30 June 2028")
    with promise("Escape only closes a problem that opened by itself"):
        page.keyboard.press("Escape")
        expect(card).to_have_count(0)
        page.keyboard.press("n")
        expect(current).to_contain_text("30 June 2028")
        expect(page.locator(".wd", has_text="left as it is")).to_have_count(0)
    with promise("n and p go through the problems, whose pages are lit"):
        for key, words in (
            ("n", "$28 million"),
            ("n", "hedges"),
            ("n", "30 June 2028"),
            ("p", "hedges"),
            ("n", "2028"),
        ):
            page.keyboard.press(key)
            expect(current).to_contain_text(words)
            lit.wait_for()
    with promise("Enter writes the document's words, which are checked at once"):
        page.keyboard.press("Enter")
        expect(current).to_contain_text("30 June 2029")
        expect(card).to_have_attribute("aria-label", "Confirmed")
        expect(marked(page, "x")).to_have_count(2)
        expect(said).to_have_text("Words written. Checked again: confirmed.")
    with promise("a note is typed and kept with the keyboard, another problem left as it is"):
        page.keyboard.press("n")
        expect(current).to_contain_text("$28 million")
        page.keyboard.press("a")
        note = page.get_by_role("textbox", name="Note")
        note.fill("Ask the agent <b>again</b>.")
        page.reload()
        expect(note).to_have_value("Ask the agent <b>again</b>.")
        check_both(page, "a note")
        page.keyboard.press("Control+Enter")
        expect(said).to_have_text("Note kept.")
        page.keyboard.press("Control+z")
        expect(said).to_have_text("Note removed.")
        expect(card.locator(".note")).to_have_count(0)
        page.keyboard.press("a")
        note.fill("Ask the agent <b>again</b>.")
        page.keyboard.press("Control+Enter")
        expect(card.locator(".note")).to_contain_text("Ask the agent <b>again</b>.")
        expect(said).to_have_text("Note kept.")
        page.keyboard.press("n")
        expect(current).to_contain_text("hedges")
        page.keyboard.press("Escape")
        page.locator(".wd", has_text="left as it is").wait_for()
        expect(page.locator(".nx")).to_contain_text("No open problem")
        expect(said).to_have_text("Left as it is.")
    with promise("all of it outlives a reload, and until there is data only the way back can be pressed"):
        only_way_back(page, re.compile(r"/gw/checks/\w+\?"), "All drafts")
        expect(current).to_contain_text("hedges")
        expect(marked(page, "x")).to_have_count(2)
        page.locator(".wd", has_text="edited").wait_for()
        page.locator(".wd", has_text="noted").wait_for()
        lit.wait_for()
    with promise("what was decided is undone"):
        card.get_by_role("button", name="Undo").click()
        expect(page.locator(".nx")).to_contain_text("1 of 1")
        expect(said).to_have_text("Undone.")
    with promise("a count shows the claims of its kind alone, confirmed ones too, each with its page"):
        page.locator('.tal [data-status="confirmed"]').click()
        page.keyboard.press("n")
        expect(card).to_have_attribute("aria-label", "Confirmed")
        lit.wait_for()
        page.locator('.tal [data-status="no_claim"]').click()
        expect(page.get_by_role("button", name="Next problem")).to_be_disabled()
        page.locator('.tal [data-status="no_claim"]').click()
    with promise("it is taken along as a file, with the new words"):
        page.get_by_role("button", name="Export").click()
        check_both(page, "the export of a check")
        with page.expect_download() as download:
            page.get_by_role("button", name="JSON").click()
        file = tmp_path / "check.json"
        download.value.save_as(file)
        assert "30 June 2029" in json.dumps(json.loads(file.read_text("utf-8")))


@pytest.mark.slow
def test_figures_that_do_not_add_up_are_decided_on_with_the_keyboard(
    sample: App, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{sample.url}/check", 1280, 720)
    card = page.locator(".gw-check .ccard")
    current = page.locator(".gw-check .memo a.s[aria-current]")
    own = page.locator(".tal [data-status=fault]")
    said = page.locator(".gw-check > p[role=status]")
    with promise("a total that its parts do not give is a problem, told on the card of its cell"):
        page.get_by_role("textbox", name="Draft").fill(UNEVEN)
        page.get_by_role("textbox", name="Draft").press("Control+Enter")
        expect(own).to_have_text("2 own figures")
        expect(page.locator(".prog")).to_be_empty()
        own.click()
        expect(current).to_have_text("75.0")
        expect(card).to_contain_text("Its parts add up to 73.0, not to 75.0.")
        expect(page.locator(".memo .fo.on")).to_have_text(["70.2", "2.8"])
        expect(page.locator(".nx")).to_contain_text("1 of 2")
        check(page, "a figure that does not add up")
        own.click()
        current.focus()
    with promise("Enter writes the figure that they give; undone, it is a problem again"):
        page.keyboard.press("Enter")
        expect(current).to_have_text("73.0")
        expect(card).to_contain_text("The draft said: 75.0")
        expect(own).to_have_text("1 own figure")
        card.get_by_role("button", name="Undo the edit").click()
        expect(current).to_have_text("75.0")
        expect(own).to_have_text("2 own figures")
    with promise("it is noted on, and another left as it is; neither is a problem then"):
        page.keyboard.press("a")
        page.get_by_role("textbox", name="Note").fill("Two sites are missing.")
        page.keyboard.press("Control+Enter")
        expect(said).to_have_text("Note kept.")
        for _ in range(9):
            page.keyboard.press("n")
            if "14.0%" in current.inner_text():
                break
        expect(card).to_contain_text("12.0% elsewhere")
        page.keyboard.press("Escape")
        expect(said).to_have_text("Left as it is.")
        for _ in range(9):
            page.keyboard.press("n")
            assert not re.search(r"75\.0|14\.0", current.inner_text())
    with promise("both outlive a reload, and what was left is edited after all"):
        page.reload()
        page.locator(".wd", has_text="noted").wait_for()
        page.locator(".memo a.s", has_text="14.0%").click()
        card.get_by_role("button", name="Edit", exact=True).click()
        page.get_by_role("textbox", name="Your words").fill("In 2021 the margin was 12.0%.")
        page.get_by_role("button", name="Write it").click()
        expect(own).to_have_text("1 own figure")
        expect(page.locator(".wd", has_text="given twice")).to_have_count(0)
    with promise("totals are recomputed with the figures that were edited"):
        page.locator(".memo a.s", has_text="2.8").click()
        card.get_by_role("button", name="Edit", exact=True).click()
        page.get_by_role("textbox", name="Your words").fill("4.8")
        page.get_by_role("button", name="Write it").click()
        expect(own).to_have_count(0)
        expect(page.locator(".wd.own")).to_have_count(0)
        card.get_by_role("button", name="Undo the edit").click()
        expect(page.locator(".wd.own")).to_have_text("doesn’t add up")
    with promise("a total that is edited wrongly is a problem again; Enter writes the right one"):
        page.locator(".memo a.s", has_text="75.0").click()
        card.get_by_role("button", name="Edit", exact=True).click()
        page.get_by_role("textbox", name="Your words").fill("76.000")
        page.get_by_role("button", name="Write it").click()
        expect(card).to_contain_text("Its parts add up to 73.000, not to 76.000.")
        expect(own).to_have_text("1 own figure")
        current.focus()
        page.keyboard.press("Enter")
        expect(current).to_have_text("73.000")
        expect(own).to_have_count(0)


@pytest.mark.slow
def test_a_draft_of_ones_own(sample: App, open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page(f"{sample.url}/check")
    begin = page.get_by_role("button", name="Check", exact=True)
    text = page.get_by_role("textbox", name="Draft")
    with promise("what is typed outlives a reload, and nothing is checked against no document"):
        expect(begin).to_be_disabled()
        text.fill(PASTED)
        page.reload()
        expect(text).to_have_value(PASTED)
        page.get_by_role("group", name="Check against").get_by_role("checkbox").uncheck()
        begin.click()
        page.get_by_role("alert").get_by_text("No document is chosen").wait_for()
        page.get_by_role("group", name="Check against").get_by_role("checkbox").check()
    with promise("Ctrl Enter checks it; its own markup is text, its table a table"):
        text.press("Control+Enter")
        expect(marked(page, "x").first).to_contain_text("$28 million")
        expect(page.locator(".gw-check .memo h2")).to_contain_text("Note 🌍 <img src=x")
        expect(page.locator(".gw-check .memo td", has_text="71,340")).to_be_visible()
        assert page.title() != "run"
        expect(page.locator(".prog")).to_be_empty()
    with promise("its own words take the place of a sentence"):
        marked(page, "x").first.click()
        page.get_by_role("button", name="Edit", exact=True).click()
        page.get_by_role("textbox", name="Your words").fill("At year end $18 million was drawn.")
        page.get_by_role("button", name="Write it").click()
        expect(marked(page, "x")).to_have_count(0)
        page.get_by_text("The draft said").wait_for()
    with promise("on a phone the page is a drawer, which a citation opens"):
        page.set_viewport_size({"width": 390, "height": 844})
        expect(page.locator(".gw-pane .desk")).to_be_hidden()
        page.locator(".ccard a.gw-cite").first.click()
        page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
        page.keyboard.press("Escape")
        check(page, "a checked draft on a phone")
        page.set_viewport_size({"width": 1440, "height": 900})
    with promise("a file that cannot be read says so, and loses nothing; another is checked"):
        page.get_by_role("button", name="All drafts").click()
        wrong, right = tmp_path / "wrong.docx", tmp_path / "own.txt"
        wrong.write_bytes(b"no Word file")
        right.write_text("Interest is 1.35 percentage points over the reference rate.", "utf-8")
        page.locator("#gw-draft-file").set_input_files(wrong)
        begin.click()
        page.get_by_role("alert").get_by_text("wrong.docx").wait_for()
        page.locator("#gw-draft-file").set_input_files(right)
        begin.click()
        expect(marked(page, "c")).to_have_count(1)
        expect(page.locator(".gw-check h1")).to_have_text("own.txt")
    with promise("checks are listed, and deleted after a question"):
        page.get_by_role("button", name="All drafts").click()
        rows = page.locator(".gw-checks .rec li")
        rows.first.wait_for()
        before = rows.count()
        page.get_by_role("button", name="Delete own.txt").click()
        check(page, "the question before a check is deleted")
        rows.get_by_role("button", name="Delete", exact=True).click()
        expect(rows).to_have_count(before - 1)


@pytest.mark.slow
def test_claude_reads_a_checked_draft_after_its_cost_is_shown(
    claude: tuple[App, MessagesServer], open_page: Callable[..., Any]
) -> None:
    app, server = claude
    page = open_page(f"{app.url}/check", 1280, 720)
    page.get_by_role("textbox", name="Draft").fill("The wells belong to the king of Denmark.")
    page.get_by_role("textbox", name="Draft").press("Control+Enter")
    ask = page.get_by_role("button", name="Ask Claude")
    ask.wait_for()
    card = page.locator(".gw-check .ccard")
    expect(card).to_contain_text("Not found")
    sent = len(server.forms)
    ask.click()
    panel = page.get_by_role("group", name="Ask Claude")
    expect(panel).to_contain_text("At most $")
    check(page, "what asking Claude may cost")
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 720})
        box = panel.bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    page.set_viewport_size({"width": 1280, "height": 720})
    assert len(server.forms) == sent
    given = {"verdict": "contradicted", "passages": [1], "wrong": [], "missing": [], "reason": "Others own them."}
    server.plan(Reply(tool=("give_verdict", given)))
    panel.get_by_role("button", name="Ask about 1 sentence").click()
    expect(ask).to_be_hidden()
    expect(marked(page, "x")).to_have_count(1)
    expect(card).to_contain_text("Others own them.")
    expect(card).to_contain_text("Claude Sonnet 4.6 has read it. By rules: not found.")
    check_both(page, "a draft that Claude has read")
