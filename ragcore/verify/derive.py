"""Figures that are not written but follow from written ones: sums, differences, changes in per cent and shares.

Each is shown with its operands. Where the operands belong to known years or rows, the direction that the claim gives
the change ("rose by 402") is held against theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ragcore.text.numbers import Number
from ragcore.text.periods import years
from ragcore.verify.evidence import Evidence, Figure

_DERIVED = re.compile(
    r"\b(?:difference|total|totals|sum|combined|together|altogether|overall|increase[ds]?|decrease[ds]?|grew|grow|rose|"
    r"fell|declined?|decline|shrank|reduction|reduced|dropped|drop|change[ds]?|growth|more|less|fewer|higher|"
    r"lower|larger|"
    r"smaller|greater|longer|shorter|cooler|warmer|dearer|cheaper|than|ratio|margin|percent|share|average|mean|"
    r"net|by|of "
    r"the|up|down|points|times|exceed\w*)\b|%",
    re.IGNORECASE,
)
_SUM = re.compile(r"\b(?:total|totals|sum|combined|together|altogether|overall|in all)\b", re.IGNORECASE)
_RATIO = re.compile(r"\b(?:ratio|times|multiple|turnover|intensity|per)\b", re.IGNORECASE)
# Most operands that are tried, and most that a sum may have.
_MOST, _MOST_IN_SUM = 24, 12


@dataclass(frozen=True, slots=True)
class Derivation:
    """``words`` show the operands. ``change`` is positive for a rise, negative for a fall, and 0.0 where it is neither
    (a sum, a share) or cannot be told."""

    words: str
    change: float = 0.0


def may_be_derived(text: str) -> bool:
    return _DERIVED.search(text) is not None


def derive(number: Number, evidence: Evidence, text: str) -> Iterator[Derivation]:
    """How ``number`` of the claim ``text`` may follow from cited figures, the most telling way first."""
    target = abs(number.amount)
    if target == 0.0:
        return
    slack = 0.5 * 10.0**-number.decimals * number.scale * 1.0001
    given = _operands(evidence, number)

    def near(value: float) -> bool:
        return abs(abs(value) - target) <= slack

    if _SUM.search(text) and not number.percent:
        yield from _sum(given, number, slack)
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
            if near((x + y) * scale) and (_year_of(a) == _year_of(b) or not _year_of(a) or not _year_of(b)):
                yield Derivation(f"{a.number.raw} + {b.number.raw}")
        if _RATIO.search(text) and not number.currency and number.scale == 1.0:
            for first, second in ((a, b), (b, a)):
                if second.number.amount and near(first.number.amount / second.number.amount):
                    yield Derivation(f"{first.number.raw} / {second.number.raw}")


def _operands(evidence: Evidence, number: Number) -> list[Figure]:
    """The figures of cells and sentences, each amount of a row and column once; labels only where nothing else is."""
    valued = [figure for figure in evidence.figures if figure.cell is not None or figure.sentence >= 0]
    out: dict[tuple[float, str], Figure] = {}
    for figure in valued or evidence.figures:
        if number.currency and figure.number.percent:
            continue
        out.setdefault((figure.number.amount, figure.cell.label if figure.cell else ""), figure)
    return list(out.values())[:_MOST]


def _scales(a: Figure, b: Figure, number: Number) -> set[float]:
    if number.currency and (number.currency != a.currency != "" or number.currency != b.currency != ""):
        return set()
    stated = a.scale if a.number.scale == 1.0 and not a.number.percent and a.scale == b.scale else None
    if stated is None:
        return {1.0}
    return {stated} if number.scale != 1.0 else {1.0, stated}


def _sum(given: Sequence[Figure], number: Number, slack: float) -> Iterator[Derivation]:
    target = abs(number.amount)
    # "14 (13.3)": a number and its share.
    summands = [f for f in given if not ("(" in f.number.raw and f.number.value > 0)][:_MOST_IN_SUM]
    columns: dict[str, list[Figure]] = {}
    for figure in summands:
        columns.setdefault(figure.cell.column if figure.cell else "", []).append(figure)
    for figures in (summands, *columns.values()):
        if len(figures) < 2 or len({figure.number.percent for figure in figures}) > 1:
            continue
        for scale in set.intersection(*(_scales(figures[0], figure, number) for figure in figures)):
            if abs(abs(sum(figure.number.amount for figure in figures)) * scale - target) <= slack:
                yield Derivation(" + ".join(figure.number.raw for figure in figures))


def _relative(a: Figure, b: Figure, near: Callable[[float], bool]) -> Iterator[Derivation]:
    """A change in per cent, measured from the earlier figure where that is known, or a share."""
    for first, second in ((a, b), (b, a)):
        base, other = second.number.amount, first.number.amount
        if base and near((other - base) / abs(base) * 100):
            change = _change(first, second)
            if not change or (change > 0) == (abs(other) > abs(base)):
                yield Derivation(
                    f"({first.number.raw} − {second.number.raw}) / {second.number.raw}", change or other - base
                )
        if base and abs(other) < abs(base) and near(other / base * 100):
            yield Derivation(f"{first.number.raw} / {second.number.raw}")


def _change(a: Figure, b: Figure) -> float:
    """From the earlier to the later of two figures, without their signs; 0.0 where that is not known."""
    first, second = _year_of(a), _year_of(b)
    if not first or not second or first == second:
        return 0.0
    later, earlier = (a, b) if first > second else (b, a)
    return abs(later.number.amount) - abs(earlier.number.amount)


def _year_of(figure: Figure) -> int:
    """The one year in what heads a cell, or in the part of a sentence that a figure stands in; 0 for none."""
    found = years(figure.cell.column) if figure.cell else years(figure.part)
    return found.pop() if len(found) == 1 else 0
