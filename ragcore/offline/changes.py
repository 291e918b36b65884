"""A change over two periods, asked for period by period (English).

"How did capex change from FY2015 to FY2016?" asks for capex in FY2015 and for capex in FY2016. A report has both years
beside each other, but the report of the first year has its own words on it.
"""

from __future__ import annotations

import re

from ragcore.offline.clauses import PERIOD, owner, periods
from ragcore.text.asked_periods import period_of

MORE = (
    r"\b(?:(?:high|low|great|large|big|small|long|short|strong|weak|fast|slow|old|cheap|saf|earl)(?:i?er|e?st)\b"
    r"|\b(?:better|best|worse|worst|more|most|less|least|fewer|fewest))\b"
)
_RANGE = re.compile(
    rf"(?:\b(?P<with>from|between)\s+(?:the\s+)?(?P<a>{PERIOD})\s+(?:to|and|through|until)\s+(?:the\s+)?(?P<b>{PERIOD})"
    rf"|\b(?:(?P<prep>in|for|during|of)\s+)?(?P<c>{PERIOD})(?:\s*[-–]\s*|,?\s+(?:versus|vs\.?|compared\s+(?:to|with)|"
    rf"relative\s+to|than|to|(?P<joined>and|or))\s+(?:in\s+|that\s+of\s+)?)(?P<d>{PERIOD}))(?:\s+(?:fiscal\s+)?periods?)?(?!\w)",
    re.IGNORECASE,
)
_YEAR_BEFORE = re.compile(
    r"[,(]?\s*(?:\b(?:on\s+an?\s+)?year[-\s](?:over|on)[-\s]year(?:\s+basis)?\b|\byoy\b|\b(?:compared\s+(?:to|with)|"
    r"relative\s+to|versus|vs\.?|from|than|against|over)\s+(?:in\s+)?(?:the\s+)?(?:same\s+(?:period|quarter)\s+(?:in|of)\s+"
    r"(?:the\s+)?)?(?:prior|previous|preceding)\s+(?:fiscal\s+)?(?:year|period)\b)\)?",
    re.IGNORECASE,
)
_CHANGED = (
    r"(?:changed?|grow|grown|increased?|decreased?|declined?|rise|risen|fall|fallen|drop|dropped|improved?|developed?|"
    r"evolved?|var(?:y|ied)|differ|differed|reduced?)"
)
_CHANGE = (
    r"(?:(?:percentage|percent|net|absolute|year[-\s]over[-\s]year|%)\s+)*(?:change|growth|increase|decrease|decline|"
    r"difference|drop|rise|reduction|improvement)(?:\s+rate)?"
)
_CHANGE_BEFORE = re.compile(rf"\b{_CHANGE}(?:\s+(?:in|of))?\s+$", re.IGNORECASE)
CHANGES = re.compile(rf"\b(?:{_CHANGED}|{_CHANGE}|grew|rose|fell|compare[ds]?|trends?|average)\b|{MORE}", re.IGNORECASE)
_SUPERLATIVE = re.compile(r"^\s*(?:which|who)\b|\b(?:most|least|best|worst|\w+(?<!inter)(?<!for)est)\b", re.IGNORECASE)
_AVERAGE = re.compile(r"\b(?:\w+[-\s]year\s+)?average\s+(?:of\s+)?(?:the\s+)?", re.IGNORECASE)
_DID_CHANGE = re.compile(
    rf"^(?:by\s+)?(?:how(?:\s+much)?\s+|what\s+percent(?:age)?\s+)?(?:did|has|have|does|do)\s+(?P<a>.+?)\s+{_CHANGED}(?:\s+(?:or|and)\s+\w+)?\b"
    rf"(?P<rest>.*)$",
    re.IGNORECASE,
)
_WAS_MORE = re.compile(rf"^(?P<be>is|was|are|were)\s+(?P<what>.+?)\s+{MORE}$", re.IGNORECASE)
_COMPARE = re.compile(r"^(?:please\s+)?compare\s+(?P<what>.+)$", re.IGNORECASE)
_CHANGE_IN = re.compile(
    rf"^what\s+(?:is|are|was|were)\s+(?:the\s+)?(?P<owner>[^?]*?['’]s?\s+)?{_CHANGE}\s+(?:in|of)\s+(?P<what>.+)$",
    re.IGNORECASE,
)


