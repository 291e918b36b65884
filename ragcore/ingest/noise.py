"""Page furniture: detection and marking. Nothing is deleted; a block that is furniture carries the reason.

Words come first: line numbers in the margin of a draft, which the layout model would take for a column, and large words
printed across the text are found before the model's regions are filled. Then blocks, by type: the layout model's own
page headers and footers, stamps along the edge (``marginalia``) and pictures that are a logo (``logo``). Last, by
repetition: text equal to furniture found elsewhere in the document (``marginalia``), and text at the edge or turned on
more than a share of the pages (``repeated``), with digits folded so that page numbers count as equal.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragcore.config.settings import NoiseSettings
from ragcore.ingest.blocks import Block
from ragcore.ingest.layout import SIDEWAYS, Rect, area

EDGE_SHARE = 0.12  # of the page's height: furniture is within this of the top or bottom edge
MAX_WORDS = 30  # a longer block is never furniture by repetition
MAX_HEADER_WORDS = 60  # a longer "page header" is body text that the layout model misclassified

LOGO_SHARE = 0.01  # of the page's area: a logo is no larger
_DIGITS = re.compile(r"\d+")


def fold(text: str) -> str:
    """Lower case, runs of digits as ``#``, single blanks."""
    return " ".join(_DIGITS.sub("#", text.casefold()).split())


def mark_noise(pages: Sequence[Sequence[Block]], settings: NoiseSettings, margins: Sequence[str] | None = None) -> None:
    """Set ``noise`` on the blocks of ``pages`` (one sequence per page) that are furniture. Tables are never marked,
    figures only as logos, headings only at the edge of the page, and by repetition only in documents of at least
    ``settings.min_pages`` pages. If all lines of headers and footers are known (``margins``), no other block is one
    by its type."""
    lines = None if margins is None else {fold(line) for line in margins}
    everything = [block for blocks in pages for block in blocks]
    furniture: dict[str, set[int]] = defaultdict(set)
    exact: dict[str, set[int]] = defaultdict(set)
    for block in everything:
        if block.noise in ("page_header", "page_footer"):
            if len(block.words) > MAX_HEADER_WORDS or (lines is not None and not _is_of(block, lines)):
                block.noise, block.kind = None, "paragraph"
                continue
            furniture[fold(block.text)].add(block.page.number)
            exact[block.text.casefold()].add(block.page.number)
    for block in everything:
        # A logo is a small picture at the edge.
        if block.kind == "figure" and block.noise is None and not block.words and at_edge(block):
            width, height = block.page.frame
            if area(block.box) <= LOGO_SHARE * width * height:
                block.noise = "logo"
    open_blocks = [b for b in everything if b.noise is None and _may_be_noise(b)]
    for block in open_blocks:
        # "Exhibit 21" may be a heading where "Exhibit 10" is a page header; "Page 21" is none.
        known = exact[block.text.casefold()] if block.kind == "heading" else furniture[fold(block.text)]
        if at_edge(block) and known - {block.page.number}:
            block.noise = "marginalia"
    if len(pages) >= settings.min_pages:
        _mark_repeated([b for b in open_blocks if b.noise is None], len(pages), settings.frequency)
    _keep_a_body([b for b in everything if b.words])
    for block in open_blocks:
        if block.noise is not None:
            block.kind = "page_header" if block.box[1] < block.page.frame[1] / 2 else "page_footer"


def _is_of(block: Block, lines: Set[str]) -> bool:
    """Whether a block is one of the known ``lines``, a part of one, or several together."""
    said = fold(block.text)
    return any(said in line or line in said for line in lines)


def _keep_a_body(blocks: Sequence[Block]) -> None:
    """Unmark a document that is nothing but furniture: on a label or a one-line page, that is its text."""
    if any(block.noise is None for block in blocks):
        return
    for block in blocks:
        block.noise = None
        if block.kind in ("page_header", "page_footer"):
            block.kind = "paragraph"


def _mark_repeated(blocks: Sequence[Block], pages: int, frequency: float) -> None:
    by_text: dict[str, list[Block]] = defaultdict(list)
    for block in blocks:
        # "Chapter 1", "Chapter 2" at page tops are headings: a heading counts as repeated only if every digit is equal.
        by_text[block.text.casefold() if block.kind == "heading" else fold(block.text)].append(block)
    limit = max(pages * frequency, 1)
    for same in by_text.values():
        if len({block.page.number for block in same}) <= limit:
            continue
        for block in same:
            if at_edge(block) or all(word.flags & SIDEWAYS for word in block.words):
                block.noise = "repeated"


def _may_be_noise(block: Block) -> bool:
    return block.kind not in ("table", "figure") and not block.place and 0 < len(block.words) <= MAX_WORDS


