"""Pages and kinds: checked as they are typed, shown beside the input, kept with the conversation, obeyed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from ragcore.types import EVERYTHING, Scope
from tests import pdfs, prepared
from tests.browser.conftest import App, beside, in_scope, promise, serve
from tests.browser.test_claude import ask

QUESTION = "What was the highest nitrate reading?"


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app on a document of six pages and one that has a table."""
    home = tmp_path_factory.mktemp("filters") / "home"
    with Engine.open(home) as engine:
        for name, data in (("six.pdf", pdfs.running_headers(6)), ("table.pdf", pdfs.ruled_table())):
            prepared.read(engine, data, name)
        engine.index()
    with serve(home) as served:
        yield served


def answered(page: Any, turns: int) -> None:
    page.locator('.gw-turn[data-state="complete"]').nth(turns - 1).wait_for()


def found(app: App, page: Any) -> list[tuple[int, ...]]:
    """The pages of each source of the last answer."""
    (conversation,) = parse_qs(urlsplit(page.url).query)["c"]
    with Engine.open(app.home) as engine:
        answer = engine.conversations.get(conversation).turns[-1].answer
    assert answer is not None
    return [source.pages for source in answer.sources]


@pytest.mark.slow
def test_filters_from_the_first_question_to_a_phone(filtered: App, open_page: Callable[..., Any]) -> None:
    page = open_page(filtered.url)
    field = page.get_by_label("Pages", exact=True)
    box = page.get_by_label("Ask your documents")
    ask(page, QUESTION)
    answered(page, 1)

    with promise("filters are kept with the conversation"):
        field.fill("2-3")
        page.get_by_role("button", name="Text", exact=True).click()
        page.locator('.gw-chip[data-part="pages"]').wait_for()
        page.locator('.gw-chip[data-part="kinds"]').wait_for()
        page.reload()
        answered(page, 1)
        expect(page.locator(".gw-chip")).to_have_text(["Pages 2–3", "Text"], use_inner_text=True)
        expect(field).to_have_value("2-3")
        expect(page.get_by_role("button", name="Text", exact=True)).to_have_attribute("aria-pressed", "true")

    with promise("they narrow the answer and are shown with it"):
        ask(page, QUESTION)
        answered(page, 2)
        page.get_by_text("Only pages 2–3, text").wait_for()
        narrowed = found(filtered, page)
        assert narrowed
        assert all({2, 3} & set(pages) for pages in narrowed)

    with promise("they are taken away one by one, and the answer keeps what it was asked under"):
        page.get_by_role("button", name="Search all pages again").click()
        page.locator('.gw-chip[data-part="pages"]').wait_for(state="detached")
        page.get_by_role("button", name="Search all kinds again").click()
        page.locator(".gw-chip").first.wait_for(state="detached")
        page.reload()
        answered(page, 2)
        expect(page.locator(".gw-chip")).to_have_count(0)
        page.get_by_text("Only pages 2–3, text").wait_for()

    with promise("a mode of search holds for the visit, until it is taken back"):
        by = page.get_by_label("Search by", exact=True)
        expect(by).to_have_value("auto")
        by.select_option("graph")
        page.locator('.gw-chip[data-part="mode"]', has_text="Connections").wait_for()
        page.reload()
        page.get_by_role("button", name="Search as usual again").click()
        page.locator(".gw-chip").first.wait_for(state="detached")
        page.wait_for_function("() => document.querySelector('.gw-filters select').value === 'auto'")
        by.select_option("outline")
        page.locator('.gw-chip[data-part="mode"]', has_text="Outline").wait_for()
        page.get_by_text("By meaning, of whole sections too").wait_for()

    with promise("an overview quotes the themes of the documents, and each quote opens its page"):
        by.select_option("overview")
        page.locator('.gw-chip[data-part="mode"]', has_text="Overview").wait_for()
        ask(page, "What are the main themes?")
        answered(page, 3)
        told = page.locator(".gw-turn").nth(2)
        told.get_by_text("By theme").wait_for()
        told.locator("a.gw-cite").first.click()
        page.locator(".gw-highlight").first.wait_for()
        page.get_by_role("button", name="Search as usual again").click()
        page.locator(".gw-chip").first.wait_for(state="detached")

    with promise("pages typed just before a question hold for it"):
        box.fill(QUESTION)
        field.click()
        page.keyboard.insert_text("2-3")
        box.focus()
        page.keyboard.press("Enter")
        answered(page, 4)
        page.locator(".gw-turn").nth(3).locator(".gw-label", has_text="Only pages 2–3").wait_for()
        page.locator(".gw-chip", has_text="Pages 2–3").wait_for()
    with promise("a question under pages that are wrong waits"):
        box.fill(QUESTION)
        field.fill("40")
        box.press("Enter")
        for blank in ("", " ", ""):
            page.locator(".st-key-gw_composer .gw-msg").wait_for()
            expect(box.last).to_have_value(QUESTION + blank)  # a moment the one before is there, too
            box.last.press("Enter")
        expect(box.last).to_have_value(f"{QUESTION} ")
        expect(box).to_have_count(1)
        expect(page.locator(".gw-turn")).to_have_count(4)
        field.fill("1-2, 4-5")
        box.press("Enter")
        answered(page, 5)
        page.locator(".gw-turn .gw-label", has_text="Only pages 1–2 and 4–5").wait_for()

    with promise("filters have their room before they are there"):
        page.goto(filtered.url)
        page.get_by_role("button", name="Figures", exact=True).wait_for()
        in_scope(page, "2 of 2")
        for place, drawn in ((".st-key-gw_narrow", ".gw-filters"), (".st-key-gw_scope", ".gw-scope")):
            full = page.locator(place).bounding_box()["height"]
            page.locator(drawn).evaluate("e => e.remove()")
            assert abs(page.locator(place).bounding_box()["height"] - full) < 1

    with promise("many page ranges fit on their chip, on a phone too"):
        with Engine.open(filtered.home) as engine:
            ranges = tuple((3 * i + 1, 3 * i + 2) for i in range(30))
            talk = engine.conversations.new(Scope(pages=ranges, kinds=("text",)))
            engine.chat(talk, QUESTION).run()
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{filtered.url}/?c={talk}")
        answered(page, 1)
        chip = page.locator('.gw-chip[data-part="pages"]')
        expect(chip).to_have_text("Pages 1–2, 4–5, 7–8 and 27 more", use_inner_text=True)
        assert (chip.locator("span[title]").get_attribute("title") or "").endswith("85–86 and 88–89")
        assert chip.locator("span[title]").evaluate("e => e.scrollWidth <= e.clientWidth")
        assert chip.bounding_box()["height"] <= 34
        page.locator(".gw-turn .gw-label", has_text="Only pages 1–2, 4–5, 7–8 and 27 more, text").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_filters_are_checked_as_they_are_typed(filtered: App, open_page: Callable[..., Any]) -> None:
    page = open_page(filtered.url)
    field = page.get_by_label("Pages", exact=True)
    in_scope(page, "2 of 2")
    with promise("pages are checked as they are typed"):
        for typed, words in (
            ("5-2", "“5-2” runs backwards. Write 2-5."),
            ("seven", "“seven” is not a page."),
            ("40", "The longest document in scope has 6 pages."),
            ("2-3, 5", "Only pages 2–3 and 5"),
        ):
            field.fill(typed)
            page.locator(".said", has_text=words).first.wait_for()
        page.locator('.gw-chip[data-part="pages"]', has_text="Pages 2–3 and 5").wait_for()
        assert field.get_attribute("aria-invalid") is None
    with promise("what is wrong is not in force"):
        field.fill("2-")
        page.locator(".said.bad", has_text="“2-” is not a page").wait_for()
        expect(page.locator('.gw-chip[data-part="pages"]')).to_have_text("Pages 2–3 and 5", use_inner_text=True)

    with promise("pages are checked anew when the scope changes"):
        field.fill("4-6")
        page.locator('.gw-chip[data-part="pages"]', has_text="Pages 4–6").wait_for()
        with Engine.open(filtered.home) as engine:
            long = next(i for i, info in enumerate(engine.documents()) if info.pages == 6)
        labels = page.locator(".gw-scope .rows label")
        labels.nth(long).click()
        page.locator(".said.bad", has_text="The longest document in scope has 1 page.").wait_for()
        ask(page, QUESTION)
        answered(page, 1)
        said = page.locator(".gw-turn").inner_text()
        assert "Nothing found on pages 4–6." in said
        assert "do not answer" not in said
        labels.nth(1 - long).click()
        in_scope(page, "0 of 2")
        page.locator(".said:not(.bad)", has_text="Only pages 4–6").wait_for()

    with promise("a new conversation begins without the filters of the last"):
        page.goto(filtered.url)
        in_scope(page, "2 of 2")
        page.get_by_role("button", name="Tables", exact=True).click()
        page.locator('.gw-chip[data-part="kinds"]').wait_for()
        ask(page, QUESTION)
        answered(page, 1)
        page.get_by_text("Only tables").wait_for()
        expect(page.locator('.gw-chip[data-part="kinds"]')).to_have_count(1)  # it holds for the next question too
        page.get_by_role("button", name="New conversation").click()
        page.locator(".gw-chip").first.wait_for(state="detached")
        page.locator('.gw-filters [data-kind="table"][aria-pressed="false"]').wait_for()
    with promise("the documents chosen stay for the next conversation, also after a reload"):
        labels.first.click()
        in_scope(page, "1 of 2")
        ask(page, QUESTION)
        answered(page, 1)
        page.get_by_role("button", name="New conversation").click()
        page.locator(".gw-start").wait_for()
        in_scope(page, "1 of 2")
        page.goto(filtered.url)
        in_scope(page, "1 of 2")
        labels.first.click()
        in_scope(page, "2 of 2")
    with promise("a document that is read anew stays in scope"):
        in_scope(page, "2 of 2")
        statuses: tuple[tuple[Literal["reading", "ready"], str], ...] = (("reading", "true"), ("ready", "false"))
        with Engine.open(filtered.home) as engine:
            for status, pressed in (*statuses, *statuses):
                engine.store.set_status(engine.documents()[0].doc_id, status)
                page.get_by_role("button", name="Tables", exact=True).click()
                page.locator(f'.gw-filters [data-kind="table"][aria-pressed="{pressed}"]').wait_for()
                in_scope(page, "2 of 2")
        expect(page.locator(".gw-scope .rows :checked")).to_have_count(2)


