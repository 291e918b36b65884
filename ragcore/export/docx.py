"""Manuscript → a Word document (Office Open XML, ECMA-376) with real footnotes, by python-docx.

python-docx has no footnotes, and its lists cannot begin anew: those parts are written as XML here and in
`ragcore.export.docx_parts`. Elements inside ``w:pPr`` and ``w:rPr`` stand in the order of the schema, which Word asks.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ragcore.config.settings import ExportSettings
from ragcore.export.characters import right_to_left
from ragcore.export.columns import WIDE, widths
from ragcore.export.docx_parts import (
    CODE,
    HYPERLINK,
    LACK,
    NOTE_REFERENCE,
    REMARK,
    TEXT_WIDTH,
    Footnotes,
    Lists,
    element,
    field,
    prepared,
)
from ragcore.export.model import (
    Align,
    Block,
    Break,
    Code,
    Heading,
    Items,
    Manuscript,
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

CHARACTER, WIDE_CHARACTER = 105, 82  # twentieths of a point that a character of a table takes
STEP = 360  # twentieths of a point by which a list or quote is indented
LONGEST_PROPERTY = 255  # characters that python-docx takes, after Word
EPOCH = (1980, 1, 1, 0, 0, 0)  # a zip's first moment, for every file in it
STYLES = {"body": "BodyText", "about": "About", "notice": "Notice"}


def write(manuscript: Manuscript, settings: ExportSettings) -> bytes:
    """A .docx: styled headings, footnotes (a note that is referred to again is not repeated but cross-referenced),
    header rows that go on over pages, page numbers, title, date and language; no author."""
    document = prepared(manuscript.language, settings.paper)
    maker = _Maker(document, manuscript)
    maker.paragraph((Text(manuscript.title),), _Place(style="Title"))
    for block in manuscript.blocks:
        maker.block(block, _Place())
    maker.footnotes.attach(document)
    about = document.core_properties
    about.title, about.language = manuscript.title[:LONGEST_PROPERTY], manuscript.language
    moment = datetime.fromtimestamp(manuscript.written, UTC).replace(tzinfo=None)
    about.created = about.modified = moment
    if not manuscript.written:
        for dated in about._element.xpath("dcterms:created | dcterms:modified"):
            dated.getparent().remove(dated)
    about.author = about.last_modified_by = about.comments = about.keywords = about.subject = about.category = ""
    about.revision = 1
    out = io.BytesIO()
    document.save(out)
    return _undated(out.getvalue())


def _undated(data: bytes) -> bytes:
    """The same zip without the time at which it was made, so that the same manuscript gives the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, old.read(name))
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a block stands: ``indent`` in twentieths of a point, the paragraph style that its place gives it, and for
    the first paragraph of a list's item ``numbering`` (its list and level)."""

    indent: int = 0
    style: str = ""
    level: int = 0
    numbering: tuple[int, int] | None = None


