"""Character handling: removal of characters that no format can hold, text direction, and shortening of quotes at whole
words."""

from __future__ import annotations

import re
import unicodedata

# Characters outside XML 1.0's Char (section 2.2), and the controls and noncharacters that it discourages.
_UNFIT = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufeff\ufffe\uffff]")
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_LONE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """``text`` without control characters and noncharacters; other breaks become ``\\n``, a lone surrogate U+FFFD."""
    return _LONE.sub("\ufffd", _UNFIT.sub("", _BREAKS.sub("\n", text)))


def one_line(text: str) -> str:
    """`clean` with single blanks."""
    return " ".join(clean(text).split())


def right_to_left(text: str) -> bool:
    """Whether its first strong character is (Unicode Bidirectional Algorithm, rules P2 and P3)."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in ("L", "R", "AL"):
            return kind != "L"
    return False


def shortened(text: str, longest: int) -> str:
    """``text`` in at most ``longest`` characters, with ``[…]`` in place of its middle. Words are cut only if one alone
    is longer than half of that."""
    if len(text) <= longest:
        return text
    half = (longest - len(" […] ")) // 2
    head, tail = text[:half], text[-half:]
    if not text[half].isspace():
        head = head.rpartition(" ")[0] or head
    if not text[-half - 1].isspace():
        tail = tail.partition(" ")[2] or tail
    return f"{head.rstrip()} […] {tail.lstrip()}"
