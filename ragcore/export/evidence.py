"""Visual evidence for reports: one static, self-contained HTML file with pictures of the cited places, their words
highlighted; and the annex, a PDF of every cited page."""

from __future__ import annotations

import base64
import io
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

import pymupdf
from PIL import Image, ImageChops, ImageOps

from ragcore.config.settings import ExportSettings
from ragcore.export.characters import shortened
from ragcore.export.manuscripts import page_called, page_of
from ragcore.export.pandoc import html
from ragcore.export.pdf import finished
from ragcore.export.tree import Manuscript, Note
from ragcore.types import Box

_AROUND = 26.0  # points above and below the cited words
_HIGHEST = 300.0  # points of a crop
MARGIN, HEAD = 36.0, 30.0  # points: around a page's picture, and height of the line above it
LIT, HEADS = (1.0, 0.831, 0.231), (1.0, 0.961, 0.812)  # as highlighted in the page pane
EDGE = (0.6, 0.42, 0.0)
LONGEST = 110  # characters of a title on one line


@dataclass(frozen=True, slots=True)
class Sheet:
    """PNG of ``width`` × ``height`` pixels that shows ``box`` (displayed-page points)."""

    png: bytes
    width: int
    height: int
    box: Box

    def within(self, place: Box) -> tuple[float, float, float, float] | None:
        """Position of ``place`` on the picture, as fractions (left, top, right, bottom) of its size; None if not on
        it."""
        if place.page != self.box.page:
            return None
        wide, high = self.box.x1 - self.box.x0, self.box.y1 - self.box.y0
        left, right = (min(max((x - self.box.x0) / wide, 0.0), 1.0) for x in (place.x0, place.x1))
        top, bottom = (min(max((y - self.box.y0) / high, 0.0), 1.0) for y in (place.y0, place.y1))
        return (left, top, right, bottom) if right > left and bottom > top else None


# ``draw(document, page, places)``: the page around ``places``, or all of it without any; the reason in words if it
# cannot be drawn.
Sheets = Callable[[str, int, Sequence[Box]], "Sheet | str"]


def part(page: int, width: float, height: float, places: Sequence[Box]) -> Box:
    """Part of a page to show: a band of full width with ``places`` and some lines around them, or the whole page."""
    top = max(0.0, min((place.y0 for place in places), default=0.0) - _AROUND)
    bottom = min(height, max(place.y1 for place in places) + _AROUND, top + _HIGHEST) if places else height
    return Box(page, 0.0, top, width, bottom)


def write_page(manuscript: Manuscript, sheets: Sheets) -> bytes:
    """Whole file, in UTF-8."""
    text = html(manuscript, lambda note: _pictures(note, sheets))
    style = (files("ragcore.export") / "page.css").read_text("utf-8")
    head = (
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(manuscript.title)}</title>\n<style>{style}</style>"
    )
    language = escape(manuscript.language)
    opening = f'<!doctype html>\n<html lang="{language}">\n<head>\n{head}\n</head>\n'
    return f"{opening}<body><main>\n{text}\n</main></body>\n</html>\n".encode()


def _pictures(note: Note, sheets: Sheets) -> str:
    """Pictures of the cited place, one for each page it spans."""
    out = []
    for number in dict.fromkeys(place.page for place in note.citation.boxes):
        places = [place for place in note.citation.boxes if place.page == number]
        heads = [place for place in note.citation.head_boxes if place.page == number]
        sheet = sheets(note.citation.doc_id, number, places)
        if isinstance(sheet, str):
            out.append(f'<p class="gone">{escape(sheet)}</p>')
            continue
        marks = "".join(
            f'<i{kind} style="left:{100 * left:.3f}%;top:{100 * top:.3f}%;width:{100 * (right - left):.3f}%;'
            f'height:{100 * (bottom - top):.3f}%"></i>'
            for kind, each in ((' class="head"', heads), ("", places))
            for left, top, right, bottom in filter(None, map(sheet.within, each))
        )
        data = base64.b64encode(sheet.png).decode()
        words = escape(f"{note.citation.title}, {page_of(note)}: the cited words, highlighted")
        out.append(
            f'<figure><img src="data:image/png;base64,{data}" width="{sheet.width}" height="{sheet.height}" '
            f'alt="{words}">{marks}</figure>'
        )
    return "".join(out)


def lit_picture(note: Note, sheets: Sheets, width: float) -> str:
    """Picture of the place cited first, ``width`` points wide, with its words highlighted in it, for a page that cannot
    lay marks over a picture."""
    cited = note.citation
    places = [place for place in cited.boxes if place.page == cited.page]
    sheet = sheets(cited.doc_id, cited.page, places)
    if isinstance(sheet, str):
        return f'<p class="gone">{escape(sheet)}</p>'
    heads = [place for place in cited.head_boxes if place.page == cited.page]
    png = lit(sheet, {HEADS: heads, LIT: places}, border=1)
    data, height = base64.b64encode(png).decode(), width * sheet.height / sheet.width
    return f'<p><img src="data:image/png;base64,{data}" width="{width:.0f}" height="{height:.0f}"></p>'


