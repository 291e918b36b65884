"""Manuscript model: a document to export, as pandoc's tree of blocks and inlines, with the notes that it refers to.

A node is the JSON of a pandoc type, ``{"t": type, "c": contents}``. Two types are ours, and every writer replaces them:
``Ref``, a reference to a note by number, and ``Notes``, the place where a format without footnotes lists the notes of
these numbers. Classes of a ``Div`` or ``Span`` say what it is: ``about`` (small print on the following text),
``notice`` (must be read first), ``remark`` (our words about the text), ``lack`` (a missing part, in square brackets).
Text has no characters that a format cannot hold (`ragcore.export.characters.clean`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragcore.types import Citation, Claim

Node = dict[str, Any]
Nodes = list[Node]


@dataclass(frozen=True, slots=True)
class Note:
    """Note ``number`` with a citation, whose texts are clean and whose quote may be shortened. ``added``: by
    verification, not by the writer; ``doubts`` are the claims that cite it without being supported."""

    number: int
    citation: Citation
    added: bool = False
    doubts: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Manuscript:
    """Document to export. ``notes`` are numbered from 1 in order of first reference; ``written`` is its date in seconds
    since the epoch (0 for none), and ``language`` a BCP 47 tag of its own words."""

    title: str
    blocks: Nodes
    notes: tuple[Note, ...] = ()
    written: float = 0.0
    language: str = "en-US"


def node(kind: str, *contents: Any) -> Node:
    """Node of pandoc's type ``kind``."""
    return {"t": kind} | ({"c": contents[0] if len(contents) == 1 else list(contents)} if contents else {})


def attributes(*classes: str, place: str = "", **others: str) -> list[Any]:
    """Pandoc's attributes: id, classes and the rest, without empty ones."""
    return [place, [each for each in classes if each], [[key, value] for key, value in others.items() if value]]


def words(text: str, *looks: str) -> Nodes:
    """Inlines of plain text, in ``looks``: ``Strong`` and ``Emph``, or the class of a ``Span``."""
    made: Nodes = []
    for place, word in enumerate(text.split(" ")):
        made += [node("Space")] * (place > 0) + [node("Str", word)] * bool(word)
    for look in looks if made else ():
        made = [node(look, made) if look[0].isupper() else node("Span", attributes(look), made)]
    return made


def paragraph(text: str | Nodes, role: str = "") -> Node:
    """Paragraph; one with a ``role`` is in a ``Div`` of this class."""
    made = node("Para", words(text) if isinstance(text, str) else text)
    return node("Div", attributes(role), [made]) if role else made


def heading(level: int, text: str | Nodes) -> Node:
    """Heading of ``level`` 1 (the parts of the manuscript) to 6."""
    return node("Header", level, attributes(), words(text) if isinstance(text, str) else text)


def bullets(*items: Nodes) -> Node:
    """List of items, each some blocks."""
    return node("BulletList", list(items))


def table(head: Sequence[Sequence[Nodes]], body: Sequence[Sequence[Nodes]], aligns: Sequence[str]) -> Node:
    """Table of rows of cells, each some blocks; ``aligns`` are pandoc's names of how each column is aligned."""

    def made(rows: Sequence[Sequence[Nodes]]) -> list[Any]:
        return [[attributes(), [[attributes(), node("AlignDefault"), 1, 1, cell] for cell in row]] for row in rows]

    columns = [[node(align), node("ColWidthDefault")] for align in aligns]
    bodies = [[attributes(), 0, [], made(body)]]
    return node("Table", attributes(), [None, []], columns, [attributes(), made(head)], bodies, [attributes(), []])


def rows(table: Node) -> list[list[Nodes]]:
    """Cells of a table by row, headers first, each some blocks."""
    _, _, _, (_, head), bodies, _ = table["c"]
    body = (row for _, _, heads, below in bodies for row in (*heads, *below))
    return [[cell[4] for cell in cells] for _, cells in (*head, *body)]


def plain(value: Any) -> str:
    """Words of nodes without style, and without the numbers of notes."""
    match value:
        case list():
            return "".join(map(plain, value))
        case {"t": "Str", "c": text} | {"t": "Code" | "CodeBlock" | "Math", "c": [_, text]}:
            return str(text)
        case {"t": "Space" | "SoftBreak" | "LineBreak"}:
            return " "
        case {"t": "Ref" | "Note" | "Notes" | "RawInline" | "RawBlock"}:
            return ""
        case {"c": contents}:
            return plain(contents)
    return ""


def walk(value: Any) -> Iterator[Node]:
    """All nodes below ``value``, parents first, in text order."""
    if isinstance(value, list):
        for each in value:
            yield from walk(each)
    elif isinstance(value, dict):
        yield value
        yield from walk(value.get("c"))


def references(value: Any) -> list[int]:
    """Numbers of all references to notes, in order."""
    return [each["c"] for each in walk(value) if each["t"] == "Ref"]


def rewritten(value: Any, change: Callable[[Node], Iterable[Node]]) -> Any:
    """Copy of ``value`` with ``change(node)`` in place of each node, the inner ones first, in text order."""
    if isinstance(value, list):
        out: list[Any] = []
        for each in value:
            made = rewritten(each, change)
            out += change(made) if isinstance(each, dict) else [made]
        return out
    if isinstance(value, dict) and "c" in value:
        return {**value, "c": rewritten(value["c"], change)}
    return value
