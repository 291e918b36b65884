"""HTTP routes of Evaluate, under ``/gw/evaluate``: sets, runs, two runs side by side, one question."""

from __future__ import annotations

import base64
import binascii
import math
import tempfile
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import GroundworkError, InputError
from ragcore.evaluate.runs import Configuration
from ui.chat.exports import disposition, file_name
from ui.evaluate import own_routes, payload
from ui.server.guard import engine_of, guarded, posted, refusing, text_in
from ui.server.services import services
from ui.settings.rights import checked_reach

Json = dict[str, Any]


@guarded
def overview(_: Request) -> Response:
    jobs, evaluation = services().evaluations, services().engine.evaluation
    return JSONResponse(payload.overview(evaluation.sets(), evaluation.runs(), jobs.jobs, jobs.trouble))


@posted
@refusing(InputError)
def add(_: Request, body: Json) -> Response:
    """Store a set from a file (``name``, ``data`` in base64)."""
    name, data = text_in(body, "name") or "", text_in(body, "data") or ""
    try:
        given = base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise InputError("The file didn’t arrive whole.", hint="Choose it again.") from error
    with tempfile.TemporaryDirectory() as folder:
        ending = "".join(filter(str.isalnum, Path(name).suffix))[:10]
        file = Path(folder) / file_name(Path(name).stem.strip(".")[:60] or "questions", ending)
        file.write_bytes(given)
        info = services().engine.evaluation.add(file)
    return JSONResponse({"set": info.set_id})


@posted
@refusing(GroundworkError)
def run(request: Request, body: Json) -> Response:
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
    run_id = services().evaluations.run(set_id, configuration, within, engine, search=search)
    return JSONResponse({"run": run_id})


@guarded
@refusing(GroundworkError)
def estimate(request: Request) -> Response:
    """What judging run ``a``, and run ``b`` if given, by Claude would cost."""
    engine = engine_of(request)
    each = [engine.evaluation.estimate(run) for name in ("a", "b") if (run := request.query_params.get(name))]
    if not each:
        raise InputError("There is no run to judge.", hint="Choose one.")
    return JSONResponse(payload.estimate(each, engine.models.capabilities.tools))


@posted
@refusing(GroundworkError)
def judge(request: Request, body: Json) -> Response:
    """Judge ``runs``, ids with the limit of what each may cost, ``by`` the support score or Claude."""
    engine, runs, by = engine_of(request), body.get("runs"), text_in(body, "by") or ""
    if not isinstance(runs, dict) or not all(
        isinstance(usd, int | float) and math.isfinite(usd) for usd in runs.values()
    ):
        raise InputError("There is no run to judge.", hint="Reload the page.")
    for run_id, usd in runs.items():
        services().evaluations.judge(run_id, by, usd, engine)
    return JSONResponse({})


@posted
def stop(_: Request, _body: Json) -> Response:
    services().evaluations.stop()
    return JSONResponse({})


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
    headers = {
        "Content-Disposition": disposition(f"{found.info.set_name}-{found.info.run_id}.csv"),
        "Cache-Control": "no-store",
    }
    return Response(found.to_csv(), media_type="text/csv", headers=headers)


@guarded
def export_page(request: Request) -> Response:
    """Run ``a`` beside run ``b`` as one HTML file."""
    from ragcore.evaluate.files import page

    evaluation = services().engine.evaluation
    first, second = (evaluation.evaluated(request.query_params.get(name, "")) for name in ("a", "b"))
    data = page(first, second, (payload.titled(first.info), payload.titled(second.info)))
    headers = {"Content-Disposition": disposition(f"{first.info.set_name}.html"), "Cache-Control": "no-store"}
    return Response(data, media_type="text/html", headers=headers)


@guarded
def export_set(request: Request) -> Response:
    """A set as a file that can be read again: JSONL, or CSV."""
    given = services().engine.evaluation.read(request.query_params.get("set", ""))
    form = request.path_params["form"]
    text, kind = (given.to_jsonl(), "text/plain") if form == "jsonl" else (given.to_csv(), "text/csv")
    headers = {"Content-Disposition": disposition(f"{given.name}.{form}"), "Cache-Control": "no-store"}
    return Response(text, media_type=kind, headers=headers)


def routes(prefix: str = "") -> list[BaseRoute]:
    """All routes below ``prefix``."""
    at = f"{prefix}/gw/evaluate"
    return [
        Route(at, overview),
        Route(f"{at}/sets", add, methods=["POST"]),
        Route(f"{at}/run", run, methods=["POST"]),
        Route(f"{at}/estimate", estimate),
        Route(f"{at}/judge", judge, methods=["POST"]),
        Route(f"{at}/stop", stop, methods=["POST"]),
        Route(f"{at}/table", table),
        Route(f"{at}/case", case),
        Route(f"{at}/run.csv", export),
        Route(f"{at}/compare.html", export_page),
        Route(f"{at}/set.{{form:str}}", export_set),
        *own_routes.routes(prefix),
    ]
