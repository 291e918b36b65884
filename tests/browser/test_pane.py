"""The page pane on turned, cropped and zoomed pages, against PyMuPDF's own idea of where words are; search, outline,
selection, keys, and sharpness."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pymupdf
import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from ragcore.types.table_labels import LabelledTable
from tests.browser.conftest import App, Shelf, promise
from tests.browser.test_places import SLACK, Rect, client_rects, quoted_and_not, words_on
from ui.chat import payload

PAGES = ["survey.pdf", "cropped and turned.pdf"]


def cited(page: Any) -> Any:
    """The page with its first citation open."""
    page.locator('.gw-answer a.gw-cite[data-n="1"]').first.click()
    page.locator('.gw-highlight[data-n="1"][data-role="cited"]').first.wait_for()
    page.locator(".gw-page .gw-text").first.wait_for(state="attached")
    return page


def zoom_to(page: Any, percent: int) -> None:
    shown = page.locator(".gw-pane .zm")
    while (now := int(shown.inner_text().rstrip("%"))) != percent:
        page.keyboard.press("-" if now > percent else "+")


def turned(box: pymupdf.Rect, sheet: pymupdf.Rect, quarters: int) -> pymupdf.Rect:
    """``box`` of a page ``sheet`` that is turned clockwise, by a rotation about the page's middle."""
    middle = (sheet.tl + sheet.br) / 2
    turn = pymupdf.Matrix(1, 0, 0, 1, -middle.x, -middle.y)
    for _ in range(quarters):
        turn = turn * pymupdf.Matrix(0, 1, -1, 0, 0, 0)  # y points down: clockwise
    whole, part = sheet * turn, box * turn
    return pymupdf.Rect(part.x0 - whole.x0, part.y0 - whole.y0, part.x1 - whole.x0, part.y1 - whole.y0)


def assert_over(lit: list[Rect], inside: list[pymupdf.Rect], outside: list[pymupdf.Rect], zoom: float) -> None:
    """The rectangles ``lit`` (pixels from the page's corner) cover the boxes ``inside`` (points) and the middle of none
    that is ``outside``."""
    for box in inside:
        assert any(
            rect["x0"] <= box.x0 * zoom + SLACK
            and rect["y0"] <= box.y0 * zoom + SLACK
            and rect["x1"] >= box.x1 * zoom - SLACK
            and rect["y1"] >= box.y1 * zoom - SLACK
            for rect in lit
        ), f"{box} × {zoom} is not covered by {lit}"
    for box in outside:
        x, y = (box.x0 + box.x1) / 2 * zoom, (box.y0 + box.y1) / 2 * zoom
        assert not any(r["x0"] < x < r["x1"] and r["y0"] < y < r["y1"] for r in lit), f"{box} × {zoom} is lit"


