"""Footnote marks in cells: the raised ``2`` after ``1,234``, ``(a)`` after a label, ``*`` after a value.

A mark stays in its cell's text, separated by a blank, but is no part of the value. Exponents (``m2``, ``×10-6``) and
values in brackets (``15 (36)``, ``(5)``) are no marks.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.blocks import visual_lines
from ragcore.ingest.canonical import Ref
from ragcore.ingest.layout import SUPERSCRIPT, PageLayout
from ragcore.ingest.tables.draft import Draft, DraftCell, is_number

NEAR = 1.5  # of the font size: largest distance between a mark and its value
SMALL = 0.85  # of the previous font size: a raised word is smaller
RAISED = 0.12  # of the previous font size: least rise of its foot above the line's
_RAISED_MARK = re.compile(r"^(?:\(?(?:\d{1,2}|[a-z]{1,2}|[ivx]{1,4}|[*∗†‡§¶#]+)\)?[,;.]?)+$", re.IGNORECASE)
_LEVEL_MARK = re.compile(r"^(?:\([a-z]\)[,;]?)+$|^[*∗†‡§¶]+$|^\[[a-z\d]{1,2}\]$")
_TAIL = re.compile(r"(?<=[\w)%.])(?:[*∗†‡§¶]+|(?:\((?:[a-z]|\d{1,2})\))+)$")
_YEAR_END = re.compile(r"(?:19|20)\d\d$")
_NO_MARKS = frozenset({"st", "nd", "rd", "th", "er", "tm", "sm"})
_UNIT = re.compile(r"(?:^|[/·(\d])(?:[a-zµ]{1,2}|R)$")  # units that a raised 2 or 3 makes an area, a volume or a share
_POWER = re.compile(r"[×x·∙*]\s*10$|^10$")


def count_marks(draft: Draft) -> None:
    """Count each cell's marks."""
    for cell in draft.cells:
        if cell.lines:
            cell.marks = _count(cell)


def follow_marks(page: PageLayout, members: NDArray[np.intp], cells: NDArray[np.intp]) -> None:
    """Move each raised mark to the cell of the previous word on its printed line, whatever the grid says. ``cells`` int
    ``(n,)`` has the cell of each word of ``members`` and is changed in place."""
    places = {index: place for place, index in enumerate(members.tolist())}
    for line in visual_lines(page, members):
        for before, word in pairwise(line):
            gap = word.box[0] - before.box[2]
            near = -0.1 * before.size <= gap <= NEAR * before.size
            if near and _RAISED_MARK.match(word.text) and is_raised(word, before):
                cells[places[word.index]] = cells[places[before.index]]


def tail(word: Ref) -> int:
    """Number of characters at the end of ``word`` that are a mark on the value's own level: ``4.5*``."""
    match = _TAIL.search(word.text)
    if match is None:
        return 0
    mark, value = match.group(), word.text[: match.start()]
    if mark.startswith("(") and mark[1].isdigit():
        return len(mark) if _YEAR_END.search(value) else 0
    return len(mark) if mark.startswith("(") or is_number(value) or value[-1].isalpha() else 0


def is_raised(word: Ref, base: Ref) -> bool:
    """Whether ``word`` is set as a superscript of ``base``."""
    if word.flags & SUPERSCRIPT and not base.flags & SUPERSCRIPT:
        return True
    lifted = base.box[3] - word.box[3] > RAISED * base.size
    return word.size <= SMALL * base.size and lifted and word.box[1] < base.box[1] + 0.5 * base.size


def _count(cell: DraftCell) -> int:
    words = cell.words
    count = 0
    while count < len(words) - 1:
        word = words[-1 - count]
        base = next((w for w in reversed(words[: len(words) - 1 - count]) if not _RAISED_MARK.match(w.text)), words[0])
        if base is word or not _is_mark(word, base, words[: len(words) - 1 - count]):
            break
        count += 1
    return count


def _is_mark(word: Ref, base: Ref, before: list[Ref]) -> bool:
    text = word.text
    if _LEVEL_MARK.match(text):
        return True
    last = before[-1].text
    if not _RAISED_MARK.match(text) or not any(is_raised(word, other) for other in (base, before[-1], before[0])):
        return False
    if text.lower() in _NO_MARKS:
        return False
    return not (text[0].isdigit() and (_POWER.search(last) or (text in "23" and _UNIT.search(last))))
