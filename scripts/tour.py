"""Makes the pictures of docs/tour.md from the real app, on the sample and with no key: `python -m scripts.tour`.

Each page is taken in both themes at 1280 × 800 and written as a PNG of 256 colours.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import sync_playwright

from ragcore.engine import Engine
from tests.browser.conftest import FLAGS, ROOT, chromium, serve
from ui.first_run import QUESTIONS
from ui.samples import NAME, SAMPLE

DOCS = ROOT / "docs" / "tour"
SIZE = {"width": 1280, "height": 800}
MOST_BYTES = 150_000


def shoot(page: Any, name: str) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(800)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = DOCS / f"{name}.png"
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)} {size / 1000:.0f} kB")
    assert size <= MOST_BYTES, f"{path.name} is larger than {MOST_BYTES:,} bytes"


def asked(home: Path) -> str:
    """A library of the sample alone; a conversation about it."""
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        engine.ingest(engine.add(SAMPLE.read_bytes(), NAME).doc_id)
        engine.index()
        conversation = engine.conversations.new()
        for question in QUESTIONS:
            engine.chat(conversation, question).run()
        return conversation


def tour(page: Any, url: str, conversation: str, theme: str) -> None:
    page.goto(f"{url}/?c={conversation}")
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
    page.goto(f"{url}/library")
    name = page.get_by_role("link", name="Larkfield")
    name.wait_for()
    shoot(page, f"library-{theme}")
    name.click()
    page.locator(".gw-doc .outline .hd").first.wait_for()
    shoot(page, f"document-{theme}")
    page.goto(f"{url}/reports")
    page.locator(".st-key-gw_page h1, .gw-reports h1, .gw-report h1").first.wait_for()
    shoot(page, f"reports-{theme}")
    page.goto(f"{url}/explore?q={quote(QUESTIONS[0])}")
    page.locator(".gw-explore .chart.js-plotly-plot .scatterlayer .point").first.wait_for()
    page.locator(".gw-explore .pas h2").wait_for()
    shoot(page, f"explore-{theme}")
    page.goto(f"{url}/settings")
    page.locator(".gw-settings .opt").first.wait_for()
    shoot(page, f"settings-{theme}")


def main() -> None:
    DOCS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        conversation = asked(home)
        with serve(home) as app, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            for theme in ("light", "dark"):
                context = browser.new_context(viewport=SIZE, color_scheme=theme, reduced_motion="reduce")
                context.set_default_timeout(90_000)
                tour(context.new_page(), app.url, conversation, theme)
                context.close()
            browser.close()


if __name__ == "__main__":
    main()
