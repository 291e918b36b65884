"""PDF writer: layout by MuPDF's HTML engine with PyMuPDF's fonts (Latin, Greek, Cyrillic, CJK, Arabic, Hebrew, Indic,
mathematics), never the machine's own.

A note reference links to its note, after its part, and the note links back; headings are bookmarks.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import Any

import pymupdf

from ragcore.config.settings import ExportSettings
from ragcore.errors import GroundworkError
from ragcore.export.pandoc import PADDING, WIDE, html, widths
from ragcore.export.tree import Manuscript, Node, Nodes, Note, node, plain, rewritten, rows, walk, words

MARGIN = 62.0  # points
BOOKMARK_LEVELS = 2  # heading levels below the title
FOOT, FOOT_SIZE = 34.0, 8.0  # page number: height above the lower edge, and font size
HEADING_ROOM = 60.0  # minimum points of a page below a heading
# MuPDF decodes entities twice (``&amp;lt;`` is ``<`` to it), unless an element is between their two parts.
_DOUBLE = re.compile(r"&amp;(?=#?\w+;)(?![^<>]*>)")  # not within a tag
BREAK = "\u200b"  # ZERO WIDTH SPACE: an allowed line break
LINE, WIDE_LINE = 80, 110  # of the widest common letters on a line of a table
LINES = 25  # less than half a page
GREY = (0.4, 0.4, 0.4)


def write(manuscript: Manuscript, settings: ExportSettings, beside: Callable[[Note], str] | None = None) -> bytes:
    """PDF with bookmarks, links, page numbers, title and date. ``beside`` gives HTML to show below a note."""
    laid_out, positions = _lay_out(manuscript, pymupdf.paper_rect(settings.paper), beside)
    opened = [place for place in positions if place.open_close & 1]
    # With the manuscript's words: MuPDF's lack the blanks at line ends.
    headings = [plain(each) for each in walk(manuscript.blocks) if each["t"] == "Header"]
    tops = [place for place in opened if place.heading > 1]
    if len(tops) < len(headings) or not {f"note-{note.number}" for note in manuscript.notes} <= {o.id for o in opened}:
        # MuPDF stops silently at an element higher than a page.
        raise GroundworkError(
            "The PDF couldn't be laid out: one part is taller than a page.",
            hint="Export to Word or Markdown instead.",
        )
    bookmarks: list[list[Any]] = []
    for title, place in zip(headings, tops):
        if place.heading - 1 <= BOOKMARK_LEVELS:
            deepest = bookmarks[-1][0] + 1 if bookmarks else 1
            bookmarks.append([min(place.heading - 1, deepest), title, place.page_num, max(0.0, place.rect[1] - 4)])
    with pymupdf.open("pdf", laid_out) as document:
        pymupdf.Story.add_pdf_links(document, positions)
        for number, page in enumerate(document, start=1):
            shown = f"{number} / {len(document)}"
            left = page.rect.width / 2 - len(shown) * FOOT_SIZE / 4
            page.insert_text((left, page.rect.height - FOOT), shown, fontsize=FOOT_SIZE, color=GREY)
        document.set_toc(bookmarks)
        document.set_language(manuscript.language)
        return finished(document, manuscript.title, manuscript.written)


def finished(document: Any, title: str, written: float) -> bytes:
    """File of a PDF with its title and date; the same PDF gives the same bytes."""
    moment = time.strftime("D:%Y%m%d%H%M%SZ", time.gmtime(written)) if written else None
    document.set_metadata({"title": title, "producer": "Groundwork", "creationDate": moment, "modDate": moment})
    document.subset_fonts()
    return bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))


def _lay_out(manuscript: Manuscript, paper: Any, beside: Callable[[Note], str] | None) -> tuple[bytes, list[Any]]:
    """PDF without links, and MuPDF's positions of the elements, each with its ``page_num`` from 1."""
    page_html = html(replace(manuscript, blocks=rewritten(manuscript.blocks, _fitted)), beside)
    style = (files("ragcore.export") / "pdf.css").read_text("utf-8")
    story = pymupdf.Story(_DOUBLE.sub("&amp;<span></span>", page_html), user_css=style)
    out = io.BytesIO()
    writer = pymupdf.DocumentWriter(out)
    positions: list[Any] = []
    inside = pymupdf.Rect(MARGIN, MARGIN, paper.width - MARGIN, paper.height - MARGIN)
    page, more = 0, 1
    while more:
        page += 1
        device = writer.begin_page(paper)
        more, _ = story.place(inside)
        here = _positions(story, page)
        low = [each.rect[1] for each in here if each.heading > 1 and each.rect[3] > inside.y1 - HEADING_ROOM]
        if more and low and min(low) > inside.y0:
            # A heading with too little room under it moves to the next page with its text.
            more, _ = story.place(pymupdf.Rect(inside.x0, inside.y0, inside.x1, min(low) - 1))
            here = _positions(story, page)
        positions += here
        story.draw(device)
        writer.end_page()
    writer.close()
    return out.getvalue(), positions


def _positions(story: Any, page: int) -> list[Any]:
    found: list[Any] = []
    story.element_positions(lambda position: found.append(position))  # it accepts only a function
    for position in found:
        position.page_num = page
        if position.rect[2] <= position.rect[0]:
            position.href = None  # the end of a line before the link
    return found


def _fitted(each: Node) -> Nodes:
    """``each``, a table so that it fits: words that are longer than their column get break points, and one with a cell
    of more than about `LINES` lines becomes a paragraph for each row, since a row cannot be higher than a page."""
    if each["t"] != "Table":
        return [each]
    columns = list(zip(*rows(each)))
    given = widths(each, WIDE_LINE if len(columns) > WIDE else LINE)
    if any(len(plain(cell)) > LINES * width for column, width in zip(columns, given) for cell in column):
        return [node("Para", _on_a_line(row)) for row in rows(each)]
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
