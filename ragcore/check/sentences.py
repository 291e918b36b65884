"""Sentences of a draft that are checked: the sentences of its paragraphs and list items, and the figures of its
tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ragcore.text import lexicon as lex
from ragcore.text.numbers import numbers, scale_note
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import tokens
from ragcore.types.check import Block, Draft

_SCALES = {1e3: "thousand", 1e6: "million", 1e9: "billion"}


@dataclass(frozen=True, slots=True)
class Checkable:
    """``text`` is the draft's ``[start, end)``. ``context`` holds the labels of a cell (row label, column header), and
    of a sentence its headings; ``before`` is the sentence before it in its paragraph. ``place`` is where the original
    has it."""

    text: str
    start: int
    end: int
    context: str = ""
    headings: tuple[str, ...] = ()
    before: str = ""
    place: str = ""

    @property
    def is_cell(self) -> bool:
        """Whether it is a figure of a table with names for it."""
        return bool(self.context)


def checkable(draft: Draft) -> list[Checkable]:
    """Sentences and body cells of ``draft``, in order."""
    out: list[Checkable] = []
    headings: list[tuple[int, str]] = []
    tables: dict[int, _Labels] = {}
    for block in draft.blocks:
        if block.kind == "cell":
            tables.setdefault(block.table, _Labels()).add(block, draft.text[block.start : block.end])
    for block in draft.blocks:
        text = draft.text[block.start : block.end]
        if block.kind == "heading":
            headings = [one for one in headings if one[0] < block.level]
            headings.append((block.level, text))
        elif block.kind == "cell":
            out.extend(_cell(draft, block, tables[block.table], tuple(name for _, name in headings)))
        elif block.kind != "code":
            out.extend(_sentences(text, block, tuple(name for _, name in headings)))
    return out


def scaled(cell: Checkable) -> list[str]:
    """Figure of ``cell`` as a sentence would tell it: in the scale and per cent of its labels, else in each scale."""
    found = numbers(cell.text)
    labels = " ".join((cell.context, *cell.headings))
    if len(found) != 1 or found[0].scale != 1.0 or found[0].percent or found[0].unit:
        return [cell.text]
    if "%" in cell.context:
        return [f"{cell.text}%"]
    named = scale_note(labels)
    if named is not None:
        return [f"{cell.text} {_SCALES[named]}" if named in _SCALES else cell.text]
    return [cell.text, *(f"{cell.text} {scale}" for scale in _SCALES.values())]


def is_opinion(text: str) -> bool:
    """Whether ``text`` says what its author thinks, wants or asks for, and gives no figure."""
    said = set(tokens(text))
    if text.rstrip().endswith("?"):
        return True
    return not numbers(text) and bool(said & lex.ATTITUDE or (said & lex.SELF and said & lex.OPINIONS))


def _sentences(text: str, block: Block, headings: tuple[str, ...]) -> Iterator[Checkable]:
    before = ""
    for start, end in sentence_spans(text, 0):
        said = text[start:end]
        if any(character.isalnum() for character in said):
            yield Checkable(said, block.start + start, block.start + end, "", headings, before, block.place)
            before = said


@dataclass(slots=True)
class _Labels:
    """Names of a table's rows, by row, of its columns, by column, and its corners."""

    rows: dict[int, str] = field(default_factory=dict)
    columns: dict[int, list[str]] = field(default_factory=dict)
    corners: list[str] = field(default_factory=list)

    def add(self, cell: Block, text: str) -> None:
        if cell.col == 0:
            self.rows.setdefault(cell.row, text)
        if cell.header and cell.col == 0:
            self.corners.append(text)
        elif cell.header:
            self.columns.setdefault(cell.col, []).append(text)


def _cell(draft: Draft, cell: Block, labels: _Labels, headings: tuple[str, ...]) -> Iterator[Checkable]:
    """A body cell with a figure, below its labels."""
    text = draft.text[cell.start : cell.end]
    if not cell.header and cell.col > 0 and any(character.isdigit() for character in text):
        context = " · ".join(filter(None, (labels.rows.get(cell.row), *labels.columns.get(cell.col, ()))))
        yield Checkable(text, cell.start, cell.end, context, (*headings, *labels.corners), "", cell.place)
