"""Report template files: JSON, a Markdown outline, or a Word document with headings and instructions.

Outlines are parsed by pandoc, in a child process with limits on time and memory, since a small file of either format
can take hours or many gigabytes. Headings become sections, nested by level; the text under a heading is its guidance; a
table there with only its first row filled in gives the columns of a table to fill in. A heading may end in ``{…}`` with
its kind: ``{optional}``, ``{list}``, ``{yes/no}``, ``{value: USD million}``, ``{table: Segment | Revenue}``, several
separated by commas.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any

from ragcore.errors import BadTemplate, FileMissing
from ragcore.export.pandoc import pandoc_binary
from ragcore.report.template import Template, from_data, from_json

MAX_BYTES = 20_000_000  # a template is text; Word files with pictures may have some megabytes
SECONDS = 20.0
MEMORY_MB = 512
_MESSAGE = 500  # characters of an error message, which may quote the file
_SMALLER = "Keep only headings, guidance and empty tables."
_OPTIONS = re.compile(r"\s*\{([^{}]*)\}\s*$")
_NUMBER = re.compile(r"^\s*(?:\d+(?:\.\d+)*\.?|[A-Z]\.|[IVX]+\.)\s+(?=\S)")

Node = dict[str, Any]  # of pandoc's document tree


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
        if path.stat().st_size > MAX_BYTES:
            raise BadTemplate(f"{path.name} is too large for a template.", hint="Remove its pictures.")
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
            return _from_word(data, name)
        text = data.decode("utf-8-sig")
        return _from_markdown(text, name) if suffix in (".md", ".markdown", ".txt") else from_json(text, name)
    except UnicodeDecodeError as error:
        raise BadTemplate(f"{name} is neither UTF-8 text nor a Word document.") from error
    except BadTemplate as error:
        raise BadTemplate(error.message[:_MESSAGE], hint=error.hint[:_MESSAGE]) from error


def _from_markdown(text: str, name: str) -> Template:
    """Template described by an outline. A single first-level heading before all others is the title; otherwise ``name``
    is."""
    tree = _tree(text.encode(), "commonmark+pipe_tables", name)
    return _template(tree["blocks"], "", name, "Begin each section with a heading, as in “## Risks”.")


def _from_word(data: bytes, name: str) -> Template:
    """Template described by a Word document, with headings by style."""
    tree = _tree(data, "docx", name)
    title = _words(tree["meta"].get("title", {}))
    return _template(tree["blocks"], title, name, "Use the styles Heading 1, Heading 2 and so on.")


def _tree(data: bytes, kind: str, name: str) -> Node:
    """Pandoc's document tree of a file."""
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


def _template(blocks: Sequence[Node], title: str, name: str, hint: str) -> Template:
    headings: list[_Heading] = []
    opening: list[str] = []
    for block in blocks:
        last = headings[-1] if headings else None
        if block["t"] == "Header":
            headings.append(_Heading(block["c"][0], _words(block["c"][2])))
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
    return from_data({"title": title, "guidance": "\n".join(opening), "sections": _nested(headings)}, name)


def _words(node: Any) -> str:
    """Plain text of a node or of a list of nodes."""
    if isinstance(node, list):
        return "".join(map(_words, node))
    if not isinstance(node, dict):
        return ""
    match node.get("t"):
        case "Str":
            return str(node["c"])
        case "Space" | "SoftBreak" | "LineBreak":
            return " "
        case "Code" | "Math":
            return str(node["c"][1])
        case "Note" | "RawInline" | "RawBlock":
            return ""
    return _words(node.get("c"))


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
    return _words(block).strip()


def _rows(table: Node) -> list[list[str]]:
    """Text of a table's cells."""
    head, bodies = table["c"][3], table["c"][4]
    rows = [*head[1], *(row for body in bodies for row in (*body[2], *body[3]))]
    return [[" ".join(_words(cell[4]).split()) for cell in row[1]] for row in rows]


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """First row, if it is filled and all rows below are empty."""
    head, *rest = rows or [[]]
    return list(head) if len(head) > 1 and all(head) and not any(map(any, rest)) else []


def _nested(headings: Sequence[_Heading]) -> list[dict[str, Any]]:
    """Nested sections from headings in order; skipped levels are allowed."""
    roots: list[dict[str, Any]] = []
    open_: list[tuple[int, dict[str, Any]]] = []
    for heading in headings:
        section = _section(heading)
        while open_ and open_[-1][0] >= heading.level:
            open_.pop()
        (open_[-1][1].setdefault("sections", []) if open_ else roots).append(section)
        open_.append((heading.level, section))
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
