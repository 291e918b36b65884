"""Large words printed under or over the text ("DRAFT", "CONFIDENTIAL"), found before the layout model's regions are
filled: they would stand in the middle of the paragraphs that they cross."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGER = 1.6  # times the page's median font size
CROSSED = 3  # words that a watermark is printed over, at least
COVERED = 0.5  # of such a word's area


def overprinted(boxes: NDArray[np.float32], sizes: NDArray[np.float32]) -> NDArray[np.intp]:
    """Indices of the large words (``boxes`` float32 ``(n, 4)``, ``sizes`` float32 ``(n,)``) that share their place
    with several smaller ones."""
    if not len(boxes):
        return np.empty(0, dtype=np.intp)
    common = float(np.median(sizes))
    small = boxes[sizes < LARGER * common]
    areas = np.maximum((small[:, 2] - small[:, 0]) * (small[:, 3] - small[:, 1]), 1e-6)
    found: list[int] = []
    for index in np.flatnonzero(sizes >= LARGER * common).tolist():
        x0, y0, x1, y1 = boxes[index]
        width = np.minimum(small[:, 2], x1) - np.maximum(small[:, 0], x0)
        height = np.minimum(small[:, 3], y1) - np.maximum(small[:, 1], y0)
        shared = width.clip(0) * height.clip(0)
        if int(np.count_nonzero(shared > COVERED * areas)) >= CROSSED:
            found.append(index)
    return np.asarray(found, dtype=np.intp)
