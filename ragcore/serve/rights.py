"""Rights of a request that takes long to come: they are looked at when it begins, and again when it is whole. Who holds
a request open past the end of their rights would otherwise keep them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HELD = 1.0  # seconds after which a request's rights are looked at again


async def while_allowed(
    app: ASGIApp, scope: Scope, receive: Receive, send: Send, still: Callable[[], bool], refused: ASGIApp
) -> None:
    """Run ``app``. If the body took longer than `HELD` and ``still`` is false at its end, ``app`` never gets that end,
    and ``refused`` answers."""
    began, over = asyncio.get_running_loop().time(), False

    async def received() -> Message:
        nonlocal over
        message = await receive()
        late = asyncio.get_running_loop().time() - began > HELD
        if message["type"] == "http.request" and not message.get("more_body") and late:
            over = not await run_in_threadpool(still)
        return {"type": "http.disconnect"} if over else message

    async def sent(message: Message) -> None:
        if not over:
            await send(message)

    try:
        await app(scope, received, sent)
    except ClientDisconnect:  # what an app makes of a body that breaks off
        if not over:
            raise
    if over:
        await refused(scope, receive, send)
