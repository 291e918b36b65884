"""Quantities of a grid's cells: a figure as it is written, as a number in the unit that its column asks for.

A figure without a scale of its own takes that of its table ("in millions"). What can't be converted exactly, another
currency or months in place of days, keeps its own unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.text.numbers import SCALES, Length, lengths, numbers, scale_note
from ragcore.text.periods import blanked
from ragcore.text.units import Unit, currencies, currency, unit, unit_of_label

# A cell of digits in threes that are no two columns: "33 000", "1 510".
_APART = re.compile(r"\d{1,2}(?:\s\d{3})+|\d{3}(?:\s\d{3})*\s000")
_DIGITS = 12  # significant ones of a converted number
_A_YEAR = {"month": 12.0, "year": 1.0}  # of these; neither has a fixed number of days


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Unit of a column: ``USD million`` is a currency and a scale, ``%`` a share, ``mg/kg`` a unit."""

    text: str
    currency: str
    scale: float | None
    percent: bool
    unit: Unit | None


def measured(figure: str, around: str, asked: str) -> tuple[float | None, str]:
    """Number of ``figure`` and its unit: ``asked``, its own where it can't be converted, "" where nothing tells it.
    ``around`` are the words with the scale and unit of its table. None if it is no single figure."""
    figure = "".join(figure.split()) if _APART.fullmatch(figure.strip()) else figure
    wanted, durations = _wanted(asked), lengths(figure)
    if durations:
        return _duration(figure, durations, wanted)
    found = numbers(figure)
    if len(found) != 1:
        return None, ""
    number = found[0]
    monies = {number.currency} if number.currency else currencies(around)
    money = monies.pop() if len(monies) == 1 else ""
    labelled = number.unit or (None if money else unit_of_label(around))
    if number.percent or (wanted.percent and "%" in around and not money and labelled is None):
        return number.value, "%"
    own = scale_note(around) if number.scale == 1.0 and number.unit is None else None
    amount = _exact(number.amount * (own or 1.0))
    if labelled is not None:
        return _of_unit(number.amount, labelled, wanted)
    if wanted.percent or wanted.unit is not None or (money and wanted.currency not in ("", money)):
        return amount, money
    if wanted.scale is None:
        return (amount, money) if money else (amount, wanted.text)
    if number.scale == 1.0 and own is None and not (wanted.scale == 1.0 and number.currency):
        # Its scale is unknown: a figure in the wrong one would be worse than one without a unit.
        return number.value, money
    return _exact(number.amount * (own or 1.0) / wanted.scale), wanted.text


def _wanted(asked: str) -> _Wanted:
    words = asked.split()
    money = next((sign for word in words if (sign := currency(word))), "")
    scale = next((SCALES[key] for word in words if (key := word.lower().rstrip(".")) in SCALES), None)
    scale = scale if scale is not None else scale_note(f"in {asked}")
    percent = "%" in asked or any(word.lower() in ("percent", "percentage") for word in words)
    return _Wanted(asked, money, 1.0 if money and scale is None else scale, percent, unit(asked))


def _duration(figure: str, found: Sequence[Length], wanted: _Wanted) -> tuple[float | None, str]:
    """A duration, its parts added ("1 year and 6 months"), in the unit asked for if that is exact."""
    rest = blanked(figure, [(one.start, one.end) for one in found])
    parts = [_length(one, wanted) for one in found]
    if any(map(str.isdigit, rest)) or len({unit for _, unit in parts}) > 1:
        return None, ""
    return _exact(sum(count for count, _ in parts)), parts[0][1]


def _length(one: Length, wanted: _Wanted) -> tuple[float, str]:
    own = one.unit if one.count == 1 else f"{one.unit}s"
    here, there = unit(one.unit), wanted.unit
    if there is None or here is None or there.measures != "time":
        return one.count, own
    name = there.name.rstrip("s")
    if one.unit == name:
        return one.count, wanted.text
    if {one.unit, name} & _A_YEAR.keys():
        both = one.unit in _A_YEAR and name in _A_YEAR
        return (one.count * _A_YEAR[name] / _A_YEAR[one.unit], wanted.text) if both else (one.count, own)
    return one.count * here.factor / there.factor, wanted.text


def _of_unit(amount: float, own: Unit, wanted: _Wanted) -> tuple[float | None, str]:
    there = wanted.unit
    if there is None or there.measures != own.measures:
        return _exact(amount), own.name
    return _exact(amount * own.factor / there.factor), wanted.text


def _exact(amount: float) -> float:
    """``amount`` without the noise of binary fractions."""
    return float(f"{amount:.{_DIGITS}g}")
