"""How fast does the page viewer answer: from a click on a citation to its lit page, while it scrolls, and in a search?

    python -m benchmarks viewer --pages 1000 [--home HOME] [--questions 24] [--frames 240]
    python -m benchmarks viewer --home HOME

``--pages`` makes a document of so many pages first (`benchmarks.long_document`), in the library ``HOME`` where that is
given and not there yet, which keeps it for the next time. ``--home`` alone takes a library that is read and indexed.
Either is copied, without its page pictures. Questions are asked of its longest document by the offline answerer, in
one conversation. Then the real app runs in Chromium (1440 × 900), and everything is measured in the page by its
performance clock:

- *lit*: from the click on a chip to the frame in which the cited words are lit and in sight, on a page whose picture is
  there: of pages that no picture was drawn of before and that another answer cites than the open one, with the page at
  rest and straight after another click; of further pages of the open answer, which the page viewer fetches ahead of the
  click, half a second later; and of pages that have been seen.
- *scrolling*: times between frames while the pages move by 40, 400 and 4,000 pixels a frame, and the thumbnails by 400;
  then from the last frame to the picture of the page in sight.
- *find*: from the last key to the first match lit, for a word that occurs often.
- *memory*: of the tab (its whole process, and the JavaScript in it) and elements of the page, before and after.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
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
WORDS = ("the company", "net income", "e")
WORDS_MADE = ("megawatt hours", "the lease", "e")
REST = 1500  # ms after which the page is at rest: its neighbours and thumbnails are drawn
NEXT = 500  # ms before one clicks on the next citation of an answer

# Resolves to milliseconds from the click until the words are lit and in sight on a page whose picture is there, and
# that is painted; and which page that is.
CLICK = """chip => new Promise(done => {
    const n = chip.dataset.n, begun = performance.now();
    chip.click();
    const desk = document.querySelector('.gw-pane .desk').getBoundingClientRect();
    const look = () => {
        const inSight = (e) => {
            const r = e.getBoundingClientRect();
            return r.bottom > desk.top && r.top < desk.bottom;
        };
        const all = [...document.querySelectorAll(`.gw-highlight[data-n="${n}"][data-role="cited"]`)];
        const lit = chip.matches('[aria-current]') && all.find(inSight);
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
    parser.add_argument("--home", type=Path)
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--questions", type=int, default=24)
    parser.add_argument("--frames", type=int, default=240)
    given = parser.parse_args()
    if given.home is None and not given.pages:
        parser.error("give --pages or --home")
    if chromium() is None:
        sys.exit("Skipped: Chromium is not installed (Debian: apt-get install chromium), nor named in CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        made = given.home or Path(folder) / "made"
        if given.pages and not made.exists():
            make(made, given.pages)
        shutil.copytree(made, home, ignore=shutil.ignore_patterns("pages"))
        library = asked(home, given.questions)
        print(f"{library.title}, {library.pages} pages\n")
        from playwright.sync_api import sync_playwright

        with serve(home) as app, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(60_000)
            measured = Measured()
            measured.open(page, f"{app.url}/?c={library.conversation}")
            measured.click_all(page)
            print(table(measured.lit(), HEAD))
            print()
            measured.scroll(page, given.frames)
            print(table(measured.frames, [*HEAD, "over 33 ms"]))
            print()
            print(table(measured.waits, ["stopped after", "pictures in sight after ms"]))
            print()
            measured.find(page, library.words)
            print(table(measured.found, ["find", "match", "lit after ms (150 of them waiting for a next key)"]))
            print()
            print(table(measured.memory, ["", "tab MiB", "JavaScript MiB", "elements"]))
            browser.close()


@dataclass(frozen=True)
class Library:
    """What is measured: the longest document of a library, a conversation about it, and words to find in it."""

    title: str
    pages: int
    conversation: str
    words: tuple[str, ...]


def make(home: Path, pages: int) -> None:
    """A library with a document of our own making."""
    from benchmarks import long_document
    from ragcore.engine import Engine

    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        long_document.put(engine, pages)


def asked(home: Path, count: int) -> Library:
    """Ask ``count`` questions of the longest document, in a new conversation."""
    from benchmarks import long_document
    from ragcore.engine import Engine
    from ragcore.types import Scope

    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        longest = max(engine.documents(), key=lambda info: info.pages)
        if longest.title == long_document.TITLE:
            # Sites far apart, none of them on a scan, which is there without words.
            places = [1 + i * longest.pages // count for i in range(count)]
            questions = [long_document.question(page) for page in places if not long_document.scanned(page)]
        else:
            questions = list(QUESTIONS[:count])
        conversation = engine.conversations.new(Scope((longest.doc_id,)))
        for question in questions:
            engine.chat(conversation, question).run()
        words = WORDS_MADE if longest.title == long_document.TITLE else WORDS
        return Library(longest.title, longest.pages, conversation, words)


@dataclass
class Measured:
    """Rows of the tables."""

    rested: list[float] = field(default_factory=list)
    hurried: list[float] = field(default_factory=list)
    ahead: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    frames: list[list[str]] = field(default_factory=list)
    waits: list[list[str]] = field(default_factory=list)
    found: list[list[str]] = field(default_factory=list)
    memory: list[list[str]] = field(default_factory=list)

    def open(self, page: Any, address: str) -> None:
        page.goto(address)
        page.locator(".gw-answer a.gw-cite, .gw-msg").first.wait_for()
        page.locator(".gw-page img.whole").first.wait_for()
        page.wait_for_timeout(2 * REST)
        self.remember(page, "opened")

    def click_all(self, page: Any) -> None:
        """All citations, those of the newest answer first, which is the open one; each second answer is left at rest
        before. Then all again."""
        chips = page.locator(".gw-answer a.gw-cite")
        turns = chips.evaluate_all("all => all.map(chip => chip.dataset.turn)")
        order = sorted(range(len(turns)), key=lambda i: (turns[i] != turns[-1], i))
        seen, open_turn, rest = shown(page), turns[-1], True
        for i in order:
            other, open_turn = turns[i] != open_turn, turns[i]
            if other:
                rest = not rest
            page.wait_for_timeout(NEXT if not other else REST if rest else 0)
            took, lit = chips.nth(i).evaluate(CLICK)
            if lit not in seen:
                (self.ahead if not other else self.rested if rest else self.hurried).append(took)
            seen |= {lit} | shown(page)
        for i in order:
            self.again.append(chips.nth(i).evaluate(CLICK)[0])
        self.remember(page, f"{2 * len(order)} citations opened")

    def lit(self) -> list[list[str]]:
        return [
            row("another answer's page, never drawn, at rest", self.rested),
            row("the same, straight after a click", self.hurried),
            row("the open answer's other pages", self.ahead),
            row("seen before", self.again),
        ]

    def scroll(self, page: Any, frames: int) -> None:
        page.keyboard.press("Escape")
        for selector, what, step in (
            (".gw-pane .desk", "pages", 40),
            (".gw-pane .desk", "pages", 400),
            (".gw-pane .desk", "pages", 4000),
            (".gw-pane .rail", "thumbnails", 400),
        ):
            times, wait = page.evaluate(SCROLL, [selector, step, frames])
            name = f"{what}, {step} px a frame"
            self.frames.append([*row(name, times), f"{sum(t > 33 for t in times) / len(times):.1%}"])
            self.waits.append([name, f"{wait:.0f}"])
        self.remember(page, "scrolled through")

    def find(self, page: Any, words: tuple[str, ...]) -> None:
        page.get_by_role("button", name="Find in document").click()
        for word in words:
            took, said = page.evaluate(FIND, word)
            self.found.append([f"“{word}”", said, f"{took:.0f}"])
        self.remember(page, "searched")

    def remember(self, page: Any, when: str) -> None:
        """Memory as it is after a collection, without what the page's pictures take in Chromium's other processes."""
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        session.send("Performance.enable")
        heap = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}["JSHeapUsedSize"]
        session.detach()
        whole = page.context.browser.new_browser_cdp_session()
        processes = whole.send("SystemInfo.getProcessInfo")["processInfo"]
        whole.detach()
        tab = max((resident(item["id"]) for item in processes if item["type"] == "renderer"), default=0.0)
        elements = page.evaluate("document.querySelectorAll('*').length")
        self.memory.append([when, f"{tab:.0f}" if tab else "", f"{heap / 2**20:.0f}", f"{elements:,}"])


def shown(page: Any) -> set[str]:
    """Numbers of the pages that have been drawn and are still there."""
    return set(page.locator(".gw-page").evaluate_all("all => all.map(e => e.dataset.page)"))


def resident(process: int) -> float:
    """MiB that a process has in memory, 0 where the system does not say."""
    status = Path(f"/proc/{process}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


HEAD = ["", "n", "median ms", "95% ms", "longest ms"]


def row(name: str, times: list[float]) -> list[str]:
    if not times:
        return [name, "0", "", "", ""]
    high = sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]
    return [name, str(len(times)), f"{statistics.median(times):.0f}", f"{high:.0f}", f"{max(times):.0f}"]


if __name__ == "__main__":
    main()
