"""The app's own routes, under ``/gw``: documents here, what the page viewer shows of their pages in `ui.pane_routes`,
the Library in `ui.library_routes`, conversations and live answers in `ui.conversation_routes`.
What each goes through is in `ui.guard`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import InputError
from ragcore.scopes import page_ranges
from ragcore.types import Scope
from ui import (
    conversation_routes,
    explore_routes,
    exports,
    library_routes,
    pane_routes,
    payload,
    report_routes,
    settings_routes,
    start_routes,
    turn_routes,
)
from ui.guard import guarded, shown
from ui.narrow import pages_in_brief
from ui.services import services


@shown
def document(request: Request) -> Response:
    """A document's pages; stored answers also cite those that were removed."""
    return JSONResponse(payload.document(services().engine.document(request.path_params["doc"])))


@guarded
def pages(request: Request) -> Response:
    """What pages a person has typed so far, in words, or what is ``wrong`` with them."""
    last = request.query_params.get("last", "")
    try:
        ranges = page_ranges(request.query_params.get("text", ""), int(last) if last.isdecimal() else None)
    except InputError as error:
        return JSONResponse({"words": "", "wrong": f"{error.message} {error.hint}"})
    return JSONResponse({"words": pages_in_brief(Scope(pages=ranges)), "wrong": ""})


def routes(prefix: str = "") -> list[BaseRoute]:
    """All of them, below ``prefix`` (Streamlit's ``server.baseUrlPath``, or "")."""
    doc = f"{prefix}/gw/documents/{{doc:str}}"
    return [
        Route(doc, document),
        Route(f"{prefix}/gw/pages", pages),
        *library_routes.routes(prefix),
        *pane_routes.routes(doc),
        *conversation_routes.routes(prefix),
        *exports.routes(prefix),
        *report_routes.routes(prefix),
        *settings_routes.routes(prefix),
        *explore_routes.routes(prefix),
        *turn_routes.routes(prefix),
        *start_routes.routes(prefix),
    ]
