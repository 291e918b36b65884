"""Text that nobody can see on the page: printed in the colour of what lies under it, or in minute type.

It is no part of what a reader could check a citation against, and a usual place for orders to a model that reads the
file. Invisible text over a scan (text render mode 3) is not meant: it says what the picture shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

# Channels from which a colour counts as white, and the steps of grey by which it must differ from what is around it.
_WHITE, _CONTRAST = 0xF0, 12
_BESIDE = 2.0  # points
# Points under which type cannot be read, where most of the page is at least so many times as large.
_MINUTE, _TIMES = 2.0, 4.0


def without_unseen(page: Any, raw: dict[str, Any]) -> dict[str, Any]:
    """``raw`` (MuPDF's raw dictionary of ``page``) without the spans that cannot be seen; the page is drawn only where
    it has white text."""
    spans = list(_spans(raw))
    sizes = [float(span["size"]) for span in spans for _ in span["chars"]]
    usual = median(sizes) if sizes else 0.0
    hidden = {id(span) for span in spans if span["size"] < _MINUTE and span["size"] * _TIMES <= usual}
    white = [span for span in spans if span["chars"] and _is_white(int(span["color"]))]
    if white:
        drawn = _drawn(page)
        hidden |= {id(span) for span in white if not _stands_out(span["bbox"], drawn)}
    if not hidden:
        return raw
    blocks = []
    for block in raw["blocks"]:
        if block["type"] == 0:
            lines = [
                {**line, "spans": kept}
                for line in block["lines"]
                if (kept := [span for span in line["spans"] if id(span) not in hidden])
            ]
            if not lines:
                continue
            block = {**block, "lines": lines}
        blocks.append(block)
    return {**raw, "blocks": blocks}


def _spans(raw: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for block in raw["blocks"]:
        if block["type"] == 0:
            for line in block["lines"]:
                yield from line["spans"]


def _is_white(color: int) -> bool:
    return all((color >> shift) & 0xFF >= _WHITE for shift in (0, 8, 16))


def _drawn(page: Any) -> NDArray[np.uint8]:
    """The page in grey, one pixel to the point."""
    pixmap = page.get_pixmap(colorspace=pymupdf.csGRAY, alpha=False)
    return np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)[:, : pixmap.width]


def _stands_out(box: tuple[float, float, float, float], drawn: NDArray[np.uint8]) -> bool:
    """Whether anything can be told apart in ``box``. Of its height only the middle counts, where letters are; at its
    sides what is beside it too, since a bullet may fill all of it."""
    x0, y0, x1, y1 = box
    edge = 0.2 * (y1 - y0)
    rows = slice(int(max(y0 + edge, 0)), int(max(y1 - edge, 0)) + 1)
    part = drawn[rows, int(max(x0 - _BESIDE, 0)) : int(max(x1 + _BESIDE, 0)) + 1]
    return part.size == 0 or int(part.max()) - int(part.min()) >= _CONTRAST
