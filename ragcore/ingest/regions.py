"""Regions of a page: assignment of each word to a region, and reading order.

Pure functions over rectangles, independent of MuPDF. A word belongs to exactly one region; words that the layout model
left out get regions of their own, so none is lost.

The order is a recursive XY-cut (Nagy and Seth, 1984) that looks for columns first: cutting at every blank stripe would
cut both columns wherever two paragraph ends happen to be side by side. A region that crosses the gutter (a title, a
wide figure) divides the page into bands, and within a band each column is read to its end. Regions that no straight
line divides are read by rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.layout import LINE_NUMBERS, Rect, Region, area, overlap

MARGIN = 1.5  # points by which a word's centre may lie outside its region
SLACK = 0.12  # of a region's width and height, per side: the most it may extend into a gap
MAX_SLACK = 6.0  # points
ALIGNED = 4.0  # points between the tops of regions in one row
NARROW = 60.0  # points: without a wider region there is no column (page numbers at the right of a list, labels)
SMALL_PRINT = 7.0  # points: most of the text of a page that is printed small is smaller
SMALL_WORDS = 40  # fewer are the caption of a figure
SMALL_PART, LEAST_PART = 0.75, 0.3  # of the page's width: the most and the least that its print takes, with margins
EDGE = 0.1  # of the print's width: margin around it
BESIDE = 0.3  # of the lower column's height: least length over which columns are side by side


def drop_nested(regions: Sequence[Region]) -> list[Region]:
    """Regions that do not lie inside another one; a table stays, since it is more exact than the region around it."""
    kept: list[Region] = []
    for region in sorted(regions, key=lambda r: -area(r.box)):
        if region.kind != "table" and any(_contains(other.box, region.box) for other in kept):
            continue
        if region.kind == "table" and any(o.kind == "table" and shared(o.box, region.box) > 0.6 for o in kept):
            continue
        kept.append(region)
    places = {id(region): place for place, region in enumerate(regions)}
    return sorted(kept, key=lambda r: places[id(r)])


def assign(boxes: NDArray[np.float32], regions: Sequence[Region]) -> NDArray[np.int32]:
    """Region of each word, by its centre; -1 if none holds it. int32 ``(n,)``.

    A table wins over what surrounds it, then the smaller region.
    """
    owners = np.full(len(boxes), -1, dtype=np.int32)
    if not len(boxes) or not regions:
        return owners
    centres_x = (boxes[:, 0] + boxes[:, 2]) / 2
    centres_y = (boxes[:, 1] + boxes[:, 3]) / 2
    ranking = sorted(range(len(regions)), key=lambda i: (regions[i].kind != "table", area(regions[i].box)))
    for margin in (0.0, MARGIN):
        for index in ranking:
            x0, y0, x1, y1 = regions[index].box
            inside = (
                (owners < 0)
                & (centres_x >= x0 - margin)
                & (centres_x <= x1 + margin)
                & (centres_y >= y0 - margin)
                & (centres_y <= y1 + margin)
            )
            owners[inside] = index
    return owners


def left_over(owners: NDArray[np.int32], blocks: NDArray[np.int32]) -> list[NDArray[np.intp]]:
    """Words without an owner, in runs of one block."""
    lost = np.flatnonzero(owners < 0)
    return [part for part in np.split(lost, np.flatnonzero(np.diff(blocks[lost])) + 1) if len(part)]


def arrange(
    boxes: NDArray[np.float32],
    blocks: NDArray[np.int32],
    regions: Sequence[Region],
    order: Callable[[list[Region]], list[Region]],
) -> tuple[tuple[Region, ...], NDArray[np.int32]]:
    """All regions of the page in ``order`` and the owner of every word. Words that no region holds are a text of their
    own for each of MuPDF's ``blocks``; regions without words are dropped unless they are pictures."""
    everything = drop_nested(regions)
    owners = assign(boxes, everything)
    for part in left_over(owners, blocks):
        owners[part] = len(everything)
        everything.append(Region("text", hull(boxes, part)))
    used = set(owners.tolist())
    ordered = order([region for i, region in enumerate(everything) if i in used or region.kind == "picture"])
    numbers = {id(region): place for place, region in enumerate(ordered)}
    lookup = np.asarray([numbers.get(id(region), -1) for region in everything], dtype=np.int32)
    return tuple(ordered), (lookup[owners] if len(owners) else owners)


def hull(boxes: NDArray[np.float32], words: NDArray[np.intp]) -> Rect:
    """Bounding rectangle of ``boxes[words]``."""
    part = boxes[words]
    (x0, y0), (x1, y1) = part[:, :2].min(axis=0).tolist(), part[:, 2:].max(axis=0).tolist()
    return x0, y0, x1, y1


