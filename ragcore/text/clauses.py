"""Clauses of a sentence: its parts that say something each."""

from __future__ import annotations

import re
from itertools import pairwise

from ragcore.text.lexicon import CONJUNCTIONS, PARTITIVE
from ragcore.text.words import content_stems

_BREAK = re.compile(rf"[;:—–,]\s|(?={PARTITIVE.pattern})|(?={CONJUNCTIONS.pattern})", re.IGNORECASE)
# Before the number of a part: "; and (b) …".
ENUMERATOR = re.compile(r"(?:[;:—]\s*|\.\s+)(?:(?:and|or|and/or)\s+)?(?=\((?:\d{1,2}|[a-z]|[ivx]{1,5})\)\s)", re.I)
_RANGE = re.compile(r"\d(?:\S*[\w%)])?\s\w+\s\S?\d")  # "between 25 and 30"
_FEWEST = 2  # content words of a clause


def clause_spans(sentence: str) -> list[tuple[int, int]]:
    """Spans of the clauses of ``sentence``, in order, with nothing but blanks and punctuation between them.

    A clause begins at punctuation, a conjunction between other words than two numbers, or a word for a part of a whole;
    one with less than two content words belongs to the one before it.
    """
    ranges = {place for one in _RANGE.finditer(sentence) for place in range(*one.span())}
    breaks = (match.end() for match in _BREAK.finditer(sentence))
    cuts = [0, *dict.fromkeys(end for end in breaks if end and end not in ranges), len(sentence)]
    out: list[tuple[int, int]] = []
    for start, end in pairwise(cuts):
        piece = sentence[start:end]
        if out and (len(content_stems(piece)) < _FEWEST or len(content_stems(sentence[slice(*out[-1])])) < _FEWEST):
            out[-1] = (out[-1][0], end)
        elif piece.strip():
            out.append((start, end))
    return [_trimmed(sentence, start, end) for start, end in out]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    said = text[start:end]
    start += len(said) - len(said.lstrip(" ,;:—–"))
    return start, start + len(text[start:end].rstrip(" ,;:—–"))
