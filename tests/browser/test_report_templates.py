"""Templates in the browser: files of three kinds, good and bad, and one made by hand, which is kept as a file."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import App, promise

TABLE = {"heading": "Sales", "kind": "table", "guidance": "Sales by region.", "columns": ["Region", "2023"]}
GOOD = {"title": "From JSON", "sections": [{"heading": "Group", "sections": [TABLE]}]}
OUTLINE = "# From Markdown\n\n## Group\n\n### Sales {optional}\n\nSales by region.\n\n| Region | 2023 |\n|---|---|\n"


def word(title: str, *, headings: bool = True) -> bytes:
    """A Word document with a heading, instructions and a table to be filled in; or only plain paragraphs."""
    made = docx.Document()
    if headings:
        made.add_heading(title, 0)
        made.add_heading("Group", 1)
        made.add_heading("Sales", 2)
    made.add_paragraph("Sales by region.")
    table = made.add_table(rows=2, cols=2)
    for cell, words in zip(table.rows[0].cells, ("Region", "2023")):
        cell.text = words
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def upload(page: Any, name: str, data: bytes) -> None:
    page.locator("#gw-template").set_input_files({"name": name, "mimeType": "", "buffer": data})


FILES = {
    "good.json": json.dumps(GOOD).encode(),
    "good.md": OUTLINE.encode(),
    "good.docx": word("From Word"),
}


BAD = {
    "broken.json": (b'{"title": "x",\n "sections": [}', "broken.json is not JSON", "line 2, column 15"),
    "lacking.json": (
        json.dumps({"title": "x", "sections": [{"heading": "Group", "sections": [{**TABLE, "columns": []}]}]}).encode(),
        'lacking.json, section 1 “Group”, section 1 “Sales”: a table needs its "columns"',
        "",
    ),
    "key.json": (
        json.dumps({"title": "x", "sections": [{"heading": "Sales", "guidence": "x"}]}).encode(),
        "key.json, section 1 “Sales”",
        "guidence",
    ),
    "plain.md": (b"Only words, and no heading.", "plain.md", "Begin each section with a heading"),
    "bare.docx": (word("", headings=False), "bare.docx", "Heading 1"),
    "torn.docx": (word("Torn")[:2000], "torn.docx can't be opened as a Word document", "Save it as .docx."),
    "picture.png": (b"\x89PNG\r\n\x1a\n\xff\xfe", "picture.png is neither UTF-8 text nor a Word document", ""),
}


@pytest.mark.slow
def test_files_become_outlines_or_are_told_with_the_place_of_their_mistake(
    app: App, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{app.url}/reports")
    page.locator(".gw-reports .card").nth(4).wait_for()
    told = page.locator(".gw-reports > .gw-msg.bad")
    for name, (data, *said) in BAD.items():
        upload(page, name, data)
        told.get_by_text(name).first.wait_for()
        for words in said:
            assert words in told.inner_text(), name
    for name, data in FILES.items():  # after all of them the page still takes good ones
        with promise(f"{name} becomes an outline"):
            upload(page, name, data)
            page.locator(".gw-report .out a", has_text="1.1. Sales").click()
            expect(page.locator('.gw-report .out a[data-state="heading"]')).to_have_text(
                "1. Group", use_inner_text=True
            )
            form = page.locator(".gw-report .gd .form")
            expect(form).to_have_text(re.compile(r"^Table, Region \| 2023"), use_inner_text=True)
            expect(page.locator(".gw-report .gd")).to_contain_text("Sales by region.", use_inner_text=True)
            assert f"from {name}" in page.locator(".gw-report .rh .from").text_content()
        page.get_by_role("button", name="All reports").click()
        page.locator(".gw-reports .card").nth(4).wait_for()


@pytest.mark.slow
def test_a_template_is_made_by_hand_and_kept(app: App, open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page(f"{app.url}/reports")
    page.locator(".gw-reports .card", has_text="Blank").click()
    report = page.locator(".gw-report")
    report.locator(".out a", has_text="1. First section").wait_for()

    page.get_by_role("button", name="More about this report").click()
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Title").fill("By hand")
    page.get_by_label("Title").press("Enter")
    report.locator("h1", has_text="By hand").wait_for()
    page.get_by_role("button", name="More about this report").click()
    page.get_by_role("button", name="Guidance for all sections").click()
    field = page.get_by_label("Guidance for all sections")
    field.fill("Amounts as reported.\nIn millions.")
    field.press("ArrowUp")
    page.get_by_role("button", name="Keep", exact=True).click()
    field.wait_for(state="hidden")

    def ask_for(heading: str, guidance: str, kind: str = "", columns: str = "", refused: str = "") -> None:
        page.get_by_role("button", name="Change what is asked for").click()
        form = page.get_by_role("group", name="What to write")
        form.get_by_label("Heading").fill(heading)
        form.get_by_label("Guidance").fill(guidance)
        if kind:
            form.get_by_label("Form").select_option(kind)
        if refused:
            page.get_by_role("button", name="Keep", exact=True).click()
            page.locator(".gw-report .ed > .gw-msg.bad", has_text=refused).wait_for()
        if columns:
            form.get_by_label("Columns").fill(columns)
        if heading == "Findings":
            for box in form.locator(".sources input").all()[1:]:
                box.uncheck()
        page.get_by_role("button", name="Keep", exact=True).click()
        form.wait_for(state="detached")

    ask_for("Findings", "State the highest nitrate reading.")
    page.get_by_role("button", name="Add below it").click()
    page.get_by_label("Heading of the new section").fill("Readings")
    page.get_by_label("Heading of the new section").press("Enter")
    report.locator(".out a[aria-current]", has_text="1.1. Readings").wait_for()
    ask_for("Readings", "The readings by well.", "table", "Well | Reading", refused='a table needs its "columns"')
    page.get_by_role("button", name="Add section").click()
    page.get_by_label("Heading of the new section").fill("Dividends")
    page.get_by_label("Heading of the new section").press("Enter")
    report.locator(".out a", has_text="1.2. Dividends").wait_for()

    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.locator(".gw-panel .item", has_text="Template (JSON)").click()
    assert download.value.suggested_filename == "By hand, template.json"
    download.value.save_as(tmp_path / "kept.json")
    kept = json.loads((tmp_path / "kept.json").read_text("utf-8"))
    assert (kept["title"], kept["guidance"]) == ("By hand", "Amounts as reported.\nIn millions.")
    (findings,) = kept["sections"]
    assert findings["documents"] == ["survey.pdf"]
    assert findings["sections"] == [
        {
            "heading": "Readings",
            "guidance": "The readings by well.",
            "kind": "table",
            "columns": ["Well", "Reading"],
        },
        {"heading": "Dividends"},
    ]
    page.get_by_role("button", name="All reports").click()
    page.locator(".gw-reports .card").nth(4).wait_for()
    upload(page, "kept.json", (tmp_path / "kept.json").read_bytes())
    report.locator(".out a", has_text="1.1. Readings").wait_for()
