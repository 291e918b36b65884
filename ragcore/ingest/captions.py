"""Caption matching: pairs captions with the figures of a page by position.

By place on one page: a caption stands just below, above or beside its figure. Captions and figures are paired so that
as many as possible have a partner and the pairs stand closest together (the assignment problem, Kuhn 1955), which tells
a page with captions above its figures from one with captions below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.ingest.blocks import Block
from ragcore.ingest.layout import Rect

NEAR = 0.07  # of the page's height: the widest gap between a figure and its caption
_SHARED = 0.3  # of the narrower of two: the least overlap of their widths (heights)
_ABOVE, _BESIDE = 1.5, 2.0  # cost factors: captions are below their figures more often than above or beside them
_UNLABELLED = 150.0  # points: "Source: ..." may be nearer than "Figure 3. ..."
_APART = 1e6

_NAMES = (
    r"fig(?:ure|s|\.)?|chart|exhibit|graph|diagram|scheme|plate|map|photo(?:graph)?|image|illustration|panel|"
    r"abbildung|abb\.|figura|grafik|gráfico|graphique|schéma"
)
_NUMBER = r"(?:[A-Z]{1,2}[-.]?)?(?:\d+(?:[.\-–]\d+)*|[IVXLC]+)\s?(?:\(?[a-z]\)?(?:\s?[,–-]\s?\(?[a-z]\)?)*)?"
_LABEL = re.compile(rf"^\W{{0,2}}(?:supplementary |extended data )?(?:{_NAMES})\s?{_NUMBER}(?![\w])", re.IGNORECASE)
# After its label a caption ends, continues with a mark, or begins its title; prose continues in small letters.
_TITLE = re.compile(r"\s*$|\s*[.:;|)\]–—―-]|\s+[\"'“‘(\[]?[A-Z0-9]")
_TABLE = re.compile(r"^\W{0,2}(?:table|tab\.|tabelle|tableau|tabla)\s?[A-Z]?[-.]?(?:\d|[IVXLC]+\b)", re.IGNORECASE)
_MAY_BE_CAPTION = ("caption", "paragraph", "heading", "list_item", "footnote")
_LONGEST, _LONGEST_CAPTION = 150, 600  # words; a longer block is prose


def is_labelled(text: str) -> bool:
    """Whether ``text`` begins like a figure's caption: ``Figure 3. …``, ``Fig. 2a``, ``Chart 1: …``."""
    label = _LABEL.match(text)
    return label is not None and _TITLE.match(text, label.end()) is not None


def tie_captions(pages: Sequence[list[Block]]) -> dict[Block, Block]:
    """Figure → its caption, for every figure that has one. A labelled paragraph or heading at a figure becomes a
    caption."""
    tied: dict[Block, Block] = {}
    for blocks in pages:
        here = _tie_page([block for block in blocks if block.noise is None])
        for caption in dict.fromkeys(here.values()):
            caption.kind = "caption"
        tied.update(here)
    return tied


def _tie_page(blocks: Sequence[Block]) -> dict[Block, Block]:
    figures = [block for block in blocks if block.kind == "figure"]
    captions = [block for block in blocks if _may_caption(block)]
    if not figures or not captions:
        return {}
    from scipy.optimize import linear_sum_assignment

    costs = [[_cost(figure, caption) for caption in captions] for figure in figures]
    return {figures[i]: captions[j] for i, j in zip(*linear_sum_assignment(costs), strict=True) if costs[i][j] < _APART}


def _may_caption(block: Block) -> bool:
    most = _LONGEST_CAPTION if block.kind == "caption" else _LONGEST
    if block.kind not in _MAY_BE_CAPTION or not 0 < len(block.words) <= most:
        return False
    text = block.text
    return not _TABLE.match(text) and (block.kind == "caption" or is_labelled(text))


def _cost(figure: Block, caption: Block) -> float:
    gap = _gap(figure, caption)
    if gap is None:
        return _APART
    beside = _common(figure.box, caption.box, 0) < _SHARED
    weight = _BESIDE if beside else _ABOVE if caption.box[1] < figure.box[1] else 1.0
    return gap * weight + 5 * (weight - 1) + (0.0 if is_labelled(caption.text) else _UNLABELLED)


def _gap(one: Block, other: Block) -> float | None:
    """Points between two blocks above one another or side by side; None beyond `NEAR`, or in any other position."""
    gaps = [
        max(0.0, max(one.box[axis], other.box[axis]) - min(one.box[axis + 2], other.box[axis + 2]))
        for axis in (1, 0)
        if _common(one.box, other.box, 1 - axis) >= _SHARED
    ]
    nearest = min(gaps, default=None)
    return nearest if nearest is not None and nearest <= NEAR * one.page.frame[1] else None


def _common(one: Rect, other: Rect, axis: int) -> float:
    """Overlap of two boxes along ``axis`` (0: x, 1: y), as a share of the narrower one."""
    overlap = min(one[axis + 2], other[axis + 2]) - max(one[axis], other[axis])
    return overlap / max(1e-6, min(one[axis + 2] - one[axis], other[axis + 2] - other[axis]))
