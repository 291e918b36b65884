"""Requests to a running app, also with headers that a browser lets no page set, and questions as a page asks them."""

from __future__ import annotations

import base64
import json
import os
import urllib.request
import uuid
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from ragcore.accounts.accounts import Accounts, Device
from ui.server import visits
from ui.server.guard import TOKEN_HEADER
from ui.server.tokens import Signer

SOCKET = "/_stcore/stream"
PASSWORD = "four words to remember"


def status(url: str, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> int:
    """The status of one request; ``Host`` among ``headers`` stands for that of ``url``."""
    return respond(url, path, method, body, **headers)[0]


def respond(
    url: str, path: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str]]:
    """Status and headers of one response."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, {"Host": urlsplit(url).netloc, **named})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}
    finally:
        connection.close()


def signed_in(home: Path, url: str) -> dict[str, str]:
    """Header of a new session in the app at ``url`` on ``home`` where people sign in."""
    accounts = Accounts(home)
    token = accounts.accept(accounts.invite(f"{uuid.uuid4().hex}@example.org", "test"), "", "", PASSWORD, Device())
    accounts.close()
    return {"Cookie": f"gw_session_{urlsplit(url).port}={token}"}


def handshake(url: str, origin: str | None = None, host: str | None = None, **headers: str) -> int:
    """What the WebSocket of Streamlit's session is answered: 101 where it is opened."""
    given = {"Origin": origin, "Host": host, **headers}
    return status(
        url,
        SOCKET,
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Version="13",
        Sec_WebSocket_Key=base64.b64encode(os.urandom(16)).decode(),
        **{name: value for name, value in given.items() if value is not None},
    )


def answered(
    url: str,
    home: Path,
    conversation: str,
    question: str,
    session: Mapping[str, str] = MappingProxyType({}),
    within: str = "",
) -> dict[str, Any]:
    """The turn of a question that the app at ``url`` on ``home`` has answered, as its page is told it; with the header
    of a ``session`` where people sign in."""
    visit = visits.named(session["Cookie"].partition("=")[2]) if session else "s"
    headers = {TOKEN_HEADER: Signer.kept(home / "web.secret").token(visit), "Origin": url, **session}
    path = f"{url}{within}/gw/conversations/{conversation}/questions"
    asked = urllib.request.Request(path, json.dumps({"question": question}).encode(), headers)
    with urllib.request.urlopen(asked, timeout=120) as given:
        turn = json.load(given)["turn"]
    heard = urllib.request.Request(f"{url}{within}/gw/answers/{turn}/events", headers=headers)
    with urllib.request.urlopen(heard, timeout=120) as events:
        last = events.read().decode().strip().split("\n\n")[-1]
    name, _, data = last.partition("\n")
    assert name == "event: done", last
    told: dict[str, Any] = json.loads(data.removeprefix("data: "))
    return told
