"""At least and at most, within and after: which side of a figure is meant.

The bound is read from the words around each figure ("no later than 90 days", "more than 12 months", "65 years or
older"), so that a figure that stands in the cited words is not enough where the claim has the other side of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from ragcore.text.numbers import Number, agree, numbers
from ragcore.verify.evidence import Evidence, Finding

_AT_LEAST = (
    r"at least|(?:a\s)?minimum(?:\sof)?|(?:no|not) (?:less|fewer|earlier|sooner|shorter|lower|younger) than|not before|"
    r"not until"
)
_AT_MOST = (
    r"at most|(?:a\s)?maximum(?:\sof)?|(?:no|not) (?:more|later|longer|greater|higher|older) than|"
    r"(?:not|never) (?:to )?exceed(?:ing)?|no(?:t)? over|up to|limited to|capped at|a cap of"
)
_OVER = (
    r"(?:more|greater|longer|later|higher|older|larger) than|over|above|exceed(?:s|ed|ing)?|in excess of|after|beyond|"
    r"following"
)
_UNDER = r"(?:less|fewer|shorter|earlier|sooner|lower|younger|smaller) than|under|below|within|inside|before|until"
_LEADS = (
    r"\s+(?:(?:the|a|an|about|approximately|only|another|first|total of)\s+)*"
    r"(?:(?:expiry|expiration|end|lapse|completion|elapse) of\s+)?(?:(?:the|a|an|first)\s+)*\Z"
)
_BEFORE = tuple(
    (re.compile(rf"\b(?P<said>{words}){_LEADS}", re.IGNORECASE), sign)
    for words, sign in ((_AT_LEAST, 1), (_AT_MOST, -1), (_OVER, 1), (_UNDER, -1))
)
_EXPLICIT = re.compile(rf"{_AT_LEAST}|{_AT_MOST}", re.IGNORECASE)
_BEHIND = (
    (re.compile(r"[\s\w°%-]{0,16}?\b(?:or|and) (?:more|over|above|older|longer|later|higher|greater)\b", re.I), 1),
    (re.compile(r"[\s\w°%-]{0,16}?\b(?:or|and) (?:less|fewer|under|younger|earlier|shorter|lower|below)\b", re.I), -1),
)
# "No later than 45 days before" is at least 45 days before.
_TURNING = re.compile(r"(?:no|not) (?:later|earlier|sooner) than|up to|until", re.IGNORECASE)
_AHEAD = re.compile(r"[\s\w'’-]{0,24}?\b(?:before|prior to|in advance of|ahead of)\b", re.IGNORECASE)
# "One year" counts where a number of such units does.
_ONE = re.compile(r"\bone\b(?=\s(?:year|month|week|day|hour|minute)\b)", re.IGNORECASE)
_SAID = {1: "at least", -1: "at most"}
_TEXTS = {
    1: re.compile(rf"\b(?:{_AT_LEAST}|or more)\b", re.IGNORECASE),
    -1: re.compile(rf"\b(?:{_AT_MOST}|or less|or fewer|within)\b", re.IGNORECASE),
}


def check_bounds(claim: str, evidence: Evidence, prose: Sequence[str]) -> list[Finding]:
    """At least where the evidence says at most, or the other way round. ``prose`` is what is cited beside tables."""
    claim = _ONE.sub("1", claim)
    given = list(_bounded(evidence))
    agreed = False
    for number in numbers(claim):
        said, sign = _bound(claim, number)
        if not sign:
            continue
        same = [(one, its) for one, its, scale in given if agree(number, one, scale)]
        signs = {its for _, its in same}
        if sign in signs:
            agreed = True
        elif -sign in signs:
            other = next(one for one, its in same if its == -sign)
            return [
                Finding("unsupported", f"It says “{said} {number.raw}”; the cited words say {_words(other, -sign)}.")
            ]
        elif _EXPLICIT.fullmatch(said) and any(math.isclose(abs(o.amount), abs(number.amount)) for o, _ in same):
            return [Finding("weak", f"It says “{said} {number.raw}”; the cited words set no such bound.")]
    return [] if agreed else _in_words(claim, " ".join(prose))


def _words(number: Number, sign: int) -> str:
    return f"{_SAID[sign]} {number.raw}{f' {number.unit.name}' if number.unit else ''}"


def _bounded(evidence: Evidence) -> Iterator[tuple[Number, int, float | None]]:
    """Every number of the cited sentences, cells and their headers, its bound (1, -1 or 0) and its table's scale."""
    for sentence in evidence.sentences:
        text = _ONE.sub("1", sentence)
        for number in numbers(text):
            yield number, _bound(text, number)[1], None
    for cell in evidence.cited_cells:
        for text, scale in ((cell.text, cell.scale), (cell.row, None), (cell.column, None)):
            text = _ONE.sub("1", text)
            headed = _headed(cell.label) if text == cell.text else 0
            for number in numbers(text):
                yield number, _bound(text, number)[1] or headed, scale


def _headed(label: str) -> int:
    """The bound that the headers of a cell give ("Minimum order")."""
    least, most = (
        re.search(words, label, re.IGNORECASE) for words in (r"\bmin(?:imum|\.)", r"\b(?:max(?:imum|\.)|cap\b)")
    )
    return 0 if bool(least) == bool(most) else 1 if least else -1


def _bound(text: str, number: Number) -> tuple[str, int]:
    """The words that bound ``number`` and 1 for from it upwards, -1 for up to it; ("", 0) where it is not bounded."""
    ahead = f"{text[: number.start].rstrip()} "
    behind = text[number.start :].lstrip()[len(number.raw) :]
    for pattern, sign in _BEHIND:
        if pattern.match(behind):
            return _SAID[sign], sign
    for pattern, sign in _BEFORE:
        match = pattern.search(ahead)
        if match is not None:
            said = " ".join(match.group("said").lower().split())
            turned = _TURNING.fullmatch(said) is not None and _AHEAD.match(behind) is not None
            return said, -sign if turned else sign
    return "", 0


def _in_words(claim: str, given: str) -> list[Finding]:
    """The same where no figure is bounded ("at least quarterly")."""
    turned = re.compile(r"\b(?:no|not) (?:later|earlier|sooner) than\b[^.;]*\bbefore\b", re.IGNORECASE)
    if turned.search(claim) or turned.search(given):
        return []
    claimed = [sign for sign, pattern in _TEXTS.items() if pattern.search(claim)]
    there = [sign for sign, pattern in _TEXTS.items() if pattern.search(given)]
    if len(claimed) == 1 and there and claimed[0] not in there:
        return [Finding("unsupported", f"It says {_SAID[claimed[0]]}; the cited words say {_SAID[there[0]]}.")]
    return []
