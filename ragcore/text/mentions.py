"""Mentions of names in a text: runs of capitalised words, and quoted titles, each with its sentence.

Names are told by capitals (of Latin, Greek, Cyrillic and Armenian letters). Languages that write every noun with one
give too many names, those without capitals none. A mention is ``doubtful`` if its capital may be that of its sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragcore.text.sentences import sentence_spans
from ragcore.text.words import STOP_WORDS, folded

LONGEST = 6  # words of a name, small ones aside; a longer run is a heading in capitals
_LONGEST_TITLE = 8  # words of a quoted one

_UPPER = "".join(filter(str.isupper, map(chr, (*range(0x41, 0x590), *range(0x1E00, 0x2000)))))
# J. or U.S.; else a capital with all that a name may hold (AT&T, O'Brien, 3M, Saint-Étienne) but no possessive ending.
_WORD = rf"(?:(?:[{_UPPER}]\.)+|(?:\d{{1,3}}-?)?[{_UPPER}](?:[\w&-]|[’'](?!s\b)(?=\w))*)"
_JOINS = r"(?:and|for|&)"  # also join two names
_INNER = rf"(?:of|the|{_JOINS}|de|del|della|di|da|du|des|la|le|van|von|der|den|zu|y|e|bin|ibn|al|el)"
_NUMBER = r"\d[\w-]{0,5}(?![.,]?\d)"
_BLANK = r"[^\S\n]"  # a line ends a cell or a block
_RUN = re.compile(rf"(?<![\w’'-]){_WORD}(?:(?:{_BLANK}{_INNER}){{0,2}}{_BLANK}{_WORD}|{_BLANK}{_NUMBER})*")
_JOINED = re.compile(rf"\s{_JOINS}(?:\sthe)?\s")
_QUOTED = re.compile(rf"[“\"«]([{_UPPER}][^“”\"«»\n]{{1,80}})[”\"»]")
_POSSESSIVE = re.compile(r"['’]s?$")
_OWNERS = re.compile(r"['’]s\b")
_ARTICLE = re.compile(r"\A(?:(?:the|a|an) )+(?=.)")
_POINTS = re.compile(r"[.'’]")
_NO_WORD = re.compile(r"[\W_]+")
_SOLID = re.compile(r"\S+")


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
    bare = _POINTS.sub("", folded(_POSSESSIVE.sub("", name)))
    return _ARTICLE.sub("", _NO_WORD.sub(" ", bare).strip())


def without_owners(text: str) -> str:
    """``text`` without the endings of its possessives, as keys are."""
    return _OWNERS.sub("", text)


def mentions(text: str) -> list[Mention]:
    """Names of ``text`` in order: quoted titles, runs of capitals, and their parts that may be names of their own."""
    out: list[Mention] = []
    for number, (low, high) in enumerate(sentence_spans(text)):
        titles = (match for match in _QUOTED.finditer(text, low, high) if len(match[1].split()) <= _LONGEST_TITLE)
        found = {title.span(1): False for title in titles}
        for start, end, doubtful in _runs(text, low, high):
            found.setdefault((start, end), doubtful)
        for (start, end), doubtful in sorted(found.items()):
            key = key_of(text[start:end])
            if len(key) > 1 and not key.isdigit():
                out.append(Mention(key, start, end, number, doubtful))
    return out


def _runs(text: str, low: int, high: int) -> Iterator[tuple[int, int, bool]]:
    """Capitalised runs of one sentence, and whether they are doubtful: one word that begins the sentence, or the rest
    of a run there. Of "A and B" each side is a name too."""
    begins = next((place for place in range(low, high) if text[place].isalnum()), high)
    for match in _RUN.finditer(text, low, high):
        joints = [one.span() for one in _JOINED.finditer(text, *match.span())]
        sides = zip([match.start(), *(end for _, end in joints)], [*(start for start, _ in joints), match.end()])
        for start, end in dict.fromkeys([match.span(), *sides]):
            words = list(_SOLID.finditer(text, start, end))
            stops = next((n for n, word in enumerate(words) if word[0].lower() not in STOP_WORDS), len(words))
            capitals = [word.start() for word in words[stops:] if not word[0][0].islower()]
            first = not stops and start <= begins
            if capitals and len(capitals) <= LONGEST:
                yield capitals[0], end, first and len(capitals) == 1
                if first and len(capitals) > 1:
                    yield capitals[1], end, True
