"""HTTP routes of one's own test questions, under ``/gw/evaluate/mine``: list, form of an answer, keep, remove, and the
answers that may become one."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import InputError
from ragcore.evaluate.own import Draft
from ragcore.index.own_cases import OwnCase, OwnEvidence
from ragcore.types.json import picked
from ragcore.types.library import FeedbackRecord
from ui.server.guard import Json, action, guarded, posts, refusing, text_in, texts_in
from ui.server.services import services

OFFERED = 12  # answers with a thumb


@guarded
def questions(_: Request) -> Response:
    """Kept questions, newest first, and answers that people had an opinion on."""
    engine = services().engine
    cases, offered = engine.evaluation.own.all(), engine.feedback.candidates(OFFERED)
    return JSONResponse(
        {"cases": [_listed(case) for case in reversed(cases)], "candidates": list(map(_offered, offered))}
    )


def _offered(record: FeedbackRecord) -> Json:
    given = record.feedback
    return {"id": record.turn_id, "question": record.question, "helpful": given.helpful, "words": given.words}


def _listed(case: OwnCase) -> Json:
    pages: dict[str, set[int]] = {}
    for one in case.evidence:
        pages.setdefault(one.document, set()).add(one.page)
    places = [f"{name}, p. {', '.join(map(str, sorted(of)))}" for name, of in pages.items()]
    asked = [f"Asked of {', '.join(case.documents)} only"] if case.documents else []
    return {
        "id": case.case_id,
        **picked(case, "question answer answerable"),
        "places": [*places, *asked],
    }


@guarded
@refusing(InputError)
def draft(request: Request) -> Response:
    """Form of an answer: what is kept of it, or would be."""
    return JSONResponse(_form(services().engine.evaluation.own.draft(request.path_params["turn"])))


def _form(found: Draft) -> Json:
    titles = {info.doc_id: info.title or info.name for info in services().engine.documents()}
    return {
        "kept": found.kept,
        **picked(found.case, "question answer answerable"),
        "evidence": [
            {
                "id": _place_id(one),
                "title": titles.get(one.doc_id, one.document),
                **picked(one, "page quote"),
                "chosen": one in found.case.evidence,
            }
            for one in found.places
        ],
    }


def _place_id(one: OwnEvidence) -> str:
    return blake2b(f"{one.doc_id} {one.page} {one.quote}".encode(), digest_size=8).hexdigest()


@action(InputError)
def keep(request: Request, body: Json) -> Json:
    """Keep an answer as a test question, or change the kept one."""
    own = services().engine.evaluation.own
    found, chosen = own.draft(request.path_params["turn"]), set(texts_in(body, "evidence"))
    case = replace(
        found.case,
        question=text_in(body, "question") or "",
        answer=text_in(body, "answer") or "",
        answerable=body.get("answerable") is True,
        evidence=tuple(one for one in found.places if _place_id(one) in chosen),
    )
    own.keep(case)
    return {"count": len(own.all())}


@action()
def pass_over(request: Request, _body: Json) -> None:
    """Offer an answer no more."""
    services().engine.feedback.pass_over(request.path_params["turn"])


@action()
def remove(request: Request, _body: Json) -> None:
    services().engine.evaluation.own.remove(request.path_params["turn"])


def routes(prefix: str) -> list[BaseRoute]:
    at = f"{prefix}/gw/evaluate/mine"
    one = f"{at}/{{turn:str}}"
    return [
        Route(at, questions),
        Route(one, draft),
        Route(one, keep, methods=["POST"]),
        *posts(one, remove=remove, **{"pass": pass_over}),
    ]
