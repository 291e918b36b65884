"""HTTP routes of an empty conversation, under ``/gw/start``: its documents, an overview of each, and starting
questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import UnknownDocument
from ragcore.text.short_titles import short_titles
from ragcore.types import EVERYTHING, Scope
from ragcore.types.json import picked
from ragcore.types.library import DocumentInfo
from ui.chat import payload
from ui.library.jobs import Job
from ui.server.guard import Json, action, guarded, scope_in, texts_in
from ui.server.services import services

if TYPE_CHECKING:
    from ragcore.suggest.overview import Overview  # loads what no first page waits for


@action()
def start(_: Request, body: Json) -> Json:
    """Documents in scope, newest first, ready or in progress, with the number that could not be read."""
    made = services()
    infos = made.engine.documents()
    return documents(infos, made.ingestion.jobs(infos), scope_in(body) or EVERYTHING)


def documents(infos: Sequence[DocumentInfo], jobs: Mapping[str, Job], scope: Scope) -> Json:
    """Documents for the start screen; one being read is listed in any scope, since the user waits for it."""
    rows = []
    for info in sorted(infos, key=lambda info: -info.created):
        ready, job = info.indexed, jobs.get(info.doc_id)
        if (ready and scope.holds(info.doc_id)) or (not ready and job is not None):
            rows.append(
                {
                    "id": info.doc_id,
                    **picked(info, "title pages tables"),
                    "ready": ready,
                    "askable": info.built_pages,
                    "stage": job.stage if job is not None else "",
                    "done": job.done if job is not None else 0,
                    "total": job.total if job is not None else 0,
                }
            )
    failed = sum(info.status == "failed" and info.doc_id not in jobs for info in infos)
    return {"documents": rows, "failed": failed}


@guarded
def overview(request: Request) -> Response:
    """Overview of a document."""
    try:
        found = services().engine.overview(request.path_params["doc"])
    except UnknownDocument:
        return JSONResponse({"lines": [], "chapters": []})  # removed meanwhile: it leaves the page with the next look
    return JSONResponse(shown(found))


def shown(found: Overview) -> Json:
    return {
        "lines": [payload.citation(line.citation) | {"text": line.text, "lit": list(line.lit)} for line in found.lines],
        "chapters": [payload.citation(item) for item in found.chapters],
    }


@action()
def questions(_: Request, body: Json) -> Json:
    """Starting questions about documents, found so far."""
    made = services()
    names = {info.doc_id: info.title for info in made.engine.documents()}
    found = made.first_questions.look([doc_id for doc_id in texts_in(body, "docs") if doc_id in names])
    short = short_titles(names)
    listed = [
        {"question": one.question, "title": short[one.doc_id], "label": one.page_label, "table": one.table}
        for one in found.starters
        if one.doc_id in short
    ]
    return {"questions": listed, "done": found.done, "trouble": found.trouble}


def routes(prefix: str = "") -> list[BaseRoute]:
    """All routes below ``prefix``."""
    return [
        Route(f"{prefix}/gw/start", start, methods=["POST"]),
        Route(f"{prefix}/gw/start/questions", questions, methods=["POST"]),
        Route(f"{prefix}/gw/documents/{{doc:str}}/overview", overview),
    ]
