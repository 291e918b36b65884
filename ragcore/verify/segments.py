"""The part of a sentence that each of its numbers stands in: "$5 in 2022 | and $4 in 2021"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.text.numbers import Number

# Where one part of a sentence ends and the next begins, strongest first.
_BREAKS = (
    re.compile(r";|\b(?:while|whereas|but|compared|versus|vs|against|than|from|up from|down from|exceed\w*)\b", re.I),
    re.compile(r",?\s+(?:and|or)\b|\bto\b", re.IGNORECASE),
    re.compile(r",|\bwith\b"),
)
_COMPARED = re.compile(
    r"\b(?:from|than|versus|vs\.?|compared (?:to|with)|against|up from|down from)\s+(?:about\s+|approximately\s+|"
    r"only\s+)?$",
    re.IGNORECASE,
)


def parts(text: str, marked: Sequence[Number]) -> list[str]:
    """The part of ``text`` that each of the ``marked`` numbers (in order) stands in."""
    starts = []
    for place, number in enumerate(marked):
        compared = _COMPARED.search(text, 0, number.start)
        if compared is not None:
            starts.append(compared.start())
        elif place == 0:
            starts.append(0)
        else:
            before = marked[place - 1]
            starts.append(_break(text, before.start + len(before.raw), number.start))
    ends = [*starts[1:], len(text)]
    return [text[start:end] for start, end in zip(starts, ends)]


def _break(text: str, start: int, end: int) -> int:
    for pattern in _BREAKS:
        match = pattern.search(text, start, end)
        if match is not None:
            return match.start()
    return end


def until_break(text: str) -> str:
    """``text`` up to where its sentence turns to something else ("..., whereas ...")."""
    match = _BREAKS[0].search(text)
    return text[: match.start()] if match else text


def compared_with(text: str, number: Number) -> bool:
    """Whether ``number`` is what something is compared with ("from 5", "than 5"): its period is another one."""
    return _COMPARED.search(text, 0, number.start) is not None
