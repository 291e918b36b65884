"""How fast the app answers the hand: first paint, a rerun, a click on a citation, opening a long conversation.

    python -m benchmarks web [--messages 1000] [--repeats 7]

The sample document alone, no key; the real app in Chromium (1440 × 900). Everything is measured in the page by its
performance clock, and told with the aim:

- *first paint*: from the request of the first browser after the server has started to its first contentful paint (the
  opening screen), and to what the page is for (the first question can be clicked); then in a browser that was here
  before.
- *rerun*: from a click on a short conversation in the list to the end of the script that it runs.
- *lit*: from a click on a chip to its words lit on a page whose picture is there (`viewer` does it at length).
- *long conversation*: from the click in the list, and from the request of its address, to its last answer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.common import table
from benchmarks.viewer import CLICK, HEAD, row

QUESTION = ".st-key-gw_try_0 button:enabled"
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"

# Resolves to milliseconds from the click on a conversation until Streamlit's script has ended, and until the last
# answer of the conversation is there and painted.
OPEN = """([id, turn]) => new Promise(done => {
    const app = document.querySelector('.stApp'), begun = performance.now();
    let ran = 0, shown = 0;
    const watch = new MutationObserver(() => {
        if (app.dataset.testScriptState !== 'running') ran = performance.now() - begun;
    });
    watch.observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
    document.querySelector(`.gw-history a[data-id="${id}"]`).click();
    const look = () => {
        const now = performance.now();
        const answer = document.querySelector(`.gw-turn[data-turn="${turn}"] .gw-answer`);
        if (answer && answer.getBoundingClientRect().height) shown ||= now - begun;
        if (ran && shown || now - begun > 15000) {
            watch.disconnect();
            done([ran || 15000, shown || 15000]);
        } else requestAnimationFrame(look);
    };
    look();
})"""


def main() -> None:
    from tests.browser.conftest import FLAGS, chromium, serve

    parser = argparse.ArgumentParser(prog="benchmarks web", description="How fast the app answers the hand")
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    if chromium() is None:
        sys.exit("Skipped: Chromium is not installed (Debian: apt-get install chromium), nor named in CHROMIUM.")
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        size = {"width": 1440, "height": 900}
        with serve(Path(folder) / "empty") as app:
            context = browser.new_context(viewport=size)
            context.set_default_timeout(90_000)
            first = painted(context.new_page(), app.url, QUESTION)
            context.pages[0].wait_for_timeout(5000)  # models are loaded in the background
            again = [painted(context.new_page(), app.url, QUESTION) for _ in range(given.repeats)]
            context.close()
        home = Path(folder) / "home"
        conversations, long = filled(home, given.messages)
        with serve(home) as app:
            page = browser.new_page(viewport=size)
            page.set_default_timeout(90_000)
            rows = [
                row("first browser: first paint (aim 1,500)", [first[0]]),
                row("first browser: question can be clicked", [first[1]]),
                row("again: first paint", [paint for paint, _ in again]),
                row("again: question can be clicked", [ready for _, ready in again]),
            ]
            rows += opened(page, app.url, conversations, long, given.repeats)
            rows += lit(page, app.url, conversations[0][0])
        browser.close()
    print(table(rows, HEAD))


def painted(page: Any, url: str, there: str) -> tuple[float, float]:
    """Milliseconds from the request to the first contentful paint, and until ``there`` is."""
    page.goto(url, wait_until="commit")
    page.locator(there).first.wait_for()
    ready = float(page.evaluate("performance.now()"))
    return float(page.evaluate(PAINTED)), ready


def filled(home: Path, messages: int) -> tuple[list[tuple[str, str]], tuple[str, str]]:
    """A library of the sample: two short conversations and one of ``messages``, each with its last turn."""
    from ragcore.engine import Engine
    from ragcore.index.conversations import Conversations
    from ragcore.index.store import Store
    from ui.chat.first_run import QUESTIONS
    from ui.library.samples import NAME, SAMPLE

    short, answers = [], []
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        engine.ingest(engine.add(SAMPLE.read_bytes(), NAME).doc_id)
        engine.index()
        for question in QUESTIONS[:2]:
            conversation = engine.conversations.new()
            run = engine.chat(conversation, question)
            answers.append((question, run.run()))
            short.append((conversation, run.turn_id or ""))
        long = engine.conversations.new()
    store = Store(home)
    kept = Conversations(store.database)
    for number in range(messages // 2):
        question, answer = answers[number % len(answers)]
        turn = kept.add_turn(long, f"{question} ({number + 1})")
        kept.put_answer(turn, replace(answer))
    store.database.close()
    return short, (long, turn)


def opened(page: Any, url: str, short: list[tuple[str, str]], long: tuple[str, str], repeats: int) -> list[list[str]]:
    def click(which: tuple[str, str]) -> tuple[float, float]:
        page.locator(f'.gw-history a[data-id="{which[0]}"]').wait_for()
        ran, shown = page.evaluate(OPEN, list(which))
        page.wait_for_timeout(1000)  # the page beside it is drawn by now
        return ran, shown

    page.goto(f"{url}/?c={short[0][0]}")
    page.locator(".gw-answer a.gw-cite").first.wait_for()
    page.wait_for_timeout(3000)  # models are loaded in the background
    short_runs, long_runs = [], []
    for turn in range(repeats):
        short_runs.append(click(short[(turn + 1) % 2]))
    for _ in range(repeats):
        long_runs.append(click(long))
        click(short[0])
    asked = []
    for _ in range(3):
        page.goto("about:blank")
        asked.append(painted(page, f"{url}/?c={long[0]}", f'.gw-turn[data-turn="{long[1]}"] .gw-answer')[1])
    return [
        row("rerun (aim 100)", [ran for ran, _ in short_runs]),
        row("short conversation: its answer", [shown for _, shown in short_runs]),
        row("long conversation by a click (aim 1,000)", [shown for _, shown in long_runs]),
        row("long conversation by its address", asked),
    ]


def lit(page: Any, url: str, conversation: str) -> list[list[str]]:
    page.goto(f"{url}/?c={conversation}")
    chips = page.locator(".gw-answer a.gw-cite")
    chips.first.wait_for()
    page.locator(".gw-page img.whole").first.wait_for()
    page.wait_for_timeout(1500)
    times = [chips.nth(at).evaluate(CLICK)[0] for _ in range(3) for at in range(chips.count())]
    return [row("chip to lit page, page drawn before (aim 150)", times)]


if __name__ == "__main__":
    main()
