"""Document names: pieces of titles, and the words of a question that may name a document.

A title is split at words that name nothing (``Inc.``, ``Form``, ``annual report``, numbers, colons and dashes). Words
are compared without case, accents, possessive and plural endings, and joined, so that ``Coca-Cola``, ``COCACOLA`` and
``Coca Cola`` are one name; ``&`` and function words are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from ragcore.text.words import FUNCTION_WORDS, LISTS, word_set

SHORT_NAME = 6  # most words of a name; a longer piece of a title is a description

GENERIC = word_set(LISTS["generic"])
COMMON_ABBREVIATIONS = word_set(LISTS["abbreviations"])
# Words that may follow any name and are not part of it.
_BEHIND = (
    GENERIC
    | COMMON_ABBREVIATIONS
    | word_set("board chairman chairwoman chairperson president chief director directors")
)

_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"  # Chinese, Japanese, Korean: each character is a word
    r"|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+"
    # With inner marks, or with a hyphen next to a digit: P&G, U.S, IL-4, 7-Eleven.
    r"(?:(?:[&.'’]|(?<=\d)-(?=[^\W\d])|(?<=[^\W\d])-(?=\d))[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+)*"
)
_CUT = re.compile(r"[:;|()\[\]•·?!]|\s[-–—]+\s|—|(?<=\w{3})\.\s")
_SENTENCE_END = re.compile(r"[.!?:]\s")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_MARKS = re.compile(r"[.'’&-]")


@dataclass(frozen=True, slots=True)
class Word:
    """Word of a title or a question. ``plain`` is its lower-case form with letters and digits only, ``key`` that form
    without a plural ending; ``marked``: it is spelt like a name (a capital within a sentence, a digit); ``capital``: it
    begins with a capital; ``capitals``: all its letters are capitals; ``possessive``: it has a possessive ending;
    ``start`` and ``end`` are its position in the text."""

    plain: str
    key: str
    marked: bool
    capital: bool
    capitals: bool
    possessive: bool
    start: int
    end: int

    @property
    def skipped(self) -> bool:
        return self.plain in FUNCTION_WORDS and not self.capitals

    @property
    def number(self) -> bool:
        return self.plain.isdigit()

    @property
    def names(self) -> bool:
        """Whether it is spelt like part of a name and is not a generic word beside names: a form, a period, a title
        (``Inc.``, ``10-K``, ``FY2020``, ``CEO``)."""
        generic = self.plain in _BEHIND or _GENERIC_NUMBER.fullmatch(self.plain)
        return (self.marked or self.capital) and not self.number and not generic


@dataclass(frozen=True, slots=True)
class Piece:
    """Run of words in a title that may be a name. ``share`` is 1.0 for the first piece of a short title and for the
    piece before a colon or dash, else its share of the title; ``whole``: it is the entire title, and so a name even if
    it is not spelt like one."""

    words: tuple[Word, ...]
    share: float
    whole: bool


def words_of(text: str) -> list[Word]:
    """Words of ``text`` in order."""
    found = list(_TOKEN.finditer(text))
    spelled = [_POSSESSIVE.sub("", match.group()) for match in found]
    letters = [word for word in spelled if word.isalpha() and len(word) > 1]
    # In an all-capitals text, capitals mark nothing.
    shouted = len(letters) > 2 and sum(word.isupper() for word in letters) > 0.6 * len(letters)
    out: list[Word] = []
    for match, word in zip(found, spelled):
        plain = _plain(word)
        first = not out or bool(_SENTENCE_END.search(text, out[-1].end, match.start()))
        possessive = word != match.group()
        capitals = word.upper() == word and any(c.isalpha() for c in word) and len(plain) > 1 and not shouted
        mixed = any(c.isdigit() for c in word) and not plain.isdigit()
        inner = any(c.isupper() for c in word[1:]) and not shouted
        caseless = word.isalpha() and word.lower() == word.upper()
        capital = word[:1].isupper()
        marked = mixed or inner or caseless or (capital and not shouted and (not first or possessive))
        out.append(Word(plain, _singular(plain), marked, capital, capitals, possessive, match.start(), match.end()))
    return out


@lru_cache(maxsize=50_000)
def pieces_of(title: str) -> tuple[Piece, ...]:
    """Pieces of a title or a file name (without its extension), in order."""
    runs: list[tuple[list[Word], bool]] = []
    parts = _CUT.split(title)
    for part in parts:
        run: list[Word] = []
        for word in words_of(part):
            if word.number or word.plain in GENERIC or _GENERIC_NUMBER.fullmatch(word.plain):
                runs.append((run, False))
                run = []
            elif word.plain not in FUNCTION_WORDS:
                run.append(word)
        runs.append((run, len(parts) > 1))
    runs = [(run, cut) for run, cut in runs if run and (len(run) > 1 or len(run[0].plain) > 1)]
    total = sum(len(run) for run, _ in runs)
    short = total <= SHORT_NAME
    return tuple(
        Piece(tuple(run), 1.0 if place == 0 and (short or cut) else len(run) / total, total == len(run))
        for place, (run, cut) in enumerate(runs)
    )


_GENERIC_NUMBER = re.compile(r"(?:fy|v)?\d+(?:q\d)?|q\d\d*|\dq\d*|[a-f0-9]{16,}|(?:10|20|8|6)[kqf]")


@lru_cache(maxsize=50_000)
def pieces_of_file(name: str) -> tuple[Piece, ...]:
    return pieces_of(_spaced(name))


def _spaced(name: str) -> str:
    """File name without its extension, with blanks between its words."""
    return re.sub(r"[_\-+]+", " ", PurePath(name).stem).replace(".", " ")


def together(words: Sequence[Word]) -> str:
    """Run of words written as one: ``General Mills`` → ``generalmill``."""
    return "".join([word.plain for word in words[:-1]] + [words[-1].key])


def initials(words: Sequence[Word]) -> str:
    return "".join(word.plain[:1] for word in words)


def abbreviates(short: str, words: Sequence[Word]) -> bool:
    """Whether ``short`` (lower case) abbreviates a name of these words, each with a capital: its initials or, with
    three letters or more, joined beginnings of its first words (``jpm`` JPMorgan, ``amex`` American Express)."""
    if not all(word.capital for word in words):
        return False
    if short == initials(words) and len(words) > 1:
        return True
    return len(short) >= 3 and short != words[0].plain and _beginnings(short, [word.plain for word in words])


def _beginnings(short: str, words: Sequence[str]) -> bool:
    if not short:
        return True
    if not words:
        return False
    lengths = range(1, min(len(short), len(words[0])) + 1)
    return any(short[:n] == words[0][:n] and _beginnings(short[n:], words[1:]) for n in lengths)


def runs_of(words: Sequence[Word], longest: int) -> Iterator[tuple[int, int]]:
    """Half-open position ranges of all runs of at most ``longest`` words without numbers, longest first."""
    for length in range(min(longest, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            if not any(word.number for word in words[first : first + length]):
                yield first, first + length


def _plain(word: str) -> str:
    folded = unicodedata.normalize("NFKD", _MARKS.sub("", word)).casefold()
    return unicodedata.normalize("NFC", "".join(c for c in folded if not unicodedata.combining(c)))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
