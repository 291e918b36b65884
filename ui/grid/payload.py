"""JSON payload of Grid: the list, a grid with its cells in brief, and one cell with its places."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from ragcore.grid.summary import summary
from ragcore.index.jobs import Job
from ragcore.pipelines.versions import Span, span_of
from ragcore.types import Document
from ragcore.types.answer import Citation
from ragcore.types.grid import STATED, CellValue, Column, Grid, GridCell, GridInfo
from ragcore.types.json import Json, picked
from ragcore.types.library import DocumentInfo
from ragcore.types.sections import SectionNode
from ui.chat import payload
from ui.library.jobs import Job as Reading

BUSY = frozenset({"waiting", "running", "stopping"})
BRIEF = 160  # characters of a value that the table gets


def lost(documents: Iterable[DocumentInfo], failures: Collection[str], going: Collection[str]) -> dict[str, str]:
    """Documents that nobody goes on reading: their reading ``failed`` or was ``cancelled``, and they are not ``going``
    to be read again. ``failures`` are those that the library doesn't know of."""
    return {
        one.doc_id: "failed" if one.status == "failed" or one.doc_id in failures else "cancelled"
        for one in documents
        if one.doc_id not in going
        and (one.status == "failed" or (not one.indexed and (one.held or one.doc_id in failures)))
    }


def head(
    info: GridInfo,
    documents: Sequence[DocumentInfo],
    lost: Mapping[str, str],
    jobs: Sequence[Job],
    trouble: Mapping[str, Any] | None,
) -> Json:
    """Grid without its cells; of its ``documents``, those of the library, some are ``unread`` yet, and ``lost`` say why
    they won't be read. At rest it is ``done`` (as far as its documents could be read), ``stopped`` or ``arriving``
    (it waits for documents alone)."""
    lacking = [one.doc_id for one in documents if not ready(one) and info.scope.holds(one.doc_id)]
    unread = [doc_id for doc_id in lacking if doc_id not in lost]
    rest = _rest(info, len(unread), sum(info.rows.get(one, 0) for one in lacking))
    return {
        "id": info.grid_id,
        "shape": shape(info, documents),
        **picked(info, "name created columns total done"),
        "docs": None if info.scope.doc_ids is None else list(info.scope.doc_ids),
        "sections": bool(info.scope.sections),
        "unread": unread,
        "lost": {doc_id: lost[doc_id] for doc_id in lacking if doc_id in lost},
        **payload.work(info.grid_id, rest, info.error, jobs, trouble),
    }


def _rest(info: GridInfo, unread: int, lacking: int) -> str:
    """State of a grid that nothing is at work on; ``lacking`` rows can't be filled yet."""
    if info.total - info.done > lacking * info.columns:
        return "stopped"
    return "done" if info.finished or not unread else "arriving"


def ready(one: DocumentInfo) -> bool:
    """Whether its cells can be filled."""
    return one.status == "ready" and one.indexed


def shape(info: GridInfo, documents: Iterable[DocumentInfo]) -> str:
    """Short hash of a grid's rows and columns, another one when they change; ``documents`` are the library's."""
    inside = (one for one in documents if info.scope.holds(one.doc_id))
    rows = [(one.doc_id, one.title, one.pages, one.tags, ready(one)) for one in inside]
    return sha256(json.dumps([info.version, rows]).encode()).hexdigest()[:16]


def reading(doc_ids: Collection[str], jobs: Mapping[str, Reading]) -> Json:
    """Pages read so far of the documents that are being read or wait for it, and their number, 0 until known."""
    inside = [job for doc_id, job in jobs.items() if doc_id in doc_ids]
    return {job.doc_id: [job.done, job.total] if job.stage == "read" else [0, 0] for job in inside}


def grid(found: Grid) -> Json:
    """Rows and columns of a grid. A row is shown by its ``label``: the title of a document, or the heading of a
    section, after the one above it where several of a document are called alike."""
    alike = Counter((one.doc_id, one.label) for one in found.rows)
    rows = [
        {
            "id": one.row_id,
            "doc": one.doc_id,
            **picked(one, "title begins pages"),
            "label": one.label if alike[one.doc_id, one.label] == 1 else " › ".join(one.section[-2:]),
            "path": " › ".join(one.section),
            "page": one.page_label,
            "tags": list(one.tags),
            "earlier": one.earlier,
        }
        for one in found.rows
    ]
    return {"rows": rows, "columns": [column(one) for one in found.columns]}


