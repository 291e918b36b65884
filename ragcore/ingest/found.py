"""What stands where on a page, as the layout model and the table finder see it. Runs in the child process only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

from ragcore.ingest.graphics import complete_pictures
from ragcore.ingest.layout import Grid, GridCell, Rect, Region

MIN_REGION = 2.0  # points: thinner layout boxes are rules, not regions
MIN_PICTURE = 20.0  # points: smaller images are bullets and ornaments
MIN_RULES = 4  # fewer lines and rectangles than this cannot rule a table
_TEXT = ("fill-text", "stroke-text", "ignore-text")  # MuPDF's names


def find_regions(page: Any, words: int, vectors: int) -> tuple[list[tuple[Region, Region]], str | None]:
    """Layout regions, tables with their grids, and images, each with its core (`complete_pictures`); and a complaint
    where the table finder failed.

    The table finder is a third of a page's time. It works from the layout's tables and from ruled lines, so a page
    with neither is spared it; a page without words has nothing for the model to lay out.
    """
    if not words:
        return [(image, image) for image in _image_regions(page, (), page.rect.width, page.rect.height)], None
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
    kept = [r for r in regions if r.kind != "table" or not any(_covers(table.box, r.box) for table in tables)]
    pairs = [(region, region) for region in kept + tables]
    if any(region.kind in ("picture", "caption") for region in kept):
        pairs = complete_pictures(kept + tables, *_drawn(page), page.rect.width, page.rect.height)
    images = _image_regions(page, [region for region, _core in pairs], page.rect.width, page.rect.height)
    return [*pairs, *((image, image) for image in images)], problem


def block_regions(boxes: NDArray[np.float32], blocks: NDArray[np.int32]) -> list[Region]:
    """The hulls of the words of each of MuPDF's text blocks, in their order: regions where there is no layout model."""
    regions: list[Region] = []
    for block in dict.fromkeys(blocks.tolist()):
        part = boxes[blocks == block]
        low, high = part[:, :2].min(0), part[:, 2:].max(0)
        regions.append(Region("text", (float(low[0]), float(low[1]), float(high[0]), float(high[1]))))
    return regions


def moved_right(region: Region, right: float) -> Region:
    """``region`` with all its boxes moved to the right, from the frame of a part of the page to that of the page."""
    if not right:
        return region

    def move(box: Rect) -> Rect:
        return box[0] + right, box[1], box[2] + right, box[3]

    grid = region.grid
    if grid is not None:
        grid = replace(grid, cells=tuple(replace(cell, box=move(cell.box)) for cell in grid.cells))
    return Region(region.kind, move(region.box), grid)


def _table_region(table: Any) -> Region | None:
    """A found table as a grid; None where the finder gave no cells."""
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


def _covers(table: Rect, other: Rect) -> bool:
    """Whether a found table takes the place of a layout box: most of either lies in the other."""
    width = min(table[2], other[2]) - max(table[0], other[0])
    height = min(table[3], other[3]) - max(table[1], other[1])
    if width <= 0 or height <= 0:
        return False
    area = min((table[2] - table[0]) * (table[3] - table[1]), (other[2] - other[0]) * (other[3] - other[1]))
    return area <= 0 or width * height / area >= 0.5


def _image_regions(page: Any, regions: Sequence[Region], width: float, height: float) -> list[Region]:
    """Images that no region touches; a page-wide image is a background or a scan, not a figure."""
    out: list[Region] = []
    for image in page.get_image_info():
        rect = pymupdf.Rect(image["bbox"]) & pymupdf.Rect(0, 0, width, height)
        if rect.width < MIN_PICTURE or rect.height < MIN_PICTURE or abs(rect) > 0.9 * width * height:
            continue
        box = (float(rect.x0), float(rect.y0), float(rect.x1), float(rect.y1))
        if not any(rect.intersects(pymupdf.Rect(r.box)) for r in (*regions, *out)):
            out.append(Region("picture", box))
    return out


def _drawn(page: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The boxes of all paths, shadings and images on the page, and those of all pieces of text, each ``(n, 4)``."""
    log = page.get_bboxlog()
    paths, texts = ([box for kind, box in log if (kind in _TEXT) == is_text] for is_text in (False, True))
    return np.asarray(paths, np.float64).reshape(-1, 4), np.asarray(texts, np.float64).reshape(-1, 4)
