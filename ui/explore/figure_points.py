"""Points of Explore's plots as Plotly traces: every hit, and of the other chunks only those that can be told
apart."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore.explore.explore import Exploration, Point
from ragcore.types.json import Json
from ui.explore.payload import BY, FATES, use

CELL = 4  # CSS pixels: two small points nearer than this look like one
MOST_DOTS = 3000
SYMBOLS = {
    "both": ("square", "--step-rerank"),
    "vector": ("circle", "--step-vector"),
    "bm25": ("diamond", "--step-bm25"),
    "graph": ("star", "--step-rse"),
    "structure": ("hexagon", "--step-vector"),
    "fused": ("pentagon", "--step-rerank"),
    "segment": ("triangle-up", "--step-rse"),
    "table": ("line-ew", "--step-rse"),
    "neighbour": ("triangle-down", "--step-rse"),
    "weighed": ("circle", "--step-out"),
    "unseen": ("circle", "--step-out"),
}
USES = {
    "cited": ("circle", "--lit", "--lit-edge", 12),
    "used": ("circle", "--accent", "--accent", 9),
    "found": ("circle-open", "--accent", "--accent", 8),
    "": ("circle", "--step-out", "--step-out", 4),
}


def thinned(
    rows: NDArray[np.int64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    across: tuple[float, float],
    up: tuple[float, float],
    width: int,
    height: int,
    *,
    any_of: bool = False,
) -> NDArray[np.int64]:
    """One of ``rows`` per cell of the picture: the highest, or any one (``any_of``) to avoid visible rows; all rows if
    there are few."""
    if len(rows) <= MOST_DOTS // 4:
        return rows
    cell = float(CELL)
    order = np.random.default_rng(0).permutation(len(rows)) if any_of else np.argsort(-y[rows], kind="stable")
    while True:
        column = ((x[rows] - across[0]) / max(across[1] - across[0], 1e-12) * width / cell).astype(np.int64)
        line = ((y[rows] - up[0]) / max(up[1] - up[0], 1e-12) * height / cell).astype(np.int64)
        _, first = np.unique((column * 100_003 + line)[order], return_index=True)
        if len(first) <= MOST_DOTS:
            return np.sort(rows[order[first]])
        cell *= 1.25


def dots(rows: NDArray[np.int64], x: NDArray[np.float64], y: NDArray[np.float64], exploration: Exploration) -> Json:
    """Chunks that no search found, small and grey."""
    return {
        "type": "scatter",
        "x": packed(x[rows], np.float32),
        "y": packed(y[rows], np.float32),
        "customdata": packed(rows, np.int32),
        "text": packed(exploration.outline.position[rows], np.int32),
        "mode": "markers",
        "name": "not found",
        "hovertemplate": "Chunk %{text}, not found<br>%{y:.2f}<extra></extra>",
        "marker": {"symbol": "circle", "size": 3.6 if len(rows) < 1500 else 3, "color": "var(--step-out)"},
    }


def found(
    points: Sequence[Point],
    x: NDArray[Any],
    y: NDArray[Any],
    exploration: Exploration,
    titles: Mapping[str, str],
    small: bool,
    *,
    kinds: bool,
    cited: Collection[int],
) -> Json:
    """Found and chosen chunks: coloured by found, used or ``cited`` (rows), or with ``kinds`` by shape and colour for
    the search that found them, filled if sent to the writer."""
    # What is chosen is drawn over what is not.
    drawn = sorted(points, key=lambda point: (point.row in cited, point.fate == "given", point.relevance))
    rows = np.array([point.row for point in drawn], dtype=np.int32)
    words = []
    several = len(exploration.outline.extents) > 1
    for point in drawn:
        title = f"{short(titles.get(point.chunk.doc_id, ''))}<br>" if several else ""
        page = int(exploration.outline.first_page[point.row])
        words.append(
            f"{title}Chunk {point.chunk.reach[0]}, page {page}<br>"
            + (f"{BY[point.by]}, {FATES[point.fate]}<br>" if kinds else f"{use(point, cited) or 'not found'}<br>")
            + f"relevance {point.relevance:.2f}"
        )
    trace = {
        "type": "scatter",
        "x": packed(np.asarray(x)[rows], np.float32),
        "y": packed(np.asarray(y)[rows], np.float32),
        "customdata": packed(rows, np.int32),
        "text": words,
        "mode": "markers",
        "name": "found",
        "hovertemplate": "%{text}<extra></extra>",
    }
    return trace | {"marker": _by_kind(drawn, small) if kinds else _by_use(drawn, small, cited)}


def _by_use(drawn: Sequence[Point], small: bool, cited: Collection[int]) -> Json:
    looks = [USES[use(point, cited)] for point in drawn]
    return {
        "opacity": 1,
        "symbol": [symbol for symbol, _, _, _ in looks],
        "color": [f"var({colour})" for _, colour, _, _ in looks],
        "size": [size - 2 if small else size for _, _, _, size in looks],
        "line": {"width": 1.6, "color": [f"var({edge})" for _, _, edge, _ in looks]},
    }


def _by_kind(drawn: Sequence[Point], small: bool) -> Json:
    size = 7 if small else 9
    colours = [f"var({SYMBOLS[point.by][1]})" for point in drawn]
    return {
        "opacity": 1,
        "symbol": [SYMBOLS[point.by][0] + ("" if point.fate == "given" else "-open") for point in drawn],
        "color": colours,
        "size": [
            size - 3 if point.by in ("table", "weighed") else size - 1 if point.by == "segment" else size
            for point in drawn
        ],
        "line": {"width": 1.6, "color": colours},
    }


def packed(values: NDArray[Any], dtype: type[np.generic]) -> Json:
    """Column of numbers in Plotly's packed form: the bytes of an array."""
    array = np.ascontiguousarray(values, dtype=dtype)
    return {"dtype": f"{array.dtype.kind}{array.dtype.itemsize}", "bdata": base64.b64encode(array.tobytes()).decode()}


def short(text: str, most: int = 40) -> str:
    """``text`` shortened in the middle, since titles often differ only at their ends."""
    text = text.replace("<", "‹")
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half].rstrip()}…{text[-half:].lstrip()}"
