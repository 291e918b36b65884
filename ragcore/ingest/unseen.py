"""Invisible text: in the colour of its background, without ink, under a shape drawn over it, or in minute type.

A reader cannot check a citation against it, and it is a usual place for prompt injection. Invisible text over a scan
(text render mode 3) is exempt: it transcribes the picture. Doubtful cases are checked on the rendered page, so that a
highlight, a table's fill or a blended shape hides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from statistics import median
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

from ragcore.ingest.layout import Rect, around

# Channel value from which a colour counts as white, and the least channel difference from the surroundings.
_WHITE, _CONTRAST = 0xF0, 12
_ALIKE = 24  # channel difference up to which text and the shape under it are checked as one colour
_BESIDE = 2.0  # points
# Points under which type is unreadable, if most of the page is at least that many times as large.
_MINUTE, _TIMES = 2.0, 4.0
# MuPDF's flags of a span: its letters were filled, outlined or made a clip (FZ_STEXT_FILLED, _STROKED, _CLIPPED).
_FILLED, _INKED = 16, 16 | 32 | 64
_SMALLEST = 3.0  # points: a narrower or lower shape covers no letter


def hide_unseen(raw: dict[str, Any], page: Any | None) -> None:
    """Remove invisible characters from the spans of ``raw`` (MuPDF's raw dictionary, with vectors). ``page`` is drawn
    in doubt; without it only text that is invisible on any background goes, without ink or in minute type."""
    spans = list(spans_of(raw))
    sizes = [float(span["size"]) for _, span in spans for _ in span["chars"]]
    usual = median(sizes) if sizes else 0.0
    for _, span in spans:
        minute = span["size"] < _MINUTE and span["size"] * _TIMES <= usual
        if minute or (span.get("alpha") == 0 and span.get("char_flags", 0) & _FILLED):
            span["chars"] = []
    if page is None:
        return
    drawn = _Drawn(page)
    for _, span in spans:
        white = span["chars"] and (_channels(int(span["color"])) >= _WHITE).all() and not drawn.stands_out(span["bbox"])
        if white or (_is_uninked(span) and drawn.is_blank(span["bbox"])):
            span["chars"] = []
    _hide_under_shapes(raw, [(at, span) for at, span in spans if span["chars"]], drawn)


def _hide_under_shapes(raw: dict[str, Any], spans: list[tuple[int, dict[str, Any]]], drawn: _Drawn) -> None:
    """Remove the letters that a shape covers, or matches in colour.

    Shapes and text come in drawing order: a shape before the text lies under it, one after it over it.
    """
    shapes = [
        (at, block["color"], block["bbox"])
        for at, block in enumerate(raw["blocks"])
        if block["type"] == 3 and block["isrect"] and not block["stroked"] and block["alpha"] == 255
        if min(block["bbox"][2] - block["bbox"][0], block["bbox"][3] - block["bbox"][1]) >= _SMALLEST
    ]
    if not shapes or not spans:
        return
    order = np.array([at for at, _, _ in shapes])
    boxes = np.array([box for _, _, box in shapes], dtype=np.float64)
    channels = np.array([_channels(color) for _, color, _ in shapes])
    printed = sorted({int(span["color"]) for _, span in spans})
    alike = np.array([(np.abs(channels - _channels(color)) <= _ALIKE).all(axis=1) for color in printed])
    x0, y0, x1, y1 = np.array([span["bbox"] for _, span in spans], dtype=np.float64).T[:, :, None]
    middle = (y0 + y1) / 2
    near = (boxes[:, 0] < x1) & (boxes[:, 2] > x0) & (boxes[:, 1] < middle) & (boxes[:, 3] > middle)
    near &= (order > np.array([at for at, _ in spans])[:, None]) | alike[
        [printed.index(int(span["color"])) for _, span in spans]
    ]
    for one, place in zip(*np.nonzero(near)):
        span = spans[one][1]
        within = [char for char in span["chars"] if char["c"].strip() and _centre_in(char["bbox"], boxes[place])]
        if within and not drawn.shows(_around(within, boxes[place])):
            gone = {id(char) for char in within}
            span["chars"] = [char for char in span["chars"] if id(char) not in gone]


class _Drawn:
    """Rendered page, one pixel per point, made on first use."""

    def __init__(self, page: Any) -> None:
        self._page = page

    @cached_property
    def _pixels(self) -> NDArray[np.uint8]:
        pixmap = self._page.get_pixmap(colorspace=pymupdf.csRGB, alpha=False)
        rows = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)
        return rows[:, : pixmap.width * 3].reshape(pixmap.height, pixmap.width, 3)

    @cached_property
    def _images(self) -> list[Rect]:
        return [box for kind, box in self._page.get_bboxlog() if "image" in kind]

    def stands_out(self, box: Rect) -> bool:
        """Whether anything is distinguishable in ``box``. Only the middle of its height counts, where letters are; its
        surroundings at the sides count too, since a bullet may fill all of it."""
        x0, y0, x1, y1 = box
        edge = 0.2 * (y1 - y0)
        rows = slice(int(max(y0 + edge, 0)), int(max(y1 - edge, 0)) + 1)
        part = self._pixels[rows, int(max(x0 - _BESIDE, 0)) : int(max(x1 + _BESIDE, 0)) + 1]
        return part.size == 0 or _differs(part)

    def shows(self, box: Rect) -> bool:
        """Whether anything is distinguishable inside ``box``, except at its edge."""
        x0, y0, x1, y1 = box
        part = self._pixels[int(max(y0, 0)) + 1 : int(max(y1, 0)), int(max(x0, 0)) + 1 : int(max(x1, 0))]
        return part.size == 0 or _differs(part)

    def is_blank(self, box: Rect) -> bool:
        """Whether ``box`` has neither a picture nor any drawing in it."""
        x0, y0, x1, y1 = box
        if any(a < x1 and c > x0 and b < y1 and d > y0 for a, b, c, d in self._images):
            return False
        part = self._pixels[int(max(y0, 0)) : int(max(y1, 0)) + 1, int(max(x0, 0)) : int(max(x1, 0)) + 1]
        return part.size > 0 and not _differs(part)


def spans_of(raw: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every span, with the index of its block."""
    for at, block in enumerate(raw["blocks"]):
        if block["type"] == 0:
            for line in block["lines"]:
                for span in line["spans"]:
                    yield at, span


def _is_uninked(span: dict[str, Any]) -> bool:
    """Whether its letters are of text render mode 3."""
    return span.get("alpha") == 0 and not span.get("char_flags", _INKED) & _INKED and bool(span["chars"])


def _channels(color: int) -> NDArray[np.int16]:
    return np.array([(color >> shift) & 0xFF for shift in (16, 8, 0)], dtype=np.int16)


def _centre_in(box: Rect, shape: NDArray[np.float64]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return bool(shape[0] <= x <= shape[2] and shape[1] <= y <= shape[3])


def _around(chars: list[dict[str, Any]], shape: NDArray[np.float64]) -> Rect:
    """Part of the shape that the letters occupy."""
    x0, y0, x1, y1 = around(char["bbox"] for char in chars)
    return max(x0, float(shape[0])), max(y0, float(shape[1])), min(x1, float(shape[2])), min(y1, float(shape[3]))


def _differs(part: NDArray[np.uint8]) -> bool:
    return int((part.max(axis=(0, 1)).astype(int) - part.min(axis=(0, 1))).max()) >= _CONTRAST
