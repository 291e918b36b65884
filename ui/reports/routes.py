"""HTTP routes of reports, under ``/gw/reports``: list, templates, sections, exported files."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import InputError, UnknownReport
from ragcore.export import kind
from ragcore.index.reports import PlaceKind
from ragcore.report.files import KINDS
from ragcore.report.template import own_templates
from ragcore.report.workspace import ReportWorkspace
from ragcore.types.report import NO_FOCUS, Focus, Span
from ui.reports import payload as report_payload
from ui.server.files import file_name, saved, sent
from ui.server.guard import Json, Malformed, action, engine_of, gone, guarded, named, posts, text_in, texts_in
from ui.server.services import services
from ui.viewer import changes

PAGE_WORDS = 20_000  # words of a page, at most, that a selection may count to


def _workspace(request: Request) -> ReportWorkspace:
    return engine_of(request).reports


def _number(body: Json, name: str) -> int:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed(f"“{name}” in the request's body is not a number.")
    return value


def _ids(body: Json, name: str) -> list[str] | None:
    return None if body.get(name) is None else texts_in(body, name)


@guarded
def reports(request: Request) -> Response:
    """List of reports, with the templates and the number of documents to fill from."""
    from ragcore.report.template import from_json

    own = []
    for name, text in own_templates().items():
        template = from_json(text, name)
        places = [place.section.heading for place in template.places() if place.level == 1]
        own.append({"name": name, "title": template.title, "sections": places})
    names = services().engine.store.titles()
    made = report_payload.listed(_workspace(request).all(), names)
    return JSONResponse({"reports": made, "own": own, "documents": len(names)})


@action(InputError)
def new(request: Request, body: Json) -> Json:
    """Create a report from a built-in template (``own``), a ``file`` (base64) with its ``name``, or ``text``."""
    from ragcore.report.template import from_json, read_template

    own, text, data = text_in(body, "own"), text_in(body, "text"), sent(body, "file")
    if own is not None:
        known = own_templates()
        if own not in known:
            raise InputError("This template doesn’t exist.", hint="Reload the page.")
        template = from_json(known[own], own)
    elif data is not None:
        template = read_template(data, text_in(body, "name") or "The template")
    else:
        if not (text or "").strip():
            raise InputError("The template is empty.", hint="Paste an outline, or choose a file.")
        ending = "json" if (text or "").lstrip().startswith("{") else "md"
        template = read_template((text or "").encode(), f"The template.{ending}")
    name = text_in(body, "name")
    origin = template.title if own is not None else "a pasted outline" if name is None else name
    # One that begins blank is written before it is filled: nobody is asked what it is about yet.
    focus = NO_FOCUS if body.get("blank") is True else None
    report_id = _workspace(request).new(template, origin=origin, focus=focus)
    return {"id": report_id}


@guarded
@gone(UnknownReport)
def report(request: Request) -> Response:
    """Whole report; with ``since``, only the section being written if nothing else changed."""
    workspace, report_id = _workspace(request), named(request, "report")
    info = workspace.store.info(report_id)
    live = services().reports.live(report_id)
    since = request.query_params.get("since")
    at = "" if live is None else live.section_id
    if since is not None and since == f"{report_payload.revision(info)}-{at}":
        return JSONResponse({"same": True, "live": report_payload.being_written(live)})
    made = report_payload.report(workspace, report_id, live, services().engine.documents())
    made = changes.told(made, services().engine.versions)
    return JSONResponse(made | {"revision": f"{made['revision']}-{at}"})


@action(InputError)
def change(request: Request, body: Json) -> None:
    """Change ``title`` and ``guidance``; ``subject`` and ``year``; ``docs``, the documents to fill from."""
    workspace, report_id = _workspace(request), named(request, "report")
    title, guidance = text_in(body, "title"), text_in(body, "guidance")
    if title is not None:
        workspace.rename(report_id, title, guidance)
    subject = text_in(body, "subject")
    if subject is not None:
        workspace.focus(report_id, Focus(subject, _number(body, "year")))
    if "docs" in body:
        workspace.store.update(report_id, doc_ids=_ids(body, "docs"))


@guarded
def about(request: Request) -> Response:
    """Possible subjects from the library, and the chosen one."""
    return JSONResponse(
        report_payload.about(_workspace(request), named(request, "report"), services().engine.documents())
    )


@action(InputError)
def share(request: Request, body: Json) -> None:
    """Let everybody in the library read and change a report, or nobody else any more."""
    _workspace(request).store.share(named(request, "report"), body.get("shared") is True)


@action(InputError)
def delete(request: Request, _: Json) -> None:
    _workspace(request).store.delete(named(request, "report"))
    services().reports.stop(named(request, "report"))


@action(InputError)
def fill(request: Request, body: Json) -> None:
    """Queue ``sections`` (None: all empty ones); ``instruction`` asks for a rewrite."""
    instruction = text_in(body, "instruction") or ""
    services().reports.fill(named(request, "report"), _ids(body, "sections"), instruction, engine_of(request))


@action(InputError)
def stop(request: Request, _: Json) -> None:
    _workspace(request).store.info(named(request, "report"))  # raises UnknownReport
    services().reports.stop(named(request, "report"))


@guarded
def expense(request: Request) -> Response:
    """Estimated cost of filling ``sections`` (comma-separated ids)."""
    chosen = request.query_params.get("sections", "").split(",")
    return JSONResponse(report_payload.expense(_workspace(request).expense(named(request, "report"), chosen)))


@action(InputError)
def add_section(request: Request, body: Json) -> Json:
    heading, after = text_in(body, "heading") or "", text_in(body, "after") or ""
    return {"id": _workspace(request).add(named(request, "report"), heading, after, below=body.get("below") is True)}


@action(InputError)
def change_section(request: Request, body: Json) -> None:
    """Change a section's definition: any key of a template's section."""
    _workspace(request).change(named(request, "section"), body)


@action(InputError)
def section_done(request: Request, body: Json) -> None:
    """Perform one action ``what`` on a section."""
    workspace, section_id = _workspace(request), named(request, "section")
    match text_in(body, "what"):
        case "accept":
            workspace.accept(section_id)
        case "open":
            workspace.accept(section_id, False)
        case "undo":
            workspace.undo(section_id)
        case "show":
            workspace.show(section_id, text_in(body, "version") or "")
        case "edit":
            workspace.edit(section_id, text_in(body, "text") or "")
        case "choose":
            workspace.choose(section_id, _number(body, "conflict"), _number(body, "rival"))
        case "move":
            workspace.move(section_id, _number(body, "by"))
        case "remove":
            workspace.remove(section_id)
        case "restore":
            workspace.restore(section_id)
        case _:
            raise InputError("There is no such thing to do.", hint="Reload the page.")


@action(InputError)
def place(request: Request, body: Json) -> None:
    """Pin a passage, exclude it, or neither. A citation stands for its paragraph or table."""
    from ragcore.types.table_labels import elements_within

    workspace = _workspace(request)
    wanted = text_in(body, "kind")
    kinds: dict[str | None, PlaceKind | None] = {"pinned": "pinned", "excluded": "excluded", "none": None}
    if wanted not in kinds:
        raise InputError("There is no such thing to do.", hint="Reload the page.")
    span = Span(text_in(body, "doc") or "", _number(body, "start"), _number(body, "end"))
    if body.get("around") is True:
        around = list(elements_within(services().engine.document(span.doc_id), span.start, span.end))
        if around:
            span = Span(span.doc_id, min(one.start for one in around), max(one.end for one in around))
    workspace.place(named(request, "section"), span, kinds[wanted])


@action(InputError)
def passage(request: Request, body: Json) -> None:
    """Add the words from word ``first`` of page ``from`` to word ``last`` of page ``to``, as the page viewer counts
    them, or those at ``start`` to ``end``; ``gap`` is the gap they fill."""
    workspace = _workspace(request)
    doc_id = text_in(body, "doc") or ""
    if "start" in body:
        span = Span(doc_id, _number(body, "start"), _number(body, "end"))
    else:
        document = services().engine.document(doc_id)
        at = document.words
        ends = []
        for page, word in (("from", "first"), ("to", "last")):
            own = ((at.pages == _number(body, page)) & ~at.repeated).nonzero()[0]
            number = _number(body, word)
            if not 0 <= number < min(len(own), PAGE_WORDS):
                raise InputError("No words are selected.", hint="Select words on the page, then add them.")
            ends.append(int(own[number]))
        span = Span(doc_id, int(at.starts[min(ends)]), int(at.ends[max(ends)]))
    workspace.add_passage(named(request, "section"), span, text_in(body, "gap") or "")


@guarded
def versions(request: Request) -> Response:
    """History of a section, newest first."""
    found = _workspace(request).versions(named(request, "section"))
    return JSONResponse({"versions": [report_payload.version(one) for one in found]})


@guarded
def export(request: Request) -> Response:
    """Report as a file, with ``accepted`` only its accepted sections, or its template."""
    engine = engine_of(request)
    if request.path_params["kind"] == "template":
        template = engine.reports.get(named(request, "report")).template
        return saved(template.as_json(), file_name(f"{template.title}, template", "json"))
    chosen = kind(request.path_params["kind"], KINDS)
    made = engine.reports.report(named(request, "report"), accepted_only="accepted" in request.query_params)
    data = engine.write_report(made, chosen)
    name = file_name(f"{made.title}, evidence", "pdf") if chosen == "annex" else file_name(made.title, chosen)
    return saved(data, name)


def routes(prefix: str = "") -> list[BaseRoute]:
    every = f"{prefix}/gw/reports"
    one = f"{every}/{{report:str}}"
    section = f"{one}/sections/{{section:str}}"
    return [
        Route(every, reports),
        *posts(every, new=new),
        Route(one, report),
        Route(f"{one}/about", about),
        *posts(one, change=change, share=share, delete=delete, fill=fill, stop=stop, sections=add_section),
        Route(f"{one}/expense", expense),
        Route(f"{one}/export.{{kind:str}}", export),
        *posts(section, change=change_section, done=section_done, places=place, passages=passage),
        Route(f"{section}/versions", versions),
    ]
