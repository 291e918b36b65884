"""Pages drawn from an ADE JSON whose PDF is not there: each chunk's text in its box. Runs in the child process only."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import pymupdf

from ragcore.files import whole
from ragcore.ingest.ade.layout import page_layout
from ragcore.ingest.ade.source import AdeFile
from ragcore.ingest.blocks import Block, page_blocks
from ragcore.ingest.layout import PageLayout, Rect, empty_page

NOTICE = "Redrawn from ADE JSON; the original PDF was not given"
SIZES = (10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0)  # points tried before MuPDF shrinks the text itself
LEADING = 1.2  # of the font size, from line to line
PAD = 1.5  # points between a frame and its text
_FRAME, _PICTURE, _INK, _QUIET = (0.8, 0.8, 0.8), (0.95, 0.95, 0.95), (0.0, 0.0, 0.0), (0.45, 0.45, 0.45)


def draw_pages(ade: AdeFile, target: Path, size: tuple[float, float]) -> None:
    """Write a PDF with a page of ``size`` points for each page of ``ade``, in whole or not at all."""
    width, height = size
    document = pymupdf.open()
    pen = _Pen()
    for number in range(1, ade.pages + 1):
        sheet = document.new_page(width=width, height=height)
        layout = page_layout(ade, empty_page(number, str(number), width, height, 0, None))
        for block in page_blocks(layout):
            pen.block(sheet, layout, block)
        sheet.insert_text((6, height - 5), NOTICE, fontsize=6, color=_QUIET)
    document.set_metadata({"producer": NOTICE})
    with whole(target) as part:
        document.save(str(part), garbage=1, deflate=True)


class _Pen:
    """Writes text into rectangles: in Helvetica where it has the characters, else as HTML, whose fonts MuPDF picks
    (about 10 ms each)."""

    def __init__(self) -> None:
        self._font = pymupdf.Font("helv")
        self._widths: dict[str, float] = {}  # of words, at 1 point

    def block(self, sheet: pymupdf.Page, layout: PageLayout, block: Block) -> None:
        if block.grid is not None:
            texts: dict[Rect, list[str]] = {}
            for line in block.lines:
                texts.setdefault(line[0].box, []).append(" ".join(word.text for word in line))
            for cell in block.grid.cells:
                sheet.draw_rect(pymupdf.Rect(cell.box), color=_FRAME, width=0.4)
            for box, lines in texts.items():
                self._write(sheet, box, lines, block.size)
        elif block.kind == "figure":
            sheet.draw_rect(pymupdf.Rect(block.box), color=_FRAME, fill=_PICTURE, width=0.4)
            self._write(sheet, block.box, block.description.split("\n"), 8.0, color=_QUIET)
        else:
            lines = [" ".join(word.text for word in line) for line in block.lines]
            self._write(sheet, block.box, lines, block.size)

    def _write(
        self,
        sheet: pymupdf.Page,
        box: Rect,
        lines: Sequence[str],
        size: float,
        color: tuple[float, float, float] = _INK,
    ) -> None:
        x0, y0, x1, y1 = box[0] + PAD, box[1] + PAD / 2, box[2] - PAD, box[3] - PAD / 2
        if x1 - x0 < 1 or y1 - y0 < 1 or not any(lines):
            return
        known = all(self._font.has_glyph(ord(c)) for line in lines for c in line)
        for tried in sorted({size, *(s for s in SIZES if s < size)}, reverse=True) if known else ():
            wrapped = self._wrapped(lines, tried, x1 - x0)
            if wrapped is not None and len(wrapped) * LEADING * tried <= y1 - y0 + 0.3 * tried:
                writer = pymupdf.TextWriter(sheet.rect, color=color)
                for place, line in enumerate(wrapped):
                    writer.append((x0, y0 + (0.9 + place * LEADING) * tried), line, font=self._font, fontsize=tried)
                writer.write_text(sheet)
                return
        shade = "".join(f"{round(255 * part):02x}" for part in color)
        html = "<br>".join(escape(line) for line in lines)
        style = f"font-family: sans-serif; font-size: {size}px; line-height: {LEADING}; color: #{shade}"
        sheet.insert_htmlbox(pymupdf.Rect(x0, y0, x1, y1), f'<div style="{style}">{html}</div>', scale_low=0)

    def _wrapped(self, lines: Sequence[str], size: float, width: float) -> list[str] | None:
        """``lines`` broken at blanks to ``width`` points; None where a word is wider."""
        out: list[str] = []
        blank = self._width(" ", size)
        for line in lines:
            run: list[str] = []
            used = 0.0
            for word in line.split():
                length = self._width(word, size)
                if length > width:
                    return None
                if run and used + blank + length > width:
                    out.append(" ".join(run))
                    run, used = [], 0.0
                used += length + (blank if run else 0.0)
                run.append(word)
            out.append(" ".join(run))
        return out

    def _width(self, word: str, size: float) -> float:
        if word not in self._widths:
            self._widths[word] = float(self._font.text_length(word, 1.0))
        return size * self._widths[word]
