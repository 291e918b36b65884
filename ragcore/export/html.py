"""Manuscript → the body of an HTML page, with links from the text to its notes and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape

from ragcore.export.characters import right_to_left
from ragcore.export.columns import WIDE, broken, longest_words, parted
from ragcore.export.model import (
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
    plain,
)
from ragcore.export.wording import note_runs

LINES = 25  # less than half a page


def body(
    manuscript: Manuscript, room: Callable[[int], int] | None = None, beside: Callable[[Note], str] | None = None
) -> str:
    """Headings are one level lower than in the manuscript, below its title. A note has the id ``note-N``, the first
    place that refers to it ``ref-N``; notes that no part lists stand at the end. A table of more than
    `ragcore.export.columns.WIDE` columns has the class ``wide``.

    ``room`` tells for a page of fixed width how many characters a line of a table of so many columns has; words that
    would make a table wider get places where they may be broken, and a row of more than `LINES` lines is parted.
    ``beside`` gives what stands below a note, as HTML."""
    listed = {n for block in manuscript.blocks if isinstance(block, Notes) for n in block.numbers}
    rest = Notes(tuple(note.number for note in manuscript.notes if note.number not in listed))
    maker = _Maker({note.number: note for note in manuscript.notes}, room, beside)
    title = f"<h1{_direction(manuscript.title)}>{escape(manuscript.title)}</h1>"
    return "\n".join((title, *(maker.block(block) for block in (*manuscript.blocks, rest))))


class _Maker:
    def __init__(
        self, notes: dict[int, Note], room: Callable[[int], int] | None, beside: Callable[[Note], str] | None
    ) -> None:
        self.notes = notes
        self.room = room
        self.beside = beside
        self.referred: set[int] = set()

    def block(self, block: Block) -> str:
        match block:
            case Heading():
                return self._element(f"h{min(block.level + 1, 6)}", block.runs)
            case Paragraph():
                return self._element("p", block.runs, f' class="{block.role}"')
            case Items():
                tag, first = ("ul", "") if block.start is None else ("ol", f' start="{block.start}"')
                items = "".join(f"<li>{self._blocks(item)}</li>" for item in block.items)
                return f"<{tag}{first}>{items}</{tag}>"
            case Table():
                return self._table(block)
            case Quote():
                return f"<blockquote>{self._blocks(block.blocks)}</blockquote>"
            case Code():
                return f"<pre>{escape(block.text)}</pre>"
            case Rule():
                return "<hr/>"
            case Notes():
                notes = "".join(self._note(self.notes[number]) for number in block.numbers)
                return f'<div class="notes">{notes}</div>' if notes else ""

    def _blocks(self, blocks: tuple[Block, ...]) -> str:
        return "".join(self.block(block) for block in blocks)

    def _element(self, tag: str, runs: Runs, attributes: str = "") -> str:
        return f"<{tag}{attributes}{_direction(plain(runs))}>{self._runs(runs)}</{tag}>"

    def _table(self, table: Table) -> str:
        count = len(table.aligns)
        longest = longest_words(table, self.room(count)) if self.room else [None] * count
        rows = []
        for place, whole in enumerate(table.rows):
            tag = "th" if place < table.heads else "td"
            parts = parted(whole, table, self.room(count), LINES) if self.room else [whole]
            made = ""
            for row in parts:
                cells = (
                    self._element(tag, _broken(cell, words), f' style="text-align:{align}"' if align else "")
                    for cell, align, words in zip(row, table.aligns, longest)
                )
                made += f"<tr>{''.join(cells)}</tr>"
            rows.append(made)
        head, rest = "".join(rows[: table.heads]), "".join(rows[table.heads :])
        opening = '<table class="wide">' if count > WIDE else "<table>"
        return f"{opening}{f'<thead>{head}</thead>' if head else ''}<tbody>{rest}</tbody></table>"

    def _note(self, note: Note) -> str:
        number = f'<a href="#ref-{note.number}">{note.number}</a>'
        below = self.beside(note) if self.beside else ""
        return f'<p class="note" id="note-{note.number}">{number} {self._runs(note_runs(note))}</p>{below}'

    def _runs(self, runs: Runs) -> str:
        return "".join(self._run(run) for run in runs)

    def _run(self, run: Inline) -> str:
        match run:
            case NoteRef():
                place = "" if run.number in self.referred else f' id="ref-{run.number}"'
                self.referred.add(run.number)
                return f'<sup><a{place} href="#note-{run.number}">{run.number}</a></sup>'
            case Break():
                return "<br/>"
        html = escape(run.text)
        looks = (("code", run.code), ("s", run.strike), ("i", run.italic), ("b", run.bold))
        for tag in (tag for tag, given in looks if given):
            html = f"<{tag}>{html}</{tag}>"
        if run.remark:
            html = f'<span class="remark">{html}</span>'
        if run.lack:
            html = f'<span class="lack">{html}</span>'
        return f'<a href="{escape(run.href)}">{html}</a>' if run.href else html


def _broken(runs: Runs, longest: int | None) -> Runs:
    return tuple(replace(run, text=broken(run.text, longest)) if isinstance(run, Text) else run for run in runs)


def _direction(text: str) -> str:
    return ' dir="rtl"' if right_to_left(text) else ""
