"""A sentence that opens a list or a table, and what belongs to it: it says little by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.offline.periods import Asked
from ragcore.offline.rows import Row, row_of
from ragcore.types import Source

_LONGEST = 700
_BULLET = re.compile(r"^(?:[•▪●◦·■□►➢✓*–—-]|o)\s+")
_NUMBERED = re.compile(r"^(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]|\([A-Z]\))(?:\s|$)", re.IGNORECASE)


def _printed(source: Source, first: int, last: int) -> str:
    """Units ``first`` to ``last`` with the bullet that stands before them, which is no part of a unit."""
    start = source.units[first - 2].end if first > 1 else source.start
    end = source.units[last - 1].end
    return source.between(start, end)


def lead_in(
    source: Source, number: int, following: Sequence[tuple[int, int]], asked: Asked
) -> tuple[int, str, tuple[Row, ...]] | None:
    """A sentence that ends in a colon or dash with the list items or table rows after it: the last unit, the text, and
    the rows.

    At most 700 characters, cut at an item's end. None when nothing follows that belongs to it.
    """
    parts = [source.words(number, number)]
    end = number
    levels: list[str] = []
    rows: list[Row] = []
    for first, last in following:
        is_cell = source.units[first - 1].kind == "cell"
        words = _printed(source, first, last)
        if not _continues("row" if is_cell else _level(words, levels), levels):
            break
        if is_cell:
            row = row_of(source, asked, first, last)
            words = row.shown if row is not None else ""
            rows += [row] if row is not None else []
        if sum(map(len, parts)) + len(words) > _LONGEST:
            break
        end = last
        if words:
            parts.append(words if not is_cell or len(parts) == 1 else f"| {words}")
    return (end, " ".join(parts), tuple(row for row in rows if row.last <= end)) if len(parts) > 1 else None


def _level(item: str, levels: Sequence[str]) -> str:
    """The style of a list item's bullet or number, "" for no item, with ``new`` before it where it may open a list."""
    if _BULLET.match(item):
        return "new bullet"
    match = _NUMBERED.match(item)
    if match is None:
        return ""
    number = match.group().strip(" ().")
    if number.isdigit():
        style = "digit"
    elif number.lower() == "i" or ("roman" in levels and not set(number.lower()) - set("ivx")):
        style = "roman"
    else:
        style = "upper" if number.isupper() else "lower"
    return f"new {style}" if number.lower() in ("1", "a", "i") else style


def _continues(style: str, levels: list[str]) -> bool:
    """Whether an item of this style goes on with the list whose open ``levels`` are given; keeps them up to date."""
    name = style.removeprefix("new ")
    if name in levels:
        del levels[levels.index(name) + 1 :]
        return True
    opens = style.startswith("new ") and "row" not in levels
    if levels and not opens:
        return False
    if style:
        levels.append(name)
    return bool(style)
