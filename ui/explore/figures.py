"""Explore's plots as Plotly figures: plain JSON with packed numbers and with token names for colours
(``var(--step-vector)``), which the browser resolves whenever the theme changes.

Building them with Plotly's own classes would validate every value and take longer than the rest of a slider move; a
test validates the figures instead. Scatter rather than Scattergl, because Plotly compiles its WebGL programs with
``Function``, which the content security policy forbids. Only distinguishable points are drawn: of the chunks that no
search found, one per cell of a few pixels; a narrower view draws them all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from ragcore.explore.explore import Exploration, Explored
from ragcore.index.outline import Projection
from ragcore.types.json import Json
from ui.explore import figure_axis, figure_marks, figure_points
from ui.explore.figure_axis import Axis

MEASURES = {
    "relevance": "relevance",
    "vector": "meaning (cosine)",
    "bm25": "words (BM25)",
    "fused": "fused score",
    "rerank": "read side by side",
}
_AXIS: Json = {
    "zeroline": False,
    "linecolor": "var(--line-strong)",
    "tickcolor": "var(--line)",
    "fixedrange": False,
}
TICK = 50  # CSS pixels that a number of the x axis takes
HUES = tuple(f"var(--hue-{number})" for number in range(1, 11))
REST = "var(--step-out)"


def relevance(
    found: Explored,
    exploration: Exploration,
    titles: Mapping[str, str],
    *,
    measure: str = "relevance",
    axis: Axis | None = None,
    view: tuple[float, float] | None = None,
    width: int = 800,
    height: int = 360,
    small: bool = False,
    kinds: bool = False,
    cited: Collection[int] = (),
) -> Json:
    """Plot of chunks against ``measure``; ``view`` is the visible part of the x axis, drawn in full detail. Points
    carry their outline row as ``customdata``. With ``kinds`` they show which search found each, and the penalty is
    drawn; else what was found, used and ``cited`` (rows)."""
    outline = exploration.outline
    axis = axis or Axis.whole()
    total = max(1, sum(extent.tiles for extent in outline.extents))
    span = axis.span if axis.kept is not None else (0.0, float(total - 1))
    pad = max(0.6, (span[1] - span[0]) * 0.012)
    low, high = view or (span[0] - pad, span[1] + pad)
    values = _values(found, exploration, measure)
    x = axis.of(outline.x)
    notable = [point for point in found.points if not np.isnan(x[point.row]) and not np.isnan(values[point.row])]
    top = 1.0 if measure in ("relevance", "fused", "rerank") else float(np.nanmax(values, initial=1e-9)) * 1.05
    bottom = 0.0 if measure != "vector" else float(np.nanmin(values, initial=0.0))
    rest = ~np.isnan(x) & ~np.isnan(values) & (x >= low) & (x <= high)
    rest[[point.row for point in found.points]] = False
    dots = figure_points.thinned(np.flatnonzero(rest), x, values, (low, high), (bottom, top), width, height)
    given = found.settings.rse.irrelevant_chunk_penalty if kinds and measure == "relevance" else None
    penalty = given if given is not None else -1.0
    layout = _layout(small) | {
        "shapes": figure_marks.bands(found, outline, axis)
        + figure_marks.borders(outline, axis, (low, high), width - 100)
        + (figure_marks.penalty(penalty) if given is not None else []),
        "annotations": (figure_marks.penalty_words(penalty) if given is not None else [])
        + ([] if small else figure_marks.names(found, outline, axis, titles, (low, high), width - 100)),
        "xaxis": _AXIS
        | figure_axis.ticks(axis, outline, 6 if small else min(14, max(3, (width - 100) // TICK)))
        | {"range": [low, high], "showgrid": False}
        | ({} if small else {"title": _title(figure_axis.words(axis))}),
        "yaxis": _AXIS
        | {
            "range": [bottom - (top - bottom) * 0.035, top + (top - bottom) * 0.04],
            "nticks": 5,
            "gridcolor": "var(--line)",
        }
        | ({} if small else {"title": _title(MEASURES[measure])}),
    }
    return {
        "data": [
            figure_points.dots(dots, x, values, exploration),
            figure_points.found(notable, x, values, exploration, titles, small, kinds=kinds, cited=cited),
        ],
        "layout": layout,
    }


def chart_map(
    found: Explored,
    exploration: Exploration,
    projection: Projection,
    titles: Mapping[str, str],
    *,
    colour: str,
    view: tuple[float, float, float, float] | None = None,
    width: int = 800,
    height: int = 360,
    kinds: bool = False,
    cited: Collection[int] = (),
) -> Json:
    """Map of all chunks by similarity of meaning, with the question; ``colour`` is ``documents`` or ``relevance``,
    ``view`` the visible part (x0, x1, y0, y1). ``meta.documents`` names the colours in it."""
    x, y = projection.xy.T.astype(np.float64)
    place = projection.place(exploration.vector)
    left, right, low, high = view or (*_around(x, place[0]), *_around(y, place[1]))
    rest = (x >= left) & (x <= right) & (y >= low) & (y <= high)
    rest[[point.row for point in found.points]] = False
    rows = np.flatnonzero(rest)
    rows = figure_points.thinned(rows, x, y, (left, right), (low, high), width, height, any_of=True)
    notable = [point for point in found.points if not np.isnan(x[point.row])]
    documents = exploration.outline.doc[rows].tolist()
    seen = set(documents)
    names = [figure_points.short(titles.get(extent.doc_id, extent.title)) for extent in exploration.outline.extents]
    if colour == "documents":
        hues = _hues(exploration)
        look: Json = {"color": [hues.get(doc, REST) for doc in documents]}
        legend = [(names[doc], hue) for doc, hue in hues.items() if doc in seen]
        legend += [("other documents", REST)] if seen - hues.keys() else []
    else:
        look, legend = _nearness(rows, exploration), []
    dots = figure_points.dots(rows, x, y, exploration) | {
        "text": [f"{names[doc]}<br>Chunk {at}" for doc, at in zip(documents, exploration.outline.position[rows])],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"size": 4, "opacity": 0.7} | look,
    }
    question = {
        "type": "scatter",
        "x": [place[0]],
        "y": [place[1]],
        "mode": "markers+text",
        "text": ["the question"],
        "textposition": "top center",
        "hoverinfo": "skip",
        "textfont": {"color": "var(--text)", "size": 11},
        "marker": {"symbol": "x-thin", "size": 13, "line": {"width": 2.5, "color": "var(--text)"}},
    }
    bare = _AXIS | {"showgrid": False, "showticklabels": False}
    first, second = (f"{share:.0%}" for share in projection.share)
    return {
        "data": [
            dots,
            figure_points.found(notable, x, y, exploration, titles, False, kinds=kinds, cited=cited),
            question,
        ],
        "layout": _layout(False)
        | {
            "meta": {"documents": legend},
            "xaxis": bare
            | {"range": [left, right], "title": _title(f"first principal component, {first} of the variance")},
            "yaxis": bare | {"range": [low, high], "title": _title(f"second, {second}")},
        },
    }


def _around(values: NDArray[np.float64], value: float) -> tuple[float, float]:
    """Range of ``values`` and ``value`` with some room."""
    low, high = float(np.nanmin(values, initial=value)), float(np.nanmax(values, initial=value))
    room = max((high - low) * 0.03, 1e-6)
    return low - room, high + room


def _hues(exploration: Exploration) -> dict[int, str]:
    """Colours of the documents with the most chunks, as many as there are colours."""
    extents = exploration.outline.extents
    return dict(zip(sorted(range(len(extents)), key=lambda doc: -extents[doc].chunks), HUES))


def _nearness(rows: NDArray[np.int64], exploration: Exploration) -> Json:
    """Colours of ``rows`` by similarity to the question."""
    low, high = np.nanquantile(exploration.cosines, [0.05, 0.999])
    return {
        "color": figure_points.packed(np.nan_to_num(exploration.cosines[rows], nan=low), np.float32),
        "cmin": float(low),
        "cmax": float(high),
        "colorscale": [[0, "var(--surface-3)"], [0.5, "var(--step-vector)"], [1, "var(--step-bm25)"]],
    }


def _values(found: Explored, exploration: Exploration, measure: str) -> NDArray[np.float64]:
    if measure == "relevance":
        return np.where(np.isnan(exploration.cosines), np.nan, found.relevance)
    if measure in ("vector", "bm25"):
        return exploration.cosines if measure == "vector" else exploration.bm25
    values = np.where(np.isnan(exploration.cosines), np.nan, 0.0)
    for point in found.points:
        values[point.row] = point.scores.get(measure, np.nan if measure == "rerank" else 0.0)
    return values


def _layout(small: bool) -> Json:
    return {
        "showlegend": False,
        "dragmode": "zoom",
        "hovermode": "closest",
        "hoverdistance": 12,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "Inter, system-ui, sans-serif", "size": 11, "color": "var(--text-3)"},
        "margin": {"l": 34, "r": 46, "t": 10, "b": 24} if small else {"l": 48, "r": 52, "t": 26, "b": 44},
        "hoverlabel": {
            "bgcolor": "var(--surface)",
            "bordercolor": "var(--line-strong)",
            "font": {"color": "var(--text)", "size": 12, "family": "Inter, system-ui, sans-serif"},
            "align": "left",
        },
    }


def _title(text: str) -> Json:
    return {"text": text, "font": {"size": 11}, "standoff": 8}
