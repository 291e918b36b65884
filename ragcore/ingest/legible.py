"""Detection of broken encodings in a page's text layer. Pure functions over strings.

A font with a missing or wrong character map gives characters other than those on the page. The signs checked here are
rare in any real text, yet they only raise a suspicion. The page itself decides: OCR reads it, and `agree` says whether
the two texts match (the text layer then stays).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import groupby

MIN_CHARS = 20  # fewer printed characters raise no suspicion
BROKEN_SHARE = 0.15  # of the characters: meaningless ones
SYMBOL_SHARE = 0.5  # of the characters that are no digits, counting runs of one character once
NUMBER_SHARE = 1 / 3  # of all characters: in tables of numbers almost only signs accompany the digits
MOJIBAKE_SHARE = 0.45  # of the letters, from U+00A1 to U+00FF
MIN_WORDS = 15  # words of four letters or more; with fewer, spelling is no evidence
ODD_SHARE = 0.4  # of these words: spelt as in hardly any language in Latin letters
AGREEMENT = 0.4  # share of the three-letter sequences read off the page that a correct text layer also has
_CID = re.compile(r"\(cid:\d+\)")
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{4,}")
_VOWELS = frozenset("aeiouy")
_SYLLABIC = frozenset("lr")  # syllabic consonants in Czech: "vlk", "čtvrt"
_VOWEL_SHARE = 0.2  # a tenth of English words have as few: "which", "strength"
_CONSONANTS = 8  # in a row: "Angstschweiß" has seven


def garbled(text: str) -> str | None:
    """Reason to suspect a broken encoding in ``text`` (a page's characters as they are in the file, control characters
    included); None if there is none.

    Formulas, part numbers, tables of numbers, source code and any script are text. The rules: meaningless characters
    (replacement, private use, control, unassigned, ``(cid:12)``); mostly symbols; Latin-1 letters in place of most
    letters; words with hardly a vowel.
    """
    cids = len(_CID.findall(text))
    rest = _CID.sub("", text) if cids else text
    counts = Counter("".join(rest.split()))  # few characters are distinct, so each is classified once
    total = counts.total() + cids
    if total < MIN_CHARS:
        return None
    if sum(count for char, count in counts.items() if _is_broken(char)) + cids > BROKEN_SHARE * total:
        return "many of its characters mean nothing"
    if _signs(counts) > SYMBOL_SHARE * _undigits(counts):
        # Leaders and rules drawn with signs are no text, but not broken either.
        once = Counter(char for char, _run in groupby("".join(rest.split())))
        signs, others = _signs(once), _undigits(once)
        if others >= MIN_CHARS and signs > SYMBOL_SHARE * others and signs > NUMBER_SHARE * once.total():
            return "most of its characters are symbols"
    letters = sum(count for char, count in counts.items() if char.isalpha())
    foreign = sum(count for char, count in counts.items() if "\u00a1" <= char <= "\u00ff" and char.isalpha())
    if letters >= MIN_CHARS and foreign > MOJIBAKE_SHARE * letters:
        return "most of its letters have the wrong encoding"
    words = _WORD.findall(rest)
    if len(words) >= MIN_WORDS and sum(_is_odd(word) for word in words) > ODD_SHARE * len(words):
        return "most of its words aren't words"
    return None


def agree(text: str, read: str) -> bool:
    """Whether ``text``, a text layer, contains the text ``read`` off the page, compared by sequences of three letters
    or digits regardless of word division. Any text contains a reading of fewer than three."""
    wanted = _trigrams(read)
    return (_trigrams(text) & wanted).total() >= AGREEMENT * wanted.total()


def _trigrams(text: str) -> Counter[str]:
    line = "".join(char for char in unicodedata.normalize("NFKD", text).casefold() if char.isalnum())
    return Counter(map("".join, zip(line, line[1:], line[2:])))


def _is_broken(char: str) -> bool:
    return char == "\ufffd" or unicodedata.category(char) in ("Cc", "Co", "Cn", "Cs")


def _undigits(counts: Counter[str]) -> int:
    return sum(count for char, count in counts.items() if not char.isdigit())


def _signs(counts: Counter[str]) -> int:
    return sum(count for char, count in counts.items() if char.isascii() and not char.isalnum())


@lru_cache(maxsize=4096)
def _is_odd(word: str) -> bool:
    plain = [char for char in unicodedata.normalize("NFKD", word).casefold() if char.isalpha()]
    vowels = [char in _VOWELS for char in plain]
    if not any(vowels):
        return not _SYLLABIC & set(plain)
    run = max((len(list(group)) for vowel, group in groupby(vowels) if not vowel), default=0)
    return run >= _CONSONANTS or sum(vowels) <= _VOWEL_SHARE * len(vowels)
