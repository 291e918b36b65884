"""Identifier checks: the names, codes and periods of a claim.

Each is searched for in the cited words, then in title, section and table, and finally nearby.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, Final

from ragcore.text import lexicon as lex
from ragcore.text.numbers import WORDS, codes, numbers
from ragcore.text.periods import (
    MONTHS,
    column_quarter,
    column_years,
    is_part,
    month_name,
    months_of_part,
    periods,
    years,
)
from ragcore.text.sentences import mostly_lowercase
from ragcore.text.units import frequencies
from ragcore.text.words import stem, tokens
from ragcore.verify.claims import Statement
from ragcore.verify.evidence import Evidence, Finding

OTHER_SPAN: Final = "The cited words are of a longer or shorter time."
_NOT_NAMES = lex.NO_NAMES | frozenset(MONTHS)
_LONG, _ENDING = 5, 2  # letters of a name, and of an ending
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
    given = set(tokens(naming(evidence)))
    stems = {stem(word) for word in given}
    missing = []
    for name in names(statement.text):
        own = [part for part in tokens(name) if part not in _NOT_NAMES and part not in WORDS]
        ending = "s" if name[:-1].isupper() else ""  # PCs
        if not all({stem(part), part.removesuffix(ending)} & stems or _inflected(part, given) for part in own):
            missing.append(name)
    return [Finding("weak", f"The name {name} is not in the cited words.") for name in dict.fromkeys(missing)]


def naming(evidence: Evidence) -> str:
    """Text in which the names of a claim are looked for."""
    cited = " ".join(evidence.sentences)
    nearby = evidence.near if not lex.WHOM.isdisjoint(tokens(cited)) or not names(cited) else ""
    return f"{evidence.words}\n{evidence.around}\n{nearby}"


def _inflected(name: str, given: Collection[str]) -> bool:
    """Whether one of the words ``given`` is ``name`` but for an ending: Africa, African."""
    shared = ((one, max(_LONG, len(name) - _ENDING, len(one) - _ENDING)) for one in given)
    return any(len(one) >= letters and name[:letters] == one[:letters] for one, letters in shared)


def names(text: str) -> list[str]:
    """Capitalised words, except those that merely begin a sentence or quotation."""
    found = []
    for match in _CAPITALISED.finditer(text):
        before, word = text[: match.start()].rstrip(), match.group()
        titled = before.rpartition(" ")[2].rstrip(".").lower() in lex.TITLES
        begins = not titled and (not before or before[-1] in '.!?:“"(•–—-|;' or before.endswith("’"))
        alone = word[1:] == word[1:].lower() and not re.match(r"\s+[A-Z]", text[match.end() :])
        if begins and (alone or mostly_lowercase(word)):
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
    """Findings on the years, quarters, halves, months, days and frequencies of a claim: per month is not per year.

    Cited words that name no period of that kind, but for one that they compare with ("up from 2021"), have that of
    their headings, else of their titles, else one that is near.
    """
    said = periods(f"{statement.text} {statement.context}")
    given, own = periods(evidence.words), periods(lex.without_comparisons(evidence.words))
    compares = periods(lex.without_comparisons(statement.text)) != periods(statement.text)
    headings = evidence.headings.splitlines() if compares else evidence.own_headings
    beyond = [periods(text) for text in (*headings, evidence.around, evidence.near)]
    out: list[Finding] = []
    for kind, told in _PERIODS.items():
        here = there = getattr(given, kind)
        if kind == "years":
            there |= {year for cell in evidence.cells for year in column_years(cell.column, cell.grid.fiscal)}
        if kind == "quarters":
            there |= {quarter for cell in evidence.cells if (quarter := column_quarter(cell.column))}
        if not getattr(own, kind):
            there |= next((found for one in beyond if (found := getattr(one, kind))), frozenset())
        missing = [one for one in sorted(getattr(said, kind)) if not _is_there(one, there)]
        for one in missing:
            name, wrong = told(one), (str(one),) if kind == "years" else ()
            if here:
                listed = ", ".join(map(told, sorted(here if getattr(own, kind) else there)))
                out.append(Finding("unsupported", f"It says {name}; the cited words say {listed}.", wrong))
            else:
                name = f"The year {one}" if kind == "years" else f"{name[0].upper()}{name[1:]}"
                out.append(Finding("weak", f"{name} is not in the cited words.", wrong))
        if kind == "dates" and missing:
            break  # a date includes its month
    if _of_another_span(statement, evidence):
        out.append(Finding("weak", OTHER_SPAN))
    often, given_often = frequencies(statement.text), frequencies(evidence.words) or frequencies(evidence.around)
    if often and given_often and not often & given_often:
        reason = f"It says per {min(often)}; the cited words say per {min(given_often)}."
        out.append(Finding("unsupported", reason))
    return out


def _of_another_span(statement: Statement, evidence: Evidence) -> bool:
    """Whether the amounts and shares of a claim and those of cited prose are of spans of other lengths, as a year and a
    quarter. What stands at the end of one is no span's."""
    said = f"{statement.text} {statement.context}"
    texts = (lex.without_comparisons(" ".join(evidence.sentences)), *evidence.own_headings)
    given = next((text for text in texts if years(text) or is_part(text)), "")
    if evidence.cells or not given or not (years(said) or is_part(said)) or "end" in tokens(f"{said} {given}"):
        return False
    spans = [months_of_part(text) or {0 if is_part(text) else 12} for text in (given, said)]
    return spans[0].isdisjoint(spans[1]) and any(one.currency or one.percent for one in numbers(statement.text))


def _is_there(period: Any, given: frozenset[Any]) -> bool:
    """Whether ``period`` is among those ``given``; either of two days may lack a year."""
    if not isinstance(period, tuple):
        return period in given
    *day, year = period
    return any([*day] == [*other] and (not its or not year or year == its) for *other, its in given)
