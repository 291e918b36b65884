"""HTTP routes for conversations: list, search, branches, live answers, costs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict
from itertools import takewhile

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from ragcore.errors import InputError, LimitReached, UnknownConversation, UnknownTurn
from ragcore.export import KINDS, kind
from ragcore.index.conversations import Conversation, StoredTurn
from ui.chat import answer_progress, conversation_list, payload
from ui.chat.runs import LiveAnswer, ScopeGone, StillWriting, unread
from ui.explore import explain
from ui.server.files import file_name, saved
from ui.server.guard import Json, action, engine_of, gone, guarded, named, posts, scope_in, text_in, trouble
from ui.server.services import libraries, services
from ui.viewer import changes

TICK_SECONDS = 0.06
ELSEWHERE_SECONDS = 0.5  # between two looks whether another machine still writes an answer
LOOKED = 2.0  # seconds between two looks whether an answer may still be followed
LISTED = 100  # conversations that the list begins with
SHOWN = 30  # turns that a conversation begins with; those before are had as they are wanted


@guarded
def conversations(request: Request) -> Response:
    """Conversation list, or its search results: the first `LISTED`, or ``all``."""
    search = request.query_params.get("q", "")
    infos = services().engine.conversations.all(search)
    limit = None if "all" in request.query_params else LISTED
    return JSONResponse(conversation_list.listed(infos, limit))


@action(lost=(UnknownConversation,))
def rename(request: Request, body: Json) -> None:
    title = (text_in(body, "title") or "").strip()
    if not title:
        raise InputError("A conversation needs a title.", hint="Enter one.")
    services().engine.conversations.rename(named(request, "conversation"), title)


@guarded
@gone(UnknownConversation)
def delete(request: Request) -> Response:
    """Delete a conversation and stop any answer being written in it."""
    services().engine.conversations.require(named(request, "conversation"))
    services().answers.stop_all(named(request, "conversation"))
    services().engine.conversations.delete(named(request, "conversation"))
    return JSONResponse({})


@action(StillWriting, UnknownTurn, lost=(UnknownConversation,))
def show(request: Request, body: Json) -> None:
    """Show the branch that passes through one version of a question."""
    services().answers.show(named(request, "conversation"), text_in(body, "turn") or "", services().engine)


@action(lost=(UnknownConversation,))
def share(request: Request, body: Json) -> None:
    """Let everybody who may read the library read a conversation, or nobody else any more."""
    services().engine.conversations.share(named(request, "conversation"), body.get("shared") is True)


@guarded
@gone(UnknownConversation)
def spending(request: Request) -> Response:
    """Cost of one conversation's answers, and total spending."""
    return JSONResponse(conversation_list.spending(services().engine, named(request, "conversation")))


@guarded
@gone(UnknownConversation)
def conversation(request: Request) -> Response:
    """Newest turns, those from turn ``since`` on, or the last ones before turn ``before``."""
    stored = services().engine.conversations.get(
        named(request, "conversation"),
        newest=SHOWN,
        before=request.query_params.get("before", ""),
        since=request.query_params.get("since", ""),
    )
    live = {item.turn_id: services().answers.get(item.turn_id) for item in stored.turns if item.answer is None}
    elsewhere = None in live.values() and services().answers.elsewhere(stored.info.conversation_id)
    shown = payload.conversation(
        stored, {k: v for k, v in live.items() if v is not None}, _unsearched(stored), _partly(stored.turns), elsewhere
    )
    given = services().engine.feedback.of([item.turn_id for item in stored.turns])
    shown = changes.told(shown, services().engine.versions)
    return JSONResponse(shown | {"feedback": {turn_id: asdict(each) for turn_id, each in given.items()}})


def _unsearched(stored: Conversation) -> dict[str, list[Json]]:
    """Documents each turn could not search because they were not read yet."""
    answers, infos = services().answers, services().engine.documents()
    jobs = services().ingestion.jobs(infos)
    known = {item.turn_id: answers.unsearched(item.turn_id) for item in stored.turns}
    if stored.turns and stored.turns[-1].turn_id == stored.info.shown and known[stored.info.shown] is None:
        # Asked before this process began: what is not read now was not read then.
        last = stored.turns[-1]
        known[last.turn_id] = unread(infos, stored.scope, before=last.created)
    return {turn_id: payload.unsearched(ids, infos, jobs) for turn_id, ids in known.items() if ids}


def _partly(turns: Sequence[StoredTurn]) -> dict[str, list[Json]]:
    """Documents of which each answer saw only a part."""
    if not any(item.answer is not None and item.answer.partly for item in turns):
        return {}
    infos = services().engine.documents()
    jobs = services().ingestion.jobs(infos)
    return {item.turn_id: payload.partly(item.answer, infos, jobs) for item in turns}


@action(LimitReached, ScopeGone, StillWriting, lost=(UnknownConversation,))
def ask(request: Request, body: Json) -> Json:
    """Ask a new version of the question of turn ``instead_of``, or a question after turn ``after``, within the scope
    shown when it was asked; without one, within the conversation's scope."""
    question = text_in(body, "question") or ""
    scope = scope_in(body)
    instead_of = text_in(body, "instead_of")
    live = services().answers.ask(
        named(request, "conversation"),
        question,
        scope,
        after=text_in(body, "after"),
        instead_of=instead_of,
        engine=engine_of(request),
    )
    return {"turn": live.turn_id}


