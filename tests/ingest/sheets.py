"""Pages put together block by block, as layouts and as the PDF that they would be read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pymupdf

from ragcore.config.settings import Settings
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout, Rect, Region
from ragcore.types import Box, Document

WIDTH, HEIGHT = 612.0, 792.0
LETTER, LINE = 5.0, 12.0


@dataclass(frozen=True)
class Part:
    """A region of ``kind`` with its words, which run in lines from its top left. ``shade`` (0–1) is what a picture
    shows: two of one shade and size are the same picture."""

    kind: str
    box: Rect
    text: str = ""
    shade: float = 0.5
    description: str = ""


def picture(x0: float, y0: float, x1: float, y1: float, text: str = "", shade: float = 0.5) -> Part:
    return Part("picture", (x0, y0, x1, y1), text, shade)


def text(x0: float, y0: float, words: str, kind: str = "text", width: float = 240.0) -> Part:
    """Words in a column of ``width``, as high as they need."""
    lines = _lines(words, width)
    return Part(kind, (x0, y0, x0 + width, y0 + LINE * max(1, len(lines))), words)


def caption(x0: float, y0: float, words: str, width: float = 240.0) -> Part:
    return text(x0, y0, words, "caption", width)


def layout(*parts: Part, number: int = 1) -> PageLayout:
    texts: list[str] = []
    boxes: list[Rect] = []
    lines: list[int] = []
    owners: list[int] = []
    line = 0
    for owner, part in enumerate(parts):
        x0, y0, x1, _y1 = part.box
        for place, words in enumerate(_lines(part.text, x1 - x0)):
            x = x0
            for word in words:
                texts.append(word)
                boxes.append((x, y0 + place * LINE + 1, x + LETTER * len(word), y0 + place * LINE + 11))
                lines.append(line)
                owners.append(owner)
                x += LETTER * (len(word) + 1)
            line += 1
    return PageLayout(
        number=number,
        label=str(number),
        width=WIDTH,
        height=HEIGHT,
        rotation=0,
        turn=0,
        texts=tuple(texts),
        boxes=np.asarray(boxes, np.float32).reshape(-1, 4),
        sizes=np.full(len(texts), 10.0, np.float32),
        lines=np.asarray(lines, np.int32),
        flags=np.zeros(len(texts), np.uint8),
        owners=np.asarray(owners, np.int32),
        regions=tuple(Region(part.kind, part.box, description=part.description) for part in parts),
    )


def document(
    pages: Sequence[Sequence[Part]], settings: Settings, descriptions: dict[Box, str] | None = None
) -> Document:
    layouts = [layout(*parts, number=number) for number, parts in enumerate(pages, start=1)]
    info = FileInfo(pages=len(layouts))
    return build_document("0123456789abcdef", "0" * 64, "made.pdf", info, layouts, settings, descriptions)


def pdf(pages: Sequence[Sequence[Part]]) -> bytes:
    """The same pages as a PDF, of which only the pictures are drawn."""
    made = pymupdf.open()
    for parts in pages:
        page = made.new_page(width=WIDTH, height=HEIGHT)
        for part in parts:
            if part.kind == "picture":
                area = pymupdf.Rect(part.box)
                page.draw_rect(area, color=None, fill=(part.shade, 0.4, 0.2))
                page.draw_line(area.tl, area.br, color=(0, 0, 0), width=2)
    data: bytes = made.tobytes()
    made.close()
    return data


def _lines(words: str, width: float) -> list[list[str]]:
    lines: list[list[str]] = []
    room = 0.0
    for word in words.split():
        if not lines or room < LETTER * len(word):
            lines.append([])
            room = width
        lines[-1].append(word)
        room -= LETTER * (len(word) + 1)
    return lines
