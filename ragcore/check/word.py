"""Word files by passages: the paragraphs and table cells of a file in reading order, each character with the run that
prints it, so that a mark lands at the exact words and all else stays as it is.

Tracked insertions are text, deletions are not; nor are tables of contents, headers and footers.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import qn

from ragcore.export.characters import clean
from ragcore.types.check import BlockKind

TEXT, RUN, PARAGRAPH, TABLE, FOOTNOTE = map(qn, ("w:t", "w:r", "w:p", "w:tbl", "w:footnote"))
VALUE, SPACE = qn("w:val"), "{http://www.w3.org/XML/1998/namespace}space"
_BLANKS = {qn(f"w:{name}") for name in ("tab", "br", "cr", "ptab")}
_HYPHEN = qn("w:noBreakHyphen")
# What holds text, or blocks, of a file with all changes accepted.
_HOLDERS = {
    qn(f"w:{name}")
    for name in "hyperlink ins moveTo smartTag sdt sdtContent fldSimple customXml bdo dir".split()  # noqa: SIM905
}
_ONE_BLANK = dict.fromkeys(map(ord, "\t\n\r\x0b\x0c\x85\u2028\u2029"), " ")
_BODY = 9  # outline level of text that is no heading
_WIDEST = 63  # columns of a table in Word
_DEEPEST = 20  # styles that one may be based on


@dataclass(frozen=True, slots=True)
class Spot:
    """Characters of a passage and the element of a run that prints them; None between two paragraphs of a cell."""

    element: Any
    text: str


@dataclass(slots=True)
class Passage:
    """Paragraph or table cell (`ragcore.types.check.Block` has the fields); ``foot`` is the mark in the text of the
    footnote that it is of, ``box``: of a text box."""

    kind: BlockKind
    spots: list[Spot] = field(default_factory=list)
    level: int = 0
    table: int = -1
    row: int = 0
    col: int = 0
    header: bool = False
    foot: Any = None
    box: bool = False

    @property
    def text(self) -> str:
        return "".join(spot.text for spot in self.spots)

    def runs(self, start: int, end: int) -> list[Any]:
        """Runs that print exactly ``text[start:end]``; those that print more are split."""
        for at in (start, end):
            self._cut(at)
        found, place = list[Any](), 0
        for spot in self.spots:
            if start <= place and place + len(spot.text) <= end and spot.text and spot.element is not None:
                run = spot.element.getparent()
                if not found or found[-1] is not run:
                    found.append(run)
            place += len(spot.text)
        return found

    def _cut(self, at: int) -> None:
        """Let no run print characters on both sides of ``at``."""
        place = 0
        for n, spot in enumerate(self.spots):
            end = place + len(spot.text)
            if place < at < end and spot.element is not None:
                rest = deepcopy(spot.element)
                spot.element.text, rest.text = spot.text[: at - place], spot.text[at - place :]
                for part in (spot.element, rest):
                    part.set(SPACE, "preserve")
                spot.element.addnext(rest)
                self.spots[n : n + 1] = [Spot(spot.element, spot.element.text), Spot(rest, rest.text)]
                _split_run(rest)
                return
            before = self.spots[n - 1].element if n else None
            if place == at and spot.element is not None and before is not None:
                if spot.element.getparent() is before.getparent():
                    _split_run(spot.element)
                return
            place = end


def _split_run(first: Any) -> None:
    """Split a run before its element ``first``."""
    run = first.getparent()
    rest = run.makeelement(RUN)
    look = run.find(qn("w:rPr"))
    moved = [first, *first.itersiblings()]
    if look is not None:
        rest.append(deepcopy(look))
    for element in moved:
        rest.append(element)
    run.addnext(rest)


class WordFile:
    """Word file, opened: its python-docx ``document``, its ``passages`` with text, and the root and part of its
    ``footnotes`` (None without any). Raises what python-docx raises for a file that is none."""

    def __init__(self, data: bytes) -> None:
        self.document = docx.Document(io.BytesIO(data))
        relations = self.document.part.rels.values()
        self.footnotes_part = next((r.target_part for r in relations if r.reltype == RELATIONSHIP_TYPE.FOOTNOTES), None)
        self.footnotes = None if self.footnotes_part is None else parse_xml(self.footnotes_part.blob)
        found = self.document.styles.element.iter(qn("w:style"))
        self._styles = {style.get(qn("w:styleId")): style for style in found}
        self._tables = 0
        body = self._flow(self.document.element.body)
        self.passages = [each for each in (*body, *self._notes()) if each.text.strip()]

    def style_id(self, name: str) -> str:
        """Id of the style with an English ``name`` in lower case, "" if the file has none."""
        named = ((style.find(qn("w:name")), key) for key, style in self._styles.items())
        return next((str(key) for found, key in named if found is not None and found.get(VALUE).lower() == name), "")

    def _notes(self) -> Iterator[Passage]:
        """Passages of the footnotes, in the order of their references."""
        if self.footnotes is None:
            return
        notes = {note.get(qn("w:id")): note for note in self.footnotes.iter(FOOTNOTE) if not note.get(qn("w:type"))}
        for reference in self.document.element.body.iter(qn("w:footnoteReference")):
            note = notes.pop(reference.get(qn("w:id")), None)
            for passage in () if note is None else self._flow(note):
                passage.foot = reference
                yield passage

    def _flow(self, parent: Any) -> Iterator[Passage]:
        for child in parent:
            if child.tag == PARAGRAPH:
                yield from self._paragraph(child)
            elif child.tag == TABLE:
                yield from self._table(child)
            elif child.tag in _HOLDERS:
                yield from self._flow(child)

    def _paragraph(self, paragraph: Any) -> Iterator[Passage]:
        name = self._style(paragraph)
        if not name.startswith("toc "):
            outline, listed = self._property(paragraph, "w:outlineLvl"), self._property(paragraph, "w:numPr/w:numId")
            spots = list(_spots(paragraph))
            if name == "title":
                yield Passage("heading", spots, 1)
            elif outline.isdecimal() and int(outline) < _BODY:
                yield Passage("heading", spots, int(outline) + 1)
            elif listed not in ("", "0"):
                depth = self._property(paragraph, "w:numPr/w:ilvl")
                yield Passage("item", spots, int(depth) + 1 if depth.isdecimal() else 1)
            else:
                yield Passage("code" if name == "source code" else "paragraph", spots)
        for box in paragraph.iter(qn("w:txbxContent")):
            # A text box is there twice, the second time for programs of before 2010.
            if not any(above.tag.endswith("}Fallback") for above in box.iterancestors()):
                for passage in self._flow(box):
                    passage.box = True
                    yield passage

    def _style(self, paragraph: Any) -> str:
        """Name of a paragraph's style, which is English in Word files of any language."""
        own = paragraph.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        style = None if own is None else self._styles.get(own.get(VALUE))
        name = None if style is None else style.find(qn("w:name"))
        return "" if name is None else str(name.get(VALUE)).lower()

    def _property(self, paragraph: Any, path: str) -> str:
        """Value of a property of a paragraph, its own or that of its style; "" if it has none."""
        where, holder = "/".join(map(qn, path.split("/"))), paragraph
        for _ in range(_DEEPEST):
            properties = holder.find(qn("w:pPr"))
            found = None if properties is None else properties.find(where)
            if found is not None:
                return str(found.get(VALUE))
            link = holder.find(qn("w:basedOn")) if holder is not paragraph else holder.find("./*/" + qn("w:pStyle"))
            holder = None if link is None else self._styles.get(link.get(VALUE))
            if holder is None:
                break
        return ""

    def _table(self, table: Any) -> Iterator[Passage]:
        """Cells of a table by row, then what tables are in each; the text of a table of one column is no table."""
        rows = [row for row in _inner(table, qn("w:tr")) if row.find(f"{qn('w:trPr')}/{qn('w:del')}") is None]
        cells = [[each for each in _cells(row) if not each[1]] for row in rows]
        if all(len(row) <= 1 for row in cells):
            for row in cells:
                for cell, _, _ in row:
                    yield from self._flow(cell)
            return
        number = self._tables
        self._tables += 1
        for n, (row, own) in enumerate(zip(rows, cells)):
            header = row.find(f"{qn('w:trPr')}/{qn('w:tblHeader')}") is not None
            for cell, _, column in own:
                spots = list[Spot]()
                for paragraph in _inner(cell, PARAGRAPH):
                    spots += [Spot(None, " ")] * bool(spots) + list(_spots(paragraph))
                yield Passage("cell", spots, table=number, row=n, col=column, header=header)
                for within in _inner(cell, TABLE):
                    yield from self._table(within)


