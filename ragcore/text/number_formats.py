"""Values of a workbook's cells as Excel shows them: a number by its format's decimals, thousands, percent, currency,
scale and brackets, a date by its format or with its month in words."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext

from ragcore.text.words import MONTHS

# Parts of a format: text in quotes, one escaped character, a currency or condition in brackets, the width of a
# character, a filler, digits.
_PART = re.compile(r'"([^"]*)"|\\(.)|\[([^\]]*)\]|_(.)|\*(.)|([#0?][#0?,]*(?:\.[#0?,]*)?)|(.)', re.DOTALL)
# Parts of a format of dates: text in quotes, one escaped character, brackets, fillers, parts of a date, and the rest.
_DATE_PART = re.compile(
    r'"([^"]*)"|\\(.)|\[(h+|m+|s+)\]|\[[^\]]*\]|[_*].|(y+|m+|d+|h+|s+(?:\.0+)?)|(am/pm|a/p)|(.)',
    re.IGNORECASE | re.DOTALL,
)
_OWN_DATES = ("mm-dd-yy", "m/d/yy h:mm")  # Excel's names for the reader's own format
_EXACT = 10  # significant digits that Excel shows of a number without a format
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
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


def displayed(value: object, style: str = "General") -> str:
    """`shown`, with dates and times by their format; a date in the reader's own format (``3/4/25`` here, ``04.03.2025``
    there) is shown as ``2025-03-04``."""
    match value:
        case timedelta():
            passed = abs(value)
            return "-" * (value < timedelta()) + _date(datetime.min + passed, style, passed)
        case datetime():
            return _date(value, style)
        case date():
            return _date(datetime.combine(value, time()), style)
        case time():
            return _date(datetime.combine(date.min, value), style)
    return shown(value, style)


def _date(moment: datetime, style: str, passed: timedelta | None = None) -> str:
    style = style.split(";")[0]
    if style.lower() in ("general", *_OWN_DATES):
        style = "yyyy-mm-dd" + " hh:mm" * (":" in style or moment.time() != time())
    parts = list(_DATE_PART.finditer(style))
    kinds = [(part[3] or part[4] or "").lower()[:1] for part in parts]
    named = [n for n, kind in enumerate(kinds) if kind]
    half = any(part[5] for part in parts)
    seconds = int(passed.total_seconds()) if passed is not None else (moment - datetime.min).seconds
    out = []
    for n, part in enumerate(parts):
        code = (part[3] or part[4] or "").lower()
        if part[3]:
            out.append(f"{seconds // {'h': 3600, 'm': 60, 's': 1}[code[0]]:0{len(code)}d}")
        elif code:
            before = next((kinds[k] for k in reversed(named) if k < n), "")
            after = next((kinds[k] for k in named if k > n), "")
            minutes = code in ("m", "mm") and (before == "h" or after == "s")
            out.append(_part(moment, "n" * len(code) if minutes else code, half))
        elif part[5]:
            out.append(("AM", "PM")[moment.hour >= 12][: 2 if len(part[5]) > 3 else 1])
        else:
            out.append(part[1] or part[2] or part[6] or "")
    return " ".join("".join(out).split())


def _part(moment: datetime, code: str, half: bool) -> str:
    """Part of a date or time; ``code`` is the format's, with n for minutes. ``half``: hours of half a day."""
    long = len(code) > 1
    hour = (moment.hour % 12 or 12) if half else moment.hour
    match code[0]:
        case "y":
            return f"{moment.year:04d}" if len(code) > 2 else f"{moment.year % 100:02d}"
        case "m" if len(code) > 2:
            name = MONTHS[moment.month - 1]
            return {3: name[:3], 5: name[:1]}.get(len(code), name)
        case "d" if len(code) > 2:
            return _WEEKDAYS[moment.weekday()][: 3 if len(code) == 3 else None]
        case "s" if "." in code:
            digits = len(code) - code.index(".") - 1
            return f"{moment.second:02d}.{moment.microsecond // 10 ** (6 - min(digits, 6)):0{min(digits, 6)}d}"
    number = {"m": moment.month, "d": moment.day, "h": hour, "n": moment.minute, "s": moment.second}[code[0]]
    return f"{number:02d}" if long else str(number)


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
