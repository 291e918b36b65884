"""OCR scan: selection of pages for OCR, the coverage of their text layer, their picture, and the sheet for the layout
model. Runs in the child process only.

Lines of print are found without reading them: pixels that differ from the paper are joined along the line, and runs are
kept if they are as flat, as full and as divided into strokes as a line of letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from ragcore.ingest.layout import SIDEWAYS, Rect, area
from ragcore.ingest.legible import agree, garbled
from ragcore.ingest.ocr import WITH_FORCE
from ragcore.ingest.ocr.engine import Image, Mask, OcrEngine
from ragcore.ingest.unseen import spans_of
from ragcore.ingest.words import ASCENT, UNSPACED, WordColumns

FEW_WORDS = 20  # words; a page-wide picture with at most this many beside it is a scan, whatever it shows
FEW_MORE = 5  # OCR must find twice such a page's words, and this many more, to replace them
TRUST = 0.7  # mean confidence below which OCR does not replace a text layer
PAGE_WIDE = 0.5  # of the page: least size of a picture that may be its scan
DPI = 150  # of the picture that is read, or less if it has more than MOST_PIXELS
MOST_PIXELS = 8_000_000
PROBE_DPI = 50
MIN_INK = 0.0002  # of the pixels at PROBE_DPI: a page with less is blank
CONTRAST = 40  # grey levels by which print differs from the paper
MARGIN = 0.02  # of the page at each edge, where scanners leave marks
RULE = 24.0  # points: a straight stroke at least this long and at most RULE_WIDTH wide is a rule, not a letter
RULE_WIDTH = 3.0
_LATIN: Final = "helv"

Pixels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Scan:
    """OCR result of a page, in points of its upright frame: words and their confidences (percent); the frame turned
    clockwise by ``turn`` is the page as displayed. ``sheet`` is a separate page of that frame with the words as text,
    the rules as lines and the picture above them; ``document`` keeps it alive."""

    words: WordColumns
    confidence: NDArray[np.uint8]
    turn: int
    document: Any
    sheet: Any
    rules: int


def read_scan(page: Any, engine: OcrEngine) -> Scan:
    """OCR result of ``page`` (as displayed)."""
    width, height = float(page.rect.width), float(page.rect.height)
    pixels, zoom = _pixels(page, DPI, MOST_PIXELS, pymupdf.csRGB)
    picture = np.ascontiguousarray(pixels[:, :, ::-1])
    ink, rules = _print(picture, zoom)
    words, confidence, turn = engine.read(picture, ink, zoom)
    if turn:
        picture = np.ascontiguousarray(np.rot90(picture, turn // 90))
        _ink, rules = _print(picture, zoom)
    frame = (width, height) if turn in (0, 180) else (height, width)
    document, sheet = _sheet(words, rules, picture, zoom, frame)
    return Scan(words, confidence, turn, document, sheet, len(rules))


def suspicion(page: Any, raw: Mapping[str, Any], words: int, mode: str, cover: Cover) -> str | None:
    """Reason to read ``page`` by OCR, in words that continue "This page ..."; None if its text layer is usable or it
    shows nothing. ``raw`` is its MuPDF ``rawdict``, ``words`` the number of words from it and ``cover`` their coverage
    of its pictures."""
    if mode == "force":
        return None if is_blank(page) else "is always read by OCR (ocr.mode)"
    if not words:
        return None if is_blank(page) else "has no text of its own"
    if words <= FEW_WORDS and cover.pictures > PAGE_WIDE:
        return "is a picture with hardly any text"
    if cover.pictures > PAGE_WIDE and cover.mostly_unread:
        return "is a picture, and most of its print isn't in the text"
    why = garbled(own_text(raw))
    return None if why is None else f"has a broken text layer ({why})"


def left_out(cover: Cover) -> str | None:
    """Notice for a page read by its text layer although its pictures hold more print."""
    if not cover.mostly_unread:
        return None
    return f"{cover.lines} lines of print in pictures on this page weren't read; set {WITH_FORCE} to read them by OCR"


def choose(text: str, read: Sequence[str], confidence: float, mode: str) -> tuple[bool, str | None]:
    """Whether the text layer (``text``, see `own_text`) is kept against the words that OCR ``read`` with mean
    ``confidence`` (percent); and the notice for that case."""
    own = sum(any(char.isalnum() for char in word) for word in text.split())
    why = garbled(text)
    if mode == "force" or (not own and why is None):
        return False, None
    if why is None:
        return len(read) < 2 * own + FEW_MORE, None
    if not read or confidence < 100 * TRUST:
        return True, f"this page has a broken text layer ({why}), and OCR couldn't read it"
    return agree(text, " ".join(read)), None


def own_text(raw: Mapping[str, Any]) -> str:
    """Characters of a ``rawdict`` as they are in the file, a line for each span."""
    return "\n".join("".join(char["c"] for char in span["chars"]) for _, span in spans_of(raw))


def is_blank(page: Any) -> bool:
    """Whether nothing is printed on the page: its picture at `PROBE_DPI` shows only paper."""
    grey, _zoom = _grey(page, PROBE_DPI, 1_000_000)
    down, across = int(grey.shape[0] * MARGIN), int(grey.shape[1] * MARGIN)
    inner = grey[down : grey.shape[0] - down, across : grey.shape[1] - across].astype(np.int16)
    return bool((np.abs(inner - np.median(inner)) > CONTRAST).mean() < MIN_INK)


def _pixels(page: Any, dpi: float, most: int, colours: Any) -> tuple[Pixels, float]:
    """Picture of the page at ``dpi``, or as large as ``most`` pixels allow; and its pixels per point."""
    zoom = min(dpi / 72, (most / max(1.0, abs(page.rect))) ** 0.5)
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=colours, alpha=False)
    return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, -1), zoom


def _grey(page: Any, dpi: float, most: int) -> tuple[Pixels, float]:
    pixels, zoom = _pixels(page, dpi, most, pymupdf.csGRAY)
    return pixels[:, :, 0], zoom


def _contrast(grey: Pixels) -> Pixels:
    """Difference of each pixel from the paper around it, in grey levels."""
    height, width = grey.shape
    paper = cv2.resize(grey, (max(1, width // 8), max(1, height // 8)), interpolation=cv2.INTER_AREA)
    paper = cv2.resize(cv2.medianBlur(paper, 21), (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.absdiff(grey, paper), np.uint8)


def _print(picture: Image, zoom: float) -> tuple[Mask, list[Rect]]:
    """Printed pixels without rules; and the rules, as rectangles in points."""
    contrast = _contrast(np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), np.uint8))
    found = contrast[contrast > CONTRAST]
    # A letter ends half-way between paper and print, since the picture is smooth.
    edge = max(CONTRAST, 0.5 * float(found.mean())) if found.size else CONTRAST
    dark = (contrast > edge).astype(np.uint8)
    length = max(3, round(RULE * zoom))
    rules: list[Rect] = []
    ruled = np.zeros_like(dark)
    for kernel, across in ((np.ones((1, length), np.uint8), True), (np.ones((length, 1), np.uint8), False)):
        strokes = cv2.morphologyEx(dark, cv2.MORPH_OPEN, kernel)
        count, labels, stats, _centres = cv2.connectedComponentsWithStats(strokes)
        thin = stats[:, cv2.CC_STAT_HEIGHT if across else cv2.CC_STAT_WIDTH] <= max(2.0, RULE_WIDTH * zoom)
        thin[0] = False
        ruled |= thin[labels].astype(np.uint8)
        for x, y, w, h in stats[:count][thin, :4].tolist():
            rules.append((x / zoom, y / zoom, (x + w) / zoom, (y + h) / zoom))
    wiped = cv2.dilate(ruled, np.ones((3, 3), np.uint8))
    return np.asarray((dark > 0) & (wiped == 0)), rules


def _sheet(
    words: WordColumns,
    rules: Sequence[Rect],
    picture: Image,
    zoom: float,
    frame: tuple[float, float],
) -> tuple[Any, Any]:
    """Page for the layout model and the table finder. They use text, lines and the page's picture, so it has all three;
    the picture is on top, since it hides the text under it."""
    document = pymupdf.open()
    sheet = document.new_page(width=frame[0], height=frame[1])
    fonts = {True: pymupdf.Font(_LATIN), False: pymupdf.Font("cjk")}
    writer = pymupdf.TextWriter(sheet.rect)
    for text, (x0, y0, x1, y1), size, flags in zip(words.texts, words.boxes, words.sizes, words.flags):
        if flags & SIDEWAYS:
            continue
        font = fonts[not any(UNSPACED.match(char) or not fonts[True].has_glyph(ord(char)) for char in text)]
        widths = [font.text_length(char, fontsize=size) for char in text]
        stretch = (x1 - x0) / (sum(widths) or 1.0)
        x, baseline = x0, y0 + (y1 - y0) * ASCENT / 1.02
        for char, width in zip(text, widths):
            writer.append((x, baseline), char, font=font, fontsize=size)
            x += width * stretch
    if words.texts:
        writer.write_text(sheet)
    if rules:
        shape = sheet.new_shape()
        for x0, y0, x1, y1 in rules:
            shape.draw_rect(pymupdf.Rect(x0, y0, x1, y1))
        shape.finish(fill=(0, 0, 0), width=0)
        shape.commit()
    height, width_px = picture.shape[:2]
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, width_px, height, np.ascontiguousarray(picture[:, :, ::-1]).tobytes(), False)
    sheet.insert_image(pymupdf.Rect(0, 0, width_px / zoom, height / zoom), pixmap=pixmap)
    return document, sheet


LINE_DPI = 100
MAX_PIXELS = 2_000_000
SOME_PICTURE = 0.15  # of the page: pages with a smaller total area of pictures are not checked
JOIN = 5.0  # points between letters and words of a line
HEIGHTS = (4.0, 30.0)  # points
FLAT = 3.0  # a line is at least this many times as wide as it is high
FULL = 0.4  # of its box, once letters and words are joined
COVERED = 0.3  # of a line's box under letters of the text layer: the text has this line
LINES = 5  # uncovered lines from which a picture counts as one with words


@dataclass(frozen=True, slots=True)
class Cover:
    """Coverage of a page's pictures. ``pictures``: share (0–1) of the page under pictures; ``unread``: share of the
    length of all its lines of print that are in pictures and in no text; ``lines``: number of those lines."""

    pictures: float
    unread: float
    lines: int

    @property
    def mostly_unread(self) -> bool:
        return self.lines >= LINES and self.unread > 0.5


def measure(page: Any, raw: Mapping[str, Any]) -> Cover:
    """Coverage of the page's pictures by the characters of ``raw`` (MuPDF's ``rawdict``, visible or not)."""
    boxes = [tuple(pymupdf.Rect(image["bbox"]) & page.rect) for image in page.get_image_info()]
    if sum(map(area, boxes)) < SOME_PICTURE * abs(page.rect):
        return Cover(0.0, 0.0, 0)
    grey, zoom = _grey(page, LINE_DPI, MAX_PIXELS)
    print_ = (_contrast(grey) > CONTRAST).astype(np.uint8)
    pictures = _filled(boxes, grey.shape, zoom)
    # Letter by letter: the box of a whole slanted line would cover half of the page.
    shown = (char["bbox"] for _, span in spans_of(raw) for char in span["chars"] if not char["c"].isspace())
    letters = _filled(shown, grey.shape, zoom)
    text = np.asarray(cv2.dilate(letters, np.ones((3, max(3, round(JOIN * zoom))), np.uint8)), np.uint8)
    # A scan may lie on its side: the direction with the greater total length of lines counts.
    ways = (_unread(print_, pictures, text, zoom), _unread(print_.T, pictures.T, text.T, zoom))
    length, unread, lines = max(ways)
    return Cover(float(pictures.mean()), unread / length if length else 0.0, lines)


def _unread(print_: Pixels, pictures: Pixels, text: Pixels, zoom: float) -> tuple[int, int, int]:
    """Length in pixels of the lines across, of those in pictures and in no text, and the number of the latter."""
    length = unread = lines = 0
    for x, y, w, h in _lines(np.ascontiguousarray(print_), zoom):
        place = (slice(y, y + h), slice(x, x + w))
        length += w
        if pictures[place].mean() > 0.5 and text[place].mean() <= COVERED:
            unread += w
            lines += 1
    return length, unread, lines


def _lines(print_: Pixels, zoom: float) -> list[tuple[int, int, int, int]]:
    """Lines of print across: left, top, width and height in pixels."""
    joined = cv2.morphologyEx(print_, cv2.MORPH_CLOSE, np.ones((1, max(3, round(JOIN * zoom))), np.uint8))
    count, labels, stats, _centres = cv2.connectedComponentsWithStats(joined)
    width, height, filled = (stats[:, i] for i in (cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT, cv2.CC_STAT_AREA))
    # Every stroke, or group of touching letters, belongs to the run that has its first pixel.
    strokes, parts = cv2.connectedComponents(print_)
    first = np.unique(parts, return_index=True)[1][1:] if strokes > 1 else np.empty(0, np.intp)
    inside = np.bincount(labels.ravel()[first], minlength=count)
    flat = (height >= HEIGHTS[0] * zoom) & (height <= HEIGHTS[1] * zoom) & (width >= FLAT * height)
    kept = flat & (filled >= FULL * width * height) & (inside * height >= width)
    kept[0] = False
    return [(int(x), int(y), int(w), int(h)) for x, y, w, h in stats[kept, :4]]


def _filled(boxes: Iterable[Rect], shape: tuple[int, ...], zoom: float) -> Pixels:
    """Mask: 1 under ``boxes`` (points)."""
    mask = np.zeros(shape, np.uint8)
    for box in boxes:
        x0, y0, x1, y1 = (max(0, round(value * zoom)) for value in box)
        mask[y0 : y1 + 1, x0 : x1 + 1] = 1
    return mask
