"""The first minute: files dropped in Chat, what they say at first sight, a question that they answer, by its key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from tests import pdfs, prepared
from tests.browser.conftest import QUESTION, App, Shelf, go, in_scope, promise, serve
from tests.browser.test_axe import check, check_both
from tests.browser.test_claude import ask
from tests.browser.test_library import file
from tests.ui.test_jobs import until
from ui.chat.first_run import QUESTIONS


@pytest.fixture(scope="module")
def sample(sampled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app on a home that begins with the sample only."""
    home = prepared.copied(sampled, tmp_path_factory.mktemp("sample") / "home")
    with serve(home, GROUNDWORK_INGEST__WORKERS="1") as served:
        yield served


def welcomed(sample: App, open_page: Callable[..., Any], checked: Callable[[Any, str], None]) -> Any:
    """The first page of the sample, once it has all that it will have."""
    page = open_page(sample.url, 1280, 720, suggestions=True)
    with promise("a document has five lines and four questions, all in sight"):
        expect(page.locator(".gw-ov")).to_have_count(1)
        expect(page.locator(".gw-ov li")).to_have_count(5, timeout=60_000)
        expect(page.locator(".gw-start h1")).to_have_text("Your document is ready")
        expect(page.locator(".gw-pane")).to_be_hidden()
        expect(page.locator(".gw-sug button")).to_have_count(4, timeout=120_000)
        expect(page.locator(".gw-sug .wait")).to_have_count(0, timeout=120_000)
        checked(page, "the first minute")
        in_sight(page)
    return page


def test_the_sample_is_shown_and_asked(sample: App, open_page: Callable[..., Any]) -> None:
    page = welcomed(sample, open_page, check)
    with promise("a key asks"):
        first = page.locator(".gw-sug button .what").first.inner_text()
        page.keyboard.press("1")
        expect(page.locator(".gw-q")).to_have_text(first)
        page.locator(".gw-answer a.gw-cite").first.wait_for()


@pytest.mark.slow
def test_the_lines_of_the_sample_of_which_no_questions_are_known_and_a_grid_of_its_cells(
    sample: App, open_page: Callable[..., Any]
) -> None:
    with Engine.open(sample.home) as engine:  # a library that changed
        engine.remove(prepared.read(engine, pdfs.hyphenated(), "words.pdf"))
    page = welcomed(sample, open_page, check_both)
    card = page.locator(".gw-ov")
    lines = card.locator("li")
    with promise("a key does not ask while something is typed"):
        page.locator(".st-key-gw_composer textarea").fill("What did")
        page.locator(".gw-start .lead").click()
        page.keyboard.press("2")
        expect(page.locator(".gw-start")).to_be_visible()
        page.locator(".st-key-gw_composer textarea").fill("")
    with promise("in a low window a card shows fewer lines, and the others on demand"):
        page.set_viewport_size({"width": 1280, "height": 600})
        expect(lines.nth(4)).to_be_hidden()
        in_sight(page)
        card.get_by_role("button", name="more").press("Enter")
        expect(lines.nth(4)).to_be_visible()
        assert page.evaluate("document.activeElement.matches('.gw-ov .gw-cite')")
        page.set_viewport_size({"width": 1280, "height": 900})
        expect(card.locator(".more")).to_be_hidden()

    with promise("a line opens its page"):
        line = lines.nth(1)
        told = line.locator("b").inner_text()
        expect(line.locator(".q")).to_contain_text(told, use_inner_text=True)
        page.mouse.move(0, 0)  # from the card of another line
        page.evaluate("document.activeElement.blur()")  # and of the line that the focus went to
        page.locator(".gw-card").wait_for(state="detached")
        line.locator(".gw-cite").click()
        page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
        expect(line.locator(".gw-cite")).to_have_attribute("aria-current", "true")
        assert "cite=" not in page.url, "nothing that a reload could open again"
        check_both(page, "a line and its page")
    with promise("so do its outline and its title"):
        card.get_by_role("button", name="Outline").click()
        expect(card.locator(".heads li")).not_to_have_count(0)
        card.locator("h2 button").click()
        expect(page.locator(".gw-pane")).to_be_visible()
    with promise("cells of a table are a grid by row, and each opens its place"):
        page.get_by_role("button", name="New conversation").click()
        expect(page.locator(".gw-start")).to_be_visible()
        ask(page, "List revenue by segment")
        grid = page.locator('.gw-turn[data-state="complete"] .gw-cells')
        expect(grid.locator("thead th")).to_have_text(["2025", "2024", "Change"])
        rows = ["Field Sensors", "Laboratory Balances", "Service and Calibration", "Total revenue"]
        expect(grid.locator("tbody th")).to_have_text([f"{row}, in thousands" for row in rows])
        grid.get_by_text("132,210").click()
        page.locator('.gw-highlight[data-role="head"]').first.wait_for()
        check(page, "a grid of cells")