class _Maker:
    """Appends to a document's body; elements are made by hand where python-docx is slow or has none."""

    def __init__(self, document: Any, manuscript: Manuscript) -> None:
        self.part = document.part
        self.end = document.element.body.sectPr  # the section's properties stay last
        self.lists = Lists(document)
        self.footnotes = Footnotes()
        self.notes = {note.number: note for note in manuscript.notes}

    def block(self, block: Block, place: _Place) -> None:
        match block:
            case Heading():
                self.paragraph(block.runs, replace(place, style=f"Heading{min(block.level, 6)}"))
            case Paragraph():
                self.paragraph(block.runs, replace(place, style=place.style or STYLES[block.role]))
            case Items():
                self._list(block, place)
            case Table():
                self._table(block, place)
            case Quote():
                inner = _Place(place.indent + STEP, "Quote", place.level)
                for part in block.blocks:
                    self.block(part, inner)
            case Code():
                lines = [run for line in block.text.split("\n") for run in (Break(), Text(line))][1:]
                self.paragraph(tuple(lines), replace(place, style="Code"))
            case Rule():
                self.paragraph((), replace(place, style="Rule"))
            case Notes():
                pass  # they stand at the foot of the pages

    def paragraph(self, runs: Runs, place: _Place) -> None:
        self._append(self._paragraph(runs, place))

    def _append(self, made: Any) -> None:
        self.end.addprevious(made)

    def _paragraph(self, runs: Runs, place: _Place, align: str = "") -> Any:
        rtl = right_to_left(plain(runs))
        made = element("w:p")
        properties = element("w:pPr")
        if place.style:
            properties.append(element("w:pStyle", val=place.style))
        if place.numbering:
            number, level = place.numbering
            listed = element("w:numPr")
            listed.extend((element("w:ilvl", val=level), element("w:numId", val=number)))
            properties.append(listed)
        if rtl:
            properties.append(element("w:bidi"))
        if place.numbering:
            properties.append(element("w:ind", left=place.indent, hanging=STEP))
        elif place.indent:
            properties.append(element("w:ind", left=place.indent))
        if align:
            properties.append(element("w:jc", val=align))
        if len(properties):
            made.append(properties)
        for run in runs:
            match run:
                case NoteRef():
                    made.extend(self._reference(run.number))
                case Break():
                    made.append(_broken())
                case Text():
                    made.append(self._linked(run, rtl) if run.href else text_run(run, rtl))
        return made

    def _reference(self, number: int) -> list[Any]:
        """The number of a footnote, or where that was made already a cross-reference to it."""
        if self.footnotes.add(number, self._note_text(number)):
            return self.footnotes.reference(number)
        return field(f"NOTEREF {self.footnotes.bookmark(number)} \\f \\h", str(number), NOTE_REFERENCE)

    def _note_text(self, number: int) -> list[Any]:
        runs = note_runs(self.notes[number])
        return [text_run(run, rtl=False) for run in runs if isinstance(run, Text)]

    def _linked(self, run: Text, rtl: bool) -> Any:
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.oxml.ns import qn

        link = element("w:hyperlink", history=1)
        link.set(qn("r:id"), self.part.relate_to(run.href, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
        link.append(text_run(run, rtl))
        return link

    def _list(self, block: Items, place: _Place) -> None:
        number = self.lists.number(block.start, place.level)
        inner = _Place(place.indent + STEP, place.style, place.level + 1)
        for item in block.items:
            first = item[0] if item and isinstance(item[0], Paragraph) else None
            lead = replace(inner, numbering=(number, min(place.level, Lists.DEEPEST)))
            self.paragraph(first.runs if first else (), replace(lead, style=place.style or "ListParagraph"))
            for part in item[1:] if first else item:
                self.block(part, inner if isinstance(part, Items) or place.style else replace(inner, style=""))

    def _table(self, block: Table, place: _Place) -> None:
        character = WIDE_CHARACTER if len(block.aligns) > WIDE else CHARACTER
        across = [count * character for count in widths(block, (TEXT_WIDTH - place.indent) // character)]
        made = element("w:tbl")
        properties = element("w:tblPr")
        properties.extend((element("w:tblStyle", val="TableGrid"), element("w:tblW", w=sum(across), type="dxa")))
        if place.indent:
            properties.append(element("w:tblInd", w=place.indent, type="dxa"))
        borders = element("w:tblBorders")
        sides = ("top", "left", "bottom", "right", "insideH", "insideV")
        borders.extend(element(f"w:{side}", val="single", sz=4, space=0, color="999999") for side in sides)
        margins = element("w:tblCellMar")
        room = {"top": 30, "left": 90, "bottom": 30, "right": 90}
        margins.extend(element(f"w:{side}", w=width, type="dxa") for side, width in room.items())
        properties.extend((borders, margins, element("w:tblLook", val="0420")))
        grid = element("w:tblGrid")
        grid.extend(element("w:gridCol", w=width) for width in across)
        made.extend((properties, grid))
        for index, row in enumerate(block.rows):
            made.append(self._row(row, block.aligns, across, head=index < block.heads))
        self._append(made)
        self.paragraph((), replace(place, style="AfterTable", numbering=None))  # two tables in a row would be one

    def _row(self, row: tuple[Runs, ...], aligns: Sequence[Align], across: Sequence[int], *, head: bool) -> Any:
        made = element("w:tr")
        properties = element("w:trPr")
        properties.append(element("w:cantSplit"))
        if head:
            properties.append(element("w:tblHeader"))
        made.append(properties)
        for cell, align, width in zip(row, aligns, across):
            box = element("w:tc")
            about = element("w:tcPr")
            about.append(element("w:tcW", w=width, type="dxa"))
            if head:
                about.append(element("w:shd", val="clear", color="auto", fill="EEEEEE"))
            style = f"Table{'Head' if head else 'Text'}{'Wide' if len(aligns) > WIDE else ''}"
            box.extend((about, self._paragraph(cell, _Place(style=style), align)))
            made.append(box)
        return made


def _broken() -> Any:
    made = element("w:r")
    made.append(element("w:br"))
    return made


def text_run(run: Text, rtl: bool) -> Any:
    """``w:r`` with the words of ``run`` and their look."""
    made = element("w:r")
    look = element("w:rPr")
    style = HYPERLINK if run.href else REMARK if run.remark else LACK if run.lack else CODE if run.code else ""
    if style:
        look.append(element("w:rStyle", val=style))
    names = (("b", run.bold), ("bCs", run.bold), ("i", run.italic), ("iCs", run.italic), ("strike", run.strike))
    look.extend(element(f"w:{name}") for name, given in (*names, ("rtl", rtl)) if given)
    if len(look):
        made.append(look)
    words = element("w:t")
    words.text = run.text
    words.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    made.append(words)
    return made
