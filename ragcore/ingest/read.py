"""MuPDF reader of pages: runs in the child process only (`worker`), never in the application.

The layout model and the table finder are called directly, `Page.get_layout` and `Page.find_tables`, as
``pymupdf4llm.to_json(..., table_output="html")`` does; that function repeats work over the whole file (outline, form
fields) on each call and extracts the text of every region a second time, which this module does not need.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pymupdf

from ragcore.config.settings import OcrSettings
from ragcore.errors import DamagedPdf, NoPages, NotAPdf, ParseCrashed, PasswordRequired, WrongPassword
from ragcore.files import whole
from ragcore.ingest.convert.kinds import HEAD_BYTES
from ragcore.ingest.convert.known import kept, kept_page, known_layout
from ragcore.ingest.layout import (
    LINE_NUMBERS,
    WATERMARK,
    FileInfo,
    Grid,
    GridCell,
    PageLayout,
    Rect,
    Region,
    empty_page,
    overlap,
    turned,
)
from ragcore.ingest.noise import line_numbers, overprinted, without_gutter
from ragcore.ingest.ocr import OCR_OFF
from ragcore.ingest.regions import arrange, hull, print_area, reading_order, shared
from ragcore.ingest.rulings import Drawn, divides, rule_tables, rulings
from ragcore.ingest.unseen import hide_unseen
from ragcore.ingest.words import WordColumns, mostly_right_to_left, read_words, writing_angle

if TYPE_CHECKING:
    from ragcore.ingest.ocr.engine import OcrEngine

PLAIN_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
TEXT_FLAGS = PLAIN_FLAGS | pymupdf.TEXT_COLLECT_VECTORS
NUDGE = 0.05  # pixels
MIN_REGION = 2.0  # points: thinner layout boxes are rules, not regions
MIN_PICTURE = 20.0  # points: smaller images are bullets and ornaments
SMALLEST = 40.0  # points: least width and height of a caption's drawing
BACKGROUND = 0.6  # of the page: larger drawings are background
REACH = 36.0  # points between a caption and its drawing
OVERLAP = 3.0  # points by which a drawing may reach into another region
APART = 6  # points around each part of a drawing: parts whose margins touch belong together
MIN_RULES = 4  # fewer lines and rectangles than this cannot rule a table
_HEX_PREFIX = re.compile(r"<((?:[0-9A-Fa-f]{2})+)>")
MISSING = "part of the file is damaged or missing"


class NeedsOcr(Exception):
    """Page without a usable text layer; the message continues "This page ..."."""


class Reader:
    """One open PDF; if it was ``made`` of another file, pages that tell their cells are read by these. Raises ragcore's
    input errors if it cannot be opened."""

    def __init__(
        self, path: Path, password: str | None, name: str, ocr: dict[str, Any] | None = None, *, made: bool = False
    ) -> None:
        self.made = made
        self.ocr = None if ocr is None else OcrSettings.model_validate(ocr)
        self.document, self.unlocked = _open(path, password, name)

    def close(self) -> None:
        """Close the file and release MuPDF's memory of it."""
        self.document.close()
        pymupdf.TOOLS.store_shrink(100)

    @cached_property
    def _engine(self) -> OcrEngine:
        from ragcore.ingest.ocr.engine import OcrEngine

        assert self.ocr is not None
        return OcrEngine(self.ocr)

    def info(self) -> FileInfo:
        document = self.document
        return FileInfo(
            pages=document.page_count,
            title=str((document.metadata or {}).get("title") or ""),
            labels=self._labels,
            outline=tuple(
                (int(level), str(title), int(page))
                for level, title, page, *_rest in document.get_toc(simple=True)
                if 1 <= page <= document.page_count
            ),
            unlocked=self.unlocked,
            **(kept(document) if self.made else {}),
        )

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        named = bool(self.document.get_page_labels())
        return tuple(_decoded(page.get_label()) for page in self.document) if named else ()

    def page(self, number: int, *, plain: bool, ask: bool = True) -> PageLayout:
        """Page ``number`` (from 1). ``plain`` reads the text only, with MuPDF's text blocks as regions: no layout
        model, no table finder, no drawings. Raises `NeedsOcr` for a page that OCR should read, if ``ask``, and
        `ParseCrashed` for one whose content a damaged file lacks."""
        page = self.document.load_page(number - 1)
        if self.document.is_repaired and not _has_content(page):
            raise ParseCrashed(MISSING)
        blank = self._blank(page)
        # From here on the page has no rotation; that is the frame of MuPDF's text.
        page.set_rotation(0)
        known = kept_page(self.document, page) if self.made else None
        if known is not None:
            return known_layout(self._page(page, blank, True, False), *known)
        try:
            return self._page(page, blank, plain, ask and not plain)
        finally:
            page.set_rotation(blank.rotation)

    def scan(self, number: int) -> PageLayout:
        """Page ``number`` by OCR, or by its text layer if OCR confirms it."""
        from ragcore.ingest.ocr.scan import choose, is_blank, own_text, read_scan

        assert self.ocr is not None
        page = self.document.load_page(number - 1)
        found = None if is_blank(page) else read_scan(page, self._engine)
        text = own_text(page.get_textpage(flags=TEXT_FLAGS).extractRAWDICT())
        read = [] if found is None else found.words.texts
        confidence = float(found.confidence.mean()) if found is not None and read else 0.0
        keep, problem = choose(text, read, confidence, self.ocr.mode)
        if keep:
            return replace(own := self.page(number, plain=False, ask=False), degraded=problem or own.degraded)
        blank = self._blank(page)
        if found is None:
            return blank
        laid = self._lay_out(found.sheet, blank, False, 0, found.words, found.rules)
        return replace(laid, turn=found.turn, confidence=found.confidence)

    def _blank(self, page: Any) -> PageLayout:
        """Page without words."""
        number, labels = page.number + 1, self._labels
        label = (labels[number - 1] if labels else "") or str(number)
        return empty_page(number, label, float(page.rect.width), float(page.rect.height), int(page.rotation), None)

    def _page(self, page: Any, blank: PageLayout, plain: bool, ask: bool) -> PageLayout:
        raw = page.get_textpage(flags=PLAIN_FLAGS if plain else TEXT_FLAGS).extractRAWDICT()
        hide_unseen(raw, None if plain else page)
        angle = writing_angle(raw)
        if angle is None:
            angle = (360 - blank.rotation) % 360
        frame = (float(page.rect.width), float(page.rect.height))
        words = _upright(read_words(raw, angle), (360 - angle) % 360, frame)
        unread: str | None = None
        if ask and self.ocr is not None:
            from ragcore.ingest.ocr.scan import left_out, measure, suspicion

            cover = measure(page, raw)
            why = suspicion(page, raw, len(words.texts), self.ocr.mode, cover)
            if why is not None and self.ocr.mode != "off":
                raise NeedsOcr(why)
            unread = left_out(cover) if why is None else f"this page {why}; {OCR_OFF}"
        vectors = [block for block in raw["blocks"] if block["type"] == 3]
        layout = self._lay_out(page, blank, plain, angle, words, len(vectors))
        if plain:
            return layout
        drawn = [
            Drawn(turned(tuple(b["bbox"]), (360 - angle) % 360, *frame), b["color"], b["stroked"] and b["isrect"])
            for b in vectors
        ]
        return rule_tables(replace(layout, degraded=layout.degraded or unread), rulings(drawn))

    def _lay_out(
        self,
        page: Any,
        blank: PageLayout,
        plain: bool,
        angle: int,
        words: WordColumns,
        vectors: int,
    ) -> PageLayout:
        """``blank`` with the layout of ``page``, whose text is turned clockwise by ``angle``; ``words`` are upright,
        ``vectors`` counts the drawings."""
        boxes = words.box_array()
        frame = (float(page.rect.width), float(page.rect.height))
        upright_frame = frame if angle in (0, 180) else (frame[1], frame[0])
        lines, sizes = np.asarray(words.lines, dtype=np.int32), np.asarray(words.sizes, dtype=np.float32)
        blocks = np.asarray(words.blocks, dtype=np.int32)
        numbers = line_numbers(words.texts, boxes, upright_frame[0])
        problem: str | None = None
        order: Callable[[list[Region]], list[Region]] = list
        if plain:
            regions = [
                Region("text", hull(boxes, np.flatnonzero(blocks == one))) for one in dict.fromkeys(words.blocks)
            ]
        else:
            whole = without_gutter(boxes, numbers, upright_frame)
            shown = print_area(boxes, sizes, whole)
            area = pymupdf.Rect(turned(shown, angle, *upright_frame))
            if shown != whole and any(image not in area for image in _images(page)):
                shown = whole
            scale = 1.0 if shown == whole else upright_frame[0] / (shown[2] - shown[0])
            found, problem = _find_regions(self._sheet(page, angle, shown, scale, upright_frame), len(boxes), vectors)
            regions = [_placed(region, shown, scale) for region in found]
            order = partial(reading_order, right_to_left=mostly_right_to_left(words.texts))

        across = np.setdiff1d(overprinted(boxes, sizes), numbers)
        text = np.setdiff1d(np.arange(len(boxes)), np.concatenate([numbers, across]))
        owners = np.empty(len(boxes), dtype=np.int32)
        ordered, owners[text] = arrange(boxes[text], blocks[text], regions, order)
        for aside, kind in ((numbers, LINE_NUMBERS), (across, WATERMARK)):
            if len(aside):
                owners[aside] = len(ordered)
                ordered = (*ordered, Region(kind, hull(boxes, aside)))
        return replace(
            blank,
            turn=(angle + blank.rotation) % 360,
            texts=tuple(words.texts),
            boxes=boxes,
            sizes=sizes,
            lines=lines,
            flags=np.asarray(words.flags, dtype=np.uint8),
            owners=owners,
            regions=ordered,
            degraded=problem,
        )

    def _sheet(self, page: Any, angle: int, shown: Rect, scale: float, frame: tuple[float, float]) -> Any:
        """Part ``shown`` of the upright frame as the layout model expects it, text upright and ``scale`` times as
        large: the page itself, or drawn onto a fresh one (`Page.remove_rotation` would lose the crop box)."""
        if angle == 0 and shown == (0.0, 0.0, *frame):
            return page
        x0, y0, x1, y1 = shown
        self._drawn = pymupdf.open()
        sheet = self._drawn.new_page(width=scale * (x1 - x0), height=scale * (y1 - y0))
        clip = pymupdf.Rect(turned(shown, angle, *frame))
        sheet.show_pdf_page(sheet.rect, page.parent, page.number, rotate=angle, clip=clip)
        return sheet

    def frame(self, number: int) -> tuple[float, float, int]:
        """Displayed width and height of page ``number`` and its rotation, without reading its content."""
        page = self.document.load_page(number - 1)
        return float(page.rect.width), float(page.rect.height), int(page.rotation)

    def crop(self, number: int, box: Rect, *, dpi: float, max_pixels: int) -> tuple[dict[str, Any], bytes]:
        """Part ``box`` of page ``number`` as displayed (in points): width and height in pixels, the SHA-256 of the
        pixels; and a PNG. About ``max_pixels`` at most; drawn from the box's own corner, so that an image usually gives
        the same pixels at every place."""
        page = self.document.load_page(number - 1)
        area = pymupdf.Rect(box) & page.rect
        zoom = min(dpi / 72, (max_pixels / max(1.0, abs(area))) ** 0.5)
        # Edges exactly between two pixels would be rounded to either side, hence the nudge.
        corner = pymupdf.Matrix(zoom, 0, 0, zoom, NUDGE - area.x0 * zoom, NUDGE - area.y0 * zoom)
        pixmap = page.get_pixmap(matrix=corner, clip=area, colorspace=pymupdf.csRGB, alpha=False)
        digest = hashlib.sha256(f"{pixmap.width}x{pixmap.height}:".encode() + pixmap.samples).hexdigest()
        return {"width": pixmap.width, "height": pixmap.height, "sha256": digest}, pixmap.tobytes("png")

    def unlock(self, target: Path) -> None:
        """Write a decrypted copy to ``target``, atomically."""
        with whole(target) as part:
            self.document.save(str(part), encryption=pymupdf.PDF_ENCRYPT_NONE, garbage=0)


