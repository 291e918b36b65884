"""HTTP routes of one turn: feedback and follow-up questions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import asdict

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import GroundworkError, UnknownConversation, UnknownTurn
from ragcore.text.short_titles import short
from ragcore.types.library import Feedback
from ui.server.guard import Json, Malformed, action, in_turn, named
from ui.server.services import services

LONGEST_TITLE = 28  # characters of a title in a question that is offered

_FEEDBACK = TypeAdapter(Feedback)
_looking = asyncio.Lock()  # one search for suggestions at a time: what people ask comes first


@action(lost=(UnknownTurn,))
def feedback(request: Request, body: Json) -> Json:
    """Store feedback on an answer; ``{"feedback": null}`` withdraws it."""
    given = body.get("feedback")
    try:
        read = None if given is None else _FEEDBACK.validate_python(given)
    except ValidationError as error:
        raise Malformed("“feedback” in the request's body is none.") from error
    services().engine.feedback.put(named(request, "turn"), read)
    return {"feedback": None if read is None else asdict(read)}


@in_turn(_looking)
def suggestions(request: Request) -> Response:
    """Follow-up questions for an answer. The search runs while no answer is being written and gives up when one starts;
    an error is reported, since nothing else depends on it."""
    made, turn = services(), named(request, "turn")
    found: tuple[str, ...] = ()
    try:
        found = made.engine.suggest(named(request, "conversation"), turn, made.answers.idle)
    except (UnknownConversation, UnknownTurn):
        pass  # deleted meanwhile: there is nothing to say it under
    except GroundworkError as error:
        return JSONResponse({"questions": [], "trouble": f"{error.message} {error.hint}"})
    titles = [title for _, title, _ in made.engine.store.names()]
    return JSONResponse({"questions": [{"question": one, "shown": shown(one, titles)} for one in found]})


def shown(question: str, titles: Iterable[str]) -> str:
    """Question with quoted titles shortened: the answer above shows which document is meant."""
    for title in titles:
        question = question.replace(f"“{title}”", f"“{short(title, LONGEST_TITLE)}”")
    return question


def routes(prefix: str = "") -> list[BaseRoute]:
    turn = f"{prefix}/gw/conversations/{{conversation:str}}/questions/{{turn:str}}"
    return [
        Route(f"{turn}/feedback", feedback, methods=["POST"]),
        Route(f"{turn}/suggestions", suggestions),
    ]
