"""The conversations at the side and the title row: search, rename, delete, export."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from tests.browser.conftest import QUESTION, App, Shelf, beside

MORE = 130


@pytest.mark.slow
def test_conversations_are_found_as_words_are_typed(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    with Engine.open(app.home) as engine:
        made = [engine.conversations.new() for _ in range(MORE)]
        for number, talk in enumerate(made):
            engine.chat(talk, f"Was sample {number:03} zymurgical?")
        total = len(engine.conversations.all())
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}")
    rows = page.locator(".gw-history a")
    page.get_by_role("button", name=f"Show {total - 100} more").click()
    rows.nth(total - 1).wait_for()
    assert rows.nth(100).evaluate("e => e === document.activeElement")

    page.locator(".gw-flow").focus()
    page.keyboard.press("/")
    field = page.get_by_label("Search conversations")
    assert field.evaluate("e => e === document.activeElement")
    field.press_sequentially("sample 007")
    page.get_by_text("1 conversation found").wait_for()
    expect(rows).to_have_text(["Was sample 007 zymurgical?"], use_inner_text=True)
    expect(rows.locator("b")).to_have_text(["sample", "007"], use_inner_text=True)
    field.fill("Orchard Lane")
    page.locator(".gw-history .found").first.wait_for()
    expect(page.locator(".gw-history .found").first).to_contain_text("Orchard", use_inner_text=True)
    field.fill("xylophone")
    page.get_by_text("No conversation mentions “xylophone”.").wait_for()
    expect(rows).to_have_count(0)
    field.press("Escape")
    rows.nth(99).wait_for()
    expect(field).to_have_value("")

    field.fill("sample 012")
    page.get_by_text("1 conversation found").wait_for()
    field.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name="Was sample 012 zymurgical?").wait_for()
    expect(rows.first).to_have_attribute("aria-current", "page")
    expect(field).to_have_value("sample 012")  # the search stays
    export = page.get_by_role("button", name="Export")
    expect(export).to_have_attribute("aria-disabled", "true")
    page.goto("about:blank")
    with Engine.open(app.home) as engine:
        for talk in made:
            engine.conversations.delete(talk)


@pytest.mark.slow
def test_a_conversation_is_renamed_and_deleted(app: App, open_page: Callable[..., Any]) -> None:
    with Engine.open(app.home) as engine:
        talk = engine.conversations.new()
        engine.chat(talk, "Which crew sampled the wells?").run()
    page = open_page(f"{app.url}/?c={talk}")
    more = page.get_by_role("button", name="More about this conversation")
    row = page.locator(".gw-history a[aria-current]")
    row.wait_for()
    other = beside(page)
    other.locator(".gw-turn").wait_for()

    more.click()
    page.get_by_role("button", name="Rename", exact=True).click()
    title = page.get_by_label("Title")
    title.fill("Never mind")
    title.press("Escape")
    page.get_by_role("heading", level=1, name="Which crew sampled the wells?").wait_for()
    more.press("Enter")
    page.keyboard.press("Enter")
    title.fill("Crews_and *wells*")
    title.press("Enter")
    for tab in (page, other):
        tab.locator(".gw-history a[aria-current]").get_by_text("Crews_and *wells*", exact=True).wait_for()
        tab.get_by_role("heading", level=1, name="Crews_and *wells*").wait_for()

    more.click()
    page.get_by_role("button", name="Delete conversation").click()
    page.get_by_role("button", name="Cancel").click()
    more.click()
    page.get_by_role("button", name="Delete conversation").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("documents are ready").wait_for()
    assert "c=" not in page.url
    for tab in (page, other):
        tab.locator(f'.gw-history a[data-id="{talk}"]').wait_for(state="detached")
    other.get_by_text("This conversation isn't in the library.").wait_for()


@pytest.mark.slow
def test_a_conversation_is_taken_away_as_a_file(
    app: App, shelf: Shelf, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}")
    export = page.get_by_role("button", name="Export")
    page.locator('.gw-turn[data-state="complete"]').first.wait_for()
    files = {}
    for name, ending in (("Markdown", ".md"), ("Word", ".docx"), ("PDF", ".pdf")):
        export.click()
        with page.expect_download() as coming:
            page.get_by_role("button", name=name).and_(page.locator(".item")).click()
        page.locator(".gw-panel").first.wait_for(state="hidden")
        assert coming.value.suggested_filename == QUESTION.rstrip("?") + ending
        files[ending] = tmp_path / f"export{ending}"
        coming.value.save_as(files[ending])
    words = "Orchard Lane"
    assert words in files[".md"].read_text(encoding="utf-8")
    with zipfile.ZipFile(files[".docx"]) as parts:
        assert words in parts.read("word/document.xml").decode() + parts.read("word/footnotes.xml").decode()
    with pymupdf.open(files[".pdf"]) as made:
        assert words in " ".join(" ".join(sheet.get_text() for sheet in made).split())
