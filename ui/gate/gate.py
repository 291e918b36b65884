"""Gate in front of the app: an ASGI middleware that lets nobody in who is not signed in.

What is not listed as open needs a session: pages, routes, pictures, uploads, everything of Streamlit's, and its
WebSocket. A session that ends closes its open WebSockets and answers within `CHECKED` seconds.
"""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragcore.accounts.accounts import Accounts, Session
from ragcore.errors import StoreError
from ragcore.serve.rights import CHECKED, while_allowed
from ui.gate.access import Access

OPEN = re.compile(
    r"/gw/auth/(sign-in|sign-out|provider|provider/back|link/[\w-]+)|/gw/static/\w+/[\w./-]+|/_stcore/health|/readyz"
)
PROGRAMS = "/api/v1"  # what is below asks for a token by itself, and takes no cookie (ragcore.serve.http)
CLOSED = 1008
SAFE = ("GET", "HEAD", "OPTIONS")
_log = logging.getLogger(__name__)


class Gate:
    """``checked`` is how often an open connection's session is looked up, in seconds."""

    def __init__(
        self, app: ASGIApp, access: Access, accounts: Accounts, prefix: str = "", checked: float = CHECKED
    ) -> None:
        self.app = app
        self.access = access
        self.accounts = accounts
        self.prefix = prefix
        self.checked = checked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        plain = scope["path"].isprintable() and ".." not in scope["path"]
        if scope["path"].startswith(f"{self.prefix}{PROGRAMS}/") and plain:
            await self.app(scope, receive, send)
            return
        if not self._own_origin(asked):
            await _refuse(scope, receive, send, Response("Another web site sent this request.", 403))
            return
        path = scope["path"].removeprefix(self.prefix)
        if scope["type"] == "http" and OPEN.fullmatch(path) and plain:
            await self.app(scope, receive, send)
            return
        token = asked.cookies.get(self.access.cookie, "")
        session = await run_in_threadpool(self.accounts.session, token, use=True) if token else None
        if session is not None and self.access.auth.mode == "proxy":
            session = session if self.access.vouched(asked) == session.user.email else None
        if session is None:
            await _refuse(scope, receive, send, self._sign_in(asked, path))
            return
        scope.setdefault("state", {})["session"] = session
        watched = _Watched(self.app, self.accounts, session, self.checked)
        await watched.run(scope, receive, send, self._sign_in(asked, path))

    def _own_origin(self, asked: HTTPConnection) -> bool:
        """Whether what may change something comes from the app's own page. Its ``Origin`` is also held to ``Host``
        (`ui.server.web.OwnOrigin`)."""
        if asked.scope["type"] == "http" and asked.scope["method"] in SAFE:
            return True
        origin = asked.headers.get("origin", "").lower()
        return origin == self.access.auth.url.lower() if self.access.auth.url else bool(origin)

    def _sign_in(self, asked: HTTPConnection, path: str) -> Response:
        page = "text/html" in asked.headers.get("accept", "") and not path.startswith(("/gw/", "/l/", "/_stcore/"))
        if asked.scope["type"] == "http" and asked.scope["method"] == "GET" and page:
            back = quote(asked.url.path + (f"?{asked.url.query}" if asked.url.query else ""))
            found: Response = RedirectResponse(f"{self.prefix}/gw/auth/sign-in?next={back}", 303)
            if self.access.cookie in asked.cookies:  # of a session that ended, whose pages the browser may still have
                found.headers["Clear-Site-Data"] = '"cache"'
        else:
            error = {"code": "signed_out", "message": "You are signed out.", "hint": "Reload the page to sign in."}
            found = JSONResponse({"error": error | {"retryable": False}}, 401)
        found.headers["Cache-Control"] = "no-store"
        return found


async def _refuse(scope: Scope, receive: Receive, send: Send, said: Response) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": CLOSED, "reason": ""})
    else:
        await said(scope, receive, send)


class _Watched:
    """Connection of a session, which ends with it."""

    def __init__(self, app: ASGIApp, accounts: Accounts, session: Session, checked: float) -> None:
        self.app = app
        self.accounts = accounts
        self.session = session
        self.checked = checked
        self.ended = asyncio.Event()

    async def run(self, scope: Scope, receive: Receive, send: Send, refused: Response) -> None:
        def signed_in() -> bool:
            return self.accounts.session_of(self.session.session_id) is not None

        async def sent(message: Message) -> None:
            if not self.ended.is_set():
                await send(message)

        if scope["type"] == "http":
            await while_allowed(self.app, scope, receive, send, signed_in, refused, self.checked)
            return
        watch = asyncio.create_task(self._watch(send))
        try:
            await self.app(scope, self._until_ended(receive), sent)
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch

    async def _watch(self, send: Send) -> None:
        try:
            while await run_in_threadpool(self.accounts.session_of, self.session.session_id) is not None:
                await asyncio.sleep(self.checked)
        except StoreError as error:  # what cannot be looked up does not stay open
            _log.warning("%s %s", error.message, error.hint)
        self.ended.set()
        await send({"type": "websocket.close", "code": CLOSED, "reason": ""})

    def _until_ended(self, receive: Receive) -> Receive:
        async def received() -> Message:
            coming = asyncio.ensure_future(receive())
            over = asyncio.ensure_future(self.ended.wait())
            try:
                await asyncio.wait({coming, over}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    return {"type": "websocket.disconnect", "code": CLOSED}
                message: dict[str, Any] = dict(coming.result())
            finally:
                coming.cancel()
                over.cancel()
            if message["type"] == "websocket.receive":  # a person does something
                await run_in_threadpool(self.accounts.session_of, self.session.session_id, use=True)
            return message

        return received
