"""A watched folder, from the path that is typed to the words that changed since."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import App, promise, serve
from tests.browser.test_axe import check

WELLS = "Nitrate stood above the limit in seven wells, all of them south of the railway."
SURVEY = f"# Larkfield Water Survey\n\n## Findings\n\n{WELLS}\n\n## Advice\n\nThe council should close the pump.\n"
READ = 240_000  # milliseconds: two documents are read, whatever else the machine does
QUESTION = "In how many wells was nitrate above the limit?"


def write(folder: Path, text: str, second: int) -> None:
    (folder / "survey.md").write_text(text, encoding="utf-8")
    os.utime(folder / "survey.md", (1_500_000_000 + second,) * 2)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_folder_is_watched_and_an_answer_says_that_its_words_changed(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    write(folder, SURVEY, 1)
    with serve(tmp_path / "home") as app:
        page = open_page(f"{app.url}/library")
        page.locator(".gw-watched summary").click()
        with promise("a path that is none is refused in place"):
            page.get_by_label("Path of a folder").fill("/nowhere at all")
            page.get_by_role("button", name="Watch", exact=True).click()
            expect(page.locator(".gw-watched [role=alert]")).to_contain_text("There is no folder")
        with promise("a folder that is added is read"):
            page.get_by_label("Path of a folder").fill(str(folder))
            page.get_by_role("button", name="Watch", exact=True).click()
            expect(page.locator(".gw-watched li")).to_contain_text(str(folder))
            row = page.locator("tr[data-doc]")
            expect(row).to_have_attribute("data-status", "ready", timeout=READ)
            old = row.get_attribute("data-doc")
        turn = asked(page, app)
        with promise("nothing is marked while nothing has changed"):
            expect(turn.locator(".gw-since")).to_have_count(0)

        page.goto(f"{app.url}/check")
        page.get_by_role("textbox", name="Draft").fill(WELLS)
        page.get_by_role("button", name="Check", exact=True).click()
        tally, sentence = page.locator(".gw-check .tal"), page.locator(".gw-check .memo a.s")
        expect(tally.locator('[data-status="confirmed"]')).to_contain_text("1", timeout=READ)
        expect(tally.locator('[data-status="since"]')).to_have_count(0)
        checked = page.url

        write(folder, SURVEY.replace("seven", "nine"), 2)
        page.goto(f"{app.url}/library")
        page.locator(".gw-watched summary").click()
        page.get_by_role("button", name="Look through").click()
        with promise("a changed file is the next version of its document"):
            expect(page.locator("tr[data-doc]").filter(has_text="version 2")).to_be_visible(timeout=READ)
            expect(page.locator(f'tr[data-doc="{old}"]')).to_have_count(0)
            page.locator("tr[data-doc] [data-f=title]").click()
            page.get_by_role("tab", name="Changes").click()
            change = page.locator("li.change")
            expect(change.locator("[data-side=then]")).to_contain_text("seven wells")
            expect(change.locator("[data-side=now]")).to_contain_text("nine wells")
            check(page, "the changes of a document")

        page.goto(app.url)
        page.locator(".gw-history a, .gw-history button").filter(has_text=QUESTION).first.click()
        with promise("its answer says so, with the old words beside the new"):
            mark = page.locator(".gw-turn button.gw-since")
            expect(mark).to_have_text("Words changed since")
            expect(page.locator(".gw-turn .gw-answer a.gw-cite.changed").first).to_be_visible()
            mark.click()
            sides = page.locator(".gw-pane .since")
            expect(sides.locator("[data-side=then]")).to_contain_text("seven wells")
            expect(sides.locator("[data-side=now]")).to_contain_text("nine wells")
            expect(page.locator(".gw-pane .gw-highlight").first).to_be_visible()
            check(page, "an answer whose words changed")
        with promise("both pages open"):
            sides.locator("[data-side=now]").click()
            expect(sides.locator("[data-side=now]")).to_have_attribute("aria-pressed", "true")
            expect(page.locator(".gw-pane .gw-highlight").first).to_be_visible()
            sides.locator("[data-side=then]").click()
            expect(sides.locator("[data-side=then]")).to_have_attribute("aria-pressed", "true")
            expect(page.locator(".gw-pane .gw-highlight").first).to_be_visible()

        page.goto(checked)
        with promise("a checked sentence says so where it stands, and is the next to look at"):
            expect(page.locator(".gw-check .memo")).to_contain_text("words changed since")
            expect(tally.locator('[data-status="since"]')).to_have_text("1 changed since")
            expect(sentence).to_have_attribute("aria-current", "true")
            expect(page.locator(".gw-pane .since [data-side=now]")).to_contain_text("nine wells")
            check(page, "a draft whose confirmation changed")

        (folder / "survey.md").unlink()
        page.goto(f"{app.url}/library")
        page.locator(".gw-watched summary").click()
        page.get_by_role("button", name="Look through").click()
        with promise("a removed file is said, and its document stays"):
            expect(page.locator("tr[data-doc]")).to_contain_text("no longer in the folder")
            page.get_by_role("button", name="Stop watching").click()
            expect(page.locator(".gw-watched li")).to_have_count(0)
            expect(page.locator("tr[data-doc]")).to_have_count(1)


def asked(page: Any, app: App) -> Any:
    """The turn of the question, asked and answered."""
    page.goto(app.url)
    field = page.get_by_label("Ask your documents")
    field.fill(QUESTION)
    field.press("Enter")
    turn = page.locator('.gw-turn[data-state="complete"]')
    expect(turn.locator("a.gw-cite").first).to_be_visible()
    return turn
