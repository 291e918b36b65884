"""The app's own routes, under ``/gw``: documents with their page pictures here, what else the page viewer asks of them
in `ui.pane_routes`, the Library in `ui.library_routes`, conversations and live answers in `ui.conversation_routes`.
What each goes through is in `ui.guard`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
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
    turn_routes,
)
from ui.guard import guarded, shown, trouble
from ui.narrow import pages_in_brief
from ui.services import services

PRIVATE_CACHE = {"Cache-Control": "private, max-age=31536000, immutable"}


@shown
def document(request: Request) -> Response:
    """A document's pages; stored answers also cite those that were removed."""
    return JSONResponse(payload.document(services().engine.document(request.path_params["doc"])))


@shown
def page_picture(request: Request) -> Response:
    doc_id, page = request.path_params["doc"], request.path_params["page"]
    width = request.query_params.get("w", "")
    if not width.isdecimal() or len(width) > 5 or page < 1:
        return JSONResponse(trouble("page", "There is no such picture.", "Reload the page."), 400)
    renderer, file = services().renderer, services().engine.file(doc_id)
    return FileResponse(renderer.page(doc_id, file, page, int(width)), media_type="image/png", headers=PRIVATE_CACHE)


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
        Route(f"{doc}/pages/{{page:int}}.png", page_picture),
        Route(f"{prefix}/gw/pages", pages),
        *library_routes.routes(prefix),
        *pane_routes.routes(doc),
        *conversation_routes.routes(prefix),
        *exports.routes(prefix),
        *report_routes.routes(prefix),
        *settings_routes.routes(prefix),
        *explore_routes.routes(prefix),
        *turn_routes.routes(prefix),
    ]
