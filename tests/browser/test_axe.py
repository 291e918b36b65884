"""axe finds nothing on any page, in either theme: WCAG 2.2 A and AA, and its best practices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import App, Shelf, go, talk_to

OPTIONS = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    # Streamlit's drop zone is "presentation" and has a label; its button is what is reached.
    "rules": {"presentation-role-conflict": {"enabled": False}},
}


COLOURS = OPTIONS | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def check(page: Any, what: str, options: dict[str, Any] = OPTIONS) -> None:
    results = Axe().run(page, options=options)
    assert results.violations_count == 0, f"{what}:\n{results.generate_report()}"


def check_both(page: Any, what: str) -> None:
    """A light page, and the colours that it has in the dark."""
    check(page, what)
    for theme in ("dark", "light"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(
            "theme => getComputedStyle(document.querySelector('.stApp')).colorScheme === theme", arg=theme
        )
        if theme == "dark":
            check(page, f"{what}, {theme}", COLOURS)


@pytest.mark.slow
def test_axe_finds_nothing(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    page = open_page(app.url)
    page.get_by_text("documents are ready").wait_for()
    page.locator(".gw-history a").first.wait_for()
    check_both(page, "an empty conversation")

    talk_to(page, shelf.conversations["survey.pdf"])
    page.locator(".gw-page img").first.wait_for()
    check_both(page, "an answer")
    page.locator(".gw-answer a.gw-cite").first.click()
    page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
    page.locator(".gw-line [aria-controls]").first.click()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("button", name="Not helpful").wait_for()
    check_both(page, "a citation, all sources and what can be done with an answer")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Edit the question").click()
    page.get_by_role("button", name="Export").click()
    page.get_by_label("Search conversations").fill("nitrate")
    page.locator(".gw-history b").first.wait_for()
    page.get_by_role("button", name="Export").click()
    check_both(page, "an edited question, the export and a search")

    go(page, "Library")
    page.locator(".gw-library tr[data-doc]").first.wait_for()
    check_both(page, "the library")
    page.locator(".gw-library tr[data-doc] a").first.click()
    page.get_by_role("tab", name="Advanced").click()
    page.locator(".gw-doc .ol").first.wait_for()
    check_both(page, "a document of the library")
    page.get_by_role("button", name="Read", exact=True).click()
    page.locator(".gw-page img[src]").first.wait_for()
    check_both(page, "a document that is read")


@pytest.mark.slow
def test_axe_finds_nothing_in_the_settings(app: App, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{app.url}/settings")
    page.locator(".gw-settings .opt").first.wait_for()
    page.locator("#gw-all > summary").click()
    page.get_by_label("alpha", exact=True).fill("7")
    page.get_by_text("Must be a number from 0 to 1.").wait_for()
    page.get_by_role("switch", name="Add missing citations").click()
    page.locator(".gw-settings .bar").wait_for()
    check_both(page, "the settings")
    page.get_by_role("radio", name="Your own server").check(force=True)
    page.get_by_label("Address").wait_for()
    check_both(page, "the settings of a server")
