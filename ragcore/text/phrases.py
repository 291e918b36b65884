"""Phrases of texts: of labels, and noun phrases by rules."""

from __future__ import annotations

from collections.abc import Iterator

from ragcore.text.mentions import Mention, mentions
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import STOP_WORDS, WORD

LONGEST = 3  # words of a phrase
LONGEST_NOUN = 4  # words of a noun phrase
_LETTERS = 3  # of a word in a phrase
_EDGES = ("ly", "ed", "ing")  # of words that a noun phrase neither begins nor ends with


def phrases(text: str) -> Iterator[str]:
    """Phrases of two to `LONGEST` consecutive content words in lower case, with nothing but blanks between them."""
    run: list[str] = []
    last = 0
    for match in WORD.finditer(text):
        word = match.group().lower()
        counts = word not in STOP_WORDS and len(word) >= _LETTERS and not any(map(str.isdigit, word))
        run = [*run, word][-LONGEST:] if run and not text[last : match.start()].strip() else [word]
        last = match.end()
        if not counts:
            run = []
        yield from (" ".join(run[-size:]) for size in range(2, len(run) + 1))


def noun_phrases(text: str) -> list[Mention]:
    """Names of an English text, and runs of two to `LONGEST_NOUN` content words in small letters, each with its
    sentence; without adverbs and forms of verbs at either end."""
    found = mentions(text)
    for number, (low, high) in enumerate(sentence_spans(text)):
        run: list[tuple[int, int]] = []
        for match in WORD.finditer(text, low, high):
            word = match.group()
            counts = word.islower() and word.isalpha() and len(word) >= _LETTERS and word not in STOP_WORDS
            if run and not (counts and text[run[-1][1] : match.start()] == " "):
                found += _trimmed(text, run, number)
                run = []
            if counts:
                run.append(match.span())
        found += _trimmed(text, run, number)
    return sorted(found, key=lambda one: (one.sentence, one.start))


def _trimmed(text: str, run: list[tuple[int, int]], sentence: int) -> Iterator[Mention]:
    bare = [text[start:end].endswith(_EDGES) for start, end in run]
    first = next((n for n, edge in enumerate(bare) if not edge), len(run))
    last = next((n for n in range(len(run) - 1, -1, -1) if not bare[n]), -1)
    if 2 <= last + 1 - first <= LONGEST_NOUN:
        start, end = run[first][0], run[last][1]
        yield Mention(text[start:end], start, end, sentence)
