"""OpenAPI document of the HTTP API, made of the verbs and their pydantic models."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from ragcore.serve.models import Added, Checked, Cited, Doing, Found, ProblemDetails, Told, Upload, Wrote
from ragcore.serve.verbs import Verb

Json = dict[str, Any]

EVENTS: tuple[type[Told], ...] = (Doing, Found, Wrote, Cited, Checked)
_REF = "#/components/schemas/{model}"
_IN_PATH = re.compile(r"\{(\w+)\}")
_ABOUT = """Questions over the documents of a Groundwork library, with every claim cited. Errors are
`application/problem+json`. Within version 1 fields are only added."""


def document(verbs: Sequence[Verb[Any, Any]], path: str) -> Json:
    """OpenAPI 3.1 of the API that serves ``verbs`` at ``path``."""
    asked: list[type[BaseModel]] = [*(verb.asked for verb in verbs), Upload]
    told: list[type[BaseModel]] = [*(verb.told for verb in verbs if verb.told), *EVENTS, Added, ProblemDetails]
    modes: tuple[JsonSchemaMode, JsonSchemaMode] = ("validation", "serialization")
    given = [(one, mode) for mode, models in zip(modes, (asked, told)) for one in dict.fromkeys(models)]
    _, schemas = models_json_schema(given, ref_template=_REF)
    paths: dict[str, Json] = {"/openapi.json": {"get": _operation("openapi", "Give this document.", "read", _OPENAPI)}}
    for verb in verbs:
        method, where = verb.path.split()
        paths.setdefault(where, {})[method.lower()] = _of_verb(verb, method, where)
    paths.setdefault("/documents", {})["post"] = _upload()
    return {
        "openapi": "3.1.0",
        "info": {"title": "Groundwork", "version": "1", "description": _ABOUT},
        "servers": [{"url": path}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "`gw_pat_…`"}},
        },
    }


def _of_verb(verb: Verb[Any, Any], method: str, where: str) -> Json:
    content: Json = {"image/png": {}}
    if verb.told is not None:
        content = {"application/json": _schema(verb.told)}
        names = ", ".join(one.__name__.lower() for one in EVENTS)
        events = f"Events `{names}`, each with its object as JSON; then `done` with the answer, or `error`."
        content["text/event-stream"] = {"schema": {"type": "string", "description": events}}
    made = _operation(verb.name, verb.says, verb.scope, {"200": {"description": "Done.", "content": content}})
    if method == "POST":
        body = {"application/json": _schema(verb.asked)}
        return made | {"requestBody": {"required": True, "content": body}}
    return made | {"parameters": _parameters(verb.asked, _IN_PATH.findall(where))}


def _upload() -> Json:
    says = "Add a file, the body, to be read in the background: GET /documents/{document} tells how far it is."
    told = {"202": {"description": "Added.", "content": {"application/json": _schema(Added)}}}
    body = {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
    return _operation("add_document", says, "write", told) | {
        "parameters": _parameters(Upload, []),
        "requestBody": body,
    }


def _operation(name: str, says: str, scope: str, responses: Mapping[str, Any]) -> Json:
    error = {"description": "What happened, and what to do next.", "content": {_PROBLEM: _schema(ProblemDetails)}}
    summary, _, _ = says.partition(". ")
    needs = f"{says} Needs the scope `{scope}`." if name != "openapi" else says
    return {
        "operationId": name,
        "summary": summary.rstrip("."),
        "description": needs,
        "responses": {**responses, "default": error},
    }


def _parameters(asked: type[BaseModel], in_path: Sequence[str]) -> list[Json]:
    shown = asked.model_json_schema(ref_template=_REF)
    required = set(shown.get("required", ()))
    out = []
    for name, schema in shown["properties"].items():
        kept = {key: value for key, value in schema.items() if key not in ("title", "description")}
        one = {"name": name, "in": "path" if name in in_path else "query", "required": name in required}
        out.append(one | {"schema": kept} | {key: schema[key] for key in ("description",) if key in schema})
    return out


def _schema(model: type[BaseModel]) -> Json:
    return {"schema": {"$ref": _REF.format(model=model.__name__)}}


_PROBLEM = "application/problem+json"
_OPENAPI = {"200": {"description": "Done.", "content": {"application/json": {"schema": {"type": "object"}}}}}