def over_periods(text: str) -> list[tuple[str, str]]:
    """A change, or a comparison, over two periods (or an average over three years)."""
    match = _RANGE.search(text)
    if match is None:
        return _of_year_before(text)
    first, last = (match["a"], match["b"]) if match["a"] else (match["c"], match["d"])
    bare = text[: match.start()] + " " + text[match.end() :]
    if match["joined"] and not match["prep"]:
        return []
    if not CHANGES.search(bare) or len(periods(bare)) > 0 or period_of(first) == period_of(last):
        return []
    wanted = [re.sub(r"^the\s+", "", one, flags=re.IGNORECASE) for one in (first, last)]
    years = [period_of(one).years for one in wanted]
    if re.search(r"\baverage\b", bare, re.IGNORECASE) and all(len(of) == 1 for of in years):
        (low,), (high,) = years
        if high - low == 2:
            wanted.insert(1, _other_year(wanted[0], low, low + 1))
    asked = _level(bare)
    if not asked and _SUPERLATIVE.search(text):
        return []  # "the largest increase from 2019 to 2020" is not the largest in 2019
    if not asked and _CHANGE_BEFORE.search(text[: match.start()]):
        return []  # "the difference between 2019 and 2020 sales"
    before = "in " if match["with"] or match["prep"] else ""
    text, at = _AVERAGE.sub("", text[: match.start()]), _AVERAGE.sub("", text[match.end() :])
    return [
        (
            f"{asked} in {one}?" if asked else f"{text}{before}{one} {at}",
            f"{one}, compared with {' and '.join(other for other in wanted if other != one)}",
        )
        for one in wanted
    ]


def _of_year_before(text: str) -> list[tuple[str, str]]:
    match = _YEAR_BEFORE.search(text)
    named = periods(text)
    if match is None or len(named) != 1 or not CHANGES.search(text):
        return []
    years = period_of(named[0]).years
    if len(years) != 1:
        return []
    (year,) = years
    bare = f"{text[: match.start()]} {text[match.end() :]}"
    asked = _level(re.sub(rf"\s*\b(?:in|for|during|of)\s+{re.escape(named[0])}", " ", bare))
    if not asked or periods(asked) or _SUPERLATIVE.search(text):
        return []
    earlier = _other_year(named[0], year, year - 1)
    return [
        (f"{asked} in {one}?", f"{one}, compared with {other}")
        for one, other in ((named[0], earlier), (earlier, named[0]))
    ]


def _level(bare: str) -> str:
    """A question about a change as one about what changes, without its end; "" where it has another form."""
    bare = " ".join(bare.split()).rstrip(" ?.!,")
    change = _CHANGE_IN.match(bare)
    if change is not None:
        return f"What was {change['owner'] or ''}{change['what']}"
    change = _WAS_MORE.match(bare) or _COMPARE.match(bare)
    if change is not None:
        return f"What {change.groupdict().get('be', 'was').lower()} {change['what']}"
    change = _DID_CHANGE.match(bare)
    if change is None:
        return ""
    owned = re.match(r"\s*(?:its|their|his|her|the)\s+(?P<what>\S.*)$", change["rest"], re.IGNORECASE)
    if owned is not None:
        return f"What was {owner(change['a'])} {owned['what']}"
    return f"What was {change['a']}{change['rest']}"


def _other_year(period: str, year: int, other: int) -> str:
    """``period`` as it is written with another year."""
    if str(year) in period:
        return period.replace(str(year), str(other))
    return re.sub(r"\d{2}(?!\d)(?!.*\d{2})", f"{other % 100:02d}", period)
