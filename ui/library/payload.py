"""JSON payload of the Library: its rows, its trash, and the contents of one document.

Boxes are sent as ``[page, x0, y0, x1, y1]`` in displayed-page points, as in `ui.chat.payload`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ragcore.config.settings import Settings
from ragcore.export.sheets import place, tables_of
from ragcore.index.shelf import Trashed
from ragcore.index.store import Storage
from ragcore.structure.groups import DocumentGroup
from ragcore.types import GENERATED_MARKS, Box, Cell, Chunk, Document, Element
from ragcore.types.json import Json, picked
from ragcore.types.library import DocumentInfo
from ui.chat.payload import box
from ui.library.advice import advice
from ui.library.jobs import Job

LINE = 300  # characters of an element or chunk that a line shows


def library(
    infos: Sequence[DocumentInfo],
    jobs: Mapping[str, Job],
    failures: Mapping[str, Mapping[str, Any]],
    stale: Collection[str],
    trash: Sequence[Trashed],
    settings: Settings,
    newest: Mapping[str, str],
) -> Json:
    """Every document with its job and the number of its earlier versions (``newest`` gives what each of these is now),
    newest first, and the trash. Advice on failures depends on the ``settings`` for reading."""
    earlier = Counter(newest.values())
    rows = sorted(infos, key=lambda info: -info.created)
    queue = list(jobs)
    return {
        "documents": [
            _row(
                info,
                jobs.get(info.doc_id),
                failures.get(info.doc_id),
                info.doc_id in stale,
                settings,
                earlier[info.doc_id],
            )
            | {"before": queue.index(info.doc_id) if info.doc_id in queue else 0}
            for info in rows
        ],
        "trash": [{"id": item.doc_id, "title": item.title, "left": round(item.left, 1)} for item in trash],
    }


def _row(
    info: DocumentInfo,
    job: Job | None,
    failure: Mapping[str, Any] | None,
    stale: bool,
    settings: Settings,
    earlier: int,
) -> Json:
    if failure and info.indexed:
        failure = None  # another process has done since what failed here
    failed = failure or info.error
    return {
        "id": info.doc_id,
        **picked(info, "name kind notes folder tags bytes seconds created status indexed gone"),
        **picked(info, "pages pages_done built_pages elements tables chunks noise noise_by_reason"),
        "title": info.title or info.name,
        "degraded": info.degraded_pages,
        "unread": list(info.unread_pages),
        "ocr": info.ocr_pages,
        "confidence": info.ocr_confidence,
        "figures": info.figures.words,
        "figures_left": info.figures.unfinished,
        "stale": stale,
        "earlier": earlier,
        "error": advice(failed, settings) if failed else None,
        "job": None
        if job is None
        else {
            **picked(job, "stage done total stopping"),
            "rate": round(job.rate, 1),
            "left": None if job.seconds_left is None else round(job.seconds_left),
        },
    }


def group(found: DocumentGroup) -> Json:
    """Group of documents, with the groups in it."""
    return {"name": found.name, "docs": list(found.doc_ids), "groups": [group(one) for one in found.groups]}


def elements(read: Document, page: int) -> list[Json]:
    """Elements with a place on one page, in reading order, noise included."""
    return [_element(read, item) for item in read.elements if page in read.element_pages(item)]


def _element(read: Document, item: Element) -> Json:
    table = item.table
    return {
        **picked(item, "kind level noise"),
        "text": (table.title if table and table.title else _line(read, item))[:LINE],
        "full": "" if table else _shown(read, item),
        "size": f"{table.rows} × {table.columns}" if table else "",
        "boxes": [box(part) for part in _outlines(item.region or read.element_boxes(item))],
        "cells": [_cell(read, cell) for cell in (table.cells if table else ())],
    }


def _outlines(boxes: Iterable[Box]) -> list[Box]:
    """One rectangle around each run of ``boxes`` (in text order) down a page; a new column or page begins another."""
    out: list[Box] = []
    for each in boxes:
        last = out[-1] if out else None
        if last is None or each.page != last.page or _in_next_column(last, each):
            out.append(each)
        else:
            out[-1] = Box(
                each.page, min(last.x0, each.x0), min(last.y0, each.y0), max(last.x1, each.x1), max(last.y1, each.y1)
            )
    return out


def _in_next_column(last: Box, each: Box) -> bool:
    """Whether ``each`` is beside ``last`` and above its last line."""
    beside = each.x0 >= last.x1 or each.x1 <= last.x0
    return beside and each.y1 < last.y1 - (each.y1 - each.y0)


def _shown(read: Document, item: Element) -> str:
    text = read.text[item.start : item.end]
    for mark in GENERATED_MARKS if item.generated else ():
        text = text.replace(mark, " ")
    return text


def _line(read: Document, item: Element) -> str:
    return " ".join(_shown(read, item).split())


def _cell(read: Document, cell: Cell) -> Json:
    return {
        "at": [cell.row, cell.col, cell.row_span, cell.col_span],
        "header": cell.header,
        "text": " ".join(read.text[cell.start : cell.end].split()),
        "boxes": [box(part) for part in _outlines(read.boxes(cell.start, cell.end))],
    }


def tables(read: Document) -> list[Json]:
    """Tables of a document without cells, numbered from 1 as in `ragcore.export.sheets`."""
    return [
        {
            "number": number,
            "title": item.table.title if item.table else "",
            "page": item.page,
            "place": place(read, item),
            "rows": item.table.rows if item.table else 0,
            "columns": item.table.columns if item.table else 0,
        }
        for number, item in enumerate(tables_of(read), start=1)
    ]


def table(read: Document, number: int) -> Json | None:
    """Cells of one table; None if there is no such table."""
    found = tables_of(read)
    if not 1 <= number <= len(found):
        return None
    of_table = found[number - 1].table
    assert of_table is not None
    return {"cells": [_cell(read, cell) for cell in of_table.cells]}


def noise(read: Document) -> list[Json]:
    """Text kept but not indexed, with reason and page, in page order."""
    found = sorted((item for item in read.elements if item.noise is not None), key=lambda item: (item.page, item.id))
    return [
        {
            "page": item.page,
            "label": read.pages[item.page - 1].label,
            "reason": item.noise,
            "text": _line(read, item)[:LINE],
        }
        for item in found
    ]


def chunks(read: Document, given: Sequence[Chunk]) -> list[Json]:
    """Chunks of a document: kind, section, pages, tokens and beginning of each."""
    return [
        {
            **picked(chunk, "index kind section tokens"),
            "page": read.first_and_last_page(chunk.start, chunk.end)[0],
            "rows": chunk.tiles is not None,
            "text": " ".join((chunk.grid or chunk.text).split())[:LINE],
        }
        for chunk in given
    ]


def storage(found: Storage) -> Json:
    """Disk use of the library in bytes."""
    parts = {"Files": found.files, "Database": found.database, "Page pictures": found.pictures}
    return {**picked(found, "total pictures"), "parts": parts}
