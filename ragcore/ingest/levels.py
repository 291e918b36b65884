"""Levels of headings and list items, the markers of lists (bullets, numbers, letters), and section paths."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.ingest.blocks import Block
from ragcore.ingest.layout import FileInfo
from ragcore.types.sections import DEEPEST

SAME_INDENT = 4.0  # points
SIZE_STEP = 0.75  # points; sizes closer than this are one size
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+\S")

Style = tuple[float, bool, bool, bool]  # size in half points, capitals, bold, run into its paragraph

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
        digits = [_ROMAN[c] for c in value.lower()]
        values.add(sum(-digit if digit < max(digits[i:]) else digit for i, digit in enumerate(digits)))
    shape = "a" if value.islower() else "A"
    return Marker(f"{opening}{shape}{closing}", frozenset(values))


def item_marker(word: str) -> Marker | None:
    """`marker` for the first word of a known list item, which may be a letter used as a bullet."""
    return marker(word) or (Marker(word) if word in LETTERS else None)


def set_heading_levels(blocks: Sequence[Block], info: FileInfo) -> None:
    """Give each heading block its ``level`` (from 1).

    Styles (size, capitals, bold) rank the headings; the outline corrects the ranks of the styles it names, if it has
    more than one level; numbers such as ``2.3.1`` count from the level of their first part.
    """
    headings = [b for b in blocks if b.kind == "heading" and b.noise is None and b.words]
    if not headings:
        return
    rank = _style_ranks(headings)
    outline = _outline_levels(headings, info)
    by_style: dict[Style, Counter[int]] = defaultdict(Counter)
    for block, level in outline.items():
        by_style[_style(block)][level] += 1
    for block in headings:
        style = _style(block)
        if block in outline:
            block.level = outline[block]
        elif by_style[style]:
            block.level = by_style[style].most_common(1)[0][0]
        else:
            block.level = rank[style]
    _apply_numbers([b for b in headings if b not in outline])
    dense = {level: place for place, level in enumerate(sorted({b.level for b in headings}), start=1)}
    for block in headings:
        block.level = min(DEEPEST, dense[block.level])


def _style(block: Block) -> Style:
    text = block.text
    capitals = text.isupper() and sum(c.isalpha() for c in text) > 3
    return (round(block.size * 2) / 2, capitals, block.bold, block.run_in)


def _style_ranks(headings: Sequence[Block]) -> dict[Style, int]:
    styles = sorted({_style(b) for b in headings}, key=lambda s: (s[3], -s[0], not s[1], not s[2]))
    ranks: dict[Style, int] = {}
    level, before = 0, None
    for style in styles:
        same = before is not None and before[0] - style[0] < SIZE_STEP and before[1:] == style[1:]
        if not same:
            level += 1
        ranks[style] = min(level, DEEPEST)
        before = style
    return ranks


def _outline_levels(headings: Sequence[Block], info: FileInfo) -> dict[Block, int]:
    if len({level for level, _title, _page in info.outline}) < 2:
        return {}
    named: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for level, title, page in info.outline:
        named[key(title)].append((page, level))
    found: dict[Block, int] = {}
    for block in headings:
        near = [entry for entry in named.get(key(block.text), ()) if abs(entry[0] - block.page.number) <= 1]
        if near:
            found[block] = min(near, key=lambda entry: abs(entry[0] - block.page.number))[1]
    return found


def key(text: str) -> str:
    """Letters and digits of ``text``, caseless."""
    return re.sub(r"\W+", "", text.casefold())


def _apply_numbers(headings: Sequence[Block]) -> None:
    depths = {b: m.group(1).count(".") + 1 for b in headings if (m := _NUMBERED.match(b.text))}
    if len(depths) < 3:
        return
    tops = [b.level for b, depth in depths.items() if depth == 1]
    base = Counter(tops).most_common(1)[0][0] if tops else min(b.level for b in depths)
    for block, depth in depths.items():
        block.level = base + depth - 1


def section_paths(blocks: Sequence[Block]) -> list[tuple[str, ...]]:
    """Headings above each block, outermost first; a heading's own path excludes itself."""
    stack: list[tuple[int, str]] = []
    paths: list[tuple[str, ...]] = []
    for block in blocks:
        is_heading = block.kind == "heading" and block.noise is None and bool(block.words)
        if is_heading:
            while stack and stack[-1][0] >= block.level:
                stack.pop()
        paths.append(tuple(text for _level, text in stack))
        if is_heading:
            stack.append((block.level, block.text))
    return paths


def set_item_levels(blocks: Sequence[Block]) -> None:
    """Set the ``level`` of list items, from 1, by their indents within a column."""
    lefts: list[float] = []  # of the items whose lists are open
    before: Block | None = None
    for block in blocks:
        if block.noise is not None or not block.words:
            continue
        if block.kind == "heading" or (before is not None and _is_elsewhere(block, before)):
            lefts = []
        if block.kind != "list_item":
            continue
        left = min(word.box[0] for word in block.lines[0])
        further = bool(lefts) and left > lefts[-1] and item_marker(block.words[0].text) is None
        if not further:  # a further paragraph of an item has its level
            lefts = [*[other for other in lefts if other < left - SAME_INDENT][: DEEPEST - 1], left]
        block.level, before = len(lefts), block


def _is_elsewhere(block: Block, before: Block) -> bool:
    """Whether ``block`` is in another column than ``before`` or on another page."""
    return block.page is not before.page or block.box[0] > before.box[2] or block.box[2] < before.box[0]
