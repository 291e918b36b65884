"""How well are tables read, detection included? Cell-text F1 and adjacency-relation F1 (ICDAR-2013 protocol).

    python -m benchmarks tables [--set icdar2013-eu|pmc-dev] [--baseline] [--per-doc]

Ours are the cells of `Document.elements` with the boxes of their words; a table over several pages counts on each
page with the cells printed there. ``--baseline`` also runs `pymupdf.Page.find_tables()` over
the same pages in the same run. Scored by ``tools/score_tables.py`` beside the data.

A set whose truth has no boxes (``articles.jsonl``: tables out of the publisher's XML) is scored table by table: each
true table against the predicted table of that article that shares most cell texts with it. ``missed`` counts those
with fewer than half of their cells there; ``headed_f1`` is the F1 of (value, its column headers) pairs over the tables
whose headers the XML marks. Predicted tables that no true one claims are left out: the XML lacks some of a paper's
boxes and lists.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pymupdf

from benchmarks.common import data, table
from ragcore.config.settings import load
from ragcore.ingest.document import build_document
from ragcore.ingest.parse import inspect, parse_pages
from ragcore.types import Cell, Document, Table

Cells = list[dict[str, Any]]
Pages = dict[str, list[dict[str, Any]]]


def read(path: Path) -> Document:
    settings, _origins = load()
    info = inspect(path, settings=settings.ingest)
    pages = list(parse_pages(path, range(1, info.pages + 1), settings=settings.ingest))
    return build_document("0" * 16, "0" * 64, path.name, info, pages, settings)


def ours(path: Path) -> Pages:
    """The tables of one file by page, in the scorer's form."""
    return tables_of(read(path))


def tables_of(document: Document) -> Pages:
    found: Pages = {}
    for element in document.elements:
        if element.table is None:
            continue
        parts: dict[int, Cells] = {}
        for page, cell in _cells(document, element.table):
            parts.setdefault(page, []).append(cell)
        for page, cells in sorted(parts.items()):
            found.setdefault(str(page), []).append({"id": element.id, "cells": cells})
    return found