def _decoded(label: str) -> str:
    """Page label with its prefix decoded from the file's hex string, which MuPDF gives: ``<FEFF0065>110`` →
    ``e110``."""
    match = _HEX_PREFIX.match(label)
    if match is None:
        return label
    data = bytes.fromhex(match.group(1))
    utf16 = data.startswith(codecs.BOM_UTF16_BE)
    prefix = data[2:].decode("utf-16-be", "replace") if utf16 else data.decode("latin-1")
    return prefix + label[match.end() :]


def _open(path: Path, password: str | None, name: str) -> tuple[Any, bool]:
    with path.open("rb") as file:
        looks_like_pdf = b"%PDF-" in file.read(HEAD_BYTES)
        file.seek(max(0, file.seek(0, SEEK_END) - HEAD_BYTES))
        cut_off = b"%%EOF" not in file.read()
    lost = "its end is missing" if cut_off else "its parts cannot be found"
    unlocked = False
    try:
        document = pymupdf.open(str(path), filetype="pdf")
        if not document.is_pdf:
            raise NotAPdf(f"{name} is not a PDF.")
        if document.needs_pass:
            if password is None:
                raise PasswordRequired(f"{name} needs a password.")
            if not document.authenticate(password):
                raise WrongPassword(f"Wrong password for {name}.")
            unlocked = True
        pages = document.page_count
        empty = document.is_repaired and cut_off and not any(map(_has_content, document))
    except (pymupdf.mupdf.FzErrorBase, RuntimeError, ValueError) as error:
        if looks_like_pdf:
            raise DamagedPdf(f"{name} is too damaged to open ({lost}).") from error
        raise NotAPdf(f"{name} is not a PDF.") from error
    if pages < 1 or empty:
        if not looks_like_pdf:
            raise NotAPdf(f"{name} is not a PDF.")
        if document.is_repaired:
            lost = lost if cut_off else "no page can be found"
            raise DamagedPdf(f"{name} is too damaged to open ({lost}).")
        raise NoPages(f"{name} has no pages.")
    return document, unlocked


