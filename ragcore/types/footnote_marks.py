"""Marks of footnotes in running text: the raised ``13`` of ``prospective trials.13``.

They are the document's characters and stay in its text; what is shown as a quotation leaves them out. Where a raised
figure may be an exponent, it is none of them.
"""

from __future__ import annotations

import re

from ragcore.types.geometry import WordMap

# As parts of the height of the word before: how small and how high a mark is set, and how near to that word.
_SMALL, _RAISED, _NEAR = 0.85, 0.12, 0.5
_MARK = re.compile(r"(?:\((?:\d{1,2}|[a-z])\)|\d{1,3}(?:[,–-]\d{1,3})*|[a-z]|[*∗†‡§¶#]+)[,;.]?")
# Behind a word or the end of a clause, and not behind a figure, a unit or a symbol: m2, 106, R2.
_BASE = re.compile(r"(?:[^\W\d_]{4,}|(?:[^\W\d_]{2,}|%|\b(?:19|20)\d\d)[.,;:!?”’\"'»)\]]{1,3}|\b(?:19|20)\d\d)$")
_UNITS = re.compile(r"\b(?:mmol|µmol|nmol|kcal|mmHg|metres?|meters?|inch)$")


def raised_marks(text: str, words: WordMap, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """The spans of such marks among the words of ``text[start:end]``."""
    part = words.within(start, end)
    first = max(part.start, 1)
    last = max(part.stop, first)
    # All but a few words stand behind a blank, and are no candidates.
    glued = (words.starts[first:last] == words.ends[first - 1 : last - 1]).nonzero()[0] + first
    out: list[tuple[int, int]] = []
    for index in glued.tolist():
        low, high = int(words.starts[index]), int(words.ends[index])
        before = text[max(start, int(words.starts[index - 1])) : low]
        if low <= start or high > end or not _MARK.fullmatch(text[low:high]):
            continue
        if _BASE.search(before) and not _UNITS.search(before) and _is_raised(words, index):
            out.append((low, high))
    return tuple(out)


def without(text: str, start: int, marks: tuple[tuple[int, int], ...]) -> str:
    """``text``, which begins at ``start``, without ``marks``; a full stop or comma that is part of one stays."""
    for low, high in reversed(marks):
        if start <= low and high <= start + len(text):
            mark = text[low - start : high - start]
            text = text[: low - start] + (mark[-1] if mark[-1] in ",;." else "") + text[high - start :]
    return text


def _is_raised(words: WordMap, index: int) -> bool:
    if words.pages[index] != words.pages[index - 1]:
        return False
    (_, top, right, foot), (left, high, _, low) = words.boxes[index - 1].tolist(), words.boxes[index].tolist()
    height = foot - top
    return bool(
        low - high <= _SMALL * height and foot - low >= _RAISED * height and abs(left - right) <= _NEAR * height
    )
