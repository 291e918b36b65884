"""Text of a document for the page viewer: selectable words, sections, and search matches."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from ragcore.types import Document, Element
from ragcore.types.json import Json
from ragcore.types.sections import section_tree, walk
from ui.chat.payload import box
from ui.viewer.find_in_document import Finder

Made = TypeVar("Made")

KEPT = 4  # documents that stay ready to be selected from and searched


class DocumentCache(Generic[Made]):
    """Cache of derived data for recently used documents."""

    def __init__(self, make: Callable[[Document], Made]) -> None:
        self._make = make
        self._made: OrderedDict[str, tuple[Document, Made]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, read: Document) -> Made:
        with self._lock:
            known = self._made.get(read.doc_id)
            if known is None or known[0] is not read:  # built anew meanwhile
                known = (read, self._make(read))
            self._made[read.doc_id] = known
            self._made.move_to_end(read.doc_id)
            while len(self._made) > KEPT:
                self._made.popitem(last=False)
            return known[1]


class _Words:
    """Words of a document that are printed where they stand in its text: their numbers in reading order; the words of
    each page, as positions in that order; and the element that contains each."""

    def __init__(self, read: Document) -> None:
        at = read.words
        self.own = np.flatnonzero(~at.repeated)
        pages = at.pages[self.own]
        self._order = np.argsort(pages, kind="stable")
        self._ends = pages[self._order].searchsorted(np.arange(len(read.pages) + 1), side="right")
        spans = sorted(
            (item.start, item.end, item.table is not None) for item in read.elements if item.end > item.start
        )
        starts = np.array([start for start, _, _ in spans], np.int32)
        self.inside = starts.searchsorted(at.starts[self.own], side="right") - 1
        self.tables = [table for _, _, table in spans]

    def on(self, page: int) -> list[int]:
        places: list[int] = self._order[self._ends[page - 1] : self._ends[page]].tolist()
        return places


_words = DocumentCache(_Words)


def words(read: Document, page: int) -> list[list[Any]]:
    """Words of a page for its text layer: ``[x0, y0, x1, y1, text, after]`` in reading order, boxes in points of the
    displayed page. ``after`` follows the word in copied text: nothing inside a word cut by a line end, a tab between
    cells, a line feed after an element or a table row, else a space."""
    if not 1 <= page <= len(read.pages):
        return []
    at, known = read.words, _words.of(read)
    own, inside = known.own, known.inside
    out: list[list[Any]] = []
    for place in known.on(page):
        i = own[place]
        end = int(at.ends[i])
        after = "\n"
        if place + 1 < len(own) and inside[place] == inside[place + 1]:
            gap = read.text[end : int(at.starts[own[place + 1]])]
            after = _between(gap, known.tables[inside[place]])
        out.append([*(round(float(v), 2) for v in at.boxes[i]), read.text[int(at.starts[i]) : end], after])
    return out


def _between(gap: str, table: bool) -> str:
    if "\n" in gap:
        return "\n"
    if table and gap.strip():
        return "\t"
    return " " if gap else ""


def sections(read: Document) -> list[list[Any]]:
    """Sections in reading order, each before its subsections: ``[depth, heading, page, start, end, boxes]``; ``depth``
    counts from 0, ``boxes`` are those of the heading's words."""
    return [
        [len(node.path) - 1, node.label, node.first_page, node.start, node.end, _boxes(read, node.heading)]
        for node in walk(section_tree(read))
    ]


def _boxes(read: Document, heading: Element) -> list[list[float]]:
    return [box(place) for place in read.element_boxes(heading)]


finders = DocumentCache(Finder)


def found(read: Document, query: str) -> Json:
    """``{"count": 41, "pages": [[3, 2], …]}``: number of matches of ``query`` in print, and how many begin on each
    page."""
    matches = finders.of(read).find(query)
    return {"count": len(matches), "pages": [list(item) for item in matches.per_page()]}


def found_on(read: Document, query: str, page: int) -> list[list[Any]]:
    """Matches that touch a page: ``[number, boxes]``, numbered from 0 over the document."""
    finder = finders.of(read)
    matches = finder.on_page(finder.find(query), page)
    return [[match, [box(place) for place in boxes]] for match, boxes in matches]
