"""Regions of a page: assignment of each word to a region, and reading order.

Pure functions over rectangles, independent of MuPDF. A word belongs to exactly one region; words that the layout model
left out get regions of their own, so none is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.layout import Rect, Region, area

MARGIN = 1.5  # points by which a word's centre may lie outside its region
Order = Callable[[list[Region]], list[Region]]


def drop_nested(regions: Sequence[Region]) -> list[Region]:
    """Regions that do not lie inside another one; a table stays, since it is more exact than the region around it."""
    kept: list[Region] = []
    for region in sorted(regions, key=lambda r: -area(r.box)):
        if region.kind != "table" and any(_contains(other.box, region.box) for other in kept):
            continue
        if region.kind == "table" and any(o.kind == "table" and _overlap(o.box, region.box) > 0.6 for o in kept):
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
    order: Order,
) -> tuple[tuple[Region, ...], NDArray[np.int32]]:
    """All regions of the page in reading order and the owner of every word.

    ``order`` sorts regions. Regions without words are dropped unless they are pictures.
    """
    known = drop_nested(regions)
    owners = assign(boxes, known)
    extra, members = leftover_regions(boxes, lines, blocks, owners, known)
    for offset, words in enumerate(members):
        owners[words] = len(known) + offset
    everything = known + extra
    used = set(np.unique(owners).tolist())
    wanted = [region for i, region in enumerate(everything) if i in used or region.kind == "picture"]
    ordered = order(list(wanted))
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


def _touch(a: Rect, b: Rect) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _overlap(a: Rect, b: Rect) -> float:
    """Intersection divided by the smaller of the two areas."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    small = min(area(a), area(b))
    return width * height / small if width > 0 and height > 0 and small > 0 else 0.0


def _contains(outer: Rect, inner: Rect) -> bool:
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and outer[2] >= inner[2]
        and outer[3] >= inner[3]
        and outer != inner
    )
