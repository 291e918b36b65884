"""Library commands: documents, parsed content, table export, structures, settings, spending and feedback."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.cli.common import print_json, progress, say_error, show, write_file
from ragcore.config.settings import flatten
from ragcore.errors import GroundworkError, InputError
from ragcore.pipelines.build_structures import StructureEstimate
from ragcore.progress import printable
from ragcore.text.numbers import plural
from ragcore.types import json as wire
from ragcore.types.json import picked, plain
from ragcore.types.sections import section_tree, walk
from ragcore.types.spending import dollars

if TYPE_CHECKING:
    from ragcore.engine import Engine
    from ragcore.progress import IngestReport
    from ragcore.types import Document, Usage
    from ragcore.types.library import DocumentInfo


def ingest(engine: Engine, options: argparse.Namespace) -> int:
    reports: list[IngestReport] = []
    for path in engine.pdf_paths(options.paths):
        name = path.name or str(path)
        print(f"{name}: reading", file=sys.stderr)
        first = engine.ingest_path(path, password=options.password, on_progress=progress(name))
        for report in chain([first], engine.ingest_attached(first, on_progress=progress(name))):
            reports.append(report)
            folder, info = _folder(path, options.paths), report.info
            if info.doc_id and info.status != "already" and folder:
                engine.shelf.put([info.doc_id], folder)
            for error in (info.error, info.figures.error, info.context.error):
                if error:
                    say_error(error, info.name)
            if report.note and not info.error:
                print(f"{info.name}: {report.note}", file=sys.stderr)
    failure: GroundworkError | None = None
    if options.index:
        try:
            _say_failed(engine.index(on_progress=progress("index")).failed)
        except GroundworkError as error:  # still print the reports of the files
            failure = error
    if options.json:
        told = [{**plain(report.info), "path": report.path, "note": report.note} for report in reports]
        print_json({"documents": told} | ({"error": failure.as_dict()} if failure else {}))
    else:
        for info in (report.info for report in reports):
            parts = (
                f"{info.pages} pages, {info.chunks} chunks, {info.tables} tables",
                f"{info.ocr_pages} pages read by OCR" if info.ocr_pages else "",
                _not_read(info.unread_pages),
                info.figures.words,
                info.context.words,
            )
            detail = "" if info.error else f"  ({'; '.join(part for part in parts if part)})"
            print(f"{info.status:8} {info.doc_id or '-':16}  {info.title}{detail}")
        if failure:
            say_error(failure)
    return 1 if failure or any(report.info.status == "failed" for report in reports) else 0


def _folder(path: Path, given: Sequence[Path]) -> str:
    """Path of a file's folder relative to the given folder, beginning with that folder's name; "" for a file given
    directly."""
    above = next((root for root in given if root.is_dir() and root in path.parents), None)
    if above is None:
        return ""
    return printable(Path(above.resolve().name) / path.parent.relative_to(above))


def index(engine: Engine, options: argparse.Namespace) -> int:
    report = engine.index(rebuild=options.rebuild, on_progress=progress("index"))
    unchanged = report.chunks - report.embedded
    said = f"{report.embedded:,} embedded now, {unchanged:,} unchanged"
    lines = [f"{report.chunks:,} chunks indexed by {report.embedder}: {said}."]
    if report.usd:
        lines.append(f"Claude's context sentences cost ${report.usd:.4f}.")
    show(options, lambda: plain(report), lines)
    _say_failed(report.failed)
    for info in engine.documents():
        if info.context.unfinished:
            print(f"{info.name}: {info.context.words}", file=sys.stderr)
    return 1 if report.failed else 0


def structure(engine: Engine, options: argparse.Namespace) -> int:
    of = engine.structures
    if options.estimate:
        return _estimate(engine, options)
    notes = [note for name in of.checked(options.build or ()) for note in of.build([name], progress(name))]
    for note in notes:
        print(note, file=sys.stderr)
    if options.forget is not None:
        of.forget(options.forget)
    states = of.state()
    lines = [f"{'name':9}  {'state':9}  {'documents':>9}  {'nodes':>9}  {'edges':>9}  {'seconds':>7}  {'cost':>9}"]
    for one in states:
        size = f"{one.documents:9,}  {one.nodes:9,}  {one.edges:9,}  {one.seconds:7.1f}  {f'${one.usd:.4f}':>9}"
        lines.append(f"{one.name:9}  {one.state:9}  {size}{f'  ({one.missing})' if one.missing else ''}")
    show(options, lambda: {"structures": plain(states)}, lines)
    left = [one for one in states if one.name in (options.build or ()) and one.state == "partly"]
    return 1 if notes or left else 0


def _estimate(engine: Engine, options: argparse.Namespace) -> int:
    each, limit = engine.structures.estimate(), engine.settings.structure.max_usd
    sums = [sum(getattr(one, name) for one in each) for name in ("calls", "input_tokens", "output_tokens", "minutes")]
    calls, given, written, minutes = sums
    all_of = StructureEstimate("", "in all", calls, given, written, dollars([one.usd for one in each]), minutes)
    lines = [
        f"about {one.calls:5,} calls, {one.input_tokens:9,} tokens in, {one.output_tokens:8,} out, "
        f"{'no price' if one.usd is None else f'${one.usd:7.2f}'}, {one.minutes:6.1f} minutes  {one.title}"
        for one in (*each, all_of)
    ]
    lines.append(f"By {engine.models.extractor_name}, at most ${limit:.2f} a document (structure.max_usd).")
    lines.append("Second looks are not counted. Nothing was sent.")
    told = {"model": engine.models.extractor_name, "max_usd": limit, "documents": each, "total": all_of}
    show(options, lambda: {"structures": plain(engine.structures.state()), "estimate": plain(told)}, lines)
    return 0


def _say_failed(failed: Sequence[DocumentInfo]) -> None:
    for info in failed:
        if info.error:
            say_error(info.error, info.name)


def documents(engine: Engine, options: argparse.Namespace) -> int:
    infos, lines = engine.documents(), []
    for info in infos:
        marks = "".join(f"  #{tag}" for tag in info.tags) + ("  (no longer in its folder)" if info.gone else "")
        name = f"{info.folder}/{info.name}" if info.folder else info.name
        unread = info.error["message"] if info.error else _not_read(info.unread_pages)
        gaps = f"  ({unread})" if unread else ""
        lines.append(f"{info.doc_id}  {info.status:8} {info.pages:5} pages  {info.title}  [{name}]{marks}{gaps}")
    show(options, lambda: {"documents": plain(infos)}, lines)
    if not infos and not options.json:
        print("The library is empty. Add a file: groundwork ingest FILE --index", file=sys.stderr)
    return 0


def _not_read(pages: Sequence[int]) -> str:
    """Unread pages in words: ``pages 3, 7 not read``; "" for none."""
    return f"{'page' if len(pages) == 1 else 'pages'} {', '.join(map(str, pages))} not read" if pages else ""


def remove(engine: Engine, options: argparse.Namespace) -> int:
    doc_id = engine.find(options.document, whole=True)
    engine.remove(doc_id)
    show(options, lambda: {"documents": plain(engine.documents())}, [f"Removed {doc_id}."])
    return 0


def elements(engine: Engine, options: argparse.Namespace) -> int:
    document = engine.document(engine.find(options.document))
    if options.outline:
        if options.page is not None or options.kind is not None:
            raise InputError("--outline shows the sections of a whole document.", hint="Leave out --page and --kind.")
        return _outline(engine, document, options)
    if options.page is not None and options.page > len(document.pages):
        raise InputError(f"{document.name} has {plural(len(document.pages), 'page')}.", hint="Choose one of its pages.")
    chosen = [
        element
        for element in document.elements
        if (options.page is None or options.page in document.element_pages(element))
        and (options.kind is None or element.kind == options.kind)
    ]
    gaps = [page for page in document.pages if page.unread and options.page in (None, page.number)]
    lines = [f"p. {page.number:4}  {'not read':12} {page.degraded}" for page in gaps]
    for element in chosen:
        mark = f"  [{element.noise}]" if element.noise else ""
        text = " ".join(document.text[element.start : element.end].split())
        lines.append(f"p. {element.page:4}  {element.kind:12} {text[:90]}{mark}")
    show(options, lambda: wire.elements(document, chosen), lines)
    return 0


def _outline(engine: Engine, document: Document, options: argparse.Namespace) -> int:
    tree = section_tree(document)
    tiles = [chunk for chunk in engine.chunks(document.doc_id) if chunk.tiles is None]
    lines = []
    for node in walk(tree):
        pages = f"p. {node.first_page}" + (f"–{node.last_page}" if node.last_page > node.first_page else "")
        lines.append(f"{pages:14}{'  ' * (len(node.path) - 1)}{node.label}")
    show(options, lambda: wire.outline(document, tree, tiles), lines or ["This document has no headings."])
    return 0


def chunks(engine: Engine, options: argparse.Namespace) -> int:
    document = engine.document(engine.find(options.document))
    chunks, lines = engine.chunks(document.doc_id), []
    for item in chunks:
        rows = f"[tiles {item.tiles[0]}-{item.tiles[1]}]  " if item.tiles else ""
        lines.append(f"{item.index:5}  {item.tokens:4} tokens  {rows}{(item.grid or item.text)[:90]!r}")
    show(options, lambda: {"doc_id": document.doc_id, "chunks": [wire.chunk(document, item) for item in chunks]}, lines)
    return 0


def tables(engine: Engine, options: argparse.Namespace) -> int:
    from ragcore.export import kind
    from ragcore.export.sheets import SHEET_KINDS, sheets

    doc_id = engine.find(options.document)
    found = sheets(engine.document(doc_id), options.table)
    lines = [f"{one.number:4}  {one.place:12} {one.rows:3} × {one.columns:<3} {one.title[:80]}" for one in found]
    if options.output is not None:
        chosen = kind(options.output.suffix[1:], SHEET_KINDS)
        write_file(options.output, engine.write_tables(doc_id, chosen, options.table))
        lines = [f"{plural(len(found), 'table')} written to {options.output}."]
    listed = [picked(one, "number title") | {"pages": one.place} | picked(one, "rows columns") for one in found]
    show(options, lambda: {"doc_id": doc_id, "tables": listed}, lines)
    return 0


def spending(engine: Engine, options: argparse.Namespace) -> int:
    found = engine.spending()
    lines = [f"{each.model}  {each.purpose:9}  {_took(each.calls, each.usage, each.usd)}" for each in found.entries]
    total = f"Since {found.since}  {_took(found.calls, found.usage, found.usd)}"
    lines.append(total if found.entries else "Nothing spent so far.")
    if found.unpriced:
        lines.append(f"Not in the dollar total (no price in llm.prices): {', '.join(found.unpriced)}.")
    show(options, lambda: wire.spending(found), lines)
    return 0


def _took(calls: int, usage: Usage, usd: float | None) -> str:
    cached = f", {usage.cache_write_tokens:,} cached, {usage.cache_read_tokens:,} read from the cache"
    return (
        f"{plural(calls, 'call')}; {usage.input_tokens:,} tokens in, "
        f"{usage.output_tokens:,} out{cached if usage.cache_write_tokens or usage.cache_read_tokens else ''}; "
        f"{'no price' if usd is None else f'${usd:.4f}'}"
    )


def feedback(engine: Engine, options: argparse.Namespace) -> int:
    told, lines = engine.feedback.all(), []
    for each in told:
        lines.append(f"{'+' if each.feedback.helpful else '-'} {each.question}  ({each.model or 'no answer'})")
        why = ": ".join(part for part in (each.feedback.reason, each.feedback.words) if part)
        lines += [f"  {why}"] if why else []
    show(options, lambda: wire.feedback(told), lines or ["No feedback yet."])
    return 0


def settings(engine: Engine, options: argparse.Namespace) -> int:
    settings, origins = engine.settings.model_dump(mode="json"), engine.origins
    told = {"home": str(engine.home), "settings": settings, "origins": origins, "hash": engine.settings.hash()}
    lines = [
        f"{key} = {json.dumps(value, ensure_ascii=False)}  # {origins[key]}" for key, value in flatten(settings).items()
    ]
    show(options, lambda: told, lines)
    return 0
