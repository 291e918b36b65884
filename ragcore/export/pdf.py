"""PDF writer: layout by MuPDF's HTML engine with PyMuPDF's fonts (Latin, Greek, Cyrillic, CJK, Arabic, Hebrew, Indic,
mathematics), never the machine's own.

A note reference links to its note, after its part, and the note links back; headings are bookmarks.
"""

from __future__ import annotations

import io
import re
import time
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import Any

from ragcore.config.settings import ExportSettings
from ragcore.errors import GroundworkError
from ragcore.export.pandoc import PADDING, WIDE, html, widths
from ragcore.export.tree import Manuscript, Node, Nodes, node, plain, rewritten, rows, walk, words

MARGIN = 62.0  # points
BOOKMARK_LEVELS = 2  # heading levels below the title
FOOT, FOOT_SIZE = 34.0, 8.0  # page number: height above the lower edge, and font size
HEADING_ROOM = 60.0  # minimum points of a page below a heading
# MuPDF decodes entities twice (``&amp;lt;`` is ``<`` to it), unless an element is between their two parts.
_DOUBLE = re.compile(r"&amp;(?=#?\w+;)(?![^<>]*>)")  # not within a tag
BREAK = "\u200b"  # ZERO WIDTH SPACE: an allowed line break
LINE, WIDE_LINE = 80, 110  # of the widest common letters on a line of a table
LINES = 25  # less than half a page
_ASTRAL = re.compile(rb"<([0-9a-f]{5,6})>")
GREY = (0.4, 0.4, 0.4)


class _Places:
    """Layout positions: bookmarks (level, words, page, top), ids, links; pages from 0, points from the top."""

    def __init__(self, headings: list[str]) -> None:
        self._headings = iter(headings)
        self.bookmarks: list[tuple[int, str, int, float]] = []
        self.ids: dict[str, tuple[int, float]] = {}
        self.links: list[tuple[int, tuple[float, ...], str]] = []

    def add(self, page: int, positions: list[Any]) -> None:
        """Record MuPDF's elements of a page, each at its opening (1) and closing (2)."""
        for found in positions:
            top = max(0.0, found.rect[1] - 4)
            if found.open_close & 1:
                if found.id:
                    self.ids.setdefault(found.id, (page, top))
                if found.heading > 1:
                    self._bookmark(found.heading - 1, page, top)
            if found.href and found.rect[2] > found.rect[0]:
                self.links.append((page, tuple(found.rect), found.href))

    def check(self, notes: int) -> None:
        """Raise if text is missing: MuPDF stops silently at an element higher than a page."""
        if next(self._headings, None) is not None or any(f"note-{n}" not in self.ids for n in range(1, notes + 1)):
            raise GroundworkError(
                "The PDF couldn't be laid out: one part is taller than a page.",
                hint="Export to Word or Markdown instead.",
            )

    def _bookmark(self, level: int, page: int, top: float) -> None:
        """Record a bookmark with the manuscript's words: MuPDF's lack the blanks at line ends."""
        words = next(self._headings)
        if level <= BOOKMARK_LEVELS:
            deepest = self.bookmarks[-1][0] + 1 if self.bookmarks else 1
            self.bookmarks.append((min(level, deepest), words, page, top))


def write(manuscript: Manuscript, settings: ExportSettings) -> bytes:
    """PDF with bookmarks, links, page numbers, title and date."""
    import pymupdf

    laid_out, places = _lay_out(manuscript, pymupdf.paper_rect(settings.paper))
    with pymupdf.open("pdf", laid_out) as document:
        _pair_surrogates(document)
        _link(document, places)
        _number(document)
        document.set_toc([_bookmark(*place) for place in places.bookmarks])
        written = time.gmtime(manuscript.written)
        moment = time.strftime("D:%Y%m%d%H%M%SZ", written) if manuscript.written else None
        about = {"title": manuscript.title, "producer": "Groundwork", "creationDate": moment, "modDate": moment}
        document.set_metadata(about)
        document.set_language(manuscript.language)
        document.subset_fonts()
        return bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))


