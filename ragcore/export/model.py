"""Manuscript model: blocks with runs of text, and the notes that they refer to.

It is independent of conversations, reports and formats. Its text is plain: no markup, and no characters that a format
cannot hold (`ragcore.export.characters.clean`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ragcore.types import Box

Align = Literal["", "left", "center", "right"]
# body: prose; about: small print on the following text; notice: must be read first.
Role = Literal["body", "about", "notice"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words of one style. ``href`` makes them a link; ``remark``: our words about the text; ``lack``: a missing part,
    in square brackets."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    strike: bool = False
    remark: bool = False
    lack: bool = False
    href: str = ""


@dataclass(frozen=True, slots=True)
class NoteRef:
    """Reference to a note by number; the same note may be referred to again."""

    number: int


@dataclass(frozen=True, slots=True)
class Break:
    """Line break within a paragraph."""


Inline = Text | NoteRef | Break
Runs = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """Heading of ``level`` 1 (the parts of the manuscript) to 6."""

    level: int
    runs: Runs


@dataclass(frozen=True, slots=True)
class Paragraph:
    runs: Runs
    role: Role = "body"


@dataclass(frozen=True, slots=True)
class Items:
    """List whose items are blocks. ``start`` is the first number of a numbered list, None for bullets."""

    items: tuple[tuple[Block, ...], ...]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, the first ``heads`` of them headers; every row has as many cells as ``aligns``."""

    rows: tuple[tuple[Runs, ...], ...]
    aligns: tuple[Align, ...]
    heads: int = 1


@dataclass(frozen=True, slots=True)
class Quote:
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Horizontal rule."""


@dataclass(frozen=True, slots=True)
class Notes:
    """Place where a format without footnotes lists these notes."""

    numbers: tuple[int, ...]


Block = Heading | Paragraph | Items | Table | Quote | Code | Rule | Notes


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verification result of a claim that cites the note: ``status`` weak or unsupported, and the reason."""

    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Note:
    """Citation. ``page`` counts from 1, ``label`` is the printed page number; ``cell`` gives a cited cell's headers.
    ``generated``: the quote is an AI's description of a figure; ``ocr``: confidence (0–1) of text read by OCR;
    ``added``: added by verification, not the writer. ``boxes`` locate the quote in document ``doc_id``, and ``heads``
    the headers of a cited cell. ``short``: the title to use if an earlier note has the full one."""

    number: int
    title: str
    page: int
    label: str
    quote: str
    section: tuple[str, ...] = ()
    cell: str = ""
    generated: bool = False
    ocr: float | None = None
    added: bool = False
    verdicts: tuple[Verdict, ...] = ()
    doc_id: str = ""
    boxes: tuple[Box, ...] = ()
    heads: tuple[Box, ...] = ()
    short: str = ""


@dataclass(frozen=True, slots=True)
class Manuscript:
    """Document to export. ``notes`` are numbered from 1 in order of first reference; ``written`` is its date in seconds
    since the epoch (0 for none), and ``language`` a BCP 47 tag of its own words."""

    title: str
    blocks: tuple[Block, ...]
    notes: tuple[Note, ...] = ()
    written: float = 0.0
    language: str = "en-US"


def plain(runs: Runs) -> str:
    """Words of ``runs`` without style."""
    return "".join(run.text if isinstance(run, Text) else " " for run in runs if not isinstance(run, NoteRef))


def joined(runs: Iterable[Inline]) -> Runs:
    """Runs merged where the style is equal, without a blank before a note's number."""
    out: list[Inline] = []
    for run in runs:
        last = out[-1] if out else None
        if isinstance(run, Text) and not run.text:
            continue
        if isinstance(last, Text) and isinstance(run, Text) and replace(last, text="") == replace(run, text=""):
            out[-1] = replace(last, text=last.text + run.text)
        elif isinstance(last, Text) and isinstance(run, NoteRef) and last.text[-1:] in " \t":
            out[-1:] = [replace(last, text=last.text.rstrip(" \t")), run]
        else:
            out.append(run)
    return tuple(run for run in out if not isinstance(run, Text) or run.text)


def walk(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """All blocks, parents first, in text order."""
    for block in blocks:
        yield block
        if isinstance(block, Items):
            for item in block.items:
                yield from walk(item)
        elif isinstance(block, Quote):
            yield from walk(block.blocks)


def references(blocks: tuple[Block, ...]) -> Iterator[int]:
    """Numbers of all note references, in order."""
    for block in walk(blocks):
        parts: Iterable[Runs] = ()
        if isinstance(block, Heading | Paragraph):
            parts = (block.runs,)
        elif isinstance(block, Table):
            parts = (cell for row in block.rows for cell in row)
        yield from (run.number for runs in parts for run in runs if isinstance(run, NoteRef))
