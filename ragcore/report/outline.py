"""Template import from outlines: Markdown, or a Word document with headings and instructions.

Both use the same rules: headings become sections, nested by level; the text under a heading is its guidance; a table
there with only its first row filled in gives the columns of a table to fill in. A heading may end in ``{…}`` with its
kind: ``{optional}``, ``{list}``, ``{yes/no}``, ``{value: USD million}``, ``{table: Segment | Revenue}``, several
separated by commas.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragcore.errors import BadTemplate
from ragcore.report.template import Template, from_data

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.table import Table
    from docx.text.paragraph import Paragraph

MAX_UNPACKED = 60_000_000  # bytes of an unzipped Word document
_OPTIONS = re.compile(r"\s*\{([^{}]*)\}\s*$")
_NUMBER = re.compile(r"^\s*(?:\d+(?:\.\d+)*\.?|[A-Z]\.|[IVX]+\.)\s+(?=\S)")
_HEADING_STYLE = re.compile(r"heading (\d)", re.IGNORECASE)


@dataclass
class _Heading:
    level: int
    text: str
    guidance: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)


def from_markdown(text: str, name: str = "The outline") -> Template:
    """Template described by an outline. A single first-level heading before all others is the title; otherwise ``name``
    is. Raises `BadTemplate`."""
    from markdown_it import MarkdownIt

    lines = text.splitlines()
    headings: list[_Heading] = []
    opening: list[str] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for index, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        if token.type == "heading_open":
            headings.append(_Heading(int(token.tag[1:]), tokens[index + 1].content))
            continue
        last = headings[-1] if headings else None
        if token.type == "table_open" and last is not None:
            columns = _columns(_rows(tokens, index))
            if columns:
                last.columns = columns
                continue
        (last.guidance if last is not None else opening).append("\n".join(lines[slice(*token.map)]).strip())
    return _template(headings, opening, name, "Begin each section with a heading, as in “## Risks”.")


def _rows(tokens: Sequence[Any], start: int) -> list[list[str]]:
    """Cells of the table that begins at ``start``."""
    rows: list[list[str]] = []
    for at in range(start, len(tokens)):
        token = tokens[at]
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(token.content)
        elif token.type == "table_close":
            break
    return rows


def from_docx(data: bytes, name: str = "The document") -> Template:
    """Template described by a Word document, with headings by style or outline level. Raises `BadTemplate`."""
    from docx import Document
    from docx.table import Table

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            unpacked = sum(part.file_size for part in parts.infolist())
        if unpacked > MAX_UNPACKED:
            raise BadTemplate(
                f"{name} unpacks to {unpacked / 1e6:.0f} MB; a template has at most {MAX_UNPACKED / 1e6:.0f} MB.",
                hint="Keep only headings, guidance and empty tables.",
            )
        document = Document(io.BytesIO(data))
    except (zipfile.BadZipFile, SyntaxError, KeyError, ValueError, OSError) as error:
        # lxml reports bad XML as a SyntaxError.
        raise BadTemplate(f"{name} can't be opened as a Word document.", hint="Save it as .docx.") from error
    headings: list[_Heading] = []
    opening: list[str] = []
    title = ""
    for block in _blocks(document):
        last = headings[-1] if headings else None
        if isinstance(block, Table):
            rows = [[cell.text for cell in row.cells] for row in block.rows]
            columns = _columns(rows)
            if last is not None and columns:
                last.columns = columns
            else:
                under = last.guidance if last is not None else opening
                under.extend(" | ".join(dict.fromkeys(row)) for row in rows)
            continue
        words = block.text.strip()
        level = _level(block)
        if not words:
            continue
        if level == 0:
            title = title or words
        elif level is not None:
            headings.append(_Heading(level, words))
        else:
            listed = (block.style.name if block.style is not None else "").startswith("List")
            (last.guidance if last is not None else opening).append(f"- {words}" if listed else words)
    if title:
        headings = [_Heading(0, title), *headings]
    return _template(headings, opening, name, "Use the styles Heading 1, Heading 2 and so on.")


def _blocks(document: WordDocument) -> Iterator[Paragraph | Table]:
    yield from document.iter_inner_content()


def _level(paragraph: Paragraph) -> int | None:
    """Level of a heading, 0 for the title, None for other text."""
    style = paragraph.style
    while style is not None:
        name = style.name or ""
        if name.lower() == "title":
            return 0
        if match := _HEADING_STYLE.fullmatch(name):
            return int(match.group(1))
        style = style.base_style
    found = paragraph._p.xpath("./w:pPr/w:outlineLvl/@w:val")
    return int(found[0]) + 1 if found and int(found[0]) < 9 else None


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """First row, if it is filled and all rows below are empty."""
    head = [" ".join(cell.split()) for cell in rows[0]] if rows else []
    empty = all(not cell.strip() for row in rows[1:] for cell in row)
    return head if len(head) > 1 and all(head) and empty else []


def _template(headings: list[_Heading], opening: Sequence[str], name: str, hint: str) -> Template:
    if not headings:
        raise BadTemplate(f"{name} has no headings, so there's nothing to fill.", hint=hint)
    top = min(heading.level for heading in headings)
    title, guidance = name.rpartition("/")[2].rpartition(".")[0] or name, list(opening)
    if headings[0].level == top and sum(heading.level == top for heading in headings) == 1 and len(headings) > 1:
        title, guidance = headings[0].text, [*opening, *headings[0].guidance]
        headings = headings[1:]
    data = {"title": title, "guidance": "\n".join(guidance), "sections": _nested(headings)}
    return from_data(data, name)


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
        case "required" | "prose" | "list" | "yes_no" as kind:
            return {} if kind == "required" else {"kind": kind}
        case "value":
            return {"kind": "value", "unit": rest}
        case "table":
            return (
                {"kind": "table", "columns": [column.strip() for column in rest.split("|")]}
                if rest
                else {"kind": "table"}
            )
        case _:
            raise BadTemplate(
                f"The heading “{heading}” says {{{option}}}, which isn't an option.",
                hint="Options: optional, list, yes/no, value: UNIT and table: COLUMN | COLUMN.",
            )
