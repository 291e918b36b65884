"""Layout detection of one page by the layout model and the table finder. Runs in the child process only.

Pictures that the model detected in part are completed from the drawings: a picture grows over the drawings and images
that lie partly in it, unless it would take in part of another region, including another picture (images with shadows
extend beyond their visible part). A caption without a figure gets the drawing next to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

from ragcore.ingest.layout import Grid, GridCell, Rect, Region, overlap
from ragcore.ingest.regions import hull, shared

MIN_REGION = 2.0  # points: thinner layout boxes are rules, not regions
MIN_PICTURE = 20.0  # points: smaller images are bullets and ornaments
MIN_RULES = 4  # fewer lines and rectangles than this cannot rule a table
_TEXT = ("fill-text", "stroke-text", "ignore-text")  # MuPDF's names


def find_regions(page: Any, words: int, vectors: int) -> tuple[list[Region], str | None]:
    """Layout regions, tables with their grids, and images; and an error message if the table finder failed.

    The table finder takes a third of a page's time. It works from the layout's tables and from ruled lines, so it is
    skipped on a page with neither; the layout model is skipped on a page without words.
    """
    if not words:
        return _image_regions(page, ()), None
    page.get_layout(return_raw=True)
    found: Sequence[Mapping[str, Any]] = page.layout_information or []
    regions: list[Region] = []
    for group in found:
        x0, y0, x1, y1 = (float(value) for value in group["group_bbox"][:4])
        if x1 - x0 > MIN_REGION and y1 - y0 > MIN_REGION:
            regions.append(Region(str(group["class_name"]), (x0, y0, x1, y1)))
    problem: str | None = None
    tables: list[Region] = []
    if vectors >= MIN_RULES or any(region.kind == "table" for region in regions):
        finder = page.find_tables(use_layout=True, union=True, refine=True)
        if finder is None:
            problem = "the table finder failed on this page, so its tables are read as text"
        else:
            tables = [region for table in finder.tables if (region := _table_region(table)) is not None]
    page.layout_information = None
    kept = [r for r in regions if r.kind != "table" or not any(shared(table.box, r.box) >= 0.5 for table in tables)]
    found_regions = kept + tables
    if any(region.kind in ("picture", "caption") for region in kept):
        found_regions = complete_pictures(found_regions, _drawn(page), page.rect.width, page.rect.height)
    return found_regions + _image_regions(page, found_regions), problem


def block_regions(boxes: NDArray[np.float32], blocks: NDArray[np.int32]) -> list[Region]:
    """Bounding boxes of the words of MuPDF's text blocks, in their order: the regions used without a layout model."""
    return [Region("text", hull(boxes, np.flatnonzero(blocks == block))) for block in dict.fromkeys(blocks.tolist())]


def moved_right(region: Region, right: float) -> Region:
    """``region`` with all its boxes moved right by ``right``: from the frame of a part of the page to the page's."""

    def move(box: Rect) -> Rect:
        return box[0] + right, box[1], box[2] + right, box[3]

    grid = region.grid
    if grid is not None:
        grid = replace(grid, cells=tuple(replace(cell, box=move(cell.box)) for cell in grid.cells))
    return replace(region, box=move(region.box), grid=grid, core=None if region.core is None else move(region.core))


def _table_region(table: Any) -> Region | None:
    """Grid of a found table; None if the finder gave no cells."""
    placements = table.placements
    if not placements:
        return None
    cells: list[GridCell] = []
    taken: set[tuple[int, int]] = set()
    columns = 0
    for row, placed in enumerate(placements):
        col = 0
        for cell in placed:
            while (row, col) in taken:
                col += 1
            if cell.bbox is not None:
                x0, y0, x1, y1 = (float(value) for value in cell.bbox)
                cells.append(
                    GridCell(row, col, int(cell.rowspan), int(cell.colspan), (x0, y0, x1, y1), cell.tag == "th")
                )
            taken.update((row + i, col + j) for i in range(cell.rowspan) for j in range(cell.colspan))
            col += cell.colspan
            columns = max(columns, col)
    if not cells:
        return None
    x0, y0, x1, y1 = (float(value) for value in table.bbox)
    return Region("table", (x0, y0, x1, y1), Grid(len(placements), columns, tuple(cells)))


