"""Line numbers in the margin of a draft, found before the layout model sees the page: it would take them for list
numbers or for a column, and miss the headings beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.layout import Rect

MARGIN_SHARE = 0.2  # outer share of the page's width within which line numbers stand
MIN_NUMBERS = 10  # a page must show as many
ALIGNED = 4.0  # points by which the numbers' edges may differ
_STEPS = (1, 2, 5, 10)
_INTEGER = re.compile(r"\d{1,5}")


def line_numbers(texts: Sequence[str], boxes: NDArray[np.float32], width: float) -> NDArray[np.intp]:
    """Indices of the words that number the lines of the page; empty where there are none.

    They are integers in one narrow column at the left or right, with nothing beyond it, that rise down the page in
    equal steps and number at least half of its lines.
    """
    integers = [i for i, text in enumerate(texts) if _INTEGER.fullmatch(text)]
    for left in (True, False):
        column = _column(texts, boxes, width, integers, left)
        if len(column) >= MIN_NUMBERS and _rises(texts, column) and _is_gutter(boxes, column, left):
            return np.asarray(sorted(column), dtype=np.intp)
    return np.empty(0, dtype=np.intp)


def without_gutter(boxes: NDArray[np.float32], numbers: NDArray[np.intp], frame: tuple[float, float]) -> Rect:
    """The page (``frame``: width, height) less the strip in which ``numbers`` stand."""
    width, height = frame
    if not len(numbers):
        return 0.0, 0.0, width, height
    left, right = float(boxes[numbers, 0].min()), float(boxes[numbers, 2].max())
    if right < width / 2:
        return right + 1, 0.0, width, height
    return 0.0, 0.0, left - 1, height


def _column(
    texts: Sequence[str], boxes: NDArray[np.float32], width: float, integers: Sequence[int], left: bool
) -> list[int]:
    if left:
        inside = [i for i in integers if boxes[i, 2] < MARGIN_SHARE * width]
    else:
        inside = [i for i in integers if boxes[i, 0] > (1 - MARGIN_SHARE) * width]
    if not inside:
        return []
    # Right-aligned numbers share their right edge, left-aligned ones their left edge.
    aligned: list[list[int]] = []
    for edge in (2, 0):
        common = float(np.median(boxes[inside, edge]))
        aligned.append([i for i in inside if abs(float(boxes[i, edge]) - common) < ALIGNED])
    chosen = aligned[0] if len(aligned[0]) >= len(aligned[1]) else aligned[1]
    return sorted(chosen, key=lambda i: float(boxes[i, 1]))


def _rises(texts: Sequence[str], column: Sequence[int]) -> bool:
    steps = Counter(int(texts[b]) - int(texts[a]) for a, b in pairwise(column))
    step, count = steps.most_common(1)[0]
    return step in _STEPS and count >= 0.8 * (len(column) - 1)


def _is_gutter(boxes: NDArray[np.float32], column: Sequence[int], left: bool) -> bool:
    others = np.ones(len(boxes), dtype=bool)
    others[list(column)] = False
    rest = boxes[others]
    if not len(rest):
        return False
    beyond = rest[:, 0] < boxes[list(column), 0].min() - 1 if left else rest[:, 2] > boxes[list(column), 2].max() + 1
    # The first column of a table of numbers has wide gaps in print; line numbers stand beside running lines.
    height = float(np.median(boxes[list(column), 3] - boxes[list(column), 1]))
    printed = len(np.unique(np.round((rest[:, 1] + rest[:, 3]) / 2 / height)))
    return not bool(np.any(beyond)) and len(column) >= 0.5 * printed
