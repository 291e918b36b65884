"""Values of a workbook's cells as Excel shows them: a number by its format's decimals, thousands, percent, currency,
scale and brackets, a date by its format or with its month in words."""

from __future__ import annotations

import operator as op
import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext

from ragcore.text.words import MONTHS

# Parts of a format: text in quotes, one escaped character, a currency or condition in brackets, the width of a
# character, a filler, digits, the word for no format.
_PART = re.compile(
    r'"([^"]*)"|\\(.)|\[([^\]]*)\]|_(.)|\*(.)|([#0?][#0?,]*(?:\.[#0?,]*)?|\.[#0?,]+)|(General)|(.)', re.DOTALL | re.I
)
_CONDITION = re.compile(r"\[\s*(<=|>=|<>|<|>|=)([^\]]*)\]")
_COMPARED = {"<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge, "=": op.eq, "<>": op.ne}
# Parts of a format of dates: text in quotes, one escaped character, brackets, fillers, parts of a date, and the rest.
_DATE_PART = re.compile(
    r'"([^"]*)"|\\(.)|\[(h+|m+|s+)\]|\[[^\]]*\]|[_*].|(y+|m+|d+|h+|s+(?:\.0+)?)|(am/pm|a/p)|(.)',
    re.IGNORECASE | re.DOTALL,
)
_OWN_DATES = ("mm-dd-yy", "m/d/yy h:mm")  # Excel's names for the reader's own format
_EXACT = 10  # significant digits that Excel shows of a number without a format
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LARGE = 1e15  # from which a whole number is shown by a power of ten: Excel keeps fifteen digits


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
    """``value`` by the section of ``style`` that holds for it; as it is if that can't be read."""
    section, signed = _section(value, _sections(style)[:3])
    parts = list(_PART.finditer(section))
    digits = [match[6] for match in parts if match[6]]
    general = sum(match[7] is not None for match in parts)
    others = "".join(match[8] or " " for match in parts)
    pattern, _, fraction = "".join(digits).partition(".")
    whole, decimals = pattern.rstrip(","), fraction.rstrip(",")
    if section.strip() in ("", "@") or re.search(r"[Ee][+-]|/", others):
        return _plain(value)
    if general + bool(digits) > 1 or (len(digits) > 1 and ("," in whole or any("." in run for run in digits[:-1]))):
        return _plain(value)
    if general:
        texts, something = [_plain(abs(value))], value != 0
    else:
        scale = len(pattern + fraction) - len(whole + decimals)  # commas behind the digits: thousands
        amount = Decimal(repr(abs(value))).scaleb(2 * others.count("%") - 3 * scale)
        text = _digits(amount, whole, decimals)
        something = any(character in "123456789" for character in text)
        texts = _shared(text, digits) if digits else []
    filled = iter(texts)
    sign = "-" if value < 0 and signed and something else ""
    written = "".join(next(filled) if match[6] or match[7] else _literal(match) for match in parts)
    return sign + " ".join(written.split())


def _plain(value: float) -> str:
    return f"{value:.0f}" if value == int(value) and abs(value) < _LARGE else f"{value:.{_EXACT}g}"


def _digits(amount: Decimal, whole: str, decimals: str) -> str:
    """``amount`` with as many digits before and after the point as the placeholders ask for."""
    zeros = len(whole[whole.index("0") :].replace(",", "")) if "0" in whole else 1
    comma = "," if "," in whole else ""
    wide = zeros + (zeros - 1) // 3 * len(comma) + (len(decimals) + 1 if decimals else 0)
    with localcontext(rounding=ROUND_HALF_UP):
        text = f"{amount:0{wide}{comma}.{len(decimals)}f}"
    for _ in range(len(decimals) - len(decimals.rstrip("#?"))):
        text = text.removesuffix("0")
    text = text.rstrip(".") if decimals else text
    return text if "0" in whole else text.removeprefix("0")


def _shared(text: str, digits: Sequence[str]) -> list[str]:
    """``text`` over runs of placeholders with other characters between them; the first has what is left."""
    out = []
    for run in reversed(digits[1:]):
        before = len(text.partition(".")[0]) - len(run.partition(".")[0].rstrip(","))
        out.append(text[max(before, 0) :])
        text = text[: max(before, 0)]
    return [text, *reversed(out)]


def _section(value: float, sections: Sequence[str]) -> tuple[str, bool]:
    """Section for ``value``, "" if there is none, and whether a negative one has its sign before it: not in a section
    for all negative numbers."""
    conditions = [_CONDITION.search(section) for section in sections]
    if not any(conditions):
        at = 2 if value == 0 and len(sections) > 2 else int(value < 0 and len(sections) > 1)
        return sections[at], at != 1
    first = conditions[0][1] if conditions[0] else ">"
    for n, (section, found) in enumerate(zip(sections, conditions)):
        if found:
            try:
                holds = _COMPARED[found[1]](value, float(found[2]))
            except ValueError:
                return "", True
            if holds:
                return section, not (found[1] in ("<", "<=") and float(found[2]) == 0)
        elif n == len(sections) - 1:
            rest = n == 1 and first in (">", ">=") and (conditions[0] is None or float(conditions[0][2]) == 0)
            return section, not rest
        elif value > 0 if n == 0 or first in ("<", "<=") else value < 0:
            return section, value > 0
    return "", True


def _literal(match: re.Match[str]) -> str:
    if match[3] is not None:  # [$€-407] is a currency; [Red] and [>9] print nothing
        return match[3][1:].partition("-")[0] if match[3].startswith("$") else ""
    if match[4] or match[5]:
        return " " if match[4] else ""
    return match[1] or match[2] or match[8] or ""


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
