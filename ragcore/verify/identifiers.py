"""Identifier checks: the names, codes and periods of a claim.

Each is searched for in the cited words, then in title, section and table, and finally nearby.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ragcore.text import lexicon as lex
from ragcore.text.numbers import WORDS, codes
from ragcore.text.periods import MONTHS, month_name, periods
from ragcore.text.units import frequencies
from ragcore.text.words import STOP_WORDS, stem, tokens
from ragcore.verify.claims import Statement
from ragcore.verify.evidence import Evidence, Finding

_NOT_NAMES = lex.NO_NAMES | frozenset(MONTHS)
_CAPITALISED = re.compile(r"(?<![\w'’])[A-Z][\w&.-]*[\w]")


# Codes


def check_codes(statement: Statement, evidence: Evidence) -> list[Finding]:
    """Findings on codes such as 10-K and BMS-986158 missing from the cited words, their title and their row."""
    given = f"{evidence.words}\n{evidence.around}"
    return [
        Finding("unsupported", f"{code} is not in the cited words.")
        for code in codes(statement.text)
        if re.search(rf"(?<!\w){re.escape(code)}(?!\w)", given, re.IGNORECASE) is None
    ]


# Names


def check_names(statement: Statement, evidence: Evidence) -> list[Finding]:
    """Findings on names missing from the cited words, their title, section and row; nearby names count only if those
    name nothing else ("The Company paid ...")."""
    cited = " ".join(evidence.sentences)
    nearby = evidence.near if not lex.WHOM.isdisjoint(tokens(cited)) or not names(cited) else ""
    given = set(tokens(f"{evidence.words}\n{evidence.around}\n{nearby}"))
    stems = {stem(word) for word in given}
    missing = []
    for name in names(statement.text):
        own = [part for part in tokens(name) if part not in _NOT_NAMES and part not in WORDS]
        if any(part not in given and stem(part) not in stems for part in own):
            missing.append(name)
    return [Finding("weak", f"The name {name} is not in the cited words.") for name in dict.fromkeys(missing)]


def names(text: str) -> list[str]:
    """Capitalised words, except those that merely begin a sentence or quotation."""
    found = []
    for match in _CAPITALISED.finditer(text):
        before, word = text[: match.start()].rstrip(), match.group()
        titled = before.rpartition(" ")[2].rstrip(".").lower() in lex.TITLES
        begins = not titled and (not before or before[-1] in '.!?:“"(•–—-|;' or before.endswith("’"))
        alone = word[1:] == word[1:].lower() and not re.match(r"\s+[A-Z]", text[match.end() :])
        if begins and (alone or word.lower() in STOP_WORDS):
            continue
        if word.lower() not in _NOT_NAMES and not any(c.isdigit() for c in word):
            found.append(word)
    return found


# Periods


def _date(date: tuple[int, int, int]) -> str:
    month, day, year = date
    return f"{month_name(month)} {day}, {year}" if year else f"{month_name(month)} {day}"


_NTH: Final = {1: "first", 2: "second", 3: "third", 4: "fourth"}
_PERIODS: Final[dict[str, Callable[[Any], str]]] = {
    "years": str,
    "quarters": lambda number: f"the {_NTH[number]} quarter",
    "halves": lambda number: f"the {_NTH[number]} half",
    "dates": _date,
    "months": month_name,
}


def check_periods(statement: Statement, evidence: Evidence) -> list[Finding]:
    """Findings on the years, quarters, halves, months, days and frequencies of a claim: per month is not per year. Text
    around the cited words counts if they name no period of that kind, and nearby text if that names none either."""
    said = periods(f"{statement.text} {statement.context}")
    given, around, near = periods(evidence.words), periods(evidence.around), periods(evidence.near)
    out: list[Finding] = []
    for kind, told in _PERIODS.items():
        levels: list[frozenset[Any]] = [getattr(level, kind) for level in (given, around, near)]
        there = next(filter(None, levels), frozenset())
        missing = [one for one in sorted(getattr(said, kind)) if not _is_there(one, there)]
        for one in missing:
            name, wrong = told(one), (str(one),) if kind == "years" else ()
            if levels[0]:
                listed = ", ".join(told(other) for other in sorted(there))
                out.append(Finding("unsupported", f"It says {name}; the cited words say {listed}.", wrong))
            else:
                name = f"The year {one}" if kind == "years" else f"{name[0].upper()}{name[1:]}"
                out.append(Finding("weak", f"{name} is not in the cited words.", wrong))
        if kind == "dates" and missing:
            break  # a date includes its month
    often, given_often = frequencies(statement.text), frequencies(evidence.words) or frequencies(evidence.around)
    if often and given_often and not often & given_often:
        reason = f"It says per {min(often)}; the cited words say per {min(given_often)}."
        out.append(Finding("unsupported", reason))
    return out


def _is_there(period: Any, given: frozenset[Any]) -> bool:
    """Whether ``period`` is among those ``given``; either of two days may lack a year."""
    if not isinstance(period, tuple):
        return period in given
    *day, year = period
    return any([*day] == [*other] and (not its or not year or year == its) for *other, its in given)