def at_edge(block: Block) -> bool:
    """Whether the block lies wholly within the strip at the top or bottom of its page."""
    height = block.page.frame[1]
    return block.box[3] <= EDGE_SHARE * height or block.box[1] >= (1 - EDGE_SHARE) * height


MARGIN_SHARE = 0.2  # outer share of the page's width that may hold line numbers
MIN_NUMBERS = 10  # least count of them on a page
ALIGNED = 4.0  # points by which the numbers' edges may differ
_STEPS = (1, 2, 5, 10)
_INTEGER = re.compile(r"\d{1,5}")


def line_numbers(texts: Sequence[str], boxes: NDArray[np.float32], width: float) -> NDArray[np.intp]:
    """Indices of the words that number the lines of the page; empty if there are none.

    They are integers in one narrow column at the left or right, with nothing beyond it, rising down the page in equal
    steps and numbering at least half of its lines.
    """
    integers = [i for i, text in enumerate(texts) if _INTEGER.fullmatch(text)]
    for left in (True, False):
        column = _column(boxes, width, integers, left)
        if len(column) >= MIN_NUMBERS and _rises([int(texts[i]) for i in column]) and _is_gutter(boxes, column, left):
            return np.asarray(sorted(column), dtype=np.intp)
    return np.empty(0, dtype=np.intp)


def without_gutter(boxes: NDArray[np.float32], numbers: NDArray[np.intp], frame: tuple[float, float]) -> Rect:
    """Page (``frame``: width, height) without the strip that holds ``numbers``."""
    width, height = frame
    if not len(numbers):
        return 0.0, 0.0, width, height
    left, right = float(boxes[numbers, 0].min()), float(boxes[numbers, 2].max())
    if right < width / 2:
        return right + 1, 0.0, width, height
    return 0.0, 0.0, left - 1, height


def _column(boxes: NDArray[np.float32], width: float, integers: Sequence[int], left: bool) -> list[int]:
    if left:
        inside = [i for i in integers if boxes[i, 2] < MARGIN_SHARE * width]
    else:
        inside = [i for i in integers if boxes[i, 0] > (1 - MARGIN_SHARE) * width]
    if not inside:
        return []
    # Right-aligned numbers share their right edge, left-aligned ones their left edge.
    common = {edge: float(np.median(boxes[inside, edge])) for edge in (2, 0)}
    aligned = [[i for i in inside if abs(float(boxes[i, edge]) - common[edge]) < ALIGNED] for edge in (2, 0)]
    chosen = aligned[0] if len(aligned[0]) >= len(aligned[1]) else aligned[1]
    return sorted(chosen, key=lambda i: float(boxes[i, 1]))


def _rises(numbers: Sequence[int]) -> bool:
    step, count = Counter(b - a for a, b in pairwise(numbers)).most_common(1)[0]
    return step in _STEPS and count >= 0.8 * (len(numbers) - 1)


def _is_gutter(boxes: NDArray[np.float32], column: Sequence[int], left: bool) -> bool:
    others = np.ones(len(boxes), dtype=bool)
    others[list(column)] = False
    rest = boxes[others]
    if not len(rest):
        return False
    beyond = rest[:, 0] < boxes[list(column), 0].min() - 1 if left else rest[:, 2] > boxes[list(column), 2].max() + 1
    # The first column of a table of numbers has wide gaps in print; line numbers are next to running lines.
    height = float(np.median(boxes[list(column), 3] - boxes[list(column), 1]))
    printed = len(np.unique(np.round((rest[:, 1] + rest[:, 3]) / 2 / height)))
    return not bool(np.any(beyond)) and len(column) >= 0.5 * printed


LARGER = 1.6  # times the page's median font size
CROSSED = 3  # least number of words under a watermark
COVERED = 0.5  # of such a word's area


def overprinted(boxes: NDArray[np.float32], sizes: NDArray[np.float32]) -> NDArray[np.intp]:
    """Indices of large words (``boxes`` float32 ``(n, 4)``, ``sizes`` float32 ``(n,)``) that overlap several small
    ones."""
    if not len(boxes):
        return np.empty(0, dtype=np.intp)
    large = sizes >= LARGER * float(np.median(sizes))
    small, big = boxes[~large], boxes[large][:, None]
    width = np.minimum(small[:, 2], big[..., 2]) - np.maximum(small[:, 0], big[..., 0])
    height = np.minimum(small[:, 3], big[..., 3]) - np.maximum(small[:, 1], big[..., 1])
    areas = np.maximum((small[:, 2] - small[:, 0]) * (small[:, 3] - small[:, 1]), 1e-6)
    crossed = (width.clip(0) * height.clip(0) > COVERED * areas).sum(axis=1)
    found: NDArray[np.intp] = np.flatnonzero(large)[crossed >= CROSSED]
    return found
