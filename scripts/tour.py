"""Pictures of docs/tour.md and the README, taken of the real app without a key: `python -m scripts.tour [PART]`.

The library holds the sample and reports of invented companies that the tests draw. Each page is taken in both themes at
1280 × 800, as a PNG of 256 colours; the moving picture shows one question from asking to the lit page.
"""

from __future__ import annotations

import argparse
import io
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import sync_playwright

from ragcore.accounts.accounts import Accounts, Device
from ragcore.accounts.libraries import Grants
from ragcore.cancel import Stop
from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet, Evidence
from ragcore.evaluate.runs import Configuration
from ragcore.grid.columns import given_columns
from ragcore.report.template import load_template
from ragcore.types import Scope
from tests.browser.conftest import FLAGS, ROOT, App, chromium, serve
from tests.browser.test_libraries import GOOD, signed_in
from tests.report.filings import filings
from tests.report.filings_unseen import filings_unseen
from tests.report.truths import companies, unseen
from ui.chat.first_run import QUESTIONS
from ui.library.samples import DRAFT, DRAFT_NAME, NAME, SAMPLE

DOCS = ROOT / "docs" / "tour"
SIZE = {"width": 1280, "height": 800}
MOST_BYTES = 150_000
FILM = (960, 600)
MOST_FILM_BYTES = 1_500_000
OVERVIEW = "What are the main themes of this report?"
JOINED = "Who leads the company that bought Calibra Nord, and where is its FS-40 assembled?"
# Questions with the page of the sample on which their answer stands, counted from its cover; 0 if it has none.
KNOWN = (
    *zip(QUESTIONS, (2, 5, 5)),
    ("Who is the chief executive?", 2),
    ("How many people work in Leuven?", 3),
    ("What was the operating margin of Laboratory Balances?", 4),
    ("How much was spent on research and development?", 4),
    ("What was capital expenditure?", 5),
    ("Where are sensors assembled?", 3),
    ("What did Larkfield pay for its patents?", 0),
    ("When was Larkfield founded?", 0),
)
COLUMNS = (
    {
        "name": "Revenue",
        "question": "Total net revenue of the last fiscal year",
        "type": "value",
        "unit": "USD million",
    },
    {"name": "Net income", "question": "Net income of the last fiscal year", "type": "value", "unit": "USD million"},
    {"name": "Employees", "question": "Number of employees", "type": "value"},
    {"name": "Year end", "question": "Last day of the fiscal year", "type": "date"},
    {"name": "Auditor", "question": "Which firm audits the financial statements?", "type": "name"},
    {"name": "Dividend", "question": "Does the company pay a dividend?", "type": "yes_no"},
)
PRIYA, MARA, JONAS = "priya@fernhill.example", "mara@fernhill.example", "jonas@fernhill.example"
PEOPLE = {PRIYA: "Priya Nair", MARA: "Mara Okell", JONAS: "Jonas Thiel"}
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/138.0.0.0 Safari/537.36"
DEVICE = Device("10.0.0.12", AGENT)
FILMED = "What was net cash from operations in 2025 and 2024?"


def shoot(page: Any, name: str) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(800)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = DOCS / f"{name}.png"
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)} {size / 1000:.0f} kB")
    assert size <= MOST_BYTES, f"{path.name} is larger than {MOST_BYTES:,} bytes"


@dataclass(frozen=True)
class Shown:
    """Ids of what is shown: conversations, a checked draft, a grid, a report, two runs of one set and a case of it."""

    conversation: str
    overview: str
    check: str
    grid: str
    report: str
    runs: tuple[str, str]
    case: str


