"""Page geometry: rectangles on pages, and the map from characters of the text to them.

A `Box` is in PDF points: page counted from 1, origin top-left of the page *as displayed* (rotation and crop box
applied), x to the right and y downwards.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Box:
    """Rectangle on a page, in displayed-page points (see the module's docstring)."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float

    def as_dict(self) -> dict[str, float]:
        return {"page": self.page, **{name: round(getattr(self, name), 2) for name in ("x0", "y0", "x1", "y1")}}


class WordMap:
    """Map from character spans of the canonical text to boxes: parallel arrays sorted by ``start``.

    An entry is a run of characters printed in one place: a word, one half of a hyphenated word, or a single character
    in scripts without blanks. Characters without an entry (separators) are not printed. An entry with ``repeated`` set
    is not printed at its place in the text: it repeats words printed elsewhere (a column header carried into a row) and
    has their box, or it is an AI-written description and has the figure's region. Entries do not overlap.

    Shapes for n entries: ``starts``, ``ends``, ``pages`` int32 ``(n,)``; ``boxes`` float32 ``(n, 4)`` as x0, y0, x1,
    y1; ``repeated`` bool ``(n,)``; ``confidence`` uint8 ``(n,)``, the OCR confidence of the word in percent, 100 for
    the PDF's own text.
    """

    __slots__ = ("_boxes", "_confidence", "_packed", "ends", "pages", "repeated", "starts")

    def __init__(
        self,
        starts: Sequence[int] | NDArray[np.int32],
        ends: Sequence[int] | NDArray[np.int32],
        pages: Sequence[int] | NDArray[np.int32],
        boxes: Sequence[Sequence[float]] | NDArray[np.float32],
        repeated: Sequence[bool] | NDArray[np.bool_],
        confidence: Sequence[int] | NDArray[np.uint8] | None = None,
    ) -> None:
        self.starts = np.asarray(starts, dtype=np.int32)
        self.ends = np.asarray(ends, dtype=np.int32)
        self.pages = np.asarray(pages, dtype=np.int32)
        self._boxes: NDArray[np.float32] | None = np.asarray(boxes, dtype=np.float32).reshape(-1, 4)
        self.repeated = np.asarray(repeated, dtype=np.bool_)
        given = np.full(len(self.starts), 100) if confidence is None else confidence
        self._confidence: NDArray[np.uint8] | None = np.asarray(given, dtype=np.uint8)
        self._packed = b""  # bytes that boxes and confidence are unpacked from
        self._check(self._boxes, self._confidence)
        if np.any(self.ends <= self.starts) or np.any(self.starts[1:] < self.ends[:-1]):
            raise ValueError("the entries of a word map must be non-empty, sorted and free of overlap")

    def _check(self, *columns: NDArray[np.generic]) -> None:
        if any(len(column) != len(self.starts) for column in (self.ends, self.pages, self.repeated, *columns)):
            raise ValueError("the arrays of a word map must have one length")

    @property
    def boxes(self) -> NDArray[np.float32]:
        return self._boxes if self._boxes is not None else self._unpacked()[0]

    @property
    def confidence(self) -> NDArray[np.uint8]:
        return self._confidence if self._confidence is not None else self._unpacked()[1]

    def _unpacked(self) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        with np.load(io.BytesIO(self._packed), allow_pickle=False) as arrays:
            boxes, confidence = arrays["boxes"], arrays["confidence"]
        self._check(boxes, confidence)
        self._boxes, self._confidence = boxes, confidence
        return boxes, confidence

    def __len__(self) -> int:
        return len(self.starts)

    def within(self, start: int, end: int) -> slice:
        """Entries that share at least one character with ``[start, end)``."""
        if end <= start:
            return slice(0, 0)
        # For a Python int, NumPy would first copy the whole array to a wider type.
        first = int(self.ends.searchsorted(np.int32(start), side="right"))
        return slice(first, max(first, int(self.starts.searchsorted(np.int32(end), side="left"))))

    def to_bytes(self) -> bytes:
        buffer = io.BytesIO()
        names = ("starts", "ends", "pages", "boxes", "repeated", "confidence")
        np.savez_compressed(buffer, **{name: getattr(self, name) for name in names})
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> WordMap:
        """Inverse of `to_bytes`. Boxes and confidence are unpacked on first use."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            spans = {name: arrays[name] for name in ("starts", "ends", "pages", "repeated")}
        count = len(spans["starts"])
        found = cls(**spans, boxes=np.empty((count, 4), np.float32), confidence=np.empty(count, np.uint8))
        found._boxes, found._confidence, found._packed = None, None, data
        return found


def line_boxes(pages: NDArray[np.int32], boxes: NDArray[np.float32]) -> list[Box]:
    """Word boxes in text order merged into one box per run: same page, same line, no wide gap between words."""
    seen: set[tuple[int, float, float, float, float]] = set()
    run: list[float] | None = None
    run_page = 0
    out: list[Box] = []
    for page, (x0, y0, x1, y1) in zip(pages.tolist(), boxes.tolist()):
        key = (page, x0, y0, x1, y1)
        if key in seen:
            continue
        seen.add(key)
        if run is not None and page == run_page:
            overlap = min(run[3], y1) - max(run[1], y0)
            height = min(run[3] - run[1], y1 - y0)
            gap = x0 - run[2]
            if height > 0 and overlap > 0.6 * height and -0.3 * height <= gap <= 0.9 * height:
                run = [run[0], min(run[1], y0), max(run[2], x1), max(run[3], y1)]
                continue
        if run is not None:
            out.append(Box(run_page, *run))
        run, run_page = [x0, y0, x1, y1], page
    if run is not None:
        out.append(Box(run_page, *run))
    return out
