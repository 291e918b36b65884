"""The library: ``ingest``, ``index``, ``documents``, ``remove``, ``elements``, ``chunks``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.cli import output as printing
from ragcore.cli.common import find, print_json, progress
from ragcore.errors import GroundworkError, InputError
from ragcore.progress import printable
from ragcore.types import json as wire

if TYPE_CHECKING:
    from ragcore.engine import Engine, IngestReport


def ingest(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
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
                print(f"{name}: {error['message']} {error['hint']}", file=sys.stderr)
        if report.note and not report.error:
            print(f"{name}: {report.note}", file=sys.stderr)
    failure: GroundworkError | None = None
    if options.index:
        try:
            _say_failed(engine.index(on_progress=progress("index")).failed)
        except GroundworkError as error:  # the files' reports are still worth printing
            failure = error
    if as_json:
        print_json(
            {"documents": [asdict(report) for report in reports]} | ({"error": failure.as_dict()} if failure else {})
        )
    else:
        printing.ingested(reports)
        if failure:
            print(f"{failure.message} {failure.hint}", file=sys.stderr)
    return 1 if failure or any(report.status == "failed" for report in reports) else 0


def _folder(path: Path, given: Sequence[Path]) -> str:
    """Where a file lies in the folder that was given, that folder's name first; "" for one given by itself."""
    above = next((root for root in given if root.is_dir() and root in path.parents), None)
    if above is None:
        return ""
    return printable(Path(above.resolve().name) / path.parent.relative_to(above))


def index(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    if options.estimate:
        return _estimate(engine, as_json)
    report = engine.index(rebuild=options.rebuild, on_progress=progress("index"))
    if as_json:
        print_json(asdict(report))
    else:
        printing.indexed(report)
    _say_failed(report.failed)
    left = [(info.name, info.context) for info in engine.documents() if info.context.unfinished]
    for name, context in left:
        print(f"{name}: {context.words}", file=sys.stderr)
    return 1 if report.failed else 0


def _say_failed(failed: Sequence[IngestReport]) -> None:
    for report in failed:
        if report.error:
            print(f"{report.path}: {report.error['message']} {report.error['hint']}", file=sys.stderr)


def _estimate(engine: Engine, as_json: bool) -> int:
    estimates = engine.estimate()
    if as_json:
        print_json(wire.estimates(estimates))
    else:
        printing.estimated(estimates, engine.models.context_model)
    return 0


def documents(engine: Engine, _options: argparse.Namespace, as_json: bool) -> int:
    infos = engine.documents()
    if as_json:
        print_json({"documents": [wire.document_info(info) for info in infos]})
    else:
        printing.documents(infos)
        if not infos:
            print("The library is empty. Add a PDF: groundwork ingest FILE --index", file=sys.stderr)
    return 0


def remove(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    info = find(engine, options.document, whole=True)
    engine.remove(info)
    if as_json:
        print_json({"documents": [wire.document_info(item) for item in engine.documents()]})
    else:
        print(f"Removed {info}.")
    return 0


def elements(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    document = engine.document(find(engine, options.document))
    if options.page is not None and options.page > len(document.pages):
        raise InputError(f"{document.name} has {len(document.pages)} pages.", hint="Choose one of its pages.")
    if options.picture is not None:
        _save(options.picture, engine.page_picture(document.doc_id, options.page))
    chosen = [
        element
        for element in document.elements
        if (options.page is None or options.page in document.element_pages(element))
        and (options.kind is None or element.kind == options.kind)
    ]
    if as_json:
        print_json(wire.elements(document, chosen))
    else:
        gaps = [page for page in document.pages if page.unread and options.page in (None, page.number)]
        printing.elements(document, chosen, gaps)
    return 0


def _save(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InputError(f"{path} couldn't be written: {error.strerror}.", hint="Choose another place.") from error


def chunks(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    document = engine.document(find(engine, options.document))
    chunks = engine.chunks(document.doc_id)
    if as_json:
        print_json({"doc_id": document.doc_id, "chunks": [wire.chunk(document, item) for item in chunks]})
    else:
        printing.chunks(chunks)
    return 0