def outline(document: Document, nodes: Mapping[str, SectionNode]) -> list[Json]:
    """Sections of a document in reading order, by the ids of their rows; ``depth`` counts from 0."""
    return [
        {"id": row, "depth": len(one.path) - 1, "label": one.label, "page": document.pages[one.first_page - 1].label}
        for row, one in nodes.items()
    ]


def summaries(found: Grid) -> Json:
    """Summary of each column, by its id."""
    return {
        one.column_id: asdict(summary(one, [found.cell(row.row_id, one.column_id) for row in found.current]))
        for one in found.columns
    }


def cells(found: Iterable[GridCell], gone: Collection[Span]) -> list[list[Any]]:
    """Cells as row, column and what the table shows, None where nothing is known anymore. A cell is stale if it cites
    words at one of the spans in ``gone``, which have changed since."""
    return [
        [one.row_id, one.column_id, brief(one, stale=any(span_of(cited) in gone for cited in one.value.citations))]
        for one in found
    ]


def column(one: Column) -> Json:
    return {"id": one.column_id, "name": one.name, "question": one.question, "type": one.type, "unit": one.unit}


def brief(cell: GridCell, *, stale: bool = False) -> Json | None:
    """Cell as the table shows it, without what is empty; None where nothing is known."""
    if cell.found is None and not cell.decision.kind:
        return None
    supported = cell.decision.supported if cell.decision.kind == "corrected" else cell.found and cell.found.supported
    shown = {
        "status": cell.status,
        **_value(cell.value),
        "supported": supported if cell.status in STATED else None,
        "rivals": len(cell.found.rivals) if cell.found is not None and cell.status == "rival" else 0,
        "decision": cell.decision.kind,
        "stale": stale,
        "again": cell.again,
    }
    if cell.likely:
        shown["likely"] = _value(cell.likely[0])
    return {
        key: value for key, value in shown.items() if value is not None and (value or key in ("number", "supported"))
    }


def _value(value: CellValue) -> Json:
    text = value.text if len(value.text) <= BRIEF else f"{value.text[:BRIEF].rstrip()}…"
    return {"text": text, "number": value.number, "unit": value.unit, "period": value.period}


def detail(cell: GridCell) -> Json:
    """Cell with its places. Its citations are numbered through: those of the value, of its rivals, of what is
    nearest to it where its document doesn't hold it."""
    found, decision = cell.found, cell.decision
    count = iter(range(1, 1_000_000))

    def places(citations: Sequence[Citation]) -> list[Json]:
        return [payload.citation(one) | {"n": next(count)} for one in citations]

    def valued(value: CellValue) -> Json:
        return asdict(value) | {"citations": places(value.citations)}

    shown = {"row": cell.row_id, "column": cell.column_id, "status": cell.status, "value": valued(cell.value)}
    shown |= {"decision": decision.kind, "supported": decision.supported, "found": "", "again": cell.again}
    corrected = decision.kind == "corrected"
    missed = decision.value.citations if corrected and not decision.supported else ()
    if found is None:
        return shown | {"rivals": [], "nearest": places(missed)}
    others = cell.likely if found.status == "not_stated" else found.rivals
    if corrected and found.status in STATED:
        others = (found.value, *others)
    return shown | {
        "supported": decision.supported if corrected else found.supported,
        "found": found.value.text if decision.kind and found.status in STATED else "",
        "rivals": [valued(one) for one in others],
        "likely": bool(cell.likely),
        "nearest": places(found.nearest or missed) if (cell.status == "not_stated" and not others) or missed else [],
        **picked(found, "reason read passages"),
        "model": payload.model_name(found.model) if found.model else "",
        "cost": payload.dollars(found.cost_usd) if found.cost_usd != 0 else "",
        "error": payload.error(found.error) if found.error else None,
    }


def periods(grid: Grid, column_id: str) -> Json:
    """Values of one column by row and period, newest period first; of several for one period the first."""
    values: dict[str, Json] = {}
    for row in grid.rows:
        cell = grid.cell(row.row_id, column_id)
        given = [cell.value] if cell.status in STATED else []
        if cell.status == "rival" and cell.found is not None:
            given += cell.found.rivals
        for nth, value in enumerate(given):
            values.setdefault(row.row_id, {}).setdefault(value.period, _value(value) | {"nth": nth})
    every = {period for one in values.values() for period in one}
    return {"periods": sorted(every, reverse=True), "values": values}
