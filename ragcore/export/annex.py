"""The annex of evidence: a PDF of every page that a report cites, as a picture, with the cited words marked and beside
them the numbers of their notes."""

from __future__ import annotations

import io
import time
from collections import defaultdict
from collections.abc import Sequence

from ragcore.config.settings import ExportSettings
from ragcore.export.model import Manuscript, Note
from ragcore.export.pictures import Sheet, Sheets, whole

MARGIN, HEAD = 36.0, 30.0  # points: around a page's picture, and of the line above it
LIT, HEADS = (255, 212, 59), (255, 245, 207)  # as the page pane lights them
EDGE, INK, GREY = (0.6, 0.42, 0.0), (0.1, 0.11, 0.11), (0.4, 0.4, 0.4)
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
    page.insert_image(at, stream=_lit(sheet, notes))
    page.draw_rect(at, color=(0.8, 0.8, 0.78), width=0.5)

    def spot(shares: tuple[float, float, float, float]) -> pymupdf.Rect:
        x0, y0, x1, y1 = shares
        return pymupdf.Rect(
            at.x0 + x0 * at.width, at.y0 + y0 * at.height, at.x0 + x1 * at.width, at.y0 + y1 * at.height
        )

    taken: list[float] = []
    for note in notes:
        spots = [spot(shares) for shares in filter(None, map(sheet.within, note.boxes))]
        for rect in spots:
            page.draw_rect(rect, color=EDGE, width=0.6)
        if spots:
            # In the margin, one below the other where several stand on one line.
            y = spots[0].y0 + 7
            while any(abs(y - other) < 10 for other in taken):
                y += 10
            taken.append(y)
            page.insert_text((max(at.x0 - 22, 6), y), f"[{note.number}]", fontname=BOLD, fontsize=8, color=EDGE)


def _lit(sheet: Sheet, notes: Sequence[Note]) -> bytes:
    """The picture of a page as PNG, with the cited words and their headers multiplied by a highlighter's colour: ink
    keeps its colour, ground takes the light's."""
    from PIL import Image, ImageChops, ImageDraw

    with Image.open(io.BytesIO(sheet.png)) as png:
        picture = png.convert("RGB")
    heads = [place for note in notes for place in note.heads]
    cited = [place for note in notes for place in note.boxes]
    for colour, places in ((HEADS, heads), (LIT, cited)):
        mask = Image.new("L", picture.size)
        for x0, y0, x1, y1 in filter(None, map(sheet.within, places)):
            corners = (x0 * picture.width, y0 * picture.height, x1 * picture.width, y1 * picture.height)
            ImageDraw.Draw(mask).rectangle(corners, fill=255)
        light = Image.new("RGB", picture.size, colour)
        picture = Image.composite(ImageChops.multiply(picture, light), picture, mask)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


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
