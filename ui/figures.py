"""Explore's plots as Plotly figures. A colour is the name of a token (``var(--step-vector)``), which the browser
resolves for the theme in force and again when that changes.

Scatter, not Scattergl: Plotly makes its WebGL programs of text with ``Function``, which the content security policy
forbids. So only what can be told apart is drawn: of the chunks that nothing found, one for each cell of a few pixels,
and every one of them again in a narrower view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore.explored import Explored, Point
from ragcore.exploring import Exploration
from ragcore.index.outline import Outline, Projection
from ui.explore import BY, FATES

NAME = 190  # CSS pixels that the name of a document takes above the plot, with what keeps it from the next
CELL = 4  # CSS pixels: two small points nearer than this look like one
MOST_DOTS = 3000
AROUND = 4  # chunks shown on either side of a passage where the others are left out
SYMBOLS = {
    "both": ("square", "--step-rerank"),
    "vector": ("circle", "--step-vector"),
    "bm25": ("diamond", "--step-bm25"),
    "fused": ("pentagon", "--step-rerank"),
    "segment": ("triangle-up", "--step-rse"),
    "table": ("line-ew", "--step-rse"),
    "neighbour": ("triangle-down", "--step-rse"),
    "weighed": ("circle", "--step-out"),
    "unseen": ("circle", "--step-out"),
}
MEASURES = {
    "relevance": "relevance",
    "vector": "meaning (cosine)",
    "bm25": "words (BM25)",
    "fused": "fused score",
    "rerank": "read side by side",
}


@dataclass(frozen=True)
class Axis:
    """Where tiles stand on the x axis: all of them (``kept`` None), or only the ``kept`` ones, side by side with gaps
    where some are left out."""

    kept: NDArray[np.int64] | None
    places: NDArray[np.float64]

    @classmethod
    def whole(cls) -> Axis:
        return cls(None, np.zeros(0))

    @classmethod
    def around(cls, found: Sequence[Explored], outline: Outline) -> Axis:
        """Around the passages and hits of ``found``."""
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
        """Places of tile positions; NaN for what is left out."""
        if self.kept is None:
            return x
        if not len(self.kept):
            return np.full(len(x), np.nan)
        at = np.searchsorted(self.kept, np.floor(x))
        inside = np.minimum(at, len(self.kept) - 1)
        here = self.kept[inside] == np.floor(x)
        return np.where(here, self.places[inside] + (x - np.floor(x)), np.nan)

    @property
    def span(self) -> tuple[float, float]:
        return (float(self.places[0]), float(self.places[-1])) if len(self.places) else (0.0, 1.0)


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
) -> str:
    """The JSON of a plot of chunk against ``measure``; ``view`` is the part of the x axis that is looked at, which is
    drawn in full detail. Points have their row of the outline as ``customdata``."""
    import plotly.graph_objects as go

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
    rest = np.ones(len(outline), dtype=bool)
    rest[[point.row for point in found.points]] = False
    rest &= ~np.isnan(x) & ~np.isnan(values) & (x >= low) & (x <= high)
    dots = _thinned(np.flatnonzero(rest), x, values, (low, high), (bottom, top), width, height)
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=x[dots].astype(np.float32),
            y=values[dots].astype(np.float32),
            customdata=dots.astype(np.int32),
            mode="markers",
            name="not found",
            text=[str(position) for position in outline.position[dots].tolist()],
            hovertemplate="Chunk %{text}, not found<br>%{y:.2f}<extra></extra>",
            marker={"symbol": "circle", "size": 3.6 if len(dots) < 1500 else 3, "color": "var(--step-out)"},
        )
    )
    figure.add_trace(_points(notable, x, values, exploration, titles, small))
    figure.update_layout(
        shapes=_bands(found, outline, axis) + _borders(outline, axis) + _penalty(found, measure),
        annotations=_penalty_words(found, measure)
        + ([] if small else _names(found, outline, axis, titles, (low, high), width - 64)),
        **_layout(small),
    )
    ticks = _ticks(axis, outline, small)
    figure.update_xaxes(
        range=[low, high], title=None if small else _title(_axis_words(axis)), **ticks, **_AXIS, showgrid=False
    )
    figure.update_yaxes(
        range=[bottom - (top - bottom) * 0.035, top + (top - bottom) * 0.04],
        title=None if small else _title(MEASURES[measure]),
        nticks=5,
        **_AXIS,
        gridcolor="var(--line)",
    )
    return str(figure.to_json())


def chart_map(
    found: Explored,
    exploration: Exploration,
    projection: Projection,
    titles: Mapping[str, str],
    *,
    colour: str,
    view: tuple[float, float, float, float] | None,
    width: int,
    height: int,
) -> str:
    """The JSON of a map of all chunks, near ones alike in meaning; ``colour`` is ``documents`` or ``relevance``,
    ``view`` the part that is looked at (x0, x1, y0, y1)."""
    import plotly.graph_objects as go

    xy = projection.xy
    known = ~np.isnan(xy[:, 0])
    extent = np.array([[*np.nanmin(xy, axis=0)], [*np.nanmax(xy, axis=0)]]) if known.any() else np.zeros((2, 2))
    room = np.maximum((extent[1] - extent[0]) * 0.03, 1e-6)
    x0, x1, y0, y1 = view or (
        extent[0][0] - room[0],
        extent[1][0] + room[0],
        extent[0][1] - room[1],
        extent[1][1] + room[1],
    )
    inside = known & (xy[:, 0] >= x0) & (xy[:, 0] <= x1) & (xy[:, 1] >= y0) & (xy[:, 1] <= y1)
    inside[[point.row for point in found.points]] = False
    rows = np.flatnonzero(inside)
    x, y = xy[:, 0].astype(np.float64), xy[:, 1].astype(np.float64)
    dots = _thinned(rows, x, y, (x0, x1), (y0, y1), width, height, any_of=True)
    figure = go.Figure()
    marker: dict[str, Any] = {"size": 4, "opacity": 0.7}
    if colour == "documents":
        marker["color"] = [_HUES[int(doc) % len(_HUES)] for doc in exploration.outline.doc[dots]]
    else:
        near = np.nan_to_num(exploration.cosines[dots], nan=0.0)
        known_near = exploration.cosines[~np.isnan(exploration.cosines)]
        low, high = np.quantile(known_near, [0.05, 0.999]) if len(known_near) else (0.0, 1.0)
        marker |= {
            "color": near.astype(np.float32),
            "cmin": float(low),
            "cmax": float(high),
            "colorscale": [[0, "var(--surface-3)"], [0.5, "var(--step-vector)"], [1, "var(--step-bm25)"]],
        }
    names = [titles.get(extent.doc_id, extent.title) for extent in exploration.outline.extents]
    figure.add_trace(
        go.Scatter(
            x=xy[dots, 0],
            y=xy[dots, 1],
            customdata=dots.astype(np.int32),
            text=[_short(names[int(doc)]) for doc in exploration.outline.doc[dots]],
            mode="markers",
            hovertemplate="%{text}<br>chunk %{customdata}<extra></extra>",
            marker=marker,
        )
    )
    points = [point for point in found.points if known[point.row]]
    figure.add_trace(_points(points, xy[:, 0], xy[:, 1], exploration, titles, False))
    qx, qy = projection.place(exploration.vector)
    figure.add_trace(
        go.Scatter(
            x=[qx],
            y=[qy],
            mode="markers+text",
            text=["the question"],
            textposition="top center",
            hoverinfo="skip",
            textfont={"color": "var(--text)", "size": 11},
            marker={"symbol": "x-thin", "size": 13, "line": {"width": 2.5, "color": "var(--text)"}},
        )
    )
    figure.update_layout(**_layout(False))
    shares = [f"{share:.0%}" for share in projection.share]
    figure.update_xaxes(
        range=[x0, x1],
        title=_title(f"first principal component, {shares[0]} of the variance"),
        **_AXIS,
        showgrid=False,
        showticklabels=False,
    )
    figure.update_yaxes(
        range=[y0, y1], title=_title(f"second, {shares[1]}"), **_AXIS, showgrid=False, showticklabels=False
    )
    return str(figure.to_json())


def _values(found: Explored, exploration: Exploration, measure: str) -> NDArray[np.float64]:
    if measure == "relevance":
        return np.where(np.isnan(exploration.cosines), np.nan, found.relevance)
    if measure in ("vector", "bm25"):
        return exploration.cosines if measure == "vector" else exploration.bm25
    values = np.where(np.isnan(exploration.cosines), np.nan, 0.0)
    for point in found.points:
        values[point.row] = point.scores.get(measure, np.nan if measure == "rerank" else 0.0)
    return values


def _thinned(
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
    """Of ``rows`` one for each cell of the picture: the highest, or (``any_of``) whichever, so that no rows show; all
    where they are few."""
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


def _points(
    points: Sequence[Point],
    x: NDArray[Any],
    y: NDArray[Any],
    exploration: Exploration,
    titles: Mapping[str, str],
    small: bool,
) -> Any:
    """Found and chosen chunks: the shape and colour say by what, filled ones go to the writer."""
    import plotly.graph_objects as go

    # What is chosen is drawn over what is not.
    drawn = sorted(points, key=lambda point: (point.fate == "given", point.relevance))
    rows = [point.row for point in drawn]
    words = []
    several = len(exploration.outline.extents) > 1
    for point in drawn:
        title = f"{_short(titles.get(point.chunk.doc_id, ''))}<br>" if several else ""
        page = int(exploration.outline.first_page[point.row])
        words.append(
            f"{title}Chunk {point.chunk.reach[0]}, page {page}<br>{BY[point.by]}, {FATES[point.fate]}<br>"
            f"relevance {point.relevance:.2f}"
        )
    size = 7 if small else 9
    return go.Scatter(
        x=np.asarray(x)[rows].astype(np.float32),
        y=np.asarray(y)[rows].astype(np.float32),
        customdata=np.array(rows, dtype=np.int32),
        text=words,
        mode="markers",
        name="found",
        hovertemplate="%{text}<extra></extra>",
        marker={
            "opacity": 1,
            "symbol": [SYMBOLS[point.by][0] + ("" if point.fate == "given" else "-open") for point in drawn],
            "color": [f"var({SYMBOLS[point.by][1]})" for point in drawn],
            "size": [
                size - 3 if point.by in ("table", "weighed") else size - 1 if point.by == "segment" else size
                for point in drawn
            ],
            "line": {"width": 1.6, "color": [f"var({SYMBOLS[point.by][1]})" for point in drawn]},
        },
    )


def _bands(found: Explored, outline: Outline, axis: Axis) -> list[dict[str, Any]]:
    """Segments and tables; those that the writer does not get are fainter."""
    first = {extent.doc_id: extent.first for extent in outline.extents}
    shapes: list[dict[str, Any]] = []
    for segment, source in zip(found.retrieval.segments, found.source_of):
        if segment.via not in ("rse", "table") or segment.doc_id not in first:
            continue
        low = first[segment.doc_id] + segment.first_chunk
        ends = axis.of(np.array([low, first[segment.doc_id] + segment.last_chunk], dtype=np.float64))
        if np.isnan(ends).any():
            continue
        x0, x1 = float(ends[0]) - 0.5, float(ends[1]) + 0.5
        common = {"xref": "x", "yref": "paper", "x0": x0, "x1": x1, "layer": "below"}
        fill = "var(--lit)" if segment.via == "rse" else "var(--step-rse)"
        shapes.append(
            {
                **common,
                "type": "rect",
                "y0": 0,
                "y1": 1,
                "line": {"width": 0},
                "fillcolor": fill,
                "opacity": 0.2 if source else 0.09,
            }
        )
        edge = {"width": 3, "color": "var(--band-edge)" if segment.via == "rse" else "var(--step-rse)"}
        shapes.append({**common, "type": "line", "y0": 1, "y1": 1, "line": edge, "opacity": 1 if source else 0.4})
    return shapes


def _borders(outline: Outline, axis: Axis) -> list[dict[str, Any]]:
    """A line where another document begins."""
    if axis.kept is not None:
        starts = axis.kept[1:][np.isin(axis.kept[1:], [extent.first for extent in outline.extents])]
        places = axis.of(starts.astype(np.float64)) - 1.5
    else:
        places = np.array([extent.first - 0.5 for extent in outline.extents[1:]])
    line = {"color": "var(--line-strong)", "width": 1}
    return [
        {
            "type": "line",
            "xref": "x",
            "yref": "paper",
            "x0": x,
            "x1": x,
            "y0": 0,
            "y1": 1,
            "line": line,
            "layer": "below",
        }
        for x in places.tolist()
    ]


def _penalty(found: Explored, measure: str) -> list[dict[str, Any]]:
    if measure != "relevance":
        return []
    y = found.settings.rse.irrelevant_chunk_penalty
    line = {"color": "var(--weak)", "width": 1, "dash": "4px 4px"}
    return [{"type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}]


def _penalty_words(found: Explored, measure: str) -> list[dict[str, Any]]:
    if measure != "relevance":
        return []
    y = found.settings.rse.irrelevant_chunk_penalty
    place = {
        "xref": "paper",
        "yref": "y",
        "x": 0.997,
        "y": y,
        "xanchor": "right",
        "yanchor": "bottom",
        "showarrow": False,
    }
    return [{**place, "text": f"penalty {y:.2f}", "font": {"color": "var(--weak)", "size": 11}}]


def _names(
    found: Explored, outline: Outline, axis: Axis, titles: Mapping[str, str], view: tuple[float, float], width: int
) -> list[dict[str, Any]]:
    """Names of documents above the plot: as many as there is room for, those that the writer gets of first."""
    if len(outline.extents) < 2:
        return []
    wanted = [source.doc_id for source in found.sources] + [point.chunk.doc_id for point in found.points]
    placed: list[float] = []
    out: list[dict[str, Any]] = []
    by_id = {extent.doc_id: extent for extent in outline.extents}
    order = list(dict.fromkeys((*wanted, *by_id)))
    for doc_id in order:
        extent = by_id.get(doc_id)
        if extent is None:
            continue
        tiles = np.arange(extent.first, extent.first + extent.tiles, dtype=np.float64)
        places = axis.of(tiles)
        places = places[~np.isnan(places) & (places >= view[0]) & (places <= view[1])]
        if not len(places):
            continue
        share = (float(places[0] + places[-1]) / 2 - view[0]) / max(view[1] - view[0], 1e-9)
        edge = min(NAME / width / 2, 0.5)
        middle = min(max(share, edge), 1.0 - edge)  # of the name, which stays inside the plot
        if any(abs(middle - other) < NAME / width for other in placed):
            continue
        placed.append(middle)
        out.append(
            {
                "xref": "paper",
                "yref": "paper",
                "x": middle,
                "y": 1.0,
                "yanchor": "bottom",
                "xanchor": "center",
                "yshift": 4,
                "showarrow": False,
                "text": _short(titles.get(doc_id, extent.title), 27),
                "font": {"size": 11, "color": "var(--text-2)"},
            }
        )
    return out


def _ticks(axis: Axis, outline: Outline, small: bool) -> dict[str, Any]:
    """Numbers of chunks within their documents."""
    firsts = np.array([extent.first for extent in outline.extents])
    if axis.kept is None:
        return {"nticks": 8} if len(firsts) == 1 else {"nticks": 8, "tickformat": ",d"}
    if not len(axis.kept):
        return {}
    begins = np.concatenate([[True], np.diff(axis.places) > 1.0])
    places, tiles = axis.places[begins], axis.kept[begins]
    least = (axis.span[1] - axis.span[0]) / (6 if small else 14)
    kept: list[int] = []
    for at in range(len(places)):
        if not kept or places[at] - places[kept[-1]] >= least:
            kept.append(at)
    chosen = tiles[kept]
    numbers = chosen - firsts[np.searchsorted(firsts, chosen, side="right") - 1]
    return {"tickvals": places[kept].tolist(), "ticktext": [f"{number:,}" for number in numbers.tolist()]}


def _axis_words(axis: Axis) -> str:
    return "chunk, in the order of the documents" + ("" if axis.kept is None else "; only those around passages")


def _layout(small: bool) -> dict[str, Any]:
    return {
        "template": None,
        "showlegend": False,
        "dragmode": "zoom",
        "hovermode": "closest",
        "hoverdistance": 12,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "Inter, system-ui, sans-serif", "size": 11, "color": "var(--text-3)"},
        "margin": {"l": 34, "r": 8, "t": 10, "b": 24} if small else {"l": 48, "r": 12, "t": 26, "b": 44},
        "hoverlabel": {
            "bgcolor": "var(--surface)",
            "bordercolor": "var(--line-strong)",
            "font": {"color": "var(--text)", "size": 12, "family": "Inter, system-ui, sans-serif"},
            "align": "left",
        },
    }


_AXIS: dict[str, Any] = {
    "zeroline": False,
    "linecolor": "var(--line-strong)",
    "tickcolor": "var(--line)",
    "fixedrange": False,
}
_HUES = ("#2f6fb7", "#a85a00", "#8a4fa3", "#1b8a5a", "#b0415f", "#5f7f1f", "#0f8a9d", "#7b6a4f", "#c2662d", "#5560c8")


def _title(text: str) -> dict[str, Any]:
    return {"text": text, "font": {"size": 11}, "standoff": 8}


def _short(text: str, most: int = 40) -> str:
    """``text`` without its middle where it is long: the end of a title is what tells it from others."""
    text = text.replace("<", "‹")
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half].rstrip()}…{text[-half:].lstrip()}"
