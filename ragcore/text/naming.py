"""Name matching in passages: exact, misspelt, as initials, or only as a common word.

A statement about another company is no answer, even if its other words are close.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from difflib import get_close_matches
from itertools import pairwise

from ragcore.text.terms import Term, Wanted
from ragcore.text.words import STOP_WORDS, content_stems, tokens
from ragcore.types import Source
from ragcore.types.question import Name

_NEARLY = 0.84  # least similarity (difflib's ratio) of a misspelt name
_SHORTEST_MISSPELT = 5
_CAPITALISED = re.compile(r"(?:[A-Z][\w&.'’-]*(?:\s+(?:of|and|the|&|for|de|von|van)(?=\s))*[\s-]+)+[A-Z][\w&.'’-]*")
_FEWEST_INITIALS, _MOST_INITIALS = 2, 6
_FIRM = r"(?:Inc|Corp|Ltd|LLC|PLC|plc|AG|SE|GmbH|S\.?A|N\.?V|Co|Company|Corporation|Group)"
_PERIOD = re.compile(
    r"^(?:FY|Q[1-4]|[1-4]Q|H[12]|[12]H|CY)[\s'’-]*(?:(?:19|20)?\d\d)?$|^(?:19|20)\d\d(?:[QH][1-4])?$|^[QH][1-4](?:19|20)\d\d$",
    re.IGNORECASE,
)


def is_period(word: str) -> bool:
    """Whether a word is a year, a quarter or a fiscal period."""
    return _PERIOD.match(word) is not None


def named(names: Iterable[Name], terms: Sequence[Term]) -> list[Name]:
    """Names of ``names`` that belong to none of ``terms``: a domain term is not a name."""
    said = {word for term in terms for word in content_stems(term.said)}
    return [name for name in names if not set(content_stems(name.text)) <= said]


def unnamed(names: Sequence[Name], sources: Sequence[Source]) -> list[Name]:
    """Names of ``names`` that no source contains, in order: neither exactly, nor misspelt, nor as the abbreviation of a
    name there. A common word that only its capital makes a name must occur as a name."""
    if not names:
        return []
    texts = [full_text(source) for source in sources]
    given = _words_of(texts)
    initials = {short for text in texts for short in _initials(text)}
    titles = [source.title for source in sources]
    return [name for name in names if not _is_there(name, texts, titles, given, initials)]


def is_only_a_word(name: str, texts: Sequence[str]) -> bool:
    """Whether ``texts`` use ``name`` as a common word and never as a name: within a sentence in capitals, as an owner,
    or before a generic company word."""
    low = name.lower()
    as_name = re.compile(
        rf"(?<=[a-z0-9,;’')] ){re.escape(name)}(?![\w-])|(?<!\w){re.escape(name)}(?:['’]s\b|,?\s{_FIRM}(?!\w))"
        rf"|(?<!\w){re.escape(low)}['’]s\b"
    )
    word = re.compile(rf"(?<![^\W_]){re.escape(low)}(?![^\W_])")
    return any(word.search(text) for text in texts) and not any(as_name.search(text) for text in texts)


def words_lacking(question: str, sources: Sequence[Source], terms: Sequence[Term] = ()) -> list[str]:
    """Content words of ``question``, as written and in order, that no source contains, either directly or by a synonym
    of their term."""
    wanted = Wanted(question, terms)
    given = frozenset(content_stems(" ".join(full_text(source) for source in sources)))
    lacking = {word for word in wanted.words if not wanted.has(word, given)}
    found: dict[str, str] = {}
    for word in re.findall(r"[^\W_]+(?:[-–.&'’/][^\W_]+)*", question):
        for one in content_stems(word):
            if one in lacking:
                found.setdefault(one, re.sub(r"['’]s?$", "", word))
    return list(dict.fromkeys(found.values()))


def _words_of(texts: Sequence[str]) -> set[str]:
    given: set[str] = set()
    for text in texts:
        words = tokens(text)
        given.update(words)
        # "Best Buy" names "BestBuy".
        given.update(first + second for first, second in pairwise(words))
    return given


def _initials(text: str) -> set[str]:
    """Initials of all runs of words in the names of two to six words in ``text``: ``aa``, ``ab`` ..."""
    found: set[str] = set()
    for match in _CAPITALISED.finditer(text):
        letters = "".join(word[0] for word in re.split(r"[\s-]+", match.group()) if word[:1].isupper()).lower()
        for first in range(len(letters)):
            found.update(letters[first:end] for end in range(first + _FEWEST_INITIALS, first + _MOST_INITIALS + 1))
    return found


def full_text(source: Source) -> str:
    """Title, headings and text of a source."""
    return " ".join((source.title, *source.section, source.text))


def _is_there(name: Name, texts: Sequence[str], titles: Sequence[str], given: Set[str], initials: Set[str]) -> bool:
    """Whether the texts contain more than half of the words of ``name`` (possibly misspelt), all of them as one word,
    or the name that it abbreviates."""
    words = [word for word in tokens(name.text) if word not in STOP_WORDS and not is_period(word)]
    # "Target's revenue" is not about a document that sets targets; "Management's view" may be about one of managers.
    if name.common and is_only_a_word(name.text, texts):
        return any(re.search(rf"(?<![^\W_]){name.text}(?![^\W_])", title) for title in titles)
    if name.text.isupper() and re.sub(r"[^a-z]", "", name.text.lower()) in initials:
        return True
    # "JPM" names "JPMorgan".
    if name.text.isupper() and len(words) == 1 and len(words[0]) > 2 and any(one.startswith(words[0]) for one in given):
        return True
    lacking = [word for word in words if word not in given and not _misspelt(word, given)]
    return 2 * len(lacking) < len(words) or "".join(words) in given


def _misspelt(word: str, given: Set[str]) -> bool:
    if len(word) < _SHORTEST_MISSPELT:
        return False
    like = [other for other in given if other[0] == word[0] and abs(len(other) - len(word)) < 3]
    return bool(get_close_matches(word, like, n=1, cutoff=_NEARLY))
