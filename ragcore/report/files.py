"""Report files: Word, PDF and Markdown by the writers of `ragcore.export`, HTML with pictures of the cited places,
JSON, and the annex of evidence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, get_args

from ragcore.export import writer
from ragcore.types import json as wire

if TYPE_CHECKING:
    from ragcore.library import Library
    from ragcore.types.report import Report

ReportKind = Literal["md", "docx", "pdf", "html", "json", "annex"]
KINDS: tuple[ReportKind, ...] = get_args(ReportKind)
TEXT_KINDS = KINDS[:-1]
CROP_DPI = 110.0  # for pictures of cited places in an HTML report
ANNEX_DPI = 120.0  # for pictures of pages in the annex of evidence


def write(library: Library, report: Report, kind: ReportKind) -> bytes:
    """``report`` as a file of the given kind."""
    report = library.versions.told(report)
    if kind == "json":
        return (json.dumps(wire.report(report), ensure_ascii=False, indent=2) + "\n").encode()
    from ragcore.export.manuscripts import of_report

    settings = library.settings.export
    files = {info.doc_id: info.name for info in library.documents(earlier=True)}
    made = of_report(report, files, quote_length=settings.quote_length)
    if kind == "html":
        from ragcore.export.evidence import write_page

        with library.sheets(CROP_DPI) as sheets:
            return write_page(made, sheets)
    if kind == "annex":
        from ragcore.export.evidence import write_annex

        with library.sheets(ANNEX_DPI) as sheets:
            return write_annex(made, sheets, settings)
    return writer(kind)(made, settings)
