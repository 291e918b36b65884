"""A route of the app, asked without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from ui.server.guard import TOKEN_HEADER
from ui.server.services import Services


def ask(
    routes: Sequence[BaseRoute],
    path: str,
    query: str = "",
    *,
    headers: Mapping[str, str] | None = None,
    body: object = None,
    client: tuple[str, int] | None = None,
    behind: Callable[[ASGIApp], ASGIApp] = lambda app: app,
    meanwhile: Callable[[], object] = lambda: None,
    loop: BlockingPortal | None = None,
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a GET, or of a POST where there is a ``body`` (bytes, or JSON), straight through
    ASGI, ``behind`` a middleware. ``meanwhile`` happens before the body comes. Who asks much gives a ``loop``."""
    sent: list[Any] = []

    asked = iter([True])
    sent_body = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()

    async def receive() -> dict[str, Any]:
        if not next(asked, False):
            await asyncio.Event().wait()  # as of a browser that stays
        await asyncio.to_thread(meanwhile)
        return {"type": "http.request", "body": sent_body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET" if body is None else "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in (headers or {}).items()],
        "root_path": "",
        "client": client,
    }
    app = behind(Starlette(routes=routes))
    # In a thread of its own: after a browser test, Playwright's loop is the running one of this thread.
    with nullcontext(loop) if loop else start_blocking_portal() as running:
        running.call(app, scope, receive, send)
    given = {key.decode(): value.decode() for key, value in sent[0]["headers"]}
    return sent[0]["status"], given, b"".join(message.get("body", b"") for message in sent[1:])


def token(opened: Services) -> dict[str, str]:
    return {TOKEN_HEADER: opened.signer.token("s")}
