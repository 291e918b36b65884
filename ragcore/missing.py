"""What of a question stands nowhere in the passages found: names, periods, identifiers.

What is said of another company or another year is no answer, however near it is in its other words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise

from ragcore.terms import Term, Wanted
from ragcore.types import Source
from ragcore.words import STOP_WORDS, content_stems, tokens, word_set

# A run of words that are written like names, within a sentence; an identifier anywhere.
_WORD = r"[A-Z][\w&.-]*[a-z0-9](?:['’]s?)?"
_NAME = re.compile(rf"(?<=[\w,)] )({_WORD}(?:\s(?:of\s|and\s|&\s)?{_WORD})*)(?!\w)")
_IDENTIFIER = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z][A-Za-z]*-?\d[\w-]*\b")
_PERIOD = re.compile(
    r"^(?:FY|Q[1-4]|[1-4]Q|H[12]|CY)[\s'’-]*(?:(?:19|20)?\d\d)?$|^(?:19|20)\d\d(?:Q[1-4])?$|^Q[1-4](?:19|20)\d\d$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d$€£.,])((?:19|20)\d\d)(?!\d|[.,]\d|\s*%)")
_YEAR_OF_QUARTER = re.compile(r"\bQ[1-4]((?:19|20)\d\d)(?!\d)", re.IGNORECASE)
_SHORT_YEAR = re.compile(r"\bFY[\s'’-]*(\d\d)(?!\d)", re.IGNORECASE)
_CALENDAR = word_set(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday"
)
_NEARLY = 0.84  # how alike a name is to one that is there, for it to be that one misspelt (difflib's ratio)
_SHORTEST_MISSPELT = 5
_NO_NAMES = STOP_WORDS | _CALENDAR | word_set("inc corp corporation company co ltd plc llc group holdings fiscal")


@dataclass(frozen=True, slots=True)
class Missing:
    """``names`` as the question writes them, and ``years``, that stand in no source, title or section."""

    names: tuple[str, ...] = ()
    years: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.names or self.years)

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.names, *map(str, self.years))


def missing(question: str, sources: Sequence[Source], terms: Sequence[Term] = ()) -> Missing:
    """What ``question`` asks about and ``sources`` do not name. Years count as missing where none of those asked for is
    there; a term of the trade (``terms``) is no name."""
    given, years = _named_by(sources)
    asked = years_in(question)
    return Missing(
        tuple(name for name in names_in(question, terms) if not _is_there(name, given)),
        () if asked & years else tuple(sorted(asked)),
    )


def words_lacking(question: str, sources: Sequence[Source], terms: Sequence[Term] = ()) -> list[str]:
    """The content words of ``question``, as it writes them, that no source has, by themselves or by another name of
    their term; in its order."""
    wanted = Wanted(question, terms)
    given = frozenset(content_stems(" ".join(_text(source) for source in sources)))
    lacking = {word for word in wanted.words if not wanted.has(word, given)}
    found: dict[str, str] = {}
    for word in re.findall(r"[^\W_]+(?:[-–.&'’/][^\W_]+)*", question):
        for one in content_stems(word):
            if one in lacking:
                found.setdefault(one, re.sub(r"['’]s?$", "", word))
    return list(dict.fromkeys(found.values()))


def _named_by(sources: Sequence[Source]) -> tuple[set[str], set[int]]:
    """The words and the years of the sources, their titles and sections."""
    given: set[str] = set()
    years: set[int] = set()
    for source in sources:
        text = _text(source)
        words = tokens(text)
        given.update(words)
        # "BestBuy" is named by "Best Buy".
        given.update(first + second for first, second in pairwise(words))
        years |= years_in(text)
    return given, years


def _text(source: Source) -> str:
    return " ".join((source.title, *source.section, source.text))


def names_in(question: str, terms: Sequence[Term] = ()) -> list[str]:
    """What ``question`` writes like a name, and its identifiers; its first word is not known to be one, and what
    belongs to a term of the trade, a period or the calendar is none."""
    said = {word for term in terms for word in content_stems(term.said)}
    found = []
    for name in (*_NAME.findall(question), *_IDENTIFIER.findall(question)):
        name = re.sub(r"['’]s?$", "", name)
        words = [word for word in tokens(name) if word not in _NO_NAMES and not _PERIOD.match(word)]
        if words and not set(content_stems(name)) <= said:
            found.append(name)
    return list(dict.fromkeys(found))


def years_in(text: str) -> set[int]:
    """The years that ``text`` names: 2018, FY2018, FY18, 2021Q1, Q2'2023."""
    found = {int(year) for year in (*_YEAR.findall(text), *_YEAR_OF_QUARTER.findall(text))}
    return found | {2000 + int(year) for year in _SHORT_YEAR.findall(text)}


def _is_there(name: str, given: Set[str]) -> bool:
    """Whether more than half of the words of ``name`` stand there, be they misspelt, or all of them as one word."""
    words = [word for word in tokens(name) if word not in STOP_WORDS and not _PERIOD.match(word)]
    lacking = [word for word in words if word not in given and not _misspelt(word, given)]
    return 2 * len(lacking) < len(words) or "".join(words) in given


def _misspelt(word: str, given: Set[str]) -> bool:
    if len(word) < _SHORTEST_MISSPELT:
        return False
    like = [other for other in given if other[0] == word[0] and abs(len(other) - len(word)) < 3]
    return bool(get_close_matches(word, like, n=1, cutoff=_NEARLY))
