"""HTTP routes of the Library, under ``/gw``: rows, actions on documents, contents of a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import InputError
from ragcore.export import kind
from ragcore.export.sheets import SHEET_KINDS
from ragcore.ingest.convert.kinds import SUFFIXES
from ragcore.types.json import Json
from ui.library import payload as library_payload
from ui.server.files import TYPES, disposition, file_name, saved
from ui.server.guard import action, guarded, posts, shown, text_in, texts_in
from ui.server.services import services


@guarded
def library(_: Request) -> Response:
    engine, ingestion = services().engine, services().ingestion
    documents = engine.documents()
    rows = library_payload.library(
        documents,
        ingestion.jobs(documents),
        ingestion.failures,
        set(engine.stale()),
        engine.trash.items(),
        engine.settings,
        engine.store.newest(),
    )
    return JSONResponse(rows)


@action(InputError)
def read(_: Request, body: Json) -> None:
    """Queue documents for reading, or for rebuilding under the present settings."""
    _queue(texts_in(body, "docs"))


def _queue(doc_ids: Sequence[str], password: str | None = None) -> None:
    for doc_id in doc_ids:
        services().engine.file(doc_id)  # raises UnknownDocument
        services().ingestion.add(doc_id, password)


@action(InputError)
def remove(_: Request, body: Json) -> None:
    """Move documents to the trash."""
    services().ingestion.remove(texts_in(body, "docs"))


@action(InputError)
def restore(_: Request, body: Json) -> None:
    """Restore documents from the trash."""
    services().ingestion.restore(texts_in(body, "docs"))


@action(InputError)
def finish(_: Request, body: Json) -> None:
    """Permanently delete documents in the trash."""
    services().ingestion.finish(texts_in(body, "docs"))


@action(InputError)
def tag(_: Request, body: Json) -> None:
    """Add tags to documents (``add``) or remove them (``remove``)."""
    given, more, less = (texts_in(body, name) for name in ("docs", "add", "remove"))
    services().engine.shelf.tag(given, add=more, remove=less)


@action(InputError)
def rename(request: Request, body: Json) -> None:
    """Rename a document; "" restores its own title."""
    services().engine.shelf.rename(request.path_params["doc"], text_in(body, "title") or "")


@action(InputError)
def rename_tag(_: Request, body: Json) -> None:
    """Rename tag ``tag``; without ``name`` it is removed from all documents."""
    shelf, of, name = services().engine.shelf, text_in(body, "tag") or "", text_in(body, "name")
    shelf.delete_tag(of) if name is None else shelf.rename_tag(of, name)


@action(InputError)
def put(_: Request, body: Json) -> None:
    """Move documents to a folder."""
    services().engine.shelf.put(texts_in(body, "docs"), text_in(body, "folder") or "")


@guarded
def groups(_: Request) -> Response:
    return JSONResponse([library_payload.group(one) for one in services().engine.groups()])


@guarded
def storage(_: Request) -> Response:
    return JSONResponse(_storage())


@action(InputError)
def clear_pictures(_: Request, _body: Json) -> Json:
    """Delete cached page pictures; they are redrawn when viewed."""
    services().renderer.clear()
    return _storage()


def _storage() -> Json:
    return library_payload.storage(services().engine.storage())


@action(InputError)
def read_document(request: Request, body: Json) -> None:
    """Queue a document again, with the password in the body if there is one."""
    _queue([request.path_params["doc"]], text_in(body, "password"))


@guarded
def cancel_document(request: Request) -> Response:
    services().ingestion.cancel(request.path_params["doc"])
    return JSONResponse({})


@shown
def page_elements(request: Request) -> Response:
    document = services().engine.document(request.path_params["doc"])
    return JSONResponse(library_payload.elements(document, request.path_params["page"]))


@shown
def tables(request: Request) -> Response:
    return JSONResponse(library_payload.tables(services().engine.document(request.path_params["doc"])))


@shown
def table(request: Request) -> Response:
    document = services().engine.document(request.path_params["doc"])
    found = library_payload.table(document, request.path_params["number"])
    if found is None:
        raise InputError("This document has no such table.", hint="Reload the page.")
    return JSONResponse(found)


@shown
def tables_file(request: Request) -> Response:
    """All tables of a document, or one, as a file."""
    engine, doc_id = services().engine, request.path_params["doc"]
    chosen, number = kind(request.path_params["kind"], SHEET_KINDS), request.path_params.get("number")
    data = engine.write_tables(doc_id, chosen, number)
    title = f"{engine.document(doc_id).title}, {'tables' if number is None else f'table {number}'}"
    return saved(data, file_name(title, chosen))


@shown
def original(request: Request) -> Response:
    """File as given, to save: a browser never opens it as a page of this app."""
    engine, doc_id = services().engine, request.path_params["doc"]
    path, info = engine.original(doc_id), engine.info(doc_id)
    kind, given = "json" if path.name.endswith(".json") else info.kind, PurePath(info.name)
    ending = given.suffix[1:] if SUFFIXES.get(given.suffix.lower()) == kind else kind
    headers = {
        "Content-Disposition": disposition(file_name(given.stem, ending)),
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return FileResponse(path, media_type=TYPES[kind], headers=headers)


@shown
def noise(request: Request) -> Response:
    return JSONResponse(library_payload.noise(services().engine.document(request.path_params["doc"])))


@shown
def chunks(request: Request) -> Response:
    engine, doc_id = services().engine, request.path_params["doc"]
    return JSONResponse(library_payload.chunks(engine.document(doc_id), engine.chunks(doc_id)))


def routes(prefix: str = "") -> list[BaseRoute]:
    """All routes below ``prefix``."""
    all_, doc = f"{prefix}/gw/library", f"{prefix}/gw/documents/{{doc:str}}"
    return [
        Route(all_, library),
        *posts(all_, read=read, remove=remove, restore=restore, finish=finish, tags=tag, tag=rename_tag, folder=put),
        Route(f"{all_}/groups", groups),
        Route(f"{all_}/storage", storage),
        *posts(f"{all_}/pictures", clear=clear_pictures),
        *posts(doc, read=read_document, title=rename, cancel=cancel_document),
        Route(f"{doc}/pages/{{page:int}}/elements", page_elements),
        Route(f"{doc}/tables", tables),
        Route(f"{doc}/tables.{{kind:str}}", tables_file),
        Route(f"{doc}/tables/{{number:int}}", table),
        Route(f"{doc}/tables/{{number:int}}.{{kind:str}}", tables_file),
        Route(f"{doc}/original", original),
        Route(f"{doc}/noise", noise),
        Route(f"{doc}/chunks", chunks),
    ]
