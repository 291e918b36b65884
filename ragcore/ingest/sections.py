"""Headings: their levels, the path of headings above each element, and the titles of tables."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from ragcore.ingest.blocks import Block
from ragcore.ingest.canonical import Line
from ragcore.ingest.layout import FileInfo
from ragcore.ingest.table_headers import UNIT

MAX_LEVEL = 6
SIZE_STEP = 0.75  # points; sizes closer than this are one size
TITLE_GAP = 40.0  # points between a table and the block that names it
MAX_TITLE_WORDS = 30
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+\S")
_PART = re.compile(r"^part\s+([ivx]+|\d+)\b", re.IGNORECASE)
_ITEM = re.compile(r"^item\s+\d+[a-z]?\b", re.IGNORECASE)
_TABLE_NAME = re.compile(r"^(table|exhibit|schedule|tableau|tabelle|tabla)\b", re.IGNORECASE)


def set_levels(blocks: Sequence[Block], info: FileInfo) -> None:
    """Give each heading block its ``level`` (from 1).

    Styles (size, capitals, bold) rank the headings; the outline corrects the ranks of the styles it names, where it
    has more than one level; numbers such as ``2.3.1`` count from the level of their first part. "PART I" stands above
    "Item 1".
    """
    headings = [b for b in blocks if b.kind == "heading" and b.noise is None and b.words]
    if not headings:
        return
    rank = _style_ranks(headings)
    outline = _outline_levels(headings, info)
    by_style: dict[tuple[float, bool, bool], Counter[int]] = defaultdict(Counter)
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
    if any(_PART.match(b.text) for b in headings) and any(_ITEM.match(b.text) for b in headings):
        base = min((b.level for b in headings if _PART.match(b.text)), default=1)
        for block in headings:
            if _PART.match(block.text):
                block.level = base
            elif block.level <= base:
                block.level = base + 1
    for block in headings:
        block.level = max(1, min(MAX_LEVEL, block.level))


def _style(block: Block) -> tuple[float, bool, bool]:
    text = block.text
    capitals = text.isupper() and sum(c.isalpha() for c in text) > 3
    return (round(block.size * 2) / 2, capitals, block.bold)


def _style_ranks(headings: Sequence[Block]) -> dict[tuple[float, bool, bool], int]:
    styles = sorted({_style(b) for b in headings}, key=lambda s: (-s[0], not s[1], not s[2]))
    ranks: dict[tuple[float, bool, bool], int] = {}
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


def section_paths(blocks: Sequence[Block]) -> list[tuple[str, ...]]:
    """For each block the headings above it, outermost first; a heading's own path does not hold itself."""
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


def table_title(table: Block, blocks: Sequence[Block]) -> list[Line]:
    """The lines that name ``table``: its caption, else the heading or ``Table N`` line directly above, with a unit
    line (``(in millions)``) between the two; [] where nothing does. ``blocks`` are those of its page."""
    near = [b for b in blocks if b.noise is None and b is not table and b.words and _side_by_side(b, table)]
    above = sorted((b for b in near if b.box[3] <= table.box[1] + 4), key=lambda b: -b.box[3])
    units: list[Line] = []
    edge = table.box[1]
    for block in above[:4]:
        if edge - block.box[3] > TITLE_GAP:
            break
        words = len(block.words)
        if block.kind == "caption" or (_TABLE_NAME.match(block.text) and words <= 2 * MAX_TITLE_WORDS):
            return _shorten(block.lines) + units
        if words <= 12 and UNIT.search(block.text):
            units = [*block.lines, *units]
        elif block.kind == "heading" and words <= MAX_TITLE_WORDS:
            return list(block.lines) + units
        else:
            break
        edge = block.box[1]
    below = sorted((b for b in near if b.box[1] >= table.box[3] - 4), key=lambda b: b.box[1])
    for block in below[:1]:
        named = block.kind == "caption" or _TABLE_NAME.match(block.text)
        if named and _TABLE_NAME.match(block.text) and block.box[1] - table.box[3] <= TITLE_GAP:
            return _shorten(block.lines) + units
    return units


def _side_by_side(block: Block, table: Block) -> bool:
    return min(block.box[2], table.box[2]) > max(block.box[0], table.box[0])


def _shorten(lines: Sequence[Line]) -> list[Line]:
    """The first sentence of a caption, at most MAX_TITLE_WORDS words, and always more than its number."""
    kept: list[Line] = []
    count = 0
    for line in lines:
        part = []
        for word in line:
            if count >= MAX_TITLE_WORDS:
                break
            part.append(word)
            count += 1
            if count > 4 and word.text.endswith((".", "?", "!")) and not word.text[:-1].isdigit():
                count = MAX_TITLE_WORDS
        if part:
            kept.append(tuple(part))
    return kept
