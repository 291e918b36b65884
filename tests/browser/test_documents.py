"""Documents that are not there (yet, or any more): what the answer, the row and the page pane say."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from tests import pdfs, prepared
from tests.browser.conftest import QUESTION, App, Shelf, conversation, in_scope, lent, promise, serve
from tests.browser.test_claude import ask
from tests.browser.test_library import file
from ui.server.tokens import Signer

LONG = 20  # times twenty pages, so that it is still being read at the end of a test


@pytest.fixture(scope="module")
def own_app(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app on a copy of the shelf that loses documents."""
    home = prepared.copied(shelf.home, tmp_path_factory.mktemp("own") / "home")
    with serve(home, GROUNDWORK_INGEST__WORKERS="1") as served:
        yield served


@pytest.mark.slow
def test_an_answer_tells_what_was_not_read_yet_and_a_removal_does_not_wait_for_the_reading(
    own_app: App, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{own_app.url}/library")
    page.locator("tr[data-doc]").nth(4).wait_for()
    sizes = {"long.pdf": LONG, "middle.pdf": LONG - 3, "short.pdf": LONG - 6}
    part = pdfs.running_headers(20)
    page.locator("input[type=file]").set_input_files(
        [file(name, pdfs.joined(*[part] * n)) for name, n in sizes.items()]
    )
    work = page.locator('tr[data-status="work"]')
    work.nth(2).wait_for()
    work.get_by_text("Page").wait_for()
    # They stand in the order in which they are read.
    assert [row.split("Queued (")[1][:3] for row in work.all_inner_texts()[1:]] == ["2nd", "3rd"]
    for name in ("middle.pdf", "short.pdf"):
        page.get_by_role("button", name=f"Remove {name}").click()
        work.filter(has_text=name).wait_for(state="detached")
    page.get_by_role("link", name="Chat").click()
    ask(page, QUESTION)
    page.locator('.gw-turn[data-state="complete"] .gw-answer a.gw-cite').first.wait_for()
    note = page.locator(".gw-unsearched")
    expect(note).to_contain_text("“long.pdf” is still being read and was not searched", use_inner_text=True)
    expect(page.locator(".gw-line")).to_contain_text("Quoted word for word", use_inner_text=True)

    page.get_by_role("link", name="Library").click()
    row = page.locator('tr[data-status="work"]')
    row.get_by_role("button", name="Remove").click()
    page.locator("tr[data-doc]").filter(has_text="long.pdf").wait_for(state="detached")
    expect(page.locator("tr[data-doc]")).to_have_count(5)
    expect(page.locator(".gw-library .gw-msg:visible")).to_have_count(0)


@pytest.mark.slow
def test_a_document_in_scope_that_another_tab_removed_is_said(
    own_app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{own_app.url}/library")
    page.locator("tr[data-doc]").nth(4).wait_for()
    asked: list[Any] = []
    page.route("**/pages/*.png?*", lambda picture: asked.append(picture))  # is on its way while the document is removed
    page.goto(f"{own_app.url}/?c={shelf.conversations['survey.pdf']}")
    in_scope(page, "1 of 5")
    page.locator(".gw-page img.whole[src]").first.wait_for()
    citation = shelf.answers["survey.pdf"].citations[0]
    with Engine.open(own_app.home) as engine:
        engine.remove(citation.doc_id)
    for picture in asked:
        picture.continue_()
    page.unroute("**/pages/*.png?*")
    said = page.locator(".gw-pane .gw-page-error")
    said.get_by_text("was removed from the library").wait_for()
    expect(said).to_contain_text(" ".join(citation.quote.split()), use_inner_text=True)
    page.get_by_role("button", name="Ask it again").click()
    page.get_by_text("The documents in scope were removed from the library.").wait_for()
    ask(page, QUESTION)
    page.get_by_text("1 document in scope has been removed from the library.").wait_for()
    in_scope(page, "0 of 4")
    page.locator(".gw-scope .rows label").first.click()
    in_scope(page, "1 of 4")
    ask(page, QUESTION)
    page.locator('.gw-turn[data-state="complete"]').nth(1).wait_for()


@pytest.mark.slow
def test_the_page_follows_the_newest_answer_and_nothing_of_an_older_one_stays_lit(
    app: App, shelf: Shelf, open_page: Callable[..., Any]
) -> None:
    doc_id = shelf.answers["survey.pdf"].citations[0].doc_id
    page = open_page(f"{app.url}/?c={conversation(app, QUESTION, doc_id)}")
    page.locator(".gw-answer a.gw-cite").first.click()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    older = page.locator(".gw-highlight").first.bounding_box()
    ask(page, "When did the survey begin?")
    page.locator('.gw-turn[data-state="complete"]').nth(1).wait_for()
    page.locator('.gw-highlight[data-role="claim"]').first.wait_for()
    assert page.locator(".gw-highlight").first.bounding_box() != older
    expect(page.locator('.gw-highlight[data-role="cited"]')).to_have_count(0)
    expect(page.locator(".gw-claim.is-active, a.gw-cite[aria-current]")).to_have_count(0)
    assert "cite=" not in page.url


@pytest.mark.slow
def test_a_body_that_cannot_be_used_is_refused_after_the_token(app: App, shelf: Shelf) -> None:
    doc_id = shelf.answers["survey.pdf"].citations[0].doc_id
    token = Signer.kept(app.home / "web.secret").token("one")
    talk = shelf.conversations["survey.pdf"]
    paths = (f"documents/{doc_id}/read", *(f"conversations/{talk}/{last}" for last in ("questions", "title", "shown")))
    bodies = (b"", b"[]", b"\xff", b'"x"', b'{"question": 3, "password": [], "title": 3, "turn": []}', b"[" * 100_000)
    for path, body in product(paths, bodies):
        for headers, status in (({}, 403), ({"x-groundwork-token": token}, 400)):
            asked = urllib.request.Request(f"{app.url}/gw/{path}", data=body, headers=headers, method="POST")
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(asked, timeout=10)
            assert refused.value.code == status, path
            assert b'"hint"' in refused.value.read()


@pytest.mark.slow
def test_a_document_from_its_address_to_its_removal(app: App, open_page: Callable[..., Any]) -> None:
    mixed = pdfs.joined(pdfs.one_column(), pdfs.rotated(90), pdfs.ruled_table())
    with lent(app, {"mixed.pdf": mixed}) as (doc_id,):
        talk = conversation(app, QUESTION, doc_id)
        with Engine.open(app.home) as engine:
            title = engine.document(doc_id).title
            answer = engine.conversations.get(talk).turns[0].answer
        assert answer is not None
        citation = answer.citations[0]
        page = open_page(f"{app.url}/library")
        with promise("a document is read at an address of its own"):
            page.locator(f'tr[data-doc="{doc_id}"] a').click()
            page.locator(".gw-doc .contents .hd").last.click()
            page.locator(".gw-page img[src]").first.wait_for()
            assert f"doc={doc_id}" in page.url
            page.wait_for_function("document.title.endsWith('Groundwork')")
            assert page.title().startswith(title)
            assert page.locator(".gw-reader h1").inner_text().startswith(title)
        with promise("each page is as wide as there is room for, whatever its size"):
            widths = page.locator(".gw-page").evaluate_all("all => all.map(e => e.getBoundingClientRect().width)")
            assert len(widths) >= 2
            assert max(widths) - min(widths) < 3
        with promise("the address says which page is read"):
            page.get_by_label("Page", exact=True).and_(page.locator("input")).fill("2")
            page.keyboard.press("Enter")
            page.wait_for_function("location.search.includes('page=2')")
        with promise("words are found in it"):
            page.keyboard.press("Control+f")
            page.get_by_role("textbox", name="Find in document").fill("nitrate")
            page.locator(".gw-match").first.wait_for()
            page.keyboard.press("Escape")
        with promise("back leads to it again"):
            page.get_by_role("button", name="Library").click()
            page.locator(f'tr[data-doc="{doc_id}"]').wait_for()
            page.go_back()
            page.locator(".gw-reader h1", has_text=title).wait_for()
        with promise("a link to its second page fits a phone, and it is asked about from there"):
            page.set_viewport_size({"width": 390, "height": 844})
            page.goto(f"{app.url}/library?doc={doc_id}&page=2")
            page.locator('.gw-page[data-page="2"] img[src]').wait_for()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            page.get_by_role("button", name="Ask about it").click()
            page.locator(".st-key-gw_composer").wait_for()

        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(f"{app.url}/?c={talk}")
        with promise("the page of the first citation stands beside its answer"):
            page.locator('.gw-highlight[data-role="claim"]').first.wait_for()
            expect(page.locator(".gw-pane .dt")).to_have_value(citation.doc_id)
            expect(page.locator('.gw-highlight[data-role="cited"]')).to_have_count(0)
            assert "cite=" not in page.url
            page.locator(".gw-page .gw-tag").first.click()
            page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
            assert "cite=" in page.url

        page.goto(f"{app.url}/library")
        row = page.locator(f'tr[data-doc="{doc_id}"]')
        row.get_by_role("button", name="Remove").click()
        row.wait_for(state="detached")
        with promise("a citation of a removed document shows its title and quote only"):
            page.goto(f"{app.url}/?c={talk}")
            chip = page.locator(".gw-answer a.gw-cite").first
            chip.hover()
            page.locator(".gw-card .gone").wait_for()
            chip.click()
            said = page.locator(".gw-pane .gw-page-error")
            said.get_by_text("was removed from the library").wait_for()
            expect(said).to_contain_text(citation.title, use_inner_text=True)
            expect(said).to_contain_text(" ".join(citation.quote.split()), use_inner_text=True)
            expect(said).not_to_contain_text(citation.doc_id, use_inner_text=True)
            page.locator(".gw-answer a.gw-cite[aria-current]").first.wait_for()
            expect(page.locator(".gw-pane .rail button, .gw-page")).to_have_count(0)
            expect(page.locator(".gw-pane .pgbox")).to_be_hidden()
        with promise("a document that is not there says so"):
            page.goto(f"{app.url}/library?doc=0123456789abcdef")
            page.get_by_text("This document can’t be opened.").wait_for()


@pytest.mark.slow
def test_the_library_shows_what_was_read_where(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    with Engine.open(shelf.home) as engine:
        doc_id = shelf.answers["table.pdf"].citations[0].doc_id
        document = engine.document(doc_id)
    table = next(element.table for element in document.elements if element.table is not None)
    page = open_page(f"{app.url}/library")
    page.locator(f'tr[data-doc="{doc_id}"] a').click()
    page.get_by_role("tab", name="Advanced").click()
    page.locator(".gw-doc .ol").first.wait_for()
    orders = page.locator(".gw-doc .ol").evaluate_all("all => all.map(one => Number(one.dataset.order))")
    assert orders == sorted(orders)
    page.get_by_role("button", name="Larger").click()
    page.locator(".gw-doc .els li.table button").click()
    shown = page.locator(".gw-doc .grid :is(td, th)").all_inner_texts()
    words = [" ".join(document.text[cell.start : cell.end].split()) for cell in table.cells]
    assert [text for text in shown if text] == words
    cells = page.locator(".gw-doc .cl")
    expect(cells).to_have_count(len(words))
    # The cell's outline stands where the cell is printed.
    sheet, first = page.locator(".gw-doc .sheet").bounding_box(), cells.first.bounding_box()
    box = document.boxes(table.cells[0].start, table.cells[0].end)[0]
    assert (first["x"] - sheet["x"]) / sheet["width"] == pytest.approx(box.x0 / document.pages[0].width, abs=0.01)
    assert (first["y"] - sheet["y"]) / sheet["height"] == pytest.approx(box.y0 / document.pages[0].height, abs=0.01)