def _image_regions(page: Any, regions: Sequence[Region]) -> list[Region]:
    """Images that no region touches. A page-wide image is a background or a scan, not a figure."""
    out: list[Region] = []
    width, height = page.rect.width, page.rect.height
    for image in page.get_image_info():
        rect = pymupdf.Rect(image["bbox"]) & pymupdf.Rect(0, 0, width, height)
        if rect.width < MIN_PICTURE or rect.height < MIN_PICTURE or abs(rect) > 0.9 * width * height:
            continue
        box = (float(rect.x0), float(rect.y0), float(rect.x1), float(rect.y1))
        if not any(rect.intersects(pymupdf.Rect(r.box)) for r in (*regions, *out)):
            out.append(Region("picture", box))
    return out


def _drawn(page: Any) -> NDArray[np.float64]:
    """Boxes of all paths, shadings and images on the page, ``(n, 4)``."""
    return np.asarray([box for kind, box in page.get_bboxlog() if kind not in _TEXT], np.float64).reshape(-1, 4)


Boxes = NDArray[np.float64]

SMALLEST = 40.0  # points: least width and height of a caption's picture
BACKGROUND = 0.6  # of the page: larger drawings are background
REACH = 36.0  # points between a caption and its drawing
APART = 12.0  # points between two parts of one picture
OVERLAP = 3.0  # points by which a picture may reach into another region


def complete_pictures(regions: Sequence[Region], drawn: Boxes, width: float, height: float) -> list[Region]:
    """``regions`` with pictures grown, and pictures added for captions that have neither picture nor table. Their
    ``core`` is the box detected before, or the place given by the caption. ``drawn`` are the boxes of all paths and
    images on the page, ``(n, 4)``; page and boxes share one frame, in points."""
    others = [region.box for region in regions if region.kind != "picture"]
    drawn = _usable(drawn, others, width, height)

    def complete(region: Region) -> Region:
        if region.kind != "picture":
            return region
        rest = [*others, *(other.box for other in regions if other.kind == "picture" and other is not region)]
        return replace(region, box=_grown(region.box, drawn, rest, 0.0), core=region.box)

    out = [complete(region) for region in regions]
    for caption in [region for region in regions if region.kind == "caption"]:
        if any(_near(caption.box, region.box) for region in out if region.kind in ("picture", "table")):
            continue
        found = _picture_at(caption.box, drawn, others)
        if found is not None:
            strip = (caption.box[0], found[1], caption.box[2], found[3])
            out.append(Region("picture", found, core=strip))
    return out


def _usable(drawn: Boxes, others: Sequence[Rect], width: float, height: float) -> Boxes:
    """Drawings on the page that are no background and do not belong to a region with words (a rule, a table's line)."""
    drawn = drawn.clip(0, (width, height, width, height))
    sides = drawn[:, 2:] - drawn[:, :2]
    kept = (sides.max(axis=1, initial=0) > 1) & (sides.prod(axis=1) <= BACKGROUND * width * height)
    centres = (drawn[:, :2] + drawn[:, 2:]) / 2
    for x0, y0, x1, y1 in others:
        inside = (centres >= (x0, y0)) & (centres <= (x1, y1))
        kept &= ~inside.all(axis=1)
    usable: Boxes = drawn[kept]
    return usable


def _picture_at(caption: Rect, drawn: Boxes, others: Sequence[Rect]) -> Rect | None:
    """Drawing just above the caption, else just below it, no wider than the free space beside the caption, which other
    columns' text limits."""
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
    """``box`` grown, step by step, over drawings inside it or within ``apart`` points of it."""
    left = drawn
    grew = True
    while grew and len(left):
        grew = False
        x0, y0, x1, y1 = box
        outside = (left[:, 0] < x0) | (left[:, 1] < y0) | (left[:, 2] > x1) | (left[:, 3] > y1)
        left = left[outside]  # drawings inside the box add nothing
        touches = (
            (left[:, 0] <= x1 + apart)
            & (left[:, 2] >= x0 - apart)
            & (left[:, 1] <= y1 + apart)
            & (left[:, 3] >= y0 - apart)
        )
        near = left[touches]
        left = left[~touches]  # each drawing is examined once
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


def _intrudes(wider: Rect, box: Rect, others: Sequence[Rect]) -> bool:
    """Whether ``wider`` covers more of any other region than ``box`` does."""
    for other in others:
        wide, high = overlap(wider, other)
        before = overlap(box, other)
        if min(wide, high) > OVERLAP and wide * high > max(0.0, before[0]) * max(0.0, before[1]) + 1.0:
            return True
    return False


def _near(caption: Rect, other: Rect) -> bool:
    wide, high = overlap(caption, other)
    return (wide > 0 and high >= -REACH) or (high > 0 and wide >= -REACH)


def _hull(boxes: Boxes) -> Rect:
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _rect(values: Sequence[float]) -> Rect:
    x0, y0, x1, y1 = values
    return x0, y0, x1, y1
