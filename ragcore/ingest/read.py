"""MuPDF reader of pages: runs in the child process only (`worker`), never in the application.

The layout model and the table finder are called directly, `Page.get_layout` and `Page.find_tables`, as
``pymupdf4llm.to_json(..., table_output="html")`` does; that function repeats work over the whole file (outline, form
fields) on each call and extracts the text of every region a second time, which this module does not need.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

from ragcore.config.settings import OcrSettings
from ragcore.errors import DamagedPdf, NoPages, NotAPdf, PasswordRequired, WrongPassword
from ragcore.files import whole
from ragcore.ingest.detection import block_regions, find_regions, moved_right
from ragcore.ingest.layout import LINE_NUMBERS, WATERMARK, FileInfo, PageLayout, Rect, Region, empty_page, turned
from ragcore.ingest.noise import line_numbers, overprinted, without_gutter
from ragcore.ingest.ocr import OCR_OFF
from ragcore.ingest.regions import arrange, hull, reading_order
from ragcore.ingest.rulings import Drawn, rule_tables, rulings
from ragcore.ingest.unseen import without_inkless, without_unseen
from ragcore.ingest.words import WordColumns, mostly_right_to_left, read_words, writing_angle

PLAIN_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
TEXT_FLAGS = PLAIN_FLAGS | pymupdf.TEXT_COLLECT_VECTORS
NUDGE = 0.05  # pixels
_HEX_PREFIX = re.compile(r"<((?:[0-9A-Fa-f]{2})+)>")
_HEAD_BYTES = 1024  # a PDF's header may begin anywhere in the first KiB (ISO 32000-1, annex H)


class NeedsOcr(Exception):
    """Page without a usable text layer; the message continues "This page ..."."""


class Reader:
    """One open PDF. Raises ragcore's input errors if it cannot be opened."""

    def __init__(self, path: Path, password: str | None, name: str, ocr: dict[str, Any] | None = None) -> None:
        self.ocr = None if ocr is None else OcrSettings.model_validate(ocr)
        self._scanner: Any = None
        self.document, self.unlocked = _open(path, password, name)
        self.labels: tuple[str, ...] | None = None

    def close(self) -> None:
        """Close the file and release MuPDF's memory of it."""
        self.document.close()
        pymupdf.TOOLS.store_shrink(100)

    def info(self) -> FileInfo:
        document = self.document
        return FileInfo(
            pages=document.page_count,
            title=str((document.metadata or {}).get("title") or ""),
            labels=self._labels(),
            outline=tuple(
                (int(level), str(title), int(page))
                for level, title, page, *_rest in document.get_toc(simple=True)
                if 1 <= page <= document.page_count
            ),
            unlocked=self.unlocked,
            repaired=bool(document.is_repaired),
        )

    def _labels(self) -> tuple[str, ...]:
        if self.labels is None:
            document = self.document
            has_rules = bool(document.get_page_labels())
            pages = range(document.page_count) if has_rules else ()
            self.labels = tuple(_decoded(document[i].get_label()) for i in pages)
        return self.labels

    def page(self, number: int, *, plain: bool, ask: bool = True) -> PageLayout:
        """Page ``number`` (from 1). ``plain`` reads the text only, with MuPDF's text blocks as regions: no layout
        model, no table finder, no drawings. Raises `NeedsOcr` for a page that OCR should read, if ``ask``."""
        page = self.document.load_page(number - 1)
        blank = self._blank(page)
        # From here on the page has no rotation; that is the frame of MuPDF's text.
        page.set_rotation(0)
        try:
            return self._page(page, blank, plain, ask and not plain)
        finally:
            page.set_rotation(blank.rotation)

    def scan(self, number: int) -> PageLayout:
        """Page ``number`` by OCR, or by its text layer if OCR confirms it."""
        from ragcore.ingest.ocr.scan import Scanner, choose, own_text

        assert self.ocr is not None
        if self._scanner is None:
            self._scanner = Scanner(self.ocr)
        page = self.document.load_page(number - 1)
        found = self._scanner.read(page)
        text = own_text(page.get_textpage(flags=TEXT_FLAGS).extractRAWDICT())
        read = [] if found is None else found.words.texts
        confidence = float(found.confidence.mean()) if found is not None and read else 0.0
        keep, problem = choose(text, read, confidence, self.ocr.mode)
        if keep:
            return replace(own := self.page(number, plain=False, ask=False), degraded=problem or own.degraded)
        blank = self._blank(page)
        if found is None:
            return blank
        laid = self._lay_out(found.sheet, blank, False, 0, found.words, found.boxes, found.rules)
        return replace(laid, turn=found.turn, confidence=found.confidence)

    def _blank(self, page: Any) -> PageLayout:
        """Page without words."""
        number, labels = page.number + 1, self._labels()
        label = (labels[number - 1] if labels else "") or str(number)
        return empty_page(number, label, float(page.rect.width), float(page.rect.height), int(page.rotation), None)

    def _page(self, page: Any, blank: PageLayout, plain: bool, ask: bool) -> PageLayout:
        raw = page.get_textpage(flags=PLAIN_FLAGS if plain else TEXT_FLAGS).extractRAWDICT()
        raw = without_inkless(raw) if plain else without_unseen(page, raw)
        angle = writing_angle(raw)
        if angle is None:
            angle = (360 - blank.rotation) % 360
        frame = (float(page.rect.width), float(page.rect.height))
        words, boxes = _upright(read_words(raw, angle), (360 - angle) % 360, frame)
        unread: str | None = None
        if ask and self.ocr is not None:
            from ragcore.ingest.ocr.scan import left_out, measure, suspicion

            cover = measure(page, raw)
            why = suspicion(page, raw, len(words.texts), self.ocr.mode, cover)
            if why is not None and self.ocr.mode != "off":
                raise NeedsOcr(why)
            unread = left_out(cover) if why is None else f"this page {why}; {OCR_OFF}"
        vectors = [block for block in raw["blocks"] if block["type"] == 3]
        layout = self._lay_out(page, blank, plain, angle, words, boxes, len(vectors))
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
        boxes: NDArray[np.float32],
        vectors: int,
    ) -> PageLayout:
        """``blank`` with the layout of ``page``, whose text is turned clockwise by ``angle``; ``words`` and ``boxes``
        are upright, ``vectors`` counts the drawings."""
        frame = (float(page.rect.width), float(page.rect.height))
        upright_frame = frame if angle in (0, 180) else (frame[1], frame[0])
        lines, sizes = np.asarray(words.lines, dtype=np.int32), np.asarray(words.sizes, dtype=np.float32)
        blocks = np.asarray(words.blocks, dtype=np.int32)
        numbers = line_numbers(words.texts, boxes, upright_frame[0])
        problem: str | None = None
        order: Callable[[list[Region]], list[Region]] = list
        if plain:
            regions = block_regions(boxes, blocks)
        else:
            shown = without_gutter(boxes, numbers, upright_frame)
            found, problem = find_regions(self._sheet(page, angle, shown, upright_frame), len(boxes), vectors)
            regions = [moved_right(region, shown[0]) for region in found]
            order = partial(reading_order, right_to_left=mostly_right_to_left(words.texts))

        across = np.setdiff1d(overprinted(boxes, sizes), numbers)
        text = np.setdiff1d(np.arange(len(boxes)), np.concatenate([numbers, across]))
        owners = np.empty(len(boxes), dtype=np.int32)
        ordered, owners[text] = arrange(boxes[text], lines[text], blocks[text], regions, order)
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

    def _sheet(self, page: Any, angle: int, shown: Rect, frame: tuple[float, float]) -> Any:
        """Part ``shown`` of the upright frame as the layout model expects it, text upright: the page itself, or drawn
        onto a fresh one (`Page.remove_rotation` would lose the crop box)."""
        if angle == 0 and shown == (0.0, 0.0, *frame):
            return page
        x0, y0, x1, y1 = shown
        self._drawn = pymupdf.open()
        sheet = self._drawn.new_page(width=x1 - x0, height=y1 - y0)
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
        looks_like_pdf = b"%PDF-" in file.read(_HEAD_BYTES)
    try:
        document = pymupdf.open(str(path), filetype="pdf")
    except (pymupdf.FileDataError, pymupdf.EmptyFileError, RuntimeError, ValueError) as error:
        if looks_like_pdf:
            reason = _one_line(error).replace(str(path), name)
            raise DamagedPdf(f"{name} is too damaged to open ({reason}).") from error
        raise NotAPdf(f"{name} is not a PDF.") from error
    if not document.is_pdf:
        raise NotAPdf(f"{name} is not a PDF.")
    unlocked = False
    if document.needs_pass:
        if password is None:
            raise PasswordRequired(f"{name} needs a password.")
        if not document.authenticate(password):
            raise WrongPassword(f"Wrong password for {name}.")
        unlocked = True
    if document.page_count < 1:
        if not looks_like_pdf:
            raise NotAPdf(f"{name} is not a PDF.")
        if document.is_repaired:
            raise DamagedPdf(f"{name} is too damaged to open (no page can be found).")
        raise NoPages(f"{name} has no pages.")
    return document, unlocked


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__


def _upright(words: WordColumns, angle: int, frame: tuple[float, float]) -> tuple[WordColumns, NDArray[np.float32]]:
    """Words on the page, and their boxes after the frame is turned clockwise by ``angle``, cut at the page's edge."""
    width, height = frame
    given = words.box_array()
    cut = given.clip(0, [width, height, width, height])
    chosen = np.flatnonzero((cut[:, 2] > cut[:, 0]) & (cut[:, 3] > cut[:, 1])).tolist()
    kept = words.chosen(chosen)
    kept.boxes = [turned(tuple(cut[i].tolist()), angle, width, height) for i in chosen]
    return kept, kept.box_array()
