"""Captions and notes of figures and tables, told by the words that they open with."""

from __future__ import annotations

import re

from ragcore.text.lexicon import any_of
from ragcore.text.words import LISTS, tokens

_WORDS = LISTS["captions"]
_KINDS = {word: kind for kind in ("figure", "table", "listing", "exhibit", "schedule") for word in _WORDS[kind].split()}
_NUMBER = r"(?:[A-Z]{1,2}[-.]?)?(?:\d+(?:[.\-–]\d+)*|[IVXLC]+)(?:\s?\(?[a-z]\)?(?:\s?[,–-]\s?\(?[a-z]\)?)*)?(?!\w)"
_LABEL = re.compile(rf"\W{{0,2}}(?:{any_of(_WORDS['more'])}\s+)?([^\W\d_]+)\.?(?:\s?({_NUMBER}))?", re.IGNORECASE)
_GOES_ON = rf"\b(?:{'|'.join(map(re.escape, _WORDS['continued']))})(?!\w)"
CONTINUED = re.compile(rf"[\s(\[,–—-]*{_GOES_ON}[\s)\].:]*", re.IGNORECASE)
# In brackets, after a comma or a dash, or leading a few words; "sales continued to fall" is no mark.
_MARK = re.compile(
    rf"^\W*{_GOES_ON}[^.]{{0,30}}$|[(\[,–—-]\s*{_GOES_ON}[\s)\].:]*$|\([^()]*{_GOES_ON}[^()]*\)\W*$", re.IGNORECASE
)


def label_of(text: str) -> tuple[str, str, str]:
    """Label that ``text`` opens with (``Figure 3``), as the kind of its word (``figure``, ``table``, ``listing``,
    ``exhibit``, ``schedule``), its number and what is behind it; kind and number are "" if there is none."""
    match = _LABEL.match(text)
    kind = _KINDS.get(match[1].lower(), "") if match else ""
    return (kind, match[2] or "", text[match.end() :]) if match and kind else ("", "", text)


def is_note(text: str) -> bool:
    """Whether ``text`` opens as a note: ``Source: …``, ``This chart shows …``."""
    first, second = (*tokens(text[:40]), "", "")[:2]
    of_figure = first in ("this", "the") and _KINDS.get(second.removesuffix("s")) == "figure"
    return text[:1].isalpha() and (of_figure or first in _WORDS["note"])


def is_continued(text: str) -> bool:
    """Whether ``text`` carries the mark of a continuation, perhaps after its label."""
    _, number, behind = label_of(text)
    return bool(_MARK.search(text) or (number and CONTINUED.match(behind.lstrip(".:"))))
