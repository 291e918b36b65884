"""Search for typed words in a printed document, across line ends and hyphens, ignoring case and ligatures.

Each printed word is searched once, in reading order. Words that the canonical text repeats (a column header carried
into a row) and AI-written descriptions are left out, so that a match is always a place on a page.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from ragcore.types import Document
from ragcore.types.geometry import Box, line_boxes

KEPT = 16  # searches whose matches are kept, so that drawing page after page does not search again

# What a keyboard writes for what is printed; soft hyphens and characters without width are not typed at all.
_TYPED = str.maketrans(
    dict.fromkeys("‘’‚′", "'")
    | dict.fromkeys("“”„″", '"')
    | dict.fromkeys("‐‑‒–—−", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\ufeff", None)
)


def folded(text: str) -> str:
    """``text`` normalised for comparison: compatibility forms and ligatures expanded, typographic quotes and dashes
    simplified, case removed."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text.translate(_TYPED)).translate(_TYPED).casefold()


@dataclass(frozen=True)
class Found:
    """Matches of one search, by page and then in reading order: match i covers printed words ``first[i]`` to
    ``last[i]`` (inclusive), begins on page ``begins[i]`` and ends on page ``ends[i]``. Arrays int32 ``(n,)``."""

    first: NDArray[np.int32]
    last: NDArray[np.int32]
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.first)

    def per_page(self) -> list[tuple[int, int]]:
        """Number of matches that begin on each page with any, ascending."""
        pages, counts = np.unique(self.begins, return_counts=True)
        return list(zip(pages.tolist(), counts.tolist()))


def _search(text: str, places: NDArray[np.int32], pages: NDArray[np.int32], wanted: str) -> Found:
    """Matches in the ``text`` of words that begin at ``places`` in it and stand on ``pages``."""
    starts: list[int] = []
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        starts.append(at)
        at = text.find(wanted, at + len(wanted))
    begun = np.asarray(starts, np.int32)
    holds = places.searchsorted(begun, side="right") - 1
    closes = places.searchsorted(begun + np.int32(len(wanted)), side="left") - 1
    order = np.argsort(pages[holds], kind="stable")
    first, last = holds[order].astype(np.int32), closes[order].astype(np.int32)
    return Found(first, last, pages[first], pages[last])


class Finder:
    """Search over one document. Its index takes about a second for a million words and is kept."""

    def __init__(self, document: Document) -> None:
        at = document.words
        own = np.flatnonzero(~at.repeated)
        self._pages, self._boxes = at.pages[own], at.boxes[own]
        furniture = np.array(sorted(e.start for e in document.elements if e.start >= document.body_end), np.int32)
        group = furniture.searchsorted(at.starts[own], side="right").tolist()
        parts: list[str] = []
        places = np.empty(len(own), np.int32)
        length, before, around = 0, -1, -1
        for i, (start, end) in enumerate(zip(at.starts[own].tolist(), at.ends[own].tolist())):
            if group[i] != around:
                parts.append("\n")  # nothing leads from one page header or footer to the next
                length += 1
            elif start != before:
                parts.append(" ")
                length += 1
            word = folded(document.text[start:end])
            places[i] = length
            parts.append(word)
            length += len(word)
            before, around = end, group[i]
        self._search = lru_cache(KEPT)(partial(_search, "".join(parts), places, self._pages))

    def find(self, query: str) -> Found:
        """Matches of ``query``, without overlaps; runs of blanks count as one. Empty for a blank query."""
        return self._search(" ".join(folded(query).split()))

    def boxes(self, found: Found, match: int) -> list[Box]:
        """Boxes of one match, one per run of words on a line. A partly matched word is boxed whole, since positions of
        single letters are unknown."""
        part = slice(int(found.first[match]), int(found.last[match]) + 1)
        return line_boxes(self._pages[part], self._boxes[part])

    def on_page(self, found: Found, page: int) -> list[tuple[int, list[Box]]]:
        """Matches that touch a page (from 1), each with its number (from 0) and all its boxes, including those on other
        pages."""
        touching = np.flatnonzero((found.begins <= page) & (found.ends >= page)).tolist()
        matches = [(match, self.boxes(found, match)) for match in touching]
        return [(match, boxes) for match, boxes in matches if any(box.page == page for box in boxes)]
