"""Columns of a grid as they are given: a file, a report template, or typed by a person; validation names each mistake
with its place.

    {"columns": [
        {"name": "Revenue", "question": "Net revenue of the last year", "type": "value", "unit": "USD million"},
        {"name": "Auditor", "question": "Which firm audits the company?", "type": "name"}]}

A column needs only ``name`` and ``type``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from ragcore.errors import BadColumns
from ragcore.protocols import FieldReader, QuestionAnalyser
from ragcore.report.template import Line, Template, said
from ragcore.types.grid import COLUMN_TYPES, Column, ColumnType
from ragcore.types.report import ValueSort

MAX_COLUMNS = 100
_TYPES: dict[str, ColumnType] = {"prose": "text", "list": "list", "value": "value", "yes_no": "yes_no"}
_SORTS: dict[ValueSort, ColumnType] = {"": "value", "figure": "value", "date": "date", "name": "name"}
MAX_QUESTION = 2000  # characters
HEAD = 60  # characters of a head that is made
_HINT = f"A column has a name, a question, a type ({', '.join(COLUMN_TYPES)}) and, for a value, a unit."


class ColumnSpec(BaseModel):
    """Column as given: see `ragcore.types.grid.Column`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Line
    question: Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_QUESTION)] = ""
    type: ColumnType
    unit: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""

    @model_validator(mode="after")
    def _has_its_unit(self) -> ColumnSpec:
        if self.unit and self.type != "value":
            raise ValueError(f'"unit" belongs to a value, and this is "{self.type}"')
        return self

    def column(self, column_id: str) -> Column:
        return Column(column_id, self.name, self.question, self.type, self.unit)


class _Columns(BaseModel):
    model_config = ConfigDict(extra="forbid")

    columns: Annotated[list[ColumnSpec], Field(min_length=1, max_length=MAX_COLUMNS)]


def from_json(text: str, name: str = "The file") -> list[ColumnSpec]:
    """Columns in a file called ``name``. Raises `BadColumns`, which names the place of the first mistake."""
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadColumns(f"{name} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}.") from error
    except RecursionError as error:
        raise BadColumns(f"{name} is nested too deeply.", hint=_HINT) from error
    if not isinstance(given, dict) or not isinstance(given.get("columns"), list):
        raise BadColumns(f'{name} is not an object with a list of "columns".', hint=_HINT)
    return given_columns(given["columns"], name)


def given_columns(given: Sequence[Any], name: str = "The grid") -> list[ColumnSpec]:
    """Columns described by ``given``, parsed JSON. Raises `BadColumns`."""
    try:
        columns = _Columns.model_validate({"columns": given}).columns
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise BadColumns(f"{name}: {_place(given, first['loc'][1:])}{_said(first)}.", hint=_HINT) from error
    distinct(columns)
    return columns


def distinct(columns: Iterable[ColumnSpec | Column]) -> None:
    """Raises `BadColumns` if two columns have one name."""
    seen = set()
    for column in columns:
        if column.name.casefold() in seen:
            raise BadColumns(f"Two columns are called “{column.name}”.", hint="Give one another name.")
        seen.add(column.name.casefold())


def type_of(name: str, question: str, analyser: QuestionAnalyser, reader: FieldReader) -> ColumnType:
    """Type that a column ``name`` with this ``question`` probably has; without one the name says what it asks. What is
    asked without a word for its sort ("What can lead to …?") is told by a passage."""
    text = question or name
    asked, sort = analyser.read(text), reader.sort(name, question, "")
    if asked.polar:
        return "yes_no"
    if asked.answer.wants and sort != "date":
        return "value" if asked.answer.figures else "name"
    return "quote" if sort == "name" and text.endswith("?") else _SORTS[sort]


def of_question(question: str, analyser: QuestionAnalyser, reader: FieldReader) -> ColumnSpec:
    """Column that asks what a ``question`` of a chat asked, given in its stand-alone form."""
    type_ = type_of(f"{question.rstrip('?')}?", "", analyser, reader)
    return ColumnSpec(name=_headed(question), question=question[:MAX_QUESTION], type=type_)


def _headed(text: str) -> str:
    """First words of a question, as the head of its column."""
    line = " ".join(text.split())
    return line if len(line) <= HEAD else f"{line[:HEAD].rsplit(' ', 1)[0].rstrip(' ,;:')}…"


def of_template(template: Template, reader: FieldReader) -> list[ColumnSpec]:
    """Columns for the sections of a report template, under their headings; ``reader`` tells what sort of value one asks
    for. Tables have no column. Raises `BadColumns` if nothing is left."""
    out: dict[str, ColumnSpec] = {}
    for place in template.places():
        asked = place.section
        if asked.filled and asked.kind in _TYPES:
            name = asked.heading if asked.heading.casefold() not in out else f"{place.number} {asked.heading}"
            question, type_, unit = asked.guidance[:MAX_QUESTION], _TYPES[asked.kind], ""
            if asked.kind == "value":
                type_ = _SORTS[reader.sort(asked.heading, asked.guidance, asked.unit)]
                unit = asked.unit if type_ == "value" else ""
            out[name.casefold()] = ColumnSpec(name=name, question=question, type=type_, unit=unit)
    if not out:
        raise BadColumns("The template has no section that can be a column.", hint="Tables have no column of a grid.")
    return list(out.values())[:MAX_COLUMNS]


def _place(given: Sequence[Any], where: Sequence[int | str]) -> str:
    """Place of a mistake in words: ``column 2 “Auditor”, "type": ``."""
    parts = []
    if where and isinstance(where[0], int):
        one = given[where[0]]
        called = " ".join(str(one.get("name", "")).split()) if isinstance(one, dict) else ""
        parts.append(f"column {where[0] + 1}{f' “{called}”' if called else ''}")
    parts += [f"“{step}”" for step in where[1:]]
    return f"{', '.join(parts)}: " if parts else ""


def _said(error: Any) -> str:
    """pydantic's message, in plain words where they differ."""
    match error["type"]:
        case "extra_forbidden":
            return "unknown key"
        case "too_short":
            return "there are no columns"
        case "too_long" if len(error["loc"]) == 1:
            return f"there are more than {MAX_COLUMNS} columns"
        case "literal_error":
            return f"it is one of {', '.join(COLUMN_TYPES)}"
        case _:
            return said(error)
