"""The Library's table and drawer: removal with undo, tags, folders, order, keyboard, tables to take away, storage."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from playwright.sync_api import expect

from ragcore.engine import Engine
from tests import pdfs, prepared
from tests.browser.conftest import App, Shelf, beside, idle, in_scope, promise, serve
from tests.browser.test_axe import check
from tests.ui.test_jobs import until


@pytest.fixture(scope="module")
def own(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app on a copy of the shelf that loses documents."""
    home = tmp_path_factory.mktemp("library") / "home"
    prepared.copied(shelf.home, home)
    with serve(home) as served:
        yield served


def listed(page: Any) -> Any:
    """The library's table, once its documents are there."""
    page.locator("tr[data-doc]").nth(3).wait_for()
    return page


def titles(page: Any) -> list[str]:
    found: list[str] = page.locator("tr[data-doc]:visible [data-f=title]").all_inner_texts()
    return found


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText"))


@pytest.mark.slow
def test_the_shelf(app: App, open_page: Callable[..., Any]) -> None:
    library = listed(open_page(f"{app.url}/library"))
    with promise("a removal can be taken back by keyboard"):
        before = titles(library)
        other = beside(library)
        row = library.locator("tr[data-doc]").filter(has_text="table.pdf")
        doc_id = row.get_attribute("data-doc")
        row.locator("[data-f=title]").focus()
        library.keyboard.press("Delete")
        row.wait_for(state="detached")
        assert focused(library).startswith("Undo")
        library.keyboard.press("Enter")
        row.wait_for()
        assert titles(library) == before
    with promise("and after a reload, in another tab"):
        row.get_by_role("button", name="Remove").click()
        row.wait_for(state="detached")
        other.locator(".gw-toast").wait_for()
        library.reload()
        library.locator(".gw-toast").wait_for()
        other.get_by_role("button", name="Undo").click()
        library.locator(f'tr[data-doc="{doc_id}"]').wait_for()
        library.locator(".gw-toast").wait_for(state="detached")
        assert titles(library) == before
        with Engine.open(app.home) as engine:
            assert doc_id in {info.doc_id for info in engine.documents()}
        other.close()

    with promise("several documents are tagged and put into a folder"):
        boxes, total = library.locator("tbody [data-f=check]"), len(titles(library))
        boxes.nth(0).click()
        boxes.nth(2).click(modifiers=["Shift"])
        bar = library.get_by_role("group", name="Selected documents")
        expect(bar).to_contain_text("3 documents selected", use_inner_text=True)
        height = library.locator(".gw-shelfbar").bounding_box()["height"]
        bar.get_by_role("button", name="Edit tags").click()
        library.get_by_label("New tag").fill("water, north")
        library.keyboard.press("Enter")
        library.locator("tbody tr").nth(2).get_by_role("button", name="water", exact=True).wait_for()
        library.keyboard.press("Escape")
        bar.get_by_role("button", name="Move to a folder").click()
        bar.get_by_label("Folder", exact=True).fill("Wells / 2024")
        library.keyboard.press("Enter")
        library.locator("tbody tr").nth(1).get_by_text("Wells/2024").wait_for()
        bar.get_by_role("button", name="Clear selection").click()
        assert library.locator(".gw-shelfbar").bounding_box()["height"] == height
    with promise("a filter outlives a reload"):
        library.get_by_role("button", name="Filter by tag").click()
        panel = library.get_by_role("group", name="Filter by tag")
        panel.get_by_role("button", name="Rename water").click()
        panel.get_by_label("New name of water").fill("Groundwater")
        library.keyboard.press("Enter")
        panel.get_by_role("checkbox", name="Groundwater").check()
        library.keyboard.press("Escape")
        assert len(titles(library)) == 3
        library.reload()
        library.get_by_text(f"3 of {total}").wait_for()
        library.get_by_label("Search documents").fill("nothing of this name")
        library.get_by_role("button", name="Show all").click()
        assert len(titles(library)) == total
    with promise("one document's tags are changed beside it"):
        library.locator("tr[data-doc] a").first.click()
        drawer = library.get_by_label("Document", exact=True)
        drawer.get_by_role("button", name="Edit tags").click()
        drawer.get_by_role("checkbox", name="north").uncheck()
        library.locator("tbody tr").first.get_by_role("button", name="north").wait_for(state="detached")
        library.keyboard.press("Escape")
        library.keyboard.press("Escape")

    with promise("order and rows are reached by keys"):
        library.get_by_role("button", name="Title").click()
        assert titles(library) == sorted(titles(library), key=str.lower)
        library.get_by_role("button", name="Title").click()
        assert titles(library) == sorted(titles(library), key=str.lower, reverse=True)
        expect(library.locator("th[aria-sort=descending]")).to_have_text("Title", use_inner_text=True)
        names = titles(library)
        library.locator("tbody [data-f=title]").first.focus()
        library.keyboard.press("ArrowDown")
        assert focused(library) == names[1]
        library.keyboard.press("Space")
        library.keyboard.press("End")
        assert focused(library) == names[-1]
        library.keyboard.press("Space")
        expect(library.locator("tbody input:checked")).to_have_count(2)
        library.keyboard.press("Escape")
        expect(library.locator("tbody input:checked")).to_have_count(0)
        library.keyboard.press("Home")
        library.keyboard.press("Enter")
        library.locator(".gw-doc .contents").wait_for()
        library.keyboard.press("Escape")
        library.locator(".gw-doc").wait_for(state="hidden")
        assert focused(library) == names[0]
        library.keyboard.press("?")
        library.get_by_role("dialog", name="Keyboard").get_by_text("Search documents").wait_for()
        library.keyboard.press("Escape")
        library.keyboard.press("/")
        assert focused(library) == "Search documents"
    with promise("a tab chosen while its document is fetched is shown when it has come"):
        library.reload()
        listed(library)
        row = library.locator("tr[data-doc]").filter(has_text="table.pdf")
        asked = f"**/gw/documents/{row.get_attribute('data-doc')}?*"
        held: list[Any] = []
        library.route(asked, lambda route: held.append(route))
        with library.expect_request(asked):
            row.locator(".sta").click()
        library.get_by_role("tab", name="Advanced").click()
        held[0].continue_()
        library.locator(".gw-doc .ol").first.wait_for()
        library.unroute(asked)

    library.keyboard.press("Escape")
    with promise("a document has its tables and what was read of it"):
        tables(listed(library), app)

    with promise("a phone has all of it without scrolling sideways"):
        library.set_viewport_size({"width": 390, "height": 844})
        library.goto(f"{app.url}/library")
        on_a_phone(listed(library))
    with promise("several documents are asked about, and no other"):
        library.set_viewport_size({"width": 1440, "height": 900})
        boxes, total = library.locator("tbody [data-f=check]"), len(titles(library))
        boxes.nth(0).click()
        boxes.nth(1).click()
        library.get_by_role("button", name="Ask about them").click()
        in_scope(library, f"2 of {total}")


