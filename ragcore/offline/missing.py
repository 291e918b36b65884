"""What of a question stands nowhere in the passages found: names, periods, identifiers.

What is said of another company or another year is no answer, however near it is in its other words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.offline.called import called
from ragcore.text.naming import full_text, unnamed
from ragcore.text.terms import Term
from ragcore.types import Source

_YEAR = re.compile(r"(?<![\d$€£.,])((?:19|20)\d\d)(?!\d|[.,]\d|\s*%)")
_YEAR_OF_QUARTER = re.compile(r"\bQ[1-4]((?:19|20)\d\d)(?!\d)", re.IGNORECASE)
_SHORT_YEAR = re.compile(r"\bFY[\s'’-]*(\d\d)(?!\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Missing:
    """``names`` as the question writes them, and ``years``, that stand in no source, title or section."""

    names: tuple[str, ...] = ()
    years: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.names or self.years)

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.names, *map(str, self.years))


def missing(question: str, sources: Sequence[Source], terms: Sequence[Term] = ()) -> Missing:
    """What ``question`` asks about and ``sources`` do not name. Years count as missing where none of those asked for is
    there; a term of the trade (``terms``) is no name."""
    years = {year for source in sources for year in years_in(full_text(source))}
    asked = years_in(question)
    return Missing(
        tuple(name.text for name in unnamed(called(question, terms), sources)),
        () if asked & years else tuple(sorted(asked)),
    )


def years_in(text: str) -> set[int]:
    """The years that ``text`` names: 2018, FY2018, FY18, 2021Q1, Q2'2023."""
    found = {int(year) for year in (*_YEAR.findall(text), *_YEAR_OF_QUARTER.findall(text))}
    return found | {2000 + int(year) for year in _SHORT_YEAR.findall(text)}
