"""Report templates: sections with guidance, as JSON; validation names each mistake with its place.

    {"title": "Company profile", "sections": [
        {"heading": "Business", "guidance": "What the company sells, and to whom."},
        {"heading": "Revenue", "kind": "value", "unit": "USD million", "guidance": "Net revenue of the last year."},
        {"heading": "Segments", "kind": "table", "columns": ["Segment", "Revenue"], "required": false}]}

A section needs only ``heading`` and ``guidance``; every other key has a default.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from ragcore.errors import BadTemplate

Kind = Literal["prose", "list", "table", "value", "yes_no"]
MAX_SECTIONS = 300
MAX_COLUMNS = 100
MAX_DOCUMENTS = 1000
MAX_LEVEL = 6  # Word and HTML have as many heading levels

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300, pattern=r"^[^\n]*$")]
Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=8000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Section(_Strict):
    """Heading of a report and its text.

    ``kind`` is the form of the text: ``prose``, a bullet ``list``, a ``table`` with ``columns``, a single ``value`` (in
    ``unit``) or ``yes_no`` with the reason. A section with only ``sections`` and no guidance is a plain heading.
    ``documents`` narrows its evidence to documents by id, file name or title; None leaves that to the report.
    """

    heading: Line
    guidance: Words = ""
    kind: Kind = "prose"
    columns: Annotated[tuple[Line, ...], Field(max_length=MAX_COLUMNS)] = ()
    unit: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""
    required: bool = True
    documents: Annotated[tuple[Line, ...], Field(max_length=MAX_DOCUMENTS)] | None = None
    sections: tuple[Section, ...] = ()

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Section:
        if self.kind == "table" and not self.columns:
            raise ValueError('a table needs its "columns"')
        if self.kind != "table" and self.columns:
            raise ValueError(f'"columns" belong to a table, and this is "{self.kind}"')
        if len({column.casefold() for column in self.columns}) < len(self.columns):
            raise ValueError("two columns have the same name")
        if self.unit and self.kind not in ("value", "table"):
            raise ValueError(f'"unit" belongs to a value or a table, and this is "{self.kind}"')
        if self.documents == ():
            raise ValueError('"documents" is empty; leave it out to search all documents')
        return self

    @property
    def filled(self) -> bool:
        """Whether the heading itself gets text."""
        return bool(self.guidance) or not self.sections

    @property
    def query(self) -> str:
        """Search query."""
        return f"{self.heading}: {self.guidance}" if self.guidance else self.heading


class Template(_Strict):
    """Specification of a report: its title and sections, nested to six levels; ``guidance`` applies to all of it."""

    title: Line
    guidance: Words = ""
    sections: Annotated[tuple[Section, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _bounded(self) -> Template:
        places = list(self.places())
        if len(places) > MAX_SECTIONS:
            raise ValueError(f"there are {len(places)} sections; a template has at most {MAX_SECTIONS}")
        deepest = max(place.level for place in places)
        if deepest > MAX_LEVEL:
            raise ValueError(f"sections are nested {deepest} deep; a template has at most {MAX_LEVEL} levels")
        return self

    def places(self) -> Iterator[Place]:
        """Every section, in print order."""
        yield from _places(self.sections, ())

    def as_json(self) -> str:
        """Template as a file, without default values."""
        return json.dumps(self.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False, indent=2) + "\n"


@dataclass(frozen=True, slots=True)
class Place:
    """Section with its place: ``path`` are the headings above it, ``number`` its printed number (``2.1``)."""

    section: Section
    path: tuple[str, ...]
    number: str

    @property
    def level(self) -> int:
        """Level, 1 for a top-level section."""
        return len(self.path) + 1


def _places(sections: Sequence[Section], above: tuple[str, ...], before: str = "") -> Iterator[Place]:
    for index, section in enumerate(sections, start=1):
        number = f"{before}{index}"
        yield Place(section, above, number)
        yield from _places(section.sections, (*above, section.heading), f"{number}.")


def from_json(text: str, name: str = "The template") -> Template:
    """Template in ``text``. Raises `BadTemplate`, which names the place of the first mistake."""
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadTemplate(
            f"{name} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}.",
            hint="Correct that line, or write the template as a Markdown outline.",
        ) from error
    except RecursionError as error:
        raise BadTemplate(f"{name} is nested too deeply; a template has at most {MAX_LEVEL} levels.") from error
    return from_data(given, name)


def from_data(given: Any, name: str = "The template") -> Template:
    """Template described by ``given``, parsed JSON. Raises `BadTemplate`."""
    if not isinstance(given, dict):
        raise BadTemplate(f'{name} is not an object with "title" and "sections".')
    try:
        return Template.model_validate(given)
    except ValidationError as error:
        # For a bad section pydantic adds that the list, without it, is too short.
        mistakes = [one for one in error.errors(include_url=False) if one["type"] != "too_short" or not one["input"]]
        first = mistakes[0]
        place = _place(given, first["loc"])
        more = len(mistakes) - 1
        others = f" ({more} more {'mistake' if more == 1 else 'mistakes'} after it)" if more else ""
        raise BadTemplate(f"{name}, {place}: {_said(first)}{others}.") from error


def _place(given: Any, where: Sequence[int | str]) -> str:
    """Place of a mistake in the template, in words: ``section 2 “Risks”, section 1, "columns"``."""
    parts: list[str] = []
    node = given
    for step in where:
        if isinstance(step, int):
            node = node[step] if isinstance(node, list) and step < len(node) else None
            heading = node.get("heading") if isinstance(node, dict) else None
            named = f" “{heading}”" if isinstance(heading, str) and heading.strip() else ""
            last = parts.pop() if parts else ""
            parts.append(f"{'section' if last == '“sections”' else last + ' no.'} {step + 1}{named}")
        else:
            parts.append(f"“{step}”")
            node = node.get(step) if isinstance(node, dict) else None
    return ", ".join(parts) or "as a whole"


def _said(error: Any) -> str:
    """pydantic's message, in plain words where they differ."""
    match error["type"]:
        case "missing":
            return "it is missing"
        case "extra_forbidden":
            what, keys = ("a section", Section) if len(error["loc"]) > 1 else ("a template", Template)
            return f"unknown key; {what} has {', '.join(keys.model_fields)}"
        case "string_too_short" | "too_short":
            return "it is empty"
        case "string_pattern_mismatch":
            return "it has more than one line"
        case "value_error":
            return str(error["ctx"]["error"])
        case _:
            message: str = error["msg"]
            return message[:1].lower() + message[1:]
