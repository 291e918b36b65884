"""A value field that asks for a length of time, out of sentences: "thirty days after FDA receives the IND".

The sentence must be about what is asked for, and count from what is asked for: the report that is due within 60 days of
an anniversary says nothing of how many days after its submission a thing takes effect. Where sentences that fit alike
give different lengths there is none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from ragcore.offline.quotable import Given, Quotable
from ragcore.text.words import content_stems

_UNITS = ("minute", "hour", "day", "week", "month", "year")
_TO_NINETEEN = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_ONES = {word: number for number, word in enumerate(_TO_NINETEEN, start=1)}
_TENS = dict(zip(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], range(20, 100, 10)))
_WORD = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_TO_NINETEEN[:9])}))?|{'|'.join(reversed(_TO_NINETEEN))})"
# "thirty (30) calendar days", "30-day", "six months’": digits in brackets say the same again.
DURATION = (
    rf"(?:\d+(?:\.\d+)?|{_WORD})(?:\s*\(\s*\d+\s*\))?[\s-]+"
    rf"(?:(?:full|calendar|business|working|consecutive)\s+)?(?:{'|'.join(_UNITS)})s?\b"
)
_LENGTH = re.compile(
    rf"(?<![\w.,$€£/-])(?P<number>\d+(?:\.\d+)?|{_WORD})(?:\s*\(\s*\d+\s*\))?[\s-]+(?:(?:full|calendar|consecutive)\s+)?"
    rf"(?P<kind>(?:business|working)\s+)?(?P<unit>{'|'.join(_UNITS)})s?\b",
    re.IGNORECASE,
)
# An age, and years that are looked back on, are no terms.
_AGE = re.compile(r"[\s-]+(?:of\s+age|old)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:last|past|previous|preceding|prior|every|each\s+of\s+the)\s+$", re.IGNORECASE)
_COUNTED_FROM = re.compile(
    r"^['’]?(?:\s+(?!(?:after|from|following|of|before|since|upon)\b)[\w’'-]+){0,3}?\s+"
    r"(?:after|from|following|of|before|prior\s+to|since|upon)\s+(?P<what>[^,;:.]+)",
    re.IGNORECASE,
)
_ASKED_FROM = re.compile(
    r"\b(?:after|from|following|since|upon|before|of)\s+(?:the\s+|a\s+|an\s+|its\s+)?"
    r"(?P<what>.+?)(?P<more>\s+(?:a|an|the|its|their)\s.*?)?(?=\s+(?:before|until|unless|to)\s|[,.;?]|$)",
    re.IGNORECASE,
)
# Words that a field and a document use for one thing.
_ALIKE = {
    stem: group[0]
    for words in (
        "submission submit submitted receive receipt received file filing",
        "notice notify notification",
        "retain retention keep maintain",
        "start begin initiate initiation commence",
        "study trial investigation",
        "approval approve",
        "termination terminate",
        "payment pay paid payable",
    )
    for group in [content_stems(words)]
    for stem in group
}
_BESIDE = frozenset(
    content_stems(
        "long length duration time period term days weeks months years hours minutes number calendar business working "
        "date must may within maximum minimum least most many"
    )
)
_SPEAKS = 0.6  # so much of what is asked for a sentence must hold, by count and with rare words counting more
_ANCHORED = 0.35  # and so much one that counts from the very thing asked for
_BONUS = 0.5  # what it is worth that a sentence counts from what is asked for
_NEARLY = 0.85  # sentences whose fit is so near to the best must give the same length
_NEAR = 10  # words in which it is said from what a length counts
_FEW = 3  # words; of fewer the heading says what is meant


def length_in(text: str) -> tuple[float, str] | None:
    """The first length of time in ``text``: a number and its unit, days of business told from others."""
    found = _lengths(text)
    return _value(found[0]) if found else None


def length_asked(heading: str, piece: str, found: Sequence[Quotable]) -> Given | None:
    """The length of time that ``piece`` of the guidance under ``heading`` asks for, where ``found`` gives one."""
    wanted = _stems(piece) - _BESIDE
    if len(wanted) < _FEW:
        wanted |= _stems(heading) - _BESIDE
    asked_from = _ASKED_FROM.search(piece)
    anchor = _stems(asked_from["what"]) - _BESIDE if asked_from else frozenset()
    whole = anchor | (_stems(asked_from["more"] or "") - _BESIDE if asked_from else frozenset())
    counts = Counter(word for quote in found for word in _stems(_said(quote)))
    weights = {word: log(1 + len(found) / (1 + counts[word])) if counts[word] else log(2) for word in wanted}
    fits: list[tuple[bool, float, Quotable, str]] = []
    for quote in found:
        own = [(match, _from(quote.text, match)) for match in _lengths(quote.text)] if quote.row is None else []
        if anchor:
            own = [(match, said) for match, said in own if said is None or 2 * len(anchor & said) > len(anchor)]
        if not own or not wanted:
            continue
        own = [(match, said) for match, said in own if anchor and said is not None] or own
        anchored = bool(anchor) and own[0][1] is not None
        held = wanted & _stems(_said(quote))
        share = sum(weights[word] for word in held) / sum(weights.values())
        speaks = min(share, len(held) / len(wanted)) >= _SPEAKS
        if speaks or (anchored and share >= _ANCHORED and (wanted - anchor) & _stems(quote.text)):
            figure = own[0][0].group() if len({_value(match) for match, _ in own}) == 1 else ""
            exactly = anchored and any(whole <= (said or frozenset()) for _, said in own)
            fits.append((exactly, share + _BONUS * anchored, quote, figure))
    fits.sort(key=lambda fit: (not fit[0], -fit[1]))
    near = [
        (quote, figure) for exactly, fit, quote, figure in fits if (exactly, fit) >= (fits[0][0], _NEARLY * fits[0][1])
    ]
    if not near or len({length_in(figure) for _, figure in near}) != 1 or not near[0][1]:
        return None
    return Given(near[0][0], near[0][1])


def _from(text: str, match: re.Match[str]) -> frozenset[str] | None:
    """The words from which the length counts, None where it does not say from what."""
    said = _COUNTED_FROM.match(text[match.end() :])
    return None if said is None else _stems(" ".join(said["what"].split()[:_NEAR]))


def _said(quote: Quotable) -> str:
    """The sentence with the headings above it; what the whole document is called fits every sentence alike."""
    return " ".join((*quote.source.section[-2:], quote.text))


def _lengths(text: str) -> list[re.Match[str]]:
    return [
        match
        for match in _LENGTH.finditer(text)
        if not _AGE.match(text, match.end()) and not _PAST.search(text[: match.start()])
    ]


def _value(match: re.Match[str]) -> tuple[float, str]:
    words = match["number"].lower().replace("-", " ").split()
    number = float(words[0]) if words[0][0].isdigit() else sum(_TENS.get(word, _ONES.get(word, 0)) for word in words)
    return number, f"{'business ' if match['kind'] else ''}{match['unit'].lower()}"


def _stems(text: str) -> frozenset[str]:
    return frozenset(_ALIKE.get(stem, stem) for stem in content_stems(text))
