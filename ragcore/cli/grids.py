"""Command ``grid``: documents, or sections of them, by typed questions, cell by cell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragcore.cli.common import (
    counted_progress,
    documents_asked,
    moment,
    print_json,
    read_file,
    resumable,
    sections_called,
    show,
    write_out,
)
from ragcore.errors import BadColumns, InputError
from ragcore.export import kind
from ragcore.grid.columns import from_json
from ragcore.grid.files import KINDS, NOT_STATED, checked, headed, in_words, named
from ragcore.text.numbers import plural
from ragcore.types import EVERYTHING, Scope
from ragcore.types import json as wire
from ragcore.types.grid import STATED, Column, Grid, GridCell, GridInfo
from ragcore.types.json import plain
from ragcore.types.sections import SectionNode, one_by_one, section_tree

if TYPE_CHECKING:
    from ragcore.engine import Engine


def grid(engine: Engine, options: argparse.Namespace) -> int:
    """Fill a grid, or go on with one. Raises `Cancelled`, which says how to go on, and what filling raises."""
    grids = engine.grids
    if options.list:
        found = grids.all()
        show(options, lambda: {"grids": plain(found)}, map(_listed, found))
        return 0
    if options.resume is None:
        try:
            text = read_file(options.template).decode()
        except UnicodeDecodeError as error:
            raise BadColumns(f"{options.template} is no text file.", hint="Save it as UTF-8.") from error
        info = grids.add(options.template.stem, from_json(text, options.template.name), _rows(engine, options))
    else:
        info = grids.info(options.resume)
        if options.doc or options.by or options.section:
            grids.scope(info.grid_id, _rows(engine, options, info.scope))
            info = grids.info(info.grid_id)
    print(f"Grid {info.grid_id}: {plural(info.total, 'cell')} of {info.name}", file=sys.stderr)

    def done() -> str:
        return f"{grids.info(info.grid_id).done} of {plural(info.total, 'cell')} filled"

    with resumable(f"grid --resume {info.grid_id}", done) as stopped:
        grids.run(info.grid_id, counted_progress("filled"), stopped, options.max_usd, ask=options.ask)
    if options.output is not None:
        write_out(options.output, grids.export(info.grid_id, kind(options.output.suffix[1:], KINDS)))
    result = engine.versions.told(grids.get(info.grid_id))
    if options.json:
        print_json(wire.grid(result))
    elif options.output is None:
        for line in _lines(result):
            print(line)
    waiting = len({row.doc_id for row in result.current if not row.ready})
    if waiting:
        print(f"{plural(waiting, 'document')} not read in full: the cells are empty.", file=sys.stderr)
    failed = any(cell.status == "failed" for cell in result.cells.values())
    return 1 if failed else 0


def _rows(engine: Engine, options: argparse.Namespace, before: Scope = EVERYTHING) -> Scope:
    """Documents given by --doc, else those of ``before``; by section their uppermost ones, or those directly below the
    headings given by --section."""
    doc_ids = documents_asked(engine, options.doc) if options.doc else before.doc_ids
    if before.sections and not options.doc:
        doc_ids = tuple(dict.fromkeys(one.doc_id for one in before.sections))
    if options.by == "document" and options.section:
        raise InputError("--section chooses sections, but --by says document.", hint="Leave out one of the two.")
    if options.by == "document" or not (options.by or options.section or before.sections):
        return Scope(doc_ids)
    above: list[tuple[str, tuple[SectionNode, ...]]] = []
    for heading in options.section:
        for doc_id, node, _ in sections_called(engine, heading, doc_ids):
            above.append((doc_id, node.children or (node,)))
    if not options.section:
        asked = [one.doc_id for one in engine.documents() if one.askable and (doc_ids is None or one.doc_id in doc_ids)]
        above = [(doc_id, one_by_one(section_tree(engine.document(doc_id)))) for doc_id in asked]
    sections = tuple(node.of(doc_id) for doc_id, nodes in above for node in nodes)
    if not sections:
        raise InputError("These documents have no headings.", hint="Leave out --by: each document is a row then.")
    return Scope(sections=sections)


def _lines(grid: Grid) -> Iterator[str]:
    """Lines of each row: its title, then each value with its page."""
    width = max((len(headed(column)) for column in grid.columns), default=0)
    for row, called in named(grid):
        yield ": ".join(called)
        for column in grid.columns:
            yield f"  {headed(column):{width}}  {_told(grid.cell(row.row_id, column.column_id), column)}"
        yield ""


def _told(cell: GridCell, column: Column) -> str:
    if cell.likely:
        first = cell.likely[0]
        place = f" ({first.citations[0].where})" if first.citations else ""
        return f"{NOT_STATED}; likely {in_words(first, column)}{place}"
    if cell.status not in STATED:
        return {"not_stated": NOT_STATED, "failed": "failed"}.get(cell.status or "", "")
    value = cell.value
    lines = in_words(value, column).splitlines()
    more = f" … ({len(lines)} in all)" if len(lines) > 1 else ""
    rivals = cell.found.rivals if cell.found is not None and cell.status == "rival" else ()
    others = f"; others: {', '.join(in_words(one, column) for one in rivals)}" if rivals else ""
    place = f"  ({value.citations[0].where})" if value.citations else ""
    doubt = "  not supported" if checked(cell) == "Not supported" else ""
    period = f", {value.period}" if value.period not in ("", value.text) else ""
    since = "; words changed since" if any(one.since for one in value.citations) else ""
    return f"{lines[0] if lines else ''}{more}{place}{period}{others}{doubt}{since}"


def _listed(info: GridInfo) -> str:
    left = "" if info.finished else f"  ({info.done} of {info.total} filled)"
    return f"{info.grid_id}  {moment(info.created)}  {info.name}: {plural(info.columns, 'column')}{left}"
