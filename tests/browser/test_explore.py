"""Explore: ask, see every chunk, move a slider, open a chunk on its page, compare two settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from tests import pdfs
from tests.browser.conftest import QUESTION, App, Shelf, conversation, go, idle, lent, promise, still
from tests.browser.test_axe import check
from tests.browser.test_claude import ask

ROW = ".gw-explore .list tbody tr"
PLOT = ".gw-explore .chart.js-plotly-plot"
SHAPES = f'document.querySelector("{PLOT}").layout.shapes'


def explored(page: Any) -> Any:
    """The page with all that Explore can show of a question."""
    page.locator(ROW).first.wait_for()
    page.locator(".gw-explore .pas h2").wait_for()  # comes with what was read, after what the searches alone found
    page.locator(f"{PLOT} .scatterlayer .point").first.wait_for()
    if page.locator(".gw-explore .ctl > details:not([open])").count():
        page.locator(".gw-explore .ctl > details > summary").click()
    return page


def until(page: Any, expression: str) -> None:
    """Polled by a function: the page's own policy lets no text be run in it."""
    page.wait_for_function(f"() => {expression}")


def address(app: App) -> str:
    return f"{app.url}/explore?q={quote(QUESTION)}&kinds=1"


@pytest.mark.slow
def test_from_a_question_to_its_chunks(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    conversation(app, "What did the survey test for?")  # another one than the shelf's
    page = open_page(f"{app.url}/explore")
    with promise("a chunk of the table opens its page with its words lit"):
        page.get_by_text("See what a question finds").wait_for()
        assert page.locator(".gw-explore .eg button").count() >= 1
        page.get_by_label("Question", exact=True).last.fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator(".gw-explore .pas h2").wait_for()
        expect(page.get_by_label("Penalty")).to_be_hidden()
        expect(page.locator(".gw-explore .said")).to_contain_text("gave the writer", use_inner_text=True)
        link = page.locator(f"{ROW} a").first
        link.focus()
        page.keyboard.press("Enter")
        page.locator('.gw-highlight[data-role="passage"]').first.wait_for()
        expect(page.locator(ROW).first).to_have_attribute("aria-current", "true")
        panel = page.locator(".gw-explore .pas")
        panel.get_by_text("Chosen").wait_for()
        assert panel.locator("dt").all_inner_texts()[:2] == ["Meaning", "Words (BM25)"]
        page.keyboard.press("Escape")
        page.locator(".gw-pane .desk").wait_for(state="hidden")
    with promise("a reload loses nothing"):
        asked = page.url
        page.reload()
        page.locator(ROW).first.wait_for()
        assert page.url == asked
        expect(page.get_by_label("Question", exact=True).last).to_have_value(QUESTION)
    with promise("what is wrong is said and nothing is lost"):
        page.locator(".gw-explore .pas h2").wait_for()
        rows = page.locator(ROW).count()
        page.get_by_label("Question", exact=True).last.fill("a")
        page.keyboard.press("Enter")
        alert = page.locator(".gw-explore").get_by_role("alert")
        alert.wait_for()
        expect(alert).to_contain_text("too short", use_inner_text=True)
        expect(page.locator(ROW)).to_have_count(rows)
        page.get_by_label("Question", exact=True).last.fill(QUESTION)
        page.keyboard.press("Enter")
        alert.wait_for(state="detached")
    with promise("a question asked while a wrong one is on its way is searched"):
        held: list[Any] = []
        page.route(re.compile(r"/gw/explore(\?|$)"), lambda route: held.append(route), times=1)
        with page.expect_request(re.compile(r"/gw/explore(\?|$)")):
            page.get_by_label("Question", exact=True).last.fill("a")
            page.keyboard.press("Enter")
        page.get_by_label("Question", exact=True).last.fill(QUESTION)
        page.keyboard.press("Enter")
        with page.expect_response(lambda one: "/gw/explore" in one.url and QUESTION in (one.request.post_data or "")):
            held[0].continue_()
        page.locator('.gw-explore [aria-busy="true"]').wait_for(state="detached")
        expect(alert).to_have_count(0)
    with promise("the answer's “Why these” leads to what it used"):
        page.goto(f"{app.url}/?c={shelf.conversations['survey.pdf']}")
        page.get_by_role("link", name="Why these").click()
        page.locator(ROW).first.wait_for()
        expect(page.get_by_label("Question", exact=True).last).to_have_value(QUESTION)
        assert shelf.turns["survey.pdf"] in page.url
        legend = page.locator(".gw-explore .first .lg").first.locator("li")
        expect(legend).to_have_text(
            ["cited in the answer", "given to the writer", "found", "not found"], use_inner_text=True
        )
        page.locator(f'{ROW}[data-use="cited"]').first.wait_for()
        page.get_by_text("How it was searched").click()
        facts = page.locator(".gw-explore .facts")
        facts.wait_for()
        expect(facts).to_contain_text(QUESTION, use_inner_text=True)
        expect(page.locator(".gw-explore .times")).to_contain_text("Searching by meaning", use_inner_text=True)
        page.get_by_role("button", name="Show what found each").click()
        legend.get_by_text("words only").wait_for()
    with promise("and on to other questions"):
        asked = page.get_by_role("region", name="Questions").get_by_role("button")
        expect(asked.first).to_have_attribute("aria-current", "true")
        asked.nth(1).click()
        page.locator('.gw-explore .asked li:nth-child(2) [aria-current="true"]').wait_for()
        assert shelf.turns["survey.pdf"] not in page.url


@pytest.mark.slow
def test_the_plot_and_the_table(app: App, open_page: Callable[..., Any]) -> None:
    page = explored(open_page(address(app), width=1280, height=720))
    with promise("the penalty stands beside the plot"):
        words = page.locator(f"{PLOT} .annotation-text", has_text="penalty").bounding_box()
        area = page.locator(f"{PLOT} .nsewdrag").first.bounding_box()
        assert words["x"] >= area["x"] + area["width"]
    with promise("a range is ticked with Shift"):
        boxes = page.locator(f"{ROW} input")
        last = min(boxes.count(), 4) - 1
        boxes.first.click()
        boxes.nth(last).click(modifiers=["Shift"])
        expect(page.locator(f"{ROW} input:checked")).to_have_count(last + 1)
        page.get_by_role("button", name="Clear the selection").click()
        expect(page.locator(f"{ROW} input:checked")).to_have_count(0)
    with promise("what a box selects, the keys select in the table"):
        every = page.locator(ROW).count()
        heading = page.locator(".gw-explore .list h2")
        faint = f"document.querySelector('{PLOT}').data[1].selectedpoints"
        page.locator(f"{ROW} a").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Space")
        expect(heading).to_have_text("1 chunk selected", use_inner_text=True)
        page.keyboard.press("Shift+ArrowDown")
        expect(heading).to_have_text("2 chunks selected", use_inner_text=True)
        expect(page.locator(ROW)).to_have_count(every)  # the others stay in the table
        expect(page.locator(f"{ROW} input:checked")).to_have_count(2)
        until(page, f"{faint}?.length === 2")
        page.keyboard.press("Shift+Tab")  # to the row's box, and from the table to its heading's buttons
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
        expect(page.locator(ROW)).to_have_count(2)
        page.get_by_role("button", name="List all").wait_for()
        page.keyboard.press("Escape")
        expect(heading).to_have_text("Chunks, most relevant first", use_inner_text=True)
        expect(page.locator(ROW)).to_have_count(every)
        until(page, f"{faint} == null")
    with promise("the plot follows the theme"):
        ink = f"document.querySelector('{PLOT} .xtick text').style.fill"
        light = page.evaluate(ink)
        page.emulate_media(color_scheme="dark")
        until(page, f"{ink} !== '{light}'")
        page.emulate_media(color_scheme="light")
        until(page, f"{ink} === '{light}'")

    with promise("a slider asks once for each move"):
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if "/gw/explore" in request.url else None)
        page.get_by_label("Decay").focus()
        page.keyboard.press("ArrowRight")
        until(page, "location.search.includes('rse.decay_rate')")
        idle(page)
        assert [url.rpartition("/")[2] for url in asked] == ["explore"]
        page.get_by_role("button", name="Reset").click()
        until(page, "!location.search.includes('rse.decay_rate')")
    with promise("a slider moves the segments, and the link keeps it"):
        slider = page.get_by_label("Penalty")
        before = page.evaluate(SHAPES)
        slider.focus()
        for _ in range(8):
            page.keyboard.press("ArrowRight")
        until(page, "document.querySelector('.gw-explore output[for$=penalty]').textContent === '0.33'")
        until(page, f"{SHAPES}.some((shape) => shape.line?.dash && Math.abs(shape.y0 - 0.33) < 1e-9)")
        assert page.evaluate(SHAPES) != before
        assert "rse.irrelevant_chunk_penalty:0.33" in page.url
        page.get_by_role("button", name="Reset").click()
        until(page, f"{SHAPES}.some((shape) => shape.line?.dash && Math.abs(shape.y0 - 0.25) < 1e-9)")
    with promise("dragged, the plot is sketched; let go, Plotly draws it and the link keeps it"):
        box, kept_at = slider.bounding_box(), page.url
        page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2, steps=4)
        page.locator(f"{PLOT}.sketched canvas").wait_for()
        expect(page.locator(f"{PLOT} .point").first).to_be_hidden()
        assert page.url == kept_at
        page.mouse.up()
        page.locator(f"{PLOT}:not(.sketched) .point").first.wait_for()
        expect(page.locator(f"{PLOT} canvas")).to_have_count(0)
        value = slider.input_value()
        until(page, f"{SHAPES}.some((shape) => shape.line?.dash && Math.abs(shape.y0 - {value}) < 1e-9)")
        assert f"rse.irrelevant_chunk_penalty:{value}" in page.url
        page.get_by_role("button", name="Reset").click()
        until(page, "!location.search.includes('rse.irrelevant_chunk_penalty')")
        until(page, f"{SHAPES}.some((shape) => shape.line?.dash && Math.abs(shape.y0 - 0.25) < 1e-9)")
        still(page, f"{PLOT} .scatterlayer .point")

    with promise("a box selects chunks, which stay selected when the plot is drawn anew"):
        every = page.locator(ROW).count()
        page.get_by_role("button", name="Select", exact=True).click()
        area = page.locator(f"{PLOT} .nsewdrag").first.bounding_box()
        page.mouse.move(area["x"] + 2, area["y"] + 2)
        page.mouse.down()
        page.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 3, steps=3)
        page.mouse.move(area["x"] + area["width"] - 2, area["y"] + area["height"] / 2, steps=3)
        page.mouse.up()
        page.locator('.gw-highlight[data-role="passage"]').first.wait_for()
        still(page, f"{PLOT} .scatterlayer .point")  # the page beside it makes the plot narrower, which draws it anew
        heading = page.locator(".gw-explore .list h2")
        assert heading.inner_text().endswith("selected")
        assert 0 < page.locator(ROW).count() < every
        page.get_by_role("button", name="Clear the selection").click()
        expect(heading).to_have_text("Chunks, most relevant first", use_inner_text=True)
        expect(page.locator(ROW)).to_have_count(every)
        page.goto(address(app))
        explored(page)
    with promise("a click in the plot opens that chunk"):
        point = page.locator(f"{PLOT} .scatterlayer .trace").last.locator(".point").last
        at = point.bounding_box()
        page.mouse.click(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
        page.locator('.gw-highlight[data-role="passage"]').first.wait_for()
        assert page.evaluate("document.documentElement.dataset.gwExplorePage") == "open"
    with promise("the page is made wider by hand and by keys"):
        wider(page)

    with promise("A and B stand side by side with their differences"):
        page.goto(address(app))
        explored(page)
        page.get_by_role("button", name="B", exact=True).click()
        page.locator(".gw-explore .two").wait_for()
        page.get_by_label("Search by", exact=True).select_option("bm25")
        page.locator(".gw-explore .cmp .ct").last.get_by_text("words alone").wait_for()
        page.get_by_label("Search by", exact=True).select_option("raptor")
        page.locator(".gw-explore .cmp .ct").last.get_by_text("RAPTOR, collapsed").wait_for()
        expect(page.locator(".gw-explore .half.js-plotly-plot")).to_have_count(2)
        ranges = page.evaluate(
            "[...document.querySelectorAll('.gw-explore .half')].map((half) => half.layout.xaxis.range)"
        )
        assert ranges[0] == ranges[1], "both are on one scale"
        expect(page.locator(".gw-explore .two .ph")).to_contain_text("in both", use_inner_text=True)
    check(page, "Explore, two settings")
    page.get_by_role("button", name="Open page").click()
    page.locator('.gw-highlight[data-role="passage"]').first.wait_for()
    page.get_by_role("button", name="Map", exact=True).click()
    page.get_by_text("Map of chunks").wait_for()
    page.locator(f"{PLOT} .scatterlayer .point").first.wait_for(state="attached")
    check(page, "Explore with a page and a map")


def wider(page: Any) -> None:
    border = page.get_by_role("separator", name="Width of the page")

    def wide(place: str = ".gw-pane") -> float:
        found: float = page.locator(place).bounding_box()["width"]
        return found

    still(page, ".gw-pane, [role=separator]")
    before, at = wide(), border.bounding_box()
    page.mouse.move(at["x"] + at["width"] / 2, at["y"] + 200)
    page.mouse.down()
    page.mouse.move(at["x"] + at["width"] / 2 + 60, at["y"] + 200, steps=3)
    page.mouse.up()
    assert wide() == pytest.approx(before - 60, abs=2)
    page.keyboard.press("ArrowLeft")
    kept = wide()
    assert kept > before - 40
    page.reload()
    page.locator('.gw-highlight[data-role="passage"]').first.wait_for()
    assert wide() == kept
    for key in ("End", "Home"):
        border.focus()
        page.keyboard.press(key)
        assert min(wide(), wide(".gw-explore .cv")) >= 319
    page.keyboard.press("Enter")
    assert wide() == pytest.approx(before, abs=1)


@pytest.mark.slow
def test_explore_on_a_large_screen_a_phone_and_in_the_dark(app: App, open_page: Callable[..., Any]) -> None:
    page = explored(open_page(address(app), width=1920, height=1080, theme="dark"))
    page.locator(f"{ROW} a").first.click()
    page.locator('.gw-highlight[data-role="passage"]').first.wait_for()
    with promise("the page is made wider by hand and by keys"):
        wider(page)
    with promise("axe finds nothing in the dark"):
        page.goto(f"{address(app)}&compare=1&b=retrieve.alpha:0")
        explored(page)
        page.locator(".gw-explore .half.js-plotly-plot").last.wait_for()
        check(page, "Explore")
    with promise("it fits every width"):
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 844})
            page.goto(address(app))
            explored(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.locator(f"{ROW} a").first.click()
            page.locator('.gw-highlight[data-role="passage"]').first.wait_for(state="attached")
            assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_what_the_searches_found_is_shown_while_passages_are_read(app: App, open_page: Callable[..., Any]) -> None:
    page = explored(open_page(address(app)))
    answers: list[Any] = []
    page.on("response", lambda response: answers.append(response) if response.url.endswith("/gw/explore") else None)
    page.evaluate(
        """() => {
          const said = document.querySelector(".gw-explore .said");
          window.heard = [];
          new MutationObserver(() => heard.push(said.textContent)).observe(said, { childList: true, subtree: true });
        }"""
    )
    page.get_by_label("Question", exact=True).last.fill("How was dissolved oxygen measured at the stations?")
    page.keyboard.press("Enter")
    page.wait_for_function("() => heard.at(-1)?.includes('gave the writer')")
    assert any("now reading" in said for said in page.evaluate("heard"))
    assert [answer.json()["draft"] for answer in answers] == [True, False]


SONG, FAMILY = (
    'The song "Hello Love" was written by Graham Parker.',
    "Graham Parker was a boy when he came to Deepcut.",
)
CANAL = "The parish of Deepcut lies beside the Basingstoke Canal."
WRITER = "Which canal lies beside the place where the writer of Hello Love lived?"


def joined_by_names() -> dict[str, bytes]:
    return {
        "song.pdf": pdfs.lines_pdf(["Many songs were heard that summer, and some of them were good.", SONG]),
        "singer.pdf": pdfs.lines_pdf(["Few singers of that time kept a diary.", FAMILY]),
        "canal.pdf": pdfs.lines_pdf(["Boats went up with coal and came back with timber.", CANAL]),
    }


def lit_alone(page: Any, app: App, doc_id: str, sentence: str) -> None:
    """This sentence is lit on the page, in its place, and nothing else."""
    lit = page.locator('.gw-highlight[data-role="cited"]')
    lit.first.wait_for()
    with Engine.open(app.home) as engine:
        document = engine.document(doc_id)
    start = document.text.index(sentence)
    (box,) = document.boxes(start, start + len(sentence))
    face = page.locator(".gw-page .face").first.bounding_box()
    z = face["width"] / document.pages[0].width
    expected = [face["x"] + box.x0 * z, face["y"] + box.y0 * z, (box.x1 - box.x0) * z, (box.y1 - box.y0) * z]
    expect(lit).to_have_count(1)
    assert list(lit.bounding_box().values()) == pytest.approx(expected, abs=1.5)


@pytest.mark.slow
def test_how_a_source_was_reached_through_names(app: App, open_page: Callable[..., Any]) -> None:
    with lent(app, joined_by_names()) as (_, singer, _last):
        # A visit of its own, since its settings change.
        page = open_page(f"{app.url}/explore?q={quote(WRITER)}", locale="en-GB")
        path = page.locator(".gw-explore .pas").get_by_role("list", name="How it was reached")
        with promise("search by connections tells how an open chunk was reached"):
            page.locator(".gw-explore .pas h2").wait_for()
            page.locator(".gw-explore .ctl > details > summary").click()
            page.get_by_label("Search by", exact=True).select_option("graph")
            path.wait_for()
            page.get_by_role("button", name="Use A in Chat").click()
            page.get_by_text("Chat now uses these settings").wait_for()
        with promise("“Why these” shows the path of each source of an answer"):
            go(page, "Chat")
            ask(page, WRITER)
            page.get_by_role("link", name="Why these").click()
            page.get_by_text("How it was searched").click()
            source = page.locator(".gw-explore .paths > li").filter(has_text="canal, p. 1")
            steps = source.get_by_role("list", name="How it was reached").get_by_role("listitem")
            steps.first.wait_for()
            expect(steps).to_have_text(
                [
                    "Hello Love (your words)",
                    "Graham Parker (same sentence, p. 1 of song)",
                    "Deepcut (same sentence, p. 1 of singer)",
                    "this passage (names it, p. 1 of canal)",
                ],
                use_inner_text=True,
            )
        with promise("a click on a step opens the page with its sentence lit, and nothing else"):
            steps.nth(2).get_by_role("button").click()
            lit_alone(page, app, singer, FAMILY)
            assert set(page.locator(".gw-path [aria-current]").all_inner_texts()) == {steps.nth(2).inner_text()}
        with promise("the page leads on along the path, and the keyboard opens a step too"):
            page.get_by_role("button", name="Next citation").click()
            source.locator('[aria-current][data-n="3"]').wait_for()
            steps.nth(1).get_by_role("button").press("Enter")
            source.locator('[aria-current][data-n="1"]').wait_for()
            page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
        check(page, "Explore with a step of a path lit")
        with promise("Escape closes the page and leads back to the step"):
            page.keyboard.press("Escape")
            page.locator(".gw-pane .desk").wait_for(state="hidden")
            assert page.evaluate("document.activeElement.textContent") == steps.nth(1).inner_text()


@pytest.mark.slow
def test_the_map_of_connections(app: App, open_page: Callable[..., Any]) -> None:
    nodes = ".gw-explore .web .node"
    focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"

    def node(name: str) -> Any:
        return page.locator(f'{nodes}[aria-label^="{name}"]')

    def places() -> list[str]:
        found: list[str] = page.evaluate(f"[...document.querySelectorAll('{nodes}')].map((one) => one.outerHTML)")
        return found

    with lent(app, joined_by_names()) as (_, singer, _last):
        page = open_page(f"{app.url}/explore?q={quote(WRITER)}", locale="en-GB")
        view = page.get_by_role("button", name="Connections", exact=True)
        with promise("a search by connections has a map"):
            page.locator(".gw-explore .pas h2").wait_for()
            page.locator(".gw-explore .ctl > details > summary").click()
            page.get_by_label("Search by", exact=True).select_option("bm25")
            view.wait_for(state="hidden")
            page.get_by_label("Search by", exact=True).select_option("graph")
            view.click()
            node("Hello Love, your words, 1 passage").wait_for()
            expect(node("Graham Parker, name, 2 passages")).to_have_count(1)
            expect(node("canal, p. 1, passage given to the writer")).to_have_count(1)
        check(page, "Explore with the map of connections")
        with promise("the arrows lead to a name"):
            view.focus()
            page.keyboard.press("Tab")
            wanted = node("Graham Parker")
            for _step in range(9):
                at, to = page.locator(f"{nodes}:focus").bounding_box(), wanted.bounding_box()
                if at == to:
                    break
                x, y = to["x"] - at["x"], to["y"] - at["y"]
                across, along = "ArrowRight" if x > 0 else "ArrowLeft", "ArrowDown" if y > 0 else "ArrowUp"
                page.keyboard.press(across if abs(x) > abs(y) else along)
            assert page.evaluate(focused) == "Graham Parker, name, 2 passages"
            expect(page.locator(f'{nodes}[tabindex="0"]')).to_have_count(1)
        with promise("Enter shows where it stands, and there opens the page with the sentence lit"):
            page.keyboard.press("Enter")
            held = page.get_by_role("list", name="Where it stands").get_by_role("button")
            held.first.wait_for()
            assert {one.partition("\n")[0] for one in held.all_inner_texts()} == {SONG, FAMILY}
            opened = held.filter(has_text=FAMILY)
            while FAMILY not in page.evaluate(focused):
                page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            lit_alone(page, app, singer, FAMILY)
            expect(opened).to_have_attribute("aria-current", "step")
        check(page, "Explore with a mention of a name lit")
        with promise("Escape leads back to the mention, to the name, and out of the map"):
            page.keyboard.press("Escape")
            page.locator(".gw-pane .desk").wait_for(state="hidden")
            assert FAMILY in page.evaluate(focused)
            page.keyboard.press("Escape")
            assert page.evaluate(focused) == "Graham Parker, name, 2 passages"
            page.keyboard.press("Escape")
            assert page.evaluate(focused) == "Connections"
        with promise("a passage opens its page"):
            node("canal, p. 1").locator(".shape").click()
            page.locator('.gw-highlight[data-role="passage"]').first.wait_for()
            page.locator(".gw-explore .pas").get_by_role("heading", name="Chunk").wait_for()
            page.keyboard.press("Escape")
            page.locator(".gw-pane .desk").wait_for(state="hidden")
            assert page.evaluate(focused).startswith("canal, p. 1")
        with promise("the list has what the map has"):
            page.get_by_text("As a list", exact=True).click()
            rows = page.locator(".gw-explore .aslist tbody tr")
            expect(rows).to_have_count(page.locator(nodes).count())
            rows.get_by_role("button", name="Graham Parker").click()
            held.first.wait_for()
        with promise("the address gives the same map"):
            node("Deepcut").hover()
            page.mouse.move(1, 1)
            page.evaluate("document.activeElement.blur()")
            page.reload()
            node("Graham Parker").wait_for()
            before = places()
            page.reload()
            node("Graham Parker").wait_for()
            assert places() == before
