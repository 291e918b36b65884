"""Trees and graphs on the Settings page: their state, and what builds and forgets them."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import ConfigError, InputError, ModelError
from ragcore.pipelines.build_structures import INDEXED, StructureState
from ragcore.pipelines.structures import RELATIONS
from ragcore.text.numbers import plural
from ragcore.types.json import picked
from ragcore.types.spending import dollars as total
from ui.chat.payload import dollars, model_name
from ui.server.guard import Json, action, engine_of, guarded, posts, text_in
from ui.server.services import services

# Titles, and what each is for.
WORDS = {
    "graph": ("Connections", "Passages joined by the names they share. Part of the index."),
    "tree": ("Tree", "Passages grouped by what they are about, in several layers (RAPTOR)."),
    "outline": ("Outline", "Passages under the headings of each document."),
    "names": ("Names", "How near names are to each other, for HippoRAG, LightRAG and GraphRAG."),
    RELATIONS: ("Relations", "Who and what is related to whom, read by Claude. You see what it costs first."),
}


@guarded
def show(request: Request) -> Response:
    """The job, and the state of each structure: not while one is built, unless it is asked for."""
    job = services().structures.job
    if request.query_params.get("job") and job is not None and job.running:
        return JSONResponse({"job": asdict(job)})
    return JSONResponse(_page(request))


@action(InputError, ModelError, ConfigError)
def build(request: Request, body: Json) -> Json:
    services().structures.start(engine_of(request), text_in(body, "name") or "")
    return _page(request)


@action()
def stop(request: Request, body: Json) -> Json:
    services().structures.stop()
    return _page(request)


@action(InputError)
def forget(request: Request, body: Json) -> Json:
    job, name = services().structures.job, text_in(body, "name") or ""
    if job is not None and job.running and job.name == name:
        raise InputError("It is being built.", hint="Stop it first.")
    engine_of(request).structures.forget([name])
    return _page(request)


@action(ModelError)
def estimate(request: Request, body: Json) -> Json:
    """What relations would take, in words; nothing is sent."""
    engine = engine_of(request)
    model = model_name(engine.models.extractor.name)
    each, limit = engine.structures.estimate(), engine.settings.structure.max_usd
    calls, minutes = sum(one.calls for one in each), sum(one.minutes for one in each)
    usd = dollars(total([one.usd for one in each]))
    words = (
        f"About {calls:,} calls to {model}, {usd}, {max(1, round(minutes)):,} min; at most {dollars(limit)} a document."
    )
    return {"words": words if calls else "Nothing has to be sent."}


def _page(request: Request) -> Json:
    job = services().structures.job
    found = [_row(one) for one in engine_of(request).structures.state()]
    return {"structures": found, "job": None if job is None else asdict(job)}


def _row(one: StructureState) -> Json:
    title, said = WORDS.get(one.name, (one.name.capitalize(), ""))
    size = f"{plural(one.documents, 'document')}, {one.nodes:,} nodes, {one.edges:,} links" if one.documents else ""
    paid = f"{dollars(one.usd)} so far" if one.usd else ""
    return {
        **picked(one, "name state missing"),
        "title": title,
        "said": said,
        "size": ", ".join(filter(None, (size, paid))),
        "fixed": one.name in INDEXED,
        "paid": one.name == RELATIONS,
    }


def routes(at: str) -> list[BaseRoute]:
    return [Route(at, show), *posts(at, build=build, stop=stop, forget=forget, estimate=estimate)]
