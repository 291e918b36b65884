"""Page furniture in two passes. Nothing is deleted: a block that is furniture carries the reason.

First pass, by type: the layout model's own page headers and footers, stamps along the edge (``marginalia``), line
numbers and words printed across the text (`blocks.page_blocks`); here watermarks beside the text (``watermark``) and
pictures that are a logo (``logo``).
Second pass, here: text equal to furniture found elsewhere in the document (``marginalia``), and text that stands on
more than a share of the pages (``repeated``), digits folded so that page numbers count as the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ragcore.config.settings import NoiseSettings
from ragcore.ingest.blocks import Block
from ragcore.ingest.layout import SIDEWAYS

EDGE_SHARE = 0.12  # of the page's height: furniture stands within this of the top or bottom edge
MAX_WORDS = 30  # a longer block is never furniture by repetition
SAME_PLACE = 3.0  # points
MAX_HEADER_WORDS = 60  # a "page header" longer than this is body text that the layout model mistook

LOGO_PLACE = 4.0  # points by which a repeated picture's edges may differ
LOGO_SHARE = 0.06  # of the page's area: a logo is no larger
EDGE_LOGO_SHARE = 0.01  # and one that is known by its place at the edge alone is smaller still
MAX_LOGO_WORDS = 6
_STAMP = re.compile(
    r"\W*(draft|confidential|strictly confidential|sample|specimen|copy|do not (?:copy|distribute|circulate)|"
    r"preliminary|void|for (?:internal|official) use(?: only)?|for review(?: only)?|uncorrected proof|"
    r"accepted manuscript|in press|advance copy|entwurf|vertraulich|brouillon|confidentiel|borrador|confidencial)\W*",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]+")


def fold(text: str) -> str:
    """Lower case, runs of digits as ``#``, a lone roman number too, single blanks."""
    text = " ".join(_DIGITS.sub("#", text.casefold()).split())
    return "#" if _ROMAN.fullmatch(text) else text


def mark_noise(pages: Sequence[Sequence[Block]], settings: NoiseSettings) -> None:
    """Set ``noise`` on the blocks of ``pages`` (one sequence per page) that are furniture. Tables are never marked,
    figures only as logos, headings only at the edge of the page, and by repetition only in documents of at least
    ``settings.min_pages`` pages."""
    for blocks in pages:
        for block in blocks:
            if block.noise in ("page_header", "page_footer") and len(block.words) > MAX_HEADER_WORDS:
                block.noise, block.kind = None, "paragraph"
    furniture: dict[str, set[int]] = defaultdict(set)
    exact: dict[str, set[int]] = defaultdict(set)
    for blocks in pages:
        for block in blocks:
            if block.noise in ("page_header", "page_footer"):
                furniture[fold(block.text)].add(block.page.number)
                exact[block.text.casefold()].add(block.page.number)
    _mark_watermarks(pages, settings)
    _mark_logos(pages, settings)
    open_blocks = [b for blocks in pages for b in blocks if b.noise is None and _may_be_noise(b)]
    for block in open_blocks:
        # "Exhibit 21" may be a heading where "Exhibit 10" is a page header; "Page 21" is none.
        known = exact[block.text.casefold()] if block.kind == "heading" else furniture[fold(block.text)]
        if at_edge(block) and known - {block.page.number}:
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
        # "Chapter 1", "Chapter 2" at the heads of pages are headings: theirs must be the same in every digit.
        by_text[block.text.casefold() if block.kind == "heading" else fold(block.text)].append(block)
    limit = max(pages * frequency, 1)
    for same in by_text.values():
        if len({block.page.number for block in same}) <= limit:
            continue
        fixed = _at_one_place(same)
        for block in same:
            if at_edge(block) or (fixed and block.kind != "heading"):
                block.noise = "repeated"


def _mark_watermarks(pages: Sequence[Sequence[Block]], settings: NoiseSettings) -> None:
    """Turned text away from the edge that says what watermarks say, or stands on most pages."""
    turned: dict[str, list[Block]] = defaultdict(list)
    for blocks in pages:
        for block in blocks:
            if block.noise is None and _may_be_noise(block) and all(word.flags & SIDEWAYS for word in block.words):
                turned[fold(block.text)].append(block)
    for text, same in turned.items():
        often = len({b.page.number for b in same}) > max(len(pages) * settings.frequency, 1)
        if _STAMP.fullmatch(text) or (often and len(pages) >= settings.min_pages):
            for block in same:
                block.noise, block.kind = "watermark", "page_header"


def _mark_logos(pages: Sequence[Sequence[Block]], settings: NoiseSettings) -> None:
    """Pictures repeated at one place over the pages, and small ones in the strip at the top or bottom."""
    figures = [b for blocks in pages for b in blocks if b.kind == "figure" and b.noise is None]
    small = [b for b in figures if len(b.words) <= MAX_LOGO_WORDS and _share(b) <= LOGO_SHARE]
    places: dict[tuple[int, ...], list[Block]] = defaultdict(list)
    for block in small:
        places[tuple(round(edge / LOGO_PLACE) for edge in block.box)].append(block)
    for same in places.values():
        often = len({b.page.number for b in same}) > max(len(pages) * settings.frequency, 1)
        if often and len(pages) >= settings.min_pages:
            for block in same:
                block.noise = "logo"
    for block in small:
        if block.noise is None and not block.words and at_edge(block) and _share(block) <= EDGE_LOGO_SHARE:
            block.noise = "logo"


def _share(block: Block) -> float:
    """Of its page's area."""
    width, height = block.page.frame
    return (block.box[2] - block.box[0]) * (block.box[3] - block.box[1]) / max(1.0, width * height)


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