def prepared(home: Path) -> Shown:
    """A library with conversations, a filled report and an evaluation."""
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        sample = engine.add(SAMPLE.read_bytes(), NAME).doc_id
        engine.ingest(sample)
        filed = []
        for truth in (*filings(), *filings_unseen()):
            doc_id = engine.add(truth.pdf, truth.name).doc_id
            filed.append(doc_id)
            engine.ingest(doc_id)
            engine.shelf.put([doc_id], "Filings")
            engine.shelf.tag([doc_id], add=["10-K" if truth.values.get("Revenue") else "10-Q"])
        for truth in (*companies(), *unseen()):
            engine.ingest(engine.add(truth.pdf, truth.name).doc_id)
        engine.index()
        scope = Scope((sample,))
        conversation = engine.conversations.new(scope)
        for question in QUESTIONS:
            engine.chat(conversation, question).run()
        check = engine.checks.run(engine.checks.add(DRAFT_NAME, DRAFT.read_bytes(), scope).check_id).check_id
        grid = engine.grids.add("Filings", given_columns(COLUMNS), Scope(tuple(filed))).grid_id
        engine.grids.run(grid)
        workspace = engine.reports
        report = workspace.new(load_template("company-profile"), doc_ids=[sample])
        workspace.queue(report)
        for task in workspace.store.tasks():
            workspace.write(task, lambda _: None, Stop())
        themes = engine.conversations.new(scope)
        engine.chat(themes, OVERVIEW).run()
        cases = tuple(
            Case(str(n), question, evidence=(Evidence(NAME, page),) if page else (), answerable=page > 0)
            for n, (question, page) in enumerate(KNOWN, start=1)
        )
        known = engine.evaluation.put(CaseSet("Larkfield", cases)).set_id
        first, second = (
            engine.evaluation.run(known, Configuration.parsed(one)).info.run_id
            for one in ("retrieve.mode=bm25", "default")
        )
        return Shown(conversation, themes, check, grid, report, (first, second), cases[0].case_id)


def film(page: Any, url: str, conversation: str) -> None:
    """The moving picture: a question, its answer, a click, the page."""
    frames: list[tuple[Image.Image, int]] = []

    def take(milliseconds: int) -> None:
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize(FILM, Image.Resampling.LANCZOS)
        frames.append((picture.quantize(128, dither=Image.Dither.NONE), milliseconds))

    page.goto(f"{url}/?c={conversation}")
    page.locator(".gw-answer a.gw-cite").nth(2).wait_for()
    page.wait_for_timeout(1500)
    take(900)
    field = page.get_by_label("Ask your documents")
    for part in range(12, len(FILMED) + 12, 12):
        field.fill(FILMED[:part])
        take(120)
    take(500)
    answers = page.locator(".gw-answer").count()
    field.press("Enter")
    page.locator(".gw-answer").nth(answers).locator("a.gw-cite").first.wait_for()
    page.wait_for_timeout(1200)
    take(1800)
    chip = page.locator(".gw-answer").nth(answers).locator("a.gw-cite").first
    chip.hover()
    page.wait_for_timeout(400)
    take(1200)
    chip.click()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    page.mouse.move(5, 500)
    page.wait_for_timeout(900)
    take(3500)
    first, *rest = (picture for picture, _ in frames)
    path = DOCS / "groundwork.gif"
    first.save(path, save_all=True, append_images=rest, duration=[time for _, time in frames], loop=0, optimize=True)
    print(f"{path.relative_to(ROOT)} {path.stat().st_size / 1000:.0f} kB")
    assert path.stat().st_size <= MOST_FILM_BYTES


def tour(page: Any, url: str, shown: Shown, theme: str) -> None:
    page.goto(f"{url}/?c={shown.conversation}")
    page.locator(".gw-answer a.gw-cite").nth(2).wait_for()
    page.locator(".gw-page img.whole").first.wait_for()
    shoot(page, f"chat-{theme}")
    chip = page.locator(".gw-answer a.gw-cite").last
    chip.click()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    page.mouse.move(5, 500)
    chip.hover()
    page.locator(".gw-card").wait_for()
    shoot(page, f"citation-{theme}")
    page.goto(f"{url}/?c={shown.overview}")
    page.locator(".gw-answer a.gw-cite").nth(2).wait_for()
    page.keyboard.press("Home")
    shoot(page, f"overview-{theme}")
    page.goto(f"{url}/library")
    name = page.get_by_role("link", name="Larkfield")
    name.wait_for()
    shoot(page, f"library-{theme}")
    name.click()
    page.locator(".gw-doc .contents .hd").first.wait_for()
    shoot(page, f"document-{theme}")
    page.goto(f"{url}/library")
    page.get_by_role("button", name="Outline").click()
    page.get_by_role("tree", name="Outline of the library").wait_for()
    shoot(page, f"outline-{theme}")
    page.get_by_role("button", name="Outline").click()
    page.goto(f"{url}/check?d={shown.check}")
    page.locator(".gw-check .ccard").wait_for()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    shoot(page, f"check-{theme}")
    page.goto(f"{url}/reports?r={shown.report}")
    page.locator(".gw-report .out a", has_text="Risks").click()
    page.locator(".gw-report .tx a.gw-cite").first.click()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    page.mouse.move(5, 500)
    shoot(page, f"reports-{theme}")
    page.goto(f"{url}/grid?g={shown.grid}")
    page.locator(".gw-grid .ln .ce", has=page.locator(".v.ok")).first.click()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    page.mouse.move(5, 700)
    shoot(page, f"grid-{theme}")
    page.goto(f"{url}/explore?q={quote(QUESTIONS[0])}")
    page.locator(".gw-explore .chart.js-plotly-plot .scatterlayer .point").first.wait_for()
    page.locator(".gw-explore .pas h2").wait_for()
    shoot(page, f"explore-{theme}")
    page.goto(f"{url}/explore?q={quote(JOINED)}&a=retrieve.mode:graph&show=connections")
    page.locator(".gw-explore .web .node").nth(5).wait_for()
    page.locator(".gw-explore .pas h2").wait_for()
    shoot(page, f"connections-{theme}")
    page.goto(f"{url}/evaluate?a={shown.runs[0]}&b={shown.runs[1]}&case={shown.case}")
    page.locator(".ans a.gw-cite").nth(1).wait_for()
    shoot(page, f"evaluate-{theme}")
    page.goto(f"{url}/settings")
    page.locator(".gw-settings .opt").first.wait_for()
    shoot(page, f"settings-{theme}")


