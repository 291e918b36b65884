"""X axis of Explore's plot: every chunk, or only those around the passages, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore.explore.explore import Explored
from ragcore.index.outline import Outline

AROUND = 4  # chunks shown on either side of a passage where the others are left out


@dataclass(frozen=True)
class Axis:
    """Positions of tiles on the x axis: all of them (``kept`` None), or only the ``kept`` ones side by side, with gaps
    for omitted ones."""

    kept: NDArray[np.int64] | None
    places: NDArray[np.float64]

    @classmethod
    def whole(cls) -> Axis:
        return cls(None, np.zeros(0))

    @classmethod
    def around(cls, found: Sequence[Explored], outline: Outline) -> Axis:
        """Axis around the passages and hits of ``found``."""
        total = sum(extent.tiles for extent in outline.extents)
        wanted = np.zeros(total + 1, dtype=bool)
        ends = {extent.doc_id: (extent.first, extent.first + extent.tiles) for extent in outline.extents}
        for of in found:
            for point in of.points:
                first, end = ends[point.chunk.doc_id]
                low, high = point.chunk.reach
                wanted[max(first, first + low - AROUND) : min(end, first + high + AROUND + 1)] = True
        kept = np.flatnonzero(wanted[:total])
        starts = np.array([extent.first for extent in outline.extents[1:]])
        # A gap where chunks are left out, and at the border of two documents.
        gaps = (np.diff(kept) > 1) | np.isin(kept[1:], starts) if len(kept) else np.zeros(0, dtype=bool)
        places = np.arange(len(kept)) + np.concatenate([[0.0], 2.0 * np.cumsum(gaps)]) if len(kept) else np.zeros(0)
        return cls(kept, places)

    def of(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions of tiles; NaN for omitted ones."""
        if self.kept is None:
            return x
        if not len(self.kept):
            return np.full(len(x), np.nan)
        at = np.searchsorted(self.kept, np.floor(x))
        inside = np.minimum(at, len(self.kept) - 1)
        here = self.kept[inside] == np.floor(x)
        return np.where(here, self.places[inside] + (x - np.floor(x)), np.nan)

    def ends(self, outline: Outline, view: tuple[float, float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """First and last position of each document within ``view``; NaN where it is not visible."""
        firsts = np.array([extent.first for extent in outline.extents], dtype=np.float64)
        tiles = np.array([extent.tiles for extent in outline.extents], dtype=np.float64)
        if self.kept is None:
            low, high = np.maximum(firsts, np.ceil(view[0])), np.minimum(firsts + tiles - 1, np.floor(view[1]))
            gone = low > high
            return np.where(gone, np.nan, low), np.where(gone, np.nan, high)
        low, high = np.full(len(firsts), np.nan), np.full(len(firsts), np.nan)
        inside = (self.places >= view[0]) & (self.places <= view[1])
        places = self.places[inside]
        # Of several places of one document the last that is written counts.
        docs = np.searchsorted(firsts, self.kept[inside], side="right") - 1
        high[docs], low[docs[::-1]] = places, places[::-1]
        return low, high

    @property
    def span(self) -> tuple[float, float]:
        return (float(self.places[0]), float(self.places[-1])) if len(self.places) else (0.0, 1.0)


def ticks(axis: Axis, outline: Outline, most: int) -> dict[str, Any]:
    """Chunk numbers within their documents, at most about ``most``."""
    firsts = np.array([extent.first for extent in outline.extents])
    if axis.kept is None:
        return {"nticks": 8} if len(firsts) == 1 else {"nticks": 8, "tickformat": ",d"}
    if not len(axis.kept):
        return {}
    begins = np.concatenate([[True], np.diff(axis.places) > 1.0])
    places, tiles = axis.places[begins], axis.kept[begins]
    least = (axis.span[1] - axis.span[0]) / most
    kept: list[int] = []
    for at in range(len(places)):
        if not kept or places[at] - places[kept[-1]] >= least:
            kept.append(at)
    chosen = tiles[kept]
    numbers = chosen - firsts[np.searchsorted(firsts, chosen, side="right") - 1]
    return {"tickvals": places[kept].tolist(), "ticktext": [f"{number:,}" for number in numbers.tolist()]}


def words(axis: Axis) -> str:
    return "chunk, in the order of the documents" + ("" if axis.kept is None else "; only those around passages")
