"""Route table of the app, under ``/gw``, with the routes of documents. Pages of a document are served by
`ui.viewer.routes`, the Library by `ui.library.routes`, conversations and live answers by `ui.chat.conversation_routes`.
Every route passes through `ui.server.guard`.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import InputError
from ragcore.types import Scope
from ragcore.types.scope import page_ranges
from ui.chat import conversation_routes, payload, start_routes, turn_routes
from ui.chat.scope_words import pages_in_brief
from ui.check import routes as check_routes
from ui.evaluate import routes as evaluate_routes
from ui.explore import routes as explore_routes
from ui.explore.plotly_script import plotly_path, plotly_script
from ui.gate.access import access
from ui.gate.libraries import routes_within as member_routes
from ui.grid import routes as grid_routes
from ui.library import routes as library_routes
from ui.library import watch_routes
from ui.reports import routes as report_routes
from ui.server.guard import guarded, shown
from ui.server.roles import within
from ui.server.services import services
from ui.settings import routes as settings_routes
from ui.viewer import routes as pane_routes


@shown
def document(request: Request) -> Response:
    """Pages of a document; stored answers may cite removed ones."""
    return JSONResponse(payload.document(services().engine.document(request.path_params["doc"])))


@guarded
def pages(request: Request) -> Response:
    """Page ranges typed so far, in words, or what is ``wrong`` with them."""
    last = request.query_params.get("last", "")
    try:
        ranges = page_ranges(request.query_params.get("text", ""), int(last) if last.isdecimal() else None)
    except InputError as error:
        return JSONResponse({"words": "", "wrong": f"{error.message} {error.hint}"})
    return JSONResponse({"words": pages_in_brief(Scope(pages=ranges)), "wrong": ""})


def routes(prefix: str = "") -> list[BaseRoute]:
    """All routes below ``prefix`` (Streamlit's ``server.baseUrlPath``, or ""); where people sign in, those of a library
    name it: ``/l/{library}/gw/…``."""
    script = Route(f"{prefix}{plotly_path()[0]}", plotly_script)
    if access().accounts is None:
        return [script, *of_library(prefix)]
    inside = f"{prefix}/l/{{library:str}}"
    own = [*of_library(inside), *member_routes(inside)]
    return [script, *(within(route, inside) for route in own)]


def of_library(prefix: str) -> list[BaseRoute]:
    """Routes of one library."""
    doc = f"{prefix}/gw/documents/{{doc:str}}"
    return [
        Route(doc, document),
        Route(f"{prefix}/gw/pages", pages),
        *library_routes.routes(prefix),
        *watch_routes.routes(prefix),
        *pane_routes.routes(doc),
        *conversation_routes.routes(prefix),
        *check_routes.routes(prefix),
        *grid_routes.routes(prefix),
        *report_routes.routes(prefix),
        *settings_routes.routes(prefix),
        *explore_routes.routes(prefix),
        *evaluate_routes.routes(prefix),
        *turn_routes.routes(prefix),
        *start_routes.routes(prefix),
    ]