def shared(home: Path) -> str:
    """A home folder of three people, with a library that one of them manages; a conversation in it that is hers."""
    home.mkdir()
    accounts = Accounts(home)
    for email, name in PEOPLE.items():
        accounts.accept(accounts.invite(email, "tour", admin=email == PRIYA), "", name, GOOD, DEVICE)
    grants = Grants(accounts)
    grants.begin(lambda _: None)
    grants.create("Contracts", JONAS, "tour")
    grants.create("Own papers", MARA, "tour")
    library = grants.create("Annual reports", MARA, "tour")
    grants.grant(library, JONAS, "contributor", "tour")
    (owner,) = (user.user_id for user in accounts.users() if user.email == MARA)
    with Engine.open(grants.home(library), overrides={"llm.model": "offline"}) as engine:
        sample = engine.add(SAMPLE.read_bytes(), NAME).doc_id
        engine.ingest_and_index(sample)
        hers = engine.of(owner)
        conversation = hers.conversations.new(Scope((sample,)))
        hers.chat(conversation, QUESTIONS[0]).run()
    accounts.close()
    return f"l={library}&c={conversation}"


def team_tour(context: Any, app: App, conversation: str, theme: str) -> None:
    page, url = context.new_page(), app.url
    page.goto(url)
    page.get_by_label("Email").fill(MARA)
    shoot(page, f"sign-in-{theme}")
    signed_in(app, context, JONAS, DEVICE)
    page.goto(f"{url}/?{conversation}")
    page.get_by_text("This conversation isn’t in the library.").wait_for()
    shoot(page, f"refused-{theme}")
    signed_in(app, context, MARA, DEVICE)
    page.goto(f"{url}/?{conversation}")
    page.locator(".gw-answer a.gw-cite").first.wait_for()
    page.locator(".gw-page img.whole").first.wait_for()
    page.get_by_role("button", name=re.compile("switch library")).click()
    page.locator(".gw-switcher").get_by_role("link", name="Own papers").wait_for()
    shoot(page, f"switcher-{theme}")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More about this conversation").click()
    page.get_by_role("button", name="Share").wait_for()
    shoot(page, f"sharing-{theme}")
    page.goto(f"{url}/settings?{conversation.partition('&')[0]}#gw-members")
    page.get_by_label("Role of Jonas Thiel").scroll_into_view_if_needed()
    shoot(page, f"members-{theme}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=("pages", "team"), help="pages of the app, or its use by a team")
    part = parser.parse_args().part
    DOCS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)

        def contexts() -> Iterator[tuple[str, Any]]:
            for theme in ("light", "dark"):
                context = browser.new_context(viewport=SIZE, color_scheme=theme, reduced_motion="reduce")
                context.set_default_timeout(90_000)
                yield theme, context
                context.close()

        if part != "team":
            home = Path(folder) / "home"
            shown = prepared(home)
            with serve(home) as app:
                for theme, context in contexts():
                    tour(context.new_page(), app.url, shown, theme)
                    if theme == "light":
                        film(context.new_page(), app.url, shown.conversation)
        if part != "pages":
            home = Path(folder) / "team"
            conversation = shared(home)
            with serve(home, GROUNDWORK_AUTH__MODE="local") as app:
                for theme, context in contexts():
                    team_tour(context, app, conversation, theme)
        browser.close()


if __name__ == "__main__":
    main()
