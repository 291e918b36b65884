"""Caption matching: pairs captions with the figures of a page by position.

A caption is just below, above or beside its figure, with nothing in between. Captions and figures are paired to match
as many as possible at the smallest total distance (the assignment problem, Kuhn 1955), which tells a page with captions
above its figures from one with captions below. An unmatched figure beside a captioned one is a further panel and shares
its caption.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.ingest.blocks import Block
from ragcore.ingest.layout import Rect, overlap
from ragcore.text.captions import is_note, label_of

NEAR = 0.07  # of the page's height: the widest gap between a figure and its caption, or between two panels
_SHARED = 0.3  # of the narrower of two: the least overlap of their widths (heights)
_ABOVE, _BESIDE = 1.5, 2.0  # cost factors: captions are below their figures more often than above or beside them
_UNLABELLED = 150.0  # points: "Source: ..." may be nearer than "Figure 3. ..."
_APART = 1e6

# After its label a caption ends, continues with a mark, or begins its title; prose continues in small letters.
_TITLE = re.compile(r"\s*$|\s*[.:;|)\]–—―-]|\s+[\"'“‘(\[]?[A-Z0-9]")
_MAY_BE_CAPTION = ("caption", "paragraph", "heading", "list_item", "footnote")
_FEW_WORDS = 8
_SENTENCE_END = (".", "!", "?", ":", ";", ",")
_LONGEST, _LONGEST_CAPTION = 150, 600  # words; a longer block is prose


def is_labelled(text: str) -> bool:
    """Whether ``text`` begins like a figure's caption: ``Figure 3. …``, ``Fig. 2a``, ``Chart 1: …``."""
    kind, number, behind = label_of(text)
    return kind in ("figure", "exhibit") and bool(number and _TITLE.match(behind))


def tie_captions(pages: Sequence[list[Block]]) -> dict[Block, Block]:
    """Caption of each figure that has one. A labelled paragraph or heading next to a figure becomes a caption, and each
    caption is moved next to its figures if other text separates them in reading order."""
    tied: dict[Block, Block] = {}
    for blocks in pages:
        here = _tie_page([block for block in blocks if block.noise is None])
        for caption in dict.fromkeys(here.values()):
            caption.kind = "caption"
            _bring_together(blocks, caption, [figure for figure, own in here.items() if own is caption])
        tied.update(here)
    return tied


def _tie_page(blocks: Sequence[Block]) -> dict[Block, Block]:
    figures = [block for block in blocks if block.kind == "figure"]
    captions = [block for block in blocks if _may_caption(block)]
    if not figures or not captions:
        return {}
    from scipy.optimize import linear_sum_assignment

    costs = [[_cost(figure, caption, blocks) for caption in captions] for figure in figures]
    tied = {figures[i]: captions[j] for i, j in zip(*linear_sum_assignment(costs), strict=True) if costs[i][j] < _APART}
    grown = True
    while grown:
        grown = False
        for figure in figures:
            if figure in tied:
                continue
            beside = [other for other in tied if _gap(figure, other) is not None and _is_free(figure, other, blocks)]
            if beside:
                nearest = min(beside, key=lambda other: _gap(figure, other) or 0.0)
                tied[figure], grown = tied[nearest], True
    return tied


def _may_caption(block: Block) -> bool:
    most = _LONGEST_CAPTION if block.kind == "caption" else _LONGEST
    if block.kind not in _MAY_BE_CAPTION or not 0 < len(block.words) <= most:
        return False
    kind, number, _ = label_of(block.text)
    return not (kind == "table" and number) and (block.kind == "caption" or is_labelled(block.text))


def _cost(figure: Block, caption: Block, blocks: Sequence[Block]) -> float:
    gap = _gap(figure, caption)
    if gap is None or not _is_free(figure, caption, blocks):
        return _APART
    beside = _common(figure.box, caption.box, 0) < _SHARED
    weight = _BESIDE if beside else _ABOVE if caption.box[1] < figure.box[1] else 1.0
    return gap * weight + 5 * (weight - 1) + (0.0 if is_labelled(caption.text) else _UNLABELLED)


def _gap(one: Block, other: Block) -> float | None:
    """Points between two blocks above one another or side by side; None beyond `NEAR`, or in any other position."""
    across, down = overlap(one.box, other.box)
    gaps = [-down] if _common(one.box, other.box, 0) >= _SHARED else []
    gaps += [-across] if _common(one.box, other.box, 1) >= _SHARED else []
    nearest = min((max(0.0, gap) for gap in gaps), default=None)
    return nearest if nearest is not None and nearest <= NEAR * one.page.frame[1] else None


def _common(one: Rect, other: Rect, axis: int) -> float:
    """Overlap of two boxes along ``axis`` (0: x, 1: y), as a share of the narrower one."""
    return overlap(one, other)[axis] / max(1e-6, min(box[axis + 2] - box[axis] for box in (one, other)))


def _is_free(one: Block, other: Block, blocks: Sequence[Block]) -> bool:
    """Whether no words (except lettering and notes) and no figure lie between two blocks."""
    x = sorted((one.box[0], one.box[2], other.box[0], other.box[2]))
    y = sorted((one.box[1], one.box[3], other.box[1], other.box[3]))
    # The area between them is bounded by the middle two edges on each axis; for overlapping boxes that is their common
    # part.
    between = (x[1], y[1], x[2], y[2])
    for block in blocks:
        if block is one or block is other or _is_lettering(block) or not (block.words or block.kind == "figure"):
            continue
        if min(overlap(between, block.box)) > 1.0:
            return False
    return True


def _is_lettering(block: Block) -> bool:
    """Whether the block is lettering: a note on the figure, an axis label or similar text that the layout model left
    out, with a few words and no sentence."""
    if block.kind not in ("paragraph", "caption", "footnote") or not block.words or is_labelled(block.text):
        return False
    few = len(block.words) <= _FEW_WORDS and not block.words[-1].text.endswith(_SENTENCE_END)
    return few or (len(block.words) <= _LONGEST and is_note(block.text))


def _bring_together(blocks: list[Block], caption: Block, figures: Sequence[Block]) -> None:
    places = [blocks.index(figure) for figure in figures]
    at = blocks.index(caption)
    first, last = min(*places, at), max(*places, at)
    strangers = [b for b in blocks[first : last + 1] if b.noise is None and b.words and b is not caption]
    if all(block in figures or _is_lettering(block) for block in strangers):
        return
    above = caption.box[1] < min(figure.box[1] for figure in figures)
    partner = blocks[min(places)] if above else blocks[max(places)]
    blocks.remove(caption)
    blocks.insert(blocks.index(partner) + (0 if above else 1), caption)
