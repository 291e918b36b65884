"""Reading order of the regions of a page.

A recursive XY-cut (Nagy and Seth, 1984) that looks for columns first: cutting at every blank stripe would cut both
columns wherever two paragraph ends happen to be side by side. A region that crosses the gutter (a title, a wide figure)
divides the page into bands, and within a band each column is read to its end. If no straight cut exists, regions are
ordered by Breuel's rules ("High performance document layout analysis", 2003): above before below if they overlap in
width, left before right if nothing between them overlaps both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from ragcore.ingest.layout import LINE_NUMBERS, Rect, Region

SLACK = 0.12  # of a region's width and height, per side: the most it may extend into a gap
MAX_SLACK = 6.0  # points
ALIGNED = 4.0  # points between the tops of regions in one row
NARROW = 60.0  # points: without a wider region there is no column (page numbers at the right of a list, labels)
BESIDE = 0.3  # of the lower column's height: least length over which columns are side by side


def reading_order(regions: Sequence[Region], *, right_to_left: bool = False) -> list[Region]:
    """``regions`` in order: page headers first, footers last, columns from the left (right if ``right_to_left``)."""
    heads = [r for r in regions if r.kind == "page-header"]
    feet = [r for r in regions if r.kind in ("page-footer", LINE_NUMBERS)]
    outside = {id(r) for r in (*heads, *feet)}
    body = [r for r in regions if id(r) not in outside]
    arranged = _arranged(body, right_to_left)
    side = partial(_by_rows, right_to_left=right_to_left)
    return [*side(heads), *arranged, *side(feet)]


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


def _across(box: Rect) -> tuple[float, float]:
    return box[0], box[2]


def _down(box: Rect) -> tuple[float, float]:
    return box[1], box[3]


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


def _by_rows(regions: Sequence[Region], *, right_to_left: bool) -> list[Region]:
    rows: list[list[Region]] = []
    for region in sorted(regions, key=lambda r: (r.box[1], r.box[0])):
        if rows and region.box[1] - rows[-1][0].box[1] <= ALIGNED:
            rows[-1].append(region)
        else:
            rows.append([region])
    return [r for row in rows for r in sorted(row, key=lambda r: -r.box[2] if right_to_left else r.box[0])]


def _by_precedence(regions: Sequence[Region], right_to_left: bool) -> list[Region]:
    """Breuel's partial order, taken from the top; regions in a cycle are ordered by height."""
    waiting = sorted(regions, key=lambda r: (r.box[1], -r.box[2] if right_to_left else r.box[0]))
    before = {
        id(r): {id(o) for o in waiting if o is not r and _precedes(o.box, r.box, waiting, right_to_left)}
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
    if _shared(a[0], a[2], b[0], b[2]):
        return a[1] + a[3] < b[1] + b[3]
    if (a[0] > b[0]) != right_to_left:
        return False
    low, high = min(a[1], b[1]), max(a[3], b[3])
    return not any(
        low < (r.box[1] + r.box[3]) / 2 < high
        and _shared(r.box[0], r.box[2], *_across(a))
        and _shared(r.box[0], r.box[2], *_across(b))
        for r in regions
    )


def _shared(a0: float, a1: float, b0: float, b1: float) -> bool:
    """Whether two extents overlap by more than the slack of the narrower one."""
    narrow = min(a1 - a0, b1 - b0)
    return min(a1, b1) - max(a0, b0) > min(MAX_SLACK, SLACK * narrow)
