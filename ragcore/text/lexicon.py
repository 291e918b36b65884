"""Lexicon of English word classes for comparing texts, read once from ``ragcore/text/lexicon.toml``.

Words have the form given by `tokens`; a phrase is a tuple of such words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from operator import eq
from typing import Any, Final

from ragcore.text.words import content_stems, stem, tokens, word_set

Phrase = tuple[str, ...]
_REACH = 12  # words between a denial and what it limits


def _phrases(lines: Iterable[str]) -> tuple[Phrase, ...]:
    return tuple(sorted((tuple(line.split()) for line in lines), key=len, reverse=True))


def _sides(lines: Iterable[str]) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Word → (all words of its side, all words of the other side)."""
    out: dict[str, tuple[set[str], set[str]]] = {}
    for line in lines:
        one, other = (side.split() for side in line.split("|"))
        for own, opposed in ((one, other), (other, one)):
            for word in own:
                mine, theirs = out.setdefault(word, (set(), set()))
                mine.update(own)
                theirs.update(opposed)
    return {word: (frozenset(mine), frozenset(theirs)) for word, (mine, theirs) in out.items()}


with resources.files("ragcore.text").joinpath("lexicon.toml").open("rb") as _file:
    _DATA: Mapping[str, Any] = tomllib.load(_file)
UP: Final = word_set(_DATA["direction"]["up"])
DOWN: Final = word_set(_DATA["direction"]["down"])
BETTER: Final = word_set(_DATA["direction"]["better"])
WORSE: Final = word_set(_DATA["direction"]["worse"])
LESS_IS_BETTER: Final = word_set(_DATA["direction"]["less_is_better"])
_EXCEEDING, _TRAILING = (word_set(_DATA["degree"][name]) for name in ("exceeding", "trailing"))
MORE: Final = word_set(_DATA["degree"]["more"]) | _EXCEEDING
LESS: Final = word_set(_DATA["degree"]["less"]) | _TRAILING
SUPERLATIVES: Final = {
    word: sign for name, sign in (("most", 1), ("least", -1)) for word in word_set(_DATA["degree"][name])
}
COMPARING_VERBS: Final = _EXCEEDING | _TRAILING
SCALES: Final = word_set(_DATA["figures"]["scales"])
SPANS: Final = word_set(_DATA["figures"]["spans"])  # words of a period, beside its years, months and days
SPAN_STEMS: Final = frozenset(content_stems(" ".join(SPANS)))
BESIDE_FIGURES: Final = word_set(_DATA["figures"]["words"]) | SCALES
TURNING: Final = word_set(_DATA["turning"]["words"])
DENIALS: Final = word_set(_DATA["denial"]["words"])
IMPLIED: Final = word_set(_DATA["denial"]["implied"])
IDIOMS: Final = _phrases(_DATA["denial"]["idioms"])
OPPOSITES: Final = _sides(_DATA["opposites"]["pairs"])
# Words before a figure → 1 for a lower bound, -1 for an upper bound; those in `EXPLICIT` have no other meaning.
BOUNDS: Final = {
    phrase: sign
    for name, sign in (("over", 1), ("under", -1), ("least", 1), ("most", -1))
    for phrase in _phrases(_DATA["bound"][name])
}
EXPLICIT: Final = frozenset(_phrases([*_DATA["bound"]["least"], *_DATA["bound"]["most"]]))


_SIGN, _SUBJECT, _AMOUNT, _PART, _NAME = (_DATA[name] for name in ("sign", "subject", "amount", "part", "name"))
GAIN: Final = word_set(_SIGN["gain"])
LOSS: Final = word_set(_SIGN["loss"])
DEDUCTED: Final = word_set(_SIGN["deducted"]) | UP | DOWN
GIVEN_OUT: Final = word_set(_SIGN["given_out"])
NARROWED_BY: Final = word_set(_SIGN["narrowed_by"])
UNIMPORTANT: Final = word_set(_SUBJECT["unimportant"])
ABOUT: Final = word_set(_AMOUNT["about"])
CHANGES: Final = word_set(_AMOUNT["changes"]) | UP | DOWN | MORE | LESS | BETTER | WORSE
IN_UNITS: Final[tuple[str, ...]] = tuple(_AMOUNT["in_units"])
SUM: Final = word_set(_AMOUNT["sum"])
DERIVED: Final = word_set(_AMOUNT["derived"]) | CHANGES | SUM
_OF_SUMS = ("total", "rest", "change", "share", "pointing", "otherwise")
TOTAL, REST, CHANGE, SHARE, POINTING, OTHERWISE = (word_set(_AMOUNT[name]) for name in _OF_SUMS)
TOTAL_STEMS: Final = frozenset(content_stems(" ".join(TOTAL)))
TITLES: Final = word_set(_NAME["titles"])
NO_NAMES: Final = word_set(_NAME["none"]) | TITLES
WHOM: Final = word_set(_NAME["whom"])
_STANCE = _DATA["stance"]
DOUBTFUL: Final = word_set(_STANCE["doubtful"])
POSSIBLE: Final = word_set(_STANCE["possible"])
ABLE: Final = word_set(_STANCE["able"])
HEDGES: Final = word_set(_STANCE["hedges"]) | DOUBTFUL | POSSIBLE | ABLE
ALL: Final = word_set(_STANCE["all"])
SOME: Final = word_set(_STANCE["some"])
ONLY: Final = word_set(_STANCE["only"])
MOST: Final = word_set(_STANCE["most"])
SELF: Final = word_set(_STANCE["self"])
OPINIONS: Final = word_set(_STANCE["opinions"])
ATTITUDE: Final = word_set(_STANCE["attitude"])
WORKS: Final = tuple(f" {heading}" for heading in _DATA["works"]["headings"])
ASKING_FOR_WORKS: Final = word_set(_DATA["works"]["asked"]) | {one.strip() for one in WORKS}
KINDS: Final = word_set(_DATA["telling"]["kinds"])  # of documents
SOURCES: Final = word_set(_DATA["telling"]["sources"])
TELLING: Final = word_set(_DATA["telling"]["words"])


