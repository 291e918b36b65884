"""HTTP routes of Check, under ``/gw/checks``: drafts, their verdicts, decisions, exported files."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import cast, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.engine import Engine
from ragcore.errors import GroundworkError, InputError, UnknownCheck
from ragcore.export import kind
from ragcore.types import Scope
from ragcore.types.check import Decision, DecisionKind
from ui.check import payload
from ui.library.samples import DRAFT, DRAFT_NAME, sample_id, sample_reading
from ui.reports.payload import agreed, asking
from ui.server.files import file_name, saved, sent
from ui.server.guard import Json, action, docs_in, engine_of, gone, guarded, named, posts, text_in
from ui.server.services import services
from ui.viewer import changes

DECISIONS = get_args(DecisionKind)
PASTED = 60  # characters of a pasted draft's first line that name it


def _head(request: Request) -> Json:
    """Check without its draft."""
    made, check_id = services(), named(request, "check")
    jobs, trouble = made.checks.everywhere(), made.checks.trouble  # before what is stored: a job may end in between
    return payload.head(engine_of(request).checks.info(check_id), jobs, trouble)


def _ready(scope: Scope) -> None:
    """Raises `InputError` if a document to check against is gone, before anything is changed."""
    engine = services().engine
    docs = engine.resolved(scope).doc_ids
    if not {info.doc_id for info in engine.documents()}.issuperset(docs or ()):
        raise InputError("A document to check against was removed.", hint="Choose others, and check again.")


def _kept(request: Request) -> Scope:
    """What a check is against."""
    return services().engine.checks.info(named(request, "check")).scope


@guarded
def checks(_: Request) -> Response:
    """Checks, newest first."""
    made = services()
    jobs, trouble = made.checks.everywhere(), made.checks.trouble
    return JSONResponse({"checks": [payload.head(info, jobs, trouble) for info in made.engine.checks.all()]})


@action(GroundworkError)
def add(request: Request, body: Json) -> Json:
    """Store a draft, from a ``file`` (base64) with its ``name`` or from ``text``, and start to check it against
    ``docs``."""
    data, text = sent(body, "file"), text_in(body, "text") or ""
    if data is not None:
        name = Path(text_in(body, "name") or "draft").name
    else:
        name, data = _pasted(text), text.encode()
    return _start(engine_of(request), name, data, docs_in(body))


def _pasted(text: str) -> str:
    """Name of a pasted draft: its first words. It is read as Markdown if a line begins as a heading, an item or a table
    does."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError("The draft is empty.", hint="Paste its text, or choose a file.")
    ending = "md" if any(line.startswith(("#", "|", "- ", "* ", "> ")) for line in lines) else "txt"
    whole = " ".join(lines[0].strip("#|-*> .,;:").split())
    first = shorten(whole, PASTED, placeholder="").rstrip(" .,;:|*")
    name = f"{first or 'Pasted text'}{'…' if len(first) < len(whole) else ''}"
    return name if ending == "txt" and not _ending(name) else f"{name}.{ending}"


def _ending(name: str) -> str:
    """Ending of a file's name; "" for a full stop between words."""
    ending = Path(name).suffix
    return "" if " " in ending else ending


def _start(engine: Engine, name: str, data: bytes, scope: Scope) -> Json:
    _ready(scope)
    check_id = engine.checks.add(name, data, scope).check_id
    services().checks.run(check_id, engine)
    return {"id": check_id}


@action(GroundworkError)
def sample(request: Request, _: Json) -> Json:
    """Check the sample draft against the sample document. While that is being read the answer is how far it is
    (``words``), and the page asks again."""
    made = services()
    words = sample_reading(made.engine, made.ingestion)
    if words:
        return {"words": words}
    return _start(engine_of(request), DRAFT_NAME, DRAFT.read_bytes(), Scope((sample_id(),)))