def in_sight(page: Any) -> None:
    """All questions come to stand above the composer, and each document has a line."""

    def above() -> bool:
        composer = page.locator(".st-key-gw_composer").bounding_box()["y"]
        boxes = [question.bounding_box() for question in page.locator(".gw-sug button").all()]
        return all(box["y"] + box["height"] <= composer + 1 for box in boxes)

    until(above, 10)
    for card in page.locator(".gw-ov").all():
        expect(card.locator("li").first).to_be_visible()


def drop(page: Any, **documents: bytes) -> None:
    files = [file(f"{name}.pdf", data) for name, data in documents.items()]
    page.locator(".st-key-gw_composer input[type=file]").set_input_files(files)


@pytest.mark.slow
def test_documents_of_ones_own_take_the_place_of_the_sample(sample: App, open_page: Callable[..., Any]) -> None:
    page = open_page(sample.url)
    with promise("while the first document is read, the sample answers and says so"):
        ask(page, QUESTIONS[1])
        page.locator('.gw-turn[data-state="complete"]').wait_for()
        drop(page, long=pdfs.joined(*[pdfs.running_headers(20)] * 20))  # read for minutes
        expect(page.locator(".gw-start h1")).to_contain_text("ready")  # what was asked of the sample is over
        in_scope(page, "1 of 1")
        ask(page, QUESTIONS[2])
        page.locator('.gw-turn[data-state="complete"] a.gw-cite').first.wait_for()
        expect(page.locator(".gw-unsearched")).to_have_text("“long.pdf” is still being read and was not searched")
        expect(page.locator(".gw-turn")).to_have_count(1)
    go(page, "Library")
    page.get_by_role("button", name="Remove long.pdf").click()
    page.locator("tr[data-doc]", has_text="long.pdf").wait_for(state="detached")

    go(page, "Chat")
    page.get_by_role("button", name="New conversation").click()
    with promise("a question asked the moment a document is ready opens its conversation"):
        in_scope(page, "1 of 1")
        drop(page, survey=pdfs.one_column())
        box = page.get_by_label("Ask your documents")
        box.fill(QUESTION)
        with Engine.open(sample.home) as engine:
            until(lambda: sum(info.indexed for info in engine.documents()) == 2)
        box.press("Enter")
        page.locator('.gw-turn[data-state="complete"] a.gw-cite').first.wait_for()
        expect(page.locator(".gw-q")).to_have_text(QUESTION)
        in_scope(page, "1 of 2")
        expect(page.locator(".gw-unsearched")).to_have_count(0)
    with promise("files dropped in Chat are its scope, without the sample"):
        page.get_by_role("button", name="New conversation").click()
        in_scope(page, "1 of 2")
        drop(page, table=pdfs.ruled_table(), words=pdfs.hyphenated())
        expect(page.locator(".gw-start h1")).to_contain_text(re.compile("being read|ready"))
        expect(page.locator(".gw-start h1")).to_have_text("3 documents are ready", timeout=120_000)
        in_scope(page, "3 of 4")
        expect(page.locator(".gw-ov ol", has_text="seven wells")).to_have_count(1)
        expect(page.locator(".st-key-gw_notes")).to_have_count(0)


@pytest.mark.slow
def test_a_document_is_renamed_in_the_scope_and_in_the_library(
    app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    page = open_page(app.url)
    row = page.locator(".gw-scope .row", has_text="Larkfield Water Survey").first
    row.hover()
    row.get_by_role("button", name="Rename").click()
    row.get_by_label("Title").fill("Wells of 2025")
    page.keyboard.press("Enter")
    page.locator(".gw-scope .row", has_text="Wells of 2025").wait_for()
    with promise("titles that begin alike are cut before what tells them apart"):
        other = page.locator(".gw-scope .row").filter(has_not_text="Wells of 2025").first
        other = page.locator(f'.gw-scope .row[data-id="{other.get_attribute("data-id")}"]')
        for name, ends in (("Wells of 2025 by the lake", {"2025", "by the lake"}), ("", set[str]())):
            other.hover()
            other.get_by_role("button", name="Rename").click()
            other.get_by_label("Title").fill(name)
            page.keyboard.press("Enter")
            cut = page.locator(".gw-scope .gw-apart", has_text="Wells of 2025")
            expect(cut).to_have_count(len(ends))
            assert {end.strip() for end in cut.locator(":scope > :last-child").all_inner_texts()} == ends
    go(page, "Library")
    page.get_by_role("link", name="Wells of 2025").click()
    page.locator(".gw-doc").get_by_role("button", name="Rename").click()
    page.locator(".gw-doc").get_by_label("Title").fill("")
    page.keyboard.press("Enter")
    expect(page.locator(".gw-doc h2")).to_contain_text("Larkfield")
