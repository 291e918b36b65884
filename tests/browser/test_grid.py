"""Grid: from three questions to a file, with the keyboard, as in a spreadsheet."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import pdfs, prepared
from tests.browser.conftest import App, lent, only_way_back, promise, serve
from tests.browser.test_axe import check, check_both
from tests.messages_server import MessagesServer

COLUMNS = [
    {"name": "Revenue", "question": "Total revenue of fiscal 2025", "type": "value", "unit": "USD million"},
    {"name": "Facility matures", "question": "When does the credit facility mature?", "type": "date"},
    {"name": "<i>Hedges</i>", "question": "Does it hedge sales in euros and Norwegian kroner?", "type": "yes_no"},
]


@pytest.fixture(scope="module")
def sample(sampled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app on a home that has the sample only."""
    home = prepared.copied(sampled, tmp_path_factory.mktemp("grid") / "home")
    with serve(home) as served:
        yield served


@pytest.mark.slow
def test_three_questions_from_a_file_to_a_file(sample: App, open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page(f"{sample.url}/grid", 1280, 720)
    cells = page.locator(".gw-grid .ln .ce")
    card = page.locator(".fct")
    lit = page.locator('.gw-highlight[data-role="cited"]').first
    said = page.locator(".gw-grid > p[role=status]")
    focused = page.locator(".gw-grid :focus")
    with promise("columns come from a file, and the cells fill by themselves"):
        page.get_by_role("button", name="Try it").wait_for()
        check_both(page, "the start of a grid")
        make = page.get_by_role("button", name="Make the grid")
        page.get_by_label("Name").fill("Reports")
        page.get_by_role("radio", name="From a file").check()
        expect(make).to_be_disabled()
        file = tmp_path / "columns.json"
        file.write_text(json.dumps({"columns": COLUMNS}), "utf-8")
        page.locator("#gw-grid-file").set_input_files(file)
        make.click()
        expect(cells).to_have_count(3)
        expect(cells.nth(0)).to_contain_text("148.6")
        expect(cells.nth(1)).to_contain_text("30 Jun 2029")
        expect(cells.nth(2)).to_contain_text("No")
        expect(page.get_by_role("columnheader", name="<i>Hedges</i>")).to_be_visible()
        expect(page.get_by_role("button", name="Fill again").first).to_be_visible()
        check_both(page, "a grid")
    with promise("a cell opens its place on the page, and is the only one that is lit"):
        cells.nth(1).click()
        lit.wait_for()
        expect(card).to_contain_text("Supported")
        expect(page.locator(".gw-grid .ce.sel")).to_have_count(1)
        check_both(page, "an open cell")
    with promise("arrows move the focus, Enter opens, Space accepts, Escape closes"):
        page.keyboard.press("Control+Home")
        expect(focused).to_contain_text("Larkfield")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(card.locator(".big b")).to_have_text("148.6 USD million")
        page.keyboard.press(" ")
        expect(card).to_contain_text("Accepted")
        expect(said).to_have_text("Accepted.")
        page.keyboard.press("Escape")
        expect(card).to_have_count(0)
        expect(focused).to_contain_text("148.6")
    with promise("E corrects, and the new value is held against the document"):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("e")
        field = page.get_by_role("textbox", name="The value")
        field.fill("some day")
        page.keyboard.press("Enter")
        expect(card.get_by_role("alert")).to_contain_text("takes a date")
        expect(field).to_have_value("some day")
        page.reload()
        expect(field).to_have_value("some day")
        field.fill("30 June 2031")
        check_both(page, "a cell that is corrected")
        page.keyboard.press("Enter")
        expect(cells.nth(1)).to_contain_text("30 Jun 2031")
        expect(card).to_contain_text("not found in the document")
        expect(card).to_contain_text("Groundwork found 30 Jun 2029")
        expect(card.locator(".big")).not_to_contain_text("p. ")
        expect(lit).to_have_count(0)
        check_both(page, "a value by hand that the document lacks")
        page.keyboard.press("Control+z")
        expect(cells.nth(1)).to_contain_text("30 Jun 2029")
        expect(said).to_have_text("Undone.")
    with promise("what is filled again stays until the new value is there"):
        page.evaluate(
            """() => {
                const body = document.querySelector(".gw-grid .bd");
                const watch = () => window.kept.push(body.querySelectorAll(".ce.qu").length);
                window.kept = [];
                new MutationObserver(watch).observe(body, { childList: true, subtree: true, attributes: true });
            }"""
        )
        page.locator(".bar2").get_by_role("button", name="Fill again").click()
        expect(page.get_by_role("button", name="Stop", exact=True)).to_be_hidden()
        expect(page.locator(".gw-grid .ce.old")).to_have_count(0)
        expect(cells.nth(1)).to_contain_text("30 Jun 2029")
        assert not any(page.evaluate("window.kept"))
    with promise("what is open outlives a reload, and until there is data only the way back can be pressed"):
        only_way_back(page, re.compile(r"/gw/grids/\w+\?"), "All grids")
        expect(page.locator(".gw-grid .ce.sel")).to_contain_text("30 Jun 2029")
        lit.wait_for()
    with promise("a column that is edited fills itself alone"):
        page.get_by_role("button", name=re.compile("^Facility matures")).click()
        check_both(page, "the menu of a column")
        page.get_by_role("button", name="Edit", exact=True).click()
        check_both(page, "the form of a column")
        page.get_by_label("Name", exact=True).fill("Employees")
        page.get_by_label("Question").fill("Number of employees at year end")
        page.get_by_label("Kind").select_option("value")
        page.get_by_role("button", name="Save").click()
        expect(cells.nth(1)).to_contain_text("649")
        expect(cells.nth(0)).to_contain_text("accepted")
    with promise("a number is corrected with all its digits"):
        cells.nth(1).click()
        page.keyboard.press("e")
        field = page.get_by_role("textbox", name="The value")
        field.fill("1,234,567.891")
        page.keyboard.press("Enter")
        expect(cells.nth(1)).to_contain_text("1.2346")
        page.keyboard.press("e")
        expect(field).to_have_value("1,234,567.891")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Undo").click()
        expect(cells.nth(1)).to_contain_text("649")
    with promise("an amount is shown whole, with its sign and currency before it, and so is its column's summary"):
        page.keyboard.press("e")
        field.fill("-$1,242,408,000")
        page.keyboard.press("Enter")
        expect(cells.nth(1)).to_contain_text("−$1.2424billion")
        expect(page.locator(".gw-grid .ft")).to_contain_text("−$1.2424 billion")
        values = page.locator(".gw-grid .l1:not(.long) :is(b, small)")
        assert values.evaluate_all("(all) => all.filter((one) => one.scrollWidth > one.clientWidth).length") == 0
        page.get_by_role("button", name="Undo").click()
        expect(cells.nth(1)).to_contain_text("649")
    with promise("a cell is copied with its source, also where the page has no clipboard of its own"):
        page.keyboard.press("Control+c")
        expect(said).to_have_text("Copied with its source.")
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
        page.locator(".gw-grid > p[role=status]").evaluate("(said) => (said.textContent = '')")
        page.keyboard.press("Control+c")
        expect(said).to_have_text("Copied with its source.")
    with promise("arrows reach the summary"):
        page.keyboard.press("Control+End")
        page.keyboard.press("ArrowDown")
        expect(focused).to_have_attribute("role", "gridcell")
        expect(focused).to_contain_text("No 1")
        page.keyboard.press("ArrowUp")
        expect(focused).to_contain_text("No")
    with promise("+ adds a column, whose mistakes are said in the form"):
        page.keyboard.press("+")
        page.get_by_label("Name", exact=True).fill("Revenue")
        page.get_by_role("button", name="Add and fill").click()
        page.get_by_role("dialog").get_by_role("alert").get_by_text("Two columns").wait_for()
        page.get_by_label("Name", exact=True).fill("Auditor’s opinion")
        page.get_by_label("Question").fill("Did the auditor qualify its opinion?")
        page.get_by_label("Kind").focus()
        expect(page.get_by_label("Kind")).to_have_value("yes_no")
        page.get_by_label("Kind").select_option("quote")
        page.get_by_label("Question").fill("")
        page.get_by_label("Name", exact=True).focus()
        page.get_by_role("button", name="Add and fill").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(cells.nth(3)).to_contain_text("opinion")
    with promise("a filter leaves the rows that pass, a value stands by its period"):
        page.get_by_role("button", name=re.compile("^Revenue")).click()
        page.locator(".gw-panel").get_by_role("button", name="Not stated").click()
        expect(page.locator(".gw-grid .ln")).to_have_count(0)
        page.get_by_role("button", name="No longer Revenue: not stated").click()
        page.get_by_role("button", name=re.compile("^Employees")).click()
        page.get_by_role("button", name="By period").click()
        expect(page.get_by_role("columnheader", name="2025")).to_be_visible()
        check_both(page, "a value by its period")
        page.get_by_role("button", name="No longer Employees by period").click()
        expect(cells).to_have_count(4)
    with promise("its rows can be sections, chosen in the document's outline, each read by itself"):
        page.get_by_role("button", name="Rows", exact=True).click()
        page.get_by_role("radio", name="section").check()
        page.locator(".sec").first.wait_for()
        page.keyboard.press("ArrowDown")
        expect(focused).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("Enter")
        expect(focused).to_have_attribute("aria-expanded", "false")
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowDown")
        expect(focused).to_have_text("1")
        use = page.get_by_role("button", name="Use these")
        expect(use).to_be_disabled()
        level = page.get_by_role("button", name=re.compile("^All [0-9]+ sections of level 2$"))
        level.click()
        expect(use).to_be_enabled()
        check_both(page, "sections that are chosen")
        level.click()
        expect(use).to_be_disabled()
        for name in ("Employees", "Auditor"):
            page.locator(".sec label", has_text=name).click()
        use.click()
        expect(page.locator(".gw-grid .ln .rh")).to_have_count(2)
        expect(page.get_by_role("columnheader", name=re.compile("^Section"))).to_be_visible()
        expect(cells.nth(1)).to_contain_text("649")
        expect(cells.nth(5)).to_contain_text("not stated")
        cells.nth(1).click()
        lit.wait_for()
        expect(card).to_contain_text("649")
        page.get_by_role("button", name=re.compile("^Section")).click()
        page.get_by_role("button", name="Group by document").click()
        expect(page.locator(".gw-grid .ln.tag")).to_have_count(1)
        check_both(page, "a grid of sections")
        page.get_by_role("button", name="No longer by document").click()
        page.get_by_role("button", name="Rows", exact=True).click()
        page.get_by_role("radio", name="document").check()
        use.click()
        expect(page.locator(".gw-grid .ln .rh")).to_have_count(1)
        expect(cells.nth(0)).to_contain_text("accepted")
    with promise("it is taken along as a file, with what was decided"):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="JSON").click()
        download.value.save_as(tmp_path / "grid.json")
        assert "148.6" in (tmp_path / "grid.json").read_text("utf-8")
    with promise("what is only likely is marked, lit, and used with a key"):
        cells.nth(1).press("+")
        page.get_by_label("Name", exact=True).fill("In Leuven")
        page.get_by_label("Question").fill("How many people work in Leuven?")
        page.get_by_label("Kind").select_option("value")
        page.get_by_role("button", name="Add and fill").click()
        likely = cells.nth(4)
        expect(likely).to_contain_text("196")
        expect(likely).to_contain_text("likely, not certain")
        likely.click()
        lit.wait_for()
        expect(card).to_contain_text("It may be")
        check_both(page, "a cell that is only likely")
        likely.press("Space")
        expect(card).to_contain_text("By hand")
        expect(card).not_to_contain_text("It may be")
        lit.wait_for()
    with promise("on a phone the open cell stands under the table, its page is a drawer"):
        page.set_viewport_size({"width": 390, "height": 844})
        cells.nth(0).click()
        expect(card).to_be_visible()
        check(page, "a grid on a phone")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.set_viewport_size({"width": 1280, "height": 720})
    with promise("grids are listed, and deleted after a question"):
        page.get_by_role("button", name="All grids").click()
        rows = page.locator(".gw-grids .rec li", has_text="Reports")
        expect(rows).to_have_count(1)
        page.get_by_role("button", name="Delete Reports").click()
        rows.get_by_role("button", name="Delete", exact=True).click()
        expect(rows).to_have_count(0)
    with promise("a question of the chat is asked of every document"):
        page.goto(sample.url)
        field = page.get_by_label("Ask your documents")
        field.fill("How many people are employed?")
        field.press("Enter")
        page.locator(".gw-foot").get_by_role("button", name="More").click()
        page.get_by_role("button", name="Ask every document").click()
        expect(cells).to_have_count(1)
        expect(cells.first).to_contain_text("649")


