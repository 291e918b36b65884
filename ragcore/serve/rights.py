"""Rights of a request that takes long: they are looked at when it begins, when it is whole, when its response begins,
and while that goes out. Who holds a request or a download open past the end of their rights would otherwise keep them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HELD = 1.0  # seconds after which a request's rights are looked at again
CHECKED = 4.0  # seconds between two looks while a response goes out


async def while_allowed(
    app: ASGIApp,
    scope: Scope,
    receive: Receive,
    send: Send,
    still: Callable[[], bool],
    refused: ASGIApp,
    checked: float = CHECKED,
) -> None:
    """Run ``app``. Once ``still`` is false, it gets no end of the body, ``refused`` answers if no response has begun,
    and one that has is cut off. It is looked up `HELD` seconds after the last look before a response begins, and
    ``checked`` seconds after it while one goes out. An app that looks by itself then, to say why it ends, sets
    ``looks`` in the request's state."""
    clock = asyncio.get_running_loop().time
    looked, over, begun, cut = clock(), False, False, False

    async def ended(seconds: float) -> bool:
        nonlocal looked, over
        if not over and clock() - looked > seconds:
            over = not await run_in_threadpool(still)
            looked = clock()
        return over

    async def received() -> Message:
        message = await receive()
        whole = message["type"] == "http.request" and not message.get("more_body")
        return {"type": "http.disconnect"} if whole and await ended(HELD) else message

    async def sent(message: Message) -> None:
        nonlocal begun, cut
        own = begun and scope.get("state", {}).get("looks", False)
        if own or not await ended(checked if begun else HELD):
            begun = True
            await send(message)
        elif begun and not cut:
            cut = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    try:
        await app(scope, received, sent)
    except ClientDisconnect:  # what an app makes of a body that breaks off
        if not over:
            raise
    if over and not begun:
        await refused(scope, receive, send)
