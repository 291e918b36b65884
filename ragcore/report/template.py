"""Report templates: sections with guidance, as JSON; validation names each mistake with its place.

    {"title": "Company profile", "sections": [
        {"heading": "Business", "guidance": "What the company sells, and to whom."},
        {"heading": "Revenue", "kind": "value", "unit": "USD million", "guidance": "Net revenue of the last year."},
        {"heading": "Segments", "kind": "table", "columns": ["Segment", "Revenue"], "required": false}]}

A section needs only ``heading`` and ``guidance``; every other key has a default.

A file is JSON, a Markdown outline, or a Word document with headings and instructions. Outlines are parsed by pandoc, in
a child process with limits on time and memory, since a small file of either format can take hours or many gigabytes.
Headings become sections, nested by level; the text under a heading is its guidance; a table there with only its first
row filled in gives the columns of a table to fill in. A heading may end in ``{…}`` with its kind: ``{optional}``,
``{list}``, ``{yes/no}``, ``{value: USD million}``, ``{table: Segment | Revenue}``, several separated by commas.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from ragcore.errors import BadTemplate, FileMissing
from ragcore.export.tree import Node, plain, rows
from ragcore.types.report import FieldKind, under

MAX_SECTIONS = 300
MAX_COLUMNS = 100
MAX_DOCUMENTS = 1000
MAX_LEVEL = 6  # Word and HTML have as many heading levels
MAX_BYTES = 20_000_000  # a template is text; Word files with pictures may have some megabytes
SECONDS = 20.0
MEMORY_MB = 512
_MESSAGE = 500  # characters of an error message, which may quote the file
_SMALLER = "Keep only headings, guidance and empty tables."
_OPTIONS = re.compile(r"\s*\{([^{}]*)\}\s*$")
_NUMBER = re.compile(r"^\s*(?:\d+(?:\.\d+)*\.?|[A-Z]\.|[IVX]+\.)\s+(?=\S)")


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
    kind: FieldKind = "prose"
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
        return under(self.heading, self.guidance) if self.guidance else self.heading


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
        raise BadTemplate(f"{name}, {place}: {said(first)}{others}.") from error


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


def said(error: Any) -> str:
    """pydantic's message, in plain words where they differ."""
    match error["type"]:
        case "missing":
            return "it is missing"
        case "extra_forbidden":
            what, keys = ("a section", Section) if len(error["loc"]) > 1 else ("a template", Template)
            return f"unknown key; {what} has {', '.join(keys.model_fields)}"
        case "string_too_short":
            return "it is empty"
        case "too_short":
            return "it is empty: at least one section is needed"
        case "string_pattern_mismatch":
            return "it has more than one line"
        case "value_error":
            return str(error["ctx"]["error"])
        case _:
            message: str = error["msg"]
            return message[:1].lower() + message[1:]


# Template files


@dataclass
class _Heading:
    level: int
    text: str
    guidance: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)


def own_templates() -> dict[str, str]:
    """Built-in templates: name → JSON."""
    folder = files("ragcore.report") / "library"
    found = {path.name.removesuffix(".json"): path.read_text("utf-8") for path in folder.iterdir()}
    return dict(sorted(found.items()))


def load_template(given: str) -> Template:
    """Template from the file ``given`` (JSON, a Markdown outline or a Word document), or the built-in one of that name.
    Raises `FileMissing`, `BadTemplate`."""
    path = Path(given)
    own = own_templates()
    if given in own and not path.exists():
        return from_json(own[given], given)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileMissing(
            f"{given} can't be read: {error.strerror}.", hint=f"Name a file, or one of {', '.join(own)}."
        ) from error
    return read_template(data, path.name)


def read_template(data: bytes, name: str) -> Template:
    """Template in the file ``name``: a Word document, a Markdown outline or JSON. Raises `BadTemplate`, also for a file
    that takes too long or too much memory."""
    suffix = PurePath(name).suffix.lower()
    if len(data) > MAX_BYTES:
        raise BadTemplate(f"{name} is too large for a template.", hint=_SMALLER)
    try:
        if suffix == ".docx" or data.startswith(b"PK\x03\x04"):
            return _from_outline(_tree(data, "docx", name), name, "Use the styles Heading 1, Heading 2 and so on.")
        text = data.decode("utf-8-sig")
        if suffix in (".md", ".markdown", ".txt"):
            tree = _tree(text.encode(), "commonmark+pipe_tables", name)
            return _from_outline(tree, name, "Begin each section with a heading, as in “## Risks”.")
        return from_json(text, name)
    except UnicodeDecodeError as error:
        raise BadTemplate(f"{name} is neither UTF-8 text nor a Word document.") from error
    except BadTemplate as error:
        raise BadTemplate(error.message[:_MESSAGE], hint=error.hint[:_MESSAGE]) from error


