"""Layout blocks: regions of a page with their printed lines. Roles, noise and joins are decided on blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.canonical import Line, Ref, plain
from ragcore.ingest.layout import BOLD, COARSE, LINE_NUMBERS, SIDEWAYS, WATERMARK, Grid, PageLayout, Rect, around
from ragcore.ingest.words import mostly_right_to_left
from ragcore.types import ElementKind

_KINDS: dict[str, ElementKind] = {
    "text": "paragraph",
    "title": "heading",
    "section-header": "heading",
    "list-item": "list_item",
    "table": "table",
    "picture": "figure",
    "logo": "figure",
    "caption": "caption",
    "footnote": "footnote",
    "formula": "formula",
    "page-header": "page_header",
    "page-footer": "page_footer",
    LINE_NUMBERS: "page_footer",
    WATERMARK: "page_header",
}


@dataclass(eq=False)
class Block:
    """Region with its lines. ``kind`` and ``noise`` change while the passes run; ``parts`` grows when a block of a
    later page is joined to this one (``lines`` then runs over several pages)."""

    page: PageLayout
    kind: ElementKind
    role: str  # the layout model's class
    box: Rect
    lines: list[Line]
    grid: Grid | None = None
    noise: str | None = None
    level: int = 0
    joined: bool = False  # an earlier block took over its lines
    verbatim: bool = False  # line breaks are kept
    run_in: bool = False  # a heading in the first line of its paragraph
    labelled: bool = False  # a label with its value, cut from others
    description: str = ""  # of a figure, written by AI
    place: str = ""  # in the file that the page was made of; its role is then known
    words: tuple[Ref, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.words = tuple(word for line in self.lines for word in line)

    @property
    def text(self) -> str:
        return plain(self.lines)

    @property
    def size(self) -> float:
        """Median font size, weighted by characters (the smaller of two medians); 0.0 without words."""
        letters = Counter[float]()
        for word in self.words:
            letters[word.size] += len(word.text)
        sizes = sorted(letters.elements())
        return sizes[(len(sizes) - 1) // 2] if sizes else 0.0

    @property
    def bold(self) -> bool:
        return bool(self.words) and sum(bool(word.flags & BOLD) for word in self.words) > 0.8 * len(self.words)


def part_of(block: Block, lines: Sequence[Line], kind: ElementKind) -> Block:
    """Block made of ``lines`` of ``block``."""
    box = around(word.box for line in lines for word in line)
    return Block(block.page, kind, block.role, box, list(lines))


def page_blocks(page: PageLayout) -> list[Block]:
    """Blocks of ``page`` in reading order. Every word of the page is in exactly one."""
    blocks: list[Block] = []
    for index, region in enumerate(page.regions):
        members = np.flatnonzero(page.owners == index)
        if not len(members) and region.kind not in ("picture", "logo"):
            continue
        kind = _KINDS.get(region.kind, "paragraph")
        block = Block(page, kind, region.kind, region.box, visual_lines(page, members), region.grid)
        block.description, block.place, block.verbatim = region.description, region.place, bool(region.place)
        if region.kind == LINE_NUMBERS:
            block.noise, block.verbatim = "line_number", True
        elif region.kind == WATERMARK:
            block.noise = "watermark"
        elif region.kind == "logo":
            block.noise = "logo"
        elif kind == "page_header" or kind == "page_footer":
            block.noise = kind
        elif kind != "figure" and _is_side_stamp(page, members, region.box):
            block.noise = "marginalia"
        blocks.append(block)
    return blocks


def visual_lines(page: PageLayout, members: NDArray[np.intp]) -> list[Line]:
    """Printed lines of ``members``: MuPDF's line pieces at the same height, merged from left to right.

    Within a piece MuPDF's order is kept, which is the logical one for right-to-left scripts; pieces of a mostly
    right-to-left line are ordered from right to left. Turned text keeps MuPDF's order. Words with the box of a whole
    area come last, line by line as given.
    """
    if not len(members):
        return []
    coarse = members[(page.flags[members] & COARSE) != 0]
    if len(coarse):
        runs = np.split(coarse, np.flatnonzero(np.diff(page.lines[coarse]) != 0) + 1)
        given = [tuple(Ref(page, i) for i in run.tolist()) for run in runs]
        return visual_lines(page, np.setdiff1d(members, coarse)) + given
    cuts = np.flatnonzero(np.diff(page.lines[members]) != 0) + 1
    pieces = [piece.tolist() for piece in np.split(members, cuts)]
    if sum(bool(page.flags[i] & SIDEWAYS) for i in members.tolist()) > len(members) / 2:
        return [tuple(Ref(page, i) for i in piece) for piece in pieces]
    spans = [(float(page.boxes[p, 1].min()), float(page.boxes[p, 3].max())) for p in pieces]
    order = sorted(range(len(pieces)), key=lambda k: (spans[k][0] + spans[k][1]) / 2)
    rows: list[list[int]] = []
    reach = (0.0, 0.0)
    for k in order:
        top, bottom = spans[k]
        overlap = min(bottom, reach[1]) - max(top, reach[0])
        if rows and overlap > 0.5 * min(bottom - top, reach[1] - reach[0]):
            rows[-1].append(k)
            if bottom - top > reach[1] - reach[0]:
                reach = spans[k]
        else:
            rows.append([k])
            reach = spans[k]
    lines: list[Line] = []
    for row in rows:
        right_to_left = mostly_right_to_left(page.texts[i] for k in row for i in pieces[k])
        row.sort(key=lambda k: float(page.boxes[pieces[k], 0].min()), reverse=right_to_left)
        lines.append(tuple(Ref(page, i) for k in row for i in pieces[k]))
    return lines


def _is_side_stamp(page: PageLayout, members: NDArray[np.intp], box: Rect) -> bool:
    """Whether the line is turned text along the left or right edge (a download stamp, an arXiv number)."""
    if not len(members) or not bool(np.all(page.flags[members] & SIDEWAYS)):
        return False
    width = page.frame[0]
    return box[2] - box[0] < 0.08 * width and (box[2] < 0.1 * width or box[0] > 0.9 * width)


def body_size(blocks: Iterable[Block]) -> float:
    """Body font size: the median over the words of the running text; 0.0 without any."""
    body = [b for b in blocks if b.kind in ("paragraph", "list_item") and b.noise is None]
    sizes = [size for b in body for size in [b.size] * len(b.words)]
    return float(median(sizes)) if sizes else 0.0
