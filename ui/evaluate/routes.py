"""HTTP routes of Evaluate, under ``/gw/evaluate``: sets, runs, two runs side by side, one question."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import GroundworkError, InputError
from ragcore.evaluate.runs import Configuration
from ragcore.export import kind
from ui.evaluate import own_routes, payload
from ui.server.files import file_name, saved, sent
from ui.server.guard import Json, action, engine_of, guarded, posts, refusing, text_in
from ui.server.services import services
from ui.settings.rights import checked_reach


@guarded
def overview(_: Request) -> Response:
    queue, evaluation = services().evaluations, services().engine.evaluation
    jobs, trouble = queue.everywhere(), queue.trouble  # before what is stored: a job may end in between
    return JSONResponse(payload.overview(evaluation.sets(), evaluation.runs(), jobs, trouble))


@action(InputError)
def add(_: Request, body: Json) -> Json:
    """Store a set from a file (``name``, ``data`` in base64)."""
    name, given = text_in(body, "name") or "", sent(body, "data") or b""
    with tempfile.TemporaryDirectory() as folder:
        ending = "".join(filter(str.isalnum, Path(name).suffix))[:10]
        file = Path(folder) / file_name(Path(name).stem.strip(".")[:60] or "questions", ending)
        file.write_bytes(given)
        info = services().engine.evaluation.add(file)
    return {"set": info.set_id}


@action(GroundworkError)
def run(request: Request, body: Json) -> Json:
    """Start a run of ``set`` under ``configuration``, or go on with ``run``."""
    engine, begun = engine_of(request), text_in(body, "run")
    if begun:
        known = engine.evaluation.info(begun)
        set_id, search = known.set_id, known.searched
        configuration = Configuration(known.name, known.config)
    else:
        set_id = engine.evaluation.find(text_in(body, "set") or "").set_id
        configuration = Configuration.typed(text_in(body, "configuration") or "default")
        search = body.get("search") is True
    checked_reach(request, configuration.overrides)
    within = body.get("within") is True
    return {"run": services().evaluations.run(set_id, configuration, within, engine, search=search)}


@guarded
@refusing(GroundworkError)
def estimate(request: Request) -> Response:
    """What judging run ``a``, and run ``b`` if given, by Claude would cost."""
    engine = engine_of(request)
    each = [engine.evaluation.estimate(run) for name in ("a", "b") if (run := request.query_params.get(name))]
    if not each:
        raise InputError("There is no run to judge.", hint="Choose one.")
    return JSONResponse(payload.estimate(each, engine.models.capabilities.tools))


@action(GroundworkError)
def judge(request: Request, body: Json) -> None:
    """Judge ``runs``, ids with the limit of what each may cost, ``by`` the support score or Claude."""
    engine, runs, by = engine_of(request), body.get("runs"), text_in(body, "by") or ""
    if not isinstance(runs, dict) or not all(
        isinstance(usd, int | float) and math.isfinite(usd) for usd in runs.values()
    ):
        raise InputError("There is no run to judge.", hint="Reload the page.")
    for run_id, usd in runs.items():
        services().evaluations.judge(run_id, by, usd, engine)


@action()
def stop(_: Request, _body: Json) -> None:
    services().evaluations.stop()


@guarded
@refusing(InputError)
def table(request: Request) -> Response:
    """Run ``a``, beside run ``b`` if given."""
    evaluation, other = services().engine.evaluation, request.query_params.get("b", "")
    first = evaluation.evaluated(request.query_params.get("a", ""))
    return JSONResponse(payload.table(first, evaluation.evaluated(other) if other else None))


@guarded
@refusing(InputError)
def case(request: Request) -> Response:
    """Question ``case`` of run ``a``, beside that of run ``b`` if given."""
    evaluation, asked = services().engine.evaluation, request.query_params.get("case", "")
    runs = [evaluation.evaluated(run, asked) for name in ("a", "b") if (run := request.query_params.get(name))]
    found = next((one for run in runs for one in run.cases if one.case_id == asked), None)
    if found is None:
        raise InputError("This set has no such question.", hint="Reload the page.")
    names = {info.doc_id: info.name for info in services().engine.documents()}
    return JSONResponse(payload.case(found, runs, names))


@guarded
def export(request: Request) -> Response:
    """A run as CSV."""
    found = services().engine.evaluation.evaluated(request.query_params.get("a", ""))
    return saved(found.to_csv(), f"{found.info.set_name}-{found.info.run_id}.csv")


@guarded
def export_page(request: Request) -> Response:
    """Run ``a`` beside run ``b`` as one HTML file."""
    from ragcore.evaluate.files import page

    evaluation = services().engine.evaluation
    first, second = (evaluation.evaluated(request.query_params.get(name, "")) for name in ("a", "b"))
    data = page(first, second, (payload.titled(first.info), payload.titled(second.info)))
    return saved(data, f"{first.info.set_name}.html")


@guarded
def export_set(request: Request) -> Response:
    """A set as a file that can be read again: JSONL, or CSV."""
    given = services().engine.evaluation.read(request.query_params.get("set", ""))
    form = kind(request.path_params["form"], ("jsonl", "csv"))
    return saved(given.to_jsonl() if form == "jsonl" else given.to_csv(), f"{given.name}.{form}")


def routes(prefix: str = "") -> list[BaseRoute]:
    """All routes below ``prefix``."""
    at = f"{prefix}/gw/evaluate"
    return [
        Route(at, overview),
        *posts(at, sets=add, run=run, judge=judge, stop=stop),
        Route(f"{at}/estimate", estimate),
        Route(f"{at}/table", table),
        Route(f"{at}/case", case),
        Route(f"{at}/run.csv", export),
        Route(f"{at}/compare.html", export_page),
        Route(f"{at}/set.{{form:str}}", export_set),
        *own_routes.routes(prefix),
    ]
