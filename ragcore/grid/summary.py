"""Summary of a grid's column: how many rows state it, and what they state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from unicodedata import category

from ragcore.types.grid import STATED, CellValue, Column, GridCell, Summary

FEW = 3  # distinct values that are named
SCALES = ((1e9, " billion"), (1e6, " million"))


def summary(column: Column, cells: Sequence[GridCell]) -> Summary:
    """Summary of ``cells``, those of one column."""
    filled = [cell for cell in cells if cell.status is not None]
    values = [cell.value for cell in filled if cell.status in STATED]
    return Summary(len(values), len(filled), _words(column, values) if values else "")


def _words(column: Column, values: Sequence[CellValue]) -> str:
    if column.type == "value":
        return _range(values)
    if column.type == "date":
        days = sorted(value.period for value in values if value.period)
        return "" if not days else days[0] if days[0] == days[-1] else f"{days[0]} – {days[-1]}"
    if column.type == "list":
        items = sum(int(value.number or 0) for value in values)
        return f"{items:,} in all"
    if column.type in ("name", "yes_no"):
        counts = Counter(value.text for value in values)
        named = ", ".join(f"{text} {count}" for text, count in counts.most_common(FEW))
        return named if len(counts) <= FEW else f"{len(counts)} different"
    return ""


def _range(values: Sequence[CellValue]) -> str:
    """Range and median of the numbers in the unit that most have, a currency before them, and in one scale."""
    numbers = [(value.unit, value.number) for value in values if value.number is not None]
    if not numbers:
        return ""
    unit = Counter(unit for unit, _ in numbers).most_common(1)[0][0]
    own = sorted(number for other, number in numbers if other == unit)
    middle = median(own)
    least = min((abs(number) for number in (own[0], middle, own[-1]) if number), default=0.0)
    money = category(unit) == "Sc" if len(unit) == 1 else False
    scale, word = next((each for each in SCALES if least >= each[0] and (money or not unit)), (1.0, ""))

    def said(number: float) -> str:
        return f"{'−' if number < 0 else ''}{unit if money else ''}{shown(abs(number) / scale)}"

    after = word or (f" {unit}" if unit and not money else "")
    others = f" ({len(numbers) - len(own)} in other units)" if len(own) < len(numbers) else ""
    if own[0] == own[-1]:
        return f"{said(own[0])}{after}{others}"
    return f"{said(own[0])} – {said(own[-1])}{after}, median {said(middle)}{word}{others}"


def shown(number: float) -> str:
    """Number with separators of thousands and at most four digits after the point."""
    text = f"{number:,.4f}".rstrip("0").rstrip(".")
    return text if text not in ("-0", "") else "0"
