"""Files that are no PDF, from the drop to the lit words: a Word file, and a message with what is attached to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import App, go, promise
from tests.browser.test_axe import check
from tests.browser.test_claude import ask
from tests.browser.test_library import drop, empty_app, started
from tests.check.files import book
from tests.ingest.mail import message
from tests.ingest.office import needs_office, noted

pytestmark = pytest.mark.slow
__all__ = ["empty_app", "started"]


def given_back(page: Any, name: str, data: bytes) -> None:
    """The Library's drawer of the document called ``name`` gives the file back."""
    with page.expect_download() as saving:
        page.get_by_label("Document", exact=True).get_by_role("button", name="Original").click()
    assert saving.value.suggested_filename == name
    assert Path(saving.value.path()).read_bytes() == data


def lit(page: Any, question: str) -> str:
    """The answer to a question, of which a citation lights words on the page."""
    ask(page, question)
    turn = page.locator('.gw-turn[data-state="complete"]').filter(has_text=question)
    turn.locator("a.gw-cite").first.click()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    return " ".join(turn.locator(".gw-answer").inner_text().split())


@needs_office
def test_from_a_dropped_word_file_to_its_lit_words(
    empty_app: App, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "wells.docx").write_bytes(noted())
    page = open_page(f"{empty_app.url}/library", 1280, 720)
    page.get_by_text("No documents yet").wait_for()
    drop(page, tmp_path / "wells.docx")
    page.locator('tr[data-status="ready"]').wait_for(timeout=120_000)
    with promise("the Library calls it by its title, and gives the file back as it was"):
        page.locator(".gw-library tbody tr").get_by_role("link", name="Wells of the valley").click()
        expect(page.get_by_label("Document", exact=True).get_by_text("Word · 2 pages")).to_be_visible()
        given_back(page, "wells.docx", noted())
        check(page, "a Word file of the library")
    go(page, "Chat")
    with promise("a citation lights the words of a note on the page"):
        assert "second crew" in lit(page, "Which crew measured the nitrate?")
        check(page, "a note of a Word file")


def test_from_a_dropped_message_to_the_words_of_what_is_attached(
    empty_app: App, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    sheet = book(Readings=[["Well", "Nitrate in May, mg/l"], ["Mill Bridge", 11.6], ["Elm", 7.2]])
    text = "The board of the valley meets on Friday, 14 March, in the town hall.\n"
    data = message(text, attached=[("wells.xlsx", sheet), ("tool.zip", b"\0\1\2")]).as_bytes()
    (tmp_path / "mail.eml").write_bytes(data)
    page = open_page(f"{empty_app.url}/library", 1280, 720)
    page.get_by_text("No documents yet").wait_for()
    drop(page, tmp_path / "mail.eml")
    expect(page.locator('tr[data-status="ready"]')).to_have_count(2, timeout=120_000)
    with promise("the Library says what was attached and what of it was not read"):
        page.locator(".gw-library tbody tr").get_by_role("link", name="Nitrate in May").click()
        drawer = page.get_by_label("Document", exact=True)
        expect(drawer.get_by_text("E-mail · 1 page")).to_be_visible()
        expect(drawer.get_by_text("as a document of its own: wells.xlsx.")).to_be_visible()
        expect(drawer.get_by_text("not read: “tool.zip”.")).to_be_visible()
        given_back(page, "mail.eml", data)
        check(page, "a message of the library")
    go(page, "Chat")
    with promise("both the message and the sheet are cited"):
        assert "14 March" in lit(page, "When does the board meet?")
        check(page, "words of a message")
        assert "11.6" in lit(page, "What was the nitrate in May at Mill Bridge?")
        expect(page.locator(".gw-pane .tbar .at")).to_contain_text("Readings!")
