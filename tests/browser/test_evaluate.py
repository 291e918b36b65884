"""Evaluate: from a spreadsheet of questions to two configurations side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.conftest import QUESTION, App, Shelf, promise
from tests.browser.test_axe import check


def test_two_configurations_side_by_side(app: App, shelf: Shelf, open_page: Callable[..., Any], tmp_path: Path) -> None:
    name, answer = next((name, one) for name, one in shelf.answers.items() if one.citations)
    cited = answer.citations[0]
    table = tmp_path / "own questions.csv"
    rows = [
        "id,question,answer,document,page,answerable",
        f'one,"{QUESTION}","{cited.quote.split()[0]}",{name},{cited.page},yes',
        "two,Who won the chess championship of 1987?,,,,no",
    ]
    table.write_text("\n".join(rows))
    page = open_page(f"{app.url}/evaluate")

    with promise("a faulty file is told by its line"):
        page.get_by_role("button", name="New run").click()
        wrong = tmp_path / "wrong.csv"
        wrong.write_text("question,page\nWhy?,zero")
        page.locator("#gw-questions").set_input_files(wrong)
        page.get_by_role("alert").get_by_text("line 2").wait_for()
    with promise("questions are uploaded, and run under the settings in use"):
        page.locator("#gw-questions").set_input_files(table)
        page.get_by_label("Questions", exact=True).get_by_text("own questions").wait_for(state="attached")
        page.get_by_label("Ask each question of its own documents only").check()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("row", name="Evidence first").wait_for(timeout=60_000)
        page.get_by_text("2 questions answered").wait_for(timeout=60_000)
    with promise("axe finds nothing"):
        check(page, "one run")
    with promise("a second configuration stands beside it"):
        page.get_by_role("button", name="New run").click()
        page.get_by_label("Settings", exact=True).select_option("Words alone")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("Questions that differ").wait_for(timeout=60_000)
        page.locator(".busy").wait_for(state="detached", timeout=60_000)
        check(page, "two runs")
    with promise("a question shows both answers, and a citation its lit page"):
        page.get_by_role("button", name="As in the set").click()
        page.get_by_role("button", name=QUESTION).click()
        page.locator(".ans").nth(1).wait_for()
        page.locator(".ans a.gw-cite").first.click()
        page.locator(".gw-highlight").first.wait_for()
        page.get_by_role("button", name="Close page").click()
        page.locator(".gw-highlight").first.wait_for(state="hidden")
    with promise("what is looked at is in the address"):
        page.reload()
        page.locator(".ans").nth(1).wait_for()
        check(page, "a question")
    with promise("a search without answers shows where the evidence is, and the pages that it found"):
        page.get_by_role("button", name="New run").click()
        page.get_by_label("Search only: no answers are written").check()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_label("Run B").locator("option:checked", has_text="search only").wait_for(
            state="attached", timeout=60_000
        )
        page.locator(".busy").wait_for(state="detached", timeout=60_000)
        page.get_by_role("button", name="As in the set").click()
        page.get_by_role("button", name=QUESTION).click()
        page.locator(".found li").first.wait_for()
        check(page, "a search")
