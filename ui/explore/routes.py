"""HTTP routes of Explore: a plot with its table, A/B comparison, one chunk, the map, Plotly's script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from ragcore.engine import Engine
from ragcore.errors import IndexFault, InputError, UnknownTurn
from ragcore.explore.explore import Exploration, Explored, Point
from ragcore.text.short_titles import short_titles
from ragcore.types import EVERYTHING, Citation, Scope, SubQuery
from ragcore.types.json import plain
from ragcore.types.scope import sections_in_words
from ui.chat import payload
from ui.explore import connections, figures
from ui.explore import payload as explore_payload
from ui.explore import questions as explore
from ui.explore import settings as explore_settings
from ui.explore.figure_axis import Axis
from ui.server.guard import Json, engine_of, posted, posts, scope_in, text_in, visit
from ui.server.services import services

ROWS = 200  # of the table; the others are counted
ALL_SEEN = 3000  # chunks, of which each can be told apart in a plot of all; of more those around passages are shown
WIDEST = 4000  # CSS pixels


def answered(handler: Callable[[Request, Json], Response]) -> Callable[[Request, Json], Response]:
    """Decorator that answers ``refused``, with the reason, for a question that cannot be searched. The request was
    valid, so the browser must not log it as failed."""

    @wraps(handler)
    def answer(request: Request, body: Json) -> Response:
        try:
            return handler(request, body)
        except (InputError, IndexFault) as error:
            return JSONResponse({"refused": payload.error(error.as_dict())})

    return answer


@posted
@answered
def plot(request: Request, body: Json) -> Response:
    engine = engine_of(request)
    question, exploration, citations = _exploration(engine, body)
    sides = {side: explore_settings.overrides(body, side) for side in ("a", "b")}
    side = "b" if body.get("edit") == "b" else "a"
    compared = bool(body.get("compare"))
    # What the searches alone have found is there long before the best of it has been read.
    draft = bool(body.get("draft")) and exploration.unread
    apart = {"rerank.model": "none"} if draft else {}
    found = {name: explore.explored(exploration, sides[name] | apart) for name in ({"a", "b"} if compared else {side})}
    titles = short_titles({extent.doc_id: extent.title for extent in exploration.outline.extents})
    shown = found[side]
    cited = {name: explore_payload.cited(citations, of) for name, of in found.items()}
    connected = bool(shown.began)
    axis = body.get("axis") if connected or body.get("axis") != "connections" else ""
    chosen = axis or ("documents" if len(exploration.outline) <= ALL_SEEN else "passages")
    web = connections.drawn(shown, exploration, titles, cited[side]) if chosen == "connections" else None
    # Rows of a table that was found as a whole are listed as that.
    listed = [point for point in shown.points if point.by != "table"]
    opened = _point(body, shown, exploration) or next(iter(listed), None)
    answer: Json = {
        "question": question,
        "draft": draft,
        "scope": None if exploration.scope.doc_ids is None else list(exploration.scope.doc_ids),
        "sections": plain(exploration.scope.sections),
        "axis": chosen,
        "figure": None if web else _figure(engine, body, chosen, shown, exploration, titles, cited[side]),
        "connected": connected,
        "connections": web,
        "controls": {name: explore_settings.controls(of.settings) for name, of in found.items()},
        "known": explore_settings.known(),
        "stats": explore_payload.stats(shown, exploration) | {"arrays": round(exploration.ms)},
        "rows": [explore_payload.row(point, exploration, titles, cited[side]) for point in listed[:ROWS]],
        "more": max(0, len(listed) - ROWS),
        # With the plot, so that a slider's move is one request.
        "passage": None if opened is None else explore_payload.passage(opened, shown, exploration, cited[side]),
        "compare": _compared(found, exploration, titles, sides, cited, body) if compared else None,
    }
    return JSONResponse(answer)


def _figure(
    engine: Engine,
    body: Json,
    chosen: str,
    shown: Explored,
    exploration: Exploration,
    titles: dict[str, str],
    cited: frozenset[int],
) -> Json:
    width, height = _size(body)
    points = {"kinds": bool(body.get("kinds")), "cited": cited}
    if chosen == "map":
        return figures.chart_map(
            shown,
            exploration,
            explore.EXPLORATIONS.projection(engine, exploration),
            titles,
            colour="relevance" if body.get("colour") == "relevance" else "documents",
            view=_view(body, 4),
            width=width,
            height=height,
            **points,
        )
    measure = body.get("measure") if body.get("measure") in figures.MEASURES else "relevance"
    return figures.relevance(
        shown,
        exploration,
        titles,
        measure=str(measure),
        axis=Axis.around([shown], exploration.outline) if chosen == "passages" else None,
        view=_view(body, 2),
        width=width,
        height=height,
        **points,
    )


def _compared(
    found: dict[str, Explored],
    exploration: Exploration,
    titles: dict[str, str],
    sides: dict[str, dict[str, Any]],
    cited: dict[str, frozenset[int]],
    body: Json,
) -> Json:
    """Both sides on one scale: the same chunks, around those either side chose."""
    axis = Axis.around([found["a"], found["b"]], exploration.outline)
    return {
        name: {
            "figure": figures.relevance(
                found[name],
                exploration,
                titles,
                axis=axis,
                width=_size(body)[0] // 2,
                height=200,
                small=True,
                kinds=bool(body.get("kinds")),
                cited=cited[name],
            ),
            "stats": explore_payload.stats(found[name], exploration),
            "named": explore_settings.named(sides[name]),
        }
        for name in ("a", "b")
    } | explore_payload.differences(found["a"], found["b"], exploration, titles)


@posted
@answered
def point(request: Request, body: Json) -> Response:
    """One chunk by ``row``."""
    engine = engine_of(request)
    _, exploration, citations = _exploration(engine, body)
    found = explore.explored(exploration, explore_settings.overrides(body, "b" if body.get("edit") == "b" else "a"))
    shown = _point(body, found, exploration)
    if shown is None:
        raise InputError("This chunk is no longer in the library.", hint="Search again.")
    return JSONResponse(explore_payload.passage(shown, found, exploration, explore_payload.cited(citations, found)))


def _point(body: Json, found: Explored, exploration: Exploration) -> Point | None:
    """Chunk named by ``row``; None if there is none or it was removed."""
    row = body.get("row")
    known = isinstance(row, int) and 0 <= row < len(exploration.outline)
    return found.point(row) if known else None


@posted
@answered
def use(request: Request, body: Json) -> Response:
    """Use these settings for answers in this visit."""
    chosen = explore_settings.overrides(body, "b" if body.get("edit") == "b" else "a")
    services().visits.change(visit(request) or "", chosen)
    return JSONResponse({"named": explore_settings.named(chosen)})


def _exploration(engine: Engine, body: Json) -> tuple[str, Exploration, Sequence[Citation]]:
    """Exploration the page shows: a question in a scope, or the question of turn ``turn`` of conversation ``c`` with
    its answer's citations."""
    citations: Sequence[Citation] = ()
    conversation, turn = text_in(body, "c"), text_in(body, "turn")
    if conversation and turn and not text_in(body, "question"):
        question, scope, parts, citations = _asked(engine, conversation, turn)
    else:
        question, scope, parts = explore.asked(body), scope_in(body) or EVERYTHING, None
    return question, explore.EXPLORATIONS.get(engine, question, scope, parts), citations


