"""Markdown writer: CommonMark with GFM's tables, strikethrough and footnotes; readable as plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from ragcore.config.settings import ExportSettings
from ragcore.export.model import (
    Align,
    Block,
    Break,
    Code,
    Heading,
    Inline,
    Items,
    Manuscript,
    Note,
    NoteRef,
    Notes,
    Paragraph,
    Quote,
    Rule,
    Runs,
    Table,
    Text,
    joined,
    plain,
)
from ragcore.export.notes import note_runs
from ragcore.export.parse import parse_inline
from ragcore.text.markdown import escape

_RULES: dict[Align, str] = {"": "---", "left": ":---", "center": ":---:", "right": "---:"}
# Start of a line that would open a heading, list, quote, table or underline.
_OPENS_BLOCK = re.compile(r"^(?=[-+=#](?:[-+=#|:\s]|$)|>|:-|\|)|^\d{1,9}(?=[.)](?:\s|$))")
_TICKS = re.compile(r"`+")


def write(manuscript: Manuscript, settings: ExportSettings) -> bytes:
    """Manuscript in UTF-8. Notes become footnotes ``[^1]``, defined after the part that refers to them."""
    notes = {note.number: note for note in manuscript.notes}
    listed = {n for block in manuscript.blocks if isinstance(block, Notes) for n in block.numbers}
    rest = Notes(tuple(n for n in notes if n not in listed))
    return f"# {_heading(escape(manuscript.title))}\n\n{_blocks((*manuscript.blocks, rest), notes)}\n".encode()


def _blocks(blocks: Sequence[Block], notes: dict[int, Note], *, tight: bool = False) -> str:
    out: list[str] = []
    marker = 0  # a list right after a list alternates the marker, so that they stay separate
    for place, block in enumerate(blocks):
        after_list = place > 0 and isinstance(blocks[place - 1], Items) and isinstance(block, Items)
        marker = 1 - marker if after_list else 0
        text = _block(block, notes, marker)
        if text:
            out.append(text)
    return ("\n" if tight else "\n\n").join(out)


def _block(block: Block, notes: dict[int, Note], marker: int) -> str:
    match block:
        case Heading():
            return f"{'#' * min(block.level + 1, 6)} {_heading(_runs(block.runs, line=' '))}"
        case Paragraph():
            words = _paragraph(_runs(block.runs))
            return f"**{words}**" if block.role == "notice" and "**" not in words else words
        case Items():
            return _list(block, notes, marker)
        case Table():
            return _table(block)
        case Quote():
            return "\n".join(f"> {line}".rstrip() for line in _blocks(block.blocks, notes).split("\n"))
        case Code():
            fence = "`" * max(3, *(len(ticks) + 1 for ticks in _TICKS.findall(block.text)), 0)
            return f"{fence}\n{block.text}\n{fence}"
        case Rule():
            return "---"
        case Notes():
            return "\n".join(f"[^{n}]: {_paragraph(_runs(note_runs(notes[n])))}" for n in block.numbers)


def _list(block: Items, notes: dict[int, Note], marker: int) -> str:
    tight = all(_fits_tight(item) for item in block.items)
    lines = []
    for place, item in enumerate(block.items):
        lead = f"{'-*'[marker]} " if block.start is None else f"{block.start + place}{'.)'[marker]} "
        body = _blocks(item, notes, tight=tight).split("\n")
        lines.append(
            "\n".join([lead + body[0], *(" " * len(lead) + line if line else "" for line in body[1:])]).rstrip()
        )
    return ("\n" if tight else "\n\n").join(lines)


def _fits_tight(item: Sequence[Block]) -> bool:
    """Whether it needs no blank line: a paragraph, and lists that may begin right under one (CommonMark 5.3)."""
    if not item:
        return True
    first, *rest = item
    nested = [part for part in rest if isinstance(part, Items) and part.start in (None, 1) and part.items[0]]
    return isinstance(first, Paragraph) and len(nested) == len(rest)


def _table(table: Table) -> str:
    rows = list(table.rows) if table.heads else [((),) * len(table.aligns), *table.rows]
    lines = ["| " + " | ".join(_runs(cell, line=" ").replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "| " + " | ".join(_RULES[align] for align in table.aligns) + " |", *lines[1:]])


def _paragraph(words: str) -> str:
    return "\n".join(_OPENS_BLOCK.sub(r"\g<0>\\", line) for line in words.strip().split("\n"))


def _heading(words: str) -> str:
    """Heading text with a final ``#`` escaped, which would be dropped."""
    return words.strip()[:-1] + "\\#" if words.strip().endswith("#") else words.strip()


def _runs(runs: Runs, line: str = "\\\n") -> str:
    """Markdown of ``runs``, with ``line`` for a line break; headings and cells allow only a blank.

    Markdown cannot put every style beside every character. The result is parsed back, and if a word differs, the words
    are written without style.
    """
    runs = joined(runs)
    text = _written(runs, line)
    if _read(text) == _said(runs):
        return text
    return _written(joined(Text(run.text) if isinstance(run, Text) else run for run in runs), line)


def _read(text: str) -> str:
    return "".join(plain(parse_inline(text)).split())


def _said(runs: Runs) -> str:
    """All words and references, without blanks."""
    parts = (run.text if isinstance(run, Text) else f"[^{run.number}]" for run in runs if not isinstance(run, Break))
    return "".join("".join(parts).split())


def _written(runs: Runs, line: str) -> str:
    out = ""
    for href, group in groupby(runs, key=lambda run: run.href if isinstance(run, Text) else ""):
        linked = list(group)
        words = ""
        for place, run in enumerate(linked):
            behind = linked[place + 1] if place + 1 < len(linked) else None
            words += _run(run, line, words or out, behind)
        out += f"[{words}](<{href.replace('<', '%3C').replace('>', '%3E')}>)" if href else words
    return out


def _run(run: Inline, line: str, before: str, behind: Inline | None) -> str:
    match run:
        case NoteRef():
            return f"[^{run.number}]"
        case Break():
            return line
    bare = run.text.strip()
    if not bare:
        return run.text
    # Missing parts are in brackets but no link, since the file has no link definitions.
    words = f"[{escape(bare[1:-1])}]" if run.lack else _code(bare) if run.code else escape(bare)
    head, tail = run.text[: run.text.index(bare)], run.text[run.text.index(bare) + len(bare) :]
    signs = ("~~" if run.strike else "") + ("**" if run.bold else "") + ("*" if run.italic or run.remark else "")
    left = (before + head)[-1:]
    right = (tail + (behind.text if isinstance(behind, Text) else "[" if behind else ""))[:1]
    if signs and _opens(left, words[0]) and _opens(right, words[-1]):
        words = f"{signs}{words}{signs[::-1]}"
    elif left == "]" and words[0] in "(:":
        words = f"\\{words}"  # or the reference before it would be a link, or a definition
    return f"{head}{words}{tail}"


def _opens(outside: str, inside: str) -> bool:
    """Whether an emphasis delimiter between the two is valid (CommonMark's flanking rules, both ways); otherwise the
    words lose their emphasis."""
    return outside not in ("*", "~", "\\") and (not outside or not outside.isalnum() or inside.isalnum())


def _code(text: str) -> str:
    ticks = "`" * (max((len(found) for found in _TICKS.findall(text)), default=0) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"
