"""Names looked for in passages: as they are written, misspelt, as initials, or as a common word only.

What is said of another company is no answer, however near it is in its other words.
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

_NEARLY = 0.84  # how alike a name is to one that is there, for it to be that one misspelt (difflib's ratio)
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
    """Those of ``names`` that belong to none of ``terms``: a term of the trade is nobody's name."""
    said = {word for term in terms for word in content_stems(term.said)}
    return [name for name in names if not set(content_stems(name.text)) <= said]


def unnamed(names: Sequence[Name], sources: Sequence[Source]) -> list[Name]:
    """Those of ``names`` that no source has, in their order: neither as they are written, nor misspelt, nor short
    for a name that is there. A common word that only its capital makes a name must stand as one."""
    if not names:
        return []
    texts = [full_text(source) for source in sources]
    given = _words_of(texts)
    initials = {short for text in texts for short in _initials(text)}
    titles = [source.title for source in sources]
    return [name for name in names if not _is_there(name, texts, titles, given, initials)]


def is_only_a_word(name: str, texts: Sequence[str]) -> bool:
    """Whether ``texts`` have ``name`` as a common word and never as a name: within a sentence in capitals, as an owner,
    or before what companies are."""
    low = name.lower()
    as_name = re.compile(
        rf"(?<=[a-z0-9,;’')] ){re.escape(name)}(?![\w-])|(?<!\w){re.escape(name)}(?:['’]s\b|,?\s{_FIRM}(?!\w))"
        rf"|(?<!\w){re.escape(low)}['’]s\b"
    )
    word = re.compile(rf"(?<![^\W_]){re.escape(low)}(?![^\W_])")
    return any(word.search(text) for text in texts) and not any(as_name.search(text) for text in texts)


def words_lacking(question: str, sources: Sequence[Source], terms: Sequence[Term] = ()) -> list[str]:
    """The content words of ``question``, as it writes them, that no source has, by themselves or by another name of
    their term; in its order."""
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
        # "BestBuy" is named by "Best Buy".
        given.update(first + second for first, second in pairwise(words))
    return given


def _initials(text: str) -> set[str]:
    """The initials of names of two to six words in ``text``, of each run of their words: ``aa``, ``ab`` ..."""
    found: set[str] = set()
    for match in _CAPITALISED.finditer(text):
        letters = "".join(word[0] for word in re.split(r"[\s-]+", match.group()) if word[:1].isupper()).lower()
        for first in range(len(letters)):
            found.update(letters[first:end] for end in range(first + _FEWEST_INITIALS, first + _MOST_INITIALS + 1))
    return found


def full_text(source: Source) -> str:
    """Title, headings and text."""
    return " ".join((source.title, *source.section, source.text))


def _is_there(name: Name, texts: Sequence[str], titles: Sequence[str], given: Set[str], initials: Set[str]) -> bool:
    """Whether more than half of the words of ``name`` stand there, be they misspelt, or all of them as one word, or
    what it is short for."""
    words = [word for word in tokens(name.text) if word not in STOP_WORDS and not is_period(word)]
    # "Target's revenue" is not asked of a document that sets targets; "Management's view" is.
    if name.common and is_only_a_word(name.text, texts):
        return any(re.search(rf"(?<![^\W_]){name.text}(?![^\W_])", title) for title in titles)
    if name.text.isupper() and re.sub(r"[^a-z]", "", name.text.lower()) in initials:
        return True
    # JPM is JPMorgan.
    if name.text.isupper() and len(words) == 1 and len(words[0]) > 2 and any(one.startswith(words[0]) for one in given):
        return True
    lacking = [word for word in words if word not in given and not _misspelt(word, given)]
    return 2 * len(lacking) < len(words) or "".join(words) in given


def _misspelt(word: str, given: Set[str]) -> bool:
    if len(word) < _SHORTEST_MISSPELT:
        return False
    like = [other for other in given if other[0] == word[0] and abs(len(other) - len(word)) < 3]
    return bool(get_close_matches(word, like, n=1, cutoff=_NEARLY))
