"""Regions of a page: assignment of each word to a region, and reading order.

Pure functions over rectangles, independent of MuPDF. A word belongs to exactly one region; words that the layout model
left out get regions of their own, so none is lost.

The order is a recursive XY-cut (Nagy and Seth, 1984) that looks for columns first: cutting at every blank stripe would
cut both columns wherever two paragraph ends happen to be side by side. A region that crosses the gutter (a title, a
wide figure) divides the page into bands, and within a band each column is read to its end. If no straight cut exists,
regions are ordered by Breuel's rules ("High performance document layout analysis", 2003): above before below if they
overlap in width, left before right if nothing between them overlaps both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.layout import LINE_NUMBERS, Rect, Region, area, overlap

MARGIN = 1.5  # points by which a word's centre may lie outside its region
SLACK = 0.12  # of a region's width and height, per side: the most it may extend into a gap
MAX_SLACK = 6.0  # points
ALIGNED = 4.0  # points between the tops of regions in one row
NARROW = 60.0  # points: without a wider region there is no column (page numbers at the right of a list, labels)
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


def leftover_regions(
    boxes: NDArray[np.float32],
    lines: NDArray[np.int32],
    blocks: NDArray[np.int32],
    owners: NDArray[np.int32],
    regions: Sequence[Region],
) -> tuple[list[Region], list[NDArray[np.intp]]]:
    """Regions of kind ``text`` for words without one, each with its words' indices.

    Words of one printed line stay together; following lines of one MuPDF block join as long as the box around them
    touches no other region.
    """
    lost = np.flatnonzero(owners < 0)
    made: list[Region] = []
    members: list[NDArray[np.intp]] = []
    if not len(lost):
        return made, members
    cuts = np.flatnonzero(np.diff(lines[lost]) != 0) + 1
    taken = [region.box for region in regions]
    group: list[NDArray[np.intp]] = []
    for part in np.split(lost, cuts):
        box = hull(boxes, np.concatenate([*group, part]))
        if group and (blocks[part[0]] != blocks[group[0][0]] or any(_touch(box, other) for other in taken)):
            made.append(Region("text", hull(boxes, np.concatenate(group))))
            members.append(np.concatenate(group))
            group = []
        group.append(part)
    made.append(Region("text", hull(boxes, np.concatenate(group))))
    members.append(np.concatenate(group))
    return made, members


def arrange(
    boxes: NDArray[np.float32],
    lines: NDArray[np.int32],
    blocks: NDArray[np.int32],
    regions: Sequence[Region],
    order: Callable[[list[Region]], list[Region]],
) -> tuple[tuple[Region, ...], NDArray[np.int32]]:
    """All regions of the page in ``order`` and the owner of every word. Regions without words are dropped unless they
    are pictures."""
    known = drop_nested(regions)
    owners = assign(boxes, known)
    extra, members = leftover_regions(boxes, lines, blocks, owners, known)
    for offset, words in enumerate(members):
        owners[words] = len(known) + offset
    everything = known + extra
    used = set(owners.tolist())
    ordered = order([region for i, region in enumerate(everything) if i in used or region.kind == "picture"])
    numbers = {id(region): place for place, region in enumerate(ordered)}
    lookup = np.asarray([numbers.get(id(region), -1) for region in everything], dtype=np.int32)
    return tuple(ordered), (lookup[owners] if len(owners) else owners)


def hull(boxes: NDArray[np.float32], words: NDArray[np.intp]) -> Rect:
    """Bounding rectangle of ``boxes[words]``."""
    part = boxes[words]
    return (
        float(part[:, 0].min()),
        float(part[:, 1].min()),
        float(part[:, 2].max()),
        float(part[:, 3].max()),
    )


def shared(a: Rect, b: Rect) -> float:
    """Common part of two boxes as a share of the smaller one."""
    width, height = overlap(a, b)
    small = min(area(a), area(b))
    return width * height / small if width > 0 and height > 0 and small > 0 else 0.0


def _touch(a: Rect, b: Rect) -> bool:
    return min(overlap(a, b)) > 0


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
    bands = _cut(regions, _down)
    if len(bands) == 1:
        return _by_precedence(regions, right_to_left)
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
    columns = _cut(regions, _across)
    while len(columns) > 1:
        spans = [(min(r.place[0] for r in c), max(r.place[2] for r in c)) for c in columns]
        widest = [max(r.place[2] - r.place[0] for r in c) for c in columns]
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
    tops = [min(r.place[1] for r in column) for column in (left, right)]
    ends = [max(r.place[3] for r in column) for column in (left, right)]
    return min(ends) - max(tops) > BESIDE * min(ends[0] - tops[0], ends[1] - tops[1])


def _across(box: Rect) -> tuple[float, float]:
    return box[0], box[2]


def _down(box: Rect) -> tuple[float, float]:
    return box[1], box[3]


def _cut(regions: Sequence[Region], extent: Callable[[Rect], tuple[float, float]]) -> list[list[Region]]:
    """Groups of ``regions`` separated by straight lines that touch none, in the order of ``extent``."""
    groups: list[list[Region]] = []
    reach = 0.0
    for region in sorted(regions, key=lambda r: extent(r.place)):
        low, high = extent(region.place)
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
    for region in sorted(regions, key=lambda r: (r.place[1], r.place[0])):
        if rows and region.place[1] - rows[-1][0].place[1] <= ALIGNED:
            rows[-1].append(region)
        else:
            rows.append([region])
    return [r for row in rows for r in sorted(row, key=lambda r: -r.place[2] if right_to_left else r.place[0])]


def _by_precedence(regions: Sequence[Region], right_to_left: bool) -> list[Region]:
    """Breuel's partial order, taken from the top; regions in a cycle are ordered by height."""
    waiting = sorted(regions, key=lambda r: (r.place[1], -r.place[2] if right_to_left else r.place[0]))
    before = {
        id(r): {id(o) for o in waiting if o is not r and _precedes(o.place, r.place, waiting, right_to_left)}
        for r in waiting
    }
    out: list[Region] = []
    while waiting:
        open_ids = {id(r) for r in waiting}
        chosen = next((r for r in waiting if not before[id(r)] & open_ids), waiting[0])
        waiting.remove(chosen)
        out.append(chosen)
    return out


def _precedes(a: Rect, b: Rect, regions: Sequence[Region], right_to_left: bool) -> bool:
    if _overlapping(a[0], a[2], b[0], b[2]):
        return a[1] + a[3] < b[1] + b[3]
    if (a[0] > b[0]) != right_to_left:
        return False
    low, high = min(a[1], b[1]), max(a[3], b[3])
    return not any(
        low < (r.place[1] + r.place[3]) / 2 < high
        and _overlapping(r.place[0], r.place[2], *_across(a))
        and _overlapping(r.place[0], r.place[2], *_across(b))
        for r in regions
    )


def _overlapping(a0: float, a1: float, b0: float, b1: float) -> bool:
    """Whether two extents overlap by more than the slack of the narrower one."""
    narrow = min(a1 - a0, b1 - b0)
    return min(a1, b1) - max(a0, b0) > min(MAX_SLACK, SLACK * narrow)
