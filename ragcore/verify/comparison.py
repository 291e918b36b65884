"""Which is more? "A was higher than B", "A exceeded B", "rose from 2022 to 2023": held against the cited figures, and
against comparisons in the cited words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragcore.text.lexicon import COMPARING_VERBS, LESS, MORE, direction
from ragcore.text.numbers import WORDS
from ragcore.text.periods import years
from ragcore.text.words import tokens, word_set
from ragcore.verify.evidence import Evidence, Figure, Finding
from ragcore.verify.signs import takes_off
from ragcore.verify.terms import label_terms, terms, with_synonyms

_ROUGHLY: Final = word_set("about approximately only to in over")
_REACH = 12  # words from a degree word to its "than"


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left`` is more (``sign`` 1) or less (-1) than ``right``; both are the words on their sides."""

    left: frozenset[str]
    right: frozenset[str]
    sign: int


def comparison(text: str) -> Comparison | None:
    """The first comparison of two things that ``text`` makes, or None. "Less than 1 year" compares no two things."""
    for clause in re.split(r"[.;,](?!\d)", text):
        words = tokens(clause)
        for place, word in enumerate(words):
            near = [at for at in range(max(0, place - _REACH), place) if words[at] in MORE | LESS]
            right = words[place + 1 :]
            if word == "than" and near and not _is_number(right):
                said, left = words[near[-1]], [*words[: near[-1]], *words[near[-1] + 1 : place]]
            elif word in COMPARING_VERBS and right and not _is_number(right):
                said, left = word, words[:place]
            else:
                continue
            return Comparison(terms(" ".join(left)), terms(" ".join(right)), 1 if said in MORE else -1)
    return None


def _is_number(words: Sequence[str]) -> bool:
    first = next((word for word in words if word not in _ROUGHLY), "")
    return (first[:1].isdigit() and not years(first)) or first == "one" or first in WORDS


def check_comparison(text: str, evidence: Evidence) -> tuple[list[Finding], bool]:
    """Findings on what ``text`` compares, and whether they settle the words for more and less in it: "B was lower than
    A" says what "A was higher than B" does."""
    made = comparison(text)
    if made is not None:
        for sentence in evidence.sentences:
            there = comparison(sentence)
            same = _between(made, there) if there is not None else None
            if same is not None:
                reason = "The cited words compare the two the other way round."
                return ([] if same else [Finding("unsupported", reason)]), same
        found = _by_figures(made, evidence)
        if found is not None:
            return [found], found.status == "supported"
    return _by_years(text, evidence), False


def _between(claimed: Comparison, given: Comparison) -> bool | None:
    """Whether two comparisons say the same; None where they are not of the same two things."""
    aligned = (claimed.left & given.left - given.right, claimed.right & given.right - given.left)
    crossed = (claimed.left & given.right - given.left, claimed.right & given.left - given.right)
    if all(crossed) == all(aligned):
        return None
    return (claimed.sign == given.sign) == all(aligned)


def _named(evidence: Evidence) -> list[tuple[Figure, frozenset[str]]]:
    """Figures with the words that name them."""
    out = [(f, label_terms(f.cell.row) | label_terms(f.cell.column)) for f in evidence.figures if f.cell is not None]
    for place in range(len(evidence.sentences)):
        kinds: dict[str, list[Figure]] = {}
        for figure in evidence.figures:
            if figure.sentence == place:
                kinds.setdefault(figure.number.kind, []).append(figure)
        for figures in kinds.values():
            if len(figures) == 2:
                out.extend((figure, terms(figure.part) - terms(figure.number.raw)) for figure in figures)
    return out


def _by_figures(claimed: Comparison, evidence: Evidence) -> Finding | None:
    named = _named(evidence)
    if len(named) < 2:
        return None
    unique = [
        (f, words.difference(*(other for g, other in named if g is not f and other != words))) for f, words in named
    ]

    def pick(said: frozenset[str]) -> list[Figure]:
        scores = [(len(words & with_synonyms(set(said))), figure) for figure, words in unique]
        most = max(score for score, _ in scores)
        return [figure for score, figure in scores if score == most] if most else []

    left, right = pick(claimed.left - claimed.right), pick(claimed.right - claimed.left)
    if len(named) == 2:
        if len(left) == 1 and not right:
            right = [figure for figure, _ in named if figure is not left[0]]
        elif len(right) == 1 and not left:
            left = [figure for figure, _ in named if figure is not right[0]]
    if len(left) != 1 or len(right) != 1 or left[0] is right[0]:
        return None
    a, b = left[0].number, right[0].number
    x, y = _values(left[0], right[0])
    if a.percent != b.percent or x == y:
        return None
    shown = f"{a.raw} {'>' if x > y else '<'} {b.raw}"
    if (x > y) == (claimed.sign > 0):
        return Finding("supported", f"The cited figures say so: {shown}.")
    return Finding("unsupported", f"The cited figures say the opposite: {shown}.")


def _values(a: Figure, b: Figure) -> tuple[float, float]:
    """Their amounts; without the signs where both are outflows, which tables show in brackets."""
    x, y = a.number.amount, b.number.amount
    rows = " ".join(figure.cell.row for figure in (a, b) if figure.cell)
    return (abs(x), abs(y)) if x < 0 and y < 0 and takes_off(rows) else (x, y)


def _by_years(text: str, evidence: Evidence) -> list[Finding]:
    """Whether what "rose" or "fell" did so, by the figures of two years of the one cited row."""
    sign = direction(text)
    by_row: dict[str, dict[int, Figure]] = {}
    for figure in evidence.figures:
        if figure.cell is None or not figure.cell.row:
            continue
        found = years(figure.cell.column)
        if len(found) == 1 and figure.cell.row:
            by_row.setdefault(figure.cell.row, {}).setdefault(found.pop(), figure)
    named = {row: columns for row, columns in by_row.items() if len(columns) > 1}
    if len(named) != 1 or not sign:
        return []
    (columns,) = named.values()
    said = sorted(years(text))
    last = said[-1] if said else max(columns)
    before = [year for year in columns if year < last]
    first = said[0] if len(said) == 2 else max(before, default=0)
    if last not in columns or first not in columns or len(said) > 2:
        return []
    y, x = _values(columns[last], columns[first])
    if x == y or (y > x) == (sign > 0):
        return []
    shown = f"{columns[first].number.raw} in {first}, {columns[last].number.raw} in {last}"
    return [Finding("unsupported", f"The cited figures moved the other way: {shown}.")]
