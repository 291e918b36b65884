"""The page pane over a document of many pages: what is fetched first, labels, numbers in the margin, words selected
over two pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pymupdf
import pytest

from benchmarks import long_document
from ragcore.engine import Engine
from ragcore.types import Scope
from tests import pdfs
from tests.browser.conftest import App, serve
from tests.browser.test_axe import check
from tests.browser.test_places import client_rects
from tests.matrix import standing_for

PAGES = 36
ASKED = (3, 21)
PICTURE = re.compile(r"/pages/(\d+)\.png\?w=(\d+)")
THUMBNAIL = 160


@pytest.fixture(scope="module")
def register(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, str]]:
    """The app on a document of `PAGES` pages, and a conversation with an answer from each page in `ASKED`."""
    home = tmp_path_factory.mktemp("register") / "home"
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        conversation = engine.conversations.new(Scope((long_document.put(engine, PAGES),)))
        for page in ASKED:
            answer = engine.chat(conversation, long_document.question(page)).run()
            assert [citation.page for citation in answer.citations][:1] == [page]
    with serve(home) as app:
        yield app, conversation


def opened(register: tuple[App, str], open_page: Callable[..., Any], **options: Any) -> Any:
    """The conversation, the page of its newest answer there and its pane at rest."""
    app, conversation = register
    page = open_page(f"{app.url}/?c={conversation}", **options)
    page.locator(f'.gw-page[data-page="{ASKED[-1]}"] .gw-text').wait_for(state="attached")
    page.locator(".gw-pane .rail img[src]").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    return page


def cite(page: Any, citations: list[dict[str, Any]], n: int) -> None:
    """Open one of ``citations``, each of which is given by number, page and boxes."""
    doc = page.locator(".gw-pane .dt").input_value()
    more = {"doc": doc, "title": long_document.TITLE, "label": "", "quote": "q", "cell": "", "section": [], "heads": []}
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


def test_pictures_in_sight_come_before_all_others(register: tuple[App, str], open_page: Callable[..., Any]) -> None:
    page = opened(register, open_page)
    held: list[Any] = []
    page.route(PICTURE, lambda route: held.append(route))
    go_to(page, "18")  # the thirtieth page
    page.wait_for_function("() => document.querySelector('.gw-page[data-page=\"30\"] img.whole')?.hasAttribute('src')")
    page.wait_for_timeout(500)

    def asked() -> list[tuple[int, int]]:
        found = [PICTURE.search(route.request.url) for route in held]
        return [(int(match[1]), int(match[2])) for match in found if match]

    wanted = in_sight(page)
    assert 30 in wanted
    assert {number for number, _ in asked()} == wanted
    assert all(width > THUMBNAIL for _, width in asked())
    first = len(held)
    for route in held[:first]:
        route.continue_()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.gw-pane .rail img, .gw-page img')].every(i => i.hasAttribute('src'))"
    )

    def came() -> bool:
        later = asked()[first:]
        neighbours = {number for number, width in later if width > THUMBNAIL} - wanted
        return bool(neighbours) and any(width == THUMBNAIL for _, width in later)

    for _ in range(100):
        if came():
            break
        page.wait_for_timeout(100)
    assert came(), "thumbnails and neighbours come as well"
    for route in held[first:]:
        route.continue_()


@pytest.mark.slow
def test_pages_that_an_answer_cites_are_there_before_they_are_opened(
    register: tuple[App, str], open_page: Callable[..., Any]
) -> None:
    page = opened(register, open_page)
    with page.expect_response(re.compile(r"/pages/33\.png")):
        cite(page, [at(1, 7), at(2, 33)], 1)
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    cite(page, [at(1, 7), at(2, 33)], 2)
    page.locator('.gw-highlight[data-page="33"][data-role="cited"]').first.wait_for()
    picture = page.locator('.gw-page[data-page="33"] img.whole').element_handle()
    page.wait_for_function("picture => picture.complete && picture.naturalWidth", arg=picture)
    assert not [url for url in asked if "/pages/33.png" in url and f"w={THUMBNAIL}" not in url], "it was fetched twice"


def test_thumbnails_are_reached_and_gone_through_by_keys(
    register: tuple[App, str], open_page: Callable[..., Any]
) -> None:
    page = opened(register, open_page)
    check(page, "a document of many pages")
    stops = page.locator(".gw-pane .rail button[tabindex='0']")
    assert stops.count() == 1
    assert stops.get_attribute("aria-current") == "page"
    page.get_by_role("tab", name="Thumbnails").focus()
    page.keyboard.press("Tab")
    assert stops.evaluate("e => e === document.activeElement")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(f".pgbox:has-text('{ASKED[-1] + 1} of {PAGES}')").wait_for()
    page.keyboard.press("End")  # far from what is drawn
    page.keyboard.press("Enter")
    page.locator(f".pgbox:has-text('{PAGES} of {PAGES}')").wait_for()
    assert page.evaluate("document.activeElement.closest('.rail') !== null")
    assert stops.count() == 1


def test_page_labels_lead_to_their_pages_and_an_unknown_one_is_said(
    register: tuple[App, str], open_page: Callable[..., Any]
) -> None:
    page = opened(register, open_page)
    for label, number, shown in (("iv", 4, "iv"), ("XI", 11, "xi"), ("4", 16, "4"), ("99", PAGES, "24")):
        box = go_to(page, label)
        page.locator(f".pgbox:has-text('{number} of {PAGES}')").wait_for()
        assert box.input_value() == shown
    go_to(page, "plate 3")
    said = page.locator(".gw-pane .pgbox").get_by_role("alert")
    assert said.inner_text() == "No page “plate 3”"
    assert box.get_attribute("aria-invalid") == "true"
    page.keyboard.press("Escape")
    assert box.input_value() == "24"
    assert said.inner_text() == ""
    assert page.locator(".gw-pane .pgbox").inner_text().strip() == f"{PAGES} of {PAGES}"


@pytest.mark.parametrize("size", standing_for([(1440, 900)], [(1440, 900), (390, 844)]))
def test_numbers_in_the_margin_lie_over_no_word_and_no_other_number(
    size: tuple[int, int], register: tuple[App, str], open_page: Callable[..., Any]
) -> None:
    app, conversation = register
    page = open_page(f"{app.url}/?c={conversation}", *size)
    page.locator(".gw-answer a.gw-cite").last.click()
    page.locator(".gw-highlight").first.wait_for()
    # Three on one line, one on the next, one of two digits.
    cite(page, [at(1, 7), at(2, 7, 180), at(3, 7, 300), at(4, 7, y=129), at(12, 7, 180, 129)], 2)
    page.locator('.gw-page[data-page="7"] .gw-text tspan').first.wait_for(state="attached")
    page.wait_for_timeout(300)
    assert apart(page, 7) == 5


def test_numbers_lie_over_no_word_on_a_full_page_with_hardly_a_margin(
    register: tuple[App, str], open_page: Callable[..., Any]
) -> None:
    app, _ = register
    with Engine.open(app.home) as engine:
        doc_id = engine.add(full_page(), "full.pdf").doc_id
        assert engine.ingest(doc_id).status == "ready"
        engine.index()
        talk = engine.conversations.new(Scope((doc_id,)))
        engine.chat(talk, "How often was Well 07 sampled?").run()
    page = open_page(f"{app.url}/?c={talk}")
    for width, height in ((1440, 900), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        page.locator(".gw-page .gw-text tspan").first.wait_for(state="attached")
        cite(page, [at(n, 1, 13, 12 + 96 * n) for n in (1, 2, 3)], 2)
        page.locator(".gw-page .gw-tag.on").wait_for()
        page.wait_for_timeout(300)
        assert apart(page, 1) == 3


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
def test_words_are_selected_and_copied_over_two_pages(register: tuple[App, str], open_page: Callable[..., Any]) -> None:
    page = opened(register, open_page, permissions=["clipboard-read", "clipboard-write"])
    go_to(page, "18")
    for number in (30, 31):
        page.locator(f'.gw-page[data-page="{number}"] .gw-text').wait_for(state="attached")
    page.evaluate("""() => {
        const desk = document.querySelector('.gw-pane .desk'), low = document.querySelector('.gw-page[data-page="30"]');
        desk.scrollTop += low.getBoundingClientRect().bottom - desk.getBoundingClientRect().top - desk.clientHeight / 2;
    }""")
    page.wait_for_timeout(300)

    def box(number: int, word: str) -> dict[str, float]:
        found: dict[str, float] = page.locator(f'.gw-page[data-page="{number}"] .gw-text tspan').evaluate_all(
            """(all, word) => { const r = all.find(e => e.textContent.trim() === word).getBoundingClientRect();
                return {x0: r.left, x1: r.right, y: (r.top + r.bottom) / 2} }""",
            word,
        )
        return found

    first, last = box(30, "Page"), box(31, long_document.site(31).split()[1])
    page.mouse.move(first["x0"] + 0.5, first["y"])
    page.mouse.down()
    page.mouse.move(first["x1"], first["y"] + 20, steps=3)
    page.mouse.move(last["x1"] - 0.5, last["y"], steps=5)
    page.mouse.up()
    page.get_by_role("toolbar", name="Selected words").wait_for()
    page.keyboard.press("Control+c")
    copied = page.evaluate("navigator.clipboard.readText()").split()
    # The running header of the second page is no part of its text, in whose order words are selected.
    assert copied == ["Page", "30", *long_document.site(31).split()]


def test_a_citation_is_lit_and_in_sight_on_a_turned_page(
    register: tuple[App, str], open_page: Callable[..., Any]
) -> None:
    page = opened(register, open_page)
    for turns in range(1, 5):
        page.keyboard.press("r")
        page.locator(".gw-turn").nth(turns % 2).locator("a.gw-cite").first.click()
        number = ASKED[turns % 2]
        lit = page.locator(f'.gw-highlight[data-page="{number}"][data-role="cited"]')
        lit.first.wait_for()
        page.wait_for_timeout(200)
        (desk,) = client_rects(page, ".gw-pane .desk")
        for rect in client_rects(page, f'.gw-highlight[data-page="{number}"][data-role="cited"]'):
            assert desk["y0"] <= rect["y0"]
            assert rect["y1"] <= desk["y1"]


@pytest.mark.slow
def test_after_a_reload_one_is_where_one_was(register: tuple[App, str], open_page: Callable[..., Any]) -> None:
    page = opened(register, open_page)
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


@pytest.mark.slow
def test_on_a_phone_a_closed_page_stays_closed_over_a_reload(
    register: tuple[App, str], open_page: Callable[..., Any]
) -> None:
    app, conversation = register
    page = open_page(f"{app.url}/?c={conversation}", 390, 844)
    page.locator(".gw-answer a.gw-cite").last.click()
    page.locator(".gw-highlight").first.wait_for()
    page.get_by_role("button", name="Close page").click()
    page.locator(".gw-highlight").first.wait_for(state="hidden")
    page.reload()
    page.locator('.gw-answer a.gw-cite[aria-current="true"]').first.wait_for()
    page.wait_for_timeout(500)
    assert page.locator(".gw-pane").is_hidden()
    page.locator(".gw-peek").click()
    page.locator(".gw-highlight").first.wait_for()


@pytest.mark.slow
def test_pages_that_were_jumped_over_are_copied_too(register: tuple[App, str], open_page: Callable[..., Any]) -> None:
    page = opened(register, open_page, permissions=["clipboard-read", "clipboard-write"])

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
        if f"{long_document.site(29)} used" in copied:
            break
        page.wait_for_timeout(100)
    places = [copied.find(f"{long_document.site(number)} used") for number in range(14, 30)]
    assert -1 not in places
    assert places == sorted(places)
