"""Page furniture in two passes. Nothing is deleted: a block that is furniture carries the reason.

First pass (`blocks.page_blocks`): the layout model's own page headers and footers, stamps along the edge, line numbers.
Second pass, here: text equal to furniture found elsewhere in the document (``marginalia``), and text that stands on
more than a share of the pages (``repeated``), digits folded so that page numbers count as the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ragcore.config import NoiseSettings
from ragcore.ingest.blocks import Block

EDGE_SHARE = 0.12  # of the page's height: furniture stands within this of the top or bottom edge
MAX_WORDS = 30  # a longer block is never furniture by repetition
SAME_PLACE = 3.0  # points
MAX_HEADER_WORDS = 60  # a "page header" longer than this is body text that the layout model mistook

_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]+")


def fold(text: str) -> str:
    """Lower case, runs of digits as ``#``, a lone roman number too, single blanks."""
    text = " ".join(_DIGITS.sub("#", text.casefold()).split())
    return "#" if _ROMAN.fullmatch(text) else text


def mark_noise(pages: Sequence[Sequence[Block]], settings: NoiseSettings) -> None:
    """Set ``noise`` on the blocks of ``pages`` (one sequence per page) that are furniture. Tables and figures are
    never marked, headings only at the edge of the page, and by repetition only in documents of at least
    ``settings.min_pages`` pages."""
    for blocks in pages:
        for block in blocks:
            if block.noise in ("page_header", "page_footer") and len(block.words) > MAX_HEADER_WORDS:
                block.noise, block.kind = None, "paragraph"
    furniture: dict[str, set[int]] = defaultdict(set)
    for blocks in pages:
        for block in blocks:
            if block.noise in ("page_header", "page_footer"):
                furniture[fold(block.text)].add(block.page.number)
    open_blocks = [b for blocks in pages for b in blocks if b.noise is None and _may_be_noise(b)]
    for block in open_blocks:
        if at_edge(block) and furniture.get(fold(block.text), set()) - {block.page.number}:
            block.noise = "marginalia"
    if len(pages) >= settings.min_pages:
        _mark_repeated([b for b in open_blocks if b.noise is None], len(pages), settings.frequency)
    _keep_a_body([b for blocks in pages for b in blocks if b.words])
    for block in open_blocks:
        if block.noise is not None:
            block.kind = "page_header" if block.box[1] < block.page.frame[1] / 2 else "page_footer"


def _keep_a_body(blocks: Sequence[Block]) -> None:
    """A document that is nothing but furniture has been misread: what stands on a label or a one-line page is its
    text."""
    if any(block.noise is None for block in blocks):
        return
    for block in blocks:
        block.noise = None
        if block.kind in ("page_header", "page_footer"):
            block.kind = "paragraph"


def _mark_repeated(blocks: Sequence[Block], pages: int, frequency: float) -> None:
    by_text: dict[str, list[Block]] = defaultdict(list)
    for block in blocks:
        by_text[fold(block.text)].append(block)
    limit = max(pages * frequency, 1)
    for same in by_text.values():
        if len({block.page.number for block in same}) <= limit:
            continue
        fixed = _at_one_place(same)
        for block in same:
            if at_edge(block) or (fixed and block.kind != "heading"):
                block.noise = "repeated"


def _may_be_noise(block: Block) -> bool:
    return block.kind not in ("table", "figure") and 0 < len(block.words) <= MAX_WORDS


def at_edge(block: Block) -> bool:
    """Whether the block lies wholly within the strip at the top or bottom of its page."""
    height = block.page.frame[1]
    return block.box[3] <= EDGE_SHARE * height or block.box[1] >= (1 - EDGE_SHARE) * height


def _at_one_place(blocks: Sequence[Block]) -> bool:
    tops = sorted(block.box[1] for block in blocks)
    lefts = sorted(block.box[0] for block in blocks)
    middle = len(blocks) // 2
    near = [abs(b.box[1] - tops[middle]) <= SAME_PLACE and abs(b.box[0] - lefts[middle]) <= SAME_PLACE for b in blocks]
    return sum(near) >= 0.9 * len(near)
