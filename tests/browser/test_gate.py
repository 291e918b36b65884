"""Signing in at the real server: from the first link to signing out, what Streamlit serves, its WebSocket."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from ragcore.accounts.accounts import Accounts, Device
from tests.browser.conftest import App, go, promise, serve

MARA, JONAS = "mara@fernhill.example", "jonas@fernhill.example"
GOOD, OTHER = "four words to remember", "another four words here"
WITHIN = 10.0  # seconds after which the connection of a session that ended is closed


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with serve(tmp_path_factory.mktemp("team") / "home", GROUNDWORK_AUTH__MODE="local") as served:
        yield served


def status(app: App, path: str, method: str = "GET", **headers: str) -> int:
    asked = urllib.request.Request(f"{app.url}{path}", headers=headers, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def _drain(opened: Any) -> None:
    while True:
        opened.recv(timeout=WITHIN)


def axe_clean(page: Any) -> None:
    found = Axe().run(page).response["violations"]
    assert not found, [(one["id"], one["nodes"][0]["html"]) for one in found]


def test_from_the_first_link_to_signing_out(team: App, open_page: Callable[..., Any]) -> None:
    (first,) = re.findall(r"http://localhost:\d+/gw/auth/link/\S+", team.log.read_text())
    page = open_page(f"{team.url}/library", theme="dark")
    with promise("a page leads to signing in"):
        page.get_by_role("heading", name="Sign in").wait_for()
        axe_clean(page)
    with promise("the first link makes the administrator, who may choose again what is refused"):
        page.goto(first)
        page.get_by_label("Email").fill(MARA)
        page.get_by_label("Name").fill("Mara Okell")
        page.get_by_label("Password").fill("1qaz2wsx3edc")
        page.get_by_role("button", name="Go on").click()
        page.get_by_role("alert").get_by_text("easily guessed").wait_for()
        axe_clean(page)
        page.get_by_label("Password").fill(GOOD)
        page.get_by_role("button", name="Go on").click()
        page.get_by_text("Ask the sample document").wait_for()
    with promise("an administrator invites"):
        go(page, "Settings")
        page.get_by_label("Invite somebody").fill(JONAS)
        page.get_by_role("button", name="Invite", exact=True).click()
        invitation = page.get_by_label("Link to pass on").input_value()
        page.get_by_text(f"{JONAS}").first.wait_for()
        axe_clean(page)
    with promise("another browser is somebody else, and sees no people"):
        theirs = page.context.browser.new_context().new_page()
        theirs.goto(invitation)
        theirs.get_by_label("Password").fill(GOOD)
        theirs.get_by_role("button", name="Go on").click()
        theirs.get_by_label("jonas: account").wait_for()
        go(theirs, "Settings")
        theirs.get_by_text(f"Signed in as jonas ({JONAS}).").wait_for()
        expect(theirs.get_by_role("heading", name="People")).to_have_count(0)
    with promise("a new password is for the next time, and ends the other sessions"):
        theirs.get_by_label("Current", exact=True).fill(GOOD)
        theirs.get_by_label("New", exact=True).fill(OTHER)
        theirs.get_by_role("button", name="Change password").click()
        theirs.get_by_text("Password changed.").wait_for()
    with promise("who is blocked is led to signing in"):
        go(page, "Chat")
        go(page, "Settings")
        page.get_by_role("button", name="Block").click()
        page.get_by_text("Blocked, and signed out everywhere.").wait_for()
        theirs.get_by_role("heading", name="Sign in").wait_for()
        theirs.context.close()
    with promise("after signing out nothing is left"):
        go(page, "Check")
        draft = page.get_by_label("Draft", exact=True).get_by_role("textbox")
        draft.fill("Orsel will merge in June.")
        page.get_by_label("Mara Okell: account").click()
        page.locator(".gw-who").get_by_role("button", name="Sign out").click()
        page.get_by_role("heading", name="Sign in").wait_for()
        assert page.evaluate("sessionStorage.length") == 0
        page.goto(f"{team.url}/settings")
        page.get_by_role("heading", name="Sign in").wait_for()
        page.get_by_label("Email").fill(MARA)
        page.get_by_label("Password").fill(GOOD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("Signed in as Mara Okell").wait_for()
        go(page, "Check")
        expect(draft).to_have_value("")


def test_nothing_of_streamlit_answers_without_a_session(team: App) -> None:
    for path in (
        "_stcore/host-config",
        "media/x.png",
        "static/js/index.js",
        "component/x/y",
        "_stcore/bidi-components/x",
    ):
        assert status(team, f"/{path}") == 401, path
    for path in (
        "_stcore/allowed-message-origins",
        "oauth2callback",
        "auth/login",
        "gw/auth/../../static/x",
        "app/static/x",
    ):
        assert status(team, f"/{path}") == 401, path
    for method in ("PUT", "DELETE"):
        assert status(team, "/_stcore/upload_file/x/y", method, Origin=team.url) == 401
    assert status(team, "/_stcore/health") == 200  # for what watches the server; it tells nothing


def test_a_websocket_opens_for_a_session_and_closes_with_it(team: App) -> None:
    accounts = Accounts(team.home)
    try:
        accounts.accept(accounts.invite("priya@fernhill.example", "test"), "", "", GOOD, Device())
        token = accounts.sign_in("priya@fernhill.example", GOOD, Device())
        cookie = f"gw_session_{urlsplit(team.url).port}"
        address = f"ws{team.url.removeprefix('http')}/_stcore/stream"
        own: Any = {"origin": team.url, "additional_headers": {"Cookie": f"{cookie}={token}"}}
        for refused in (
            own | {"additional_headers": {}},
            own | {"additional_headers": {"Cookie": f"{cookie}=x"}},
            own | {"origin": "http://evil.example"},
            own | {"origin": None},
        ):
            with pytest.raises(InvalidStatus) as told, connect(address, **refused):
                pass
            assert told.value.response.status_code == 403
        with connect(address, **own) as opened:
            session = accounts.session(token)
            assert session is not None
            accounts.end(session, "test")
            ended = time.monotonic()
            with pytest.raises(ConnectionClosed) as closed:
                _drain(opened)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
            assert time.monotonic() - ended < WITHIN
    finally:
        accounts.close()


@pytest.mark.slow
def test_without_sign_in_the_server_does_not_start_on_a_network(tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match="listens on this machine only"),
        serve(tmp_path / "home", STREAMLIT_SERVER_ADDRESS="0.0.0.0"),
    ):
        pass
