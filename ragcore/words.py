"""Words as evidence: what a question or a claim is about, as Porter stems of its content words.

Used wherever two texts are held against each other by their words (verification, refusal, the offline writer). Stems
come from NLTK's Porter stemmer (Porter 1980), which needs no data.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

# Letters and digits with inner hyphens, dots, ampersands or apostrophes: BMS-986158, R&D, U.S, company's.
_TOKEN = re.compile(r"[^\W_]+(?:[-–.&'’/][^\W_]+)*")
_FISCAL_YEAR = re.compile(r"^(?:fy|fiscal)-?(\d{2}|\d{4})$")


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as prose."""
    return frozenset(text.split())


FUNCTION_WORDS = word_set("""
    a about above after again against all also am an and any are as at be because been before being below between
    both but by can cannot could did do does doing down during each else few for from further had has have having he
    her here hers herself him himself his how however i if in into is it its itself just me more most my myself no
    nor not now of off on once only or other our ours ourselves out over own per please same shall she should so
    some such than that the their theirs them themselves then there therefore these they this those through thus to
    too under until up upon very was we were what when where whether which while who whom whose why will with within
    without would you your yours yourself yourselves
""")
# With the words in which questions and answers are put.
STOP_WORDS = FUNCTION_WORDS | word_set("""
    according although based describe either ever explain following give hence let list many may might much must
    onto respectively show tell us used using
""")


@lru_cache(maxsize=1)
def _stemmer() -> PorterStemmer:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


# Past forms that a suffix stemmer cannot bring home.
_IRREGULAR = {
    "paid": "pay", "spent": "spend", "sold": "sell", "bought": "buy", "grew": "grow", "grown": "grow", "rose": "rise",
    "risen": "rise", "fell": "fall", "fallen": "fall", "held": "hold", "lost": "lose", "began": "begin",
    "begun": "begin", "led": "lead", "sent": "send", "brought": "bring", "took": "take", "taken": "take",
    "gave": "give", "given": "give", "chose": "choose", "chosen": "choose", "wrote": "write", "written": "write",
    "drove": "drive", "driven": "drive", "lent": "lend", "built": "build", "kept": "keep", "met": "meet",
    "won": "win", "ran": "run",
}  # fmt: skip


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The Porter stem of a lower-case word, of its base form where it is an irregular past; a word with a digit is
    itself."""
    if any(character.isdigit() for character in word):
        return word
    return str(_stemmer().stem(_IRREGULAR.get(word, word)))


def tokens(text: str) -> list[str]:
    """Lower-case words of ``text`` in order, compatibility forms folded, possessive endings removed.

    A hyphenated or slashed word of letters gives its parts; a fiscal year (``FY2018``, ``FY18``) gives the year.
    """
    out: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        word = match.group().lower().replace("’", "'").replace("–", "-")
        word = word.removesuffix("'s").replace(".", "") if not word[0].isdigit() else word
        year = _FISCAL_YEAR.match(word)
        if year:
            digits = year.group(1)
            out.append(digits if len(digits) == 4 else f"20{digits}")
        elif any(c.isdigit() for c in word):
            out.append(word)
        else:
            out.extend(part for part in re.split(r"[-/]", word) if part)
    return out


def content_stems(text: str) -> list[str]:
    """Stems of the words of ``text`` that carry meaning, in order, repeated where they repeat."""
    return [stem(word) for word in tokens(text) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())]


def cover(wanted: Iterable[str], given: Iterable[str]) -> float:
    """Share of the distinct stems ``wanted`` that are among ``given``, 0–1; 1.0 when nothing is wanted."""
    needed = set(wanted)
    return len(needed & set(given)) / len(needed) if needed else 1.0
