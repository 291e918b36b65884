"""Drafts made on the spot: Word and Excel files of known words."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import docx
import openpyxl
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from ragcore.types.check import Draft

Rows = Sequence[Sequence[object]]


def word(*blocks: str | tuple[str, str] | Rows) -> bytes:
    """A Word file of paragraphs, of (style, text), and of tables."""
    made = docx.Document()
    for block in blocks:
        if isinstance(block, str):
            made.add_paragraph(block)
        elif isinstance(block[0], str):
            made.add_paragraph(str(block[1]), str(block[0]))
        else:
            table = made.add_table(len(block), max(map(len, block)))
            for row, cells in zip(table.rows, block):
                for cell, text in zip(row.cells, cells):
                    cell.text = str(text)
    return saved(made)


def tracked() -> bytes:
    """A Word file with a deletion, an insertion and a footnote, in a sentence of several looks."""
    made = docx.Document()
    paragraph = made.add_paragraph("Revenue ")
    paragraph.add_run("rose").bold = True
    for inner in (
        '<w:del {} w:id="7" w:author="A"><w:r><w:delText> sharply</w:delText></w:r></w:del>',
        '<w:ins {} w:id="8" w:author="A"><w:r><w:t xml:space="preserve"> a little</w:t></w:r></w:ins>',
    ):
        paragraph._p.append(parse_xml(inner.format(nsdecls("w"))))
    paragraph.add_run(" in 2024. Costs fell.").italic = True
    return saved(made)


def saved(made: Any) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def book(**sheets: Rows) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    return saved(made)


def parts(data: bytes) -> dict[str, bytes]:
    """Files of a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as given:
        return {name: given.read(name) for name in given.namelist()}


def archive(files: Mapping[str, bytes]) -> bytes:
    """A zip."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return out.getvalue()


def blocks(draft: Draft) -> list[tuple[str, str]]:
    """Kind and text of each block."""
    return [(one.kind, draft.text[one.start : one.end]) for one in draft.blocks]
