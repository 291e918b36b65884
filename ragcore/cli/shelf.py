"""Order in the library, and its tables to take away: ``tag``, ``rename``, ``tables``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ragcore.cli.common import find, print_json, write_file
from ragcore.errors import InputError
from ragcore.types import json as wire

if TYPE_CHECKING:
    from ragcore.engine import Engine


def tag(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    """Tags and the folder of documents."""
    doc_ids = [find(engine, given) for given in options.documents]
    if not options.add and not options.remove and options.folder is None:
        raise InputError("There's nothing to change.", hint="Use --add TAG, --remove TAG or --folder PATH.")
    engine.shelf.tag(doc_ids, add=options.add, remove=options.remove)
    if options.folder is not None:
        engine.shelf.put(doc_ids, options.folder)
    infos = [info for info in engine.documents() if info.doc_id in doc_ids]
    if as_json:
        print_json({"documents": [wire.document_info(info) for info in infos]})
    for info in () if as_json else infos:
        print(f"{info.doc_id}  {info.title}  {info.folder or 'no folder'}  {', '.join(info.tags) or 'no tags'}")
    return 0


def rename(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    """What a document is called."""
    doc_id = find(engine, options.document)
    engine.shelf.rename(doc_id, options.title)
    info = next(info for info in engine.documents() if info.doc_id == doc_id)
    if as_json:
        print_json({"document": wire.document_info(info)})
    else:
        print(f"{info.doc_id}  {info.title}")
    return 0


def tables(engine: Engine, options: argparse.Namespace, as_json: bool) -> int:
    """A list of a document's tables, or all of them, or one, as a file."""
    from ragcore.export.sheets import SheetKind, sheet_kind, sheets

    doc_id = find(engine, options.document)
    found = sheets(engine.document(doc_id), options.table)
    if options.output is not None:
        kind: SheetKind = sheet_kind(options.output.suffix.removeprefix("."))
        write_file(options.output, engine.write_tables(doc_id, kind, options.table))
    if as_json:
        listed = [
            {
                "number": each.number,
                "title": each.title,
                "pages": each.place,
                "rows": each.rows,
                "columns": each.columns,
            }
            for each in found
        ]
        print_json({"doc_id": doc_id, "tables": listed})
    elif options.output is not None:
        print(f"{len(found)} table{'' if len(found) == 1 else 's'} written to {options.output}.")
    else:
        for each in found:
            print(f"{each.number:4}  {each.place:12} {each.rows:3} × {each.columns:<3} {each.title[:80]}")
    return 0