def tables(page: Any, app: App) -> None:
    page.locator("tr[data-doc]").filter(has_text="table.pdf").locator(".sta").click()
    page.get_by_role("tab", name="Advanced").click()
    page.locator(".gw-doc .ol").first.wait_for()
    page.set_viewport_size({"width": 1280, "height": 800})
    upload, drawer = (page.locator(place).bounding_box() for place in ("button:has-text('Upload a folder')", ".gw-doc"))
    assert upload["x"] + upload["width"] <= drawer["x"], "the page gives way to the document"
    page.set_viewport_size({"width": 1440, "height": 900})

    page.get_by_role("tab", name="Tables").click()
    page.locator(".gw-doc li.table > button").first.click()
    expect(page.locator(".gw-doc .grid th").first).to_have_text("Well", use_inner_text=True)
    check(page, "the tables of a document")
    with page.expect_download() as kept:
        page.get_by_role("button", name="All tables as an Excel file").click()
    book = load_workbook(io.BytesIO(Path(kept.value.path()).read_bytes()))
    assert ["Orchard Lane", 58.2, 61.4, 60.7] in [
        [cell.value for cell in row] for row in book.worksheets[1].iter_rows()
    ]
    with page.expect_download() as kept:
        page.get_by_role("button", name="Table 1 as a CSV file").click()
    lines = list(csv.reader(io.StringIO(Path(kept.value.path()).read_text("utf-8-sig"))))
    assert ["Orchard Lane", "58.2", "61.4", "60.7"] in lines

    page.get_by_role("tab", name="Tables").press("ArrowRight")
    page.get_by_role("tab", name="Elements").press("ArrowRight")
    page.locator('.gw-doc [data-of="noise"] li').first.wait_for()
    page.keyboard.press("ArrowRight")
    page.locator('.gw-doc [data-of="chunks"] li button').first.click()
    page.locator('.gw-doc [data-of="elements"] .ol').first.wait_for()  # its page
    page.keyboard.press("Escape")

    page.get_by_text("Storage used").click()
    page.get_by_role("button", name="Clear page pictures").click()
    page.locator(".gw-storage button[disabled]").wait_for()
    assert not list((app.home / "cache" / "pages").rglob("*.png"))
    page.locator("tbody [data-f=check]").first.click()
    page.get_by_role("button", name="Edit tags").first.click()
    check(page, "selected documents, their tags and storage")


