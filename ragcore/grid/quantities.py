"""Quantities of a grid's cells: a figure as it is written, as a number in the unit that its column asks for.

A figure without a scale of its own takes that of its table ("in millions"). What can't be converted exactly, another
currency or months in place of days, keeps its own unit.
"""

from __future__ import annotations

from dataclasses import dataclass

from ragcore.text.numbers import SCALES, Number, length_in, numbers, scale_note
from ragcore.text.units import Unit, currency, unit

_DIGITS = 12  # significant ones of a converted number
_INEXACT = {"month": 12.0, "year": 1.0}  # no fixed number of days


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Unit of a column: ``USD million`` is a currency and a scale, ``%`` a share, ``mg/kg`` a unit."""

    text: str
    currency: str
    scale: float | None
    percent: bool
    unit: Unit | None


def measured(figure: str, scale: str, asked: str) -> tuple[float | None, str]:
    """Number of ``figure`` and its unit: ``asked``, "" for none, or its own where it can't be converted. ``scale`` are
    the words with the scale of its table. None if it is no single figure."""
    wanted = _wanted(asked)
    duration = length_in(figure)
    if duration is not None:
        return _duration(*duration, wanted)
    found = numbers(figure)
    if len(found) != 1:
        return None, ""
    number = found[0]
    if number.percent:
        return number.value, "%"
    own = 1.0
    if number.scale == 1.0 and number.unit is None and not wanted.percent:
        own = scale_note(scale) or 1.0
    if wanted.percent:
        return number.value, "%"
    if number.unit is not None:
        return _of_unit(number, wanted)
    money = number.currency or currency(_first(scale))
    if wanted.currency and money and money != wanted.currency:
        return _exact(number.amount * own), money
    if wanted.scale is None:
        return _exact(number.amount * own), wanted.text or money
    if number.scale == own == 1.0 and not (wanted.scale == 1.0 and number.currency):
        # Its scale is unknown: a figure in the wrong one would be worse than one without a unit.
        return number.value, money
    return _exact(number.amount * own / wanted.scale), wanted.text


def _wanted(asked: str) -> _Wanted:
    words = asked.split()
    money = next((sign for word in words if (sign := currency(word))), "")
    scale = next((SCALES[key] for word in words if (key := word.lower().rstrip(".")) in SCALES), None)
    scale = scale if scale is not None else scale_note(f"in {asked}")
    percent = "%" in asked or any(word.lower() in ("percent", "percentage") for word in words)
    return _Wanted(asked, money, 1.0 if money and scale is None else scale, percent, unit(asked))


def _first(text: str) -> str:
    return next((word for word in text.split() if currency(word)), "")


def _duration(count: float, name: str, wanted: _Wanted) -> tuple[float | None, str]:
    """A duration, converted to the unit asked for if that is exact."""
    plural = name if count == 1 else f"{name}s"
    here, there = unit(name.removeprefix("business ")), wanted.unit
    if there is None or here is None or there.measures != "time" or name.startswith("business"):
        return count, plural
    one, other = name.rstrip("s"), there.name.rstrip("s")
    if one == other:
        return count, wanted.text
    if one in _INEXACT or other in _INEXACT:
        both = one in _INEXACT and other in _INEXACT
        return (_exact(count * _INEXACT[other] / _INEXACT[one]), wanted.text) if both else (count, plural)
    return _exact(count * here.factor / there.factor), wanted.text


def _of_unit(number: Number, wanted: _Wanted) -> tuple[float | None, str]:
    assert number.unit is not None
    there = wanted.unit
    if there is None or there.measures != number.unit.measures:
        return _exact(number.amount), number.unit.name
    return _exact(number.amount * number.unit.factor / there.factor), wanted.text


def _exact(amount: float) -> float:
    """``amount`` without the noise of binary fractions."""
    return float(f"{amount:.{_DIGITS}g}")
