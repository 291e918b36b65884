"""Page drawing for an ADE JSON without its PDF: each chunk's text in its box. Runs in the child process only."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import pymupdf

from ragcore.files import whole
from ragcore.ingest.ade.layout import page_layout
from ragcore.ingest.ade.source import AdeFile
from ragcore.ingest.blocks import Block, page_blocks
from ragcore.ingest.layout import Rect, empty_page

NOTICE = "Redrawn from ADE JSON; the original PDF was not given"
LEADING = 1.2  # of the font size, from line to line
PAD = 1.5  # points between a frame and its text
_FRAME, _PICTURE, _NOTICE = (0.8, 0.8, 0.8), (0.95, 0.95, 0.95), (0.45, 0.45, 0.45)
_INK, _QUIET = "#000000", "#737373"


def draw_pages(ade: AdeFile, target: Path, size: tuple[float, float]) -> None:
    """Write a PDF with a page of ``size`` points for each page of ``ade``, atomically."""
    width, height = size
    document = pymupdf.open()
    for number in range(1, ade.pages + 1):
        sheet = document.new_page(width=width, height=height)
        layout = page_layout(ade, empty_page(number, str(number), width, height, 0, None))
        for block in page_blocks(layout):
            _block(sheet, block)
        sheet.insert_text((6, height - 5), NOTICE, fontsize=6, color=_NOTICE)
    document.set_metadata({"producer": NOTICE})
    with whole(target) as part:
        document.save(str(part), garbage=1, deflate=True)


def _block(sheet: pymupdf.Page, block: Block) -> None:
    if block.grid is not None:
        texts: dict[Rect, list[str]] = {}
        for line in block.lines:
            texts.setdefault(line[0].box, []).append(" ".join(word.text for word in line))
        for cell in block.grid.cells:
            sheet.draw_rect(pymupdf.Rect(cell.box), color=_FRAME, width=0.4)
        for box, lines in texts.items():
            _write(sheet, box, lines, block.size)
    elif block.kind == "figure":
        sheet.draw_rect(pymupdf.Rect(block.box), color=_FRAME, fill=_PICTURE, width=0.4)
        _write(sheet, block.box, block.description.split("\n"), 8.0, color=_QUIET)
    else:
        _write(sheet, block.box, [" ".join(word.text for word in line) for line in block.lines], block.size)


def _write(sheet: pymupdf.Page, box: Rect, lines: Sequence[str], size: float, color: str = _INK) -> None:
    """Write text in ``box`` as HTML; MuPDF picks its fonts and shrinks it until it fits."""
    x0, y0, x1, y1 = box[0] + PAD, box[1] + PAD / 2, box[2] - PAD, box[3] - PAD / 2
    if x1 - x0 < 1 or y1 - y0 < 1 or not any(lines):
        return
    html = "<br>".join(escape(line) for line in lines)
    style = f"font-family: sans-serif; font-size: {size}px; line-height: {LEADING}; color: {color}"
    sheet.insert_htmlbox(pymupdf.Rect(x0, y0, x1, y1), f'<div style="{style}">{html}</div>', scale_low=0)
