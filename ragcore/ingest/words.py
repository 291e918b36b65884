"""Word reader: MuPDF's characters → words with boxes that fit the line.

Font boxes are often far taller than the line (a 14 pt font can give 19 pt) and would include words of neighbouring
lines. Here the vertical extent of a word comes from its baseline and size.

NFC over whole words puts accents onto their letters. Beyond that a character is replaced only by one with the same
meaning: ligatures and presentation forms (NFKC), full-width Latin letters and digits, the letters of formulas (𝑥),
Kangxi radicals that fonts map ideographs to, punctuation of Windows-1252 encoded as control characters, and the bullets
of symbol fonts. Characters whose meaning NFKC would change stay: ² (x² is not x2), ½, ①, ㎡, ™.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache, reduce
from itertools import pairwise
from operator import and_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.layout import BOLD, GLUED, ITALIC, MONO, SIDEWAYS, SOFT_HYPHEN, SUPERSCRIPT, Rect, around

ASCENT = 0.80  # of the font size, above the baseline: covers capitals and most accents
DESCENT = 0.22  # below it
_ANGLES = {(1.0, 0.0): 0, (0.0, 1.0): 90, (-1.0, 0.0): 180, (0.0, -1.0): 270}
_BOLD_NAMES = ("bold", "black", "heavy", "demi", "-bd", "_bd", "-blk", "_blk", "-hv", "_hv")  # in a font's name
_BOLD_TEX = ("cmb", "sfbx", "cmssbx")  # at the beginning of it, behind the tag of a subset
SMALLER, LIFTED = 0.85, 0.12  # of the previous font size: a superscript's greatest size and least rise
_SHADOW = 10  # words between a word and its shadow, at most
_SMALL_CAPITALS = (0.65, 0.92)  # of the capital's font size
_TOUCHING = 0.05  # of the font size: the distance between letters of a word, at most
_BLANK = 0.4  # of the font size: a blank's greatest width
SAME_PLACE = 0.12  # of the font size: a repeated word this near is fake bold
# Scripts without blanks between words: each character is a word with its own place.
UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u31f0-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff01-\uff60\U00020000-\U0003134f]"
)


@dataclass
class WordColumns:
    """Words of one page, in MuPDF's order, as growing columns (see `PageLayout`). ``blocks`` is the number of each
    word's MuPDF text block."""

    texts: list[str] = field(default_factory=list)
    boxes: list[Rect] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)

    def add(self, text: str, box: Rect, size: float, line: int, flags: int, block: int) -> None:
        self.texts.append(text)
        self.boxes.append(box)
        self.sizes.append(size)
        self.lines.append(line)
        self.flags.append(flags)
        self.blocks.append(block)

    def chosen(self, kept: Sequence[int]) -> WordColumns:
        """The words with these indices."""
        return WordColumns(*([getattr(self, column.name)[i] for i in kept] for column in fields(self)))

    def box_array(self) -> NDArray[np.float32]:
        return np.asarray(self.boxes, dtype=np.float32).reshape(-1, 4)


def mostly_right_to_left(texts: Iterable[str]) -> bool:
    """Whether more than half of the letters are of a right-to-left script."""
    strong = [c for text in texts for c in text if c.isalpha()]
    return sum("\u0590" <= c <= "\u08ff" or "\ufb1d" <= c <= "\ufefc" for c in strong) > len(strong) / 2


def writing_angle(raw: Mapping[str, Any]) -> int | None:
    """Clockwise angle (0, 90, 180, 270) of most characters of ``rawdict``; None without text."""
    counts: Counter[int] = Counter()
    for block in raw["blocks"]:
        if block["type"] == 0:
            for line in block["lines"]:
                angle = _angle(line)
                if angle is not None:
                    counts[angle] += sum(len(span["chars"]) for span in line["spans"])
    return counts.most_common(1)[0][0] if counts else None


def _angle(line: Mapping[str, Any]) -> int | None:
    """Clockwise angle of the line; 0 for vertical writing modes, None if it is along no axis."""
    if line["wmode"]:
        return 0
    return _ANGLES.get((round(line["dir"][0], 1), round(line["dir"][1], 1)))


