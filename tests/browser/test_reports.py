"""Reports in the browser: from a template to a file, with an edit that no longer agrees with its source."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.cancel import Stop
from ragcore.engine import Engine
from ragcore.report.template import from_data
from tests.browser.conftest import App, promise, still
from tests.browser.test_axe import check, check_both

OUTLINE = """# Survey report

## Findings

State the highest nitrate reading.

## Dividends {value, optional}

Dividends per share.
"""


def filled(app: App) -> str:
    """A report in the app's library with one section that is written; its id."""
    asked = {"title": "Made", "sections": [{"heading": "Findings", "guidance": "State the highest nitrate reading."}]}
    with Engine.open(app.home, overrides={"llm.model": "offline"}) as engine:
        desk = engine.reports
        report_id = desk.new(from_data(asked))
        desk.queue(report_id)
        desk.write(desk.store.tasks()[0], lambda _: None, Stop())
    return report_id


def test_from_a_template_to_a_file(app: App, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{app.url}/reports")
    page.locator(".gw-reports .card").nth(3).wait_for()
    check(page, "the list of reports")
    begun = page.locator(".gw-reports .list li").count()
    page.get_by_text("Paste an outline").click()
    page.get_by_label("Outline or JSON").fill(OUTLINE)
    page.get_by_role("button", name="Begin from this text").dblclick()
    page.locator('.gw-report a[data-state="empty"]').nth(1).wait_for()
    expect(page.locator(".gw-report .money")).to_have_text("Free, offline")

    # Whom it is about, from what and when is asked first; the answers stay.
    step = page.get_by_role("form", name="About this report")
    step.locator(".sources input").first.wait_for()
    check(page, "the step before a report is filled")
    subject = step.get_by_label("About", exact=True)
    expect(step.get_by_label("Period")).to_have_value("0")
    subject.fill("Larkfield Ltd")
    step.get_by_role("button", name="Fill report").click()
    page.locator(".gw-report h1", has_text="Survey report: Larkfield Ltd").wait_for()
    first = page.locator(".gw-report .out a").nth(0)
    page.locator('.gw-report .out a[data-state="gap"]', has_text="Dividends").wait_for()
    chip = page.locator(".gw-report .tx a.gw-cite").first
    chip.click()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    expect(page.locator(".gw-evidence a[aria-current]")).to_have_count(1)

    # A figure that the source does not give is flagged as soon as it is saved, and undone.
    page.get_by_role("button", name="Edit", exact=True).click()
    field = page.get_by_label("Text of the section")
    before = field.input_value()
    assert "61.4" in before
    field.fill("The highest nitrate reading was 84.2 milligrams per litre [1].")
    page.reload()
    expect(field).to_have_value("The highest nitrate reading was 84.2 milligrams per litre [1].")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Change what is asked for").click()
    guidance = page.locator(".asks textarea")
    guidance.fill("The lowest reading.")
    page.reload()
    expect(guidance).to_have_value("The lowest reading.")
    page.get_by_role("button", name="Cancel").click()
    page.reload()
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(field).to_have_value(before)
    field.fill("The highest nitrate reading was 84.2 milligrams per litre [1].")
    page.get_by_role("button", name="Save and check").click()
    page.locator('.gw-report .gw-claim[data-status="unsupported"]').wait_for()
    expect(page.locator(".gw-report .tally .bad")).to_have_text(re.compile(r"\b1 unsupported$"))
    page.get_by_role("button", name="Undo").click()
    page.locator('.gw-report .gw-claim[data-status="unsupported"]').wait_for(state="detached")
    expect(page.locator(".gw-report .tx")).to_contain_text("61.4", use_inner_text=True)
    page.get_by_role("button", name=re.compile("^History")).click()
    page.locator(".gw-report .hist li").nth(1).wait_for()
    expect(page.locator(".gw-report .hist li")).to_have_count(2)

    page.get_by_role("button", name="Accept", exact=True).click()
    page.locator('.gw-report .out a[data-state="accepted"]').wait_for()
    expect(page.get_by_role("button", name="Edit", exact=True)).to_have_count(0)
    page.reload()
    page.locator('.gw-report .out a[data-state="accepted"]').wait_for()
    page.locator(".gw-report .out a", has_text="Dividends").click()
    page.locator(".gw-report .ins").wait_for()
    # A gap is not offered to be accepted first of all.
    expect(page.get_by_role("button", name="Accept", exact=True)).not_to_contain_class("primary")
    first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Open again").wait_for()

    page.locator(".gw-report .steps button", has_text="2. Dividends").click()
    page.locator(".gw-report .ins").wait_for()
    page.locator(".gw-report .steps button", has_text="1. Findings").click()
    page.get_by_role("button", name="Open again").wait_for()

    page.get_by_role("button", name="Export").click()
    for name, ending in (("Word (DOCX)", "docx"), ("HTML", "html"), ("Evidence annex (PDF)", "pdf")):
        if not page.locator(".gw-panel .item").first.is_visible():
            page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.locator(".gw-panel .item", has_text=name).click()
        assert download.value.suggested_filename.startswith("Survey report")
        assert "Larkfield Ltd" in download.value.suggested_filename
        assert download.value.suggested_filename.endswith(f".{ending}")
        page.locator(".gw-panel .item").first.wait_for(state="hidden")
    page.get_by_role("button", name="More about this report").click()
    page.get_by_role("button", name="Subject, documents, period").click()
    expect(subject).to_have_value("Larkfield Ltd")
    step.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="All reports").click()
    page.locator(".gw-reports .list", has_text="Survey report: Larkfield Ltd").wait_for()
    expect(page.locator(".gw-reports .list li")).to_have_count(begun + 1)  # a double click begins one report
    line = page.locator(".gw-reports .list li", has_text="Survey report")
    expect(line).to_contain_text("all documents", use_inner_text=True)
    expect(line).to_contain_text("1 of 2 filled, 1 not stated, 1 accepted", use_inner_text=True)


