"""Corrections to the layout model's classes that need the whole document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from ragcore.ingest.blocks import Block
from ragcore.ingest.canonical import plain
from ragcore.ingest.layout import SUPERSCRIPT

SMALL = 0.93  # of the body's font size: footnotes are set smaller
_MARK = re.compile(r"^(\d{1,3}|[*†‡§¶]+)$")
_LEADERS = re.compile(r"(\.\s?){5,}")


def correct_roles(pages: Sequence[Sequence[Block]]) -> None:
    """Footnotes taken for text or list items, by their place, size and mark; tables of contents taken for tables, by
    their dot leaders, become paragraphs that keep their lines."""
    body = [b for blocks in pages for b in blocks if b.kind in ("paragraph", "list_item") and b.noise is None]
    sizes = [b.size for b in body for _ in b.words]
    common = float(median(sizes)) if sizes else 0.0
    for block in body:
        low = block.box[1] > block.page.frame[1] / 2
        if low and block.words and block.size < SMALL * common and _is_marked(block):
            block.kind = "footnote"
    for blocks in pages:
        for block in blocks:
            if block.kind == "table" and block.lines and is_contents([plain([line]) for line in block.lines]):
                block.kind, block.verbatim = "paragraph", True


def is_contents(lines: Sequence[str]) -> bool:
    """Whether most lines lead with dots to a page number."""
    return sum(bool(_LEADERS.search(line)) for line in lines) > 0.5 * len(lines)


def _is_marked(block: Block) -> bool:
    first = block.words[0]
    raised = bool(first.flags & SUPERSCRIPT) or (len(block.words) > 1 and first.size < 0.85 * block.words[1].size)
    glued = re.match(r"^\d{1,3}[A-Z]", first.text) is not None
    return (raised or glued) if first.text[0].isdigit() else bool(_MARK.match(first.text[0]))
