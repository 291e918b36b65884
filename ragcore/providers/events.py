"""A value field that asks when something takes effect, begins or ends, where no date answers it but a length of time or
an event: "thirty days after FDA receives the IND", "upon signature by both parties".

The sentence must say it of the very thing that is asked for. Of sentences that say it of more things ("an expanded access
IND") those count that add least to it; where they do not agree there is no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragcore.providers.durations import DURATION, Length, length_in
from ragcore.providers.quotable import Quotable
from ragcore.words import content_stems

_DATE = r"\b(?:when|date|day)\b.*"
# What is asked, and how a sentence says it; what has ended, or began, has a date.
_KINDS = (
    (
        r"\b(?:(?:go|goes|come|comes|enter|enters)\s+into\s+(?:effect|force)|(?:take|takes)\s+effect|effective)\b",
        r"(?:(?:goe?s?|comes?|enters?)\s+into\s+(?:effect|force)|takes?\s+effect|(?:is|are|be|becomes?)\s+effective)",
    ),
    (
        r"\b(?:begins?|starts?|commences?|resumes?)\b",
        r"(?:begins?|starts?|commences?|resumes?|be\s+(?:begun|started|initiated|resumed))",
    ),
    (
        r"\b(?:ends?|expires?|terminates?|ceases?)\b",
        r"(?:ends?|expires?|terminates?|ceases?)(?:\s+to\s+be\s+(?:in\s+(?:effect|force)|effective))?",
    ),
)
_AFTER = rf"(?:(?:no|not)\s+(?:earlier|later)\s+than\s+)?(?:{DURATION})\s+(?:after|from|following|before|prior\s+to)\s+[^,;:.]+"
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
        "commence resume end expire terminate cease first only upon"
    )
)
_CLAUSE = re.compile(r".*[.;]\s", re.DOTALL)


def event_asked(heading: str, piece: str, found: Sequence[Quotable]) -> Length | None:
    """What ``piece`` of the guidance under ``heading`` asks for, where it asks when something begins or ends and
    ``found`` say after what."""
    form = next((says for asked, says in _COMPILED if asked.search(piece) or asked.search(f"{heading}. {piece}")), None)
    wanted = frozenset(content_stems(piece)) - _BESIDE
    if form is None or not wanted:
        return None
    fits = sorted(_fits(form, wanted, found), key=lambda fit: fit[0])
    best = [one for added, one in fits if added == fits[0][0]]
    if not best or any(not _same(best[0].figure, one.figure) for one in best):
        return None
    return best[0]


def _fits(form: re.Pattern[str], wanted: frozenset[str], found: Sequence[Quotable]) -> Iterator[tuple[int, Length]]:
    """Each sentence that says it of what is ``wanted``, with how many words it adds to that."""
    for quote in found:
        match = form.search(quote.text) if quote.row is None else None
        if match is None:
            continue
        subject = frozenset(content_stems(_CLAUSE.sub("", quote.text[: match.start()]))) - _BESIDE
        if wanted <= subject:
            yield len(subject - wanted), Length(quote, " ".join(match["when"].split()))


def _same(one: str, other: str) -> bool:
    lengths = length_in(one), length_in(other)
    return lengths[0] == lengths[1] if any(lengths) else set(content_stems(one)) == set(content_stems(other))
