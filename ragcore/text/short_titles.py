"""Document titles: on one line of plain characters, and short distinct ones."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

LONGEST = 48  # characters of a short title
_PARTS = re.compile(r"\s*(?:[:;,(|]|\s[–—-])\s*")
_LOOSE = re.compile(r"(?:\s+(?:a|an|and|as|at|by|for|from|in|of|on|or|the|to|with))+$", re.IGNORECASE)


_JOINERS = "\u200c\u200d"  # needed in Persian and Indic words


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
