"""Centrality of a document's tables: how many of their figures its other tables repeat.

Notes and discussions repeat the figures of the statements that they explain. So statements are central, whatever they
are called, and a table of a part is not. It is degree centrality (Freeman: Centrality in Social Networks, Social
Networks 1, 1978) of tables joined by the figures that they share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

LEAST = 10  # shared figures that make a table central: two tables of one part share a few, too
_FEWEST = 3  # digits of a figure that is seldom the same by chance
_YEAR = re.compile(r"(?:19|20)\d\d")
_NO_AMOUNT = re.compile(r"[^\W\d_]{3}|%")  # a word or date, a share


def centrality(tables: Mapping[T, Iterable[str]]) -> dict[T, float]:
    """Centrality, 0–1, of each of one document's ``tables``, given by the texts of its cells, relative to the most
    central one, or to `LEAST` shared figures where that has fewer."""
    figures = {table: _figures(cells) for table, cells in tables.items()}
    counts = Counter(figure for own in figures.values() for figure in own)
    shared = {table: sum(counts[figure] > 1 for figure in own) for table, own in figures.items()}
    most = max((LEAST, *shared.values()))
    return {table: count / most for table, count in shared.items()}


def _figures(cells: Iterable[str]) -> set[str]:
    """Figures of ``cells`` by their digits, without years, shares, and what stands in words."""
    found = (re.sub(r"[^\d.]", "", cell) for cell in cells if not _NO_AMOUNT.search(cell))
    return {one for one in found if sum(map(str.isdigit, one)) >= _FEWEST and not _YEAR.fullmatch(one)}
