"""Characters as MuPDF gives them → words with boxes that fit the line.

Font boxes are often far taller than the line (a 14 pt font can give 19 pt), so that a box would swallow words of the
lines around it. Here the vertical extent of a word comes from its baseline and size.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.layout import BOLD, GLUED, ITALIC, MONO, SIDEWAYS, SOFT_HYPHEN, SUPERSCRIPT

ASCENT = 0.80  # of the font size, above the baseline: covers capitals and most accents
DESCENT = 0.22  # below it
_ANGLES = {(1.0, 0.0): 0, (0.0, 1.0): 90, (-1.0, 0.0): 180, (0.0, -1.0): 270}
_SOFT = "\u00ad"
_BOLD_NAME = re.compile(r"bold|black|heavy|semibold|demi", re.IGNORECASE)
# Bullets that symbol fonts put into the private use area.
_PRIVATE = {
    "\uf0b7": "•",
    "\uf0a7": "▪",
    "\uf0a8": "▫",
    "\uf0d8": "➢",
    "\uf0fc": "✓",
    "\uf02d": "-",
    "\uf06c": "●",
    "\uf06e": "■",
}
# Scripts written without blanks between words: each character is a place of its own.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u31f0-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff01-\uff60\U00020000-\U0003134f]"
)


@dataclass
class WordColumns:
    """Words of one page, in MuPDF's order, as growing columns (see `PageLayout`). ``blocks`` is the number of the
    MuPDF text block of each word."""

    texts: list[str] = field(default_factory=list)
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)

    def box_array(self) -> NDArray[np.float32]:
        return np.asarray(self.boxes, dtype=np.float32).reshape(-1, 4)


@lru_cache(maxsize=4096)
def clean_char(char: str) -> str:
    """The characters that stand in the text for one printed character: "" for what has no ink, " " for a blank.

    Ligatures and presentation forms are taken apart (NFKC); other compatibility characters (², ½, ™) keep their
    meaning and stay.
    """
    if char in _PRIVATE:
        return _PRIVATE[char]
    if char == _SOFT:
        return _SOFT
    if char.isspace() or unicodedata.category(char) == "Zs":
        return " "
    category = unicodedata.category(char)
    if category in ("Cc", "Cf"):
        # Zero-width joiners carry meaning in Arabic and Indic scripts; the rest is invisible.
        return char if char in "\u200c\u200d" else ""
    if category == "Cs":
        return "\ufffd"
    code = ord(char)
    if 0xFB00 <= code <= 0xFB4F or 0xFB50 <= code <= 0xFDFF or 0xFE70 <= code <= 0xFEFC:
        return unicodedata.normalize("NFKC", char)
    return char


def writing_angle(raw: Mapping[str, Any]) -> int | None:
    """The clockwise angle (0, 90, 180, 270) by which most characters of ``rawdict`` are turned; None without text."""
    counts: Counter[int] = Counter()
    for block in raw["blocks"]:
        if block["type"] == 0:
            for line in block["lines"]:
                angle = _angle(line)
                if angle is not None:
                    counts[angle] += sum(len(span["chars"]) for span in line["spans"])
    return counts.most_common(1)[0][0] if counts else None


def _angle(line: Mapping[str, Any]) -> int | None:
    """The line's clockwise angle; 0 for vertical writing modes, None when it is along no axis."""
    if line["wmode"]:
        return 0
    return _ANGLES.get((round(line["dir"][0], 1), round(line["dir"][1], 1)))


def read_words(raw: Mapping[str, Any], upright: int = 0) -> WordColumns:
    """Words of MuPDF's ``rawdict`` (coordinates as given there), split at blanks and line ends.

    Lines that are not turned by ``upright`` degrees are SIDEWAYS. A word of a script without blanks becomes one entry
    per character, glued to the one before.
    """
    out = WordColumns()
    line_number = -1
    for block_number, block in enumerate(raw["blocks"]):
        if block["type"] != 0:
            continue
        for line in block["lines"]:
            line_number += 1
            turned = 0 if _angle(line) == upright else SIDEWAYS
            _read_line(line, line_number, block_number, turned, out)
    return out


