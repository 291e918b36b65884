"""The app's own routes, under ``/gw``: page pictures, word boxes, conversations and live answers.

Every one but the static files asks for a token (`ui.tokens`): as ``t`` in the query where the browser fetches by
itself (pictures, event streams), and in a header for whatever changes something, so that no other site can.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from itertools import takewhile
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from ragcore.errors import GroundworkError, InputError, StoreBusy, UnknownConversation, UnknownDocument
from ragcore.index.conversations import Conversation
from ragcore.scopes import checked, page_ranges, pages_in_words
from ragcore.types import Scope
from ui import explain, markup, payload
from ui.runs import LiveAnswer, ScopeGone, unread
from ui.services import services

TOKEN_HEADER = "x-groundwork-token"
TICK_SECONDS = 0.06
PRIVATE_CACHE = {"Cache-Control": "private, max-age=31536000, immutable"}

Handler = Callable[[Request], Response]
Json = dict[str, Any]

_SCOPE = TypeAdapter(Scope)


def guarded(handler: Handler) -> Handler:
    """Answer 403 without a good token, and a `GroundworkError` as its JSON."""

    @wraps(handler)
    def answer(request: Request) -> Response:
        try:
            return _refused(request) or handler(request)
        except GroundworkError as error:
            return JSONResponse({"error": payload.error(error.as_dict())}, _status(error))

    return answer


def posted(handler: Callable[[Request, Json], Response]) -> Callable[[Request], Awaitable[Response]]:
    """`guarded`, for a handler that takes the JSON object of the request's body; the body of who has no token is not
    read."""

    @wraps(handler)
    async def answer(request: Request) -> Response:
        checked = await asyncio.to_thread(guarded(lambda _: Response()), request)
        if checked.status_code != 200:
            return checked
        body = await request.body()
        return await asyncio.to_thread(guarded(lambda asked: handler(asked, _object(body))), request)

    return answer


def _refused(request: Request) -> Response | None:
    header = request.headers.get(TOKEN_HEADER, "")
    token = header if request.method == "POST" else header or request.query_params.get("t", "")
    if services().signer.scope(token) is None:
        return JSONResponse(_error("token", "This page is out of date.", "Reload it."), 403)
    return None


def _object(body: bytes) -> Json:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError("The request's body is not JSON.", hint="Reload the page and try again.") from error
    if not isinstance(given, dict):
        raise InputError("The request's body is not a JSON object.", hint="Reload the page and try again.")
    return given


def _text(body: Json, name: str) -> str | None:
    """The text called ``name``; None where there is none. Raises `InputError` for anything else."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(f"“{name}” in the request's body is not text.", hint="Reload the page and try again.")
    return value


def _scope(body: Json) -> Scope | None:
    """The scope in a body; None where there is none. Raises `InputError` for one that cannot be."""
    if body.get("scope") is None:
        return None
    try:
        return checked(_SCOPE.validate_python(body["scope"]))
    except ValidationError as error:
        raise InputError(
            "“scope” in the request's body is not a scope.", hint="Reload the page and try again."
        ) from error


def _status(error: GroundworkError) -> int:
    if isinstance(error, (UnknownDocument, UnknownConversation)):
        return 404
    if isinstance(error, StoreBusy):
        return 409
    return 400 if isinstance(error, InputError) else 500


def _error(code: str, message: str, hint: str) -> Json:
    return {"error": {"code": code, "message": message, "hint": hint, "retryable": True}}


# Documents


@guarded
def document(request: Request) -> Response:
    """A document's pages. One that was removed is no error here: stored answers still cite it."""
    try:
        read = services().engine.document(request.path_params["doc"])
    except UnknownDocument:
        return JSONResponse({"removed": True})
    return JSONResponse(payload.document(read))


@guarded
def page_picture(request: Request) -> Response:
    doc_id, page = request.path_params["doc"], request.path_params["page"]
    width = request.query_params.get("w", "")
    if not width.isdecimal() or len(width) > 5 or page < 1:
        return JSONResponse(_error("page", "There is no such picture.", "Reload the page."), 400)
    renderer, file = services().renderer, services().engine.file(doc_id)
    return FileResponse(renderer.page(doc_id, file, page, int(width)), media_type="image/png", headers=PRIVATE_CACHE)


@guarded
def page_words(request: Request) -> Response:
    read = services().engine.document(request.path_params["doc"])
    return JSONResponse(payload.words(read, request.path_params["page"]), headers=PRIVATE_CACHE)


@guarded
def page_elements(request: Request) -> Response:
    read = services().engine.document(request.path_params["doc"])
    return JSONResponse(payload.elements(read, request.path_params["page"]))


@guarded
def library(_: Request) -> Response:
    ingestion = services().ingestion
    jobs = ingestion.jobs()
    removing = ingestion.removing()
    return JSONResponse(payload.library(services().engine.documents(), jobs, ingestion.failures, removing))


@posted
def read_document(request: Request, body: Json) -> Response:
    """Queue a document again, with a password where its body gives one."""
    password = _text(body, "password")
    services().engine.file(request.path_params["doc"])  # raises UnknownDocument
    services().ingestion.add(request.path_params["doc"], password)
    return JSONResponse({})


@guarded
def cancel_document(request: Request) -> Response:
    services().ingestion.cancel(request.path_params["doc"])
    return JSONResponse({})


@guarded
def remove_document(request: Request) -> Response:
    """Begin a removal; the library's rows tell when it is done, or why not."""
    services().engine.file(request.path_params["doc"])  # raises UnknownDocument
    services().ingestion.remove(request.path_params["doc"])
    return JSONResponse({})