def _tree(data: bytes, kind: str, name: str) -> Node:
    """Pandoc's document tree of a file."""
    from ragcore.export.pandoc import pandoc_binary

    limits = ["+RTS", f"-M{MEMORY_MB}m", "-RTS", "--sandbox"]
    command = [pandoc_binary(), *limits, f"--from={kind}", "--to=json", "--track-changes=accept"]
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=True, timeout=SECONDS)
        tree: Node = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise BadTemplate(f"{name} takes longer than {SECONDS:g} s to read.", hint=_SMALLER) from error
    except (subprocess.CalledProcessError, RecursionError) as error:
        full = getattr(error, "returncode", 0) == 251  # of Haskell's runtime: the heap is exhausted
        raise BadTemplate(
            f"{name} takes too much memory." if full else f"{name} can't be opened as a Word document.",
            hint=_SMALLER if full else "Save it as .docx.",
        ) from error
    return tree


def _from_outline(tree: Node, name: str, hint: str) -> Template:
    """Template described by a document. Without a title of its own, a single heading of the first level before all
    others is the title; otherwise ``name`` is."""
    title = plain(tree["meta"].get("title", {}))
    headings: list[_Heading] = []
    opening: list[str] = []
    for block in tree["blocks"]:
        last = headings[-1] if headings else None
        if block["t"] == "Header":
            headings.append(_Heading(block["c"][0], plain(block["c"][2])))
        elif last is not None and block["t"] == "Table" and (columns := _columns(_rows(block))):
            last.columns = columns
        elif text := _text(block):
            (last.guidance if last is not None else opening).append(text)
    headings = [one for one in headings if one.text]
    if not headings:
        raise BadTemplate(f"{name} has no headings, so there's nothing to fill.", hint=hint)
    top = min(heading.level for heading in headings)
    if not title and [heading.level for heading in headings].count(top) == 1 and headings[0].level == top:
        first = headings.pop(0) if len(headings) > 1 else _Heading(top, "")
        title, opening = first.text, [*opening, *first.guidance]
    title = title or PurePath(name).stem or name
    sections = nested((one.level, _section(one)) for one in headings)
    return from_data({"title": title, "guidance": "\n".join(opening), "sections": sections}, name)


def _text(block: Node) -> str:
    """Guidance in a block, with list items and table rows on lines of their own."""
    match block["t"]:
        case "BulletList" | "OrderedList":
            items = block["c"] if block["t"] == "BulletList" else block["c"][1]
            marks = [f"{n}. " if block["t"] == "OrderedList" else "- " for n in range(1, len(items) + 1)]
            return "\n".join(mark + "\n".join(filter(None, map(_text, item))) for mark, item in zip(marks, items))
        case "BlockQuote":
            return "\n".join(filter(None, map(_text, block["c"])))
        case "CodeBlock":
            return str(block["c"][1])
        case "Table":
            return "\n".join(" | ".join(filter(None, row)) for row in _rows(block))
    return plain(block).strip()


def _rows(table: Node) -> list[list[str]]:
    """Text of a table's cells."""
    return [[" ".join(plain(cell).split()) for cell in row] for row in rows(table)]


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """First row, if it is filled and all rows below are empty."""
    head, *rest = rows or [[]]
    return list(head) if len(head) > 1 and all(head) and not any(map(any, rest)) else []


def nested(sections: Iterable[tuple[int, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Sections as they are nested, from their levels in printed order; skipped levels are allowed."""
    roots: list[dict[str, Any]] = []
    open_: list[tuple[int, dict[str, Any]]] = []
    for level, section in sections:
        while open_ and open_[-1][0] >= level:
            open_.pop()
        (open_[-1][1].setdefault("sections", []) if open_ else roots).append(section)
        open_.append((level, section))
    return roots


def _section(heading: _Heading) -> dict[str, Any]:
    text = " ".join(heading.text.split())
    section: dict[str, Any] = {}
    match = _OPTIONS.search(text)
    if match:
        text = text[: match.start()]
        for option in match.group(1).split(","):
            section |= _option(option.strip(), text)
    section["heading"] = _NUMBER.sub("", text).strip() or text
    if heading.columns and not section.get("kind"):
        section |= {"kind": "table", "columns": heading.columns}
    section["guidance"] = "\n".join(heading.guidance).strip()
    return section


def _option(option: str, heading: str) -> dict[str, Any]:
    name, _, rest = (part.strip() for part in option.partition(":"))
    match name.lower().replace("-", "_").replace("/", "_").replace(" ", "_"):
        case "optional":
            return {"required": False}
        case "required":
            return {}
        case "prose" | "list" | "yes_no" as kind:
            return {"kind": kind}
        case "value":
            return {"kind": "value", "unit": rest}
        case "table":
            columns = [column.strip() for column in rest.split("|")]
            return {"kind": "table"} | ({"columns": columns} if rest else {})
        case _:
            raise BadTemplate(
                f"The heading “{heading}” says {{{option}}}, which isn't an option.",
                hint="Options: optional, list, yes/no, value: UNIT and table: COLUMN | COLUMN.",
            )