def print_area(boxes: NDArray[np.float32], sizes: NDArray[np.float32], shown: Rect) -> Rect:
    """Part of ``shown``, a page's frame, that all its words are on, with margins, if they are many and most are small,
    as when a web page was printed onto a part of the sheet; the layout model takes tables of that size for pictures.
    Else ``shown``. ``sizes`` are the words' in points."""
    if len(boxes) < SMALL_WORDS or float(np.median(sizes)) >= SMALL_PRINT:
        return shown
    x0, y0, x1, y1 = shown
    left, top, right, foot = hull(boxes, np.arange(len(boxes)))
    margin = EDGE * (right - left)
    left, top, right, foot = max(x0, left - margin), max(y0, top - margin), min(x1, right + margin), foot + margin
    parts = (right - left) / (x1 - x0), (foot - top) / (y1 - y0)
    if max(parts) >= SMALL_PART or parts[0] < LEAST_PART:
        return shown
    return left, top, right, min(y1, max(foot, top + parts[0] * (y1 - y0)))


def shared(a: Rect, b: Rect) -> float:
    """Common part of two boxes as a share of the smaller one."""
    width, height = overlap(a, b)
    small = min(area(a), area(b))
    return width * height / small if width > 0 and height > 0 and small > 0 else 0.0


def _contains(outer: Rect, inner: Rect) -> bool:
    x0, y0, x1, y1 = outer
    return x0 <= inner[0] and y0 <= inner[1] and x1 >= inner[2] and y1 >= inner[3] and outer != inner


def reading_order(regions: Sequence[Region], *, right_to_left: bool = False) -> list[Region]:
    """``regions`` in order: page headers first, footers last, columns from the left (right if ``right_to_left``)."""
    heads = [r for r in regions if r.kind == "page-header"]
    feet = [r for r in regions if r.kind in ("page-footer", LINE_NUMBERS)]
    body = [r for r in regions if r.kind not in ("page-header", "page-footer", LINE_NUMBERS)]
    return [*_by_rows(heads, right_to_left), *_arranged(body, right_to_left), *_by_rows(feet, right_to_left)]


def _arranged(regions: list[Region], right_to_left: bool) -> list[Region]:
    if len(regions) < 2:
        return regions
    columns = _columns(regions)
    if len(columns) > 1:
        parts = columns[::-1] if right_to_left else columns
        return [region for part in parts for region in _arranged(part, right_to_left)]
    bands = _cut(regions, itemgetter(1, 3))
    if len(bands) == 1:
        return _by_rows(regions, right_to_left)
    out: list[Region] = []
    first = 0
    while first < len(bands):
        end = _same_columns(bands, first)
        out.extend(_arranged([region for band in bands[first:end] for region in band], right_to_left))
        first = end
    return out


def _same_columns(bands: Sequence[list[Region]], first: int) -> int:
    """End of the run of bands from ``first`` that share one gutter: a column is read through all of them."""
    group: list[Region] = []
    end = first + 1
    for place in range(first, len(bands)):
        group += bands[place]
        if len(_columns(group)) > 1:
            end = place + 1
        elif place > first:  # one band without columns of its own may head the run
            break
    # A heading at the end belongs to the next region.
    while end > first + 1 and all(r.kind in ("section-header", "title") for r in bands[end - 1]):
        end -= 1
    return end


def _columns(regions: Sequence[Region]) -> list[list[Region]]:
    """Columns of ``regions``, from the left; a group too narrow for a column joins the nearer neighbour."""
    columns = _cut(regions, itemgetter(0, 2))
    while len(columns) > 1:
        spans = [(min(r.box[0] for r in c), max(r.box[2] for r in c)) for c in columns]
        widest = [max(r.box[2] - r.box[0] for r in c) for c in columns]
        place = min(range(len(widest)), key=lambda i: widest[i])
        if widest[place] >= NARROW:
            break
        before = spans[place][0] - spans[place - 1][1] if place else float("inf")
        behind = spans[place + 1][0] - spans[place][1] if place + 1 < len(spans) else float("inf")
        left = place - 1 if before <= behind else place
        columns[left : left + 2] = [[*columns[left], *columns[left + 1]]]
    beside = all(_stand_beside(a, b) for a, b in pairwise(columns))
    return columns if beside else [list(regions)]


def _stand_beside(left: Sequence[Region], right: Sequence[Region]) -> bool:
    tops = [min(r.box[1] for r in column) for column in (left, right)]
    ends = [max(r.box[3] for r in column) for column in (left, right)]
    return min(ends) - max(tops) > BESIDE * min(ends[0] - tops[0], ends[1] - tops[1])


def _cut(regions: Sequence[Region], extent: Callable[[Rect], tuple[float, float]]) -> list[list[Region]]:
    """Groups of ``regions`` separated by straight lines that touch none, in the order of ``extent``."""
    groups: list[list[Region]] = []
    reach = 0.0
    for region in sorted(regions, key=lambda r: extent(r.box)):
        low, high = extent(region.box)
        slack = min(MAX_SLACK, SLACK * (high - low))
        if groups and low + slack < reach:
            groups[-1].append(region)
            reach = max(reach, high - slack)
        else:
            groups.append([region])
            reach = high - slack
    return groups


def _by_rows(regions: Sequence[Region], right_to_left: bool) -> list[Region]:
    rows: list[list[Region]] = []
    for region in sorted(regions, key=lambda r: (r.box[1], r.box[0])):
        if rows and region.box[1] - rows[-1][0].box[1] <= ALIGNED:
            rows[-1].append(region)
        else:
            rows.append([region])
    return [r for row in rows for r in sorted(row, key=lambda r: -r.box[2] if right_to_left else r.box[0])]
