"""Rights that end while a request is answered: nothing more goes out, whatever the app does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from ragcore.serve import rights
from ragcore.serve.rights import while_allowed

App = Callable[[Scope, Receive, Send], Awaitable[None]]
PIECE: Message = {"type": "http.response.body", "body": b"piece", "more_body": True}
END: Message = {"type": "http.response.body", "body": b"", "more_body": False}
START: Message = {"type": "http.response.start", "status": 200, "headers": []}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rights, "HELD", -1.0)  # every step comes late


def answered(app: App, allowed: list[bool]) -> list[Message]:
    """What goes out, where the rights are those of ``allowed`` at each look, the last one from then on."""
    out: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        out.append(message)

    def still() -> bool:
        return allowed.pop(0) if len(allowed) > 1 else allowed[0]

    scope: dict[str, Any] = {"type": "http", "method": "GET", "headers": []}
    refused = PlainTextResponse("No.", 401)
    running = while_allowed(app, scope, receive, send, still, refused, checked=-1.0)
    with ThreadPoolExecutor(1) as thread:  # a browser's tests leave a loop in this one
        thread.submit(asyncio.run, running).result()  # type: ignore[arg-type]
    return out


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    await send(START)
    for _ in range(3):
        await send(PIECE)
    await send(END)


def test_a_response_that_has_not_begun_is_refused() -> None:
    out = answered(app, [False])
    assert (out[0]["status"], out[1]["body"]) == (401, b"No.")
    assert len(out) == 2


def test_one_that_goes_out_is_cut_off_once() -> None:
    assert answered(app, [True, True, False]) == [START, PIECE, END]


def test_one_of_who_keeps_their_rights_is_whole() -> None:
    assert answered(app, [True]) == [START, PIECE, PIECE, PIECE, END]
