"""Phrases of texts."""

from __future__ import annotations

from collections.abc import Iterator

from ragcore.text.words import STOP_WORDS, WORD

LONGEST = 3  # words of a phrase
_LETTERS = 3  # of a word in a phrase


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