def asked(page: Any) -> str:
    """Asked in a new conversation: its id."""
    ask(page, QUESTION)
    answered(page, 1)
    page.wait_for_url("**c=*")
    return parse_qs(urlsplit(page.url).query)["c"][0]


@pytest.mark.slow
def test_filters_in_several_tabs(filtered: App, open_page: Callable[..., Any]) -> None:
    page = open_page(filtered.url)
    with promise("a tab that is behind changes only what it is told to"):
        here = asked(page)
        behind = beside(page, f"{filtered.url}/?c={here}")
        answered(behind, 1)
        in_scope(behind, "2 of 2")
        page.get_by_label("Pages", exact=True).fill("2-3")
        page.locator('.gw-chip[data-part="pages"]').wait_for()
        behind.locator(".gw-scope .rows label").first.click()
        in_scope(behind, "1 of 2")
        behind.locator(".gw-chip", has_text="Pages 2–3").wait_for()
        page.get_by_role("button", name="Text", exact=True).click()
        in_scope(page, "1 of 2")
        with Engine.open(filtered.home) as engine:
            stored = engine.conversations.scope(here)
        assert (stored.pages, stored.kinds, len(stored.doc_ids or ())) == (((2, 3),), ("text",), 1)
        expect(page.locator(".gw-scope .rows :checked")).to_have_count(1)
        behind.close()
    with promise("a question asked again is asked under what its tab shows"):
        with Engine.open(filtered.home) as engine:
            engine.conversations.set_scope(here, EVERYTHING)
        page.get_by_role("button", name="Ask it again").click()
        page.locator(".gw-turn .gw-label", has_text="Only pages 2–3").wait_for()
        answered(page, 1)
        expect(page.locator(".gw-versions")).to_have_text("2/2")

    with promise("pages typed for one conversation stay with it"):
        page.goto(filtered.url)
        in_scope(page, "1 of 2")  # as the tab beside it chose
        page.locator(".gw-scope .rows label").first.click()
        in_scope(page, "2 of 2")
        one = asked(page)
        page.get_by_role("button", name="New conversation").click()
        page.locator(".gw-start").wait_for()
        other = asked(page)
        page.get_by_label("Pages", exact=True).fill("3-4")
        page.locator(f'.gw-history a[data-id="{one}"]').click()
        page.locator(f'.gw-history a[data-id="{one}"][aria-current]').wait_for()
        page.wait_for_url(f"**c={one}*")
        page.get_by_role("button", name="Tables", exact=True).click()  # after it, what was typed is kept or dropped
        page.locator('.gw-chip[data-part="kinds"]').wait_for()
        expect(page.locator(".gw-chip")).to_have_text(["Tables"], use_inner_text=True)
        expect(page.get_by_label("Pages", exact=True)).to_have_value("")
        with Engine.open(filtered.home) as engine:
            assert engine.conversations.scope(one).pages == ()
            assert engine.conversations.scope(other).pages in ((), ((3, 4),))

    with promise("what another tab deleted is said for every change"):
        page.goto(filtered.url)
        page.get_by_role("button", name="Text", exact=True).click()
        page.locator('.gw-chip[data-part="kinds"]').wait_for()
        here = asked(page)
        tabs = {name: beside(page, f"{filtered.url}/?c={here}") for name in ("kind", "chip", "pages", "tick", "rename")}
        for tab in tabs.values():
            answered(tab, 1)
            tab.locator(".gw-chip").wait_for()
        tabs["rename"].get_by_role("button", name="More about this conversation").click()
        tabs["rename"].get_by_role("button", name="Rename", exact=True).click()
        with Engine.open(filtered.home) as engine:
            engine.conversations.delete(here)
        tabs["kind"].get_by_role("button", name="Tables", exact=True).click()
        tabs["chip"].locator(".gw-chip button").click()
        tabs["pages"].get_by_label("Pages", exact=True).fill("2")
        tabs["tick"].locator(".gw-scope .rows label").first.click()
        tabs["rename"].get_by_label("Title").fill("Another")
        tabs["rename"].keyboard.press("Enter")
        for name, tab in tabs.items():
            tab.get_by_text("This conversation isn’t in the library.").wait_for()
            assert tab.locator(".stException").count() == 0, name
            assert "c=" not in tab.url, name
