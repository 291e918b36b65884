"""Library commands: documents, parsed content, table export, settings, spending and feedback."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.cli import output as printing
from ragcore.cli.common import find, print_json, progress, say_error, show, write_file
from ragcore.errors import GroundworkError, InputError
from ragcore.progress import printable
from ragcore.types import json as wire
from ragcore.types.json import plain

if TYPE_CHECKING:
    from ragcore.engine import Engine
    from ragcore.progress import IngestReport


def ingest(engine: Engine, options: argparse.Namespace) -> int:
    reports: list[IngestReport] = []
    for path in engine.pdf_paths(options.paths):
        name = path.name or str(path)
        print(f"{name}: reading", file=sys.stderr)
        report = engine.ingest_path(path, password=options.password, on_progress=progress(name))
        reports.append(report)
        folder = _folder(path, options.paths)
        if report.doc_id and report.status != "already" and folder:
            engine.shelf.put([report.doc_id], folder)
        for error in (report.error, report.figures.error, report.context.error):
            if error:
                say_error(error, name)
        if report.note and not report.error:
            print(f"{name}: {report.note}", file=sys.stderr)
    failure: GroundworkError | None = None
    if options.index:
        try:
            _say_failed(engine.index(on_progress=progress("index")).failed)
        except GroundworkError as error:  # still print the reports of the files
            failure = error
    if options.json:
        print_json({"documents": plain(reports)} | ({"error": failure.as_dict()} if failure else {}))
    else:
        printing.ingested(reports)
        if failure:
            say_error(failure)
    return 1 if failure or any(report.status == "failed" for report in reports) else 0


def _folder(path: Path, given: Sequence[Path]) -> str:
    """Path of a file's folder relative to the given folder, beginning with that folder's name; "" for a file given
    directly."""
    above = next((root for root in given if root.is_dir() and root in path.parents), None)
    if above is None:
        return ""
    return printable(Path(above.resolve().name) / path.parent.relative_to(above))


def index(engine: Engine, options: argparse.Namespace) -> int:
    if options.estimate:
        estimates, model = engine.estimate(), engine.models.context_model
        show(options, wire.estimates(estimates), lambda: printing.estimated(estimates, model))
        return 0
    report = engine.index(rebuild=options.rebuild, on_progress=progress("index"))
    show(options, plain(report), lambda: printing.indexed(report))
    _say_failed(report.failed)
    for info in engine.documents():
        if info.context.unfinished:
            print(f"{info.name}: {info.context.words}", file=sys.stderr)
    return 1 if report.failed else 0


def _say_failed(failed: Sequence[IngestReport]) -> None:
    for report in failed:
        if report.error:
            say_error(report.error, report.path)


def documents(engine: Engine, options: argparse.Namespace) -> int:
    infos = engine.documents()
    show(options, {"documents": plain(infos)}, lambda: printing.documents(infos))
    if not infos and not options.json:
        print("The library is empty. Add a PDF: groundwork ingest FILE --index", file=sys.stderr)
    return 0


def remove(engine: Engine, options: argparse.Namespace) -> int:
    doc_id = find(engine, options.document, whole=True)
    engine.remove(doc_id)
    show(options, {"documents": plain(engine.documents())}, lambda: print(f"Removed {doc_id}."))
    return 0


def elements(engine: Engine, options: argparse.Namespace) -> int:
    document = engine.document(find(engine, options.document))
    if options.page is not None and options.page > len(document.pages):
        raise InputError(f"{document.name} has {len(document.pages)} pages.", hint="Choose one of its pages.")
    chosen = [
        element
        for element in document.elements
        if (options.page is None or options.page in document.element_pages(element))
        and (options.kind is None or element.kind == options.kind)
    ]
    gaps = [page for page in document.pages if page.unread and options.page in (None, page.number)]
    show(options, wire.elements(document, chosen), lambda: printing.elements(document, chosen, gaps))
    return 0


def chunks(engine: Engine, options: argparse.Namespace) -> int:
    document = engine.document(find(engine, options.document))
    chunks = engine.chunks(document.doc_id)
    value = {"doc_id": document.doc_id, "chunks": [wire.chunk(document, item) for item in chunks]}
    show(options, value, lambda: printing.chunks(chunks))
    return 0


def tag(engine: Engine, options: argparse.Namespace) -> int:
    doc_ids = [find(engine, given) for given in options.documents]
    if not options.add and not options.remove and options.folder is None:
        raise InputError("There's nothing to change.", hint="Use --add TAG, --remove TAG or --folder PATH.")
    engine.shelf.tag(doc_ids, add=options.add, remove=options.remove)
    if options.folder is not None:
        engine.shelf.put(doc_ids, options.folder)
    infos = [info for info in engine.documents() if info.doc_id in doc_ids]
    show(options, {"documents": plain(infos)}, lambda: printing.shelved(infos))
    return 0


def rename(engine: Engine, options: argparse.Namespace) -> int:
    doc_id = find(engine, options.document)
    engine.shelf.rename(doc_id, options.title)
    info = next(info for info in engine.documents() if info.doc_id == doc_id)
    show(options, {"document": plain(info)}, lambda: print(f"{info.doc_id}  {info.title}"))
    return 0


def tables(engine: Engine, options: argparse.Namespace) -> int:
    from ragcore.export.sheets import SheetKind, sheet_kind, sheets

    doc_id = find(engine, options.document)
    found = sheets(engine.document(doc_id), options.table)
    if options.output is not None:
        kind: SheetKind = sheet_kind(options.output.suffix.removeprefix("."))
        write_file(options.output, engine.write_tables(doc_id, kind, options.table))
    listed = [
        {"number": one.number, "title": one.title, "pages": one.place, "rows": one.rows, "columns": one.columns}
        for one in found
    ]
    show(options, {"doc_id": doc_id, "tables": listed}, lambda: printing.tables(found, options.output))
    return 0


def spending(engine: Engine, options: argparse.Namespace) -> int:
    found = engine.spending()
    show(options, wire.spending(found), lambda: printing.spending(found))
    return 0


def feedback(engine: Engine, options: argparse.Namespace) -> int:
    told = engine.feedback.all()
    show(options, wire.feedback(told), lambda: printing.feedback(told))
    return 0


def settings(engine: Engine, options: argparse.Namespace) -> int:
    settings, origins = engine.settings.model_dump(mode="json"), engine.origins
    told = {"home": str(engine.home), "settings": settings, "origins": origins, "hash": engine.settings.hash()}
    show(options, told, lambda: printing.settings(settings, origins))
    return 0
