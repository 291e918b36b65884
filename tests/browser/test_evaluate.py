"""Evaluate: from a spreadsheet of questions to two configurations side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet
from ragcore.evaluate.runs import Configuration
from tests.browser.conftest import QUESTION, App, Shelf, promise
from tests.browser.test_axe import check
from tests.messages_server import MessagesServer


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
    with promise("both are judged without a key, under the judge's name; Claude needs one"):
        page.get_by_role("button", name="Judge", exact=True).click()
        page.get_by_text("Needs a key for Claude").wait_for()
        assert page.get_by_role("button", name="By Claude").is_disabled()
        check(page, "the form")
        page.get_by_role("button", name="By the support score").click()
        page.get_by_role("heading", name="RAGChecker, judged by the support score").wait_for(timeout=60_000)
        check(page, "judged runs")
    with promise("a question shows both answers, and a citation its lit page"):
        page.get_by_role("button", name="As in the set").click()
        page.get_by_role("button", name=QUESTION).click()
        page.locator(".ans").nth(1).wait_for()
        page.locator(".ans a.gw-cite").first.click()
        page.locator(".gw-highlight").first.wait_for()
        page.get_by_role("button", name="Close page").click()
        page.locator(".gw-highlight").first.wait_for(state="hidden")
    with promise("and its claims with their verdicts in words"):
        page.locator(".jd summary").first.click()
        claims = page.get_by_role("table", name="Claims of the reference").first
        claims.get_by_role("row").nth(1).get_by_text("Entailed").or_(claims.get_by_text("Not stated")).first.wait_for()
    with promise("what is looked at is in the address"):
        page.reload()
        page.locator(".ans").nth(1).wait_for()
        page.locator(".jd summary").first.click()
        check(page, "a question")


def test_claude_judges_a_run_after_its_cost_is_shown(
    claude: tuple[App, MessagesServer], open_page: Callable[..., Any]
) -> None:
    app, server = claude
    asked = CaseSet("judged", tuple(Case(str(n), QUESTION, "The highest nitrate reading was 12.") for n in range(3)))
    with Engine.open(app.home, overrides={"llm.model": "offline"}) as engine:
        run = engine.evaluation.run(engine.evaluation.put(asked).set_id, Configuration.parsed("default")).info.run_id
    page = open_page(f"{app.url}/evaluate?a={run}")

    with promise("the cost is shown before anything is sent"):
        page.get_by_role("button", name="Judge", exact=True).click()
        start = page.get_by_role("button", name="for about $")
        start.wait_for()
        page.get_by_text("It stops before it costs more than $").wait_for()
        before = len(server.forms)
    with promise("then Claude judges in the background, under its name"):
        start.click()
        page.get_by_role("heading", name="RAGChecker, judged by Claude Sonnet 4.6").wait_for()
        page.locator(".busy").wait_for(state="detached")
        assert len(server.forms) > before
    with promise("what is judged costs nothing more"):
        page.get_by_role("button", name="Judge", exact=True).click()
        page.get_by_text("has judged every answer").wait_for()
        page.get_by_role("button", name="Cancel").last.click()
