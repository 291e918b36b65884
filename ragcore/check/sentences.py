"""Sentences of a draft that are checked: the sentences of its paragraphs and list items, and the figures of its
tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ragcore.text import lexicon as lex
from ragcore.text.numbers import SCALE_NAMES, numbers, scale_note
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import tokens
from ragcore.types.check import Block, Draft


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
    tables = table_labels(draft)
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


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels in a table of a draft: of each row, and of each column from the top; those of the first column are its
    corners."""

    rows: dict[int, str] = field(default_factory=dict)
    columns: dict[int, list[str]] = field(default_factory=dict)

    def nearest(self, cell: Block) -> tuple[str, ...]:
        """Labels of the row of ``cell``, and of its column the lowest."""
        return self.rows.get(cell.row, ""), *self.columns.get(cell.col, ())[-1:]


def table_labels(draft: Draft) -> dict[int, Labels]:
    """Labels in each table of ``draft``."""
    out: dict[int, Labels] = {}
    for cell in (block for block in draft.blocks if block.kind == "cell"):
        labels, text = out.setdefault(cell.table, Labels()), draft.text[cell.start : cell.end]
        if cell.header:
            labels.columns.setdefault(cell.col, []).append(text)
        elif cell.col == 0:
            labels.rows.setdefault(cell.row, text)
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
        return [f"{cell.text} {SCALE_NAMES[named]}" if named in SCALE_NAMES else cell.text]
    return [cell.text, *(f"{cell.text} {scale}" for scale in SCALE_NAMES.values())]


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


def _cell(draft: Draft, cell: Block, labels: Labels, headings: tuple[str, ...]) -> Iterator[Checkable]:
    """A body cell with a figure, below its labels."""
    text = draft.text[cell.start : cell.end]
    if not cell.header and cell.col > 0 and any(character.isdigit() for character in text):
        context = " · ".join(filter(None, (labels.rows.get(cell.row), *labels.columns.get(cell.col, ()))))
        yield Checkable(text, cell.start, cell.end, context, (*headings, *labels.columns.get(0, ())), "", cell.place)