def read_words(raw: Mapping[str, Any], upright: int = 0) -> WordColumns:
    """Words of MuPDF's ``rawdict`` (in its coordinates), split at blanks and line ends.

    Lines that are not turned by ``upright`` degrees are SIDEWAYS; a word drawn twice is kept once. A word of a script
    without blanks becomes one entry per character, glued to the previous one.
    """
    out = WordColumns()
    for line_number, (block_number, line) in enumerate(_whole_lines(raw)):
        turned = 0 if _angle(line) == upright else SIDEWAYS
        _read_line(line, line_number, block_number, turned, out)
    return _printed_once(_small_capitals(out))


def _whole_lines(raw: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each line of ``raw`` with the number of its block. What goes on within a word is one line: MuPDF begins another
    one where something is drawn, as the rule under a term between quotation marks."""
    whole: tuple[int, Mapping[str, Any]] | None = None
    for number, block in enumerate(raw["blocks"]):
        for line in block["lines"] if block["type"] == 0 else ():
            if whole is not None and _goes_on(whole[1], line):
                whole = whole[0], {**whole[1], "spans": [*whole[1]["spans"], *line["spans"]]}
                continue
            if whole is not None:
                yield whole
            whole = number, line
    if whole is not None:
        yield whole


def _goes_on(line: Mapping[str, Any], following: Mapping[str, Any]) -> bool:
    """Whether the first letter of the ``following`` line touches the last one of ``line``, both upright."""
    if not (line["spans"] and following["spans"]) or line["wmode"] or following["wmode"]:
        return False
    if not _angle(line) == _angle(following) == 0:
        return False
    before, behind = line["spans"][-1], following["spans"][0]
    if not (before["chars"] and behind["chars"]):
        return False
    last, first, size = before["chars"][-1], behind["chars"][0], float(before["size"])
    level = abs(last["origin"][1] - first["origin"][1]) <= _TOUCHING * size
    near = abs(first["bbox"][0] - last["bbox"][2]) <= _TOUCHING * size
    return level and near and not (last["c"].isspace() or first["c"].isspace())


def _small_capitals(words: WordColumns) -> WordColumns:
    """``words`` with a capital and the smaller capitals behind it as one word where a blank parts them ("D AVID"), as
    some programs write small capitals. "A" stays by itself unless its line has another such word."""
    heads: list[int] = []  # of these words, the capital
    for index, (text, following) in enumerate(pairwise(words.texts)):
        size, smaller = words.sizes[index], words.sizes[index + 1]
        if (
            len(text) == 1
            and text.isupper()
            and len(following) > 1
            and following.isupper()
            and _SMALL_CAPITALS[0] * size <= smaller <= _SMALL_CAPITALS[1] * size
            and words.lines[index] == words.lines[index + 1]
            and abs(_baseline(words, index) - _baseline(words, index + 1)) < 0.05 * size
            and 0 <= words.boxes[index + 1][0] - words.boxes[index][2] <= _BLANK * size
        ):
            heads.append(index)
    lines = Counter(words.lines[index] for index in heads)
    heads = [index for index in heads if words.texts[index] != "A" or lines[words.lines[index]] > 1]
    for index in heads:
        words.texts[index] += words.texts[index + 1]
        words.boxes[index] = around(words.boxes[index : index + 2])
        words.flags[index] &= words.flags[index + 1]
    tails = {index + 1 for index in heads}
    return words.chosen([index for index in range(len(words.texts)) if index not in tails]) if tails else words


def _baseline(words: WordColumns, index: int) -> float:
    return words.boxes[index][3] - DESCENT * words.sizes[index]


def _printed_once(words: WordColumns) -> WordColumns:
    """``words`` without second drawings at nearly the same place, which imitate bold; the first is BOLD."""
    places: dict[str, list[tuple[float, int]]] = defaultdict(list)  # left edge and index, sorted
    dropped: set[int] = set()
    for index, (text, box) in enumerate(zip(words.texts, words.boxes)):
        near = SAME_PLACE * words.sizes[index]
        same, reach = places[text], 1.01 * near
        beside = same[bisect_left(same, (box[0] - reach,)) : bisect_right(same, (box[0] + reach, index))]
        twins = [other for _left, other in beside if all(abs(a - b) <= near for a, b in zip(words.boxes[other], box))]
        if twins:
            dropped.add(index)
            words.flags[min(twins)] |= BOLD
        else:
            insort(same, (box[0], index))
    dropped |= _pieces(words)
    if not dropped:
        return words
    return words.chosen([index for index in range(len(words.texts)) if index not in dropped])


def _pieces(words: WordColumns) -> set[int]:
    """Words inside a longer one, drawn shortly before or after, that repeat its text: a shadow drawn in pieces."""
    found = set()
    for index, (text, (x0, y0, x1, y1), size) in enumerate(zip(words.texts, words.boxes, words.sizes)):
        near = SAME_PLACE * size
        for other in range(max(0, index - _SHADOW), min(len(words.texts), index + _SHADOW)):
            whole = words.texts[other]
            if len(whole) > len(text) and text in whole and abs(words.sizes[other] - size) <= near:
                left, top, right, bottom = words.boxes[other]
                if left - near <= x0 and x1 <= right + near and max(abs(y0 - top), abs(y1 - bottom)) <= near:
                    found.add(index)
    return found


def _read_line(line: Mapping[str, Any], line_number: int, block_number: int, turned: int, out: WordColumns) -> None:
    dx, dy = line["dir"]
    across = (round(dx), round(dy)) if not line["wmode"] and max(abs(dx), abs(dy)) > 0.999 else (0, 0)
    letters: list[tuple[str, float, int, Rect]] = []  # of the open word: text, size, style, box
    glued = False
    level = (0.0, 0.0)  # size and baseline of the last character that was not raised

    def close() -> None:
        nonlocal glued
        if not letters:
            return
        text = unicodedata.normalize("NFC", "".join(piece for piece, _size, _style, _box in letters))
        soft = SOFT_HYPHEN if text.endswith(SOFT_HYPHEN_CHAR) else 0
        text = text.replace(SOFT_HYPHEN_CHAR, "")
        if text:
            x0, y0, x1, y1 = around(box for _piece, _size, _style, box in letters)
            size = max(size for _piece, size, _style, _box in letters)
            pad = 0.05 * size if x1 - x0 < 0.1 else 0.0
            lift = 0.05 * size if y1 - y0 < 0.1 else 0.0
            style = reduce(and_, (style for _piece, _size, style, _box in letters))
            flags = style | turned | soft | (GLUED if glued else 0)
            out.add(text, (x0 - pad, y0 - lift, x1 + pad, y1 + lift), size, line_number, flags, block_number)
        letters.clear()
        glued = False

    for span in line["spans"]:
        size = float(span["size"])
        style = _style(int(span["flags"]), str(span["font"]))
        for char in _logical(span["chars"]):
            piece = symbol(str(span["font"]), clean_char(char["c"]))
            if piece == " ":
                close()
                continue
            if not piece:
                continue
            unspaced = UNSPACED.match(piece) is not None
            if letters and (unspaced or UNSPACED.match(letters[-1][0]) is not None):
                combining = unicodedata.category(piece[0]) in ("Mn", "Mc", "Lm")
                if not combining:
                    close()
                    glued = True
            raised = bool(style & SUPERSCRIPT) or _is_raised(size, char["origin"][1], level, across)
            if letters and raised != bool(letters[-1][2] & SUPERSCRIPT):
                close()  # "1,234" and the raised "2" after it are two words, though there is no blank between them
                glued = True
            if not raised:
                level = (size, char["origin"][1])
            own = style | SUPERSCRIPT if raised else style & ~SUPERSCRIPT
            letters.append((piece, size, own, _char_box(char, size, across)))
    close()


def _is_raised(size: float, baseline: float, level: tuple[float, float], across: tuple[int, int]) -> bool:
    """Whether a character of ``size`` is a superscript of the preceding text on an upright line."""
    return across == (1, 0) and size <= SMALLER * level[0] and level[1] - baseline > LIFTED * level[0]


def _logical(chars: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """``chars`` with the halves of the Arabic ligature lam-alef in reading order: it is one glyph, and MuPDF gives the
    alef first, without a width."""
    out = list(chars)
    for place, (first, second) in enumerate(pairwise(chars)):
        if second["c"] == "ل" and first["c"] in "اأإآٱ" and first["bbox"][2] - first["bbox"][0] < 0.01:
            out[place : place + 2] = second, first
    return out


def _char_box(char: Mapping[str, Any], size: float, across: tuple[int, int]) -> tuple[float, float, float, float]:
    """Character box with its extent across the line set by baseline and size. ``across`` is the writing direction if it
    is along an axis, else (0, 0): then, and if the font's own height shows that its size is meaningless (Type 3 fonts
    of size 1), the box stays as given."""
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
    name = font.lower()
    named = any(part in name for part in _BOLD_NAMES) or name.rpartition("+")[2].startswith(_BOLD_TEX)
    bold = BOLD if flags & 16 or named else 0
    return bold | sum(style for bit, style in ((2, ITALIC), (1, SUPERSCRIPT), (8, MONO)) if flags & bit)


SOFT_HYPHEN_CHAR = "\u00ad"
# Code page of Wingdings, for list markers and form symbols.
_WINGDINGS = {
    0x4A: "☺", 0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "☐", 0x70: "❐", 0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x74: "⧫",
    0x75: "◆", 0x76: "❖", 0x77: "⬥", 0x78: "☒", 0x9E: "·", 0x9F: "•", 0xA0: "▫", 0xA7: "▪", 0xA8: "▫", 0xB7: "•",
    0xD8: "➢", 0xE0: "→", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0x2D: "-",
}  # fmt: skip
_DINGBATS = {
    0x33: "✓", 0x34: "✔", 0x35: "✕", 0x36: "✖", 0x37: "✗", 0x38: "✘", 0x48: "★", 0x6C: "●", 0x6D: "❍", 0x6E: "■",
    0x6F: "❏", 0x70: "❐", 0x71: "❑", 0x72: "❒", 0x73: "▲", 0x74: "▼", 0x75: "◆", 0x76: "❖", 0xD4: "➔", 0xE4: "➤",
}  # fmt: skip
# Of Windows-1252: the euro, the ellipsis, quotation marks, the bullet, dashes and the trade mark.
_WINDOWS = frozenset({0x80, 0x85, *range(0x91, 0x98), 0x99})
_PRIVATE = 0xF000  # offset of symbol fonts' codes in the private use area
# Ligatures and presentation forms; full-width digits and letters; letters of formulas; radicals.
_COMPATIBLE = (
    (0xFB00, 0xFB4F),
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFC),
    (0xFF10, 0xFF19),
    (0xFF21, 0xFF3A),
    (0xFF41, 0xFF5A),
    (0xFF66, 0xFF9F),
    (0x1D400, 0x1D7FF),
    (0x2F00, 0x2FD5),
)


@lru_cache(maxsize=4096)
def clean_char(char: str) -> str:
    """Text characters for one printed character: "" for one without ink, " " for a blank."""
    code = ord(char)
    if char == SOFT_HYPHEN_CHAR:
        return char
    if 0x80 <= code <= 0x9F:
        # Other letters of that code page are excluded: such a code is more often a symbol font's bullet.
        return bytes([code]).decode("cp1252") if code in _WINDOWS else ""
    if _PRIVATE + 0x20 <= code <= _PRIVATE + 0xFF:
        return _WINGDINGS.get(code - _PRIVATE, char)
    if char.isspace() or unicodedata.category(char) == "Zs":
        return " "
    category = unicodedata.category(char)
    if category in ("Cc", "Cf"):
        # Zero-width joiners carry meaning in Arabic and Indic scripts; other format characters are invisible.
        return char if char in "\u200c\u200d" else ""
    if category == "Cs":
        return "\ufffd"
    if 0xFE00 <= code <= 0xFE0F:
        return ""  # variation selectors
    if any(low <= code <= high for low, high in _COMPATIBLE):
        return unicodedata.normalize("NFKC", char)
    return char


@lru_cache(maxsize=1024)
def symbol(font: str, char: str) -> str:
    """``char`` of a font that puts symbols at the codes of letters; unchanged for any other font."""
    if len(char) != 1 or ord(char) >= 0x100:
        return char
    name = font.lower().translate({ord(" "): None, ord("-"): None})
    _, wingdings, number = name.partition("wingdings")
    table = _WINGDINGS if wingdings and not number.startswith(("2", "3")) else _DINGBATS if "dingbats" in name else {}
    return table.get(ord(char), char)
