"""Characters as a PDF gives them → characters of the text.

NFC over whole words puts accents onto their letters. Beyond that a character is replaced only where the replacement
means the same: ligatures and presentation forms (NFKC), full-width Latin letters and digits, the letters of formulas
(𝑥), Kangxi radicals that fonts map ideographs to, punctuation of Windows-1252 that was taken for control characters,
and the bullets of symbol fonts. What NFKC would change in meaning stays: ² (x² is not x2), ½, ①, ㎡, ™.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

SOFT_HYPHEN_CHAR = "\u00ad"
# The code page of Wingdings, for what stands before list items and in forms.
_WINGDINGS = {
    0x4A: "☺", 0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "☐", 0x70: "❐", 0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x74: "⧫",
    0x75: "◆", 0x76: "❖", 0x77: "⬥", 0x78: "☒", 0x9E: "·", 0x9F: "•", 0xA0: "▫", 0xA7: "▪", 0xA8: "▫", 0xB7: "•",
    0xD8: "➢", 0xE0: "→", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0x2D: "-",
}  # fmt: skip
_DINGBATS = {
    0x33: "✓", 0x34: "✔", 0x35: "✕", 0x36: "✖", 0x37: "✗", 0x38: "✘", 0x48: "★", 0x6C: "●", 0x6D: "❍", 0x6E: "■",
    0x6F: "❏", 0x70: "❐", 0x71: "❑", 0x72: "❒", 0x73: "▲", 0x74: "▼", 0x75: "◆", 0x76: "❖", 0xD4: "➔", 0xE4: "➤",
}  # fmt: skip
# Of Windows-1252, the euro, the ellipsis, quotation marks, the bullet, dashes and the trade mark.
_WINDOWS = frozenset({0x80, 0x85, *range(0x91, 0x98), 0x99})
_PRIVATE = 0xF000  # symbol fonts stand here in the private use area, by their code
_SYMBOL_FONTS = (
    (re.compile(r"wingdings(?![ -]?[23])", re.IGNORECASE), _WINGDINGS),
    (re.compile(r"dingbats", re.IGNORECASE), _DINGBATS),
)
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
    """The characters that stand in the text for one printed character: "" for what has no ink, " " for a blank."""
    code = ord(char)
    if char == SOFT_HYPHEN_CHAR:
        return char
    if 0x80 <= code <= 0x9F:
        # Not the letters of that code page: what stands there is more often a symbol font's bullet.
        return bytes([code]).decode("cp1252") if code in _WINDOWS else ""
    if _PRIVATE + 0x20 <= code <= _PRIVATE + 0xFF:
        return _WINGDINGS.get(code - _PRIVATE, char)
    if char.isspace() or unicodedata.category(char) == "Zs":
        return " "
    category = unicodedata.category(char)
    if category in ("Cc", "Cf"):
        # Zero-width joiners carry meaning in Arabic and Indic scripts; the rest is invisible.
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
    """``char`` of a font that puts symbols at the places of letters; as it is for any other font."""
    if len(char) != 1 or ord(char) >= 0x100:
        return char
    table = next((table for name, table in _SYMBOL_FONTS if name.search(font)), None)
    return char if table is None else table.get(ord(char), char)


def is_split_ligature(first: str, second: str) -> bool:
    """Whether the two, in the order in which they stand, are the halves of the Arabic ligature lam-alef: it is one
    glyph, and turning a line into logical order turns its letters round."""
    return second == "ل" and first in "اأإآٱ"
