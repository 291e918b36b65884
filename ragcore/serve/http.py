"""HTTP API: the verbs under one path, for programs with a token in the ``Authorization`` header.

Nothing answers without a token, and cookies count for nothing here, so that no page of another site can use it. Errors
are ``application/problem+json``. A verb whose client accepts ``text/event-stream`` tells its steps as Server-Sent
Events, then ``done`` with what it else would answer, or ``error``.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ragcore.accounts.tokens import Token, TokenScope
from ragcore.engine import Engine
from ragcore.errors import (
    Cancelled,
    FileMissing,
    FileTooLarge,
    GroundworkError,
    IndexFault,
    InputError,
    LimitReached,
    ModelError,
    RateLimited,
    StoreBusy,
    UnknownDocument,
    UnknownKind,
)
from ragcore.progress import Added
from ragcore.serve.models import ProblemDetails, Told, Upload, checked
from ragcore.serve.openapi import document
from ragcore.serve.rights import CHECKED, while_allowed
from ragcore.serve.verbs import VERBS, Drawn, Verb, told_of
from ragcore.serve.work import Desk, Outcome, Task

T = TypeVar("T")

LARGEST_BODY = 1 << 20  # bytes of a request; a file may have as many as the library takes
CLIENT_LEFT = 499  # as nginx has it; nobody reads it
EVENTS = "text/event-stream"
# The first that fits counts.
_STATUS: tuple[tuple[type[GroundworkError], int], ...] = (
    (UnknownDocument, 404),
    (FileMissing, 404),
    (FileTooLarge, 413),
    (UnknownKind, 415),
    (LimitReached, 429),
    (InputError, 422),
    (StoreBusy, 409),
    (IndexFault, 409),
    (RateLimited, 429),
    (ModelError, 502),
    (Cancelled, 503),
    (GroundworkError, 500),
)
WAIT = {429: "60", 409: "5", 503: "5"}  # seconds after which to try again

Allowed = Callable[[str], Token | None]
Take = Callable[[Token, Path, str], Added]


class Refused(Exception):
    """Answer to a request that never reached a verb."""

    def __init__(self, status: int, code: str, said: str, hint: str, **headers: str) -> None:
        super().__init__(said)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.told = {"code": code, "message": said, "hint": hint, "retryable": False}


class Api:
    """ASGI application. ``engine`` is asked at each request for that of its token; ``allowed`` gives the token that a
    secret is, None if it is none; ``take`` adds an uploaded file and has it read. ``path`` is where it is served;
    ``looked_up`` is how often the token of an open stream is looked up, in seconds."""

    def __init__(
        self,
        engine: Callable[[Token], Engine],
        allowed: Allowed,
        take: Take,
        path: str = "/api/v1",
        verbs: Sequence[Verb[Any, Any]] = VERBS,
        looked_up: float = CHECKED,
    ) -> None:
        self._engine, self._allowed, self._take, self._path = engine, allowed, take, path
        self._looked_up = looked_up
        self._desk = Desk()
        openapi = document(verbs, path)
        routes = [
            Route("/openapi.json", lambda _: JSONResponse(openapi), methods=["GET"]),
            Route("/documents", self._upload, methods=["POST"]),
            Route("/mcp", _Mcp(engine)),
            *(Route(verb.path.split()[1], self._verb(verb), methods=[verb.path.split()[0]]) for verb in verbs),
        ]
        self._app = Starlette(
            routes=routes,
            exception_handlers={
                Refused: _refusal,
                GroundworkError: _failure,
                HTTPException: _nothing,
                Exception: _defect,
            },
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
            return
        request = Request(scope)
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        try:
            known = kind.lower() == "bearer" and secret.strip()
            token = await run_in_threadpool(self._allowed, secret.strip()) if known else None
        except GroundworkError as error:
            await _failure(request, error)(scope, receive, send)
            return
        said = "This token is unknown, or has ended." if secret else "A token is missing."
        hint = "Make one with `groundwork admin token add NAME`; send it as Authorization: Bearer TOKEN."
        refused = Refused(401, "token_missing" if not secret else "token_refused", said, hint)
        refused.headers["WWW-Authenticate"] = 'Bearer realm="groundwork"'
        if token is None:
            await _refusal(request, refused)(scope, receive, send)
            return
        scopes = set(token.scopes)

        def still() -> bool:
            now = self._allowed(secret.strip())
            return now is not None and scopes <= set(now.scopes)

        scope["state"] = {**scope.get("state", {}), "token": token, "secret": secret.strip()}
        await while_allowed(self._app, scope, receive, send, still, _refusal(request, refused), self._looked_up)

    def _verb(self, verb: Verb[Any, Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            _lets(request, verb.scope)
            given: dict[str, Any] = {**request.query_params, **request.path_params}
            if verb.path.startswith("POST"):
                given |= _object(b"".join([piece async for piece in _pieces(request, LARGEST_BODY)]))
            asked = checked(verb.asked, given)

            def work(task: Task) -> Told | Drawn:
                found: Told | Drawn = verb.run(self._engine(request.state.token), asked, task)
                return found

            if EVENTS in request.headers.get("accept", "") and verb.told is not None:
                headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
                request.state.looks = True
                return StreamingResponse(self._events(request, work), media_type=EVENTS, headers=headers)
            return _reply(await _unless_left(request, self._desk.outcome(work)))

        return answer

    async def _events(self, request: Request, work: Callable[[Task], Told | Drawn]) -> AsyncIterator[str]:
        """Steps as events, until the work or the token ends."""
        looked = asyncio.get_running_loop().time()
        try:
            async with aclosing(self._desk.run(work)) as steps:
                async for step in steps:
                    if (now := asyncio.get_running_loop().time()) - looked > self._looked_up:
                        looked = now
                        if await run_in_threadpool(self._allowed, request.state.secret) is None:
                            raise Refused(401, "token_refused", "This token has ended.", "Use another.")
                    if isinstance(step, Outcome):
                        assert isinstance(step.value, Told)  # a picture is no event
                        yield _event("done", step.value.model_dump(mode="json"))
                    else:
                        yield _event(type(step).__name__.lower(), step.model_dump(mode="json"))
        except Refused as refused:
            yield _event("error", problem(refused.status, refused.told))
        except GroundworkError as error:
            yield _event("error", problem(status_of(error), error.as_dict()))

    async def _upload(self, request: Request) -> Response:
        """Add the file that is the body, to be read in the background."""
        _lets(request, "write")
        asked = checked(Upload, dict(request.query_params))
        name = Path(asked.name).name or asked.name
        token = request.state.token
        most = self._engine(token).settings.ingest.max_bytes
        with tempfile.TemporaryDirectory(prefix="groundwork-") as folder:
            file = Path(folder) / "upload"
            with file.open("wb") as out:
                async for piece in _pieces(request, most):
                    await run_in_threadpool(out.write, piece)
            added = await run_in_threadpool(self._take, token, file, name)
        told = await run_in_threadpool(told_of, self._engine(token), added)
        where = f"{self._path}/documents/{added.doc_id}"
        return JSONResponse(told.model_dump(mode="json"), 202, headers={"Location": where})


class _Mcp:
    """ASGI endpoint of MCP, whose package is imported with its first request: it takes a fifth of the app's start."""

    def __init__(self, engine: Callable[[Token], Engine]) -> None:
        self._engine = engine
        self._endpoint: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._endpoint is None:
            mcp = await run_in_threadpool(import_module, "ragcore.serve.mcp")
            self._endpoint = self._endpoint or mcp.OverHttp(self._engine, LARGEST_BODY)
        await self._endpoint(scope, receive, send)


