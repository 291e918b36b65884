"""How deep list items stand: by how far they are set in and by their kinds of markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.ingest.blocks import Block
from ragcore.ingest.markers import Marker, item_marker

SAME_INDENT = 4.0  # points
MAX_LEVEL = 6


@dataclass
class _Open:
    """An item whose list may go on: its left edge, that of its text, and its last marker."""

    left: float
    text_left: float
    mark: Marker | None
    block: Block


def set_item_levels(blocks: Sequence[Block]) -> None:
    """Give list items their ``level``, from 1. A further paragraph of an item (the layout model's list item without a
    marker, set under the text of the one before) has that item's level."""
    stack: list[_Open] = []
    for block in blocks:
        if block.noise is not None or not block.words:
            continue
        if block.kind == "heading":
            stack = []
        if block.kind != "list_item":
            continue
        left, text_left = _edges(block)
        mark = item_marker(block.words[0].text)
        _move(stack, block, mark, left)
        if mark is None and stack and left >= stack[-1].text_left - SAME_INDENT:
            block.level = len(stack)
            continue
        while stack and _is_done(stack, mark, left):
            stack.pop()
        same = bool(stack) and abs(stack[-1].left - left) <= SAME_INDENT and not _opens(stack[-1].mark, mark)
        if same:
            stack.pop()
        if len(stack) < MAX_LEVEL:
            stack.append(_Open(left, text_left, mark, block))
        block.level = len(stack)


def _edges(block: Block) -> tuple[float, float]:
    line = block.lines[0]
    left = min(word.box[0] for word in line)
    has_text = len(line) > 1 and item_marker(line[0].text) is not None
    return left, (line[1].box[0] if has_text else left)


def _opens(before: Marker | None, mark: Marker | None) -> bool:
    """Whether ``mark`` opens a list within the item marked ``before``: another kind of marker, at its first value."""
    if before is None or mark is None or before.style == mark.style:
        return False
    return bool(mark.numbers) and 1 in mark.numbers and not mark.follows(before)


def _is_done(stack: Sequence[_Open], mark: Marker | None, left: float) -> bool:
    """Whether the deepest open list is over: the item stands left of it, or goes on with a list further out."""
    deepest = stack[-1]
    if deepest.left > left + SAME_INDENT:
        return True
    if mark is None or not mark.numbers or (deepest.mark is not None and mark.follows(deepest.mark)):
        return False
    return abs(deepest.left - left) <= SAME_INDENT and any(
        outer.mark is not None and mark.follows(outer.mark) for outer in stack[:-1]
    )


def _move(stack: list[_Open], block: Block, mark: Marker | None, left: float) -> None:
    """Follow the lists into another column or page: what goes on there stands as far in as before."""
    if not stack:
        return
    last = stack[-1].block
    beside = block.box[0] > last.box[2] or block.box[2] < last.box[0]
    if last.page is block.page and not beside:
        return
    same = next((o for o in reversed(stack) if mark is not None and o.mark is not None and mark.follows(o.mark)), None)
    if same is None:
        stack.clear()
        return
    shift = left - same.left
    for item in stack:
        item.left += shift
        item.text_left += shift
        item.block = block