# Conversations


@guarded
def conversation(request: Request) -> Response:
    stored = services().engine.conversation(request.path_params["conversation"])
    live = {item.turn_id: services().answers.get(item.turn_id) for item in stored.turns if item.answer is None}
    return JSONResponse(
        payload.conversation(stored, {k: v for k, v in live.items() if v is not None}, _unsearched(stored))
    )


def _unsearched(stored: Conversation) -> dict[str, list[Json]]:
    """What each turn could not search, because it was not read yet."""
    answers, infos, jobs = services().answers, services().engine.documents(), services().ingestion.jobs()
    known = {item.turn_id: answers.unsearched(item.turn_id) for item in stored.turns}
    if stored.turns and known[stored.turns[-1].turn_id] is None:
        # Asked before this process began: what is not read now was not read then.
        last = stored.turns[-1]
        known[last.turn_id] = unread(infos, stored.scope.doc_ids, before=last.created)
    return {turn_id: payload.unsearched(ids, infos, jobs) for turn_id, ids in known.items() if ids}


@posted
def ask(request: Request, body: Json) -> Response:
    """Ask in a conversation, within the scope that is shown where *Ask it again* was pressed; without one, within that
    of the conversation."""
    question = _text(body, "question") or ""
    scope = _scope(body)
    try:
        live = services().answers.ask(request.path_params["conversation"], question, scope)
    except ScopeGone as error:
        # Another tab did that; the request was right, so the browser is not to note it as failed.
        return JSONResponse({"refused": error.as_dict()})
    return JSONResponse({"turn": live.turn_id})


@guarded
def why(request: Request) -> Response:
    """Why the answer to a question has its sources."""
    stored = services().engine.conversation(request.path_params["conversation"])
    given = next((item.answer for item in stored.turns if item.turn_id == request.path_params["turn"]), None)
    found = explain.explanation(given) if given else None
    if found is None:
        return JSONResponse(_error("unexplained", "It was not kept how these sources were found.", "Ask again."), 404)
    return JSONResponse(found)


@guarded
def pages(request: Request) -> Response:
    """What pages a person has typed so far, in words, or what is ``wrong`` with them."""
    last = request.query_params.get("last", "")
    try:
        ranges = page_ranges(request.query_params.get("text", ""), int(last) if last.isdecimal() else None)
    except InputError as error:
        return JSONResponse({"words": "", "wrong": f"{error.message} {error.hint}"})
    return JSONResponse({"words": pages_in_words(Scope(pages=ranges)), "wrong": ""})


@guarded
def stop(request: Request) -> Response:
    live = services().answers.get(request.path_params["turn"])
    if live is not None:
        live.stop()
    return JSONResponse({})


@guarded
def events(request: Request) -> Response:
    """A live answer as Server-Sent Events: ``write`` with what is new, then one ``done`` with the whole turn. Every
    connection is told everything from the start, so that a reload or a second tab shows the same."""
    live = services().answers.get(request.path_params["turn"])
    if live is None:
        return JSONResponse(_error("gone", "This answer is not being written any more.", "Reload it."), 404)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_follow(live), media_type="text/event-stream", headers=headers)


async def _follow(live: LiveAnswer) -> AsyncIterator[str]:
    shown: list[str] = []
    known = 0
    revision = -1
    while True:
        view = live.view
        if view.stage == "done":
            stored = await asyncio.to_thread(services().engine.conversation, live.conversation_id)
            given = next((item for item in stored.turns if item.turn_id == live.turn_id), None)
            if given is not None:
                unsearched = await asyncio.to_thread(_unsearched, stored)
                yield _event("done", payload.turn(given, live, unsearched.get(live.turn_id, ())))
            return
        if view.revision != revision:
            revision = view.revision
            by_number = {item.n: item for item in view.citations}
            blocks = markup.blocks(view.text, view.marks, by_number, turn_id=live.turn_id)
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(shown, blocks)))
            yield _event(
                "write",
                {
                    "from": same,
                    "blocks": blocks[same:],
                    "citations": [payload.citation(item) for item in view.citations[known:]],
                    "steps": payload.live_steps(view),
                },
            )
            shown, known = blocks, len(view.citations)
        await asyncio.sleep(TICK_SECONDS)


def _event(name: str, data: Json) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def routes(prefix: str = "") -> list[BaseRoute]:
    """All of them, below ``prefix`` (Streamlit's ``server.baseUrlPath``, or "")."""
    doc = f"{prefix}/gw/documents/{{doc:str}}"
    talk = f"{prefix}/gw/conversations/{{conversation:str}}"
    return [
        Route(f"{prefix}/gw/library", library),
        Route(doc, document),
        Route(f"{doc}/read", read_document, methods=["POST"]),
        Route(f"{doc}/cancel", cancel_document, methods=["POST"]),
        Route(f"{doc}/remove", remove_document, methods=["POST"]),
        Route(f"{doc}/pages/{{page:int}}.png", page_picture),
        Route(f"{doc}/pages/{{page:int}}/words", page_words),
        Route(f"{doc}/pages/{{page:int}}/elements", page_elements),
        Route(talk, conversation),
        Route(f"{talk}/questions", ask, methods=["POST"]),
        Route(f"{talk}/questions/{{turn:str}}/why", why),
        Route(f"{prefix}/gw/pages", pages),
        Route(f"{prefix}/gw/answers/{{turn:str}}/events", events),
        Route(f"{prefix}/gw/answers/{{turn:str}}/stop", stop, methods=["POST"]),
    ]
