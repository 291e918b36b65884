"""A value field that asks when something takes effect, begins or ends, where no date answers it but a length of time or
an event: "thirty days after FDA receives the IND", "upon signature by both parties".

The sentence must say it of the very thing that is asked for and no narrower one ("an expanded access IND"); where
sentences do not agree there is no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragcore.offline.durations import DURATION, length_in
from ragcore.offline.quotable import Given, Quotable
from ragcore.text.words import content_stems

_DATE = r"\b(?:when|date|day)\b.*"
# What is asked, and how a sentence says it; what has ended, or began, has a date.
_KINDS = (
    (
        r"\b(?:(?:go|goes|come|comes|enter|enters)\s+into\s+(?:effect|force)|(?:take|takes)\s+effect|effective)\b",
        r"(?:(?:goe?s?|comes?|enters?)\s+into\s+(?:effect|force)|takes?\s+effect|(?:is|are|be|becomes?)\s+effective)",
    ),
    (
        r"\b(?:begins?|starts?|commences?)\b",
        r"(?:begins?|starts?|commences?|be\s+(?:begun|started|initiated))",
    ),
    (r"\bresumes?\b", r"(?:resumes?|be\s+resumed)"),
    (
        r"\b(?:ends?|expires?|terminates?|ceases?)\b",
        r"(?:ends?|expires?|terminates?|ceases?)(?:\s+to\s+be\s+(?:in\s+(?:effect|force)|effective))?",
    ),
)
_AFTER = (
    rf"(?:(?:no|not)\s+(?:earlier|later)\s+than\s+)?(?:{DURATION})\s+"
    r"(?:after|from|following|before|prior\s+to)\s+[^,;:.]+"
)
_EVENT = (
    r"(?:immediately\s+|only\s+)?(?:upon|when|once|as\s+soon\s+as|after|following|on(?!\s+(?:page|p\.))|at\s+the\s+(?:end|time))\s+"
    r"(?!(?:which|condition|behalf)\b)[^,;:.]{4,160}"
)
_COMPILED = tuple(
    (
        re.compile(_DATE + asked, re.IGNORECASE),
        re.compile(
            rf"\b{says}(?:\s+only)?\s*[:,–—]?\s*(?:\(\w{{1,3}}\)\s*)?(?P<when>{_AFTER}|{_EVENT})",
            re.IGNORECASE,
        ),
    )
    for asked, says in _KINDS
)
_BESIDE = frozenset(
    content_stems(
        "when date day may shall will can must go goes come enter into effect force take effective become begin start "
        "commence resume end expire terminate cease first only upon agreement contract initial part section paragraph"
    )
)
_CONTRACT = re.compile(r"\b(?:agreement|contract)\b", re.IGNORECASE)
_CLAUSE = re.compile(r".*[.;]\s", re.DOTALL)


def event_asked(heading: str, piece: str, found: Sequence[Quotable]) -> Given | None:
    """What ``piece`` of the guidance under ``heading`` asks for, where it asks when something begins or ends and
    ``found`` say after what."""
    form = next((says for asked, says in _COMPILED if asked.search(piece) or asked.search(f"{heading}. {piece}")), None)
    wanted = frozenset(content_stems(piece)) - _BESIDE
    if form is None or (not wanted and not _CONTRACT.search(piece)):
        return None
    fits = list(_fits(form, wanted, found))
    if not fits or any(not _same(fits[0].figure, one.figure) for one in fits):
        return None
    return fits[0]


def _fits(form: re.Pattern[str], wanted: frozenset[str], found: Sequence[Quotable]) -> Iterator[Given]:
    """Each sentence that says it of what is ``wanted``."""
    for quote in found:
        match = form.search(quote.text) if quote.row is None else None
        if match is None:
            continue
        subject = frozenset(content_stems(_CLAUSE.sub("", quote.text[: match.start()]))) - _BESIDE
        narrower = {word for word in subject - wanted if len(word) > 1 and not word[0].isdigit()}
        if wanted <= subject and not narrower:
            yield Given(quote, " ".join(match["when"].split()))


def _same(one: str, other: str) -> bool:
    lengths = length_in(one), length_in(other)
    return lengths[0] == lengths[1] if any(lengths) else set(content_stems(one)) == set(content_stems(other))
