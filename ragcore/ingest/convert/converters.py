"""Converters by kind of file: the original → a PDF whose pages tell where each of their cells stands in it.

They run in the child process only, open nothing but the file itself, and run nothing that is in it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path, PurePath
from typing import Any

import pymupdf

from ragcore.errors import NoText, TooManyPages
from ragcore.files import whole
from ragcore.ingest.convert.book_pages import draw_book
from ragcore.ingest.convert.kinds import CONVERTERS
from ragcore.ingest.convert.known import keep
from ragcore.ingest.convert.mail import read_mail
from ragcore.ingest.convert.markup import CleanMarkup
from ragcore.ingest.convert.office import LibreOffice
from ragcore.ingest.convert.office_parts import Slide, closed, closed_odf, closed_rtf
from ragcore.ingest.convert.picture_pages import draw_pictures
from ragcore.ingest.convert.sheet_pages import draw_sheets
from ragcore.ingest.convert.story_pages import draw_markup, draw_story
from ragcore.ingest.convert.workbook import read_csv, read_xlsx
from ragcore.protocols import Converted, Converter
from ragcore.types.library import FileKind


def convert_sheets(data: bytes, name: str, kind: FileKind, most_pages: int) -> Converted:
    """Workbooks and CSV files: each sheet as ruled pages."""
    book = (read_xlsx if kind == "xlsx" else read_csv)(name, data)
    if not any(row for sheet in book.sheets for row in sheet.rows):
        raise NoText(f"{name} has no cells with contents{' on visible sheets' * (kind == 'xlsx')}.", hint=_EMPTY)
    return Converted(draw_sheets(book, name, most_pages), book.notes, cover=False)


def convert_office(data: bytes, name: str, kind: FileKind, most_pages: int) -> Converted:
    """Other office files, by way of an OpenDocument: pages as LibreOffice sets them, with the notes of a slide behind
    it; of sheets those of `convert_sheets`."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        office = LibreOffice(Path(folder), name)
        if kind in ("docx", "pptx"):
            data = closed(data, name)
        elif kind == "rtf":
            data = closed_rtf(data)
        if (steps := _STEPS[kind]) != kind:
            data = office.convert(data, kind, steps)
        if steps == "xlsx":
            return convert_sheets(data, name, "xlsx", most_pages)
        odf = closed_odf(data, name)
        if kind == "ods":
            made = convert_sheets(office.convert(odf.data, kind, "xlsx"), name, "xlsx", most_pages)
            return replace(made, notes=(*odf.notes, *made.notes))
        pages = pymupdf.open("pdf", office.convert(odf.data, steps, "pdf"))
    if pages.page_count > most_pages:
        raise TooManyPages(f"{name} has more than {most_pages} pages; that is the limit.")
    if not any(page.get_text().strip() or page.get_images() for page in pages):
        raise NoText(f"{name} has no text.", hint="Add a file with text.")
    places = _with_notes(pages, odf.slides, name, most_pages) if odf.slides else ()
    title, furniture = odf.title or odf.property_title, odf.furniture if steps == "odt" else None
    return Converted(pages, odf.notes, title, not odf.title, places, furniture)


def _with_notes(pages: Any, slides: Sequence[Slide], name: str, most_pages: int) -> tuple[str, ...]:
    """Put the notes of each slide behind its page; return the place of each page."""
    places: list[str] = []
    for slide in slides:
        places.append(f"slide {slide.number}")
        if slide.notes:
            text = "".join(f"<p>{escape(each)}</p>" for each in slide.notes)
            made = draw_markup(CleanMarkup(f"<h3>Notes on slide {slide.number}</h3>{text}"), name, most_pages)
            pages.insert_pdf(made.pages, start_at=len(places))
            places += [f"slide {slide.number}, notes"] * made.pages.page_count
    return tuple(places)


def convert_mail(data: bytes, name: str, kind: FileKind, most_pages: int) -> Converted:
    """Messages: head and text as flowing pages."""
    mail = read_mail(data, name, kind)
    return draw_markup(mail.markup, name, most_pages, mail.notes)


# What LibreOffice makes first of a file of each kind.
_STEPS: dict[FileKind, str] = {
    **dict.fromkeys(("docx", "doc", "rtf", "odt"), "odt"),
    **dict.fromkeys(("pptx", "ppt", "odp"), "odp"),
    "xls": "xlsx",
    "ods": "ods",
}
_EMPTY = "Add a file with contents."
CONVERTING: dict[FileKind, Converter] = {
    **dict.fromkeys(("xlsx", "csv"), convert_sheets),
    **dict.fromkeys(("md", "html", "txt"), draw_story),
    **dict.fromkeys(_STEPS, convert_office),
    **dict.fromkeys(("eml", "msg"), convert_mail),
    "epub": draw_book,
    **dict.fromkeys(("png", "jpeg", "tiff", "webp"), draw_pictures),
}


def convert(source: Path, target: Path, kind: FileKind, name: str, most_pages: int) -> None:
    """Write the pages of ``source``, a file of this ``kind``, to ``target``, atomically. Raises what its converter
    raises."""
    made = CONVERTING[kind](source.read_bytes(), name, kind, most_pages)
    document: Any = made.pages
    told = {name: getattr(made, name) for name in ("notes", "cover", "places", "furniture")}
    keep(document, converter=CONVERTERS[kind], **told)
    document.set_metadata({"title": made.title or PurePath(name).stem, "producer": "Groundwork"})
    with whole(target) as part:
        document.save(str(part), garbage=1, deflate=True)