def _has_content(page: Any) -> bool:
    """Whether what is printed on a page is in the file, or the page is blank."""
    document = page.parent
    parts, length = page.get_contents(), document.xref_length()
    if not 0 < page.xref < length:
        return False
    if not parts:
        return bool(document.xref_get_key(page.xref, "Contents")[0] == "null")
    return any(0 < part < length and document.xref_is_stream(part) for part in parts)


def _upright(words: WordColumns, angle: int, frame: tuple[float, float]) -> WordColumns:
    """Words on the page after the frame is turned clockwise by ``angle``, cut at the page's edge."""
    width, height = frame
    cut = words.box_array().clip(0, [width, height, width, height])
    chosen = np.flatnonzero((cut[:, 2] > cut[:, 0]) & (cut[:, 3] > cut[:, 1])).tolist()
    kept = words.chosen(chosen)
    kept.boxes = [turned(tuple(cut[i].tolist()), angle, width, height) for i in chosen]
    return kept


def _find_regions(page: Any, words: int, vectors: int) -> tuple[list[Region], str | None]:
    """Layout regions, tables with their grids, and images; and an error message if the table finder failed.

    The table finder takes a third of a page's time. It works from the layout's tables and from ruled columns, so it is
    skipped on a page with neither; the layout model is skipped on a page without words.
    """
    if not words:
        return _image_regions(page, ()), None
    page.get_layout(return_raw=True)
    found: Sequence[Mapping[str, Any]] = page.layout_information or []
    regions: list[Region] = []
    for group in found:
        x0, y0, x1, y1 = (float(value) for value in group["group_bbox"][:4])
        if x1 - x0 > MIN_REGION and y1 - y0 > MIN_REGION:
            regions.append(Region(str(group["class_name"]), (x0, y0, x1, y1)))
    problem: str | None = None
    tables: list[Region] = []
    laid = any(region.kind == "table" for region in regions)
    if laid or (vectors >= MIN_RULES and divides(page.get_drawings())):
        finder = page.find_tables(use_layout=True, union=True, refine=True)
        if finder is None:
            problem = "the table finder failed on this page, so its tables are read as text"
        else:
            tables = [region for table in finder.tables if (region := _table_region(table)) is not None]
    page.layout_information = None
    kept = [r for r in regions if r.kind != "table" or not any(shared(table.box, r.box) >= 0.5 for table in tables)]
    regions = [*kept, *tables]
    regions += _image_regions(page, regions)
    return [*regions, *_captioned(page, regions)], problem


