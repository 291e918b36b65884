"""Background marks of Explore's plot: segments, document borders and names, and the penalty line."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ragcore.explore.explore import Explored
from ragcore.index.outline import Outline
from ragcore.types.json import Json
from ui.explore.figure_axis import Axis
from ui.explore.figure_points import short

APART = 8  # CSS pixels between borders of documents, on average, below which they are left out
NAME = 190  # CSS pixels that the name of a document takes above the plot, with what keeps it from the next


def bands(found: Explored, outline: Outline, axis: Axis) -> list[Json]:
    """Segments and tables; those withheld from the writer are fainter."""
    first = {extent.doc_id: extent.first for extent in outline.extents}
    shapes: list[Json] = []
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


def borders(outline: Outline, axis: Axis, view: tuple[float, float], width: int) -> list[Json]:
    """Lines between documents, omitted where they would be too close together to be read."""
    if axis.kept is not None:
        starts = axis.kept[1:][np.isin(axis.kept[1:], [extent.first for extent in outline.extents])]
        places = axis.of(starts.astype(np.float64)) - 1.5
    else:
        places = np.array([extent.first - 0.5 for extent in outline.extents[1:]])
    places = places[(places > view[0]) & (places < view[1])]
    if len(places) * APART > width:
        return []
    line = {"color": "var(--line-strong)", "width": 1}
    common = {"type": "line", "xref": "x", "yref": "paper", "y0": 0, "y1": 1, "line": line, "layer": "below"}
    return [{**common, "x0": x, "x1": x} for x in places.tolist()]


def penalty(y: float) -> list[Json]:
    """Penalty line: the value above which a chunk lengthens a segment."""
    line = {"color": "var(--weak)", "width": 1, "dash": "4px 4px"}
    return [{"type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}]


def penalty_words(y: float) -> list[Json]:
    """Label of the penalty line, beside the plot so that it covers no points."""
    return [
        {
            "xref": "paper",
            "yref": "y",
            "x": 1,
            "y": y,
            "xanchor": "left",
            "xshift": 4,
            "yanchor": "middle",
            "align": "left",
            "showarrow": False,
            "text": f"penalty<br>{y:.2f}",
            "font": {"color": "var(--weak)", "size": 11},
        }
    ]


def names(
    found: Explored, outline: Outline, axis: Axis, titles: Mapping[str, str], view: tuple[float, float], width: int
) -> list[Json]:
    """Document names above the plot, as many as fit, those with passages for the writer first."""
    if len(outline.extents) < 2:
        return []
    wanted = [source.doc_id for source in found.sources] + [point.chunk.doc_id for point in found.points]
    placed: list[float] = []
    out: list[Json] = []
    numbers = {extent.doc_id: number for number, extent in enumerate(outline.extents)}
    low, high = axis.ends(outline, view)
    middles = (low + high) / 2
    for doc_id in dict.fromkeys((*(doc_id for doc_id in wanted if doc_id in numbers), *numbers)):
        place = float(middles[numbers[doc_id]])
        if np.isnan(place):
            continue
        if len(placed) * NAME > width:
            break
        share = (place - view[0]) / max(view[1] - view[0], 1e-9)
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
                "text": short(titles[doc_id], 27),
                "font": {"size": 11, "color": "var(--text-2)"},
            }
        )
    return out