def lit(sheet: Sheet, places: Mapping[tuple[float, float, float], Sequence[Box]], *, border: int = 0) -> bytes:
    """PNG of ``sheet`` with ``places`` highlighted, by colour, within a ``border`` of some pixels."""
    with Image.open(io.BytesIO(sheet.png)) as given:
        picture = given.convert("RGB")
    for colour, each in places.items():
        for left, top, right, bottom in filter(None, map(sheet.within, each)):
            start, end = round(left * sheet.width), round(right * sheet.width)
            at = (start, round(top * sheet.height), end, round(bottom * sheet.height))
            words = picture.crop(at)
            ink = Image.new("RGB", words.size, tuple(round(255 * share) for share in colour))
            picture.paste(ImageChops.multiply(words, ink), at)  # so that ink keeps its colour
    out = io.BytesIO()
    (ImageOps.expand(picture, border, "#999") if border else picture).save(out, "PNG", optimize=True)
    return out.getvalue()


def write_annex(manuscript: Manuscript, sheets: Sheets, settings: ExportSettings) -> bytes:
    """PDF with bookmarks by document: each cited page once, in order, with all its citations. A page that cannot be
    drawn is named with the reason."""
    pages: dict[str, dict[int, list[Note]]] = defaultdict(lambda: defaultdict(list))
    for note in manuscript.notes:
        for number in dict.fromkeys(place.page for place in note.citation.boxes):
            pages[note.citation.doc_id][number].append(note)
    width, height = pymupdf.paper_size(settings.paper)
    document = pymupdf.open()
    contents: list[list[int | str]] = []
    for by_page in pages.values():
        for number, notes in sorted(by_page.items()):
            first = notes[0].citation
            label = next((note.citation.page_label for note in notes if note.citation.page == number), str(number))
            page = document.new_page(width=width, height=height)
            if number == min(by_page):
                contents.append([1, first.title, len(document)])
            contents.append([2, f"p. {label}", len(document)])
            called = page_called(label, number)
            since = {note.number: " (words changed since)" if note.citation.since else "" for note in notes}
            numbers = ", ".join(f"{number}{words}" for number, words in since.items())
            _write(page, f"<b>{escape(shortened(first.title, LONGEST))}</b><br>{escape(called)}. Notes {numbers}")
            sheet = sheets(first.doc_id, number, ())
            if isinstance(sheet, str):
                _write(page, f"<br><br><br>{escape(sheet)}")
            else:
                _draw(page, sheet, notes)
    if not contents:
        _write(document.new_page(width=width, height=height), "Nothing is cited.")
    document.set_toc(contents)
    return finished(document, f"{manuscript.title}: evidence", manuscript.written)


def _write(page: Any, html: str) -> None:
    """Write small print at the top of a page."""
    top = pymupdf.Rect(MARGIN, 20, page.rect.width - MARGIN, page.rect.height)
    page.insert_htmlbox(top, html, css="* { font: 8pt sans-serif; color: #333; }")


def _draw(page: Any, sheet: Sheet, notes: list[Note]) -> None:
    room = pymupdf.Rect(MARGIN, MARGIN + HEAD, page.rect.width - MARGIN, page.rect.height - MARGIN)
    scale = min(room.width / sheet.width, room.height / sheet.height)
    left, top = room.x0 + (room.width - sheet.width * scale) / 2, room.y0
    at = pymupdf.Rect(left, top, left + sheet.width * scale, top + sheet.height * scale)
    page.insert_image(at, stream=sheet.png)
    page.draw_rect(at, color=(0.8, 0.8, 0.78), width=0.5)

    def spots(places: Sequence[Box]) -> list[pymupdf.Rect]:
        shares = filter(None, map(sheet.within, places))
        return [pymupdf.Rect(share) * pymupdf.Matrix(at.width, 0, 0, at.height, at.x0, at.y0) for share in shares]

    heads = {box: HEADS for note in notes for box in note.citation.head_boxes}
    for box, colour in (heads | {box: LIT for note in notes for box in note.citation.boxes}).items():
        for rect in spots([box]):
            mark = page.add_highlight_annot(rect)  # multiplied, so that ink keeps its colour
            mark.set_colors(stroke=colour)
            mark.update()
    taken: list[float] = []
    for note in notes:
        cited = spots(note.citation.boxes)
        for rect in cited:
            page.draw_rect(rect, color=EDGE, width=0.6)
        if cited:
            # In the margin, stacked if several are on one line.
            y = cited[0].y0 + 7
            while any(abs(y - other) < 10 for other in taken):
                y += 10
            taken.append(y)
            page.insert_text((max(at.x0 - 22, 6), y), f"[{note.number}]", fontname="hebo", fontsize=8, color=EDGE)