def _placed(region: Region, shown: Rect, scale: float) -> Region:
    """``region`` with its boxes in the page's frame, from its part ``shown``, drawn ``scale`` times as large."""
    left, top = shown[:2]

    def move(box: Rect) -> Rect:
        x0, y0, x1, y1 = (value / scale for value in box)
        return left + x0, top + y0, left + x1, top + y1

    grid = region.grid
    if grid is not None:
        grid = replace(grid, cells=tuple(replace(cell, box=move(cell.box)) for cell in grid.cells))
    return replace(region, box=move(region.box), grid=grid)


def _table_region(table: Any) -> Region | None:
    """Grid of a found table; None if the finder gave no cells."""
    placements = table.placements
    if not placements:
        return None
    cells: list[GridCell] = []
    taken: set[tuple[int, int]] = set()
    columns = 0
    for row, placed in enumerate(placements):
        col = 0
        for cell in placed:
            while (row, col) in taken:
                col += 1
            if cell.bbox is not None:
                x0, y0, x1, y1 = (float(value) for value in cell.bbox)
                cells.append(
                    GridCell(row, col, int(cell.rowspan), int(cell.colspan), (x0, y0, x1, y1), cell.tag == "th")
                )
            taken.update((row + i, col + j) for i in range(cell.rowspan) for j in range(cell.colspan))
            col += cell.colspan
            columns = max(columns, col)
    if not cells:
        return None
    x0, y0, x1, y1 = (float(value) for value in table.bbox)
    return Region("table", (x0, y0, x1, y1), Grid(len(placements), columns, tuple(cells)))


