"""A route of the app, asked without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from ui.services import Services


def get(routes: Sequence[BaseRoute], path: str, query: str = "") -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a GET, straight through ASGI."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [],
        "root_path": "",
    }
    # In a thread of its own: after a browser test, Playwright's loop is the running one of this thread.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, Starlette(routes=routes)(scope, receive, send)).result()
    headers = {key.decode(): value.decode() for key, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])


def token(opened: Services) -> str:
    return f"t={opened.signer.token('s')}"
