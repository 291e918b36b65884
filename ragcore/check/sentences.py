"""Sentences of a draft that are checked: the sentences of its paragraphs and list items, and the figures of its
tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
        return bool(self.context)


def checkable(draft: Draft) -> list[Checkable]:
    """Sentences and body cells of ``draft``, in order."""
    out: list[Checkable] = []
    headings: list[tuple[int, str]] = []
    for block in draft.blocks:
        text = draft.text[block.start : block.end]
        if block.kind == "heading":
            headings = [one for one in headings if one[0] < block.level]
            headings.append((block.level, text))
        elif block.kind == "cell":
            out.extend(_cell(draft, block, tuple(name for _, name in headings)))
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


def revised(sentence: Checkable, text: str) -> Checkable:
    """``sentence`` with another text, at its place."""
    return replace(sentence, text=text)


def _sentences(text: str, block: Block, headings: tuple[str, ...]) -> Iterator[Checkable]:
    before = ""
    for start, end in sentence_spans(text, 0):
        said = text[start:end]
        if any(character.isalnum() for character in said):
            yield Checkable(said, block.start + start, block.start + end, "", headings, before, block.place)
            before = said


def _cell(draft: Draft, cell: Block, headings: tuple[str, ...]) -> Iterator[Checkable]:
    """A body cell with a figure, below its labels."""
    text = draft.text[cell.start : cell.end]
    if cell.header or cell.col == 0 or not any(character.isdigit() for character in text):
        return
    table = [one for one in draft.blocks if one.table == cell.table]
    row = next((one for one in table if one.row == cell.row and one.col == 0), None)
    heads = [one for one in table if one.header and one.col == cell.col]
    labels = [draft.text[one.start : one.end] for one in (row, *heads) if one is not None]
    corners = (draft.text[one.start : one.end] for one in table if one.header and one.col == 0)
    yield Checkable(text, cell.start, cell.end, " · ".join(labels), (*headings, *corners), "", cell.place)
