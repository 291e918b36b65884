"""Number parsing for table cells, if unambiguous.

``1,234`` is over a thousand in one document and a little over one in another. Numbers with only one reading (``12.5``,
``1,234,567``) in the table, else in the document, decide whether comma or point separates thousands; if they decide
nothing, or conflict, a number that depends on it stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Marks = Literal["point", "comma"]  # decimal marks

LONGEST = 15  # significant digits of a spreadsheet number
_SIGNS = "-−–"
_MONEY = r"(?:US|C|A|HK)?\$|€|£|¥"
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[{_SIGNS}+])?\s*(?P<before>{_MONEY})?\s*(?P<inner>\()?(?P<sign2>[{_SIGNS}+])?\s*"
    rf"(?P<digits>\d[\d.,'’  ]*\d|\d|[.,]\d+)\s*(?P<after>{_MONEY})?\s*(?P<close>\))?\s*(?P<percent>%)?\s*(?P<last>\))?"
)
_GROUPED = {mark: re.compile(rf"\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+") for mark in ",."}


@dataclass(frozen=True, slots=True)
class Figure:
    """Number of a cell. ``value`` is its amount (12% is 0.12); ``format`` shows it in a spreadsheet as printed:
    currency, thousands, decimals, percent, brackets for negatives."""

    value: float | int
    format: str
    bare: bool = False  # only digits in brackets


def marks_of(texts: Iterable[str]) -> Marks | None:
    """Decimal mark of the numbers with only one reading; None without such numbers, or if they differ."""
    found: set[Marks] = set()
    for text in texts:
        match = _NUMBER.fullmatch(text.strip())
        told = _told(match["digits"]) if match else None
        if told is not None:
            found.add(told)
    return found.pop() if len(found) == 1 else None


def figure(text: str, marks: Marks | None) -> Figure | None:
    """Number in ``text``; None if it is, or may be, something else. One in brackets is negative; the caller doubts a
    `Figure.bare` one in a column without other numbers, since it may be a note's number."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    brackets = bool(match["open"] or match["inner"])
    closed = bool(match["close"]) + bool(match["last"])
    signs = [sign for sign in (match["sign"], match["sign2"]) if sign]
    money = match["before"] or match["after"]
    if closed != int(brackets) or (match["open"] and match["inner"]) or len(signs) + brackets > 1:
        return None
    if money and (match["percent"] or (match["before"] and match["after"])):
        return None
    plain = _plain(match["digits"], marks)
    if plain is None:
        return None
    whole, decimals, grouped = plain
    value: float | int = float(f"{whole}.{decimals}") if decimals else int(whole)
    if brackets or (signs and signs[0] in _SIGNS):
        value = -value
    if match["percent"]:
        value = round(value / 100, len(decimals) + 2)
    percent = bool(match["percent"])
    shown = _format(decimals, grouped, money, bool(match["before"]), percent, brackets)
    return Figure(value, shown, brackets and not (money or decimals or grouped or percent))


def _told(digits: str) -> Marks | None:
    """Decimal mark that ``digits`` reveal."""
    text = re.sub(r"['’  ]", "", digits)
    points, commas = text.count("."), text.count(",")
    if points and commas:
        decimal = "." if text.rindex(".") > text.rindex(",") else ","
        other = "," if decimal == "." else "."
        whole = text.rpartition(decimal)[0]
        fits = text.count(decimal) == 1 and _GROUPED[other].fullmatch(whole)
        return ("point" if decimal == "." else "comma") if fits else None
    ways: tuple[tuple[str, int, Marks, Marks], ...] = ((".", points, "point", "comma"), (",", commas, "comma", "point"))
    for mark, count, told, reverse in ways:
        if count > 1:
            return reverse if _GROUPED[mark].fullmatch(text) else None
        if count == 1:
            whole, _, decimals = text.partition(mark)
            one_way = len(decimals) != 3 or len(whole) > 3 or whole in ("", "0")
            return told if one_way else None
    return None


def _plain(digits: str, marks: Marks | None) -> tuple[str, str, bool] | None:
    """Digits before and after the decimal mark, and whether thousands are separated; None for other or ambiguous
    text."""
    text, grouped = digits, False
    spaced = re.fullmatch(r"(\d{1,3}(?:['’  ]\d{3})+)([.,]\d+)?", text)
    if spaced:
        text, grouped = re.sub(r"['’  ]", "", text), True
    elif re.search(r"['’  ]", text):
        return None
    decimals = ""
    if "." in text or "," in text:
        known = marks or _told(text)
        if known is None:
            return None
        decimal, thousands = (".", ",") if known == "point" else (",", ".")
        whole, found, decimals = text.partition(decimal)
        if (found and not decimals.isdigit()) or (spaced and thousands in whole):
            return None  # "3.2.1" is a section, "12.05.2021" a date
        if thousands in whole:
            if not _GROUPED[thousands].fullmatch(whole):
                return None
            whole, grouped = whole.replace(thousands, ""), True
        text = whole or "0"
    if len(text) + len(decimals) > LONGEST or (len(text) > 1 and text.startswith("0")):
        return None  # 007 is a name
    return text, decimals, grouped


def _format(decimals: str, grouped: bool, money: str | None, before: bool, percent: bool, brackets: bool) -> str:
    number = ("#,##0" if grouped else "0") + (f".{'0' * len(decimals)}" if decimals else "")
    if percent:
        number += "%"
    if money:
        number = f'"{money}"{number}' if before else f'{number}" {money}"'
    return f"{number};({number})" if brackets else number
