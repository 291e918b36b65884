"""What a report rests on, in the browser: the page of the first citation beside a section, values that differ side by
side, pinned passages, and sections that are filled from documents of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.cancel import Stop
from ragcore.engine import Engine
from ragcore.report.template import from_data
from tests.browser.conftest import App, lent, still
from tests.report.truths import _pdf

FILLER = "Rainfall in the valley was near its mean, and the roads to the works stayed open for the whole of the year. "
STAFF = {"heading": "Employees", "kind": "value", "guidance": "How many employees the company has."}
WARRANTY = {
    "heading": "Warranty",
    "guidance": "State for how long the pumps and valves of Northwind are under warranty.",
}
BUSINESS = {"heading": "Business", "guidance": "What Northwind makes."}
FILES = {
    "first.pdf": ("# Letter to the owners", FILLER * 4),
    "north.pdf": (
        "# Northwind annual report 2023",
        "## Weather",
        *[FILLER * 6] * 8,
        "## Business",
        "Northwind makes pumps and valves for water works.",
        "## Staff",
        "At the end of 2023 we had 412 employees in all.",
    ),
    "later.pdf": ("# Northwind review of 2023", "## Staff", "At the end of 2023 we had 437 employees."),
}


@pytest.fixture(scope="module")
def north(app: App) -> Iterator[tuple[App, str]]:
    """The app with a report on `FILES` that is filled; its id."""
    with (
        lent(app, {name: _pdf(*blocks) for name, blocks in FILES.items()}) as doc_ids,
        Engine.open(app.home, overrides={"llm.model": "offline"}) as engine,
    ):
        desk = engine.reports
        report_id = desk.new(
            from_data({"title": "Northwind", "sections": [BUSINESS, STAFF, WARRANTY]}), doc_ids=doc_ids
        )
        desk.queue(report_id)
        for task in desk.store.tasks():
            desk.write(task, lambda _: None, Stop())
        yield app, report_id


def row(page: Any, heading: str) -> Any:
    return page.locator(".gw-report .out a", has_text=heading)


def lit_in_sight(page: Any, words: str) -> None:
    """The page that ``words`` are on is to be seen, with a place of it lit."""
    page.wait_for_function(
        """words => {
          const desk = document.querySelector(".gw-pane .desk")?.getBoundingClientRect();
          if (!desk) return false;
          return [...document.querySelectorAll(".gw-pane .gw-highlight")].some((lit) => {
            const box = lit.getBoundingClientRect();
            const page = lit.closest(".gw-page");
            return box.top >= desk.top && box.bottom <= desk.bottom && page.textContent.includes(words);
          });
        }""",
        arg=words,
    )


@pytest.mark.slow
def test_the_page_of_the_first_citation_stands_beside_a_section(
    north: tuple[App, str], open_page: Callable[..., Any]
) -> None:
    app, report_id = north
    page = open_page(f"{app.url}/reports?r={report_id}")
    lit_in_sight(page, "pumps and valves")
    expect(page.locator(".gw-evidence [aria-current]")).to_have_count(0)  # nothing has been opened yet
    row(page, "Employees").click()
    lit_in_sight(page, "employees")
    row(page, "Business").click()
    lit_in_sight(page, "pumps and valves")
    # Of a gap it is that of the nearest passage.
    row(page, "Warranty").click()
    said = page.locator(".gw-report .ins .near li p").first.inner_text()
    lit_in_sight(page, said.strip("“").split(".")[0][:20])
    row(page, "Business").click()
    lit_in_sight(page, "pumps and valves")
    # What is open stays open in the next version that cites the same place.
    chip = page.locator(".gw-report .tx a.gw-cite").last
    chip.click()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    page.get_by_role("button", name="Edit", exact=True).click()
    field = page.get_by_label("Text of the section")
    field.fill(field.input_value() + " A sentence of my own.")
    page.get_by_role("button", name="Save and check").click()
    page.locator(".gw-report .tx", has_text="A sentence of my own.").wait_for()
    lit_in_sight(page, "pumps and valves")
    page.get_by_role("button", name="Undo").click()
    page.locator(".gw-report .tx", has_text="A sentence of my own.").wait_for(state="detached")


@pytest.mark.slow
def test_values_that_differ_stand_side_by_side_and_one_is_chosen(
    north: tuple[App, str], open_page: Callable[..., Any]
) -> None:
    app, report_id = north
    page = open_page(f"{app.url}/reports?r={report_id}")
    row(page, "Employees").click()
    conflict = page.get_by_role("region", name="Values that differ")
    rivals = conflict.locator(".rival")
    rivals.nth(1).wait_for()
    assert sorted(rivals.locator("b").all_inner_texts()) == ["412", "437"]
    still(page, ".gw-report .rival")
    tops = [one.bounding_box()["y"] for one in rivals.all()]
    assert tops[0] == pytest.approx(tops[1]), "side by side"
    other = rivals.filter(has_text="437")
    other.get_by_role("button", name="Show on the page").click()
    lit_in_sight(page, "437")
    other.get_by_role("button", name="Use this value").click()
    conflict.wait_for(state="detached")
    expect(page.locator(".gw-report .tx")).to_contain_text("437", use_inner_text=True)
    expect(page.locator('.gw-report .gw-claim[data-status="unsupported"]')).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    conflict.wait_for()


@pytest.mark.slow
def test_a_pinned_passage_stays_and_a_section_keeps_to_its_own_documents(
    north: tuple[App, str], open_page: Callable[..., Any]
) -> None:
    app, report_id = north
    page = open_page(f"{app.url}/reports?r={report_id}")
    row(page, "Employees").click()
    page.get_by_role("button", name="Pin the passage of citation 1", exact=True).click()
    pinned = page.locator(".gw-evidence .places", has_text="Pinned")
    pinned.locator("li", has_text="employees").wait_for()
    page.reload()
    pinned.locator("li", has_text="employees").wait_for()
    pinned.get_by_role("button", name="Unpin").click()
    pinned.wait_for(state="detached")

    page.get_by_role("button", name="Change what is asked for").click()
    form = page.get_by_role("group", name="What to write")
    for box in form.locator(".sources label").all():
        if "review" not in box.inner_text():
            box.locator("input").uncheck()
    page.get_by_role("button", name="Keep", exact=True).click()
    page.locator(".gw-report .gd .form", has_text="from Northwind review of 2023").wait_for()
    page.get_by_role("button", name="Fill again").click()
    page.get_by_role("region", name="Values that differ").wait_for(state="detached")  # one document alone
    page.locator(".gw-report .live").wait_for(state="detached")  # what is being written stands beside the last version
    text = page.locator(".gw-report .tx")
    expect(text).to_contain_text("437", use_inner_text=True)
    expect(text).not_to_contain_text("412", use_inner_text=True)

    # Where the page is a drawer, what is cited stands under the text.
    page.set_viewport_size({"width": 390, "height": 844})
    pin = page.get_by_role("button", name="Pin the passage of citation 1", exact=True)
    pin.click()
    page.locator(".gw-report .gw-evidence .places", has_text="Pinned").locator("li", has_text="employees").wait_for()
    assert page.get_by_role("button", name="Unpin").bounding_box()["height"] >= 40
    page.set_viewport_size({"width": 1280, "height": 720})
    page.locator(".gw-pane .gw-evidence, .st-key-evidence .gw-evidence").locator(".places").wait_for()
    expect(page.locator(".gw-report .gw-evidence")).to_have_count(0)

    # A sentence that does not hold is told of before the section is accepted, once.
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Text of the section").fill("At the end of 2023 we had 981 employees [1].")
    page.get_by_role("button", name="Save and check").click()
    page.locator(".gw-report .tally", has_text="1 unsupported").wait_for()
    page.get_by_role("button", name="Accept", exact=True).click()
    page.get_by_role("alert").filter(has_text="1 sentence does not hold").wait_for()
    page.get_by_role("button", name="Look at it").click()
    page.locator(".gw-report .tx .gw-claim.is-active").wait_for()
    page.get_by_role("button", name="Accept anyway").click()
    page.get_by_role("button", name="Open again").wait_for()
