"""Page drawing for an ADE JSON without its PDF: its text in the boxes of its chunks. Runs in the child process only."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pymupdf

from ragcore.files import whole
from ragcore.ingest.ade.layout import page_layout
from ragcore.ingest.ade.source import AdeFile
from ragcore.ingest.blocks import page_blocks
from ragcore.ingest.layout import Rect, empty_page

NOTICE = "Redrawn from ADE JSON; the original PDF was not given"
_FRAME, _PICTURE, _NOTICE = (0.8, 0.8, 0.8), (0.95, 0.95, 0.95), (0.45, 0.45, 0.45)


def draw_pages(ade: AdeFile, target: Path, size: tuple[float, float]) -> None:
    """Write a PDF with a page of ``size`` points for each page of ``ade``, atomically."""
    document = pymupdf.open()
    for number in range(1, ade.pages + 1):
        sheet = document.new_page(width=size[0], height=size[1])
        page = page_layout(ade, empty_page(number, str(number), *size, 0, None))
        areas: dict[Rect, list[tuple[str, float]]] = {}  # lines with their font sizes
        for block in page_blocks(page):
            for cell in block.grid.cells if block.grid else ():
                sheet.draw_rect(pymupdf.Rect(cell.box), color=_FRAME, width=0.4)
            if block.description:
                sheet.draw_rect(pymupdf.Rect(block.box), color=_FRAME, fill=_PICTURE, width=0.4)
                areas[block.box] = [(line, 8.0) for line in block.description.split("\n")]
            for line in block.lines:
                text = " ".join(word.text for word in line)
                areas.setdefault(line[0].box, []).append((text, line[0].size))
        for box, lines in areas.items():
            _write(sheet, box, lines)
        sheet.insert_text((6, size[1] - 5), NOTICE, fontsize=6, color=_NOTICE)
    document.set_metadata({"producer": NOTICE})
    with whole(target) as part:
        document.save(str(part), garbage=1, deflate=True)


def _write(sheet: pymupdf.Page, box: Rect, lines: list[tuple[str, float]]) -> None:
    """Write lines, each with its font size, in ``box`` as HTML; MuPDF picks its fonts and shrinks it until it fits."""
    inner = pymupdf.Rect(box[0] + 1.5, box[1] + 1, box[2] - 1.5, box[3] - 1)
    if inner.width >= 1 and inner.height >= 1:
        html = "".join(f'<div style="font-size: {size}px">{escape(line)}</div>' for line, size in lines)
        sheet.insert_htmlbox(inner, f'<div style="font-family: sans-serif">{html}</div>', scale_low=0)
