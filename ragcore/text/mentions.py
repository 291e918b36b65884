"""Mentions of names in a text: runs of capitalised words, and quoted titles, each with its sentence.

Names are told by capitals (Latin, Greek, Cyrillic, Armenian), so languages that write every noun so give too many, and
those without capitals none. A single word that begins its sentence may be no name: such a mention is ``doubtful``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from ragcore.text.sentences import sentence_spans
from ragcore.text.words import STOP_WORDS

LONGEST = 6  # words of a name; a longer run is a heading in capitals
_LONGEST_TITLE = 8  # words of a quoted one

_UPPER = "".join(filter(str.isupper, map(chr, range(0x41, 0x590))))
# J. or U.S.; else a capital with all that a name may hold (AT&T, O'Brien, 3M, Saint-Étienne) but no possessive ending.
_WORD = rf"(?:(?:[{_UPPER}]\.)+|(?:\d{{1,3}}-?)?[{_UPPER}](?:[\w&-]|[’'](?!s\b)(?=\w))*)"
_INNER = r"(?:of|the|and|for|&|de|del|della|di|da|du|des|la|le|van|von|der|den|zu|y|e|bin|ibn|al|el)"
_NUMBER = r"\d[\w-]{0,5}(?![.,]?\d)"
_RUN = re.compile(rf"(?<![\w’'-]){_WORD}(?:(?:\s{_INNER}){{0,2}}\s{_WORD}|\s{_NUMBER})*")
_QUOTED = re.compile(rf"[“\"«]([{_UPPER}][^“”\"«»\n]{{1,80}})[”\"»]")
_POSSESSIVE = re.compile(r"['’]s?$")
_ARTICLE = re.compile(r"\A(?:the|a|an) (?=.)")
_POINTS = re.compile(r"[.'’]")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Mention:
    """Name at ``[start, end)`` of a text, in the sentence of that number; all spellings of a name have one ``key``."""

    key: str
    start: int
    end: int
    sentence: int
    doubtful: bool = False


def key_of(name: str) -> str:
    """Lower-case words of ``name``, without accents, points, a possessive ending and an article in front."""
    folded = unicodedata.normalize("NFKD", _POSSESSIVE.sub("", name).casefold())
    bare = "".join(character for character in folded if not unicodedata.combining(character))
    return _ARTICLE.sub("", _NO_WORD.sub(" ", _POINTS.sub("", bare)).strip())


def mentions(text: str) -> list[Mention]:
    """Names of ``text`` in order; a quoted title, and the names in it."""
    out: list[Mention] = []
    for number, (low, high) in enumerate(sentence_spans(text)):
        found = dict.fromkeys(_titles(text, low, high), False)
        for start, end, doubtful in _runs(text, low, high):
            found.setdefault((start, end), doubtful)
        for (start, end), doubtful in sorted(found.items()):
            key = key_of(text[start:end])
            if len(key) > 1 and not key.isdigit():
                out.append(Mention(key, start, end, number, doubtful))
    return out


def _titles(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    for match in _QUOTED.finditer(text, low, high):
        if len(match[1].split()) <= _LONGEST_TITLE:
            yield match.span(1)


def _runs(text: str, low: int, high: int) -> Iterator[tuple[int, int, bool]]:
    """Capitalised runs of one sentence, without stop words in front, and whether they are doubtful."""
    for match in _RUN.finditer(text, low, high):
        start, end = match.span()
        first = not any(map(str.isalnum, text[low:start]))
        words = list(re.finditer(r"\S+", match.group()))
        while words and words[0].group().lower() in STOP_WORDS:
            del words[0]
            first = False
        if words and len(words) <= LONGEST:
            yield start + words[0].start(), end, first and len(words) == 1
