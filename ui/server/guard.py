"""Guard of every route: checks the token and the body, and turns an error into JSON.

Whatever changes something carries the token (`ui.server.tokens`) in a header, so that no other site can send it. What
only reads may come without: the browser fetches pictures and event streams by itself; then the visit's cookie counts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.engine import Engine
from ragcore.errors import GroundworkError, InputError, StoreBusy, Unknown, UnknownDocument
from ragcore.types import Scope
from ragcore.types.json import Json
from ragcore.types.scope import checked
from ui.chat import payload
from ui.gate.access import access
from ui.server import visits
from ui.server.services import services, signer

TOKEN_HEADER = "x-groundwork-token"

LARGEST_BODY = 28_000_000  # bytes: the largest template, in base64

Handler = Callable[[Request], Response]
Decorator = Callable[[Callable[..., Response]], Callable[..., Response]]

# What another window has removed, as a page says it.
REMOVED = {"message": "This document was removed from the library.", "hint": "", "code": "removed"}

_SCOPE = TypeAdapter(Scope)
_TEXTS = TypeAdapter(list[str])


class Malformed(InputError):
    """Request whose body no page sends. It is never refused in words (`refusing`): something is broken."""

    hint_default = "Reload the page and try again."


def guarded(handler: Handler) -> Handler:
    """Decorator that answers 403 without a valid token, and turns a `GroundworkError` into JSON."""

    @wraps(handler)
    def answer(request: Request) -> Response:
        try:
            return _refused(request) or handler(request)
        except GroundworkError as error:
            return JSONResponse({"error": payload.error(error.as_dict())}, _status(error))

    return answer


def shown(handler: Handler) -> Handler:
    """`guarded` for resources of a page on screen. If another window has removed the document, the answer is
    ``{"removed": true}`` rather than an error."""

    @guarded
    @wraps(handler)
    def answer(request: Request) -> Response:
        try:
            return handler(request)
        except UnknownDocument:
            return JSONResponse({"removed": True})

    return answer


def gone(kind: type[Unknown]) -> Decorator:
    """Decorator that answers an error of ``kind`` with ``{"gone": …}``: another tab has deleted what is shown. The
    request was valid, so the browser must not log it as failed."""
    return _told("gone", (kind,))


def refusing(*kinds: type[GroundworkError]) -> Decorator:
    """Decorator that answers errors of ``kinds`` with ``{"refused": …}``: invalid input, or a change made in another
    tab or window."""
    return _told("refused", kinds)


def _told(by: str, kinds: tuple[type[GroundworkError], ...]) -> Decorator:
    def decorated(handler: Callable[..., Response]) -> Callable[..., Response]:
        @wraps(handler)
        def answer(*given: Any, **named: Any) -> Response:
            try:
                return handler(*given, **named)
            except Malformed:
                raise
            except kinds as error:
                return JSONResponse({by: REMOVED if isinstance(error, UnknownDocument) else error.as_dict()})

        return answer

    return decorated


def posted(handler: Callable[[Request, Json], Response]) -> Callable[[Request], Awaitable[Response]]:
    """`guarded` for a handler of a JSON body; without a valid token the body is not read, and of an oversized one no
    more than `LARGEST_BODY`."""

    @wraps(handler)
    async def answer(request: Request) -> Response:
        if (refused := await run_in_threadpool(_turned_away, request)) is not None:
            return refused
        body = bytearray()
        try:
            async for piece in request.stream():
                body += piece
                if len(body) > LARGEST_BODY:
                    said = f"This is more than {LARGEST_BODY // 1_000_000} MB."
                    return JSONResponse(trouble("too_large", said, "Send less at once."), 413)
        except ClientDisconnect:
            return Response(status_code=400)  # to nobody: the tab was closed meanwhile
        return await run_in_threadpool(guarded(lambda asked: handler(asked, _object(body))), request)

    return answer


def action(
    *kinds: type[GroundworkError], lost: tuple[type[Unknown], ...] = ()
) -> Callable[[Callable[[Request, Json], Json | None]], Callable[..., Any]]:
    """Decorator that makes what ``handler`` returns the response to a JSON body; errors of ``kinds`` are refused
    (`refusing`), and of those of ``lost`` it says that what is shown is gone (`gone`)."""

    def decorated(handler: Callable[[Request, Json], Json | None]) -> Callable[..., Any]:
        @posted
        @_told("gone", lost)
        @refusing(*kinds)
        @wraps(handler)
        def answer(request: Request, body: Json) -> Response:
            return JSONResponse(handler(request, body) or {})

        return answer

    return decorated


def in_turn(lock: asyncio.Lock) -> Callable[[Handler], Callable[[Request], Awaitable[Response]]]:
    """`guarded` for work done one request at a time; waiting requests occupy no thread."""

    def decorated(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        @wraps(handler)
        async def answer(request: Request) -> Response:
            if (refused := await run_in_threadpool(_turned_away, request)) is not None:
                return refused
            async with lock:
                return await run_in_threadpool(guarded(handler), request)

        return answer

    return decorated


def posts(at: str, **handlers: Callable[..., Any]) -> list[BaseRoute]:
    """Routes below ``at`` that take a POST, by their names."""
    return [Route(f"{at}/{name}", handler, methods=["POST"]) for name, handler in handlers.items()]


def _turned_away(request: Request) -> Response | None:
    """Response to a request whose body need not be read."""
    checked = guarded(lambda _: Response())(request)
    return None if checked.status_code == 200 else checked


def _refused(request: Request) -> Response | None:
    if visit(request) is None:
        return JSONResponse(trouble("token", "This page is out of date.", "Reload the page."), 403)
    return None


def visit(request: Request) -> str | None:
    """Visit (`ui.server.visits`) of a request; None without a valid token, or one of another session."""
    own, token = visits.of(request), request.headers.get(TOKEN_HEADER)
    if token is None and request.method in ("GET", "HEAD"):
        # A page at another port is of the same site, for which the browser sends cookies along.
        return own if request.headers.get("sec-fetch-site", "none") in ("none", "same-origin") else None
    found = signer().scope(token or "")
    return found if found == own or access().accounts is None else None


def engine_of(request: Request) -> Engine:
    """Engine with the settings of a request's visit."""
    return services().visits.engine(visit(request))