def _asked(
    engine: Engine, conversation: str, turn: str
) -> tuple[str, Scope, tuple[SubQuery, ...] | None, Sequence[Citation]]:
    """Query, scope and parts of an earlier question, with its answer's citations."""
    given = engine.conversations.shown_turn(conversation, turn)
    if given is None:
        raise UnknownTurn("This question is no longer in the conversation.", hint="Type it here.")
    trace = given.answer.trace if given.answer else None
    question = (given.answer.standalone if given.answer else "") or given.question
    citations = given.answer.citations if given.answer else ()
    scope = _kept(engine, engine.conversations.scope(conversation) if trace is None else trace.scope)
    if trace is None:
        return question, scope, None, citations
    # What a cache or a model made of the question then is not made again; rules are.
    by_model = [query for query in trace.queries[1:] if query.origin in ("model", "gap")]
    return question, scope, tuple(trace.queries[1:]) if by_model else None, citations


def _kept(engine: Engine, scope: Scope) -> Scope:
    """``scope`` less removed documents. Raises `InputError` if it has sections and their documents are all removed:
    without any, whole documents would be searched."""
    kept = {doc_id for doc_id, _, _ in engine.store.names()}
    sections = tuple(section for section in scope.sections if section.doc_id in kept)
    if scope.sections and not sections:
        were = "its document was" if len(scope.sections) == 1 else "their documents were"
        raise InputError(
            f"This question was about {sections_in_words(scope)}, and {were} removed from the library.",
            hint="Choose another document, and type the question.",
        )
    doc_ids = scope.doc_ids and tuple(doc_id for doc_id in scope.doc_ids if doc_id in kept)
    return replace(scope, doc_ids=doc_ids, sections=sections)


def _size(body: Json) -> tuple[int, int]:
    given = [body.get("width"), body.get("height")]
    width, height = (value if isinstance(value, int) and 50 <= value <= WIDEST else None for value in given)
    return width or 800, height or 360


def _view(body: Json, count: int) -> Any:
    """Visible part of the plot, as ``count`` numbers."""
    given = body.get("view")
    if given is None:
        return None
    numbers = isinstance(given, list) and len(given) == count and all(isinstance(v, (int, float)) for v in given)
    if not numbers or any(given[at] >= given[at + 1] for at in range(0, count, 2)):
        raise InputError("The view in this page’s address can’t be shown.", hint="Reset the view.")
    return tuple(float(value) for value in given)


def routes(prefix: str = "") -> list[BaseRoute]:
    return posts(f"{prefix}/gw", explore=plot) + posts(f"{prefix}/gw/explore", point=point, use=use)
