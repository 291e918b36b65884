"""Pages written by hand, for rules that need no PDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragcore.config.settings import load
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import BOLD, FileInfo, PageLayout, Region
from ragcore.types import Document

SETTINGS = load()[0]


@dataclass(frozen=True)
class Box:
    """A region of class ``kind`` whose lines stand one under another from (x, y). Each character is half of ``size``
    wide; blanks at the head of a line set it in, a tab moves on to the next 200 points; ``*word*`` is bold, ``^word^``
    two thirds of the size; ``flags`` are every word's."""

    kind: str
    x: float
    y: float
    lines: Sequence[str]
    size: float = 10.0
    flags: int = 0
    step: float = 12.0
    width: float = 0.0  # of a picture


def page(*boxes: Box, number: int = 1, width: float = 600.0, height: float = 800.0) -> PageLayout:
    """A page with ``boxes`` as its regions, in that order."""
    texts: list[str] = []
    places: list[tuple[float, float, float, float]] = []
    sizes: list[float] = []
    flags: list[int] = []
    owners: list[int] = []
    lines: list[int] = []
    regions: list[Region] = []
    for box in boxes:
        first = len(texts)
        for place, text in enumerate(box.lines):
            x = box.x + (len(text) - len(text.lstrip())) * box.size / 2
            for word in text.replace("\t", " \t ").split(" "):
                if word == "\t":
                    x = box.x + 200.0 * ((x - box.x) // 200.0 + 1)
                if not word.strip():
                    continue
                bold = BOLD if len(word) > 2 and word[0] == word[-1] == "*" else 0
                small = len(word) > 2 and word[0] == word[-1] == "^"
                shown = word.strip("*^") if bold or small else word
                size = box.size / 1.5 if small else box.size
                y = box.y + place * box.step
                texts.append(shown)
                places.append((x, y, x + len(shown) * box.size / 2, y + size))
                sizes.append(size)
                flags.append(box.flags | bold)
                owners.append(len(regions))
                lines.append(len(lines) and lines[-1] + (place > 0 or len(texts) - 1 == first))
                x += (len(shown) + 0.5) * box.size / 2
        own = places[first:]
        if own:
            area = (min(p[0] for p in own), box.y, max(p[2] for p in own), max(p[3] for p in own))
        else:
            area = (box.x, box.y, box.x + box.width, box.y + box.size)
        regions.append(Region(box.kind, area))
    return PageLayout(
        number=number,
        label=str(number),
        width=width,
        height=height,
        rotation=0,
        turn=0,
        texts=tuple(texts),
        boxes=np.asarray(places, np.float32).reshape(-1, 4),
        sizes=np.asarray(sizes, np.float32),
        lines=np.asarray(lines, np.int32),
        flags=np.asarray(flags, np.uint8),
        owners=np.asarray(owners, np.int32),
        regions=tuple(regions),
    )


def build(*pages: PageLayout, name: str = "made.pdf", info: FileInfo | None = None) -> Document:
    return build_document("0" * 16, "0" * 64, name, info or FileInfo(pages=len(pages)), pages, SETTINGS)


def shown(document: Document, *, noise: bool = False) -> list[tuple[str, str]]:
    """(kind, text) of the elements, furniture only with ``noise``."""
    return [
        (element.kind, document.text[element.start : element.end])
        for element in document.elements
        if noise or element.noise is None
    ]
