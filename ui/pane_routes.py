"""Routes of the page viewer, under ``/gw/documents/{doc}``: tiles of large pages, words, headings and matches."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import InputError
from ragcore.types import Page
from ui import reading
from ui.guard import shown, trouble
from ui.render import TILE, TILE_WIDTHS
from ui.services import services

PRIVATE_CACHE = {"Cache-Control": "private, max-age=31536000, immutable"}
LONGEST = 500  # characters of what is searched for

_searches = reading.Searches()


@shown
def tile(request: Request) -> Response:
    doc_id, page, width = (request.path_params[name] for name in ("doc", "page", "width"))
    column, row = request.path_params["column"], request.path_params["row"]
    pages = services().engine.document(doc_id).pages
    if not 1 <= page <= len(pages) or width not in TILE_WIDTHS or not _within(pages[page - 1], width, column, row):
        return JSONResponse(trouble("page", "There is no such picture.", "Reload the page."), 400)
    picture = services().renderer.tile(doc_id, services().engine.file(doc_id), page, width, column, row)
    return FileResponse(picture, media_type="image/png", headers=PRIVATE_CACHE)


def _within(sheet: Page, width: int, column: int, row: int) -> bool:
    """Whether the tile has any part of the page, ``width`` pixels wide."""
    return column * TILE < width and row * TILE < width * sheet.height / sheet.width


@shown
def words(request: Request) -> Response:
    read = services().engine.document(request.path_params["doc"])
    return JSONResponse(reading.words(read, request.path_params["page"]), headers=PRIVATE_CACHE)


@shown
def outline(request: Request) -> Response:
    return JSONResponse(reading.outline(services().engine.document(request.path_params["doc"])))


@shown
def find(request: Request) -> Response:
    """How often something is printed, and on which pages."""
    read = services().engine.document(request.path_params["doc"])
    return JSONResponse(_searches.found(read, _query(request)))


@shown
def found(request: Request) -> Response:
    """The matches on one page."""
    read = services().engine.document(request.path_params["doc"])
    return JSONResponse(_searches.on_page(read, _query(request), request.path_params["page"]))


def _query(request: Request) -> str:
    query = request.query_params.get("q", "")
    if len(query) > LONGEST:
        raise InputError(f"That is too long to be searched for: {len(query)} characters.", hint="Search for a part.")
    return query


def routes(doc: str) -> list[BaseRoute]:
    """All of them, below the path ``doc`` of a document."""
    page = f"{doc}/pages/{{page:int}}"
    return [
        Route(f"{page}/tiles/{{width:int}}/{{column:int}}-{{row:int}}.png", tile),
        Route(f"{page}/words", words),
        Route(f"{page}/found", found),
        Route(f"{doc}/outline", outline),
        Route(f"{doc}/find", find),
    ]