def _lay_out(manuscript: Manuscript, paper: Any) -> tuple[bytes, _Places]:
    import pymupdf

    page_html = html(replace(manuscript, blocks=rewritten(manuscript.blocks, _fitted)))
    style = (files("ragcore.export") / "pdf.css").read_text("utf-8")
    story = pymupdf.Story(_DOUBLE.sub("&amp;<span></span>", page_html), user_css=style)
    out = io.BytesIO()
    writer = pymupdf.DocumentWriter(out)
    places = _Places([plain(each) for each in walk(manuscript.blocks) if each["t"] == "Header"])
    inside = pymupdf.Rect(MARGIN, MARGIN, paper.width - MARGIN, paper.height - MARGIN)
    page, more = 0, 1
    while more:
        device = writer.begin_page(paper)
        more, _ = story.place(inside)
        here = _positions(story)
        low = [each.rect[1] for each in here if each.heading > 1 and each.rect[3] > inside.y1 - HEADING_ROOM]
        if more and low and min(low) > inside.y0:
            # A heading with too little room under it moves to the next page with its text.
            more, _ = story.place(pymupdf.Rect(inside.x0, inside.y0, inside.x1, min(low) - 1))
            here = _positions(story)
        places.add(page, here)
        story.draw(device)
        writer.end_page()
        page += 1
    writer.close()
    places.check(len(manuscript.notes))
    return out.getvalue(), places


def _fitted(each: Node) -> Nodes:
    """``each``, a table so that it fits: words that make it too wide get break points, and one with a cell of more than
    about `LINES` lines becomes a paragraph for each row, since a row cannot be higher than a page."""
    if each["t"] != "Table":
        return [each]
    columns = list(zip(*rows(each)))
    room = WIDE_LINE if len(columns) > WIDE else LINE
    given = widths(each, room)
    if any(len(plain(cell)) > LINES * width for column, width in zip(columns, given) for cell in column):
        return [node("Para", _on_a_line(row)) for row in rows(each)]
    longest = (max(len(word) for cell in column for word in plain(cell).split() or [""]) for column in columns)
    if sum(longest) + PADDING * len(columns) > room:
        for column, width in zip(columns, given):
            for cell in column:
                cell[:] = rewritten(cell, partial(_breakable, width - PADDING))
    return [each]


def _on_a_line(row: list[Nodes]) -> Nodes:
    first, *rest = (cell[0]["c"] for cell in row)
    return [*first, *(each for cell in rest for each in (*words(" | "), *cell))]


def _breakable(longest: int, each: Node) -> Nodes:
    """``each`` with a break point after every ``longest`` characters of a word."""
    if each["t"] == "Str":
        each["c"] = re.sub(f"(.{{{longest}}})(?=.)", f"\\1{BREAK}", each["c"])
    return [each]


def _positions(story: Any) -> list[Any]:
    found: list[Any] = []
    story.element_positions(lambda position: found.append(position))  # it accepts only a function
    return found


def _pair_surrogates(document: Any) -> None:
    """Rewrite a font's ``ToUnicode``: MuPDF writes a character beyond U+FFFF as one number where PDF requires UTF-16BE
    (ISO 32000-2, 9.10.3), which makes it visible but neither searchable nor copyable."""
    for xref in range(1, document.xref_length()):
        kind, value = document.xref_get_key(xref, "ToUnicode")
        if kind == "xref":
            stream = int(value.split()[0])
            given = document.xref_stream(stream)
            paired = _ASTRAL.sub(
                lambda match: b"<%s>" % chr(int(match[1], 16)).encode("utf-16-be").hex().encode(), given
            )
            if paired != given:
                document.update_stream(stream, paired)


def _link(document: Any, places: _Places) -> None:
    import pymupdf

    pages = list(document)
    for page, area, href in places.links:
        if href.startswith("#"):
            target, top = places.ids[href[1:]]
            to = {"kind": pymupdf.LINK_GOTO, "page": target, "to": pymupdf.Point(0, top)}
        else:
            to = {"kind": pymupdf.LINK_URI, "uri": href}
        pages[page].insert_link({"from": pymupdf.Rect(area), **to})


def _number(document: Any) -> None:
    for number, page in enumerate(document, start=1):
        words = f"{number} / {len(document)}"
        left = page.rect.width / 2 - len(words) * FOOT_SIZE / 4
        page.insert_text((left, page.rect.height - FOOT), words, fontsize=FOOT_SIZE, color=GREY)


def _bookmark(level: int, words: str, page: int, top: float) -> list[Any]:
    import pymupdf

    return [level, words, page + 1, {"kind": pymupdf.LINK_GOTO, "page": page, "to": pymupdf.Point(0, top), "zoom": 0}]