def notice(days: int) -> bytes:
    return pdfs.report("Agreement", {"Term": [f"The notice period is {days} days."]})


@pytest.mark.slow
def test_documents_of_one_title_stay_apart(sample: App, open_page: Callable[..., Any], tmp_path: Path) -> None:
    column = {"name": "Notice period", "question": "The notice period in days", "type": "value", "unit": "days"}
    with lent(sample, {"a.pdf": notice(30), "b.pdf": notice(60)}):
        page = open_page(f"{sample.url}/grid", 1280, 720)
        asked: list[Any] = []
        page.route("**/gw/grids/outline?*", lambda route: asked.append(route))
        with promise("the one document that is ticked is open in its outline"):
            page.locator(".docs label", has_text="Agreement").first.click()
            page.get_by_role("radio", name="section").check()
            folds = page.locator(".docs .fold", has_text="Agreement")
            expect(folds.nth(1)).to_have_attribute("aria-expanded", "true")
        with promise("each outline is asked for once, and none that comes takes the focus"):
            folds.first.press("Enter")
            expect(page.locator(".docs .gw-spin")).to_have_count(2)
            while len(asked) < 2:  # the second is held by its route a moment after it is sent
                page.wait_for_timeout(50)
            for n, route in enumerate(asked):
                route.continue_()
                expect(page.locator(".docs .gw-spin")).to_have_count(1 - n)
            expect(page.locator(".docs .fold:focus")).to_have_attribute("aria-expanded", "true")
            assert len(asked) == 2
        with promise("grouped by document, each of them is a group"):
            for n in range(2):
                page.locator(".sec label", has_text="Term").nth(n).click()
            page.get_by_label("Name").fill("Notice")
            page.get_by_role("radio", name="From a file").check()
            file = tmp_path / "columns.json"
            file.write_text(json.dumps({"columns": [column]}), "utf-8")
            page.locator("#gw-grid-file").set_input_files(file)
            page.get_by_role("button", name="Make the grid").click()
            expect(page.locator(".gw-grid .ln .ce")).to_have_text([re.compile("^30"), re.compile("^60")])
            page.get_by_role("button", name=re.compile("^Section")).click()
            page.get_by_role("button", name="Group by document").click()
            expect(page.locator(".gw-grid .ln.tag b")).to_have_text(["Agreement Term"] * 2)
        with promise("a file becomes a row and is filled; of rows that are sections it is said where they are chosen"):
            files = page.locator(".st-key-gw_drop input[type=file]")
            files.set_input_files({"name": "c.pdf", "mimeType": "application/pdf", "buffer": notice(90)})
            page.get_by_text("The rows of this grid are sections.").wait_for()
            page.get_by_role("button", name="Rows", exact=True).click()
            page.get_by_role("radio", name="document").check()
            page.get_by_role("button", name="Use these").click()
            expect(page.get_by_role("button", name="Rows", exact=True)).to_have_text("2 documents × 1 question")
            files.set_input_files({"name": "d.pdf", "mimeType": "application/pdf", "buffer": notice(120)})
            expect(page.locator(".gw-grid .ln .ce", has_text=re.compile("^120"))).to_be_visible()


@pytest.mark.slow
def test_claude_is_asked_for_what_is_not_stated_after_its_cost_is_shown(
    claude: tuple[App, MessagesServer], open_page: Callable[..., Any], tmp_path: Path
) -> None:
    app, server = claude
    file = tmp_path / "columns.json"
    file.write_text(
        json.dumps({"columns": [{"name": "Highest", "question": "Shallowest well", "type": "name"}]}), "utf-8"
    )
    page = open_page(f"{app.url}/grid", 1280, 720)
    page.get_by_label("Name").fill("Wells")
    page.get_by_role("radio", name="From a file").check()
    page.locator("#gw-grid-file").set_input_files(file)
    page.get_by_role("button", name="Make the grid").click()
    ask = page.get_by_role("button", name="Ask Claude")
    ask.wait_for()
    sent = len(server.requests)
    ask.click()
    panel = page.get_by_role("group", name="Ask Claude")
    expect(panel).to_contain_text("At most $")
    check(page, "what asking Claude may cost")
    assert len(server.requests) == sent
    panel.get_by_role("button", name="Ask about").click()
    expect(ask).to_be_hidden()
    expect(page.get_by_role("button", name="Fill again").first).to_be_visible()
    assert len(server.requests) > sent
