"""List items: their markers (bullets, numbers, letters) and nesting levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.ingest.blocks import Block

SAME_INDENT = 4.0  # points
MAX_LEVEL = 6


@dataclass
class _Open:
    """Item whose list may continue: its left edge, its text's left edge, and its last marker."""

    left: float
    text_left: float
    mark: Marker | None
    block: Block


def set_item_levels(blocks: Sequence[Block]) -> None:
    """Set the ``level`` of list items, from 1. A further paragraph of an item (the layout model's list item without a
    marker, aligned with the text of the previous one) gets that item's level."""
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
        while stack and stack[-1].left > left + SAME_INDENT:
            stack.pop()
        if stack and abs(stack[-1].left - left) <= SAME_INDENT:
            stack.pop()
        if len(stack) < MAX_LEVEL:
            stack.append(_Open(left, text_left, mark, block))
        block.level = len(stack)


def _edges(block: Block) -> tuple[float, float]:
    line = block.lines[0]
    left = min(word.box[0] for word in line)
    has_text = len(line) > 1 and item_marker(line[0].text) is not None
    return left, (line[1].box[0] if has_text else left)


def _move(stack: list[_Open], block: Block, mark: Marker | None, left: float) -> None:
    """Move the open lists to another column or page: a continued item keeps its indent."""
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


BULLETS = frozenset("•◦▪▫■□●○‣⁃∙·◆◇❖❑❒❏❐❍➢➤►▶▸▹★☆✓✔✗✘☐☑☒–—-*→⇒»")
# Bullets that also occur within running text: at the head of a line they prove nothing by themselves.
WEAK_BULLETS = frozenset("–—-*·→»")
# Letters that are bullets of symbol fonts, or typed as one ("o"), if several items of a list begin with them.
LETTERS = frozenset("olnqruvØ§¨")
_ENUMERATOR = re.compile(r"(\(?)(\d{1,3}|[ivxlc]{1,6}|[IVXLC]{1,6}|[A-Za-z])([.)]|\.\))$")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Marker:
    """List marker. ``style`` distinguishes kinds of markers (``•``, ``1.``, ``(a)``); ``numbers`` are its possible
    values (two for ``i``, a letter or a roman number), empty for a bullet."""

    style: str
    numbers: frozenset[int] = frozenset()

    def follows(self, other: Marker) -> bool:
        """Whether this is the next item of ``other``'s list."""
        return self.style == other.style and (not self.numbers or any(n + 1 in self.numbers for n in other.numbers))


def marker(word: str) -> Marker | None:
    """Marker that ``word``, the first of its line, is; None for any other word."""
    if word in BULLETS:
        return Marker(word)
    match = _ENUMERATOR.match(word)
    if match is None:
        return None
    opening, value, closing = match.groups()
    if value.isdigit():
        return Marker(f"{opening}1{closing}", frozenset({int(value)}))
    values = {ord(value.lower()) - ord("a") + 1} if len(value) == 1 else set()
    if set(value.lower()) <= set(_ROMAN):
        values.add(_roman(value.lower()))
    shape = "a" if value.islower() else "A"
    return Marker(f"{opening}{shape}{closing}", frozenset(values))


def item_marker(word: str) -> Marker | None:
    """`marker` for the first word of a known list item, which may be a letter used as a bullet."""
    return marker(word) or (Marker(word) if word in LETTERS else None)


def _roman(text: str) -> int:
    values = [_ROMAN[c] for c in text]
    return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))