@guarded
def why(request: Request) -> Response:
    """Reasons for the sources of an answer."""
    stored = services().engine.conversations.shown_turn(named(request, "conversation"), named(request, "turn"))
    found = None
    if stored and stored.answer:
        found = explain.explanation(stored.answer, services().engine.document)
    if found is None:
        return JSONResponse(trouble("unexplained", "The search behind these sources wasn’t saved.", "Ask again."), 404)
    return JSONResponse(found)


@guarded
def stop(request: Request) -> Response:
    """Stop an answer, on whatever server it is written."""
    made, turn_id = services(), named(request, "turn")
    live, own = made.answers.get(turn_id), made.engine.conversations.require
    if live is not None and _open(live.conversation_id, own):
        live.stop()
    elif live is None and (found := _elsewhere(turn_id)) and _open(found, own):
        made.answers.stop_elsewhere(turn_id)
    return JSONResponse({})


def _open(conversation_id: str, ask: Callable[[str], object]) -> bool:
    """Whether a conversation is one's own, or shared, as ``ask`` has it. Without sign-in all are."""
    if services().owner is None:
        return True
    try:
        ask(conversation_id)
    except UnknownConversation:
        return False
    return True


def _may_follow(live: LiveAnswer) -> bool:
    """Whether an answer is still open to who follows it: not if it was unshared, or the library closed to them."""
    return _in_library() and _open(live.conversation_id, services().engine.conversations.scope)


def _in_library() -> bool:
    """Whether who asks still has a role in the library."""
    made = services()
    return made.owner is None or libraries().role(made.owner, made.library_id) is not None


@guarded
def events(request: Request) -> Response:
    """Live answer as Server-Sent Events: ``write`` with each addition, then one ``done`` with the whole turn, or
    ``gone``, at once if it is not being written or not open to who asks. Every connection receives everything from the
    start, so that a reload or a second tab shows the same."""
    live = services().answers.get(named(request, "turn"))
    told = _follow(live) if live is not None and _may_follow(live) else _wait(named(request, "turn"))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(told, media_type="text/event-stream", headers=headers)


def _elsewhere(turn_id: str) -> str:
    """Conversation in which another machine writes the answer of a turn; "" if none does, or it isn't open to who
    asks."""
    if not _in_library():
        return ""
    made = services()
    try:
        found = made.engine.conversations.of_turn(turn_id)
    except (UnknownConversation, UnknownTurn):
        return ""
    return found if made.answers.elsewhere(found) else ""


async def _wait(turn_id: str) -> AsyncIterator[str]:
    """``gone`` as soon as no other machine writes the answer of a turn, or it isn't open to who asks any more."""
    while await run_in_threadpool(_elsewhere, turn_id):
        yield ": written on another machine\n\n"
        await asyncio.sleep(ELSEWHERE_SECONDS)
    yield _event("gone", {})


@guarded
def export(request: Request) -> Response:
    """Shown branch of a conversation as a file."""
    # Not a coroutine: Starlette runs it on a thread, and the event loop goes on.
    chosen, conversation_id = kind(request.path_params["kind"], KINDS), named(request, "conversation")
    engine = services().engine
    data = engine.export(conversation_id, chosen)
    title = engine.conversations.get(conversation_id, newest=0).info.title
    return saved(data, file_name(title, chosen))


async def _follow(live: LiveAnswer) -> AsyncIterator[str]:
    shown: list[str] = []
    known = 0
    revision = -1
    looked = time.monotonic()
    while True:
        if time.monotonic() - looked > LOOKED:
            looked = time.monotonic()
            if not await run_in_threadpool(_may_follow, live):
                yield _event("gone", {})
                return
        view = live.view
        if view.stage == "done":
            yield await run_in_threadpool(_outcome, live)
            return
        if view.revision != revision:
            revision = view.revision
            blocks = live.blocks(view)
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(shown, blocks)))
            yield _event(
                "write",
                {
                    "from": same,
                    "blocks": blocks[same:],
                    "citations": [payload.citation(item) for item in view.citations[known:]],
                    "steps": answer_progress.live_steps(view),
                    "standalone": answer_progress.standalone(view, live.question),
                },
            )
            shown, known = blocks, len(view.citations)
        await asyncio.sleep(TICK_SECONDS)


def _outcome(live: LiveAnswer) -> str:
    """``done`` with the stored turn; ``gone`` if it is no longer shown or was deleted with its conversation."""
    try:
        stored = services().engine.conversations.get(live.conversation_id, since=live.turn_id, newest=0)
    except UnknownConversation:
        return _event("gone", {})
    given = next((item for item in stored.turns if item.turn_id == live.turn_id), None)
    if given is None:
        return _event("gone", {})
    turn_id = live.turn_id
    missing, parts = _unsearched(stored).get(turn_id, ()), _partly([given]).get(turn_id, ())
    return _event("done", payload.turn(given, live, missing, parts))


def _event(name: str, data: Json) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def routes(prefix: str = "") -> list[BaseRoute]:
    talk = f"{prefix}/gw/conversations/{{conversation:str}}"
    answer = f"{prefix}/gw/answers/{{turn:str}}"
    return [
        Route(f"{prefix}/gw/conversations", conversations),
        Route(talk, conversation),
        *posts(talk, title=rename, delete=delete, shown=show, share=share, questions=ask),
        Route(f"{talk}/spending", spending),
        Route(f"{talk}/questions/{{turn:str}}/why", why),
        Route(f"{talk}/export.{{kind:str}}", export),
        Route(f"{answer}/events", events),
        Route(f"{answer}/stop", stop, methods=["POST"]),
    ]
