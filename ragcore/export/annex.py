"""The annex of evidence: a PDF of every page that a report cites, as a picture, with the cited words marked and beside
them the numbers of their notes."""

from __future__ import annotations

import time
from collections import defaultdict

from ragcore.config import ExportSettings
from ragcore.export.model import Manuscript, Note
from ragcore.export.pictures import Sheet, Sheets, whole

MARGIN, HEAD = 36.0, 30.0  # points: around a page's picture, and of the line above it
LIT, HEADS, EDGE, INK, GREY = (1.0, 0.83, 0.23), (1.0, 0.96, 0.81), (0.6, 0.42, 0.0), (0.1, 0.11, 0.11), (0.4, 0.4, 0.4)
FONT, BOLD = "helv", "hebo"


def write_annex(manuscript: Manuscript, sheets: Sheets, settings: ExportSettings) -> bytes:
    """A PDF with bookmarks by document: its pages in order, each once, with all that is cited there. A page that cannot
    be drawn is named with the reason."""
    import pymupdf

    pages: dict[str, dict[int, list[Note]]] = defaultdict(lambda: defaultdict(list))
    for note in manuscript.notes:
        for number in dict.fromkeys(place.page for place in note.boxes):
            pages[note.doc_id][number].append(note)
    paper = pymupdf.paper_rect(settings.paper)
    document = pymupdf.open()
    contents: list[tuple[int, str, int]] = []
    for by_page in pages.values():
        for place, (number, notes) in enumerate(sorted(by_page.items())):
            first = notes[0]
            label = next((note.label for note in notes if note.page == number), str(number))
            page = document.new_page(width=paper.width, height=paper.height)
            if place == 0:
                contents.append((1, first.title, len(document)))
            contents.append((2, f"p. {label}", len(document)))
            called = f"p. {label}" + ("" if label == str(number) else f" (page {number} of the file)")
            numbers = ", ".join(str(note.number) for note in notes)
            _line(page, MARGIN, 30, first.title, BOLD, 9, INK)
            _line(page, MARGIN, 42, f"{called}. Notes {numbers}", FONT, 8, GREY)
            sheet = sheets(first.doc_id, number, whole(number))
            if isinstance(sheet, str):
                _line(page, MARGIN, 80, sheet, FONT, 9, GREY)
            else:
                _draw(page, sheet, notes)
    if not contents:
        page = document.new_page(width=paper.width, height=paper.height)
        _line(page, MARGIN, 60, "Nothing is cited.", FONT, 10, INK)
    document.set_toc([list(entry) for entry in contents])
    written = time.strftime("D:%Y%m%d%H%M%SZ", time.gmtime(manuscript.written)) if manuscript.written else None
    title = f"{manuscript.title}: evidence"
    document.subset_fonts()
    document.set_metadata({"title": title, "producer": "Groundwork", "creationDate": written, "modDate": written})
    data = bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))
    document.close()
    return data


def _draw(page: object, sheet: Sheet, notes: list[Note]) -> None:
    import pymupdf

    assert isinstance(page, pymupdf.Page)
    room = pymupdf.Rect(MARGIN, MARGIN + HEAD, page.rect.width - MARGIN, page.rect.height - MARGIN)
    scale = min(room.width / sheet.width, room.height / sheet.height)
    left, top = room.x0 + (room.width - sheet.width * scale) / 2, room.y0
    at = pymupdf.Rect(left, top, left + sheet.width * scale, top + sheet.height * scale)
    page.insert_image(at, stream=sheet.png)
    page.draw_rect(at, color=(0.8, 0.8, 0.78), width=0.5)

    def spot(shares: tuple[float, float, float, float]) -> pymupdf.Rect:
        x0, y0, x1, y1 = shares
        return pymupdf.Rect(
            at.x0 + x0 * at.width, at.y0 + y0 * at.height, at.x0 + x1 * at.width, at.y0 + y1 * at.height
        )

    taken: list[float] = []
    for note in notes:
        for shares in filter(None, map(sheet.within, note.heads)):
            page.draw_rect(spot(shares), color=None, fill=HEADS, fill_opacity=0.45, overlay=True)
        spots = [spot(shares) for shares in filter(None, map(sheet.within, note.boxes))]
        for rect in spots:
            page.draw_rect(rect, color=EDGE, width=0.6, fill=LIT, fill_opacity=0.35, overlay=True)
        if spots:
            # In the margin, one below the other where several stand on one line.
            y = spots[0].y0 + 7
            while any(abs(y - other) < 10 for other in taken):
                y += 10
            taken.append(y)
            page.insert_text((max(at.x0 - 22, 6), y), f"[{note.number}]", fontname=BOLD, fontsize=8, color=EDGE)


def _line(page: object, x: float, y: float, words: str, font: str, size: float, color: tuple[float, ...]) -> None:
    """One line of text, cut where the page ends."""
    import pymupdf

    assert isinstance(page, pymupdf.Page)
    room = page.rect.width - 2 * MARGIN
    own = pymupdf.Font(font)
    shown = words
    while own.text_length(shown, size) > room:
        shown = f"{shown.removesuffix('…')[:-1].rstrip()}…"
    # `insert_text` knows Latin-1 only, which has no dashes.
    writer = pymupdf.TextWriter(page.rect, color=color)
    writer.append((x, y), shown, font=own, fontsize=size)
    writer.write_text(page)
