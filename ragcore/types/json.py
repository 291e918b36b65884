"""JSON output of the command line: one function per object.

Boxes are ``{"page", "x0", "y0", "x1", "y1"}`` in displayed-page points (see `ragcore.types.Box`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from ragcore.types import Answer, Box, Cell, Chunk, Document, Element, Hit, Retrieval, Spending, Table
from ragcore.types.library import Estimate, FeedbackRecord
from ragcore.types.report import FilledSection, Report

Json = dict[str, Any]
_CITATION = "n doc_id title page page_label section label quote start end generated boxes ocr"


def _picked(given: Any, names: str) -> Json:
    """JSON fields of ``given`` with these ``names``."""
    return {name: _plain(getattr(given, name)) for name in names.split()}


def _plain(value: Any) -> Any:
    if isinstance(value, Box):
        return value.as_dict()
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return dict(value)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def estimates(found: Sequence[Estimate]) -> Json:
    """JSON of ``index --estimate``: costs by document and their total (None if a model has no price)."""
    prices = [None if each.usd is None else min(each.usd, each.limit) for each in found]
    known = [price for price in prices if price is not None]
    return {
        "documents": [asdict(each) for each in found],
        "chunks": sum(each.chunks for each in found),
        "usd": round(sum(known), 4) if len(known) == len(prices) else None,
    }


def elements(document: Document, chosen: Iterable[Element]) -> Json:
    """JSON of ``elements DOC``: pages and the chosen elements."""
    pages = [asdict(page) for page in document.pages]
    return {
        **_picked(document, "doc_id title"),
        "pages": [{"page": page.pop("number"), **page} for page in pages],
        "elements": [_element(document, element) for element in chosen],
    }


def _element(document: Document, element: Element) -> Json:
    return {
        **_picked(element, "id kind level page start end"),
        "text": document.text[element.start : element.end],
        "boxes": _boxes(document.element_boxes(element)),
        **_picked(element, "section noise"),
        "table": _table(document, element.table) if element.table else None,
        **_picked(element, "caption caption_of generated"),
    }


def _table(document: Document, table: Table) -> Json:
    return _picked(table, "title rows columns") | {"cells": [_cell(document, table, cell) for cell in table.cells]}


def _cell(document: Document, table: Table, cell: Cell) -> Json:
    """JSON of a table cell; ``repeated`` are the places where a header is printed again on later parts of its table."""
    row_header = table.row_header_of(cell)
    again = [other for other in table.repeated if cell.header and (other.row, other.col) == (cell.row, cell.col)]
    return {
        **_picked(cell, "row col row_span col_span header"),
        "headers": [document.text[other.start : other.end] for other in table.headers_of(cell)],
        "row_header": document.text[row_header.start : row_header.end] if row_header else "",
        "text": document.text[cell.start : cell.end],
        "mark": document.text[slice(*cell.mark)].strip() if cell.mark else "",
        **_picked(cell, "start end"),
        "boxes": _boxes(document.boxes(cell.start, cell.end)),
        "repeated": _boxes(box for other in again for box in document.boxes(other.start, other.end)),
    }


def chunk(document: Document, item: Chunk) -> Json:
    """JSON of a line of ``chunks DOC``: a tile, or a composite that spans the tiles ``tiles`` (first and last index),
    with its indexed text ``grid``."""
    return {
        **_picked(item, "chunk_id index"),
        "composite": item.tiles is not None,
        **_picked(item, "tiles kind start end text section header context lead_in grid"),
        "boxes": _boxes(document.boxes(item.start, item.end)),
        "tokens": item.tokens,
    }


def retrieval(found: Retrieval, document: Callable[[str], Document]) -> Json:
    """JSON of ``retrieve``."""
    return {
        **_picked(found, "query mode"),
        "hits": [_hit(hit, document(hit.chunk.doc_id)) for hit in found.hits],
        "segments": [
            {
                "doc_id": segment.doc_id,
                "title": (source := document(segment.doc_id)).title,
                **_picked(segment, "start end first_chunk last_chunk value via"),
                "pages": list(source.pages_of(segment.start, segment.end)),
                "text": source.text[segment.start : segment.end],
            }
            for segment in found.segments
        ],
        "routes": [
            {"doc_id": route.doc_id, **_picked(document(route.doc_id), "title name"), **_picked(route, "prior reason")}
            for route in found.routes
        ],
        **_picked(found, "candidates reranked"),
        "queries": [
            {
                "number": number,
                **_picked(asked, "text origin reason also"),
                "hits": sum(number in hit.queries for hit in found.hits),
                "timings_ms": dict(asked.timings_ms),
            }
            for number, asked in enumerate(found.queries, start=1)
        ],
        **_picked(found, "notes usage cost_usd timings_ms"),
    }


def _hit(hit: Hit, document: Document) -> Json:
    item = hit.chunk
    return {
        "rank": hit.rank,
        **_picked(item, "chunk_id doc_id"),
        **_picked(document, "title name"),
        **_picked(item, "index kind"),
        "composite": item.tiles is not None,
        **_picked(item, "tiles section"),
        "pages": list(document.pages_of(item.start, item.end)),
        **_picked(item, "start end text"),
        "boxes": _boxes(document.boxes(item.start, item.end)),
        "score": hit.score,
        "scores": {step: hit.scores.get(step) for step in ("vector", "bm25", "prior", "fused", "rerank", "question")},
        **_picked(hit, "ranks via queries"),
    }


def answer(given: Answer) -> Json:
    """JSON of ``generate`` and of each line of ``conversation``."""
    return {
        **_picked(given, "question standalone rewritten_by queries"),
        "answer": given.text,
        **_picked(given, "refused status error extractive"),
        "claims": [
            {
                **_picked(claim, "text citations"),
                "added": [mark.n for mark in given.marks if mark.added and claim.start <= mark.start < claim.end],
                **_picked(claim, "status reason"),
                "wrong": [given.text[start:end] for start, end in claim.wrong],
            }
            for claim in given.claims
        ],
        "marks": _plain(given.marks),
        "citations": [_picked(citation, _CITATION) for citation in given.citations],
        "dropped_citations": list(given.dropped),
        "notes": [*(given.trace.notes if given.trace else ()), *given.notes],
        **_picked(given, "model replayed usage cost_usd timings_ms settings_hash"),
    }


def report(given: Report) -> Json:
    """JSON of ``template``, with the sections in printed order."""
    return {
        "title": given.title,
        **_picked(given.focus, "subject year"),
        "sections": [_filled(section) for section in given.sections],
        **_picked(given, "model extractive usage cost_usd"),
    }


def _filled(section: FilledSection) -> Json:
    written = answer(section.answer) if section.answer is not None else {}
    return {
        **_picked(section, "number level heading guidance"),
        **_picked(section.field, "kind columns unit"),
        "required": section.required,
        "requirements": list(section.field.requirements),
        **_picked(section, "status rounds text"),
        **{key: written.get(key, []) for key in ("claims", "marks", "citations", "dropped_citations", "notes")},
        "gaps": [
            _picked(gap, "what doc_id why") | {"nearest": [_picked(citation, _CITATION) for citation in gap.nearest]}
            for gap in section.gaps
        ],
        "error": written.get("error"),
    }


def spending(found: Spending) -> Json:
    """JSON of ``spending``; a price is None if the model has none."""
    told = _picked(found, "calls usage usd unpriced")
    return told | {"by_model": _plain(found.entries), "by_day": _plain(found.days)}


def feedback(told: Sequence[FeedbackRecord]) -> Json:
    """JSON of ``feedback``; ``created`` is in seconds since the epoch."""
    flat = [asdict(each) for each in told]
    return {"feedback": [item.pop("feedback") | item for item in flat]}


def _boxes(boxes: Iterable[Box]) -> list[dict[str, float]]:
    return [box.as_dict() for box in boxes]
