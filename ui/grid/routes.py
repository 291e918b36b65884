"""HTTP routes of Grid, under ``/gw/grids``: grids, their cells and columns, decisions, exported files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.engine import Engine
from ragcore.errors import GroundworkError, InputError, UnknownGrid
from ragcore.export import kind
from ragcore.types import EVERYTHING, Scope
from ragcore.types.grid import CellDecisionKind, GridInfo
from ui.grid import payload
from ui.grid.jobs import costs
from ui.library.samples import COLUMNS, sample_id, sample_reading
from ui.reports.payload import agreed, asking, expense
from ui.server.files import file_name, saved, sent
from ui.server.guard import Json, action, docs_in, engine_of, gone, guarded, named, posts, text_in, texts_in
from ui.server.services import services
from ui.viewer import changes

if TYPE_CHECKING:
    from ragcore.grid.columns import ColumnSpec

DECISIONS = get_args(CellDecisionKind)


def _head(request: Request) -> Json:
    """Grid without its cells; where it rests, what going on may cost (``expense``, "" for nothing), and what the writer
    can be asked for (``asking``)."""
    made, grids, grid_id = services(), engine_of(request).grids, named(request, "grid")
    (shown,) = _heads(lambda: [grids.info(grid_id)])
    most = grids.estimate(grid_id) if shown["state"] == "stopped" else None
    words = expense(most)["words"] if most is not None and costs(most) else ""
    left = grids.estimate_asking(grid_id) if shown["state"] in ("done", "arriving") else None
    reading = payload.reading(shown["unread"], made.ingestion.jobs())
    return shown | {"reading": reading, "expense": words, "asking": asking(left)}


def _heads(stored: Callable[[], Sequence[GridInfo]]) -> list[Json]:
    made = services()
    jobs, trouble = made.grids.everywhere(), made.grids.trouble  # before what is stored: a job may end in between
    infos = stored()
    documents = made.engine.documents()
    lost = payload.lost(documents, made.ingestion.failures, made.ingestion.jobs())
    return [payload.head(info, documents, lost, jobs, trouble) for info in infos]


@guarded
def grids(_: Request) -> Response:
    """Grids, newest first, and the templates that columns may come from."""
    from ragcore.report.template import from_json, own_templates

    made = services()
    own = [(name, from_json(text, name)) for name, text in own_templates().items()]
    columns = made.engine.grids.of_template
    templates = [
        {"name": name, "title": template.title, "columns": [one.name for one in columns(template)]}
        for name, template in own
    ]
    return JSONResponse({"grids": _heads(made.engine.grids.all), "templates": templates})


@action(GroundworkError)
def add(request: Request, body: Json) -> Json:
    """Store a grid called ``name`` (`_scope`) and start to fill it. Its columns come from a built-in ``template``,
    a ``file`` (base64) called ``filename``, or are ``columns`` as typed."""
    name = (text_in(body, "name") or "").strip()
    return _start(engine_of(request), name or "Grid", _columns(body), _scope(body))


def _columns(body: Json) -> list[ColumnSpec]:
    from ragcore.grid.columns import from_json, given_columns
    from ragcore.report.template import load_template, own_templates, read_template

    template, data, typed = text_in(body, "template"), sent(body, "file"), body.get("columns")
    if template is not None:
        if template not in own_templates():
            raise InputError("This template doesn’t exist.", hint="Reload the page.")
        return services().engine.grids.of_template(load_template(template))
    if data is not None:
        name = text_in(body, "filename") or "The file"
        if _sections(data, name):
            return services().engine.grids.of_template(read_template(data, name))
        return from_json(_text(data, name), name)
    if not isinstance(typed, list):
        raise InputError("The grid has no column.", hint="Type one, or choose a template.")
    return given_columns(typed) if typed else []


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} isn’t text in UTF-8.", hint="Save it in UTF-8, then choose it again.") from error


def _sections(data: bytes, name: str) -> bool:
    """Whether a file is a report template rather than a list of columns."""
    if not name.lower().endswith(".json"):
        return True
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return False  # which is said of the columns
    return isinstance(given, dict) and "sections" in given


def _scope(body: Json, before: Scope = EVERYTHING) -> Scope:
    """``docs`` of a body, or those that come later too, if it names none (null); or its ``sections``, by the ids that
    their rows have, found in their documents, else as they were ``before``."""
    if "sections" in body:
        asked = texts_in(body, "sections")
        known = services().engine.grids.placed(asked, before)
        if not asked:
            raise InputError("No section is chosen.", hint="Tick at least one.")
        if not known.keys() >= set(asked):
            raise InputError("A document no longer has one of these sections.", hint="Reload the page.")
        return Scope(sections=tuple(known[row] for row in asked))
    if "docs" in body and body["docs"] is None:
        return Scope()
    return docs_in(body)


def _start(engine: Engine, name: str, columns: list[ColumnSpec], scope: Scope) -> Json:
    grid_id = engine.grids.add(name, columns, scope).grid_id
    _fill(grid_id, engine)
    return {"id": grid_id}


def _fill(grid_id: str, engine: Engine) -> None:
    """Fill what is empty, unless it costs something: then a person is told how much, and begins it (`run`)."""
    if not costs(engine.grids.estimate(grid_id)):
        services().grids.run(grid_id, engine)


@action(GroundworkError)
def ask(request: Request, body: Json) -> Json:
    """Put a question of the chat to every document: a grid with it as its column."""
    question = (text_in(body, "question") or "").strip()
    if not question:
        raise InputError("There is no question to ask.", hint="Ask one in the chat first.")
    engine = engine_of(request)
    column = engine.grids.of_question(question)
    return _start(engine, column.name, [column], Scope())


@action(GroundworkError)
def sample(request: Request, _: Json) -> Json:
    """Fill the sample's grid. While the sample document is being read the answer is how far it is (``words``), and the
    page asks again."""
    from ragcore.grid.columns import from_json

    made = services()
    words = sample_reading(made.engine, made.ingestion)
    if words:
        return {"words": words}
    columns = from_json(COLUMNS.read_text("utf-8"), COLUMNS.name)
    return _start(engine_of(request), "Larkfield (sample)", columns, Scope((sample_id(),)))


@guarded
@gone(UnknownGrid)
def grid(request: Request) -> Response:
    """Grid with its cells in brief. With ``since``, the counter of an answer before (``at``), and its ``shape``, only
    cells that changed after it; all of it where rows or columns changed or cells were emptied. Summaries come when
    nothing is filled anymore, before that if the page is ``late`` with them, and not if it has those of this counter
    (``summed``)."""
    made, query = services().engine.grids, request.query_params
    grid_id, shown = named(request, "grid"), _head(request)
    since, same = query.get("since", ""), query.get("shape") == shown["shape"]
    changed, at = made.changes(grid_id, int(since) if same and since.isdecimal() else 0)
    due = query.get("summed") != f"{at}" and (shown["state"] not in payload.BUSY or "late" in query)
    found = None if same and not due else made.get(grid_id)
    shown["at"] = at
    if changed or not same:
        gone = services().engine.versions.stale(cited for one in changed for cited in one.value.citations)
        shown["cells"] = payload.cells(changed, gone)
    if found is not None:
        shown["summaries"] = payload.summaries(found)
    return JSONResponse(shown if same or found is None else shown | payload.grid(found))


@guarded
@gone(UnknownGrid)
def cell(request: Request) -> Response:
    """Cell of a ``row`` and ``column`` with its places."""
    row, column_id = (request.query_params.get(one, "") for one in ("row", "column"))
    engine = services().engine
    shown = payload.detail(engine.grids.cell(named(request, "grid"), row, column_id))
    return JSONResponse(changes.told(shown, engine.versions))


@guarded
def outline(request: Request) -> Response:
    """Sections of a document (``doc``) that can be rows."""
    engine, doc_id = services().engine, request.query_params.get("doc", "")
    return JSONResponse({"items": payload.outline(engine.document(doc_id), engine.grids.sections(doc_id))})


@guarded
def periods(request: Request) -> Response:
    """Values of a ``column`` by row and period."""
    found = services().engine.grids.get(named(request, "grid"))
    return JSONResponse(payload.periods(found, request.query_params.get("column", "")))


@action(GroundworkError)
def run(request: Request, body: Json) -> Json:
    """Fill what is empty."""
    engine = engine_of(request)
    services().grids.run(named(request, "grid"), engine, agreed(body, engine.grids.estimate(named(request, "grid"))))
    return _head(request)


@action(GroundworkError)
def ask_writer(request: Request, body: Json) -> Json:
    """Ask the writer for what rules left not stated, for the ``usd`` that the page told."""
    engine = engine_of(request)
    services().grids.ask(
        named(request, "grid"), engine, agreed(body, engine.grids.estimate_asking(named(request, "grid")))
    )
    return _head(request)


@action(GroundworkError)
def stop(request: Request, _: Json) -> Json:
    services().grids.stop(named(request, "grid"))
    return _head(request)


@action(GroundworkError)
def again(request: Request, body: Json) -> Json:
    """Fill anew what nobody decided on: a ``column``, a ``row``, their cell, or everything."""
    engine = engine_of(request)
    engine.grids.again(named(request, "grid"), text_in(body, "column") or "", text_in(body, "row") or "")
    return _filled(request, engine)


def _filled(request: Request, engine: Engine) -> Json:
    _fill(named(request, "grid"), engine)
    return _head(request)


@action(GroundworkError)
def decide(request: Request, body: Json) -> Json:
    """Decide on the cell of ``row`` and ``column``: ``kind``, and the ``text`` that corrects it, which is checked at
    once."""
    chosen = text_in(body, "kind") or ""
    row, column_id = text_in(body, "row") or "", text_in(body, "column") or ""
    if chosen not in DECISIONS:
        raise InputError("There is no such decision.", hint="Reload the page.")
    made = engine_of(request).grids.decide(
        named(request, "grid"), row, column_id, cast(CellDecisionKind, chosen), text_in(body, "text") or ""
    )
    return {"cell": payload.detail(made)}


@action(GroundworkError)
def rename(request: Request, body: Json) -> Json:
    engine_of(request).grids.rename(named(request, "grid"), text_in(body, "name") or "")
    return _head(request)


@action(GroundworkError)
def rows(request: Request, body: Json) -> Json:
    """Choose the rows (`_scope`), and fill those that come."""
    engine = engine_of(request)
    engine.grids.scope(named(request, "grid"), _scope(body, engine.grids.info(named(request, "grid")).scope))
    return _filled(request, engine)


def _typed(body: Json) -> Mapping[str, str]:
    return {name: (text_in(body, name) or "").strip() for name in ("name", "question", "type", "unit")}


@guarded
def column_type(request: Request) -> Response:
    """Type that a column with a ``name`` and a ``question`` probably has."""
    name, question = (request.query_params.get(name, "").strip() for name in ("name", "question"))
    return JSONResponse({"type": engine_of(request).grids.type_of(name, question)})


@action(GroundworkError)
def add_column(request: Request, body: Json) -> Json:
    """Add a column (``name``, ``question``, ``type``, ``unit``) and fill it."""
    engine = engine_of(request)
    column_id = engine.grids.add_column(named(request, "grid"), **_typed(body))
    return _filled(request, engine) | {"column": column_id}


@action(GroundworkError)
def change_column(request: Request, body: Json) -> Json:
    """Change a column. If it asks for something else, it alone is filled anew."""
    engine = engine_of(request)
    engine.grids.change_column(named(request, "grid"), named(request, "column"), **_typed(body))
    return _filled(request, engine)


@action(GroundworkError)
def move_column(request: Request, body: Json) -> None:
    services().engine.grids.move_column(
        named(request, "grid"), named(request, "column"), -1 if body.get("left") is True else 1
    )


@action(GroundworkError)
def remove_column(request: Request, _: Json) -> None:
    services().engine.grids.remove_column(named(request, "grid"), named(request, "column"))


@action(GroundworkError)
def delete(request: Request, _: Json) -> None:
    services().grids.stop(named(request, "grid"))
    services().engine.grids.remove(named(request, "grid"))


@guarded
def export(request: Request) -> Response:
    """Grid as Excel, CSV or JSON."""
    from ragcore.grid.files import KINDS

    made, grid_id, chosen = services().engine.grids, named(request, "grid"), kind(request.path_params["kind"], KINDS)
    data = made.export(grid_id, chosen)
    return saved(data, file_name(made.info(grid_id).name, chosen))


def routes(prefix: str = "") -> list[BaseRoute]:
    """All routes below ``prefix``."""
    every = f"{prefix}/gw/grids"
    one = f"{every}/{{grid:str}}"
    column = f"{one}/columns/{{column:str}}"
    return [
        Route(every, grids),
        *posts(every, new=add, ask=ask, sample=sample),
        Route(f"{every}/outline", outline),
        Route(f"{every}/column", column_type),
        Route(one, grid),
        Route(f"{one}/cell", cell),
        Route(f"{one}/periods", periods),
        *posts(one, run=run, ask=ask_writer, stop=stop, again=again, decide=decide, rename=rename, rows=rows),
        *posts(one, delete=delete, columns=add_column),
        Route(column, change_column, methods=["POST"]),
        *posts(column, move=move_column, remove=remove_column),
        Route(f"{one}/export.{{kind:str}}", export),
    ]
