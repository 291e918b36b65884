"""Document titles: what is none, titles on one line of plain characters, and short distinct ones."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from ragcore.text.words import LISTS, tokens, word_set

LONGEST = 48  # characters of a short title
_PARTS = re.compile(r"\s*(?:[:;,(|]|\s[–—-])\s*")
_LOOSE = re.compile(r"(?:\s+(?:a|an|and|as|at|by|for|from|in|of|on|or|the|to|with))+$", re.IGNORECASE)
_LISTS = LISTS["titles"]
GENRES = word_set(_LISTS["genres"])
_NO_WORDS = re.compile(r"[\w.-]{0,3}|[a-zA-Z0-9_.-]*|[^a-zA-Z\u00c0-\uffff]*")
_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*\.?|[ivx]+\.)\s", re.IGNORECASE)
_JOINERS = "\u200c\u200d"  # needed in Persian and Indic words


def _opens(text: str, phrases: list[str]) -> bool:
    words = ["#" if word[0].isdigit() or not word.strip("ivx") else word for word in tokens(text)]
    named = text.lstrip("(")[:1].isalnum()
    return named and f"{' '.join(words)} . ".startswith(tuple(f"{phrase} " for phrase in phrases))


def is_unnamed(title: str) -> bool:
    """Whether a title of a file's metadata is a program's, a file's name or a code."""
    coded = _NO_WORDS.fullmatch(title) is not None or title.lower().endswith(tuple(_LISTS["endings"]))
    return coded or _opens(title, _LISTS["unnamed"])


def names_part(heading: str) -> bool:
    """Whether a heading names a part of a document: it is numbered, or ``Summary`` and the like."""
    return _NUMBERED.match(heading) is not None or _opens(heading, _LISTS["parts"])


def plain_title(title: str) -> str:
    """``title`` on one line, without control characters and bidirectional marks."""
    kinds = [(c, unicodedata.category(c)) for c in title]
    shown = (" " if kind in ("Cc", "Zl", "Zp") else c for c, kind in kinds if kind != "Cf" or c in _JOINERS)
    return " ".join("".join(shown).split())


def short_titles(titles: Mapping[str, str], files: Mapping[str, str] | None = None) -> dict[str, str]:
    """Distinct short title of each document: the full title if it is short or needed for distinction, followed by the
    name in ``files`` if titles are equal."""
    made = _distinct({doc_id: short(title) for doc_id, title in titles.items()}, titles)
    behind = {doc_id: f"{made[doc_id]} ({name})" for doc_id, name in (files or {}).items() if name and doc_id in made}
    return _distinct(made, behind)


def told_apart(documents: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Title of each document, given by id, title and file name; with the file name if another has the same title."""
    given = list(documents)
    often = Counter(title for _, title, _ in given)
    return {doc_id: title if often[title] == 1 else f"{title} ({name})" for doc_id, title, name in given}


def short(title: str, longest: int = LONGEST) -> str:
    """``title`` up to its last subtitle separator that fits, else up to a whole word."""
    if len(title) <= longest:
        return title
    ends = [match.start() for match in _PARTS.finditer(title) if longest // 3 <= match.start() <= longest]
    if ends:
        return title[: ends[-1]].rstrip()
    head = title[: longest - 1].rpartition(" ")[0] or title[: longest - 1]
    return f"{_LOOSE.sub('', head).rstrip(' .,;:–—-')}…"


def _distinct(names: Mapping[str, str], longer: Mapping[str, str]) -> dict[str, str]:
    """``names``, with the ``longer`` form for those that several documents share."""
    given = Counter(name.lower() for name in names.values())
    return {key: longer.get(key, name) if given[name.lower()] > 1 else name for key, name in names.items()}