def on_a_phone(page: Any) -> None:
    page.locator("tbody [data-f=check]").first.click()
    wide = page.evaluate(
        "[document.documentElement, document.querySelector('.st-key-gw_page')].map(e => e.scrollWidth - e.clientWidth)"
    )
    assert max(wide) <= 0
    heads = page.locator(".gw-library th button:visible")
    assert heads.count() > 1
    assert min(button.bounding_box()["height"] for button in heads.all()) >= 32
    page.get_by_role("button", name="Edit tags").first.click()
    box = page.get_by_label("New tag").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear selection").click()
    page.locator("tbody [data-f=remove]").first.click()
    page.locator(".gw-toast").wait_for()
    for button in page.locator(".gw-toast button").all():
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    page.get_by_role("button", name="Undo").click()
    page.locator(".gw-toast").wait_for(state="detached")


@pytest.mark.slow
def test_a_shelf_that_changes(own: App, open_page: Callable[..., Any]) -> None:
    library = page = listed(open_page(f"{own.url}/library", theme="dark"))
    with promise("a document has its tables and what was read of it, in the dark too"):
        tables(page, own)
    with promise("what another tab removed is said, and a removal need not wait"):
        with Engine.open(own.home) as engine:
            extra = engine.add(pdfs.hyphenated(), "extra.pdf").doc_id
        page.reload()
        row = page.locator(f'tr[data-doc="{extra}"]')
        row.wait_for()
        asked = "() => performance.getEntriesByType('resource').findLast(one => one.name.includes('/gw/library?')).name"
        before = page.request.get(page.evaluate(asked))
        page.route("**/gw/library?*", lambda route: route.fulfill(response=before))  # it has not heard of what follows
        with Engine.open(own.home) as engine:
            engine.trash.put([extra])
        row.get_by_role("button", name="Remove").click()
        page.get_by_text("This document was removed from the library.").wait_for()
        with page.expect_response("**/gw/library?*"):  # it stays when the list is asked for
            page.evaluate("window.dispatchEvent(new Event('focus'))")
        idle(page)
        expect(page.get_by_text("This document was removed from the library.")).to_be_visible()
        page.unroute("**/gw/library?*")
        page.evaluate("window.dispatchEvent(new Event('focus'))")  # it asks at once
        toast = page.locator(".gw-toast", has_text="extra.pdf")
        toast.get_by_role("button", name="Delete for good").click()
        toast.wait_for(state="detached", timeout=15_000)
        row.wait_for(state="detached")
        with Engine.open(own.home) as engine:
            until(lambda: engine.trash.items() == [])
            assert extra not in {info.doc_id for info in engine.documents()}
    with (
        promise("documents that other settings built are named and brought up to date"),
        Engine.open(own.home) as engine,
    ):
        with engine.store.database.write() as connection:
            connection.execute("UPDATE documents SET recipe = 'other settings'")
        assert len(engine.stale()) == 5
        library.get_by_text("5 documents need updating.").wait_for()
        expect(library.locator('tr[data-status="stale"]')).to_have_count(5)
        library.get_by_role("button", name="Update").first.click()
        library.locator('tr[data-status="ready"]').nth(4).wait_for()
        library.get_by_role("button", name="Update").first.wait_for(state="hidden")
        assert engine.stale() == []
    with promise("when its time is over, a removal is final"):
        row = library.locator("tr[data-doc]").filter(has_text="turned.pdf").filter(has_not_text="cropped")
        row.get_by_role("button", name="Remove").click()
        library.locator(".gw-toast").wait_for()
        with Engine.open(own.home) as engine:
            with engine.store.database.write() as connection:  # it was removed an hour ago
                connection.execute("UPDATE documents SET removed = removed - 3600")
            library.locator(".gw-toast").wait_for(state="detached")
            until(lambda: len(list((own.home / "files").rglob("*.pdf"))) == 4)
            assert len(engine.documents()) == 4
            assert engine.trash.empty() == []
