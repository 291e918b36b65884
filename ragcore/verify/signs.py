"""Signs of figures: the meaning of a bracketed amount by its row's name, and of a bare one by the claim's words.

The sign comes from the cell. "Income before taxes: (1,081)" is a loss, so a claim of 1,081 must say loss; "Marketing
expense: (415)" is a deduction, which is stated without its sign. If a name gives two words, "benefit (expense)", the
bracketed word is the meaning of a bracketed amount.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ragcore.text.lexicon import DEDUCTED, DOWN, GAIN, GIVEN_OUT, LOSS, NARROWED_BY

Meaning = Literal["gain", "loss", "deduction", ""]

_BRACKETED = re.compile(r"\([^()\d]*\)")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_BESIDE = 2  # words from a direction to its figure, without "by" between them


@dataclass(frozen=True, slots=True)
class Reading:
    """Meaning of a row's amounts, printed plainly and in brackets. ``either``: its name gives a word for both, with
    ``bracketed_words`` in brackets."""

    plain: Meaning = ""
    bracketed: Meaning = ""
    either: bool = False
    bracketed_words: frozenset[str] = frozenset()

    def meaning(self, negative: bool) -> Meaning:
        return self.bracketed if negative else self.plain


def reading(name: str, group: str = "") -> Reading:
    """Meaning of the amounts of a row in ``group``, or of a column, with the name ``name``; all "" if the name does not
    tell."""
    plain = _of_name(_BRACKETED.sub(" ", name))
    if plain is None:
        name = f"{group} {name}"
        plain = _of_name(_BRACKETED.sub(" ", name))
    inside = _words(" ".join(_BRACKETED.findall(name)))
    other: Meaning = next((meaning for word in inside if (meaning := _meaning(word))), "")
    if plain and other and plain != other:
        return Reading(plain, other, either=True, bracketed_words=frozenset(inside))
    if plain == "gain":
        return Reading("gain", "loss")
    return Reading(plain or "", plain or "")


def _of_name(name: str) -> Meaning | None:
    """Meaning of the noun of ``name``; None without a noun before its narrowing words."""
    phrase = _noun_phrase(name)
    if not phrase:
        return None
    found = [meaning for word in phrase if (meaning := _meaning(word))]
    if "gain" in found and "loss" in found:
        return "gain"  # "profit or loss": brackets decide which
    return found[-1] if found else ""


def _noun_phrase(name: str) -> list[str]:
    """Words of ``name`` before those that narrow its noun: "Income" in "Income before taxes"."""
    words = _words(re.split(r"[,:;]", name.strip(), maxsplit=1)[0])
    return words[: next((place for place, word in enumerate(words) if word in NARROWED_BY), len(words))]


def _meaning(word: str) -> Meaning:
    return "gain" if word in GAIN else "loss" if word in LOSS else "deduction" if word in DEDUCTED else ""


def _words(text: str) -> list[str]:
    return [match.group().lower() for match in _WORD.finditer(text)]


@dataclass(frozen=True, slots=True)
class Told:
    """Meaning of a figure by the words around it. ``out``: it went down or out ("decreased by", "paid"), whatever the
    noun."""

    meaning: Meaning = ""
    out: bool = False


def told(text: str, start: int, end: int, before: int, after: int, named: frozenset[str] = frozenset()) -> Told:
    """Meaning that ``text`` gives the figure at ``[start, end)``, whose neighbours end at ``before`` and begin at
    ``after``.

    The nearest noun before the figure decides, else one right after it, else the first of the text, which is its
    subject. ``named`` are additional nouns, read as "deduction".
    """
    text = _BRACKETED.sub(lambda match: " " * len(match.group()), text)
    leading = _words(text[before:start])
    out, to = False, False
    for distance, word in enumerate(reversed(leading)):
        to = to or word == "to"
        by = leading[-1] == "by"
        out = out or (word in DOWN and not to and (by or distance < _BESIDE)) or word in GIVEN_OUT
        meaning = _noun(leading, len(leading) - 1 - distance, named)
        if meaning:
            return Told(meaning, out)
    behind = _words(re.split(r"[,;]", text[end:after], maxsplit=1)[0])
    subject = _words(text[:before])
    for words in (behind, subject):
        meaning = next((found for place in range(len(words)) if (found := _noun(words, place, named))), "")
        if meaning:
            return Told(meaning, out)
    return Told("", out)


def _noun(words: list[str], place: int, named: frozenset[str]) -> Meaning:
    """Meaning of the word at ``place``; "" if it only narrows another noun ("income taxes", "before income")."""
    word, following = words[place], words[place + 1 : place + 2]
    if word in named:
        return "deduction"
    if following in (["tax"], ["taxes"], ["statement"], ["statements"]) or words[max(0, place - 1) : place] == [
        "before"
    ]:
        return ""
    return "gain" if word in GAIN else "loss" if word in LOSS else ""
