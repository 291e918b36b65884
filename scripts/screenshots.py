"""Makes the pictures in docs/ from the real app, on the sample and with no key: `python -m scripts.screenshots`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.browser.conftest import FLAGS, ROOT, chromium, serve
from ui.first_run import QUESTIONS

DOCS = ROOT / "docs"
SIZE = {"width": 1440, "height": 900}
QUESTION = QUESTIONS[1]


def shoot(page: Any, name: str) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(600)
    page.screenshot(path=DOCS / f"{name}.png")
    print(f"docs/{name}.png")


def main() -> None:
    DOCS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder) / "home") as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        pages = {
            theme: browser.new_context(viewport=SIZE, color_scheme=theme).new_page() for theme in ("light", "dark")
        }
        for theme, page in pages.items():
            page.goto(app.url)
            page.locator(".gw-proof").wait_for()
            shoot(page, f"first-run-{theme}")
        first = pages["light"]
        first.get_by_role("button", name=QUESTION).click()
        first.locator('.gw-turn[data-state="complete"]').wait_for(timeout=120_000)
        conversation = first.url
        for theme, page in pages.items():
            page.goto(conversation)
            page.locator(".gw-answer a.gw-cite").last.click()
            page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
            page.mouse.move(5, 500)
            shoot(page, f"chat-{theme}")
            page.locator(".gw-answer a.gw-cite").last.hover()
            page.locator(".gw-card").wait_for()
            shoot(page, f"citation-{theme}")
            page.goto(f"{app.url}/library")
            page.get_by_role("link", name="Larkfield").click()
            page.get_by_label("Document", exact=True).get_by_role("button", name="Next page").click()
            page.locator(".gw-doc .els li").first.wait_for()
            shoot(page, f"library-{theme}")
        browser.close()


if __name__ == "__main__":
    main()
