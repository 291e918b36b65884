"""Levels of headings and list items, the markers of lists (bullets, numbers, letters), and section paths."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ragcore.ingest.blocks import Block
from ragcore.ingest.layout import FileInfo

MAX_LEVEL = 6
SAME_INDENT = 4.0  # points
SIZE_STEP = 0.75  # points; sizes closer than this are one size
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+\S")
_PART = re.compile(r"^part\s+([ivx]+|\d+)\b", re.IGNORECASE)
_ITEM = re.compile(r"^item\s+\d+[a-z]?\b", re.IGNORECASE)


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
    more than one level; numbers such as ``2.3.1`` count from the level of their first part. "PART I" ranks above "Item
    1".
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
    _nest_by_markers(headings, fixed=outline)
    _put_parts_above(headings, fixed=outline)
    dense = {level: place for place, level in enumerate(sorted({b.level for b in headings}), start=1)}
    for block in headings:
        block.level = min(MAX_LEVEL, dense[block.level])


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
        ranks[style] = min(level, MAX_LEVEL)
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
    return re.sub(r"\W+", "", text.casefold())


def _apply_numbers(headings: Sequence[Block]) -> None:
    depths = {b: m.group(1).count(".") + 1 for b in headings if (m := _NUMBERED.match(b.text))}
    if len(depths) < 3:
        return
    tops = [b.level for b, depth in depths.items() if depth == 1]
    base = Counter(tops).most_common(1)[0][0] if tops else min(b.level for b in depths)
    for block, depth in depths.items():
        block.level = base + depth - 1


def _put_parts_above(headings: Sequence[Block], *, fixed: Collection[Block]) -> None:
    """Rank the parts and items of a filing ("PART I", "Item 1A.") above all other headings, which keep their order."""
    parts = [b for b in headings if _PART.match(b.text)]
    items = [b for b in headings if _ITEM.match(b.text)]
    if len(items) < 2 or any(b in fixed for b in items):
        return
    top = len({b.level for b in headings})
    for block in headings:
        if block not in fixed:
            block.level += top + 2
    for block in parts:
        block.level = 1
    for block in items:
        block.level = 2


def _nest_by_markers(headings: Sequence[Block], *, fixed: Collection[Block]) -> None:
    """Nest headings of one style by their markers I., A., 1., a.: a marker that opens a new series goes below the
    previous heading, one that continues a series gets its predecessor's level."""
    series: list[tuple[Marker, int, int]] = []  # marker, level of its style, level given
    known: dict[tuple[str, int], int] = {}  # for each kind of marker in a style, the level given last
    for block in headings:
        mark = marker(block.words[0].text) if len(block.words) > 1 else None
        own = block.level
        series = [entry for entry in series if entry[1] <= own]
        if block in fixed or mark is None or not mark.numbers:
            series = [entry for entry in series if entry[1] < own]
            continue
        place = next((i for i in reversed(range(len(series))) if mark.follows(series[i][0])), None)
        if place is not None:
            block.level = max(own, series[place][2])
            del series[place:]
        elif 1 in mark.numbers and series:
            block.level = max(own, series[-1][2] + 1)
        elif series:
            block.level = max(own, known.get((mark.style, own), own))
        known[mark.style, own] = block.level
        series.append((mark, own, block.level))


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
