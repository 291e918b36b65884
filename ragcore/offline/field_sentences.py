"""A value field out of sentences: where one says in plain words that the quantity is, or was, so much.

"Capital expenditure was $9.7 million" is certain; "capital expenditure should fall to about $7 million" and "deferred
revenue was $1 million" (for revenue) are not what was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragcore.offline.durations import DURATION
from ragcore.offline.field_names import Wish
from ragcore.offline.field_rows import Period
from ragcore.offline.missing import years_in
from ragcore.offline.periods import QUARTER, days_in
from ragcore.offline.quotable import Quotable
from ragcore.text.words import MONTHS

_ABOUT = (
    r"(?:approximately|about|some|around|nearly|roughly|over|more\s+than|a\s+total\s+of|just\s+under|just\s+over)\s+"
)
_AMOUNT = (
    r"(?:US\$|[$€£¥]|USD\s|EUR\s|GBP\s)?\s?\d[\d,]*(?:\.\d+)?"
    r"(?:\s?(?:thousand|million|billion|trillion|%|percent|mg|g|kg|µg|mcg|ml|mL|L|mmHg|ng)\b(?:/\w+)*|\s?%)?"
    r"(?:\s+per\s+\w+)?"
)
_MONTH = "|".join(MONTHS)
_DATE = rf"(?:(?:{_MONTH})\s+\d{{1,2}},?\s+\d{{4}}|\d{{1,2}}\s+(?:{_MONTH}),?\s+\d{{4}}|\d{{4}}-\d\d-\d\d)"
# Before a name: the beginning of a clause, or words that do not make another thing of it.
_BEFORE = (
    r"(?:^|[,;:(]\s*|\b(?:and|that|while|whereas|the\s+(?:company|group)['’]s)\s+)"
    r"(?:(?:in|for|during|at|as\s+of)\s+[^,;]{3,40},\s+)?(?:(?:our|the|its|a|total|consolidated|reported|annual|full-year|net)\s+){0,3}"
)
_OWN_PERIOD = (
    r"(?:\s+(?:of\s+the\s+(?:company|group)|(?:of|for|in|during|at|as\s+(?:of|at))\s+(?:the\s+)?"
    rf"(?:(?:fiscal|financial|full|year|years|end|ended|of|the|20\d\d|\d{{1,2}},?|{_MONTH}|same)\s*)+))?"
)
_IS = (
    r",?\s+(?:was|were|is|are|amounted\s+to|total(?:l)?ed|came\s+to|reached|stood\s+at|of"
    r"|(?:increased|decreased|rose|grew|fell|declined|dropped)(?:\s+by)?(?:\s+[\d.]+\s?(?:%|percent))?,?\s+to)\s+"
)
# What is hoped for, supposed or only compared with.
_UNSURE = re.compile(
    r"\b(?:should|would|could|might|may(?!\s+\d)|will|expect\w*|forecast\w*|target\w*|anticipat\w*|plan(?:s|ned)?|estimat\w*|"
    r"project(?:s|ed)|guidance|if|unless|up\s+to|at\s+least|no\s+more\s+than|pro\s+forma|hypothetical\w*)\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r",?\s*(?:\(|\b(?:up|down|compared|from|against|after|versus|vs|than|of\s+which)\b).*$", re.IGNORECASE
)
_HOLDS = (
    r"\b(?:we|company|group|it|[A-Z]\w+)(?:\s+and\s+its\s+subsidiaries)?\s+(?:had|have|has|employ(?:s|ed)?|enrolled|"
    r"includ(?:es|ed)|studied|randomi[sz]ed|recruited|analy[sz]ed)\s+"
)
_WHO = r"\b(?:(?:we|company|group|it)|(?-i:[A-Z]\w*[^\Ws]))(?:\s+and\s+its\s+subsidiaries)?\s+(?:(?:has|have|had)\s+)?"
_SO_MANY = r"(?P<figure>\d[\d,]*(?:\.\d+)?(?:\s(?:thousand|million|billion))?)\s+(?:of\s+)?(?:[a-z-]+\s+){0,2}"
_AT_END = re.compile(r"\bend\s+of\b|\bas\s+(?:of|at)\b", re.IGNORECASE)
_TAKEN_IN = r"(?:randomi[sz]ed|enrolled|included|studied|recruited|analy[sz]ed|employed)\b"
_PEOPLE = r"(?:employees|people|persons|staff|associates|team\s+members|colleagues|workers)"
# "Our 57,500 full- and part-time employees": kinds that together are all of them.
_OF_ANY_KIND = r"(?:full-(?:time)?|part-time|and|or|permanent|active|total|dedicated|talented)"
_PART_AFTER = re.compile(
    r"\s+(?:(?:in|at|from|who|were|are|covered|represented)\s+"
    r"(?!(?:\w+\s+)?(?:countries|total|all|the\s+world|the\s+study|year|the\s+end|fiscal)\b)|of\s+(?:the|these|those|our)\b)",
    re.IGNORECASE,
)
_YEAR_NAMED = re.compile(r"(?:fiscal|financial)\s+year", re.IGNORECASE)
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Said:
    """``figure`` as the sentence ``quote`` says it, with the period that it says, zeros where it says none."""

    quote: Quotable
    figure: str
    period: Period


def said(asked: Wish, found: Sequence[Quotable], latest: int) -> list[Said]:
    """Every sentence of ``found`` that says it plainly, for the years asked for, else for ``latest`` (0: not known) or
    a year after it, or for no year at all."""
    out: list[Said] = []
    for quote in found:
        if quote.row is not None or len(quote.text) > _LONGEST:
            continue
        if asked.sort == "date":
            # What is said of another year's report is older than this document.
            out += [one for one in _dates(asked, quote) if not latest or one.period[0] >= latest]
            continue
        if quote.text[:1].islower():
            continue  # an item of a list: of whom it is said stands in what leads it in
        for figure, clause in _figures(asked, quote.text):
            years = years_in(clause)
            if asked.years:
                fits = years <= asked.years and (bool(years) or latest in asked.years)
            else:
                fits = not years or (len(years) == 1 and max(years) >= latest)
            if fits and not _UNSURE.search(clause):
                out.append(Said(quote, figure, (max(years, default=0), 0, 0)))
    return out


def _figures(asked: Wish, text: str) -> Iterator[tuple[str, str]]:
    """Each figure with its clause, without what it is compared with."""
    amount = DURATION if asked.sort == "duration" else _AMOUNT
    for name in asked.names:
        words = _pattern(name.text)
        if asked.did and name.further <= {asked.did}:
            # "The company repurchased 2.2 million shares": what was done, of how many of them.
            for match in re.finditer(rf"{_WHO}{asked.did}\w*\s+(?:{_ABOUT})?{_SO_MANY}{words}", text, re.IGNORECASE):
                part = QUARTER.search(text[: match.end()]) and not _AT_END.search(text[: match.end()])
                if not part and not _PART_AFTER.match(text, match.end()):
                    yield match["figure"], text[: match.end()]
        if name.further:
            continue
        for match in re.finditer(
            rf"{_BEFORE}{words}(?:\s+\([^()]*\))?{_OWN_PERIOD}{_IS}(?:{_ABOUT})?(?P<figure>{amount})(?![\w-])",
            text,
            re.IGNORECASE,
        ):
            yield match["figure"].strip(), match.group() + _TAIL.sub("", text[match.end() :])
        if asked.sort == "count":
            what = _PEOPLE if name.stems == frozenset(("employe",)) else words
            held = rf"{_HOLDS}(?:{_ABOUT})?(?P<figure>\d[\d,]*)\s+(?:[a-z-]+\s+){{0,3}}{what}\b"
            ours = rf"\bour\s+(?:{_ABOUT})?(?P<figure>\d[\d,]*)\s+(?:{_OF_ANY_KIND}\s+)*{what}\b"
            for match in (one for form in (held, ours) for one in re.finditer(form, text, re.IGNORECASE)):
                if not _PART_AFTER.match(text, match.end()):
                    yield match["figure"], text[: match.end()]
            for match in re.finditer(
                rf"(?:^|\ba\s+total\s+of\s+)(?P<figure>\d[\d,]*)\s+{what}\s+(?:was|were)\s+{_TAKEN_IN}",
                text,
                re.IGNORECASE,
            ):
                yield match["figure"], match.group()


def _dates(asked: Wish, quote: Quotable) -> Iterator[Said]:
    for name in asked.names:
        bare = re.sub(r"\s*\b(?:date|end(?:ed)?)\b\s*", " ", name.text, flags=re.IGNORECASE).strip() or name.text
        words = re.sub("fiscal|financial", "(?:fiscal|financial)", _pattern(bare), flags=re.IGNORECASE)
        if _YEAR_NAMED.fullmatch(bare):
            words = rf"(?:{words}|\b(?:for|of|in)\s+the\s+year(?=,?\s+end))"
        # “as of March 3, 2023 (the “Effective Date”)”
        for match in re.finditer(
            rf"(?P<date>{_DATE})\s+\((?:the\s+)?[“\"']{_pattern(name.text)}[”\"',]", quote.text, re.IGNORECASE
        ):
            yield Said(quote, match["date"], days_in(match["date"])[0] if days_in(match["date"]) else (0, 0, 0))
        for match in re.finditer(
            rf"\b{words}(?:\s+date)?(?:,?\s+(?:ended|is|was|as\s+of|on|of|means|\((?:the\s+)?[^()]*\))){{0,3}}:?\s+"
            rf"(?P<date>{_DATE})",
            quote.text,
            re.IGNORECASE,
        ):
            days = days_in(match["date"])
            yield Said(quote, match["date"], days[0] if days else (0, 0, 0))


def _pattern(name: str) -> str:
    """``name`` as a pattern: any white space, hyphens or not, singular or plural at its end."""
    words = [re.escape(word) for word in re.split(r"[\s-]+", name.strip()) if word]
    last = words.pop() if words else ""
    words.append(last if last.lower().endswith(("s", "x")) else f"{last}s?")
    return r"\b" + r"[\s-]+".join(words) + r"\b"