@pytest.mark.slow
def test_a_report_beside_its_pages(app: App, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{app.url}/reports?r={filled(app)}")
    with promise("the page beside it is made wider"):
        page.locator(".gw-report .tx a.gw-cite").first.click()
        page.locator(".gw-page img").first.wait_for()
        border = page.get_by_role("separator", name="Width of the page")
        still(page, ".gw-pane")
        before = page.locator(".gw-pane").bounding_box()["width"]
        border.press("ArrowLeft")
        assert page.locator(".gw-pane").bounding_box()["width"] > before + 20
    with promise("words of a page are added"):
        page.locator(".gw-page .gw-text tspan").nth(10).wait_for(state="attached")
        page.evaluate(
            """() => {
              const words = [...document.querySelectorAll(".gw-text tspan")];
              getSelection().setBaseAndExtent(words[3].firstChild, 0, words[9].firstChild, 2);
            }"""
        )
        page.get_by_role("button", name="Add to the section").click()
        page.locator(".gw-report .sh .tag", has_text="by hand").wait_for()
        words = page.locator(".gw-text tspan").all_text_contents()[3:10]
        expect(page.locator(".gw-report .tx")).to_contain_text(
            " ".join(word.strip() for word in words), use_inner_text=True
        )
        page.locator(".gw-evidence .places", has_text="Pinned").wait_for()
    with promise("a passage is unpinned"):
        page.get_by_role("button", name=re.compile("^Pin the passage of citation"), pressed=True).click()
        page.locator(".gw-evidence .places", has_text="Pinned").wait_for(state="detached")
    with promise("a passage is excluded, and taken in again"):
        page.get_by_role("button", name="Exclude the passage of citation 1", exact=True).click()
        page.locator(".gw-evidence .places", has_text="Excluded").wait_for()
        page.get_by_role("button", name="Exclude the passage of citation 1", exact=True, pressed=True).click()
        page.locator(".gw-evidence .places", has_text="Excluded").wait_for(state="detached")
    checked(page)


def checked(page: Any) -> None:
    page.locator(".gw-report .tx a.gw-cite").first.wait_for()
    check_both(page, "a report")
    page.get_by_role("button", name="Change what is asked for").click()
    page.get_by_role("button", name=re.compile("^History")).click()
    page.locator(".hist").wait_for()
    page.get_by_role("button", name="Export").click()
    check_both(page, "its forms")
