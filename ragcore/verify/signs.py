"""Signs of figures: the meaning of an amount by the nouns beside it, in a table and in a claim.

"Income before taxes: (1,081)" is a loss, so a claim of 1,081 must say loss; "Marketing expense: (415)" is a deduction,
which is stated without its sign. If a name gives two words, "benefit (expense)", the bracketed word is the meaning of a
bracketed amount.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from ragcore.text.lexicon import DEDUCTED, DOWN, GAIN, GIVEN_OUT, LOSS, NARROWED_BY
from ragcore.text.words import tokens

Meaning = Literal["gain", "loss", "deduction", ""]

_BESIDE = 3  # words from a direction to its figure
_BRACKETED = re.compile(r"\([^()\d]*\)")


@dataclass(frozen=True, slots=True)
class Sense:
    """Meaning of a row's or column's amounts, printed ``plain`` and ``bracketed``; ``words`` are those in brackets."""

    plain: Meaning
    bracketed: Meaning
    words: frozenset[str]


def sense_of(name: str) -> Sense:
    """Sense of the amounts called ``name``: by its last telling noun before words that narrow it, and by the bracketed
    one; "" if the name does not tell."""
    inside = tokens(" ".join(_BRACKETED.findall(name)))
    nouns = takewhile(lambda word: word not in NARROWED_BY, tokens(_BRACKETED.sub(" ", name)))
    found = [meaning for word in nouns if (meaning := _meaning(word))]
    both = "gain" in found and "loss" in found  # "profit or loss": brackets decide which
    plain: Meaning = "gain" if both else found[-1] if found else ""
    other: Meaning = next((meaning for word in inside if (meaning := _meaning(word))), "")
    if plain and other and plain != other:
        return Sense(plain, other, frozenset(inside))
    return Sense(plain, "loss" if plain == "gain" else plain, frozenset())


def told(text: str, own: str, named: frozenset[str]) -> tuple[Meaning, bool]:
    """Meaning of a figure in the claim ``text`` by the last noun of its ``own`` words, else by the first of the text,
    which is its subject; and whether it went down or out ("decreased by", "paid"). ``named`` are more nouns of a
    loss."""
    words = tokens(own)
    out = not GIVEN_OUT.isdisjoint(words) or not DOWN.isdisjoint(words[-_BESIDE:])
    nouns = _nouns(words, named)[-1:] or _nouns(tokens(text), named)
    return (nouns[0] if nouns else ""), out


def _nouns(words: Sequence[str], named: frozenset[str]) -> list[Meaning]:
    """Meanings of the nouns among ``words`` that do not narrow another noun ("income taxes", "before income")."""
    narrow = ("tax", "taxes", "statement", "statements")
    around = zip(["", *words], words, [*words[1:], ""])
    free = [word for before, word, after in around if after not in narrow and before != "before"]
    return ["gain" if word in GAIN - named else "loss" for word in free if word in GAIN | LOSS | named]


def _meaning(word: str) -> Meaning:
    return "gain" if word in GAIN else "loss" if word in LOSS else "deduction" if word in DEDUCTED else ""
