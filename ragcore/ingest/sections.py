"""Headings: their levels, and the path of headings above each element."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from ragcore.ingest.blocks import Block
from ragcore.ingest.layout import FileInfo
from ragcore.ingest.lists import Marker, marker

MAX_LEVEL = 6
SIZE_STEP = 0.75  # points; sizes closer than this are one size
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+\S")
_PART = re.compile(r"^part\s+([ivx]+|\d+)\b", re.IGNORECASE)
_ITEM = re.compile(r"^item\s+\d+[a-z]?\b", re.IGNORECASE)


Style = tuple[float, bool, bool, bool]  # size in half points, capitals, bold, run into its paragraph


def set_levels(blocks: Sequence[Block], info: FileInfo) -> None:
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
