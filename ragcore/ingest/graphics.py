"""Pictures that the layout model saw in part or not at all, completed from what is drawn on the page.

A picture grows over the drawings and images that lie partly in it, as long as it takes in nothing of another region,
be it a picture too: images with shadows reach beyond what is seen of them.
A caption with nothing to stand for gets what is drawn next to it. Pure functions over rectangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.layout import Rect, Region

Boxes = NDArray[np.float64]

SMALLEST = 40.0  # points: a caption's picture is at least so wide and high
BACKGROUND = 0.6  # of the page: what is larger lies behind everything
REACH = 36.0  # points between a caption and what is drawn for it
APART = 12.0  # points between two parts of one picture
LABEL, LABEL_APART = 120.0, 6.0  # points: the longest label of an axis or point, and how far it stands outside
OVERLAP = 3.0  # points by which a picture may reach into another region


def complete_pictures(
    regions: Sequence[Region], drawn: Boxes, lettered: Boxes, width: float, height: float
) -> list[tuple[Region, Region]]:
    """``regions`` with their pictures grown, and pictures for captions that have neither picture nor table; each with
    its core, where it was seen before or where its caption places it: what is drawn of a picture may reach behind the
    next column, so the core tells its place on the page. ``drawn`` are the boxes of all paths and images on the page,
    ``lettered`` those of all pieces of text, each ``(n, 4)``; page and boxes in one frame, in points."""
    others = [region.box for region in regions if region.kind != "picture"]
    drawn, lettered = (_usable(boxes, others, width, height) for boxes in (drawn, lettered))

    def complete(region: Region) -> Region:
        if region.kind != "picture":
            return region
        rest = [*others, *(other.box for other in regions if other.kind == "picture" and other is not region)]
        return replace(region, box=_with_labels(_grown(region.box, drawn, rest, 0.0), lettered, rest))

    out = [(complete(region), region) for region in regions]
    for caption in [region for region in regions if region.kind == "caption"]:
        if any(_near(caption.box, region.box) for region, _core in out if region.kind in ("picture", "table")):
            continue
        found = _picture_at(caption.box, drawn, others)
        if found is not None:
            strip = (caption.box[0], found[1], caption.box[2], found[3])
            out.append((Region("picture", _with_labels(found, lettered, others)), Region("picture", strip)))
    return out


def _usable(drawn: Boxes, others: Sequence[Rect], width: float, height: float) -> Boxes:
    """What is on the page, is no background and does not belong to a region with words (a rule, a table's line)."""
    drawn = drawn.reshape(-1, 4)
    drawn = np.stack([drawn[:, :2].clip(0, (width, height)), drawn[:, 2:].clip(0, (width, height))], 1).reshape(-1, 4)
    sides = drawn[:, 2:] - drawn[:, :2]
    kept = (sides.max(axis=1, initial=0) > 1) & (sides.prod(axis=1) <= BACKGROUND * width * height)
    centres = (drawn[:, :2] + drawn[:, 2:]) / 2
    for x0, y0, x1, y1 in others:
        inside = (centres >= (x0, y0)) & (centres <= (x1, y1))
        kept &= ~inside.all(axis=1)
    usable: Boxes = drawn[kept]
    return usable


def _picture_at(caption: Rect, drawn: Boxes, others: Sequence[Rect]) -> Rect | None:
    """The drawing just above the caption, else just below it; no further to the sides than what stands beside the
    caption, which is the caption or the text of another column."""
    side = [other for other in others if other[1] < caption[3] and other[3] > caption[1]]
    left = max((other[2] for other in side if other[2] <= caption[0]), default=-np.inf)
    right = min((other[0] for other in side if other[0] >= caption[2]), default=np.inf)
    drawn = np.column_stack([drawn[:, [0, 2]].clip(left, right), drawn[:, [1, 3]]])[:, [0, 2, 1, 3]]
    drawn = drawn[drawn[:, 2] - drawn[:, 0] > 1]
    beside = (drawn[:, 0] < caption[2]) & (drawn[:, 2] > caption[0])
    above, below = caption[1] - drawn[:, 3], drawn[:, 1] - caption[3]
    for gaps in (above, below):
        seeds = drawn[beside & (gaps > -OVERLAP) & (gaps <= REACH)]
        for seed in seeds.tolist():
            box = _grown(_rect(seed), drawn, others, APART)
            if _intrudes(box, (0.0, 0.0, 0.0, 0.0), others):
                continue
            if box[2] - box[0] >= SMALLEST and box[3] - box[1] >= SMALLEST:
                return box
    return None


def _grown(box: Rect, drawn: Boxes, others: Sequence[Rect], apart: float) -> Rect:
    """``box`` grown, step by step, over what is drawn in it or within ``apart`` points of it."""
    left = drawn
    grew = True
    while grew and len(left):
        grew = False
        x0, y0, x1, y1 = box
        outside = (left[:, 0] < x0) | (left[:, 1] < y0) | (left[:, 2] > x1) | (left[:, 3] > y1)
        left = left[outside]  # what lies inside has nothing to add
        touches = (
            (left[:, 0] <= x1 + apart)
            & (left[:, 2] >= x0 - apart)
            & (left[:, 1] <= y1 + apart)
            & (left[:, 3] >= y0 - apart)
        )
        near = left[touches]
        left = left[~touches]  # each is looked at once
        if not len(near):
            break
        at_once = _hull(np.vstack([near, [box]]))
        if not _intrudes(at_once, box, others):
            box, grew = at_once, True
            continue
        for part in near.tolist():
            wider = _hull(np.asarray([box, part]))
            if not _intrudes(wider, box, others):
                box, grew = wider, True
    return box


def _with_labels(box: Rect, lettered: Boxes, others: Sequence[Rect]) -> Rect:
    """``box`` with the short pieces of text of no other region that stand partly in it or at its edge."""
    x0, y0, x1, y1 = box
    touches = (
        (lettered[:, 0] <= x1 + LABEL_APART)
        & (lettered[:, 2] >= x0 - LABEL_APART)
        & (lettered[:, 1] <= y1 + LABEL_APART)
        & (lettered[:, 3] >= y0 - LABEL_APART)
    )
    short = (lettered[:, 2:] - lettered[:, :2]).max(axis=1, initial=0) <= LABEL
    for part in lettered[touches & short].tolist():
        wider = _hull(np.asarray([box, part]))
        if not _intrudes(wider, box, others):
            box = wider
    return box


def _intrudes(wider: Rect, box: Rect, others: Sequence[Rect]) -> bool:
    """Whether ``wider`` takes more of any other region than ``box`` does."""
    for other in others:
        wide, high = _overlap(wider, other)
        before = _overlap(box, other)
        if min(wide, high) > OVERLAP and wide * high > max(0.0, before[0]) * max(0.0, before[1]) + 1.0:
            return True
    return False


def _overlap(a: Rect, b: Rect) -> tuple[float, float]:
    return min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])


def _near(caption: Rect, other: Rect) -> bool:
    wide, high = _overlap(caption, other)
    return (wide > 0 and high >= -REACH) or (high > 0 and wide >= -REACH)


def _hull(boxes: Boxes) -> Rect:
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _rect(values: Sequence[float]) -> Rect:
    x0, y0, x1, y1 = values
    return x0, y0, x1, y1
