"""How soon a long document can be asked after it was dropped into the app.

    python -m benchmarks early [PDF] [--question TEXT] [--late]

The real app in Chromium, no key, an empty library, models loaded; the 10-K of ``nike`` unless another PDF is named. The
question is asked as soon as the page says that it can be. Seconds from the drop until then, until its first citation,
and until all of the document is read and embedded; then those of the same question over all of it. The last two
together are what an answer takes that waits for all pages: that is the baseline. ``--late`` asks only then, so that
nothing but reading is done before.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import data, table
from ragcore.config.settings import load
from ragcore.index.store import Store

EVERY = 0.2  # seconds between two looks
LONGEST = 1800.0


def main() -> None:
    from tests.browser.conftest import FLAGS, chromium, serve

    parser = argparse.ArgumentParser(prog="benchmarks early", description="How soon a dropped document can be asked")
    parser.add_argument("pdf", type=Path, nargs="?")
    parser.add_argument("--question", default="What is NIKE's principal business activity?")
    parser.add_argument("--late", action="store_true", help="ask only when all is searchable")
    given = parser.parse_args()
    if chromium() is None:
        sys.exit("Skipped: Chromium is not installed (Debian: apt-get install chromium), nor named in CHROMIUM.")
    from playwright.sync_api import sync_playwright

    pdf = given.pdf or data("nike") / "NIKE_2023_10K.pdf"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, serve(Path(folder)) as app:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(LONGEST * 1000)
        page.goto(app.url)
        page.wait_for_selector("input[type=file]", state="attached")
        page.wait_for_timeout(8000)  # models are loaded in the background
        store = Store(Path(folder))
        embedder = load(environ={})[0].index.embedder
        begun = time.monotonic()
        page.set_input_files("input[type=file]", str(pdf))
        page.wait_for_selector(".gw-ov .now p, .gw-ov li")
        can = time.monotonic() - begun
        cited = None if given.late else asked(page, given.question) - begun
        while not any(info.indexed for info in store.documents(embedder)):
            time.sleep(EVERY)
        whole = time.monotonic() - begun
        page.wait_for_timeout(5000)  # its overview is made
        again = time.monotonic()
        answer = asked(page, given.question) - again
        [info] = store.documents(embedder)
        browser.close()
    rows = [
        [
            f"{seconds:.1f}"
            for seconds in (can, whole + answer if cited is None else cited, whole, answer, whole + answer)
        ]
    ]
    print(f"{info.pages} pages, {info.chunks} chunks\n")
    print(table(rows, ["can be asked", "first citation", "all searchable", "a question then", "baseline"]))


def asked(page: Any, question: str) -> float:
    """Moment of the first citation in the answer to ``question``, behind the answers that are there."""
    before = page.locator(".gw-turn").count()
    box = page.locator(".st-key-gw_composer textarea")
    box.fill(question)
    box.press("Enter")
    page.locator(".gw-turn").nth(before).locator(".gw-answer .gw-cite").first.wait_for()
    return time.monotonic()


if __name__ == "__main__":
    main()
