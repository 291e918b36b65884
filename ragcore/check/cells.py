"""Cells of a workbook as Excel shows them: a number by its format's decimals, thousands, percent, currency, scale and
brackets, a date with its month in words."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Decimal, localcontext

from ragcore.text.words import MONTHS

# Parts of a format: text in quotes, one escaped character, a currency or condition in brackets, the width of a
# character, a filler, digits.
_PART = re.compile(r'"([^"]*)"|\\(.)|\[([^\]]*)\]|_(.)|\*(.)|([#0?][#0?,]*(?:\.[#0?,]*)?)|(.)', re.DOTALL)
_EXACT = 10  # significant digits that Excel shows of a number without a format
_LARGE = 1e11  # from which it shows a power of ten


def shown(value: object, style: str = "General") -> str:
    """``value`` in the number format ``style``, "" for None. Fractions and powers of ten are shown without format."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case datetime() if value.time() != time():
            return f"{_day(value)}, {value:%H:%M}"
        case date():
            return _day(value)
        case int() | float():
            return _number(value, style)
    return " ".join(str(value).split())


def _day(value: date) -> str:
    return f"{value.day} {MONTHS[value.month - 1]} {value.year}"


def _number(value: float, style: str) -> str:
    sections = _sections(style)
    negative = value < 0 and len(sections) > 1
    section = sections[2] if value == 0 and len(sections) > 2 else sections[1] if negative else sections[0]
    parts = list(_PART.finditer(section))
    digits = [match for match in parts if match[6]]
    if section.strip() in ("", "@", "General") or len(digits) > 1 or re.search(r"E[+-]|/", section):
        return f"{value:.0f}" if value == int(value) and abs(value) < _LARGE else f"{value:.{_EXACT}g}"
    pattern, _, fraction = digits[0][6].partition(".") if digits else ("", "", "")
    whole, decimals = pattern.rstrip(","), fraction.rstrip(",")
    scale = len(pattern + fraction) - len(whole + decimals)  # commas behind the digits: thousands
    with localcontext(rounding=ROUND_HALF_UP):
        amount = Decimal(repr(abs(value))).scaleb(2 * any(match[7] == "%" for match in parts) - 3 * scale)
        text = f"{amount:{',' if ',' in whole else ''}.{len(decimals)}f}"
    for _ in range(len(decimals) - len(decimals.rstrip("#?"))):
        text = text.removesuffix("0")
    something = any(character in "123456789" for character in text)
    text = text.rstrip(".") if something or "0" in whole + decimals else ""
    sign = "-" if value < 0 and not negative and something else ""
    return sign + " ".join("".join(text if match[6] else _literal(match) for match in parts).split())


def _literal(match: re.Match[str]) -> str:
    if match[3] is not None:  # [$€-407] is a currency; [Red] and [>9] print nothing
        return match[3][1:].partition("-")[0] if match[3].startswith("$") else ""
    if match[4] or match[5]:
        return " " if match[4] else ""
    return match[1] or match[2] or match[7] or ""


def _sections(style: str) -> list[str]:
    """Formats of positive and negative numbers and of zero, as far as they are given."""
    found, quoted = [""], False
    for character in style:
        quoted ^= character == '"'
        if character == ";" and not quoted:
            found.append("")
        else:
            found[-1] += character
    return found
