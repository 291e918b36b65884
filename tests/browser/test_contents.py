"""The contents of a document: a tree that keys move through, and questions to one section of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from ragcore.engine import Engine
from ragcore.types.sections import section_tree, walk
from tests import pdfs
from tests.browser.conftest import App, conversation, in_scope, lent, promise
from tests.browser.test_axe import check
from tests.browser.test_claude import ask

QUESTION = "How often is the pump at Mill Bridge seen to?"


def last_turn(app: App, page: Any) -> Any:
    """The last stored answer of the open conversation."""
    page.wait_for_url(re.compile("c="))
    (talk,) = parse_qs(urlsplit(page.url).query)["c"]
    with Engine.open(app.home) as engine:
        answer = engine.conversations.get(talk).turns[-1].answer
    assert answer is not None
    return answer


@pytest.mark.slow
def test_a_section_is_found_by_keys_and_asked_by_itself(app: App, open_page: Callable[..., Any]) -> None:
    with lent(app, {"handbook.pdf": pdfs.handbook()}) as (doc_id,):
        with Engine.open(app.home) as engine:
            read = engine.document(doc_id)
        (seals,) = [node for node in walk(section_tree(read)) if node.label == "Seals"]
        page = open_page(f"{app.url}/?c={conversation(app, QUESTION, doc_id)}")
        page.locator(".gw-answer a.gw-cite").first.click()
        page.locator(".gw-highlight").first.wait_for()

        with promise("keys open the contents and move through the tree"):
            page.get_by_role("tab", name="Thumbnails").focus()
            page.keyboard.press("ArrowRight")
            tree = page.get_by_role("tree", name="Contents")
            tree.wait_for()
            page.keyboard.press("Tab")
            page.keyboard.press("Home")
            focused = page.locator("[role=treeitem]:focus")
            expect(focused).to_have_attribute("aria-expanded", "true")
            page.keyboard.press("ArrowLeft")
            expect(focused).to_have_attribute("aria-expanded", "false")
            expect(page.get_by_role("treeitem")).to_have_count(1)
            page.keyboard.press("ArrowRight")
            page.keyboard.press("ArrowRight")
            assert (focused.get_attribute("title"), focused.get_attribute("aria-level")) == ("Care", "2")
            page.keyboard.press("End")
            expect(focused).to_have_attribute("title", "Frost")
            page.keyboard.type("se")
            expect(focused).to_have_attribute("title", "Seals")
            page.keyboard.press("ArrowLeft")
            expect(focused).to_have_attribute("title", "Repair")
            page.keyboard.press("ArrowDown")
        with promise("axe finds nothing in the tree"):
            check(page, "the contents")
        with promise("a heading is gone to, lit and marked"):
            page.keyboard.press("Enter")
            page.locator(".gw-heading").first.wait_for()
            expect(page.locator(f'.gw-page[data-page="{seals.first_page}"] .gw-heading')).to_have_count(1)
            page.locator('[role=treeitem][aria-current="location"]').wait_for()
        with promise("a question to a section is answered from it alone"):
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            chip = page.locator('.gw-chip[data-part="sections"]')
            chip.wait_for()
            assert chip.inner_text().startswith("“Seals” of ")
            ask(page, QUESTION)
            page.locator('.gw-turn[data-state="complete"]').nth(1).wait_for()
            page.locator(".gw-turn .gw-label", has_text="Only “Seals”").wait_for()
            answer = last_turn(app, page)
            assert answer.citations
            for citation in answer.citations:
                assert seals.start <= citation.start < citation.end <= seals.end
            assert "6 weeks" in answer.text
        with promise("it holds over a reload, until it is taken away"):
            page.reload()
            chip.wait_for()
            chip.get_by_role("button", name="Search all sections again").click()
            chip.wait_for(state="detached")
            ask(page, QUESTION)
            page.locator('.gw-turn[data-state="complete"]').nth(2).wait_for()
            assert last_turn(app, page).trace.scope.sections == ()

        with promise("a document that is read is asked from there"):
            page.goto(f"{app.url}/library?doc={doc_id}")
            item = page.get_by_role("treeitem", name="Frost")
            item.hover()
            item.get_by_role("button", name="Ask this section").click()
            page.locator('.gw-chip[data-part="sections"]', has_text="“Frost”").wait_for()
            page.get_by_label("Ask your documents").wait_for()


@pytest.mark.slow
def test_the_outline_of_the_library_leads_to_groups_documents_and_sections(
    app: App, open_page: Callable[..., Any]
) -> None:
    with lent(app, {"handbook.pdf": pdfs.handbook(), "second handbook.pdf": pdfs.handbook() + b"\n%"}) as ids:
        with Engine.open(app.home) as engine:
            group = next(one for one in engine.groups() if set(ids) <= set(one.doc_ids))
        while inner := [one for one in group.groups if set(ids) <= set(one.doc_ids)]:
            (group,) = inner
        page = open_page(f"{app.url}/library")
        with promise("the tree stands in the table's place, over a reload too"):
            page.get_by_role("button", name="Outline").click()
            tree = page.get_by_role("tree", name="Outline of the library")
            tree.wait_for()
            page.locator("tr[data-doc]").first.wait_for(state="hidden")
            page.reload()
            tree.wait_for()
            check(page, "the outline of the library")
        node = tree.get_by_role("treeitem", name=f"{group.name}, {len(group.doc_ids)} documents")
        with promise("keys close a group, open it and lead to its documents"):
            node.focus()
            page.keyboard.press("ArrowLeft")
            expect(node).to_have_attribute("aria-expanded", "false")
            node.get_by_role("treeitem").first.wait_for(state="hidden")
            page.keyboard.press("ArrowRight")
            page.keyboard.press("ArrowRight")
            assert node.get_by_role("treeitem").first.evaluate("row => row === document.activeElement")
            page.keyboard.press("ArrowLeft")
            assert node.evaluate("row => row === document.activeElement")
        with promise("a search leaves only what matches"):
            page.get_by_label("Search documents").fill("second handbook")
            tree.get_by_role("treeitem", level=1).nth(1).wait_for(state="detached")
            page.get_by_label("Search documents").fill("")
        with promise("a document opens with its contents, a section of which is asked"):
            node.get_by_role("treeitem").first.locator(".tx").click()
            item = page.get_by_role("tree", name="Contents").get_by_role("treeitem", name="Seals")
            item.hover()
            item.get_by_role("button", name="Ask this section").click()
            page.locator('.gw-chip[data-part="sections"]', has_text="“Seals”").wait_for()
        with promise("a group is asked by itself"):
            page.goto(f"{app.url}/library")
            node.locator("> .ln").hover()
            node.get_by_role("button", name=f"Ask {len(group.doc_ids)} documents").click()
            in_scope(page, f"{len(group.doc_ids)} of {total(app)}")


def total(app: App) -> int:
    with Engine.open(app.home) as engine:
        return len(engine.documents())
