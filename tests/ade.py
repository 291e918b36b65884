"""ADE JSON made on the spot, and the PDFs it describes. Boxes are given in points of a US letter page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pymupdf

from tests.pdfs import PAGE

Box = tuple[float, float, float, float]

HEADER = "Larkfield Water Survey"
FINDING = "The highest reading was 61.4 milligrams per litre at the Orchard Lane pump."
STEPS = ("Close the pump until autumn.", "Serve the households from the main.")
CAPTION = "Nitrate by well"
ROWS = (
    ("Well", "Nitrate", ""),
    ("", "April", "May"),
    ("Orchard Lane", "58.2", "61.4"),
    ("Mill Bridge", "12.0", "11.6"),
)
CHART = "A bar chart of nitrate by month, highest in May."
STRAY = "Printed by the council press."
CELL = (130.0, 20.0)  # points: width and height of a cell
TABLE_TOP = 330.0
TABLE_BOX = (70.0, 300.0, 470.0, 420.0)


def share(box: Box, page: tuple[float, float] = PAGE) -> dict[str, float]:
    width, height = page
    return {"left": box[0] / width, "top": box[1] / height, "right": box[2] / width, "bottom": box[3] / height}


def chunk(kind: str, markdown: str, box: Box, page: int = 0, **more: Any) -> dict[str, Any]:
    """A chunk as ADE writes it; ``page`` counts from 0."""
    key = f"{kind}-{page}-{box[1]:g}-{box[0]:g}"
    return {
        "id": key,
        "type": kind,
        "markdown": f"<a id='{key}'></a>\n\n{markdown}",
        "grounding": {"box": share(box), "page": page},
        **more,
    }


def ade(chunks: Sequence[dict[str, Any]], cells: dict[str, Box] | None = None, pages: int = 1, **more: Any) -> bytes:
    """The bytes of an ADE JSON; ``cells`` are the boxes of tables and cells on the first page by HTML id."""
    grounding = {c["id"]: c["grounding"] | {"type": "chunk" + c["type"].title()} for c in chunks}
    grounding |= {key: {"box": share(box), "page": 0, "type": "tableCell"} for key, box in (cells or {}).items()}
    content = {
        "markdown": "\n\n".join(str(c["markdown"]) for c in chunks),
        "chunks": list(chunks),
        "grounding": grounding,
        "splits": [{"class": "full", "identifier": "full", "chunks": [c["id"] for c in chunks], "pages": [0]}],
        "metadata": {"page_count": pages, "version": "dpt-2-20251103", "failed_pages": [], "credit_usage": 3.0},
    }
    return json.dumps(content | more).encode()


@dataclass(frozen=True)
class Report:
    """A two-page report: the ADE JSON, the PDF it was made from, and the same PDF as a scan would be: no words."""

    json: bytes
    pdf: bytes
    scan: bytes


def cell_box(row: int, col: int, rows: int = 1, columns: int = 1) -> Box:
    x, y = 70 + col * CELL[0], TABLE_TOP + row * CELL[1]
    return x, y, x + columns * CELL[0], y + rows * CELL[1]


def table_html() -> tuple[str, dict[str, Box]]:
    """`ROWS` with a header of two levels (spans over rows and columns); the cell ``Mill Bridge`` has neither id nor
    box."""
    cells = {
        "0-1": (70.0, TABLE_TOP, 70 + 3 * CELL[0], TABLE_TOP + 4 * CELL[1]),
        "0-2": cell_box(0, 0, rows=2),
        "0-3": cell_box(0, 1, columns=2),
        "0-4": cell_box(1, 1),
        "0-5": cell_box(1, 2),
        **{f"0-{6 + col}": cell_box(2, col) for col in range(3)},
        "0-a": cell_box(3, 1),
        "0-b": cell_box(3, 2),
    }
    html = (
        '<table id="0-1">\n<thead><tr><th id="0-2" rowspan="2">Well</th><th id="0-3" colspan="2">Nitrate</th></tr>'
        '<tr><th id="0-4">April</th><th id="0-5">May</th></tr></thead>\n'
        '<tr><td id="0-6">Orchard Lane</td><td id="0-7">58.2</td><td id="0-8">61.4</td></tr>\n'
        '<tr><td>Mill Bridge</td><td id="0-a">12.0</td><td id="0-b">11.6</td></tr>\n</table>'
    )
    return html, cells


@cache
def report() -> Report:
    html, cells = table_html()
    chunks = [
        chunk("marginalia", HEADER, (70, 30, 300, 50)),
        chunk("logo", "<::logo: a blue drop of water::>", (480, 30, 540, 60)),
        chunk(
            "text",
            f"## What was found\n\n{FINDING.replace('61.4', '**61.4**')}\n\n1. {STEPS[0]}\n2. {STEPS[1]}",
            (70, 90, 540, 200),
        ),
        chunk("table", f"{CAPTION}\n{html}", TABLE_BOX),
        chunk("figure", f"Nitrate chart\n<::{CHART}\n: figure::>", (70, 500, 300, 600)),
        chunk("scan_code", "<::scan_code: QR code::>", (400, 500, 460, 560)),
        chunk("attestation", "CAPTION ERROR", (400, 600, 460, 640)),
        chunk("text", "# What comes next\n\nThe council meets in June.", (70, 90, 540, 140), page=1),
        chunk("marginalia", "Page 2", (280, 750, 330, 770), page=1),
    ]
    document = pymupdf.open()
    document.set_metadata({})
    for number in range(2):
        page = document.new_page(width=PAGE[0], height=PAGE[1])
        for x, y, text, size in _printed(number):
            page.insert_text((x, y), text, fontsize=size)
    data = document.tobytes()
    empty = pymupdf.open()
    for _ in range(2):
        empty.new_page(width=PAGE[0], height=PAGE[1])
    return Report(ade(chunks, cells, pages=2), data, empty.tobytes())


def _printed(number: int) -> list[tuple[float, float, str, float]]:
    if number:
        return [(72, 105, "What comes next", 16), (72, 130, "The council meets in June.", 11), (282, 765, "Page 2", 9)]
    lines = [(72.0, 45.0, HEADER, 9.0), (72, 110, "What was found", 16), (72, 135, FINDING, 11)]
    lines += [(72, 160 + 18 * i, f"{i + 1}. {step}", 11) for i, step in enumerate(STEPS)]
    lines += [(72, 318, CAPTION, 11), (72, 560, "Nitrate chart", 9), (72, 680, STRAY, 11)]
    for row, texts in enumerate(ROWS):
        for col, text in enumerate(texts):
            if text:
                lines.append((75 + col * CELL[0], TABLE_TOP + row * CELL[1] + 14, text, 10))
    return [(float(x), float(y), text, float(size)) for x, y, text, size in lines]
