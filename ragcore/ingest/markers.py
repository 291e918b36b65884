"""What stands before a list item: bullets, numbers, letters."""

from __future__ import annotations

import re
from dataclasses import dataclass

BULLETS = frozenset("•◦▪▫■□●○‣⁃∙·◆◇❖❑❒❏❐❍➢➤►▶▸▹★☆✓✔✗✘☐☑☒–—-*→⇒»")
# Those that also stand within running text: at the head of a line they prove nothing by themselves.
WEAK_BULLETS = frozenset("–—-*·→»")
# Letters that are bullets of symbol fonts, or typed for one ("o"), where several items of a list begin with them.
LETTERS = frozenset("olnqruvØ§¨")
_ENUMERATOR = re.compile(r"(\(?)(\d{1,3}|[ivxlc]{1,6}|[IVXLC]{1,6}|[A-Za-z])([.)]|\.\))$")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Marker:
    """``style`` tells kinds of markers apart (``•``, ``1.``, ``(a)``); ``numbers`` are the values that it may stand
    for (two for ``i``, a letter or a roman number), empty for a bullet."""

    style: str
    numbers: frozenset[int] = frozenset()

    def follows(self, other: Marker) -> bool:
        """Whether this is the next item of ``other``'s list."""
        return self.style == other.style and (not self.numbers or any(n + 1 in self.numbers for n in other.numbers))


def marker(word: str) -> Marker | None:
    """The marker that ``word``, the first of its line, is; None for any other word."""
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
    """`marker` of a word that opens what is known to be a list item: a letter can be its bullet."""
    return marker(word) or (Marker(word) if word in LETTERS else None)


def _roman(text: str) -> int:
    values = [_ROMAN[c] for c in text]
    return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))
