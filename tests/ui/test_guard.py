"""What every route goes through: a token, and a body that is not too large."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message

from ragcore.types.json import Json
from tests.ui.asgi import ask
from ui.server import guard, routes, web
from ui.server.guard import TOKEN_HEADER
from ui.server.services import Services

ROUTED: list[BaseRoute] = [*routes.routes()]


def every_route() -> list[tuple[str, str]]:
    """Method and path of each of the app's own, with something for each of their parameters."""
    found = []
    for route in ROUTED:
        assert isinstance(route, Route)
        if "/plotly/" in route.path:  # a library, as it is on the web
            continue
        path = re.sub(r"\{\w+:(\w+)\}", lambda part: "1" if part[1] == "int" else "x", route.path)
        found += [(method, path) for method in sorted((route.methods or set()) - {"HEAD"})]
    return found


@pytest.fixture(scope="module")
def loop() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as running:
        yield running


FORGED = ("", "x", "7fffffff.s.0000", "..", "a" * 5000, "7fffffff..", "\0")


@pytest.mark.parametrize(("method", "path"), every_route())
def test_no_route_answers_without_a_token(opened: Services, loop: BlockingPortal, method: str, path: str) -> None:
    body = {"question": "?"} if method == "POST" else None
    asked_for = partial(ask, ROUTED, path, body=body, loop=loop)
    valid, expired = opened.signer.token("s"), opened.signer.token("s", now=0)
    for forged in (*FORGED, expired):
        assert asked_for(headers={TOKEN_HEADER: forged})[0] == 403, forged
    # No token is taken from an address: another site can set one. Nor can it send a header, beside the cookie.
    assert asked_for(query=f"t={valid}")[0] == 403
    cookie = {"cookie": "gw_visit=mine"}
    asked = cookie if method == "POST" else cookie | {"sec-fetch-site": "same-site"}
    assert asked_for(headers=asked)[0] == 403


def test_a_body_that_is_too_large_is_refused(opened: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LARGEST_BODY", 1_000_000)
    headers = {TOKEN_HEADER: opened.signer.token("s")}
    status, _, body = ask(ROUTED, "/gw/reports/new", headers=headers, body={"text": "x" * 1_000_000})
    assert status == 413
    assert json.loads(body)["error"]["message"] == "This is more than 1 MB."


def test_a_body_that_breaks_off_does_nothing_and_is_no_error_of_the_server(opened: Services) -> None:
    done: list[Json] = []
    handler = guard.action()(lambda _, body: done.append(body))

    def closed(app: ASGIApp) -> ASGIApp:
        """The tab is closed while the body is sent."""

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        return lambda scope, _, send: app(scope, receive, send)

    posted = [Route("/do", handler, methods=["POST"])]
    token = {TOKEN_HEADER: opened.signer.token("s")}
    assert ask(posted, "/do", headers=token, body={"a": 1}, behind=closed)[0] == 400
    assert done == []


def test_requests_that_wait_for_their_turn_keep_nobody_waiting(opened: Services) -> None:
    begun, end = threading.Event(), threading.Event()

    async def together() -> list[int]:
        @guard.in_turn(asyncio.Lock())
        def slow(_: Request) -> Response:
            begun.set()
            end.wait(20)
            return Response()

        @guard.posted
        def quick(_: Request, __: object) -> Response:
            end.set()
            return JSONResponse({})

        def asked(method: str) -> Request:
            headers = [(TOKEN_HEADER.encode(), opened.signer.token("s").encode())]
            scope = {"type": "http", "method": method, "path": "/", "query_string": b"", "headers": headers}

            async def receive() -> dict[str, object]:
                return {"type": "http.request", "body": b"{}", "more_body": False}

            return Request(scope, receive)

        waiting = [asyncio.ensure_future(slow(asked("GET"))) for _ in range(100)]
        while not begun.is_set():
            await asyncio.sleep(0.01)
        first = await asyncio.wait_for(quick(asked("POST")), 10)
        return [first.status_code, *[each.status_code for each in await asyncio.gather(*waiting)]]

    with ThreadPoolExecutor(1) as thread:
        assert set(thread.submit(asyncio.run, together()).result(30)) == {200}


STATIC: list[BaseRoute] = web.routes([""])


@pytest.mark.parametrize(
    "path",
    [
        "../web.py",
        "..%2fweb.py",
        "....//web.py",
        "assets/../../web.py",
        "/etc/passwd",
        f"{'a' * 5000}.css",
        "x\0.css",
        "assets",
    ],
)
def test_no_static_path_leads_out_of_its_folder(path: str) -> None:
    assert ask(STATIC, f"{web.static_root()}/{path}")[0] == 404
