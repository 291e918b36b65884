"""How well are tables read? Cell-text F1 and adjacency-relation F1 on the ICDAR-2013 tables, detection included.

    python -m benchmarks tables [--set icdar2013-eu] [--baseline] [--per-doc]

Ours are the cells of `Document.elements` with the boxes of their words. ``--baseline`` also runs
`pymupdf.Page.find_tables()` over the same pages in the same run. Scored by ``tools/score_tables.py`` beside the data.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf

from benchmarks.common import data
from ragcore.config import load
from ragcore.ingest.document import build_document
from ragcore.ingest.parse import inspect, parse_pages
from ragcore.types import Document, Table

Predictions = dict[str, dict[str, list[dict[str, Any]]]]


def ours(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The tables of one file by page, in the scorer's form."""
    settings, _origins = load()
    info = inspect(path, settings=settings.ingest)
    pages = list(parse_pages(path, range(1, info.pages + 1), settings=settings.ingest))
    document = build_document("0" * 16, "0" * 64, path.name, info, pages, settings)
    found: dict[str, list[dict[str, Any]]] = {}
    for element in document.elements:
        if element.table is not None:
            found.setdefault(str(element.page), []).append({"cells": list(_cells(document, element.table))})
    return found


def _cells(document: Document, table: Table) -> Iterator[dict[str, Any]]:
    for cell in table.cells:
        boxes = document.boxes(cell.start, cell.end)
        yield {
            "row": cell.row,
            "col": cell.col,
            "row_span": cell.row_span,
            "col_span": cell.col_span,
            "text": document.text[cell.start : cell.end],
            "bbox": [
                min(b.x0 for b in boxes),
                min(b.y0 for b in boxes),
                max(b.x1 for b in boxes),
                max(b.y1 for b in boxes),
            ],
        }


def find_tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    """PyMuPDF's line-based finder, the baseline; its cells on the page as displayed."""
    found: dict[str, list[dict[str, Any]]] = {}
    with pymupdf.open(path) as document:
        for page in document:
            for table in page.find_tables(use_layout=False).tables:
                texts = table.extract()
                cells = [
                    {"row": r, "col": c, "text": texts[r][c] or "", "bbox": list(box)}
                    for r, row in enumerate(table.rows)
                    for c, box in enumerate(row.cells)
                    if box is not None and r < len(texts) and c < len(texts[r])
                ]
                found.setdefault(str(page.number + 1), []).append({"cells": cells})
    return found


def score(folder: Path, predictions: Predictions, *, per_doc: bool) -> dict[str, Any]:
    scorer = folder.parents[1] / "tools" / "score_tables.py"
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "predictions.json"
        file.write_text(json.dumps(predictions), "utf-8")
        command = [sys.executable, str(scorer), str(folder / "ground_truth.jsonl"), str(file)]
        alternative = folder / "ground_truth_alt.jsonl"
        command += ["--alt", str(alternative)] if alternative.is_file() else []
        command += ["--per-doc"] if per_doc else []
        scored: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return scored


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="icdar2013-eu")
    parser.add_argument("--baseline", action="store_true", help="also score Page.find_tables()")
    parser.add_argument("--per-doc", action="store_true")
    options = parser.parse_args()
    folder = data(options.set)
    methods = {"groundwork": ours, **({"find_tables": find_tables} if options.baseline else {})}
    for name, method in methods.items():
        started = time.perf_counter()
        predictions = {path.name: method(path) for path in sorted((folder / "pdf").glob("*.pdf"))}
        seconds = time.perf_counter() - started
        print(json.dumps({"method": name, "seconds": round(seconds, 1)}))
        print(json.dumps(score(folder, predictions, per_doc=options.per_doc), indent=1))