def _cells(document: Document, table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each cell in the scorer's form with its page."""
    for cell in table.cells:
        boxes = document.boxes(cell.start, cell.end)
        yield (
            boxes[0].page,
            {
                "row": cell.row,
                "col": cell.col,
                "row_span": cell.row_span,
                "col_span": cell.col_span,
                "text": document.text[cell.start : cell.end],
                "headers": [document.text[h.start : h.end] for h in headers_of(table, cell)],
                "header": cell.header,
                "bbox": [
                    min(b.x0 for b in boxes),
                    min(b.y0 for b in boxes),
                    max(b.x1 for b in boxes),
                    max(b.y1 for b in boxes),
                ],
            },
        )


def find_tables(path: Path) -> Pages:
    """PyMuPDF's line-based finder, the baseline; its cells on the page as displayed."""
    found: Pages = {}
    with pymupdf.open(path) as document:
        for page in document:
            for table in page.find_tables(use_layout=False).tables:
                texts = table.extract()
                cells = [
                    {
                        "row": r,
                        "col": c,
                        "text": texts[r][c] or "",
                        "bbox": list(box),
                        "headers": [],
                        "header": False,
                    }
                    for r, row in enumerate(table.rows)
                    for c, box in enumerate(row.cells)
                    if box is not None and r < len(texts) and c < len(texts[r])
                ]
                found.setdefault(str(page.number + 1), []).append({"cells": cells})
    return found


def score(folder: Path, predictions: dict[str, Pages], *, per_doc: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        truth = folder / "ground_truth.jsonl"
        extra: dict[str, Any] = {}
        if not truth.is_file():
            truth = Path(scratch) / "truth.jsonl"
            predictions, extra = _matched(folder, predictions, truth)
        file = Path(scratch) / "predictions.json"
        file.write_text(json.dumps(predictions), "utf-8")
        command = [sys.executable, str(_scorer(folder)), str(truth), str(file)]
        alternative = folder / "ground_truth_alt.jsonl"
        command += ["--alt", str(alternative)] if alternative.is_file() else []
        command += ["--per-doc"] if per_doc else []
        scored: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return {**scored, **extra}


def _scorer(folder: Path) -> Path:
    return folder.parents[1] / "tools" / "score_tables.py"


def _matched(folder: Path, predictions: dict[str, Pages], truth: Path) -> tuple[dict[str, Pages], dict[str, Any]]:
    """Truth and predictions of a set without boxes, as if each true table stood on a page of its own: writes
    ``truth``; returns the matched predictions and the measures that only this set has."""
    spec = importlib.util.spec_from_file_location("score_tables", _scorer(folder))
    assert spec is not None
    assert spec.loader is not None
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    norm: Callable[[str], str] = scorer.norm
    out: dict[str, Pages] = {}
    rows: list[dict[str, Any]] = []
    missed, headed = 0, Counter[str]()
    for line in (folder / "articles.jsonl").read_text("utf-8").splitlines():
        article = json.loads(line)
        name = Path(article["pdf"]).name
        whole = _whole_tables(predictions.get(name, {}))
        for number, true in enumerate(article["tables"], start=1):
            cells = [c for c in true["cells"] if c["text"].strip()]
            texts = Counter(norm(c["text"]) for c in cells)
            shared = [sum((texts & Counter(norm(c["text"]) for c in other)).values()) for other in whole]
            best = max(range(len(whole)), key=lambda i: shared[i], default=None)
            missed += best is None or shared[best] * 2 < len(cells)
            rows.append({"pdf": name, "page": number, "bbox": None, "cells": [_truth_cell(c) for c in cells]})
            if best is not None and shared[best]:
                out.setdefault(name, {})[str(number)] = [{"cells": [{**c, "bbox": None} for c in whole[best]]}]
            if any(c["header"] for c in cells):
                wanted = Counter(_headed(cells, norm))
                got = Counter(
                    (norm(c["text"]), tuple(map(norm, c["headers"])))
                    for c in (whole[best] if best is not None else ())
                    if not c["header"]
                )
                headed.update(wanted=wanted.total(), got=got.total(), both=(wanted & got).total())
    truth.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    f1 = 2 * headed["both"] / ((headed["wanted"] + headed["got"]) or 1)
    return out, {"missed": missed, "headed_f1": round(f1, 4)}


def _whole_tables(pages: Pages) -> list[Cells]:
    """All cells of each predicted table, its parts on several pages together, printed headers once."""
    out: dict[object, Cells] = {}
    for page, tables in pages.items():
        for place, one in enumerate(tables):
            cells = out.setdefault(one.get("id", (page, place)), [])
            cells += one["cells"]
    return list(out.values())


def _truth_cell(cell: dict[str, Any]) -> dict[str, Any]:
    return {
        "start_row": cell["row"],
        "end_row": cell["row"] + cell["row_span"] - 1,
        "start_col": cell["col"],
        "end_col": cell["col"] + cell["col_span"] - 1,
        "text": cell["text"],
    }


def headers_of(table: Table, cell: Cell) -> list[Cell]:
    """Column headers above ``cell``, outermost first; none for a header cell."""
    columns = set(range(cell.col, cell.col + cell.col_span))
    above = (other for other in table.cells if other.header and not cell.header and other.row < cell.row)
    return [other for other in above if columns.intersection(range(other.col, other.col + other.col_span))]


def _headed(cells: Cells, norm: Callable[[str], str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each value of the truth with its column headers, by the rule of `headers_of`."""
    made = [
        (c, Cell(c["row"], c["col"], c["row_span"], c["col_span"], place, place + 1, header=c["header"]))
        for place, c in enumerate(cells)
    ]
    table = Table("", 0, 0, tuple(cell for _c, cell in made))
    for c, cell in made:
        if not cell.header:
            yield norm(c["text"]), tuple(norm(cells[h.start]["text"]) for h in headers_of(table, cell))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="icdar2013-eu")
    parser.add_argument("--baseline", action="store_true", help="also score Page.find_tables()")
    parser.add_argument("--per-doc", action="store_true")
    options = parser.parse_args()
    folder = data(options.set)
    methods = {"groundwork": ours, **({"find_tables": find_tables} if options.baseline else {})}
    found: dict[str, dict[str, Any]] = {}
    for name, method in methods.items():
        started = time.perf_counter()
        predictions = {path.name: method(path) for path in sorted((folder / "pdf").glob("*.pdf"))}
        seconds = time.perf_counter() - started
        print(json.dumps({"method": name, "seconds": round(seconds, 1)}))
        found[name] = score(folder, predictions, per_doc=options.per_doc)
        print(json.dumps(found[name], indent=1))
    figures = [name for name, value in found["groundwork"].items() if isinstance(value, int | float)]
    print(table([[name, *(of[figure] for figure in figures)] for name, of in found.items()], ["method", *figures]))
