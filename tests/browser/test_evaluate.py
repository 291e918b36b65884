"""Evaluate: from a spreadsheet of questions to two configurations side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet, read_cases
from ragcore.evaluate.runs import Configuration
from ragcore.types.library import Feedback
from tests.browser.conftest import QUESTION, App, Shelf, promise
from tests.browser.test_axe import check
from tests.messages_server import MessagesServer


@pytest.mark.slow
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
        expect(page.get_by_role("button", name="By Claude")).to_be_disabled()
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
    with promise("the comparison is taken along as one page that loads nothing"):
        with page.expect_download() as download:
            page.get_by_role("button", name="Page", exact=True).click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        tab = page.context.new_page()
        tab.goto("about:blank")
        tab.set_content(file.read_text("utf-8"))
        tab.get_by_role("heading", name="Questions that differ").wait_for()
        tab.get_by_text("Settings in use, in its documents").wait_for()
        tab.close()
    with promise("what is looked at is in the address"):
        page.reload()
        page.locator(".ans").nth(1).wait_for()
        page.locator(".jd summary").first.click()
        check(page, "a question")
    with promise("a search without answers shows where the evidence is, and the pages that it found"):
        page.get_by_role("button", name="New run").click()
        page.get_by_label("Search only: no answers are written").check()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_label("Run A").locator("option:checked", has_text="search only").wait_for(
            state="attached", timeout=60_000
        )
        page.locator(".busy").wait_for(state="detached", timeout=60_000)
        page.get_by_role("button", name="As in the set").click()
        page.get_by_role("button", name=QUESTION).click()
        page.locator(".found li").first.wait_for()
        check(page, "a search")


@pytest.mark.slow
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


@pytest.mark.slow
def test_an_answer_becomes_a_test_question(
    app: App, shelf: Shelf, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    page = open_page(f"{app.url}/?c={shelf.conversations['survey.pdf']}")
    more = page.get_by_role("button", name="More", exact=True)
    form = page.get_by_role("form", name="Test question")

    def keep() -> None:
        more.click()
        page.get_by_role("button", name="Keep as test question").click()
        form.get_by_role("button", name="Cancel").wait_for()

    with promise("the form has the answer without its numbers, and its citations"):
        keep()
        check(page, "the form of a test question")
        expect(form.get_by_label("Question", exact=True)).to_have_value(QUESTION)
        assert "61.4" in form.get_by_label("Answer to expect").input_value()
        assert "[1]" not in form.get_by_label("Answer to expect").input_value()
        expect(form.get_by_role("group", name="Evidence").get_by_role("checkbox").first).to_be_checked()
    with promise("Escape leaves it, and the focus goes back"):
        page.keyboard.press("Escape")
        form.wait_for(state="hidden")
        assert more.evaluate("button => button === document.activeElement")
    with promise("one click keeps it as it is; kept again, it is changed"):
        keep()
        form.get_by_role("button", name="Keep", exact=True).click()
        page.get_by_text("Kept in").wait_for()
        keep()
        form.get_by_label("Answer to expect").fill("61.4 mg/l")
        form.get_by_role("button", name="Save").click()
        page.get_by_text("Kept in").wait_for()
    with promise("it is listed on the page Evaluate, and can be changed there"):
        form.get_by_role("link", name="My questions").click()
        mine = page.get_by_role("list", name="My questions").get_by_role("listitem")
        mine.get_by_text("61.4 mg/l").wait_for()
        expect(mine).to_have_count(1)
        mine.get_by_role("button", name="Change").click()
        form.get_by_label("Question", exact=True).fill("What was the highest reading of nitrate?")
        check(page, "my questions")
        form.get_by_role("button", name="Save").click()
        mine.get_by_text("What was the highest reading of nitrate?").wait_for()
    with promise("it is run as it was asked"):
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("form", name="New run").get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("1 question answered").wait_for()
        page.get_by_role("button", name="What was the highest reading of nitrate?").click()
        page.locator(".ans").get_by_text("61.4").first.wait_for()
    with promise("the set is taken along in both forms, and removed"):
        page.get_by_role("button", name="My questions").click()
        for form_name in ("JSONL", "CSV"):
            with page.expect_download() as download:
                page.locator(".mine").get_by_role("button", name=form_name).click()
            file = tmp_path / download.value.suggested_filename
            download.value.save_as(file)
            assert [case.answer for case in read_cases(file).cases] == ["61.4 mg/l"]
        mine.get_by_role("button", name="Remove").click()
        mine.get_by_role("button", name="Remove").click()
        page.get_by_text("None yet.").wait_for()
    with promise("an answer with a thumb is offered: what was wrong is to be written, or it is passed over"):
        with Engine.open(app.home) as engine:
            engine.feedback.put(shelf.turns["survey.pdf"], Feedback(helpful=False, reason="wrong"))
            engine.feedback.put(shelf.turns["table.pdf"], Feedback(helpful=True))
        page.reload()
        offered = page.get_by_role("list", name="From your conversations").get_by_role("listitem")
        offered.nth(1).wait_for()
        offered.nth(1).get_by_role("button", name="Not this one").click()
        offered.nth(1).wait_for(state="hidden")
        offered.get_by_role("button", name="Keep").click()
        expect(form.get_by_label("Answer to expect")).to_have_value("")
        form.get_by_label("Answer to expect").fill("61.4")
        check(page, "a candidate")
        form.get_by_role("button", name="Keep", exact=True).click()
        mine.get_by_text("61.4").wait_for()
        expect(offered).to_have_count(0)
