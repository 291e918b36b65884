"""HTTP routes of the page viewer, under ``/gw/documents/{doc}``: pictures of pages, tiles of large ones, words,
sections and matches."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import wraps
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import InputError
from ragcore.types import Page
from ui.server.guard import shown, trouble
from ui.server.services import services
from ui.viewer import document_text
from ui.viewer.render import TILE, TILE_WIDTHS

PRIVATE_CACHE = {"Cache-Control": "private, max-age=31536000, immutable"}
LONGEST = 500  # characters of what is searched for
CLIENT_LEFT = 499  # as nginx has it; nobody reads it


def drawn(ask: Callable[[Request], Future[bytes] | Response]) -> Callable[[Request], Awaitable[Response]]:
    """Route that answers with the picture drawn by ``ask``, or with its error, without occupying a thread. If the
    browser disconnects, as it does while scrolling, its request is withdrawn. A picture of a removed document is
    answered as such (`shown`)."""

    @wraps(ask)
    async def answer(request: Request) -> Response:
        asked: list[Future[bytes]] = []

        def begin(request: Request) -> Response:
            picture = ask(request)
            if isinstance(picture, Response):
                return picture
            asked.append(picture)
            return Response()

        refused = await run_in_threadpool(shown(begin), request)
        if not asked:
            return refused
        picture, left = asyncio.wrap_future(asked[0]), asyncio.ensure_future(_left(request))
        either: set[asyncio.Future[Any]] = {picture, left}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        left.cancel()
        if not picture.done():
            picture.cancel()
            return Response(status_code=CLIENT_LEFT)
        failure = picture.exception()

        def undrawn(request: Request) -> Response:
            services().engine.file(request.path_params["doc"])  # raises UnknownDocument
            assert failure is not None
            raise failure

        if failure is None:
            return Response(picture.result(), media_type="image/png", headers=PRIVATE_CACHE)
        return await run_in_threadpool(shown(undrawn), request)

    return answer


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue


@drawn
def page_picture(request: Request) -> Future[bytes] | Response:
    doc_id, page = request.path_params["doc"], request.path_params["page"]
    width = request.query_params.get("w", "")
    if not width.isdecimal() or len(width) > 5 or page < 1:
        return _no_picture()
    return services().renderer.page(doc_id, services().engine.file(doc_id), page, int(width))


@drawn
def tile(request: Request) -> Future[bytes] | Response:
    doc_id, page, width = (request.path_params[name] for name in ("doc", "page", "width"))
    column, row = request.path_params["column"], request.path_params["row"]
    pages = services().engine.document(doc_id).pages
    if not 1 <= page <= len(pages) or width not in TILE_WIDTHS or not _within(pages[page - 1], width, column, row):
        return _no_picture()
    return services().renderer.tile(doc_id, services().engine.file(doc_id), page, width, column, row)


def _no_picture() -> Response:
    return JSONResponse(trouble("page", "This picture doesn’t exist.", "Reload the page."), 400)


def _within(sheet: Page, width: int, column: int, row: int) -> bool:
    """Whether the tile overlaps the page, ``width`` pixels wide."""
    return column * TILE < width and row * TILE < width * sheet.height / sheet.width


@shown
def words(request: Request) -> Response:
    read = services().engine.document(request.path_params["doc"])
    return JSONResponse(document_text.words(read, request.path_params["page"]), headers=PRIVATE_CACHE)


@shown
def sections(request: Request) -> Response:
    return JSONResponse(document_text.sections(services().engine.document(request.path_params["doc"])))


@shown
def find(request: Request) -> Response:
    """Number of matches, and their pages."""
    read = services().engine.document(request.path_params["doc"])
    return JSONResponse(document_text.found(read, _query(request)))


@shown
def found(request: Request) -> Response:
    """Matches on one page."""
    read = services().engine.document(request.path_params["doc"])
    return JSONResponse(document_text.found_on(read, _query(request), request.path_params["page"]))


def _query(request: Request) -> str:
    query = request.query_params.get("q", "")
    if len(query) > LONGEST:
        raise InputError(f"The search text is too long: {len(query)} characters.", hint="Search for part of it.")
    return query


def routes(doc: str) -> list[BaseRoute]:
    """All routes below ``doc``, the path of a document."""
    page = f"{doc}/pages/{{page:int}}"
    return [
        Route(f"{page}.png", page_picture),
        Route(f"{page}/tiles/{{width:int}}/{{column:int}}-{{row:int}}.png", tile),
        Route(f"{page}/words", words),
        Route(f"{page}/found", found),
        Route(f"{doc}/sections", sections),
        Route(f"{doc}/find", find),
    ]