def status_of(error: GroundworkError) -> int:
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def problem(status: int, told: Mapping[str, Any]) -> dict[str, Any]:
    """Problem details of an error that was ``told`` (`GroundworkError.as_dict`)."""
    title = "Client left" if status == CLIENT_LEFT else HTTPStatus(status).phrase
    others = {name: told[name] for name in ("code", "hint", "retryable")}
    return ProblemDetails(title=title, status=status, detail=told["message"], **others).model_dump(mode="json")


def _problem(status: int, told: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    wait = {"Retry-After": WAIT[status]} if status in WAIT and told["retryable"] else {}
    given = {**wait, "Cache-Control": "no-store", **headers}
    return JSONResponse(problem(status, told), status, headers=given, media_type="application/problem+json")


def _refusal(_: Request, refused: Exception) -> Response:
    assert isinstance(refused, Refused)
    return _problem(refused.status, refused.told, refused.headers)


def _failure(_: Request, error: Exception) -> Response:
    assert isinstance(error, GroundworkError)
    return _problem(status_of(error), error.as_dict(), {})


def _nothing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = f"There is no {request.method} {request.url.path[:200]}."
    told = {"code": "no_route", "message": said, "hint": "See openapi.json for what there is.", "retryable": False}
    return _problem(error.status_code, told, error.headers or {})


def _defect(request: Request, error: Exception) -> Response:
    told = {"code": "defect", "message": f"An unexpected error occurred: {type(error).__name__}.", "retryable": True}
    return _problem(500, told | {"hint": "Try again. If it fails again, report this message."}, {})


def _lets(request: Request, scope: TokenScope) -> None:
    if scope not in request.state.token.scopes:
        hint = f"Make one with `groundwork admin token add NAME --scope {scope}`."
        raise Refused(403, "scope_missing", f"This token lacks the scope “{scope}”.", hint)


async def _pieces(request: Request, most: int) -> AsyncIterator[bytes]:
    """Body in pieces. Raises `FileTooLarge` as soon as it has, or says that it has, more than ``most`` bytes."""
    length = request.headers.get("content-length", "0")
    sizes = [0, int(length) if length.isdecimal() and len(length) < 20 else 0]
    async for piece in request.stream():
        sizes[0] += len(piece)
        if max(sizes) > most:
            said = f"The request's body has more than {most / 2**20:.0f} MiB."
            raise FileTooLarge(said, hint="Send less at once; of a file, a part, or raise ingest.max_bytes.")
        yield piece


def _object(body: bytes) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError("The request's body is not JSON.", hint="Send a JSON object.") from error
    if not isinstance(given, dict):
        raise InputError("The request's body is not a JSON object.", hint="Send its fields in an object.")
    return given


async def _unless_left(request: Request, work: Awaitable[T]) -> T:
    """What ``work`` comes to; it is stopped when the client goes away."""
    working = asyncio.ensure_future(work)
    left = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({working, left}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Refused(CLIENT_LEFT, "client_left", "The client went away.", "Ask again.")
        return working.result()
    finally:
        left.cancel()
        working.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue


def _reply(value: Told | Drawn) -> Response:
    if isinstance(value, Drawn):
        return Response(value.png, media_type="image/png", headers={"Cache-Control": "no-store"})
    return JSONResponse(value.model_dump(mode="json"), headers={"Cache-Control": "no-store"})


def _event(name: str, data: Mapping[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