@guarded
@gone(UnknownCheck)
def check(request: Request) -> Response:
    """Draft with its verdicts; where it is done, what a model can be asked for (``asking``). With ``from`` only the
    verdicts from that sentence on, and none if as many sentences (``done``) are checked as the page knows."""
    checks, check_id = services().engine.checks, named(request, "check")
    since, known = (request.query_params.get(name, "") for name in ("from", "done"))
    head = _head(request)
    head |= {"asking": asking(checks.estimate_asking(check_id) if head["state"] == "done" else None)}
    if since and known == str(head["done"]):
        return JSONResponse(head)
    found = checks.get(check_id)
    drafted = {} if since else payload.draft(found)
    verdicts = payload.verdicts(found, int(since) if since.isdecimal() else 0)
    shown = changes.told({"sentences": verdicts}, services().engine.versions)
    return JSONResponse(head | drafted | {"faults": payload.faults(found)} | shown)


@action(GroundworkError)
def run(request: Request, _: Json) -> Json:
    """Go on with a check that was stopped."""
    _ready(_kept(request))
    services().checks.run(named(request, "check"), engine_of(request))
    return _head(request)


@action(GroundworkError)
def ask(request: Request, body: Json) -> Json:
    """Have a model read what none has read, for the ``usd`` that the page told."""
    _ready(_kept(request))
    engine = engine_of(request)
    services().checks.ask(
        named(request, "check"), engine, agreed(body, engine.checks.estimate_asking(named(request, "check")))
    )
    return _head(request)


@action(GroundworkError)
def stop(request: Request, _: Json) -> Json:
    services().checks.stop(named(request, "check"))
    return _head(request)


@action(GroundworkError)
def again(request: Request, body: Json) -> Json:
    """Check every sentence anew, against ``docs`` if given. Decisions stay."""
    engine = engine_of(request)
    if any(job.target == named(request, "check") for job in services().checks.everywhere()):
        raise InputError("This draft is being checked.", hint="Stop the check first.")
    scope = docs_in(body) if "docs" in body else _kept(request)
    _ready(scope)
    engine.checks.again(named(request, "check"), scope)
    services().checks.run(named(request, "check"), engine)
    return _head(request)


@action(GroundworkError)
def decide(request: Request, body: Json) -> Json:
    """Decide on sentence ``n``: ``kind``, the text ``revised`` that replaces it, a ``note``. Changed text is checked at
    once."""
    checks, n, chosen = engine_of(request).checks, body.get("n"), text_in(body, "kind") or ""
    total = checks.info(named(request, "check")).total
    if not isinstance(n, int) or isinstance(n, bool) or not 0 <= n < total or chosen not in DECISIONS:
        raise InputError("There is no such sentence to decide on.", hint="Reload the page.")
    decision = Decision(cast(DecisionKind, chosen), text_in(body, "revised") or "", text_in(body, "note") or "")
    if decision.revised != checks.sentence(named(request, "check"), n)[1].revised:
        _ready(_kept(request))
    checked = checks.decide(named(request, "check"), n, decision)
    return _head(request) | {"sentences": [payload.sentence(n, checked, decision)]}


@action(GroundworkError)
def delete(request: Request, _: Json) -> None:
    services().checks.stop(named(request, "check"))
    services().engine.checks.remove(named(request, "check"))


@guarded
def export(request: Request) -> Response:
    """Checked draft as Word with comments, PDF, Excel or JSON."""
    from ragcore.check.files import KINDS

    checks, check_id, chosen = (
        services().engine.checks,
        named(request, "check"),
        kind(request.path_params["kind"], KINDS),
    )
    data = checks.export(check_id, chosen)
    name = checks.info(check_id).name
    return saved(data, file_name(f"{name.removesuffix(_ending(name))}, checked", chosen))


def routes(prefix: str = "") -> list[BaseRoute]:
    """All routes below ``prefix``."""
    every = f"{prefix}/gw/checks"
    one = f"{every}/{{check:str}}"
    return [
        Route(every, checks),
        *posts(every, new=add, sample=sample),
        Route(one, check),
        *posts(one, run=run, ask=ask, stop=stop, again=again, decide=decide, delete=delete),
        Route(f"{one}/export.{{kind:str}}", export),
    ]