def _inner(parent: Any, tag: str) -> Iterator[Any]:
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in _HOLDERS:
            yield from _inner(child, tag)


def _cells(row: Any) -> Iterator[tuple[Any, bool, int]]:
    """Cells of a row, whether each goes on with the one above it, and its column."""
    before = row.find(f"{qn('w:trPr')}/{qn('w:gridBefore')}")
    column = 0 if before is None else min(int(before.get(VALUE)), _WIDEST)
    for cell in _inner(row, qn("w:tc")):
        look = cell.find(qn("w:tcPr"))
        merged = None if look is None else look.find(qn("w:vMerge"))
        wide = None if look is None else look.find(qn("w:gridSpan"))
        yield cell, merged is not None and merged.get(VALUE) != "restart", column
        column += 1 if wide is None else min(int(wide.get(VALUE)), _WIDEST)


def _spots(parent: Any) -> Iterator[Spot]:
    for child in parent:
        if child.tag == TEXT:
            if child.get(SPACE) != "preserve":
                child.text = (child.text or "").strip()
            yield Spot(child, clean((child.text or "").translate(_ONE_BLANK)).replace("\xad", ""))
        elif child.tag in _BLANKS:
            yield Spot(child, " ")
        elif child.tag == _HYPHEN:
            yield Spot(child, "-")
        elif child.tag == RUN or child.tag in _HOLDERS:
            yield from _spots(child)
