"""What the page viewer asks of a document beside its pictures: words to select, headings, and matches of a search."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from ragcore.printed import Finder
from ragcore.types import Document
from ui.payload import box

Json = dict[str, Any]

FINDERS = 4  # documents that stay ready to be searched


def words(read: Document, page: int) -> list[list[Any]]:
    """Words of a page for its text layer: ``[x0, y0, x1, y1, text, after]`` in reading order, boxes in points of the
    page as displayed. ``after`` is what copied text has behind the word: nothing within a word that a line end cuts, a
    tab between cells, a line feed after an element or a row of a table, else a blank."""
    at = read.words
    own = np.flatnonzero(~at.repeated)
    on_page = np.flatnonzero(at.pages[own] == page)
    spans = sorted((item.start, item.end, item.table is not None) for item in read.elements if item.end > item.start)
    starts = np.array([start for start, _, _ in spans], np.int32)
    inside = starts.searchsorted(at.starts[own], side="right") - 1
    out: list[list[Any]] = []
    for place in on_page.tolist():
        i = own[place]
        end = int(at.ends[i])
        after = "\n"
        if place + 1 < len(own) and inside[place] == inside[place + 1]:
            gap = read.text[end : int(at.starts[own[place + 1]])]
            after = _between(gap, spans[inside[place]][2])
        out.append([*(round(float(v), 2) for v in at.boxes[i]), read.text[int(at.starts[i]) : end], after])
    return out


def _between(gap: str, table: bool) -> str:
    if "\n" in gap:
        return "\n"
    if table and gap.strip():
        return "\t"
    return " " if gap else ""


def outline(read: Document) -> list[list[Any]]:
    """The headings in reading order: ``[level, text, page, top]``, ``top`` in points of the page as displayed."""
    out = []
    for item in read.body:
        text = " ".join(read.text[item.start : item.end].split())
        if item.kind == "heading" and text:
            places = [place for place in read.element_boxes(item) if place.page == item.page]
            top = min((place.y0 for place in places), default=0.0)
            out.append([item.level, text[:200], item.page, round(top, 2)])
    return out


class Searches:
    """A `Finder` for each of the documents searched last."""

    def __init__(self) -> None:
        self._finders: OrderedDict[str, tuple[Document, Finder]] = OrderedDict()
        self._lock = threading.Lock()

    def finder(self, read: Document) -> Finder:
        with self._lock:
            known = self._finders.get(read.doc_id)
            if known is None or known[0] is not read:  # built anew meanwhile
                known = (read, Finder(read))
            self._finders[read.doc_id] = known
            self._finders.move_to_end(read.doc_id)
            while len(self._finders) > FINDERS:
                self._finders.popitem(last=False)
            return known[1]

    def found(self, read: Document, query: str) -> Json:
        """``{"count": 41, "pages": [[3, 2], …]}``: how often ``query`` is printed, and how many matches begin on each
        page."""
        found = self.finder(read).find(query)
        return {"count": len(found), "pages": [list(item) for item in found.per_page()]}

    def on_page(self, read: Document, query: str, page: int) -> list[list[Any]]:
        """The matches that touch a page: ``[number, boxes]``, numbers from 0 over the document."""
        finder = self.finder(read)
        matches = finder.on_page(finder.find(query), page)
        return [[match, [box(place) for place in boxes]] for match, boxes in matches]
