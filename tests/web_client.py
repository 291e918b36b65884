"""Requests to a running app with headers that a browser would not let a page set."""

from __future__ import annotations

import base64
import os
from http.client import HTTPConnection
from urllib.parse import urlsplit

SOCKET = "/_stcore/stream"


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


def handshake(url: str, origin: str | None = None, host: str | None = None) -> int:
    """What the WebSocket of Streamlit's session is answered: 101 where it is opened."""
    given = {"Origin": origin, "Host": host}
    return status(
        url,
        SOCKET,
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Version="13",
        Sec_WebSocket_Key=base64.b64encode(os.urandom(16)).decode(),
        **{name: value for name, value in given.items() if value is not None},
    )
