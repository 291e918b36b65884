"""What a value field asks for: the names of one quantity, what else must hold of it, and its period.

Heading and guidance are read together: "Revenue" with "Total net revenue or net sales of the latest fiscal year" names
one quantity in three ways; "Revenue" with "Revenue of the Field Sensors segment" names a part of it, and a row that is
only called "Revenue" is not what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragcore.offline.quote_ranking import name_of
from ragcore.offline.statement_names import named_alike
from ragcore.text.terms import Term
from ragcore.text.words import content_stems

Sort = Literal["date", "duration", "count", "amount", "words"]

_DATE_ASKED = re.compile(r"\b(?:date|day|when)\b", re.IGNORECASE)
_LENGTH_ASKED = re.compile(
    r"\bhow\s+long\b|\bhow\s+many\s+(?:(?!of\b)\w+\s+){0,2}(?:minutes|hours|days|weeks|months|years)\b"
    r"|\b(?:days|weeks|months|years|hours)['’]?\s+(?:that|which|within|after|before|notice|to)\b"
    r"|\b(?:waiting|notice|retention|storage|cure|grace|review|response|observation|follow-up|treatment|washout|warranty"
    r"|lock-?up|cooling-off|probation\w*|limitation|payment|renewal|reporting|vesting)\s+(?:period|time|term)\b",
    re.IGNORECASE,
)
_COUNT_ASKED = re.compile(r"\b(?:how\s+many|number\s+of)\b", re.IGNORECASE)
_PERIOD_ASKED = re.compile(
    r"\b(?:fiscal|financial|latest|last|most\s+recent|year|quarter|(?:19|20)\d\d|at\s+the\s+end|amount|total|how\s+much)\b",
    re.IGNORECASE,
)
_SHARE = re.compile(r"%|\bper\s?cent|\bpercentage", re.IGNORECASE)
_YEARLY = re.compile(r"\b(?:years?|yearly|annual|annually|FY)\b", re.IGNORECASE)
_PERIOD = re.compile(
    r"\s*\b(?:(?:of|in|at|for|during|as\s+(?:of|at)|over|from)\s+)?(?:the\s+)?(?:(?:end|close)\s+of\s+)?(?:the\s+)?"
    r"(?:(?:latest|last|most\s+recent|current|reported|reporting|same)\s+)?(?:(?:fiscal|financial|calendar)\s+)?"
    r"(?:years?|quarters?|periods?)\b(?:[\s-]end)?(?:\s+(?:19|20)\d\d)?\.?\s*$",
    re.IGNORECASE,
)
_IN_YEAR = re.compile(r"\s*\b(?:in|for|during|of|at)\s+(?:fiscal\s+|FY\s?)?(?:19|20)\d\d\.?\s*$", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:FY\s?)?(?:19|20)\d\d\b", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:(?:what|which)\s+(?:is|was|are|were)\s+|how\s+(?:many|much|large|high)\s+|(?:the\s+)?(?:number|amount|value)\s+of\s+|"
    r"the\s+|its\s+|a\s+|an\s+|our\s+)+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?:,\s*(?:with|including|by)\b|\s+(?:does|do|did|that|which|who|whose)\b|(?:the\s+(?:company|group|study|authors?|report)\s+\w+)|"
    r"(?:were|was|is|are|has|have|had)\s+\w+\s*$|there\s+(?:are|were)\b).*$",
    re.IGNORECASE,
)
# "How many shares the company repurchased": what was done with them is as much asked for as they are.
_DONE = re.compile(
    r"\bhow\s+many\b.*?\b(?:(?:the\s+)?(?:company|group|it)\s+(?P<did>\w+)|(?:were|was)\s+(?P<done>\w+ed))\b",
    re.IGNORECASE,
)
_HAS = frozenset(
    content_stems("has have had employ own operate run report randomise randomize enrol enroll include study")
)
_BRACKETS = re.compile(r"\([^()]*\)")
_EXPENSE = re.compile(r"\s+(?:expenses?|costs?)\s*$", re.IGNORECASE)
_OR = re.compile(r"\s*,?\s+or\s+|\s*,\s*")
# What heading and guidance say beside the name of the quantity.
BESIDE = frozenset(
    content_stems("""
    amount value figure number total overall consolidated reported reporting report company companies group business
    entity year years fiscal financial quarter annual period latest last recent ended ending end day date
    million millions thousand thousands billion billions usd us dollar dollars euro euros unit units its according
    state stated study authors
    """)
)


_NEUTRAL = frozenset(content_stems("consolidated overall reported group company amount value number"))


@dataclass(frozen=True, slots=True)
class Name:
    """``text`` as written, ``stems`` those of it, and ``further``: stems that must stand near it too. ``stated``: it
    is a name of the quantity in a statement of the whole only ("Sales", in an income statement)."""

    text: str
    stems: frozenset[str]
    further: frozenset[str] = frozenset()
    stated: bool = False


@dataclass(frozen=True, slots=True)
class Wish:
    """``names``: any of them is what is asked for. ``years``: those asked for, none where the latest is meant.
    ``annual``: it is of a year, or of its end, and not of a part of one. ``share``: it is a percentage. ``asked``:
    heading and guidance as they were. ``did``: the stem of what was done with what is to be counted."""

    sort: Sort
    names: tuple[Name, ...]
    years: frozenset[int]
    annual: bool = False
    share: bool = False
    asked: tuple[str, str] = ("", "")
    did: str = ""

    @property
    def words(self) -> frozenset[str]:
        """The stems of every name, and of what must stand near them."""
        return frozenset().union(*(name.stems | name.further for name in self.names))


def wish(heading: str, piece: str, unit: str, terms: Sequence[Term], year: int = 0) -> Wish:
    """What ``piece`` of the guidance under ``heading`` asks for; of ``year``, where it is of one and names none."""
    both = f"{heading} {piece}"
    sort: Sort = "words"
    if _LENGTH_ASKED.search(both):
        sort = "duration"
    elif _DATE_ASKED.search(both) and not unit:
        sort = "date"
    elif _COUNT_ASKED.search(both):
        sort = "count"
    elif unit or _PERIOD_ASKED.search(piece):
        sort = "amount"
    bare = _cut(piece)
    parts = _OR.split(bare) if " or " in bare else [bare]
    names = [
        name for part in (parts if sort != "date" else [heading]) for name in _names(_cut(heading), _cut(part), terms)
    ]
    did = ""
    if sort == "count" and (done := _DONE.search(piece)):
        (did,) = content_stems(done["did"] or done["done"]) or ("",)
        needed = frozenset((did,)) - _HAS if did else frozenset()
        names = [replace(name, further=name.further | (needed - name.stems)) for name in names]
    if sort == "amount":
        names += _in_statements(names)
    years = frozenset(int(named[-4:]) for named in _YEAR.findall(both))
    if year and not years and _YEARLY.search(both):
        years = frozenset((year,))
    distinct = tuple(dict.fromkeys(name for name in names if name.stems or sort == "date"))
    share = _SHARE.search(f"{both} {unit}") is not None
    annual = bool(years) or _YEARLY.search(both) is not None
    return Wish(sort, distinct, years, annual, share, (heading, piece), did)


def _in_statements(names: Sequence[Name]) -> list[Name]:
    """What else statements call one of ``names`` that nothing narrows."""
    known = {name.stems for name in names}
    alike = dict.fromkeys(other for name in names if not name.further for other in named_alike(name.text))
    return [Name(other, stems, stated=True) for other in alike if (stems := stems_of(other)) not in known]


def _names(heading: str, part: str, terms: Sequence[Term]) -> list[Name]:
    own = _called(heading, terms)
    said = stems_of(part)
    if said <= frozenset().union(*(stems_of(name) for name in (*own, *named_alike(heading)))):
        return [Name(name, stems_of(name)) for name in (*own, *_called(part, terms))]
    # The guidance says which part of it is meant.
    narrower = [Name(name, stems, said - stems) for name in own if (stems := stems_of(name)) and stems < said]
    return [*(Name(name, stems_of(name)) for name in _called(part, terms)), *narrower]


def _called(name: str, terms: Sequence[Term]) -> list[str]:
    """``name`` and what it is called otherwise."""
    stems = stems_of(name)
    # "Research and development expense" is the row "Research and development".
    plain = _EXPENSE.sub("", name)
    shorter = [plain] if plain != name and len(stems_of(plain)) > 1 else []
    return list(
        dict.fromkeys((name, *shorter, *(other for t in terms if stems_of(t.said) == stems for other in t.same)))
    )


def _cut(text: str) -> str:
    """A name without what opens it, its clause, brackets and period."""
    text = _BRACKETS.sub(" ", " ".join(text.split())).strip(" .?:;")
    before = ""
    while before != text:
        before = text
        for what in (_PERIOD, _IN_YEAR, _OPENING, _CLAUSE):
            text = what.sub("", text).strip(" .?:;,") or text
    return " ".join(text.split())


def head_stems(head: str) -> frozenset[str]:
    """The stems of a row's header: what narrows a name in a template is kept."""
    return name_of(head) - _NEUTRAL


def stems_of(name: str) -> frozenset[str]:
    """The stems by which a quantity is told from another."""
    return name_of(_YEAR.sub(" ", name)) - BESIDE
