"""Text → terms for BM25. The index and the query use the same function.

A term keeps the dots, hyphens, slashes and the like inside it, so that identifiers survive: ``BMS-986158``, ``10-K``,
``3.5``, ``R&D``. Beside the whole, a compound gives its parts (``long-term`` → ``long-term``, ``long``, ``term``), a
number with thousands separators its digits (``1,234.5`` → ``1234.5``), a fiscal period its year (``FY2018`` →
``2018``), an abbreviation its letters (``U.S.`` → ``us``), and every word its Porter stem where that differs, so that
an exact form counts more than a related one. English function words are left out.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

_FUNCTION_WORDS = """
a about above after again against all also am an and any are as at be because been before being below between both
but by can cannot could did do does doing down during each else few for from further had has have having he her
here hers herself him himself his how however i if in into is it its itself just me more most my myself no nor not
now of off on once only or other our ours ourselves out over own per please same shall she should so some such than
that the their theirs them themselves then there therefore these they this those through thus to too under until up
upon very was we were what when where whether which while who whom whose why will with within without would you
your yours yourself yourselves
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

_SECTION = re.compile(r"§+\s*(?=\w)")
_TERM = re.compile(r"§?[^\W_]+(?:(?:[-./&_:@'’]|,(?=\d{3}(?!\d)))[^\W_]+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PERIOD = re.compile(r"[a-z]{1,2}((?:19|20)\d\d)")
_ABBREVIATION = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_JOINTS = re.compile(r"[-/&_:@]|(?<=[^\W\d_])\.|\.(?=[^\W\d_])")
_HYPHENS = str.maketrans({"‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "­": None})


def terms(text: str) -> list[str]:
    """The terms of ``text`` in its order, repeated as often as they occur; lower case, NFKC."""
    normal = unicodedata.normalize("NFKC", text).translate(_HYPHENS)
    out: list[str] = []
    for match in _TERM.finditer(_SECTION.sub("§", normal).lower()):
        out.extend(_forms(match.group()))
    return out


def prepare() -> None:
    """Load the stemmer ahead of the first text: importing it takes a second."""
    _stemmer()


@lru_cache(maxsize=200_000)
def _forms(token: str) -> tuple[str, ...]:
    """Every term that one token gives, itself first."""
    token = token.replace("’", "'").removesuffix("'s")
    forms: list[str] = []
    if token.startswith("§"):
        forms.append(token)
        token = token[1:]
    if token not in STOP_WORDS:
        forms.append(token)
    if _THOUSANDS.fullmatch(token):
        forms.append(token.replace(",", ""))
    elif _ABBREVIATION.fullmatch(token):
        forms.append(token.replace(".", ""))
    elif period := _PERIOD.fullmatch(token):
        forms.append(period.group(1))
    else:
        parts = [part for part in _JOINTS.split(token) if len(part) > 1 and part not in STOP_WORDS]
        if parts != [token]:
            forms.extend(parts)
    forms.extend([stem for form in forms if form.isalpha() and (stem := _stemmer().stem(form)) not in forms])
    return tuple(dict.fromkeys(forms))


@lru_cache(maxsize=1)
def _stemmer() -> PorterStemmer:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
