"""JSON output of the command line: one function per object.

Boxes are ``{"page", "x0", "y0", "x1", "y1"}`` in displayed-page points (see `ragcore.types.Box`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from ragcore.types import Answer, Box, Cell, Chunk, Document, Element, Hit, PathStep, Retrieval, Scope, Spending, Table
from ragcore.types.check import Check
from ragcore.types.grid import CellValue, Column, Grid, GridCell
from ragcore.types.library import FeedbackRecord
from ragcore.types.report import FilledSection, Report
from ragcore.types.sections import SectionNode, chunks_of
from ragcore.types.table_labels import LabelledTable

Json = dict[str, Any]
_CITATION = "n doc_id title page page_label place section label quote start end generated boxes ocr since"


def plain(value: Any) -> Any:
    """JSON of any dataclass, with rounded boxes."""
    if isinstance(value, Box):
        return value.as_dict()
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value


def picked(given: Any, names: str) -> Json:
    """JSON fields of ``given`` with these ``names``."""
    return {name: plain(getattr(given, name)) for name in names.split()}


def elements(document: Document, chosen: Iterable[Element]) -> Json:
    """JSON of ``elements DOC``: pages and the chosen elements."""
    pages = [plain(page) for page in document.pages]
    return {
        **picked(document, "doc_id title"),
        "pages": [{"page": page.pop("number"), **page} for page in pages],
        "elements": [_element(document, element) for element in chosen],
    }


def outline(document: Document, tree: Sequence[SectionNode], tiles: Sequence[Chunk]) -> Json:
    """JSON of ``elements DOC --outline``; ``chunks`` counts those of ``tiles``, its whole tiling, with text of the
    section."""

    def section(node: SectionNode) -> Json:
        own = picked(node, "label level start end first_page last_page") | {"chunks": chunks_of(node, tiles)}
        return own | {"children": [section(child) for child in node.children]}

    return {**picked(document, "doc_id title"), "sections": [section(node) for node in tree]}


def _element(document: Document, element: Element) -> Json:
    return {
        **picked(element, "id kind level page start end section noise caption caption_of generated"),
        "text": document.text[element.start : element.end],
        "boxes": plain(document.element_boxes(element)),
        "table": _table(document, element.table) if element.table else None,
    }


def _table(document: Document, table: Table) -> Json:
    labelled = LabelledTable(document, table)
    return picked(table, "title rows columns") | {"cells": [_cell(labelled, cell) for cell in table.cells]}


def _cell(table: LabelledTable, cell: Cell) -> Json:
    document = table.document
    return {
        **picked(cell, "row col row_span col_span header start end"),
        "headers": [document.text[head.start : head.end] for head in table.heads(cell) if head.header],
        "row_header": "".join(document.text[head.start : head.end] for head in table.heads(cell) if not head.header),
        "text": document.text[cell.start : cell.end],
        "mark": document.text[slice(*cell.mark)].strip() if cell.mark else "",
        "boxes": plain(document.boxes(cell.start, cell.end)),
    }


def chunk(document: Document, item: Chunk) -> Json:
    """JSON of a line of ``chunks DOC``: a tile, or a composite that spans the tiles ``tiles`` (first and last index),
    with its indexed text ``grid``."""
    return {
        **picked(item, "chunk_id index kind start end text section header lead_in context tiles grid tokens"),
        "composite": item.tiles is not None,
        "boxes": plain(document.boxes(item.start, item.end)),
    }


def retrieval(found: Retrieval, document: Callable[[str], Document]) -> Json:
    """JSON of ``retrieve``."""
    return {
        **picked(found, "query mode candidates reranked notes usage cost_usd timings_ms"),
        "hits": [_hit(hit, document(hit.chunk.doc_id), found.scope) for hit in found.hits],
        "segments": [
            {
                **plain(segment),
                "title": (source := document(segment.doc_id)).title,
                "pages": list(source.pages_of(segment.start, segment.end)),
                "text": source.text[segment.start : segment.end],
            }
            for segment in found.segments
        ],
        "routes": [
            {**picked(document(route.doc_id), "title name"), **picked(route, "doc_id prior reason")}
            for route in found.routes
        ],
        "queries": [
            {"number": number, **plain(asked), "hits": sum(number in hit.queries for hit in found.hits)}
            for number, asked in enumerate(found.queries, start=1)
        ],
        "overview": plain(found.overview) if found.overview is not None else None,
        "paths": [plain(path) | {"steps": [_step(step, document) for step in path.steps]} for path in found.paths],
    }


def _step(step: PathStep, document: Callable[[str], Document]) -> Json:
    if not step.doc_id:
        return {"name": step.name}
    source = document(step.doc_id)
    return {
        **plain(step),
        "title": source.title,
        "page": source.page_at(step.start, step.end),
        "boxes": plain(source.boxes(step.start, step.end)),
    }


def _hit(hit: Hit, document: Document, scope: Scope) -> Json:
    item = scope.cut(hit.chunk)
    return {
        **picked(hit, "rank score ranks via queries"),
        **picked(item, "chunk_id doc_id index kind tiles section start end text"),
        **picked(document, "title name"),
        "composite": item.tiles is not None,
        "pages": list(document.pages_of(item.start, item.end)),
        "boxes": [plain(box) for part in scope.parts(hit.chunk) for box in document.boxes(*part)],
        "scores": {
            step: hit.scores.get(step)
            for step in ("vector", "bm25", "graph", "structure", "prior", "fused", "rerank", "question")
        },
    }


def answer(given: Answer) -> Json:
    """JSON of ``generate`` and of each line of ``conversation``."""
    return {
        **picked(given, "question standalone rewritten_by queries refused status error extractive"),
        "answer": given.text,
        "claims": [
            {
                **picked(claim, "text citations status reason"),
                "added": [mark.n for mark in given.marks if mark.added and claim.start <= mark.start < claim.end],
                "wrong": [given.text[start:end] for start, end in claim.wrong],
            }
            for claim in given.claims
        ],
        "citations": [picked(citation, _CITATION) for citation in given.citations],
        "dropped_citations": list(given.dropped),
        "notes": [*(given.trace.notes if given.trace else ()), *given.notes],
        **picked(given, "marks model usage cost_usd timings_ms settings_hash"),
    }


def report(given: Report) -> Json:
    """JSON of ``template``, with the sections in printed order."""
    return {
        **picked(given, "title model extractive usage cost_usd"),
        **picked(given.focus, "subject year"),
        "sections": [_filled(section) for section in given.sections],
    }


def _filled(section: FilledSection) -> Json:
    written = answer(section.answer) if section.answer is not None else {}
    return {
        **picked(section, "number level heading guidance required status rounds text"),
        **picked(section.field, "kind columns unit requirements"),
        **{key: written.get(key, []) for key in ("claims", "marks", "citations", "dropped_citations", "notes")},
        "gaps": [
            picked(gap, "what doc_id why") | {"nearest": [picked(citation, _CITATION) for citation in gap.nearest]}
            for gap in section.gaps
        ],
        "error": written.get("error"),
    }


def check(given: Check) -> Json:
    """JSON of ``check``: spans are of the draft's ``text``, those of corrections and what is missing of the sentence's.
    A sentence without a status is not checked yet."""
    rows = zip(given.spans, given.sentences, given.decisions, strict=True)
    return {
        "draft": given.draft.name,
        **picked(given.info, "check_id kind counts total done error"),
        "text": given.draft.text,
        "sentences": [
            {
                "text": given.draft.text[start:end] if one is None else one.text,
                "start": start,
                "end": end,
                "status": None if one is None else one.status,
                "reason": "" if one is None else one.reason,
                "citations": [] if one is None else [picked(citation, _CITATION) for citation in one.citations],
                "corrections": [] if one is None else plain(one.corrections),
                "missing": [] if one is None else plain(one.missing),
                "place": "" if one is None else one.place,
                "opinion": None if one is None or one.second is None else plain(one.second),
                "decision": plain(decided),
            }
            for (start, end), one, decided in rows
        ],
        "inconsistencies": [
            {**plain(fault), "sentence": n, "decision": plain(decided)}
            for n, decided in enumerate(given.decisions)
            for fault in given.faults(n)
        ],
    }


def grid(given: Grid) -> Json:
    """JSON of ``grid``: a row for each document or section (its headings and the label of its first page, else
    null), a cell for each column. A cell without a status is not filled yet."""
    return {
        **picked(given.info, "grid_id name total done error"),
        "columns": [picked(column, "column_id name question type unit") for column in given.columns],
        "rows": [
            {
                **picked(row, "row_id doc_id title earlier"),
                "section": list(row.section) or None,
                "page": row.page_label or None,
                "cells": [_filled_cell(given.cell(row.row_id, column.column_id), column) for column in given.columns],
            }
            for row in given.rows
        ],
    }


def _filled_cell(given: GridCell, column: Column) -> Json:
    found = given.found
    return {
        "column": column.name,
        "status": given.status,
        **_value(given.value),
        "rivals": [_value(one) for one in found.rivals] if found is not None and given.status == "rival" else [],
        "likely": [_value(one) for one in given.likely],
        "nearest": [] if found is None else [picked(citation, _CITATION) for citation in found.nearest],
        "reason": "" if found is None else found.reason,
        "supported": given.supported,
        "filled_by": given.filled_by,
        "passages_read": 0 if found is None else found.read,
        "decision": given.decision.kind,
        "error": None if found is None else found.error,
    }


def _value(given: CellValue) -> Json:
    return {
        "value": given.text or None,
        **picked(given, "number unit period"),
        "citations": [picked(citation, _CITATION) for citation in given.citations],
    }


def spending(found: Spending) -> Json:
    """JSON of ``spending``; a price is None if the model has none."""
    return picked(found, "since calls usage usd unpriced") | {"by_model": plain(found.entries)}


def feedback(told: Sequence[FeedbackRecord]) -> Json:
    """JSON of ``feedback``; ``created`` is in seconds since the epoch."""
    flat = [plain(each) for each in told]
    return {"feedback": [item.pop("feedback") | item for item in flat]}