def _object(body: bytearray) -> Json:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Malformed("The request's body is not JSON.") from error
    if not isinstance(given, dict):
        raise Malformed("The request's body is not a JSON object.")
    return given


def named(request: Request, name: str) -> str:
    """What the path of a request names."""
    given: str = request.path_params[name]
    return given


def text_in(body: Json, name: str) -> str | None:
    """Text field ``name``; None if absent. Raises `Malformed` for anything else."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise Malformed(f"“{name}” in the request's body is not text.")
    return value


def texts_in(body: Json, name: str) -> list[str]:
    """List of texts ``name``; [] if absent. Raises `Malformed` for anything else."""
    try:
        return [text_in({"text": text}, "text") or "" for text in _TEXTS.validate_python(body.get(name, []))]
    except ValidationError as error:
        raise Malformed(f"“{name}” in the request's body is not a list of texts.") from error


def docs_in(body: Json) -> Scope:
    """Scope of the ``docs`` of a body. Raises `InputError` if there are none."""
    docs = texts_in(body, "docs")
    if not docs:
        raise InputError("No document is chosen.", hint="Tick at least one.")
    return Scope(tuple(docs))


def scope_in(body: Json) -> Scope | None:
    """Scope in a body; None if absent. Raises `Malformed` for an invalid one."""
    if body.get("scope") is None:
        return None
    try:
        return checked(_SCOPE.validate_python(body["scope"]))
    except ValidationError as error:
        raise Malformed("“scope” in the request's body is not a scope.") from error


def _status(error: GroundworkError) -> int:
    if isinstance(error, Unknown):
        return 404
    if isinstance(error, StoreBusy):
        return 409
    return 400 if isinstance(error, InputError) else 500


def trouble(code: str, message: str, hint: str) -> Json:
    return {"error": {"code": code, "message": message, "hint": hint, "retryable": True}}
