"""Pages and kinds: checked as they are typed, shown beside the input, kept with the conversation, obeyed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest

from ragcore.engine import Engine
from tests import pdfs
from tests.browser.conftest import App, serve
from tests.browser.test_claude import ask

QUESTION = "What was the highest nitrate reading?"


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app on a document of six pages and one that has a table."""
    home = tmp_path_factory.mktemp("filters") / "home"
    with Engine.open(home) as engine:
        for name, data in (("six.pdf", pdfs.running_headers(6)), ("table.pdf", pdfs.ruled_table())):
            assert engine.ingest(engine.add(data, name).doc_id).status == "ready"
        engine.index()
    with serve(home) as served:
        yield served


def answered(page: Any, turns: int) -> None:
    page.locator('.gw-turn[data-state="complete"]').nth(turns - 1).wait_for()


def found(page: Any) -> list[str]:
    """The passages of the last answer, as the explanation names them."""
    page.locator(".gw-why > summary").last.click()
    page.locator(".gw-why").last.locator(".facts").wait_for()
    names: list[str] = (
        page.locator(".gw-why").last.locator(".hit a").evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    )
    return names


def test_pages_are_checked_as_they_are_typed(filtered: App, open_page: Callable[..., Any]) -> None:
    page = open_page(filtered.url)
    field = page.get_by_label("Pages", exact=True)
    said = page.locator(".gw-filters .said")
    for typed, words in (
        ("5-2", "“5-2” runs backwards. Write 2-5."),
        ("seven", "“seven” is not a page."),
        ("40", "The longest document in scope has 6 pages."),
        ("2-3, 5", "Only pages 2–3 and 5"),
    ):
        field.fill(typed)
        said.get_by_text(words).or_(page.locator(".said", has_text=words)).first.wait_for()
    page.locator('.gw-chip[data-part="pages"]', has_text="Pages 2–3 and 5").wait_for()
    assert field.get_attribute("aria-invalid") is None
    field.fill("2-")
    page.locator(".said.bad", has_text="lacks an end").wait_for()
    assert page.locator('.gw-chip[data-part="pages"]').inner_text() == "Pages 2–3 and 5", (
        "what is wrong is not in force"
    )


def test_filters_narrow_the_answer_are_shown_with_it_and_kept(filtered: App, open_page: Callable[..., Any]) -> None:
    page = open_page(filtered.url)
    ask(page, QUESTION)
    answered(page, 1)
    everything = found(page)
    assert any("p. 6" in name for name in everything)

    page.get_by_label("Pages", exact=True).fill("2-3")
    page.get_by_role("button", name="Text", exact=True).click()
    page.locator('.gw-chip[data-part="pages"]').wait_for()
    page.locator('.gw-chip[data-part="kinds"]').wait_for()
    page.reload()
    answered(page, 1)
    assert page.locator(".gw-chip").all_inner_texts() == ["Pages 2–3", "Text"]
    assert page.get_by_label("Pages", exact=True).input_value() == "2-3"
    assert page.get_by_role("button", name="Text", exact=True).get_attribute("aria-pressed") == "true"

    ask(page, QUESTION)
    answered(page, 2)
    page.get_by_text("Only pages 2–3, text").wait_for()
    narrowed = found(page)
    assert 0 < len(narrowed) < len(everything)
    assert all("p. 2" in name or "p. 3" in name or "pp. " in name for name in narrowed)

    page.get_by_role("button", name="Search all pages again").click()
    page.locator('.gw-chip[data-part="pages"]').wait_for(state="detached")
    page.get_by_role("button", name="Search all kinds again").click()
    page.locator(".gw-chip").first.wait_for(state="detached")
    page.reload()
    answered(page, 2)
    assert page.locator(".gw-chip").count() == 0
    page.get_by_text("Only pages 2–3, text").wait_for()


def test_a_document_that_is_read_anew_stays_in_scope(filtered: App, open_page: Callable[..., Any]) -> None:
    page = open_page(filtered.url)
    page.get_by_text("2 of 2").wait_for()
    statuses: tuple[tuple[Literal["reading", "ready"], str], ...] = (("reading", "1 of 1"), ("ready", "2 of 2"))
    with Engine.open(filtered.home) as engine:
        for status, said in (*statuses, *statuses):
            engine.store.set_status(engine.documents()[0].doc_id, status)
            page.get_by_role("button", name="Tables", exact=True).click()
            page.get_by_text(said).wait_for()
    assert page.locator(".st-key-gw_scope input:checked").count() == 2


def test_a_new_conversation_begins_without_the_filters_of_the_last(
    filtered: App, open_page: Callable[..., Any]
) -> None:
    page = open_page(filtered.url)
    page.get_by_role("button", name="Tables", exact=True).click()
    page.locator('.gw-chip[data-part="kinds"]').wait_for()
    ask(page, QUESTION)
    answered(page, 1)
    page.get_by_text("Only tables").wait_for()
    assert page.locator('.gw-chip[data-part="kinds"]').count() == 1, "it holds for the next question too"
    page.get_by_role("button", name="New conversation").click()
    page.locator(".gw-chip").first.wait_for(state="detached")
    page.locator('.gw-filters [data-kind="table"][aria-pressed="false"]').wait_for()
