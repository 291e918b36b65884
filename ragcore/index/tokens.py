"""Text → terms for BM25. The index and the query use the same function.

A term keeps the dots, hyphens, slashes and the like inside it, so that identifiers survive: ``BMS-986158``, ``10-K``,
``3.5``, ``R&D``. Beside the whole, a compound gives its parts (``long-term`` → ``long-term``, ``long``, ``term``), a
name in mixed case its words (``DiffExecutor`` → ``diffexecutor``, ``diff``, ``executor``), a number with thousands
separators its digits (``1,234.5`` → ``1234.5``), a fiscal period its year (``FY2018`` →
``2018``), an abbreviation its letters (``U.S.`` → ``us``), and every word its Porter stem where that differs, so that
an exact form counts more than a related one. English function words are left out.

Chinese, Japanese and Korean give overlapping pairs of characters (Lucene's CJK analysis): they write no blanks between
words, or (Korean) put particles onto them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from ragcore.text.words import FUNCTION_WORDS, stem

VERSION = 3  # raise it when `terms` gives other terms, or postings are kept in another form: they are counted again

_SECTION = re.compile(r"§+\s*(?=\w)")
_TERM = re.compile(r"§?[^\W_]+(?:(?:[-./&_:@'’]|,(?=\d{3}(?!\d)))[^\W_]+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PERIOD = re.compile(r"[a-z]{1,2}((?:19|20)\d\d)")
_ABBREVIATION = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_JOINTS = re.compile(r"[-/&_:@]|(?<=[^\W\d_])\.|\.(?=[^\W\d_])")
_CJK = re.compile(
    r"[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]+"
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")  # DiffExecutor, HTTPServer; not PDFs
_HYPHENS = str.maketrans({"‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "­": None})


def terms(text: str) -> list[str]:
    """The terms of ``text`` in its order, repeated as often as they occur; lower case, NFKC."""
    normal = unicodedata.normalize("NFKC", text).translate(_HYPHENS)
    out: list[str] = []
    for match in _TERM.finditer(_SECTION.sub("§", normal)):
        token = match.group()
        if _CJK.search(token) is not None:
            out.extend(_pairs(token.lower()))
        elif _HUMP.search(token) is None:
            out.extend(_forms(token.lower()))
        else:
            out.extend(_mixed(token))
    return out


def _pairs(token: str) -> Iterator[str]:
    """The terms of a token with CJK in it: pairs of those characters (a lone one as it is), and the rest as usual."""
    at = 0
    for match in _CJK.finditer(token):
        yield from (form for rest in _TERM.findall(token[at : match.start()]) for form in _forms(rest))
        run = match.group()
        yield from ([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)])
        at = match.end()
    yield from (form for rest in _TERM.findall(token[at:]) for form in _forms(rest))


def prepare() -> None:
    """Load the stemmer ahead of the first text: importing it takes a second."""
    stem("warm")


@lru_cache(maxsize=50_000)
def _mixed(token: str) -> tuple[str, ...]:
    """The terms of a token that has a word beginning inside a word, and those of its words."""
    words = [word.lower() for part in _JOINTS.split(token) if _HUMP.search(part) for word in _HUMP.split(part)]
    parts = [form for word in words if len(word) > 1 for form in _forms(word)]
    return tuple(dict.fromkeys([*_forms(token.lower()), *parts]))


@lru_cache(maxsize=200_000)
def _forms(token: str) -> tuple[str, ...]:
    """Every term that one token gives, itself first."""
    token = token.replace("’", "'").removesuffix("'s")
    forms: list[str] = []
    if token.startswith("§"):
        forms.append(token)
        token = token[1:]
    if token not in FUNCTION_WORDS:
        forms.append(token)
    if _THOUSANDS.fullmatch(token):
        forms.append(token.replace(",", ""))
    elif _ABBREVIATION.fullmatch(token):
        forms.append(token.replace(".", ""))
    elif period := _PERIOD.fullmatch(token):
        forms.append(period.group(1))
    else:
        parts = [part for part in _JOINTS.split(token) if len(part) > 1 and part not in FUNCTION_WORDS]
        if parts != [token]:
            forms.extend(parts)
    forms.extend([root for form in forms if form.isalpha() and (root := stem(form)) not in forms])
    return tuple(dict.fromkeys(forms))
