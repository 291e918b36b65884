"""The app's own routes, under ``/gw``: documents with their page pictures and word boxes here, conversations and live
answers in `ui.conversation_routes`. What each goes through is in `ui.guard`."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import InputError, UnknownDocument
from ragcore.scopes import page_ranges
from ragcore.types import Scope
from ui import conversation_routes, exports, payload
from ui.guard import guarded, posted, text_in, trouble
from ui.narrow import pages_in_brief
from ui.services import services

PRIVATE_CACHE = {"Cache-Control": "private, max-age=31536000, immutable"}

Json = dict[str, Any]


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
        return JSONResponse(trouble("page", "There is no such picture.", "Reload the page."), 400)
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
    password = text_in(body, "password")
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
        Route(f"{prefix}/gw/library", library),
        Route(doc, document),
        Route(f"{doc}/read", read_document, methods=["POST"]),
        Route(f"{doc}/cancel", cancel_document, methods=["POST"]),
        Route(f"{doc}/remove", remove_document, methods=["POST"]),
        Route(f"{doc}/pages/{{page:int}}.png", page_picture),
        Route(f"{doc}/pages/{{page:int}}/words", page_words),
        Route(f"{doc}/pages/{{page:int}}/elements", page_elements),
        Route(f"{prefix}/gw/pages", pages),
        *conversation_routes.routes(prefix),
        *exports.routes(prefix),
    ]
