"""Canonical text writer: words are appended together with their places, so text and places always agree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragcore.ingest.layout import GLUED, SOFT_HYPHEN, PageLayout, Rect
from ragcore.types import GENERATED_MARKS, WordMap

HYPHENS = ("-", "\u2010")
_EDGES = re.compile(r"^\W+|\W+$")
# First parts after which English keeps the hyphen ("self-\nemployed") if the document itself gives no evidence.
_KEEPING = frozenset(
    {"all", "cross", "ex", "half", "high", "long", "low", "mid", "non", "quasi", "self", "semi", "well"}
)
_WHOLE_WORD = 4  # letters; shorter halves are too often words by chance


@dataclass(frozen=True, slots=True)
class Ref:
    """Word of a page, referenced by index."""

    page: PageLayout
    index: int

    @property
    def text(self) -> str:
        return self.page.texts[self.index]

    @property
    def flags(self) -> int:
        return int(self.page.flags[self.index])

    @property
    def confidence(self) -> int:
        """OCR confidence in percent; 100 for the PDF's own text."""
        return 100 if self.page.confidence is None else int(self.page.confidence[self.index])

    @property
    def size(self) -> float:
        return float(self.page.sizes[self.index])

    @property
    def box(self) -> Rect:
        """Box in the page's upright frame."""
        x0, y0, x1, y1 = self.page.boxes[self.index].tolist()
        return x0, y0, x1, y1


Line = tuple[Ref, ...]


class Hyphenation:
    """Dehyphenation at line ends, decided by the document's other words."""

    def __init__(self, lines: Iterable[Sequence[Ref]]) -> None:
        self._words: set[str] = set()
        for line in lines:
            for position, word in enumerate(line):
                core = _EDGES.sub("", word.text).lower()
                if core and not (position == len(line) - 1 and word.text[-1] in HYPHENS):
                    self._words.add(core)

    def join(self, first: Ref, second: Ref) -> tuple[str, str]:
        """Text of ``first``, at a line's end, as joined to ``second``, and the separator between the two."""
        text, following = first.text, second.text
        if first.flags & SOFT_HYPHEN:
            return text, ""
        if len(text) < 2 or text[-1] not in HYPHENS or not text[-2].isalnum():
            return text, " "
        if not following[0].islower() or not text[-2].isalpha():
            # "Asia-\nPacific", "COVID-\n19"; but "1990-\nto" is two words.
            return text, "" if following[0].isalnum() and not following[0].islower() else " "
        left = _EDGES.sub("", text[:-1]).lower()
        right = _EDGES.sub("", following).lower()
        if f"{left}{right}" in self._words:
            return text[:-1], ""
        if f"{left}-{right}" in self._words or "-" in left or left in _KEEPING:
            return text, ""
        if min(len(left), len(right)) >= _WHOLE_WORD and {left, right} <= self._words:
            return text, ""  # "transplant-\nrelated": both halves are words of this document
        return text[:-1], ""


class CanonicalText:
    """Canonical text under construction, with its word map."""

    def __init__(self, hyphenation: Hyphenation) -> None:
        self._hyphenation = hyphenation
        self._parts: list[str] = []
        self._length = 0
        # The columns of the word map: start, end, page, box, repeated, confidence.
        self._words: list[tuple[int, int, int, Rect, bool, int]] = []

    def __len__(self) -> int:
        return self._length

    def separate(self, text: str) -> None:
        """Append characters that have no place on a page."""
        self._parts.append(text)
        self._length += len(text)

    def word(self, word: Ref, *, repeated: bool = False, text: str | None = None) -> None:
        shown = word.text if text is None else text
        if shown:
            start = self._length
            self.separate(shown)
            place = word.page.displayed(word.box)
            self._words.append((start, self._length, word.page.number, place, repeated, word.confidence))

    def lines(self, lines: Sequence[Line], *, repeated: bool = False, line_break: str = " ") -> tuple[int, int]:
        """Append ``lines`` as running text (``line_break`` " ", hyphenated words joined) or one per line
        (``line_break`` a newline). Returns the span."""
        start = self._length
        before: Ref | None = None
        break_gap = " "
        words = [(word, place == 0) for line in lines for place, word in enumerate(line)]
        for at, (word, first_of_line) in enumerate(words):
            if before is not None:
                if word.flags & GLUED or (first_of_line and line_break == " " and _unspaced(before, word)):
                    gap = ""
                elif first_of_line:
                    gap = break_gap if line_break == " " else line_break
                else:
                    gap = " "
                if gap:
                    self.separate(gap)
            text, break_gap = word.text, " "
            if at + 1 < len(words) and words[at + 1][1] and line_break == " ":
                text, break_gap = self._hyphenation.join(word, words[at + 1][0])
            self.word(word, repeated=repeated, text=text)
            before = word
        return start, self._length

    def description(self, text: str, page: int, region: Rect) -> tuple[int, int]:
        """Append an AI-written description as one paragraph between `GENERATED_MARKS`, placed at ``region``
        (displayed-page points) and marked as not printed. Returns the span, marks included."""
        start = self._length
        opening, closing = GENERATED_MARKS
        said = " ".join(text.split()).replace(opening, "< ::").replace(closing, ":: >")
        self.separate(f"{opening}{said}{closing}")
        self._words.append((start, self._length, page, region, True, 100))
        return start, self._length

    def finish(self) -> tuple[str, WordMap]:
        columns = list(zip(*self._words)) or [()] * 6
        return "".join(self._parts), WordMap(*columns)


def _unspaced(before: Ref, word: Ref) -> bool:
    """Whether a line break between ``before`` and ``word`` adds no blank: both are in a script without blanks (CJK)."""
    korean = any("\uac00" <= each.text[-1] <= "\ud7a3" for each in (before, word))
    return before.text[-1] >= "\u2e80" and word.text[0] >= "\u2e80" and not korean


def first_words(lines: Sequence[Line], count: int) -> list[Line]:
    """``lines`` up to their first ``count`` words."""
    kept: list[Line] = []
    for line in lines:
        if count > 0:
            kept.append(line[:count])
        count -= len(line)
    return kept


def plain(lines: Sequence[Sequence[Ref]]) -> str:
    """Words joined by single blanks, for rules about wording; not the canonical text."""
    return " ".join(word.text for line in lines for word in line)
