"""Converters by kind of file: the original → a PDF whose pages tell where each of their cells stands in it.

They run in the child process only, open nothing but the file itself, and run nothing that is in it.
"""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

from ragcore.errors import NoText
from ragcore.files import whole
from ragcore.ingest.convert.kinds import CONVERTERS
from ragcore.ingest.convert.known import keep
from ragcore.ingest.convert.sheet_pages import draw_sheets
from ragcore.ingest.convert.story_pages import draw_story
from ragcore.ingest.convert.workbook import read_csv, read_xlsx
from ragcore.protocols import Converted, Converter
from ragcore.types.library import FileKind


class SheetConverter:
    """`Converter` of workbooks and CSV files: each sheet as ruled pages."""

    kinds: tuple[FileKind, ...] = ("xlsx", "csv")

    def convert(self, data: bytes, name: str, kind: FileKind, most_pages: int) -> Converted:
        book = (read_xlsx if kind == "xlsx" else read_csv)(name, data)
        if not any(row for sheet in book.sheets for row in sheet.rows):
            raise NoText(f"{name} has no cells with contents{' on visible sheets' * (kind == 'xlsx')}.", hint=_EMPTY)
        return Converted(draw_sheets(book, name, most_pages), book.notes, cover=False)


class StoryConverter:
    """`Converter` of Markdown, HTML and text: flowing pages."""

    kinds: tuple[FileKind, ...] = ("md", "html", "txt")

    def convert(self, data: bytes, name: str, kind: FileKind, most_pages: int) -> Converted:
        return draw_story(data, name, kind, most_pages)


_EMPTY = "Add a file with contents."
CONVERTING: tuple[Converter, ...] = (SheetConverter(), StoryConverter())


def convert(source: Path, target: Path, kind: FileKind, name: str, most_pages: int) -> None:
    """Write the pages of ``source``, a file of this ``kind``, to ``target``, atomically. Raises what its converter
    raises."""
    converter = next(each for each in CONVERTING if kind in each.kinds)
    made = converter.convert(source.read_bytes(), name, kind, most_pages)
    document: Any = made.pages
    keep(document, converter=CONVERTERS[kind], notes=made.notes, cover=made.cover)
    document.set_metadata({"title": made.title or PurePath(name).stem, "producer": "Groundwork"})
    with whole(target) as part:
        document.save(str(part), garbage=1, deflate=True)