def _images(page: Any) -> Iterator[Any]:
    """Rectangles of the images of ``page``. A page-wide one is a background or a scan, and none of them."""
    for image in page.get_image_info():
        rect = pymupdf.Rect(image["bbox"]) & page.rect
        if abs(rect) <= 0.9 * abs(page.rect):
            yield rect


def _image_regions(page: Any, regions: Sequence[Region]) -> list[Region]:
    """Images that no region touches."""
    out: list[Region] = []
    for rect in (one for one in _images(page) if min(one.width, one.height) >= MIN_PICTURE):
        box = (float(rect.x0), float(rect.y0), float(rect.x1), float(rect.y1))
        if not any(rect.intersects(pymupdf.Rect(r.box)) for r in (*regions, *out)):
            out.append(Region("picture", box))
    return out


def _captioned(page: Any, regions: Sequence[Region]) -> list[Region]:
    """Pictures for captions that have neither picture nor table: the connected drawing just above one, else below."""
    shown = [region.box for region in regions if region.kind in ("picture", "table")]
    captions = [region.box for region in regions if region.kind == "caption"]
    bare = [box for box in captions if not any(_reaches(box, other) for other in shown)]
    if not bare:
        return []
    import cv2

    width, height = int(page.rect.width), int(page.rect.height)
    others = np.asarray([region.box for region in regions]).clip(0)
    logged = [box for kind, box in page.get_bboxlog() if not kind.endswith("-text")]
    drawn = np.asarray(logged, np.float64).reshape(-1, 4).clip(0, [width, height, width, height])
    centres = (drawn[:, :2] + drawn[:, 2:]) / 2
    ruling = ((others[:, None, :2] <= centres) & (centres <= others[:, None, 2:])).all(axis=2).any(axis=0)
    kept = ~ruling & ((drawn[:, 2:] - drawn[:, :2]).prod(axis=1) <= BACKGROUND * width * height)
    ink = np.zeros((height, width), np.uint8)
    for x0, y0, x1, y1 in drawn[kept].astype(int).tolist():
        ink[max(0, y0 - APART) : y1 + APART + 1, max(0, x0 - APART) : x1 + APART + 1] = 1
    for x0, y0, x1, y1 in others.astype(int).tolist():
        ink[y0 : y1 + 1, x0 : x1 + 1] = 0
    _count, _labels, stats, _centres = cv2.connectedComponentsWithStats(ink)
    boxes = [(x + APART, y + APART, x + w - APART, y + h - APART) for x, y, w, h in stats[1:, :4].tolist()]
    found = []
    for caption in bare:
        # Text beside the caption is another column's.
        beside = [region.box for region in regions if overlap(caption, region.box)[1] > 0]
        left = max((box[2] for box in beside if box[2] <= caption[0]), default=0.0)
        right = min((box[0] for box in beside if box[0] >= caption[2]), default=float(page.rect.width))
        middle = caption[1] + caption[3]
        own = [(max(x0, left), y0, min(x1, right), y1) for x0, y0, x1, y1 in boxes]
        above = [(x0, y0, x1, min(y1, caption[1])) for x0, y0, x1, y1 in own if y0 + y1 < middle]
        below = [(x0, max(y0, caption[3]), x1, y1) for x0, y0, x1, y1 in own if y0 + y1 >= middle]
        large = (box for box in above + below if min(box[2] - box[0], box[3] - box[1]) >= SMALLEST)
        near = (box for box in large if _reaches(caption, box))
        free = (box for box in near if not any(min(overlap(box, region.box)) > OVERLAP for region in regions))
        found += [Region("picture", box) for box in islice(free, 1)]
    return found


def _reaches(caption: Rect, other: Rect) -> bool:
    """Whether a caption is close above, below or beside another box."""
    wide, high = overlap(caption, other)
    return (wide > 0 and high >= -REACH) or (high > 0 and wide >= -REACH)