def on_page(page: Any, selector: str) -> list[Rect]:
    (sheet,) = client_rects(page, '.gw-page[data-page="1"]')
    moved = {"x0": sheet["x0"], "x1": sheet["x0"], "y0": sheet["y0"], "y1": sheet["y0"]}
    return [{side: rect[side] - moved[side] for side in rect} for rect in client_rects(page, selector)]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_at_every_zoom_and_turn(name: str, app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    page = cited(open_page(f"{app.url}/?c={shelf.conversations[name]}"))
    with promise("the quoted words are lit at every zoom, however the page is turned"):
        quoted, others, sheet = quoted_and_not(shelf.files[name], shelf.answers[name].citations[0])
        for quarters in range(4):
            for percent in (50, 100, 250) if quarters % 2 else (250, 100, 50):
                zoom_to(page, percent)
                zoom = percent / 100
                (shown,) = on_page(page, '.gw-page[data-page="1"]')
                whole = turned(sheet, sheet, quarters)
                assert (shown["x1"], shown["y1"]) == pytest.approx((whole.width * zoom, whole.height * zoom), abs=1)
                (picture,) = on_page(page, '.gw-page[data-page="1"] img.whole')
                assert list(picture.values()) == pytest.approx(list(shown.values()), abs=0.5)
                lit = on_page(page, '.gw-highlight[data-n="1"][data-role="cited"]')
                assert_over(
                    lit,
                    [turned(box, sheet, quarters) for box in quoted],
                    [turned(box, sheet, quarters) for box in others],
                    zoom,
                )
            page.keyboard.press("r")
    with promise("the picture is the page turned"):
        page.keyboard.press("9")
        for quarters in (1, 2, 3):
            page.keyboard.press("r")
            page.wait_for_function(
                "() => (({ complete, naturalWidth }) => complete && naturalWidth)(document.querySelector('img.whole'))"
            )
            seen = grey(pymupdf.Pixmap(page.locator(".gw-page").screenshot(animations="disabled")), 40)
            with pymupdf.open(shelf.files[name]) as pdf:
                own = pdf[0].rotation
                alike = []
                for turn in range(4):
                    pdf[0].set_rotation((own + 90 * turn) % 360)
                    alike.append(np.corrcoef(seen.ravel(), grey(pdf[0].get_pixmap(dpi=100), 40).ravel())[0, 1])
            assert np.argmax(alike) == quarters, alike
            assert max(alike) > 0.6, alike
    page.keyboard.press("r")
    with promise("find lights each match and no other word"):
        *words, (_, sheet) = words_on(shelf.files[name], 1)
        wanted = [box for text, box in words if "nitrate" in text.lower()]
        others = [box for text, box in words if "nitrate" not in text.lower()]
        assert len(wanted) > 1
        page.locator(".gw-pane .desk").focus()
        page.keyboard.press("Control+f")
        page.keyboard.type("NITRATE")
        page.locator(".gw-match.on").wait_for()
        said = page.locator(".gw-find .said")
        expect(said).to_have_text(f"1 of {len(wanted)}", use_inner_text=True)
        for quarters in range(2):
            (shown,) = on_page(page, '.gw-page[data-page="1"]')
            zoom = shown["x1"] / turned(sheet, sheet, quarters).width
            lit = on_page(page, ".gw-match")
            assert_over(
                lit,
                [turned(box, sheet, quarters) for box in wanted],
                [turned(box, sheet, quarters) for box in others],
                zoom,
            )
            page.get_by_role("button", name="Rotate").click()
            page.locator(".gw-match.on").wait_for()
        assert re.search(rf"{len(wanted)} matches", page.locator(".gw-pane .rail button").get_attribute("aria-label"))
        colours = page.locator(".gw-match").evaluate_all("all => all.map(e => getComputedStyle(e).backgroundColor)")
        for red, green, blue in (map(int, re.findall(r"\d+", colour)[:3]) for colour in colours):
            assert red < green < blue, "yellow is evidence, and nothing else is"

    with promise("matches are gone through by keys"):
        field = page.get_by_label("Find in document", exact=True).and_(page.locator("input"))
        field.focus()
        page.keyboard.press("Enter")
        expect(said).to_have_text(f"2 of {len(wanted)}", use_inner_text=True)
        page.keyboard.press("Shift+Enter")
        page.keyboard.press("Shift+Enter")
        expect(said).to_have_text(f"{len(wanted)} of {len(wanted)}", use_inner_text=True)
        field.fill("no such words")
        page.locator(".gw-find.none").wait_for()
        expect(said).to_have_text("No match", use_inner_text=True)
        page.keyboard.press("Escape")
        expect(page.locator(".gw-find")).to_be_hidden()
        expect(page.locator(".gw-match")).to_have_count(0)


def grey(pixmap: pymupdf.Pixmap, across: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A picture as ``(across, across)`` means of its ink: what is not red, so that yellow is none."""
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.stride)
    ink = 255.0 - pixels[:, : pixmap.width * pixmap.n].reshape(pixmap.height, pixmap.width, pixmap.n)[:, :, 0]
    rows = [part.mean(axis=0) for part in np.array_split(ink, across, axis=0)]
    return np.array([[part.mean() for part in np.array_split(row, across)] for row in rows])


def at_rest(page: Any, selector: str) -> list[Rect]:
    """The rectangles once nothing moves them: the pane's width and zoom change over some frames."""
    before: list[Rect] = []
    while (now := client_rects(page, selector)) != before:
        before = now
        page.wait_for_timeout(150)
    return now


@pytest.mark.slow
def test_the_pane_from_the_desk_to_a_phone(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    survey = f"{app.url}/?c={shelf.conversations['survey.pdf']}"
    page = cited(open_page(survey))
    with promise("tiles are those of the page"):
        page.wait_for_function("() => document.querySelector('.gw-page img.whole')?.src")
        source = page.locator(".gw-page img.whole").first.get_attribute("src")
        for path, status in (("2560/0-0", 200), ("2560/3-0", 400), ("2561/0-0", 400)):
            asked = re.sub(r"/1\.png\?w=\d+", f"/1/tiles/{path}.png", source)
            assert page.request.get(f"{app.url}{asked}").status == status, path
    with promise("words are found over a line end"):
        layer = page.locator(".gw-page .gw-text text")
        first, second = (layer.nth(i).text_content().split() for i in (1, 2))
        page.get_by_role("button", name="Find in document").click()
        page.keyboard.type(f"{first[-1]} {second[0]}")
        page.locator(".gw-match.on").first.wait_for()
        expect(page.locator(".gw-match.on")).to_have_count(2)
        page.keyboard.press("Escape")
    with promise("the contents lead to headings, and stay over a reload"):
        zoom_to(page, 250)
        page.get_by_role("tab", name="Contents").click()
        heading = page.get_by_role("treeitem").first
        heading.wait_for()
        heading.click()
        expect(heading).to_have_attribute("aria-current", "location")
        title = heading.get_attribute("title").split()[0]
        (word,) = [box for text, box in words_on(shelf.files["survey.pdf"], 1) if text == title][:1]
        (sheet,), (desk,) = client_rects(page, ".gw-page"), client_rects(page, ".gw-pane .desk")
        assert desk["y0"] <= sheet["y0"] + word.y0 * 2.5 <= desk["y0"] + 60
        page.reload()
        expect(page.get_by_role("tab", name="Contents")).to_have_attribute("aria-selected", "true")
        page.get_by_role("tab", name="Thumbnails").click()
        page.locator(".gw-answer a.gw-cite").first.click()
        page.locator('.gw-highlight[data-n="1"]').first.wait_for()
    with promise("single keys are listed and can be switched off"):
        page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keyboard")
        keys.get_by_label("Single keys").uncheck()
        page.keyboard.press("Escape")
        keys.wait_for(state="detached")
        page.reload()
        page.locator('.gw-highlight[data-n="1"]').first.wait_for()
        page.keyboard.press("]")
        page.keyboard.press("?")
        expect(page.locator(".gw-pane")).to_be_visible()
        expect(keys).to_have_count(0)
        page.get_by_role("button", name="Keyboard").click()
        keys.get_by_label("Single keys").check()
        page.keyboard.press("Escape")
        keys.wait_for(state="detached")
    with promise("pane and sidebar are hidden by keys and stay so"):
        page.keyboard.press("]")
        page.keyboard.press("[")
        page.get_by_role("button", name="Expand sidebar").wait_for()
        expect(page.locator(".gw-pane")).to_be_hidden()
        page.goto(survey)
        page.locator(".gw-answer a.gw-cite").first.wait_for()
        expect(page.locator(".gw-pane")).to_be_hidden()
        page.get_by_role("button", name="Expand sidebar").wait_for()
        page.locator(".gw-answer a.gw-cite").first.click()
        page.locator('.gw-highlight[data-n="1"]').first.wait_for()
        expect(page.get_by_role("button", name="Page pane")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("[")
        page.get_by_role("button", name="Expand sidebar").wait_for(state="detached")

    page.keyboard.press("9")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with promise("words are selected, copied and asked about"):
        *words, (_, sheet) = words_on(shelf.files["survey.pdf"], 1)
        texts = [text for text, _ in words]
        start = next(i for i in range(len(texts)) if texts[i : i + 2] == ["Forty", "wells"])
        end = start + texts[start:].index("nitrate")
        for turns in range(2):  # as it is, and turned by a quarter
            page.locator('.gw-page[data-page="1"] [data-i="0"]').wait_for(state="attached")
            (shown,) = at_rest(page, '.gw-page[data-page="1"]')
            first, last = (turned(words[i][1], sheet, turns) for i in (start, end))
            zoom = (shown["x1"] - shown["x0"]) / turned(sheet, sheet, turns).width
            inner = 0.5 if turns == 0 else 0.0
            page.mouse.move(
                shown["x0"] + (first.x0 + inner if turns == 0 else (first.x0 + first.x1) / 2) * zoom,
                shown["y0"] + ((first.y0 + first.y1) / 2 if turns == 0 else first.y0 + 0.5) * zoom,
            )
            page.mouse.down()
            page.mouse.move(shown["x0"] + last.x0 * zoom, shown["y0"] + last.y0 * zoom, steps=3)
            page.mouse.move(
                shown["x0"] + (last.x1 - 0.5 if turns == 0 else (last.x0 + last.x1) / 2) * zoom,
                shown["y0"] + ((last.y0 + last.y1) / 2 if turns == 0 else last.y1 - 0.5) * zoom,
            )
            page.mouse.up()
            page.get_by_role("toolbar", name="Selected words").wait_for()
            page.keyboard.press("Control+c")
            assert page.evaluate("navigator.clipboard.readText()") == " ".join(texts[start : end + 1])
            if turns == 0:
                page.keyboard.press("r")
                page.locator(".gw-page .gw-text").wait_for(state="attached")
        page.get_by_role("button", name="Copy with source").click()
        page.get_by_role("button", name="Copied").wait_for()
        quote = " ".join(texts[start : end + 1])
        title = "Larkfield Water Survey"
        assert page.evaluate("navigator.clipboard.readText()") == f"“{quote}” ({title}, p. 1)"
        page.get_by_role("button", name="Ask about this").click()
        box = page.get_by_label("Ask your documents").and_(page.locator("textarea"))
        expect(box).to_have_value(f"About “{quote}” ({title}, p. 1): ")
        page.keyboard.type("why?")
        assert box.input_value().endswith(": why?")
        expect(page.get_by_role("toolbar", name="Selected words")).to_be_hidden()

    with promise("a cell is lit with its row and column headers"):
        lit_cell(page, app, shelf)
    with promise("a page is sharp at any zoom on a fine screen"):
        fine = {"width": 1440, "height": 900, "deviceScaleFactor": 2, "mobile": False}
        screen = page.context.new_cdp_session(page)
        screen.send("Emulation.setDeviceMetricsOverride", fine)
        page.locator(".gw-pane .desk").focus()
        zoom_to(page, 400)
        density = """() => {
            const desk = document.querySelector('.gw-pane .desk').getBoundingClientRect();
            const tiles = [...document.querySelectorAll('.gw-page .tiles img')];
            if (!tiles.length || tiles.some(t => !t.complete || !t.style.width)) return null;
            const inside = tiles.map(t => t.getBoundingClientRect());
            const covers = (x, y) => inside.some(r => r.left <= x && x <= r.right && r.top <= y && y <= r.bottom);
            const page = document.querySelector('.gw-page').getBoundingClientRect();
            for (let x = Math.max(desk.left, page.left) + 2; x < Math.min(desk.right, page.right) - 20; x += 40)
                for (let y = Math.max(desk.top, page.top) + 2; y < Math.min(desk.bottom, page.bottom) - 20; y += 40)
                    if (!covers(x, y)) return null;
            return Math.min(...tiles.map(t => t.naturalWidth / t.getBoundingClientRect().width));
        }"""
        assert page.wait_for_function(density).json_value() >= 2 * 0.98
        page.get_by_role("button", name="Fit page").click()
        (sheet,), (desk,) = client_rects(page, ".gw-page"), client_rects(page, ".gw-pane .desk")
        assert sheet["y1"] - sheet["y0"] <= desk["y1"] - desk["y0"]
        assert sheet["y0"] >= desk["y0"]
        expect(page.locator(".gw-page .tiles img")).to_have_count(0)
        screen.detach()

    with promise("a phone has search and contents in the drawer"):
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(survey)
        cited(page)
        page.get_by_role("button", name="Contents").click()
        page.get_by_role("treeitem").first.wait_for()
        page.get_by_role("button", name="Contents").click()
        page.get_by_role("button", name="Find in document").click()
        page.keyboard.type("pump")
        page.locator(".gw-match.on").wait_for()
        bars = client_rects(page, ".gw-find, .gw-pane .tbar > *")
        assert all(bar["x0"] >= 0 and bar["x1"] <= 390 for bar in bars)


def lit_cell(page: Any, app: App, shelf: Shelf) -> None:
    with Engine.open(shelf.home) as engine:
        (info,) = [info for info in engine.documents() if info.name == "table.pdf"]
        read = engine.document(info.doc_id)
    (table,) = [item.table for item in read.elements if item.table]
    cell = next(cell for cell in table.cells if read.text[cell.start : cell.end] == "61.4")
    headers = LabelledTable(read, table).heads(cell)
    citation = {
        "n": 1,
        "doc": read.doc_id,
        "title": read.title,
        "page": 1,
        "label": "1",
        "quote": "61.4",
        "cell": "Orchard Lane · May",
        "section": [],
        "boxes": [payload.box(box) for box in read.boxes(cell.start, cell.end)],
        "heads": [payload.box(box) for header in headers for box in read.boxes(header.start, header.end)],
    }
    page.goto(f"{app.url}/?c={shelf.conversations['table.pdf']}")
    page.locator(".gw-page .gw-text").first.wait_for(state="attached")
    page.evaluate(
        "citation => dispatchEvent(new CustomEvent('gw:open', "
        "{ detail: { turn: 't', n: 1, citations: [citation], peers: [] } }))",
        citation,
    )
    page.locator('.gw-highlight[data-role="head"]').first.wait_for()
    *words, (_, sheet) = words_on(shelf.files["table.pdf"], 1)
    (shown,) = on_page(page, '.gw-page[data-page="1"]')
    zoom = shown["x1"] / sheet.width
    lit = on_page(page, '.gw-highlight[data-role="cited"]')
    heads = on_page(page, '.gw-highlight[data-role="head"]')

    def within(rects: list[Rect]) -> set[str]:
        middles = [(text, (box.x0 + box.x1) / 2 * zoom, (box.y0 + box.y1) / 2 * zoom) for text, box in words]
        return {t for t, x, y in middles if any(r["x0"] < x < r["x1"] and r["y0"] < y < r["y1"] for r in rects)}

    assert within(lit) == {"61.4"}
    assert within(heads) == {"Orchard", "Lane", "May"}
    (tag,) = on_page(page, ".gw-page .gw-tag.on")
    assert not within([tag]), "a number stands where no word is"
