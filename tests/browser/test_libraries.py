"""Libraries of a team at the real server: two people in two browsers, what each sees of the other, and what ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from ragcore.accounts.accounts import Accounts, Device
from ragcore.accounts.libraries import Grants
from ragcore.engine import Engine
from tests import pdfs, prepared
from tests.browser.conftest import App, go, promise, serve

MARA, JONAS = "mara@fernhill.example", "jonas@fernhill.example"
GOOD = "four words to remember"
QUESTION = "What was the highest nitrate reading?"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Two people; Mara has a library *Surveys* with a document, which Jonas may not see yet."""
    home = tmp_path_factory.mktemp("team") / "home"
    home.mkdir()
    accounts = Accounts(home)
    for email, name in ((MARA, "Mara Okell"), (JONAS, "Jonas Thiel")):
        accounts.accept(accounts.invite(email, "test", admin=email == JONAS), "", name, GOOD, Device())
    grants = Grants(accounts)
    grants.begin(lambda _: None)
    library = grants.create("Surveys", MARA, "test")
    with Engine.open(grants.home(library)) as engine:
        prepared.read(engine, pdfs.one_column(), "survey.pdf")
        engine.index()
    accounts.close()
    with serve(home, GROUNDWORK_AUTH__MODE="local") as served:
        yield served


def signed_in(team: App, context: Any, email: str, device: Device | None = None) -> str:
    """Make a browser somebody's."""
    accounts = Accounts(team.home)
    token = accounts.sign_in(email, GOOD, device or Device())
    accounts.close()
    name = f"gw_session_{urlsplit(team.url).port}"
    context.add_cookies([{"name": name, "value": token, "url": team.url}])
    return token


def switched(page: Any, name: str) -> None:
    page.get_by_role("button", name=re.compile("switch library")).click()
    page.locator(".gw-switcher").get_by_role("link", name=name).click()
    page.get_by_role("button", name=f"{name}: switch library").wait_for()


@pytest.mark.slow
def test_two_people_and_their_libraries(team: App, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{team.url}/gw/auth/sign-in")
    signed_in(team, page.context, MARA)
    page.goto(team.url)
    with promise("the list has one's libraries, and the address names the open one on every page"):
        switched(page, "Surveys")
        expect(page).to_have_url(re.compile(r"\?l=[0-9a-f]{32}$"))
        address = page.url
        go(page, "Library")
        page.get_by_text("Larkfield Water Survey").first.wait_for()
        expect(page).to_have_url(re.compile(r"/library\?l=[0-9a-f]{32}$"))
        go(page, "Chat")
    with promise("a question is answered and its page shown"):
        page.get_by_placeholder("Ask your documents").fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator("a.gw-cite").first.click()
        page.locator(".gw-highlight").first.wait_for()
        page.wait_for_url(re.compile("c="))
        conversation = page.url
        assert urlsplit(address).query in conversation
    theirs = open_page(f"{team.url}/gw/auth/sign-in")
    signed_in(team, theirs.context, JONAS)
    with promise("to anybody else the library is not there, administrator or not"):
        theirs.goto(address)
        theirs.get_by_text("This library isn’t here, or isn’t open to you.").wait_for()
    with promise("a viewer reads and asks, and is offered nothing else"):
        go(page, "Settings")
        page.get_by_label("Add somebody").fill(JONAS)
        page.locator("#gw-members").get_by_role("button", name="Add", exact=True).click()
        page.get_by_label("Role of Jonas Thiel").wait_for()
        theirs.goto(address.replace("?", "library?"))
        theirs.get_by_text("Larkfield Water Survey").first.wait_for()
        expect(theirs.get_by_test_id("stFileUploader")).to_have_count(0)
    with promise("a conversation is private until it is shared"):
        theirs.goto(conversation)
        theirs.get_by_text("This conversation isn’t in the library.").wait_for()
        expect(theirs.locator(".gw-history a")).to_have_count(0)
        page.goto(conversation)
        page.get_by_role("button", name="More about this conversation").click()
        page.get_by_role("button", name="Share").click()
        expect(page.get_by_role("button", name="Share")).to_be_hidden()
        theirs.goto(conversation)
        theirs.locator(".gw-history").get_by_text("Shared", exact=True).wait_for()
        theirs.locator("a.gw-cite").first.click()
        theirs.locator(".gw-highlight").first.wait_for()
        expect(theirs.get_by_placeholder("Ask your documents")).to_have_count(0)
        expect(theirs.get_by_label("Edit the question")).to_be_hidden()
    with promise("the list hides no link of a page, beside a sidebar or not"):
        for width in (1280, 1440):
            page.set_viewport_size({"width": width, "height": 800})
            box, link = (
                page.locator(one).first.bounding_box() for one in (".gw-switcher .lib", "[data-testid=stTopNavLink]")
            )
            assert box["x"] + box["width"] <= link["x"], width
    with promise("a role that is taken ends on an open page"):
        go(page, "Settings")
        page.get_by_role("button", name="Remove", exact=True).click()
        expect(page.get_by_label("Role of Jonas Thiel")).to_have_count(0)
        go(theirs, "Library")
        theirs.get_by_text("This library isn’t here, or isn’t open to you.").wait_for()
