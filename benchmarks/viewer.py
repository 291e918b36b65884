"""How fast does the page viewer answer: from a click on a citation to its lit page, while it scrolls, and in a search?

    python -m benchmarks viewer --home HOME [--questions 6] [--frames 240]

``HOME`` is a library that is read and indexed; it is copied first, without its page pictures. The questions are asked
of its longest document by the offline answerer. Then the real app runs in Chromium (1440 × 900), and everything is
measured in the page by its performance clock:

- *lit*: from the click on a chip to the frame in which the cited words are lit on a page whose picture is there; first
  with no picture drawn before, then again when each page has been seen.
- *scrolling*: times between frames while the pages move by 40, 400 and 4,000 pixels a frame, and the thumbnails by 400;
  then from the last frame to the picture of the page in sight.
- *find*: from the last key to the first match lit, for a word that occurs often.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.common import table

QUESTIONS = (
    "What was the total revenue?",
    "What are the principal risks?",
    "How many people are employed?",
    "What was net income?",
    "When does the debt mature?",
    "What is goodwill?",
    "Which taxes were paid?",
    "What are the properties?",
)

# Resolves to milliseconds from the click until the words are lit on a page whose picture is there, and that is painted.
CLICK = """chip => new Promise(done => {
    const n = chip.dataset.n, begun = performance.now();
    chip.click();
    const look = () => {
        const lit = document.querySelector(`.gw-highlight[data-n="${n}"][data-role="cited"]`);
        const picture = lit && lit.closest('.gw-page').querySelector('img.whole');
        if (picture && picture.complete && picture.naturalWidth) done([performance.now() - begun, lit.dataset.page]);
        else if (performance.now() - begun > 20000) done([20000, '']);
        else requestAnimationFrame(look);
    };
    look();
})"""

# Resolves to the times between frames, and milliseconds until the page in sight has its picture.
SCROLL = """([selector, step, frames]) => new Promise(done => {
    const box = document.querySelector(selector), times = [];
    box.scrollTop = 0;
    let last = null;
    const move = (now) => {
        if (last !== null) times.push(now - last);
        last = now;
        box.scrollTop += step;
        if (times.length < frames) requestAnimationFrame(move);
        else rest(performance.now());
    };
    const inSight = () => {
        const desk = box.getBoundingClientRect();
        return [...box.querySelectorAll('.gw-page, .strip > button')].filter(e => {
            const r = e.getBoundingClientRect();
            return r.bottom > desk.top && r.top < desk.bottom;
        });
    };
    const rest = (begun) => {
        const shown = inSight().map(e => e.querySelector('img'));
        if (shown.length && shown.every(i => i.complete && i.naturalWidth)) done([times, performance.now() - begun]);
        else if (performance.now() - begun > 20000) done([times, 20000]);
        else requestAnimationFrame(() => rest(begun));
    };
    requestAnimationFrame(move);
})"""

FIND = """word => new Promise(done => {
    const field = document.querySelector('.gw-find input'), begun = performance.now();
    const bar = document.querySelector('.gw-find .said');
    field.value = word;
    field.dispatchEvent(new Event('input'));
    let old = true;
    const look = () => {
        old = old && !(bar.textContent === '');
        const lit = document.querySelector('.gw-match.on');
        if (!old && lit) done([performance.now() - begun, bar.textContent]);
        else if (performance.now() - begun > 20000) done([20000, '']);
        else requestAnimationFrame(look);
    };
    look();
})"""


def main() -> None:
    from tests.browser.conftest import FLAGS, chromium, serve

    parser = argparse.ArgumentParser(prog="benchmarks viewer", description="How fast the page viewer answers")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=6, choices=range(1, len(QUESTIONS) + 1))
    parser.add_argument("--frames", type=int, default=240)
    given = parser.parse_args()
    if chromium() is None:
        sys.exit("Skipped: Chromium is not installed (Debian: apt-get install chromium), nor named in CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        shutil.copytree(given.home, home, ignore=shutil.ignore_patterns("pages"))
        title, pages, conversations = asked(home, QUESTIONS[: given.questions])
        print(f"{title}, {pages} pages\n")
        from playwright.sync_api import sync_playwright

        with serve(home) as app, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(60_000)
            measure(page, app.url, conversations, given.frames)
            browser.close()


def asked(home: Path, questions: tuple[str, ...]) -> tuple[str, int, list[str]]:
    """Title and length of the longest document, and a conversation about it for each of ``questions``."""
    from ragcore.engine import Engine
    from ragcore.types import Scope

    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        longest = max(engine.documents(), key=lambda info: info.pages)
        conversations = []
        for question in questions:
            conversations.append(engine.new_conversation(Scope((longest.doc_id,))))
            engine.chat(conversations[-1], question).run()
        return longest.title, longest.pages, conversations


def measure(page: Any, url: str, conversations: list[str], frames: int) -> None:
    first, again, seen = [], [], set()
    for conversation in conversations:
        page.goto(f"{url}/?c={conversation}")
        page.locator(".gw-answer a.gw-cite, .gw-msg").first.wait_for()
        page.locator(".gw-page img.whole").first.wait_for()
        page.wait_for_timeout(1500)  # the page beside the answer and its neighbours are drawn by now
        chips = page.locator(".gw-answer a.gw-cite")
        for turn in range(2):
            for i in range(chips.count()):
                drawn = set(page.locator(".gw-page").evaluate_all("all => all.map(e => e.dataset.page)"))
                took, shown = chips.nth(i).evaluate(CLICK)
                if not turn and shown not in seen | drawn:
                    first.append(took)
                elif turn:
                    again.append(took)
                seen |= {shown} | drawn
    print(table([row("page not drawn before", first), row("page drawn before", again)], HEAD))
    print()
    page.keyboard.press("Escape")
    rows, waits = [], []
    for selector, what, step in (
        (".gw-pane .desk", "pages", 40),
        (".gw-pane .desk", "pages", 400),
        (".gw-pane .desk", "pages", 4000),
        (".gw-pane .rail", "thumbnails", 400),
    ):
        times, wait = page.evaluate(SCROLL, [selector, step, frames])
        rows.append([*row(f"{what}, {step} px a frame", times), f"{sum(t > 33 for t in times) / len(times):.1%}"])
        waits.append([f"{what}, {step} px a frame", f"{wait:.0f}"])
    print(table(rows, [*HEAD[:-1], "longest, ms", "over 33 ms"]))
    print()
    print(table(waits, ["stopped after", "pictures in sight after ms"]))
    print()
    page.get_by_role("button", name="Find in document").click()
    rows = []
    for word in ("the company", "net income", "e"):
        took, said = page.evaluate(FIND, word)
        rows.append([f"“{word}”", said, f"{took:.0f}"])
    print(table(rows, ["find", "match", "lit after ms (150 of them waiting for a next key)"]))


HEAD = ["", "n", "median ms", "95% ms", "longest ms"]


def row(name: str, times: list[float]) -> list[str]:
    if not times:
        return [name, "0", "", "", ""]
    high = sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]
    return [name, str(len(times)), f"{statistics.median(times):.0f}", f"{high:.0f}", f"{max(times):.0f}"]


if __name__ == "__main__":
    main()
