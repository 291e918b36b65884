"""ADE JSON imported: are its cells ours, with the PDF and without, and what does our own parser make of the same PDFs?

    python -m benchmarks ade [--set ade-samples] [--match TEXT]

Counted are the table cells of ADE that have text and a box. One is *found* when the document has a cell on that page
with the same letters and digits whose words overlap the box (intersection over the smaller area, at least one half).
*Printed* is the baseline: cells in whose box the PDF's own text layer has just ADE's text (pymupdf, words by their
centres), which is as many as any import can find that takes its words from the PDF. *Words* is the share of the PDF's
words that stand in the document's text, each as often.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pymupdf

from benchmarks.common import data, table, words
from ragcore.config.settings import Settings, load
from ragcore.ingest.ade.markup import HtmlTable, pieces
from ragcore.ingest.ade.pages import AdeSource
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.ingest.parse import inspect, parse_pages
from ragcore.types import Document

Share = tuple[float, float, float, float]
Wanted = tuple[int, str, Share]  # page from 1, letters and digits, box in shares of the page


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def ade_cells(source: AdeSource) -> list[Wanted]:
    """The cells of ADE's tables that have letters or digits and a box."""
    found: list[Wanted] = []
    for page, chunks in sorted(source.ade.chunks.items()):
        for chunk in chunks:
            for piece in pieces(chunk.markdown):
                for cell in HtmlTable(piece.html).cells if piece.kind == "table" else ():
                    text = letters("".join(cell.lines))
                    place = source.ade.boxes.get(cell.key)
                    if text and place is not None:
                        found.append((page, text, place[1]))
    return found


def our_cells(document: Document) -> list[Wanted]:
    found: list[Wanted] = []
    for element in document.elements:
        for cell in element.table.cells if element.table is not None else ():
            boxes = document.boxes(cell.start, cell.end)
            if not boxes:
                continue
            page = document.pages[boxes[0].page - 1]
            here = [box for box in boxes if box.page == page.number]
            share = (
                min(box.x0 for box in here) / page.width,
                min(box.y0 for box in here) / page.height,
                max(box.x1 for box in here) / page.width,
                max(box.y1 for box in here) / page.height,
            )
            found.append((page.number, letters(document.text[cell.start : cell.end]), share))
    return found


def overlap(a: Share, b: Share) -> float:
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    smaller = min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1]))
    return width * height / smaller if width > 0 and height > 0 and smaller > 0 else 0.0


def found(wanted: list[Wanted], given: list[Wanted]) -> int:
    """How many of ``wanted`` are among ``given``, none of those for two."""
    left = list(given)
    count = 0
    for page, text, box in wanted:
        place = next((i for i, c in enumerate(left) if c[:2] == (page, text) and overlap(c[2], box) >= 0.5), None)
        if place is not None:
            del left[place]
            count += 1
    return count


def printed(wanted: list[Wanted], pdf: pymupdf.Document) -> int:
    count = 0
    for number, text, (x0, y0, x1, y1) in wanted:
        page = pdf[number - 1]
        width, height = page.rect.width, page.rect.height
        inside = "".join(
            word[4]
            for word in page.get_text("words")
            if x0 * width <= (word[0] + word[2]) / 2 <= x1 * width
            and y0 * height <= (word[1] + word[3]) / 2 <= y1 * height
        )
        count += Counter(letters(inside)) == Counter(text)
    return count


def kept(pdf: pymupdf.Document, document: Document) -> float:
    wanted = Counter(word for page in pdf for word in words(page.get_text()))
    return (wanted & Counter(words(document.text))).total() / max(1, wanted.total())


def with_pdf(source: AdeSource, pdf: Path, settings: Settings) -> tuple[FileInfo, list[PageLayout]]:
    info = inspect(pdf, settings=settings.ingest)
    return info, list(source.pages(pdf, info, range(1, info.pages + 1)))


def without_pdf(source: AdeSource, _pdf: Path, _settings: Settings) -> tuple[FileInfo, list[PageLayout]]:
    info = FileInfo(pages=source.ade.pages)
    return info, list(source.pages(None, info, range(1, info.pages + 1)))


def own_parser(_source: AdeSource, pdf: Path, settings: Settings) -> tuple[FileInfo, list[PageLayout]]:
    info = inspect(pdf, settings=settings.ingest)
    return info, list(parse_pages(pdf, range(1, info.pages + 1), settings=settings.ingest))


WAYS: dict[str, Callable[[AdeSource, Path, Settings], tuple[FileInfo, list[PageLayout]]]] = {
    "ADE with PDF": with_pdf,
    "ADE alone": without_pdf,
    "own parser": own_parser,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="ade-samples")
    parser.add_argument("--match", default="", help="only files whose name holds this")
    options = parser.parse_args()
    settings, _origins = load()
    rows: list[tuple[object, ...]] = []
    totals: Counter[str] = Counter()
    for path in sorted(path for path in data(options.set).glob("*.json") if options.match in path.name):
        source = AdeSource(path, path.name, settings.ingest)
        pdf_path = path.with_suffix(".pdf")
        wanted = ade_cells(source)
        with pymupdf.open(pdf_path) as pdf:
            counts: dict[str, int] = {"cells": len(wanted), "printed": printed(wanted, pdf), "pages": len(pdf)}
            row: list[object] = [path.stem, len(wanted), counts["printed"]]
            for way, read in WAYS.items():
                started = time.perf_counter()
                info, layouts = read(source, pdf_path, settings)
                document = build_document("0" * 16, "0" * 64, path.name, info, layouts, settings)
                seconds = time.perf_counter() - started
                counts[way] = found(wanted, our_cells(document))
                totals[f"{way} ms"] += round(1000 * seconds)
                row += [counts[way], kept(pdf, document)]
        totals.update(counts)
        rows.append(tuple(row))
    head = ["file", "cells", "printed", *(name for way in WAYS for name in (way, "words"))]
    print(table(rows, head))
    print()
    shares = [(way, totals[way] / totals["cells"], totals[f"{way} ms"] / totals["pages"]) for way in WAYS]
    print(table([("printed", totals["printed"] / totals["cells"], ""), *shares], ["way", "found", "ms a page"]))


if __name__ == "__main__":
    main()
