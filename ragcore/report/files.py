"""Report files: Word, PDF and Markdown by the writers of `ragcore.export`, HTML with pictures of the cited places,
JSON, and the annex of evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Literal, get_args

from ragcore.errors import GroundworkError, UnknownDocument
from ragcore.export import MEDIA_TYPES as OF_EXPORT
from ragcore.export import writer
from ragcore.types import Box
from ragcore.types import json as wire

if TYPE_CHECKING:
    from ragcore.export.evidence import Sheet, Sheets
    from ragcore.library import Library
    from ragcore.types.report import Report

ReportKind = Literal["md", "docx", "pdf", "html", "json", "annex"]
KINDS: tuple[ReportKind, ...] = get_args(ReportKind)
TEXT_KINDS = KINDS[:-1]
MEDIA_TYPES: dict[ReportKind, str] = {
    "md": OF_EXPORT["md"],
    "docx": OF_EXPORT["docx"],
    "pdf": OF_EXPORT["pdf"],
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "annex": "application/pdf",
}
CROP_DPI = 110.0  # for pictures of cited places in an HTML report
ANNEX_DPI = 120.0  # for pictures of pages in the annex of evidence
MAX_PIXELS = 6_000_000  # per picture


def write(library: Library, report: Report, kind: ReportKind) -> bytes:
    """``report`` as a file of the given kind."""
    if kind == "json":
        return (json.dumps(wire.report(report), ensure_ascii=False, indent=2) + "\n").encode()
    from ragcore.export.manuscripts import of_report

    settings = library.settings.export
    files = {info.doc_id: info.name for info in library.documents()}
    made = of_report(report, files, quote_length=settings.quote_length)
    if kind == "html":
        from ragcore.export.evidence import write_page

        with _sheets(library, CROP_DPI) as sheets:
            return write_page(made, sheets)
    if kind == "annex":
        from ragcore.export.evidence import write_annex

        with _sheets(library, ANNEX_DPI) as sheets:
            return write_annex(made, sheets, settings)
    return writer(kind)(made, settings)


@contextmanager
def _sheets(library: Library, dpi: float) -> Iterator[Sheets]:
    """Renderer of parts of pages, with one child process per document while the block runs. A page that cannot be drawn
    gives the reason instead."""
    from ragcore.export.evidence import Sheet, part
    from ragcore.ingest.process import Child

    with ExitStack() as stack:
        children: dict[str, Child] = {}

        def draw(doc_id: str, page: int, places: Sequence[Box]) -> Sheet | str:
            try:
                shown = library.document(doc_id).pages[page - 1]
                box = part(page, shown.width, shown.height, places)
                if doc_id not in children:
                    name = library.document(doc_id).name
                    opened = Child(library.file(doc_id), library.settings.ingest, name=name)
                    children[doc_id] = stack.enter_context(closing(opened))
                crop = children[doc_id].crop(box, dpi=dpi, max_pixels=MAX_PIXELS)
            except UnknownDocument:
                return "The document is no longer in the library."
            except GroundworkError as error:
                return f"The page couldn't be drawn: {error.message}"
            return Sheet(crop.png, crop.width, crop.height, box)

        yield draw
