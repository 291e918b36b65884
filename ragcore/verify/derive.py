"""Derived figures: sums, differences, changes, shares and comparisons that follow from cited figures.

Each is shown with its operands. If the operands belong to known years or rows, the claim's direction of change ("rose
by 402", "A exceeded B") is checked against theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ragcore.text import lexicon as lex
from ragcore.text.numbers import WORDS, Number
from ragcore.text.periods import years
from ragcore.text.words import tokens
from ragcore.verify.attribution import label_terms, terms, with_synonyms
from ragcore.verify.evidence import Evidence, Figure, Finding

# Maximum operands tried, and maximum of a sum.
_MOST, _MOST_IN_SUM = 24, 12
_REACH = 12  # words from a degree word to its "than"


@dataclass(frozen=True, slots=True)
class Derivation:
    """Derived figure; ``words`` show the operands. ``change`` is positive for a rise, negative for a fall, and 0.0 if
    it is neither (a sum, a share) or unknown."""

    words: str
    change: float = 0.0


def may_be_derived(text: str) -> bool:
    return "%" in text or not lex.DERIVED.isdisjoint(tokens(text))


def derive(number: Number, evidence: Evidence, text: str) -> Iterator[Derivation]:
    """Derivations of ``number`` of the claim ``text`` from cited figures, the most informative first."""
    target, said = abs(number.amount), frozenset(tokens(text))
    if target == 0.0:
        return
    slack = 0.5 * 10.0**-number.decimals * number.scale * 1.0001
    given = _operands(evidence, number)

    def near(value: float) -> bool:
        return abs(abs(value) - target) <= slack

    if lex.SUM & said and not number.percent:
        yield from _sum(given, number, near)
    for a, b in combinations(given, 2):
        if a.number.percent != b.number.percent:
            continue
        if number.percent and not a.number.percent:
            yield from _relative(a, b, near)
            continue
        x, y = a.number.amount, b.number.amount
        for scale in _scales(a, b, number):
            if near((x - y) * scale):
                first, second = (a, b) if x >= y else (b, a)
                yield Derivation(f"{first.number.raw} − {second.number.raw}", _change(a, b))


def _operands(evidence: Evidence, number: Number) -> list[Figure]:
    """Figures of cells and sentences, each amount of a row and column once; labels only if there are no others."""
    valued = [figure for figure in evidence.figures if figure.cell is not None or figure.sentence >= 0]
    out: dict[tuple[float, str], Figure] = {}
    for figure in valued or evidence.figures:
        if not (number.currency and figure.number.percent):
            out.setdefault((figure.number.amount, figure.cell.label if figure.cell else ""), figure)
    return list(out.values())[:_MOST]


def _scales(a: Figure, b: Figure, number: Number) -> set[float]:
    if number.currency and (number.currency != a.currency != "" or number.currency != b.currency != ""):
        return set()
    stated = a.scale if a.number.scale == 1.0 and not a.number.percent and a.scale == b.scale else None
    if stated is None:
        return {1.0}
    return {stated} if number.scale != 1.0 else {1.0, stated}


def _sum(given: Sequence[Figure], number: Number, near: Callable[[float], bool]) -> Iterator[Derivation]:
    # "14 (13.3)": a number and its share.
    summands = [f for f in given if not ("(" in f.number.raw and f.number.value > 0)][:_MOST_IN_SUM]
    columns: dict[str, list[Figure]] = {}
    for figure in summands:
        columns.setdefault(figure.cell.column if figure.cell else "", []).append(figure)
    for figures in (summands, *columns.values()):
        if len(figures) < 2 or len({figure.number.percent for figure in figures}) > 1:
            continue
        for scale in set.intersection(*(_scales(figures[0], figure, number) for figure in figures)):
            if near(sum(figure.number.amount for figure in figures) * scale):
                yield Derivation(" + ".join(figure.number.raw for figure in figures))


def _relative(a: Figure, b: Figure, near: Callable[[float], bool]) -> Iterator[Derivation]:
    """A change in per cent, relative to the earlier figure if known, or a share."""
    for first, second in ((a, b), (b, a)):
        base, other = second.number.amount, first.number.amount
        shown = f"{first.number.raw} / {second.number.raw}"
        if base and near((other - base) / abs(base) * 100):
            change = _change(first, second)
            if not change or (change > 0) == (abs(other) > abs(base)):
                shown = f"({first.number.raw} − {second.number.raw}) / {second.number.raw}"
                yield Derivation(shown, change or other - base)
        elif base and abs(other) < abs(base) and near(other / base * 100):
            yield Derivation(shown)


def _change(a: Figure, b: Figure) -> float:
    """Change from the earlier to the later of two figures, without their signs; 0.0 if the order is unknown."""
    first, second = _year_of(a), _year_of(b)
    if not first or not second or first == second:
        return 0.0
    later, earlier = (a, b) if first > second else (b, a)
    return abs(later.number.amount) - abs(earlier.number.amount)


def _year_of(figure: Figure) -> int:
    """The one year in a cell's headers, or in the figure's part of a sentence; 0 without one."""
    found = years(figure.cell.column) if figure.cell else years(figure.part)
    return found.pop() if len(found) == 1 else 0


# Comparisons


def check_comparison(text: str, evidence: Evidence) -> tuple[list[Finding], bool]:
    """Findings on a comparison in ``text`` ("A was higher than B") by the cited figures of its two things, and whether
    they settle its words for more and less. "Less than 1 year" compares no two things."""
    sides = _sides(text)
    named = [(f, label_terms(f.cell.row) | label_terms(f.cell.column)) for f in evidence.figures if f.cell is not None]
    unique = [(f, own.difference(*(other for g, other in named if g is not f and other != own))) for f, own in named]
    if sides is None or len(unique) < 2:
        return [], False

    def meant(said: frozenset[str]) -> Number | None:
        scores = [(len(own & with_synonyms(set(said))), figure.number) for figure, own in unique]
        most = max(score for score, _ in scores)
        found = [number for score, number in scores if score == most]
        return found[0] if most and len(found) == 1 else None

    a, b = meant(sides[0] - sides[1]), meant(sides[1] - sides[0])
    # Which of two outflows is more isn't told by their signs.
    if a is None or b is None or a.percent != b.percent or a.amount == b.amount or max(a.amount, b.amount) < 0:
        return [], False
    shown = f"{a.raw} {'>' if a.amount > b.amount else '<'} {b.raw}"
    if (a.amount > b.amount) == sides[2]:
        return [Finding("supported", f"The cited figures say so: {shown}.")], True
    return [Finding("unsupported", f"The cited figures say the opposite: {shown}.")], False


def _sides(text: str) -> tuple[frozenset[str], frozenset[str], bool] | None:
    """Terms on either side of a comparison, and whether the first is said to be more."""
    for clause in re.split(r"[.;,](?!\s?\d)", text):
        words = tokens(clause)
        for place, word in enumerate(words):
            near = [at for at in range(max(0, place - _REACH), place) if words[at] in lex.MORE | lex.LESS]
            if word == "than" and near:
                said, left = words[near[-1]], [*words[: near[-1]], *words[near[-1] + 1 : place]]
            elif word in lex.COMPARING_VERBS:
                said, left = word, words[:place]
            else:
                continue
            right = words[place + 1 :]
            first = next((one for one in right if one not in lex.ABOUT), "")
            if first and (years(first) or not (first[0].isdigit() or first == "one" or first in WORDS)):
                return terms(" ".join(left)), terms(" ".join(right)), said in lex.MORE
    return None