def any_of(phrases: Iterable[str]) -> str:
    """Regular expression for one of ``phrases``, as whole words."""
    found = sorted(phrases, key=len, reverse=True)
    return rf"\b(?:{'|'.join(re.escape(phrase) for phrase in found)})\b"


# Boundaries between parts of a sentence, strongest first; and the words that introduce a comparison value.
PARTS: Final = (
    re.compile(rf";|{any_of(_PART['turns'])}", re.IGNORECASE),
    re.compile(rf",?\s+{any_of(_PART['joins'])}", re.IGNORECASE),
    re.compile(rf",|{any_of(_PART['adds'])}", re.IGNORECASE),
)
BEFORE_YEAR: Final = word_set(_PART["before_year"])
CAUSES: Final = word_set(_PART["causes"])
CONJUNCTIONS: Final = re.compile(any_of(_PART["clauses"]), re.IGNORECASE)
PARTITIVE: Final = re.compile(any_of(_PART["partitive"]), re.IGNORECASE)
COMPARED_WITH: Final = re.compile(
    rf"{any_of(_PART['compared'])}\.?\s+(?:{any_of(_PART['between'])}\s+)?\Z", re.IGNORECASE
)
_COMPARISON: Final = re.compile(
    rf"(?:{any_of({*_PART['compared']} - {*_PART['loose']})}|{any_of(_PART['loose'])}\s+{any_of(_PART['periodic'])}"
    r"|\bfrom\s+(?!(?:19|20)\d\d\b)[$€£]?\d)\.?(?:[^.;\n]|\.(?=\d))*",
    re.IGNORECASE,
)


def without_comparisons(text: str) -> str:
    """``text`` without what it compares with: "Sales rose 5%" of "Sales rose 5% compared to fiscal 2021"."""
    return _COMPARISON.sub("", text)


def places(phrase: Sequence[str], words: Sequence[str]) -> list[int]:
    """Places in ``words`` at which ``phrase`` begins."""
    starts = range(len(words) - len(phrase) + 1)
    return [start for start in starts if all(map(eq, phrase, words[start : start + len(phrase)]))]


def find(words: Sequence[str], phrases: Iterable[Phrase]) -> list[tuple[int, int]]:
    """Spans ``[start, end)`` of the ``phrases`` (longest first) in ``words``, in order and not nested."""
    taken: list[tuple[int, int]] = []
    for phrase in phrases:
        for start in places(phrase, words):
            end = start + len(phrase)
            if not any(start < high and low < end for low, high in taken):
                taken.append((start, end))
    return sorted(taken)


def limit(words: Sequence[str], at: int) -> int | None:
    """Position of the denial by which "exceed" at ``at`` is a limit: "in no event shall the fees exceed"."""
    before = range(at - 1, max(at - _REACH, 0) - 1, -1) if words[at] == "exceed" else ()
    return next((place for place in before if words[place] in DENIALS), None)


def idioms(words: Sequence[str]) -> list[tuple[int, int]]:
    """Spans ``[start, end)`` of what denies nothing in ``words`` ("no later than"), in order and not nested."""
    limits = {place for at in range(len(words)) if (place := limit(words, at)) is not None}
    found = find(words, IDIOMS)
    return sorted([*found, *((at, at + 1) for at in limits if not any(low <= at < high for low, high in found))])


def without_idioms(words: Sequence[str]) -> list[str]:
    """``words`` except `idioms`."""
    gone = {index for start, end in idioms(words) for index in range(start, end)}
    return [word for index, word in enumerate(words) if index not in gone]


def denials(words: Sequence[str]) -> frozenset[str]:
    """Denials among ``words``, except those of idioms."""
    return DENIALS.intersection(without_idioms(words))


@lru_cache(maxsize=1)
def synonyms() -> Mapping[str, frozenset[str]]:
    """Stem → stems of all its synonyms."""
    groups: dict[str, set[str]] = {}
    for line in _DATA["synonyms"]["groups"]:
        stems = {stem(word) for word in tokens(line)}
        for one in stems:
            groups.setdefault(one, set()).update(stems)
    return {one: frozenset(group) for one, group in groups.items()}


@lru_cache(maxsize=1)
def antonyms() -> Mapping[str, frozenset[str]]:
    """Stem → stems of all its opposites, by WordNet (``ragcore/text/antonyms.txt``)."""
    lines = resources.files("ragcore.text").joinpath("antonyms.txt").read_text("utf-8").splitlines()
    sides = _sides(line for line in lines if not line.startswith("#"))
    stems: dict[str, frozenset[str]] = {}
    for word, (_, opposed) in sides.items():
        stems[stem(word)] = stems.get(stem(word), frozenset()).union(map(stem, opposed))
    return stems


def _sign(word: str, said_of: frozenset[str]) -> int:
    if word in UP or word in DOWN:
        return 1 if word in UP else -1
    if word in BETTER or word in WORSE:
        return 0 if LESS_IS_BETTER & said_of else 1 if word in BETTER else -1
    return 0


def signs(words: Sequence[str]) -> list[int]:
    """Direction of each of ``words``: 1 for up, -1 for down, 0 for neither."""
    said_of = frozenset(words)
    return [_sign(word, said_of) for word in words]


def direction(text: str) -> int:
    """Direction of change in ``text``: 1 for up, -1 for down, 0 for neither or both."""
    found = set(signs(tokens(text))) - {0}
    return found.pop() if len(found) == 1 else 0
