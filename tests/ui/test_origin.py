"""Other web sites: none is answered under a name of its own, or for a page of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from streamlit import config

from tests.ui.asgi import ask
from ui.server import web

ROUTES = web.routes([""])
FILE = f"{web.static_root()}/assets/mark.svg"


@pytest.mark.parametrize(
    ("host", "origin", "expected"),
    [
        ("localhost:8501", None, 200),
        ("127.0.0.1:8501", None, 200),
        ("[::1]:8501", None, 200),
        ("LOCALHOST.", None, 200),
        ("localhost:8501", "http://localhost:8501", 200),
        ("localhost", "https://localhost", 200),
        ("rebound.example:8501", None, 403),
        ("192.168.1.5:8501", None, 403),
        ("localhost.rebound.example", None, 403),
        ("localhost:8501@rebound.example", None, 403),
        ("rebound.example/localhost", None, 403),
        ("localhost:x", None, 403),
        ("[::1", None, 403),
        ("", None, 403),
        ("localhost:8501", "http://localhost:9000", 403),  # another program's page on this machine
        ("localhost:8501", "http://127.0.0.1:8501", 403),
        ("localhost:8501", "http://rebound.example:8501", 403),
        ("localhost:8501", "null", 403),
        ("localhost:8501", "http://[", 403),
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_only_the_app_itself_is_answered(kind: str, host: str, origin: str | None, expected: int) -> None:
    headers = {"host": host} if origin is None else {"host": host, "origin": origin}
    if kind == "http":
        assert ask(ROUTES, FILE, headers=headers, behind=web.OwnOrigin)[0] == expected
        return
    assert _opened(headers) == (expected == 200)


@pytest.mark.parametrize(("address", "expected"), [("127.0.0.1", 200), ("::1", 200), ("192.0.2.7", 403), ("x", 403)])
def test_without_sign_in_only_this_machine_is_answered(address: str, expected: int) -> None:
    headers = {"host": "localhost:8501"}
    assert ask(ROUTES, FILE, headers=headers, client=(address, 50000), behind=web.OwnOrigin)[0] == expected


def test_a_name_can_be_allowed(request: pytest.FixtureRequest) -> None:
    before = config.get_option("server.allowedHosts")
    request.addfinalizer(lambda: config.set_option("server.allowedHosts", before))
    config.set_option("server.allowedHosts", ["reading.example", "*.within.example"])
    for host, expected in {"reading.example": 200, "a.within.example": 200, "localhost": 403, "example": 403}.items():
        assert ask(ROUTES, FILE, headers={"host": host}, behind=web.OwnOrigin)[0] == expected


def test_no_other_site_can_embed_what_is_sent() -> None:
    headers = ask(ROUTES, FILE, headers={"host": "localhost"}, behind=web.Headers)[1]
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"


def _opened(headers: dict[str, str]) -> bool:
    """Whether a WebSocket is let through."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": given, "query_string": b""}
    # In a thread of its own: after a browser test, Playwright's loop is the running one of this thread.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, web.OwnOrigin(app)(scope, receive, send)).result()
    return bool(sent[0]["type"] == "websocket.accept")
