"""An AI's description of a figure: the Library says that there is one, the citation says what it is and frames the
figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from ragcore.types import Document, Scope
from tests import pdfs
from tests.browser.conftest import App, go, promise, serve, still, talk_to
from tests.messages_server import MessagesServer, Reply

SAID = "A bar chart of chloride by season. Chloride peaks in winter at about 212 grams."
QUESTION = "When does chloride peak?"


@dataclass(frozen=True)
class Described:
    app: App
    document: Document
    conversation: str


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Described]:
    """The app with one described figure and an answer that cites the description."""
    home = tmp_path / "home"
    with MessagesServer() as server:
        key = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": server.url}
        for name, value in key.items():
            monkeypatch.setenv(name, value)
        with Engine.open(home, overrides={"llm.cache": False}) as engine:
            server.reply(Reply(text=SAID, usage={"input_tokens": 1000, "output_tokens": 100}))
            doc_id = engine.add(pdfs.figure(), "figure.pdf").doc_id
            assert engine.ingest(doc_id).figures.described == 1
            engine.index()
            document = engine.document(doc_id)
            place = next(
                f"{source.number}.{number}"
                for source in engine.ask(QUESTION).run().sources
                for number, unit in enumerate(source.units, 1)
                if unit.generated and "212" in document.text[unit.start : unit.end]
            )
            conversation = engine.conversations.new(Scope((doc_id,)))
            server.reply(Reply(text=f"Chloride peaks in winter at about 212 grams <<SOURCE {place}>>."))
            engine.chat(conversation, QUESTION).run()
        with serve(home, **key) as app:
            yield Described(app, document, conversation)


@pytest.mark.slow
def test_a_description_in_the_library_and_under_a_citation(described: Described, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{described.app.url}/library")
    with promise("the library says what was described and what is sent"):
        page.get_by_text("1 figure described, $0.0045").wait_for()
        page.get_by_text("Figures go to Claude").wait_for()
    go(page, "Chat")
    talk_to(page, described.conversation)
    with promise("a citation of a description says so and frames the figure"):
        chip = page.locator(".gw-answer a.gw-cite").first
        chip.hover()
        card = page.locator(".gw-card")
        card.get_by_text("AI description", exact=True).wait_for()
        expect(card).to_contain_text("Check the figure itself", use_inner_text=True)
        chip.click()
        lit = page.locator('.gw-highlight.frame[data-role="cited"]')
        lit.wait_for()
        still(page, '.gw-highlight.frame[data-role="cited"]')
        expect(lit).to_have_count(1)
        assert "AI description" in chip.get_attribute("aria-label")
        region = next(element.region[0] for element in described.document.elements if element.kind == "figure")
        sheet, frame = page.locator('.gw-page[data-page="1"]').bounding_box(), lit.bounding_box()
        scale = sheet["width"] / described.document.pages[0].width
        assert frame["x"] - sheet["x"] == pytest.approx(region.x0 * scale, abs=2)
        assert frame["y"] - sheet["y"] == pytest.approx(region.y0 * scale, abs=2)
        assert frame["width"] == pytest.approx((region.x1 - region.x0) * scale, abs=2)