class _Word:
    __slots__ = ("flags", "sizes", "text", "x0", "x1", "y0", "y1")

    def __init__(self) -> None:
        self.text: list[str] = []
        self.sizes: list[float] = []
        self.flags = 0xFF
        self.x0 = self.y0 = float("inf")
        self.x1 = self.y1 = float("-inf")


def _read_line(line: Mapping[str, Any], line_number: int, block_number: int, turned: int, out: WordColumns) -> None:
    dx, dy = line["dir"]
    across = (round(dx), round(dy)) if not line["wmode"] and max(abs(dx), abs(dy)) > 0.999 else (0, 0)
    word: _Word | None = None
    glued = False

    def close() -> None:
        nonlocal word, glued
        if word is None:
            return
        text = unicodedata.normalize("NFC", "".join(word.text))
        soft = SOFT_HYPHEN if text.endswith(_SOFT) else 0
        text = text.replace(_SOFT, "")
        if text and word.x1 >= word.x0:
            size = max(word.sizes)
            pad = 0.05 * size if word.x1 - word.x0 < 0.1 else 0.0
            lift = 0.05 * size if word.y1 - word.y0 < 0.1 else 0.0
            out.texts.append(text)
            out.boxes.append((word.x0 - pad, word.y0 - lift, word.x1 + pad, word.y1 + lift))
            out.sizes.append(size)
            out.lines.append(line_number)
            out.flags.append((word.flags & 0x0F) | turned | soft | (GLUED if glued else 0))
            out.blocks.append(block_number)
        word = None
        glued = False

    for span in line["spans"]:
        size = float(span["size"])
        style = _style(int(span["flags"]), str(span["font"]))
        for char in span["chars"]:
            piece = clean_char(char["c"])
            if piece == " ":
                close()
                continue
            if not piece:
                continue
            unspaced = _UNSPACED.match(piece) is not None
            if word is not None and (unspaced or _UNSPACED.match(word.text[-1]) is not None):
                combining = unicodedata.category(piece[0]) in ("Mn", "Mc", "Lm")
                if not combining:
                    close()
                    glued = True
            if word is None:
                word = _Word()
            word.text.append(piece)
            word.sizes.append(size)
            word.flags &= style
            x0, y0, x1, y1 = _char_box(char, size, across)
            word.x0, word.y0 = min(word.x0, x0), min(word.y0, y0)
            word.x1, word.y1 = max(word.x1, x1), max(word.y1, y1)
    close()


def _char_box(char: Mapping[str, Any], size: float, across: tuple[int, int]) -> tuple[float, float, float, float]:
    """The character's box with its extent across the line set by baseline and size. ``across`` is the writing
    direction where it is along an axis, else (0, 0): then, and where the font's own height shows that its size says
    nothing (Type 3 fonts of size 1), the box stays as given."""
    x0, y0, x1, y1 = char["bbox"]
    ox, oy = char["origin"]
    dx, dy = across
    if (dx, dy) == (0, 0):
        return x0, y0, x1, y1
    height = (y1 - y0) if dx else (x1 - x0)
    if not 0.4 * size <= height <= 3.0 * size:
        return x0, y0, x1, y1
    if dx:
        top, bottom = (ASCENT, DESCENT) if dx > 0 else (DESCENT, ASCENT)
        return x0, oy - top * size, x1, oy + bottom * size
    # Upward text (0, -1) has its ascent to the left, downward text to the right.
    left, right = (ASCENT, DESCENT) if dy < 0 else (DESCENT, ASCENT)
    return ox - left * size, y0, ox + right * size, y1


@lru_cache(maxsize=1024)
def _style(flags: int, font: str) -> int:
    style = 0
    if flags & 16 or _BOLD_NAME.search(font):
        style |= BOLD
    if flags & 2:
        style |= ITALIC
    if flags & 1:
        style |= SUPERSCRIPT
    if flags & 8:
        style |= MONO
    return style
