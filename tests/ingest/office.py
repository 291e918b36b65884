"""Office files of known words, and the same in other formats."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from tests.check.files import archive, parts, saved
from tests.export.office import converted

needs_office = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not installed")
CELLS = ["Well", "May", "June", "Orchard Lane", "61.4", "58.2", "Mill Bridge", "11.6", "12.1"]


@cache
def letter() -> bytes:
    """A Word file: two levels of headings, a table, a footer, a stored field, and a deletion, a comment and hidden
    words, which no reader sees."""
    made = docx.Document()
    made.add_heading("Wells of the valley", 0)
    made.add_heading("Method", 1)
    paragraph = made.add_paragraph("Samples were taken on ")
    for part in (
        '<w:fldSimple {} w:instr=" DATE "><w:r><w:t>3 March 2020</w:t></w:r></w:fldSimple>',
        '<w:del {} w:id="7" w:author="A"><w:r><w:delText> in haste</w:delText></w:r></w:del>',
        '<w:ins {} w:id="8" w:author="A"><w:r><w:t xml:space="preserve"> with care</w:t></w:r></w:ins>',
    ):
        paragraph._p.append(parse_xml(part.format(nsdecls("w"))))
    paragraph.add_run(" by two crews.")
    paragraph.add_run(" Nobody reads this.").font.hidden = True
    made.add_comment(paragraph.runs, text="Which crews?", author="B")
    made.add_heading("Results", 1)
    made.add_heading("Nitrate", 2)
    made.add_paragraph("Nitrate was highest at Orchard Lane, far above the limit of the valley.")
    table = made.add_table(3, 3, style="Table Grid")
    for cell, text in zip((cell for row in table.rows for cell in row.cells), CELLS):
        cell.text = text
    made.add_paragraph("The table shows both months.")
    made.sections[0].footer.paragraphs[0].text = "Valley board"
    return saved(made)


NOTES = ("Measured by the second crew.", "Elm was read by hand.")
END_NOTE = "In May and in October of each year."


@cache
def noted() -> bytes:
    """A Word file with a header, two footnotes, the second in a table, and an endnote."""
    made = docx.Document()
    made.sections[0].header.paragraphs[0].text = "Valley board, page 1"
    made.add_heading("Wells of the valley", 0)
    made.add_paragraph("Nitrate was highest at Orchard Lane.[footnote 2] The board met twice.[endnote 2] It is calm.")
    table = made.add_table(2, 2, style="Table Grid")
    for cell, text in zip(
        (cell for row in table.rows for cell in row.cells), ("Well", "May", "Elm", "7.2[footnote 3]")
    ):
        cell.text = text
    made.add_paragraph("These are its last words.")
    files = parts(saved(made))
    body, types, links = (files[name].decode() for name in _PLACES)
    for kind, notes in (("footnote", NOTES), ("endnote", (END_NOTE,))):
        for number in range(2, 2 + len(notes)):
            mark = f'</w:t></w:r><w:r><w:{kind}Reference w:id="{number}"/></w:r><w:r><w:t xml:space="preserve">'
            body = body.replace(f"[{kind} {number}]", mark)
        told = "".join(
            f'<w:{kind} w:id="{n}"><w:p><w:r><w:{kind}Ref/></w:r><w:r><w:t xml:space="preserve"> {note}</w:t></w:r>'
            f"</w:p></w:{kind}>"
            for n, note in enumerate(notes, start=2)
        )
        lines = "".join(
            f'<w:{kind} w:type="{which}" w:id="{n}"><w:p><w:r><w:{which}/></w:r></w:p></w:{kind}>'
            for n, which in enumerate(("separator", "continuationSeparator"))
        )
        files[f"word/{kind}s.xml"] = f"<w:{kind}s {nsdecls('w')}>{lines}{told}</w:{kind}s>".encode()
        types = types.replace(
            "</Types>",
            f'<Override PartName="/word/{kind}s.xml" ContentType="application/vnd.openxmlformats-officedocument.'
            f'wordprocessingml.{kind}s+xml"/></Types>',
        )
        links = links.replace(
            "</Relationships>",
            f'<Relationship Id="{kind}s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
            f'{kind}s" Target="{kind}s.xml"/></Relationships>',
        )
    return archive(files | dict(zip(_PLACES, (body.encode(), types.encode(), links.encode()))))


_PLACES = ("word/document.xml", "[Content_Types].xml", "word/_rels/document.xml.rels")


@cache
def talk() -> bytes:
    """A PowerPoint file of four slides; the second is hidden, the third has notes."""
    made = pptx.Presentation()
    for number, (title, line) in enumerate(
        [
            ("Water of the valley", "It is measured twice a year."),
            ("Not yet decided", "The board meets in autumn."),
            ("Nitrate by well", "Orchard Lane had 61.4 mg/l in May."),
            ("Next steps", "Two wells are deepened."),
        ],
        start=1,
    ):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, line
        if number == 2:
            slide._element.set("show", "0")
        if number == 3:
            slide.notes_slide.notes_text_frame.text = "The limit is 50 mg/l.\nSay this slowly."
    return saved(made)


@cache
def sheets() -> bytes:
    """An Excel file with a formatted figure, and a hidden sheet."""
    made = openpyxl.Workbook()
    made.active.title = "Readings"
    for row in (["Well", "May"], ["Mill Bridge", 1111.25], ["Elm", 7.2]):
        made.active.append(row)
    made.active["B2"].number_format = "#,##0.00"
    made.create_sheet("Draft").append(["Well", "x"])
    made["Draft"].sheet_state = "hidden"
    return saved(made)


@cache
def office_file(kind: str) -> bytes:
    """`letter`, `talk` or `sheets` as a file of this kind."""
    by = {"letter": (letter, "docx"), "talk": (talk, "pptx"), "sheets": (sheets, "xlsx")}
    make, own = by["sheets" if kind in ("xls", "ods") else "talk" if kind in ("pptx", "ppt", "odp") else "letter"]
    if kind == own:
        return make()
    with tempfile.TemporaryDirectory() as folder:
        return converted(make(), Path(folder), own, kind)
