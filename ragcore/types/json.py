"""The JSON that the command line prints: one function per object of its contract.

Boxes are ``{"page", "x0", "y0", "x1", "y1"}`` in displayed-page points (see `ragcore.types.Box`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ragcore.types import (
    Answer,
    Box,
    Cell,
    Chunk,
    Citation,
    Document,
    Element,
    Hit,
    Page,
    Retrieval,
    Route,
    Segment,
    Spending,
    SubQuery,
    Table,
)
from ragcore.types.report import FilledSection, Report

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragcore.types.library import DocumentInfo, Estimate, FeedbackRecord

Json = dict[str, Any]


def document_info(info: DocumentInfo) -> Json:
    """A line of ``documents``."""
    return asdict(info)


def estimates(found: Sequence[Estimate]) -> Json:
    """``index --estimate``: by document, and what may be spent on all of them (None where a model has no price)."""
    prices = [None if each.usd is None else min(each.usd, each.limit) for each in found]
    known = [price for price in prices if price is not None]
    return {
        "documents": [asdict(each) for each in found],
        "chunks": sum(each.chunks for each in found),
        "usd": round(sum(known), 4) if len(known) == len(prices) else None,
    }


def elements(document: Document, chosen: Iterable[Element]) -> Json:
    """``elements DOC``: pages and the chosen elements."""
    return {
        "doc_id": document.doc_id,
        "title": document.title,
        "pages": [_page(page) for page in document.pages],
        "elements": [_element(document, element) for element in chosen],
    }


def _page(page: Page) -> Json:
    fields = asdict(page)
    return {"page": fields.pop("number"), **fields}


def _element(document: Document, element: Element) -> Json:
    return {
        "id": element.id,
        "kind": element.kind,
        "level": element.level,
        "page": element.page,
        "start": element.start,
        "end": element.end,
        "text": document.text[element.start : element.end],
        "boxes": _boxes(document.element_boxes(element)),
        "section": list(element.section),
        "noise": element.noise,
        "table": _table(document, element.table) if element.table else None,
        "caption": element.caption,
        "caption_of": list(element.caption_of),
        "generated": list(element.generated) if element.generated else None,
    }


def _table(document: Document, table: Table) -> Json:
    return {
        "title": table.title,
        "rows": table.rows,
        "columns": table.columns,
        "cells": [_cell(document, table, cell) for cell in table.cells],
    }


def _cell(document: Document, table: Table, cell: Cell) -> Json:
    """``repeated`` are the places where a header is printed again because its table goes on there."""
    row_header = table.row_header_of(cell)
    again = [other for other in table.repeated if cell.header and (other.row, other.col) == (cell.row, cell.col)]
    return {
        "row": cell.row,
        "col": cell.col,
        "row_span": cell.row_span,
        "col_span": cell.col_span,
        "header": cell.header,
        "headers": [document.text[other.start : other.end] for other in table.headers_of(cell)],
        "row_header": document.text[row_header.start : row_header.end] if row_header else "",
        "text": document.text[cell.start : cell.end],
        "mark": document.text[slice(*cell.mark)].strip() if cell.mark else "",
        "start": cell.start,
        "end": cell.end,
        "boxes": _boxes(document.boxes(cell.start, cell.end)),
        "repeated": _boxes(box for other in again for box in document.boxes(other.start, other.end)),
    }


def chunk(document: Document, item: Chunk) -> Json:
    """A line of ``chunks DOC``: a tile of the document's tiling, or a composite, which spans the tiles ``tiles`` (first
    and last, by index) and whose ``grid`` is what is indexed of it."""
    return {
        "chunk_id": item.chunk_id,
        "index": item.index,
        **_composite(item),
        "kind": item.kind,
        "start": item.start,
        "end": item.end,
        "text": item.text,
        "section": list(item.section),
        "header": item.header,
        "context": item.context,
        "lead_in": item.lead_in,
        "grid": item.grid,
        "boxes": _boxes(document.boxes(item.start, item.end)),
        "tokens": item.tokens,
    }


def _composite(item: Chunk) -> Json:
    return {"composite": item.tiles is not None, "tiles": list(item.tiles) if item.tiles else None}


def retrieval(found: Retrieval, document: Callable[[str], Document]) -> Json:
    """``retrieve``."""
    return {
        "query": found.query,
        "mode": found.mode,
        "hits": [_hit(hit, document(hit.chunk.doc_id)) for hit in found.hits],
        "segments": [_segment(segment, document(segment.doc_id)) for segment in found.segments],
        "routes": [_route(route, document(route.doc_id)) for route in found.routes],
        "candidates": found.candidates,
        "reranked": found.reranked,
        "queries": [_query(number, one, found) for number, one in enumerate(found.queries, start=1)],
        "notes": list(found.notes),
        "usage": asdict(found.usage),
        "cost_usd": found.cost_usd,
        "cache": asdict(found.cache),
        "timings_ms": dict(found.timings_ms),
    }


def _query(number: int, asked: SubQuery, found: Retrieval) -> Json:
    return {
        "number": number,
        "text": asked.text,
        "origin": asked.origin,
        "reason": asked.reason,
        "also": list(asked.also),
        "hits": sum(number in hit.queries for hit in found.hits),
        "timings_ms": dict(asked.timings_ms),
    }


def _route(route: Route, document: Document) -> Json:
    return {
        "doc_id": route.doc_id,
        "title": document.title,
        "name": document.name,
        "prior": route.prior,
        "reason": route.reason,
    }


def _hit(hit: Hit, document: Document) -> Json:
    item = hit.chunk
    return {
        "rank": hit.rank,
        "chunk_id": item.chunk_id,
        "doc_id": item.doc_id,
        "title": document.title,
        "name": document.name,
        "index": item.index,
        "kind": item.kind,
        **_composite(item),
        "section": list(item.section),
        "pages": list(document.pages_of(item.start, item.end)),
        "start": item.start,
        "end": item.end,
        "text": item.text,
        "boxes": _boxes(document.boxes(item.start, item.end)),
        "score": hit.score,
        "scores": {step: hit.scores.get(step) for step in ("vector", "bm25", "prior", "fused", "rerank", "question")},
        "ranks": dict(hit.ranks),
        "via": hit.via,
        "queries": list(hit.queries),
    }


def _segment(segment: Segment, document: Document) -> Json:
    return {
        "doc_id": segment.doc_id,
        "title": document.title,
        "start": segment.start,
        "end": segment.end,
        "first_chunk": segment.first_chunk,
        "last_chunk": segment.last_chunk,
        "value": segment.value,
        "via": segment.via,
        "pages": list(document.pages_of(segment.start, segment.end)),
        "text": document.text[segment.start : segment.end],
    }


def answer(given: Answer) -> Json:
    """``generate`` and each line of ``conversation``."""
    return {
        "question": given.question,
        "standalone": given.standalone,
        "rewritten_by": given.rewritten_by,
        "queries": list(given.queries),
        "answer": given.text,
        "refused": given.refused,
        "status": given.status,
        "error": dict(given.error) if given.error else None,
        "extractive": given.extractive,
        "claims": [
            {
                "text": claim.text,
                "citations": list(claim.citations),
                "added": [mark.n for mark in given.marks if mark.added and claim.start <= mark.start < claim.end],
                "status": claim.status,
                "reason": claim.reason,
                "wrong": [given.text[start:end] for start, end in claim.wrong],
            }
            for claim in given.claims
        ],
        "marks": [asdict(mark) for mark in given.marks],
        "citations": [_cited(citation) for citation in given.citations],
        "dropped_citations": list(given.dropped),
        "notes": [*(given.trace.notes if given.trace else ()), *given.notes],
        "model": given.model,
        "replayed": given.replayed,
        "usage": asdict(given.usage),
        "cost_usd": given.cost_usd,
        "timings_ms": dict(given.timings_ms),
        "settings_hash": given.settings_hash,
    }


def _cited(citation: Citation) -> Json:
    return {
        "n": citation.n,
        "doc_id": citation.doc_id,
        "title": citation.title,
        "page": citation.page,
        "page_label": citation.page_label,
        "section": list(citation.section),
        "label": citation.label,
        "quote": citation.quote,
        "start": citation.start,
        "end": citation.end,
        "generated": citation.generated,
        "boxes": _boxes(citation.boxes),
        "ocr": citation.ocr,
    }


def report(given: Report) -> Json:
    """``template``: its sections in the order in which they are printed."""
    return {
        "title": given.title,
        "subject": given.focus.subject,
        "year": given.focus.year,
        "sections": [_filled(section) for section in given.sections],
        "model": given.model,
        "extractive": given.extractive,
        "usage": asdict(given.usage),
        "cost_usd": given.cost_usd,
    }


def _filled(section: FilledSection) -> Json:
    written = answer(section.answer) if section.answer is not None else {}
    return {
        "number": section.number,
        "level": section.level,
        "heading": section.heading,
        "guidance": section.guidance,
        "kind": section.field.kind,
        "columns": list(section.field.columns),
        "unit": section.field.unit,
        "required": section.required,
        "requirements": list(section.field.requirements),
        "status": section.status,
        "rounds": section.rounds,
        "text": section.text,
        **{key: written.get(key, []) for key in ("claims", "marks", "citations", "dropped_citations", "notes")},
        "gaps": [
            {
                "what": gap.what,
                "doc_id": gap.doc_id,
                "why": gap.why,
                "nearest": [_cited(citation) for citation in gap.nearest],
            }
            for gap in section.gaps
        ],
        "error": written.get("error"),
    }


def spending(found: Spending) -> Json:
    """``spending``; a price is None where a model has none."""
    return {
        "calls": found.calls,
        "usage": asdict(found.usage),
        "usd": found.usd,
        "unpriced": list(found.unpriced),
        "by_model": [asdict(entry) for entry in found.entries],
        "by_day": [asdict(day) for day in found.days],
    }


def feedback(told: Sequence[FeedbackRecord]) -> Json:
    """``feedback``; ``created`` in seconds since the epoch."""
    flat = [asdict(each) for each in told]
    return {"feedback": [item.pop("feedback") | item for item in flat]}


def _boxes(boxes: Iterable[Box]) -> list[dict[str, float]]:
    return [box.as_dict() for box in boxes]
