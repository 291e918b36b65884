"""OCR lines: a recognised line → words with boxes that fit the print.

rapidocr's own word boxes are not used. They are as coarse as the recogniser's columns (an eighth of a line's height
each), are not cut at the ink, and carry the confidence of another character after the first blank of a line. Here a
word begins and ends at the ink between two columns, and its height comes from the line's baseline and size, as in
`words` for a text layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.words import ASCENT, DESCENT, UNSPACED, clean_char

WIDE = 0.8  # of the size: a gap this wide separates two words even if the recogniser gave no blank
SAME_SIZE = 0.1  # lines whose sizes differ by less get their common size
_CAPITAL: Final = 0.72  # heights in shares of the font size: capitals, digits and ascenders
_SMALL: Final = 0.50  # small letters without ascender
_DEEP: Final = 0.21  # descenders, brackets
_COMMA: Final = 0.15
_IDEOGRAPH: Final = (0.85, 0.07)  # above and below the baseline
_UNSEEN = frozenset(("", " ", "\u00ad"))
_ASCENDERS = frozenset("bdfhijklt()[]{}|/\\%$&#@!?\"'“”‘’*")
_DESCENDERS = frozenset("gjpqyQ()[]{}|/\\$@ç")
_FLAT = frozenset("-–—_.,:;·•…=~^`'\"“”‘’*+<>")

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class OcrWord:
    """Word on a picture. ``box`` and ``size`` (font size) in pixels of the upright picture; ``confidence`` 0–1;
    ``line`` counts the printed lines; ``glued``: no blank precedes it; ``sideways``: it is turned against the page."""

    text: str
    confidence: float
    box: tuple[float, float, float, float]
    size: float
    line: int
    glued: bool = False
    sideways: bool = False


@dataclass(frozen=True, slots=True)
class ReadLine:
    """Line as recognised: characters, the centre of each across the crop (share of its width, nan for a blank) and its
    confidence; ``score`` is the mean."""

    text: str
    centres: tuple[float, ...]
    confidences: tuple[float, ...]
    score: float


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """Recognised line with its place: ``quad`` has the corners in reading order (the line's own top left first),
    ``ink`` marks print in its upright crop; ``baseline`` is a row of the crop, ``size`` the font size in pixels."""

    quad: NDArray[np.float32]
    read: ReadLine
    ink: Mask
    sideways: bool
    baseline: float
    size: float


def measure(ink: Mask, text: str) -> tuple[float, float]:
    """Baseline (row of the crop) and font size in pixels, from the height of the print and the letters in the line. The
    size is nan if the letters give no height (dashes, dots)."""
    top, bottom = _band(ink)
    letters = set(text) - {" "}
    if not letters - _FLAT or bottom - top < 2:
        middle = (top + bottom) / 2
        return middle + 0.25 * len(ink), float("nan")
    if any(UNSPACED.match(c) for c in letters):
        size = (bottom - top) / sum(_IDEOGRAPH)
        return bottom - _IDEOGRAPH[1] * size, size
    below = _DEEP if letters & _DESCENDERS else _COMMA if letters & {",", ";"} else 0.0
    tall = any(c.isupper() or c.isdigit() or c in _ASCENDERS or ord(c) > 0x2000 for c in letters)
    size = (bottom - top) / ((_CAPITAL if tall else _SMALL) + below)
    return bottom - below * size, size


def _band(ink: Mask) -> tuple[int, int]:
    """First and last row (exclusive) of the run of printed rows that holds the fullest one. Gaps of a tenth of the
    height (the dot of an i) do not end it; print that extends into the crop from neighbouring lines is left out."""
    rows = ink.sum(axis=1)
    if not rows.any():
        return 0, len(rows)
    gap = max(1, len(rows) // 10)
    printed = np.pad(rows > 0, gap).astype(np.uint8)
    joined = cv2.morphologyEx(printed, cv2.MORPH_CLOSE, np.ones((gap + 1, 1), np.uint8)).ravel()[gap:-gap]
    fullest = int(rows.argmax())
    return next((top, bottom) for top, bottom in _runs(joined > 0) if top <= fullest < bottom)


def _runs(values: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last index (exclusive) of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], values, [False]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def settled(lines: Sequence[PlacedLine]) -> list[PlacedLine]:
    """Lines with harmonised sizes: each gets the median (by characters) of the lines of nearly its own size."""
    every = np.repeat([line.size for line in lines], [len(line.read.text) for line in lines])
    known = every[~np.isnan(every)]
    out: list[PlacedLine] = []
    for line in lines:
        size = line.size
        if np.isnan(size):
            size = float(np.median(known)) if len(known) else 0.7 * len(line.ink)
        near = known[np.abs(known - size) <= SAME_SIZE * size]
        out.append(replace(line, size=float(np.median(near)) if len(near) else size))
    return out


def line_words(line: PlacedLine, number: int) -> list[OcrWord]:
    """Words of a line; a character of a script without blanks is a word of its own, glued to the previous one."""
    height, width = line.ink.shape
    corners = np.asarray([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(corners, np.ascontiguousarray(line.quad, np.float32))
    top, bottom = line.baseline - ASCENT * line.size, line.baseline + DESCENT * line.size
    out: list[OcrWord] = []
    for text, confidence, left, right, glued in _pieces(line):
        corners = np.asarray([[[left, top], [right, top], [right, bottom], [left, bottom]]], np.float32)
        place = cv2.perspectiveTransform(corners, matrix)[0]
        (x0, y0), (x1, y1) = place.min(0).tolist(), place.max(0).tolist()
        out.append(OcrWord(text, confidence, (x0, y0, x1, y1), line.size, number, glued, line.sideways))
    return out


def _pieces(line: PlacedLine) -> list[tuple[str, float, float, float, bool]]:
    """Words of a line as (text, confidence, left, right, glued); left and right are columns of the crop.

    Neighbouring words are separated at the widest stretch without print between the centres of their last and first
    letters.
    """
    read = line.read
    columns: Mask = np.asarray(line.ink.any(axis=0))
    width = len(columns)
    chosen = [k for k, char in enumerate(read.text) if not char.isspace() and clean_char(char) not in _UNSEEN]
    if not chosen:
        return []
    cuts: list[tuple[int, float, float, bool]] = []  # index in chosen, end of one word, start of the next, glued
    for place in range(1, len(chosen)):
        k, before = chosen[place], chosen[place - 1]
        start, end = _gap(columns, read.centres[before] * width, read.centres[k] * width)
        blank = k - before > 1 or end - start > WIDE * line.size
        unspaced = UNSPACED.match(read.text[k]) is not None or UNSPACED.match(read.text[before]) is not None
        if blank or unspaced:
            cuts.append((place, start, end, not blank))
    printed = np.flatnonzero(columns)
    first = float(printed[0]) if len(printed) else 0.0
    last = float(printed[-1] + 1) if len(printed) else float(width)
    bounds = [(0, 0.0, first, False), *cuts, (len(chosen), last, float(width), False)]
    out: list[tuple[str, float, float, float, bool]] = []
    for (begin, _end, left, glued), (stop, right, _start, _glued) in pairwise(bounds):
        members = chosen[begin:stop]
        text = "".join(clean_char(read.text[k]) for k in members)
        confidence = sum(read.confidences[k] for k in members) / len(members)
        # A word has a minimal width even if its letters' ink is indistinguishable from its neighbours'.
        out.append((text, confidence, min(left, right - 1), max(right, left + 1), glued))
    return out


def _gap(columns: Mask, left: float, right: float) -> tuple[float, float]:
    """Widest stretch without print between two columns; the midpoint if there is none."""
    start = max(0, int(left))
    middle = (left + right) / 2 - start
    first, last = max(
        _runs(~columns[start : int(right) + 1]), key=lambda run: run[1] - run[0], default=(middle, middle)
    )
    return float(start + first), float(start + last)
