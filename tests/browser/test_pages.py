"""The page pane over a document of many pages: what is fetched first, labels, numbers in the margin, words selected
over two pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pymupdf
import pytest
from playwright.sync_api import expect

from benchmarks.long_document import TITLE, question, site
from ragcore.engine import Engine
from ragcore.ingest.read import Reader
from ragcore.types import Scope
from tests import pdfs
from tests.browser.conftest import App, conversation, idle, lent, promise, still
from tests.browser.test_axe import check
from tests.browser.test_places import client_rects

PAGES = 36
ASKED = (3, 21)
PICTURE = re.compile(r"/pages/(\d+)\.png\?w=(\d+)")
THUMBNAIL = 160

# Scrolls until what is lit is the last that the pane shows.
LOW = """(lit) => {
    const desk = document.querySelector(".gw-pane .desk");
    const lowest = Math.max(...[...document.querySelectorAll(lit)].map((one) => one.getBoundingClientRect().bottom));
    desk.scrollBy({ top: lowest + 6 - desk.getBoundingClientRect().bottom, behavior: "instant" });
}"""


@pytest.fixture(scope="module")
def register(app: App) -> Iterator[tuple[App, str]]:
    """The app with a document of `PAGES` pages, and a conversation with an answer from each page in `ASKED`."""
    with Engine.open(app.home, overrides={"llm.model": "offline"}) as engine:
        doc_id = engine.add(sites(), "register.pdf").doc_id
        reader = Reader(engine.file(doc_id), None, "register.pdf")
        for number in range(1, PAGES + 1):
            engine.store.put_page(doc_id, number, reader.page(number, plain=True).to_bytes())
        assert engine.ingest(doc_id).status == "ready"
        engine.index()
        talk = engine.conversations.new(Scope((doc_id,)))
        for page in ASKED:
            answer = engine.chat(talk, question(page)).run()
            assert [citation.page for citation in answer.citations][:1] == [page]
        yield app, talk
        engine.remove(doc_id)


def sites() -> bytes:
    """A register of sites, one a page under a running header; the first twelve pages are labelled i to xii."""
    document = pymupdf.open()
    for number in range(1, PAGES + 1):
        page = document.new_page(width=612, height=792)
        page.insert_text((72, 46), TITLE, fontsize=8)
        page.insert_text((72, 96), site(number), fontsize=17, fontname="hebo")
        facts = (
            f"{site(number)} used {37 * number + 400} megawatt hours of electricity in the year under review and drew "
            f"{53 * number + 900} cubic metres of water. It employed {number + 40} people at the end of the year."
        )
        page.insert_textbox((72, 110, 540, 160), facts, fontsize=11)
        page.insert_text((300, 760), f"Page {number}", fontsize=8)
    front = {"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1}
    document.set_page_labels([front, front | {"startpage": 12, "style": "D"}])
    document.set_metadata({"title": TITLE})
    made: bytes = document.tobytes()
    return made


def opened(register: tuple[App, str], open_page: Callable[..., Any]) -> Any:
    """The conversation, the page of its newest answer there and its pane at rest."""
    app, talk = register
    page = open_page(f"{app.url}/?c={talk}")
    page.locator(f'.gw-page[data-page="{ASKED[-1]}"] .gw-text').wait_for(state="attached")
    page.locator(".gw-pane .rail img[src]").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    return page


def cite(page: Any, citations: list[dict[str, Any]], n: int) -> None:
    """Open one of ``citations``, each of which is given by number, page and boxes."""
    doc = page.locator(".gw-pane .dt").input_value()
    more = {"doc": doc, "title": TITLE, "label": "", "quote": "q", "cell": "", "section": [], "heads": []}
    page.evaluate(
        "detail => dispatchEvent(new CustomEvent('gw:open', { detail }))",
        {"turn": "t", "n": n, "citations": [more | citation for citation in citations], "peers": []},
    )


def at(n: int, page: int, x: float = 72.0, y: float = 114.0) -> dict[str, Any]:
    return {"n": n, "page": page, "boxes": [[page, x, y, x + 60, y + 11]]}


def go_to(page: Any, label: str) -> Any:
    box = page.get_by_label("Page", exact=True).and_(page.locator("input"))
    box.click()
    box.fill(label)
    page.keyboard.press("Enter")
    return box


def in_sight(page: Any) -> set[int]:
    """Pages that are in the window, by their places alone."""
    script = """all => {
        const desk = document.querySelector('.gw-pane .desk').getBoundingClientRect();
        const seen = (r) => r.bottom > desk.top && r.top < desk.bottom;
        return all.filter(e => seen(e.getBoundingClientRect())).map(e => Number(e.dataset.page));
    }"""
    return set(page.locator(".gw-page").evaluate_all(script))


@pytest.mark.slow
def test_a_document_of_many_pages(register: tuple[App, str], open_page: Callable[..., Any]) -> None:
    app, _ = register
    page = opened(register, open_page)
    with promise("pictures in sight come before all others"):
        in_sight_first(page)

    with promise("page labels lead to their pages"):
        for label, number, shown in (("iv", 4, "iv"), ("XI", 11, "xi"), ("4", 16, "4"), ("99", PAGES, "24")):
            box = go_to(page, label)
            page.locator(f".pgbox:has-text('{number} of {PAGES}')").wait_for()
            expect(box).to_have_value(shown)
    with promise("an unknown label is said"):
        go_to(page, "plate 3")
        said = page.locator(".gw-pane .pgbox").get_by_role("alert")
        expect(said).to_have_text("No page “plate 3”", use_inner_text=True)
        expect(box).to_have_attribute("aria-invalid", "true")
        page.keyboard.press("Escape")
        expect(box).to_have_value("24")
        expect(said).to_have_text("", use_inner_text=True)
        assert page.locator(".gw-pane .pgbox").inner_text().strip() == f"{PAGES} of {PAGES}"

    check(page, "a document of many pages")
    with promise("thumbnails are one stop of the keyboard, and gone through by its arrows"):
        go_to(page, "9")
        page.locator(f".pgbox:has-text('21 of {PAGES}')").wait_for()
        stops = page.locator(".gw-pane .rail button[tabindex='0']")
        expect(stops).to_have_count(1)
        expect(stops).to_have_attribute("aria-current", "page")
        page.get_by_role("tab", name="Thumbnails").focus()
        page.keyboard.press("Tab")
        assert stops.evaluate("e => e === document.activeElement")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.locator(f".pgbox:has-text('22 of {PAGES}')").wait_for()
        page.keyboard.press("End")  # far from what is drawn
        page.keyboard.press("Enter")
        page.locator(f".pgbox:has-text('{PAGES} of {PAGES}')").wait_for()
        assert page.evaluate("document.activeElement.closest('.rail') !== null")
        expect(stops).to_have_count(1)

    with promise("a citation is lit and in sight on a turned page"):
        for turns in range(1, 5):
            page.keyboard.press("r")
            page.locator(".gw-turn").nth(turns % 2).locator("a.gw-cite").first.click()
            lit = f'.gw-highlight[data-page="{ASKED[turns % 2]}"][data-role="cited"]'
            still(page, lit)
            assert whole(page, lit)

    with promise("in a window of another size, and loaded again in one, words that were in sight still are"):
        for width, height, again in ((1440, 900, False), (1280, 560, False), (1920, 1080, False), (1280, 600, True)):
            page.evaluate(LOW, lit)
            assert whole(page, lit)
            address = page.url
            if again:
                page.goto("about:blank")
            page.set_viewport_size({"width": width, "height": height})
            if again:
                page.go_back()
                page.wait_for_url(address)
            still(page, lit)
            assert whole(page, lit), (width, height)
    with promise("what one had gone away from stays away"):
        page.locator(".gw-pane .desk").evaluate("(desk) => desk.scrollBy({ top: 2000, behavior: 'instant' })")
        idle(page)
        page.set_viewport_size({"width": 1440, "height": 900})
        idle(page)
        assert not whole(page, lit)

    with promise("numbers in the margin lie over no word and no other number"):
        many_numbers(page)
    with promise("nor do they on a full page with hardly a margin"), lent(app, {"full.pdf": full_page()}) as (doc_id,):
        page.goto(f"{app.url}/?c={conversation(app, 'How often was Well 07 sampled?', doc_id)}")
        for width, height in ((1440, 900), (1280, 720)):
            page.set_viewport_size({"width": width, "height": height})
            page.locator(".gw-page .gw-text tspan").first.wait_for(state="attached")
            cite(page, [at(n, 1, 13, 12 + 96 * n) for n in (1, 2, 3)], 2)
            page.locator(".gw-page .gw-tag.on").wait_for()
            still(page, ".gw-page .gw-tag")
            assert apart(page, 1) == 3


def whole(page: Any, selector: str) -> bool:
    """Whether what ``selector`` finds is there, and within the pane."""
    (desk,) = client_rects(page, ".gw-pane .desk")
    rects = client_rects(page, selector)
    return bool(rects) and all(desk["y0"] <= rect["y0"] and rect["y1"] <= desk["y1"] for rect in rects)


def in_sight_first(page: Any) -> None:
    held: list[Any] = []
    holding = True
    page.route(PICTURE, lambda route: held.append(route) if holding else route.continue_())
    go_to(page, "14")  # the 26th page, which no answer cites
    page.wait_for_function("() => document.querySelector('.gw-page[data-page=\"26\"] img.whole')?.hasAttribute('src')")
    idle(page)

    def asked() -> list[tuple[int, int]]:
        found = [PICTURE.search(route.request.url) for route in held]
        return [(int(match[1]), int(match[2])) for match in found if match]

    wanted = in_sight(page)
    assert 26 in wanted
    assert {number for number, _ in asked()} == wanted
    assert all(width > THUMBNAIL for _, width in asked())
    first = len(held)

    def later(request: Any, small: bool) -> bool:
        match = PICTURE.search(request.url)
        return bool(match) and int(match[1]) not in wanted and (int(match[2]) == THUMBNAIL) is small

    with (
        page.expect_request(lambda request: later(request, True)),
        page.expect_request(lambda request: later(request, False)),
    ):
        for route in held[:first]:
            route.continue_()
    holding = False
    for route in held[first:]:
        route.continue_()


def many_numbers(page: Any) -> None:
    """Three citations on one line, one on the next, one of two digits."""
    cite(page, [at(1, 7), at(2, 7, 180), at(3, 7, 300), at(4, 7, y=129), at(12, 7, 180, 129)], 2)
    page.locator('.gw-page[data-page="7"] .gw-text tspan').first.wait_for(state="attached")
    still(page, '.gw-page[data-page="7"] .gw-tag')
    assert apart(page, 7) == 5


def full_page() -> bytes:
    """Lines from one edge to the other."""
    line = "was sampled twice, and the water of each was tested on the day it was drawn by its own crew and"
    lines = [f"Well {n:02} {line}" for n in range(40)]
    document = pymupdf.open(stream=pdfs.lines_pdf(lines, size=9.0, leading=15.0), filetype="pdf")
    right = max(word[2] for word in document[0].get_text("words"))
    document[0].set_cropbox(pymupdf.Rect(60, 70, right + 12, 720))
    made: bytes = document.tobytes()
    return made


def apart(page: Any, number: int) -> int:
    """How many numbers of citations stand on a page, none of them over a word or another."""
    numbers = client_rects(page, f'.gw-page[data-page="{number}"] .gw-tag')
    words = client_rects(page, f'.gw-page[data-page="{number}"] .gw-text tspan')

    def meet(a: dict[str, float], b: dict[str, float]) -> bool:
        return a["x0"] < b["x1"] - 1 and b["x0"] < a["x1"] - 1 and a["y0"] < b["y1"] - 1 and b["y0"] < a["y1"] - 1

    for i, one in enumerate(numbers):
        assert not [other for other in numbers[:i] if meet(one, other)]
        assert not [word for word in words if meet(one, word)]
    return len(numbers)


@pytest.mark.slow
def test_a_document_of_many_pages_on_a_phone(register: tuple[App, str], open_page: Callable[..., Any]) -> None:
    app, talk = register
    page = open_page(f"{app.url}/?c={talk}", 390, 844)
    page.locator(".gw-answer a.gw-cite").last.click()
    page.locator(".gw-highlight").first.wait_for()
    with promise("a closed page stays closed over a reload"):
        page.get_by_role("button", name="Close page").click()
        page.locator(".gw-highlight").first.wait_for(state="hidden")
        page.reload()
        page.locator('.gw-answer a.gw-cite[aria-current="true"]').first.wait_for()
        idle(page)
        expect(page.locator(".gw-pane")).to_be_hidden()
        page.locator(".gw-peek").click()
        page.locator(".gw-highlight").first.wait_for()
    with promise("numbers in the margin lie over no word and no other number"):
        many_numbers(page)


@pytest.mark.slow
def test_pages_are_fetched_once_kept_and_copied(register: tuple[App, str], open_page: Callable[..., Any]) -> None:
    page = opened(register, open_page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with promise("pages that an answer cites are there before they are opened"):
        with page.expect_response(re.compile(r"/pages/33\.png")):
            cite(page, [at(1, 7), at(2, 33)], 1)
        page.wait_for_load_state("networkidle")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        cite(page, [at(1, 7), at(2, 33)], 2)
        page.locator('.gw-highlight[data-page="33"][data-role="cited"]').first.wait_for()
        picture = page.locator('.gw-page[data-page="33"] img.whole').element_handle()
        page.wait_for_function("picture => picture.complete && picture.naturalWidth", arg=picture)
        assert not [url for url in asked if "/pages/33.png" in url and f"w={THUMBNAIL}" not in url], "fetched twice"

    with promise("words are selected and copied over two pages"):
        copied_over_two(page)
    with promise("pages that were jumped over are copied too"):
        copied_over_many(page)

    with promise("after a reload one is where one was"):
        page.locator(".gw-turn").first.locator("a.gw-cite").first.click()
        page.locator(f'.gw-highlight[data-page="{ASKED[0]}"][data-role="cited"]').first.wait_for()
        page.get_by_role("button", name="Zoom in").click()
        go_to(page, "18")
        page.locator(".gw-pane .desk").evaluate("desk => (desk.scrollTop += 150)")
        page.locator(f".pgbox:has-text('30 of {PAGES}')").wait_for()
        before = page.locator(".gw-pane .desk").evaluate("desk => [desk.scrollTop, desk.scrollHeight]")
        page.reload()
        page.locator(f".pgbox:has-text('30 of {PAGES}')").wait_for()
        page.locator('.gw-answer a.gw-cite[aria-current="true"]').first.wait_for()
        after = page.locator(".gw-pane .desk").evaluate("desk => [desk.scrollTop, desk.scrollHeight]")
        assert after == pytest.approx(before, abs=2)
        page.locator('.gw-answer a.gw-cite[aria-current="true"]').first.click()
        page.locator(f'.gw-highlight[data-page="{ASKED[0]}"][data-role="cited"]').first.wait_for()


def copied_over_two(page: Any) -> None:
    go_to(page, "18")
    for number in (30, 31):
        page.locator(f'.gw-page[data-page="{number}"] .gw-text').wait_for(state="attached")
    page.evaluate("""() => {
        const desk = document.querySelector('.gw-pane .desk'), low = document.querySelector('.gw-page[data-page="30"]');
        desk.scrollTop += low.getBoundingClientRect().bottom - desk.getBoundingClientRect().top - desk.clientHeight / 2;
    }""")
    still(page, '.gw-page[data-page="30"]')

    def box(number: int, word: str) -> dict[str, float]:
        found: dict[str, float] = page.locator(f'.gw-page[data-page="{number}"] .gw-text tspan').evaluate_all(
            """(all, word) => { const r = all.find(e => e.textContent.trim() === word).getBoundingClientRect();
                return {x0: r.left, x1: r.right, y: (r.top + r.bottom) / 2} }""",
            word,
        )
        return found

    first, last = box(30, "Page"), box(31, site(31).split()[1])
    page.mouse.move(first["x0"] + 0.5, first["y"])
    page.mouse.down()
    page.mouse.move(first["x1"], first["y"] + 20, steps=3)
    page.mouse.move(last["x1"] - 0.5, last["y"], steps=5)
    page.mouse.up()
    page.get_by_role("toolbar", name="Selected words").wait_for()
    page.keyboard.press("Control+c")
    copied = page.evaluate("navigator.clipboard.readText()").split()
    # The running header of the second page is no part of its text, in whose order words are selected.
    assert copied == ["Page", "30", *site(31).split()]


def copied_over_many(page: Any) -> None:
    def middle(number: int, at: int) -> dict[str, float]:
        word = page.locator(f'.gw-page[data-page="{number}"] .gw-text tspan[data-i="{at}"]')
        word.wait_for(state="attached")
        found: dict[str, float] = word.evaluate(
            "e => { const r = e.getBoundingClientRect(); return {x0: r.left, x1: r.right, y: (r.top + r.bottom) / 2} }"
        )
        return found

    go_to(page, "2")  # the fourteenth page
    first = middle(14, 1)
    page.mouse.move(first["x0"] + 0.5, first["y"])
    page.mouse.down()
    page.mouse.move(first["x1"] - 0.5, first["y"], steps=3)
    page.mouse.up()
    page.get_by_role("toolbar", name="Selected words").wait_for()
    # As by the scroll bar: a click elsewhere would end the selection.
    page.locator(".gw-pane .desk").evaluate("(desk, share) => (desk.scrollTop = share * desk.scrollHeight)", 29 / PAGES)
    last = middle(30, 1)
    page.keyboard.down("Shift")
    page.mouse.click(last["x1"] - 0.5, last["y"])
    page.keyboard.up("Shift")
    copied = ""
    for _ in range(100):  # until the words of all pages are there, what was copied before stays
        page.keyboard.press("Control+c")
        copied = " ".join(page.evaluate("navigator.clipboard.readText()").split())
        if f"{site(29)} used" in copied:
            break
        idle(page)
    places = [copied.find(f"{site(number)} used") for number in range(14, 30)]
    assert -1 not in places
    assert places == sorted(places)
