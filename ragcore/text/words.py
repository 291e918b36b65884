"""Content words of questions and claims, as stems.

Used wherever two texts are compared by words (verification, refusal, the offline writer). Stems come from Snowball's
English stemmer (Porter 2001).
"""

from __future__ import annotations

import re
import threading
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Set
from functools import lru_cache
from importlib import resources
from math import log
from typing import Any, Final

from Stemmer import Stemmer

# Regular expression for a month, full or abbreviated.
MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)"
)
# Letters and digits with inner hyphens, dots, ampersands or apostrophes: BMS-986158, R&D, U.S, company's.
WORD = re.compile(r"[^\W_]+(?:[-–.&'’/][^\W_]+)*")
# Brackets in a name hold its abbreviation or the meaning of negative numbers.
BRACKETED = re.compile(r"\([^()]*\)")
_FISCAL_YEAR = re.compile(r"^(?:fy|fiscal)-?(\d{2}|\d{4})$")


def word_set(text: str) -> frozenset[str]:
    """Words of a list written as prose."""
    return frozenset(text.split())


with resources.files("ragcore.text").joinpath("words.toml").open("rb") as _file:
    LISTS: Final[Mapping[str, Any]] = tomllib.load(_file)
MONTHS: Final[tuple[str, ...]] = tuple(LISTS["months"].split())  # in every locale, unlike those of `time.strftime`
FUNCTION_WORDS: Final = word_set(LISTS["english"])
OTHER_FUNCTION_WORDS: Final[dict[str, frozenset[str]]] = {
    language: word_set(words) for language, words in LISTS["other"].items()
}
_SHORTEST_OTHER = 3  # letters; two-letter words may be units, elements or states
# Function words, common words of questions and answers, and the function words of other languages.
STOP_WORDS: Final = (
    frozenset(word for words in OTHER_FUNCTION_WORDS.values() for word in words if len(word) >= _SHORTEST_OTHER)
    - word_set(LISTS["english_too"])
    | FUNCTION_WORDS
    | word_set(LISTS["of_questions"])
)
REPORTING: Final = word_set(LISTS["of_reporting"])
_IRREGULAR: Final[dict[str, str]] = {past: verb for verb, forms in LISTS["irregular"].items() for past in forms.split()}


class _Local(threading.local):
    """Stemmer of a thread, since one is not safe to share."""

    def __init__(self) -> None:
        self.stemmer = Stemmer("english")


_local = _Local()


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Stem of a lower-case word, or of its base form if it is an irregular past; a word with a digit is
    unchanged."""
    if any(character.isdigit() for character in word):
        return word
    return str(_local.stemmer.stemWord(_IRREGULAR.get(word, word)))


def tokens(text: str) -> list[str]:
    """Lower-case words of ``text`` in order, with compatibility forms folded and possessive endings removed.

    A hyphenated or slashed word of letters gives its parts; a fiscal year (``FY2018``, ``FY18``) gives the year.
    """
    return [part for word in WORD.findall(unicodedata.normalize("NFKC", text)) for part in _parts(word)]


@lru_cache(maxsize=65536)
def _parts(word: str) -> tuple[str, ...]:
    """Words of one match of `WORD`."""
    word = word.lower().replace("’", "'").replace("–", "-")
    word = word.removesuffix("'s").replace(".", "") if not word[0].isdigit() else word
    year = _FISCAL_YEAR.match(word)
    if year:
        digits = year.group(1)
        return (digits if len(digits) == 4 else f"20{digits}",)
    if any(c.isdigit() for c in word):
        return (word,)
    return tuple(part for part in re.split(r"[-/]", word) if part)


def folded(text: str) -> str:
    """``text`` in lower case, with compatibility forms folded and without accents."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))


# Chinese, Japanese, Thai and Lao characters, which are words of their own.
_SINGLE = r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
LEXEME = re.compile(rf"{_SINGLE}|(?:(?!{_SINGLE})[^\W_])+")


def lexemes(text: str) -> list[str]:
    """Words of ``text`` for looking it up, in order: letters or digits, ignoring accents and case, as stems."""
    return [part for word in LEXEME.findall(unicodedata.normalize("NFC", text)) for part in _lexemes(word)]


@lru_cache(maxsize=65536)
def _lexemes(word: str) -> tuple[str, ...]:
    parts = LEXEME.findall(folded(word))
    return tuple(part if any(map(str.isdigit, part)) else str(_local.stemmer.stemWord(part)) for part in parts)


def content_stems(text: str) -> list[str]:
    """Stems of the content words of ``text``, in order, with repetitions."""
    return [stem(word) for word in tokens(text) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())]


def without_brackets(text: str) -> str:
    return BRACKETED.sub(" ", text)


def name_stems(name: str) -> frozenset[str]:
    """Stems of a quantity's name, without bracketed text, numbers and ``total``."""
    stems = content_stems(without_brackets(name))
    return frozenset(one for one in stems if not one.isdigit() and one != "total")


def naming(name: Set[str], words: Set[str]) -> float:
    """How well ``words`` name a quantity: share of the stems of its ``name`` that they have, 0–1, squared, since what
    only shares words with it is another quantity. One stem counts half: it may be there by chance."""
    held = len(name & words)
    return (held / len(name)) ** 2 * min(1.0, held / 2) if name else 0.0


def cover(wanted: Iterable[str], given: Iterable[str]) -> float:
    """Share of the distinct stems ``wanted`` that are among ``given``, 0–1; 1.0 if ``wanted`` is empty."""
    needed = set(wanted)
    return len(needed & set(given)) / len(needed) if needed else 1.0


class Rarity:
    """Weights of words among ``texts``, each given by its words: the fewer have a word, the more it weighs."""

    def __init__(self, texts: Collection[Iterable[str]]) -> None:
        self._texts = len(texts)
        self._counts = Counter(word for words in texts for word in words)

    def of(self, word: str) -> float:
        return log(1 + self._texts / (1 + self._counts[word]))

    def total(self, words: Iterable[str]) -> float:
        return sum(map(self.of, words))
