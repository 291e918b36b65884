"""How much of what is printed in a page's pictures its text layer covers. Runs in the child process only.

Lines of print are found without reading them: what differs from the paper is joined along the line, and of the runs
that come of it those are kept that are as flat, as full and as divided into strokes as a line of letters is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from ragcore.ingest.layout import Rect

LINE_DPI = 100
MAX_PIXELS = 2_000_000
SOME_PICTURE = 0.15  # of the page: smaller pictures together are not looked at
CONTRAST = 40  # grey levels by which print differs from the paper
JOIN = 5.0  # points between letters and words of a line
HEIGHTS = (4.0, 30.0)  # points
FLAT = 3.0  # a line is at least this many times as wide as it is high
FULL = 0.4  # of its box, once letters and words are joined
COVERED = 0.3  # of a line's box under letters of the text layer: the line is in the text
LINES = 5  # uncovered lines that make a picture one with words

Mask = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Cover:
    """``pictures``: share (0–1) of the page under pictures; ``unread``: share of the length of all its lines of print
    that stand in pictures and are in no text; ``lines``: how many those are."""

    pictures: float
    unread: float
    lines: int

    @property
    def mostly_unread(self) -> bool:
        return self.lines >= LINES and self.unread > 0.5


def measure(page: Any, raw: Mapping[str, Any]) -> Cover:
    """What the characters of ``raw`` (MuPDF's ``rawdict`` of ``page``, seen or not) leave of the page's pictures."""
    boxes = [pymupdf.Rect(image["bbox"]) & page.rect for image in page.get_image_info()]
    boxes = [box for box in boxes if not box.is_empty]
    area = max(1.0, abs(page.rect))
    if sum(abs(box) for box in boxes) < SOME_PICTURE * area:
        return Cover(0.0, 0.0, 0)
    zoom = min(LINE_DPI / 72, (MAX_PIXELS / area) ** 0.5)
    print_ = _print(page, zoom)
    pictures, text = np.zeros_like(print_), np.zeros_like(print_)
    for box in boxes:
        _fill(pictures, tuple(box), zoom)
    for box in _letters(raw):
        _fill(text, box, zoom)
    text = np.asarray(cv2.dilate(text, np.ones((3, max(3, round(JOIN * zoom))), np.uint8)), np.uint8)
    share = float(pictures.mean())
    # A scan may lie on its side: the lines run the way that gives the more of them.
    ways = (_unread(print_, pictures, text, zoom), _unread(print_.T, pictures.T, text.T, zoom))
    length, unread, lines = max(ways)
    return Cover(share, unread / length if length else 0.0, lines)


def _unread(print_: Mask, pictures: Mask, text: Mask, zoom: float) -> tuple[int, int, int]:
    """Length in pixels of the lines across, of those in pictures and in no text, and how many these are."""
    length = unread = lines = 0
    for x, y, w, h in _lines(np.ascontiguousarray(print_), zoom):
        place = (slice(y, y + h), slice(x, x + w))
        length += w
        if pictures[place].mean() > 0.5 and text[place].mean() <= COVERED:
            unread += w
            lines += 1
    return length, unread, lines


def _lines(print_: Mask, zoom: float) -> list[tuple[int, int, int, int]]:
    """Lines of print across: left, top, width and height in pixels."""
    joined = cv2.morphologyEx(print_, cv2.MORPH_CLOSE, np.ones((1, max(3, round(JOIN * zoom))), np.uint8))
    count, labels, stats, _centres = cv2.connectedComponentsWithStats(joined)
    width, height, filled = (stats[:, i] for i in (cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT, cv2.CC_STAT_AREA))
    # Every stroke, or letters that touch, lies in the run in which its first pixel lies.
    strokes, parts = cv2.connectedComponents(print_)
    first = np.unique(parts, return_index=True)[1][1:] if strokes > 1 else np.empty(0, np.intp)
    inside = np.bincount(labels.ravel()[first], minlength=count)
    flat = (height >= HEIGHTS[0] * zoom) & (height <= HEIGHTS[1] * zoom) & (width >= FLAT * height)
    kept = flat & (filled >= FULL * width * height) & (inside * height >= width)
    kept[0] = False
    return [(int(x), int(y), int(w), int(h)) for x, y, w, h in stats[kept, :4]]


def _print(page: Any, zoom: float) -> Mask:
    """1 where the page differs from the paper around."""
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csGRAY, alpha=False)
    grey = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width)
    across, down = max(1, pixmap.width // 8), max(1, pixmap.height // 8)
    paper = cv2.medianBlur(cv2.resize(grey, (across, down), interpolation=cv2.INTER_AREA), 21)
    paper = cv2.resize(paper, (pixmap.width, pixmap.height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.absdiff(grey, paper) > CONTRAST, np.uint8)


def _letters(raw: Mapping[str, Any]) -> Iterator[Rect]:
    # Letter by letter: the box of a whole line that stands aslant would cover half of the page.
    for block in raw["blocks"]:
        for line in block["lines"] if block["type"] == 0 else ():
            for span in line["spans"]:
                yield from (char["bbox"] for char in span["chars"] if not char["c"].isspace())


def _fill(mask: Mask, box: tuple[float, ...], zoom: float) -> None:
    x0, y0, x1, y1 = (max(0, round(value * zoom)) for value in box)
    mask[y0 : y1 + 1, x0 : x1 + 1] = 1
