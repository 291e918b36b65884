"""Electronic books (EPUB) set on pages by MuPDF, with the chapter of each page. Runs in the child process only."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

import pymupdf
from lxml import etree

from ragcore.errors import DamagedFile, EncryptedFile, NoText, TooManyPages
from ragcore.ingest.convert.kinds import DAMAGED, decoded, open_archive
from ragcore.ingest.convert.markup import clean_html
from ragcore.ingest.convert.story_pages import letters
from ragcore.protocols import Converted
from ragcore.types.library import FileKind

PAPER = (595.0, 842.0)
TYPE_SIZE = 11.0
# Rules make a table one that is seen as such.
_CSS = "table { border-collapse: collapse; } td, th { border: 0.7px solid #999; padding: 3px 5px; }"
_OF_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_CONTAINER, _ENCRYPTED = "META-INF/container.xml", "META-INF/encryption.xml"
_PDF = "Convert it to PDF, and add that."
MOST_MISSING = 0.05  # of the letters of all chapters: more is a book that was not understood
MOST_LABEL = 80  # characters of a chapter's name


def draw_book(data: bytes, name: str, _kind: FileKind, most_pages: int) -> Converted:
    """Pages of an EPUB; its table of contents becomes the outline. Raises `DamagedFile`, `EncryptedFile`,
    `FileTooLarge`, `NoText`, `TooManyPages`."""
    with open_archive(data, name) as archive:
        try:
            chapters = list(_chapters(archive, name))
        except DAMAGED as error:
            raise DamagedFile(f"{name} is damaged: its chapters can't be found.", hint=_PDF) from error
    try:
        document, title = _set(data, name, most_pages)
    except pymupdf.mupdf.FzErrorBase as error:
        raise DamagedFile(f"{name} is damaged: a chapter of it can't be read.", hint=_PDF) from error
    shown = letters("".join(page.get_text() for page in document))
    if not shown and not any(page.get_images() for page in document):
        raise NoText(f"{name} has no text.", hint="Add a file with text.")
    wanted = letters("".join(chapters))
    lost = (wanted - shown).total()
    if lost > MOST_MISSING * wanted.total():
        raise DamagedFile(f"{name} can't be set on pages: {lost:,} of its letters would be lost.", hint=_PDF)
    notes = (f"{lost} letters are hidden, or could not be set on the pages.",) if lost else ()
    return Converted(document, notes, title, cover=not title, places=_places(document))


def _set(data: bytes, name: str, most_pages: int) -> tuple[Any, str]:
    """Pages of a book, and its title."""
    pymupdf.mupdf.fz_set_user_css(_CSS)
    try:
        with pymupdf.open(stream=data, filetype="epub") as book:
            book.layout(width=PAPER[0], height=PAPER[1], fontsize=TYPE_SIZE)
            if book.page_count > most_pages:
                raise TooManyPages(f"{name} has more than {most_pages} pages; that is the limit.")
            contents, title = book.get_toc(), str((book.metadata or {}).get("title") or "")
            made = pymupdf.open("pdf", book.convert_to_pdf())
    finally:
        pymupdf.mupdf.fz_set_user_css(None)
    outline: list[list[Any]] = []
    for level, text, page, *_ in contents:
        if 1 <= page <= made.page_count and text.strip():
            outline.append([min(level, outline[-1][0] + 1 if outline else 1), " ".join(text.split()), page])
    made.set_toc(outline)
    return made, " ".join(title.split())


def _places(document: Any) -> tuple[str, ...]:
    """Chapter of each page, by the outline's first level."""
    places = [""] * document.page_count
    for level, text, page in document.get_toc():
        if level == 1:
            places[page - 1 :] = [text[:MOST_LABEL]] * (len(places) - page + 1)
    return tuple(places) if any(places) else ()


def _chapters(archive: ZipFile, name: str) -> Iterator[str]:
    """Text of each chapter, in order."""
    names = set(archive.namelist())
    if _ENCRYPTED in names:
        methods = (each.get("Algorithm", "") for each in _tree(archive.read(_ENCRYPTED)).iter("{*}EncryptionMethod"))
        if not set(methods) <= set(_OF_FONTS):
            raise EncryptedFile(f"{name} is protected against copying.", hint="Add a copy without protection.")
    package = next(each.get("full-path") for each in _tree(archive.read(_CONTAINER)).iter("{*}rootfile"))
    root = _tree(archive.read(package))
    items = {each.get("id"): each.get("href", "") for each in root.iter("{*}item")}
    for reference in root.iter("{*}itemref"):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(items[reference.get("idref")])))
        found = decoded(archive.read(path))
        yield clean_html(found[0]).text if found else ""


def _tree(data: bytes) -> Any:
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
