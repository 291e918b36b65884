"""Numbers in prose and tables: read with sign, scale, unit and precision, and compared as a reader would.

``$51.2 billion`` agrees with ``51,217`` in a table "in millions"; ``(3,067)`` is negative; ``10%`` agrees with ``10.2``
in a column of percentages, but not with ``$10``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

SCALES = {
    "hundred": 1e2, "thousand": 1e3, "thousands": 1e3, "k": 1e3, "million": 1e6, "millions": 1e6, "mn": 1e6, "mm": 1e6,
    "m": 1e6, "billion": 1e9, "billions": 1e9, "bn": 1e9, "b": 1e9, "trillion": 1e12, "trillions": 1e12, "tn": 1e12,
}  # fmt: skip
WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50,
}  # fmt: skip

_NUMBER = re.compile(
    r"""(?<![\w.,])
    (?P<open>\()?\s?
    (?P<sign>[-−–+])?\s?
    (?P<currency>US\$|C\$|A\$|HK\$|[$€£¥₹]|USD\s|EUR\s|GBP\s)?\s?
    (?P<sign2>[-−–])?\s?(?P<open2>\()?\s?
    (?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)
    (?P<after>\s?\)?\s?%?)
    (?P<scale>[\s-]?(?:hundred|thousands?|millions?|billions?|trillions?)\b|\s?(?:mn|mm|bn|tn|[kKMmBb])\b)?
    (?P<percent>\s?(?:%|percent\b|per\scent\b|percentage\spoints?\b|pp\b))?
    (?P<close>\))?
    (?!(?!x\b)\w|[.,]\d)
    """,
    re.VERBOSE,
)
_YEAR = re.compile(r"(?<![\w.,$€£-])(?:(?:FY|fy)\s?['’]?)?((?:19|20)\d{2})(?![\w%]|[.,]\d)")
_SHORT_YEAR = re.compile(r"(?<!\w)(?:FY\s?['’]?|['’])(\d{2})(?!\w)")
_YEAR_SPAN = re.compile(r"(?<![\w.,$€£-])((?:19|20)\d{2})\s?[-–/]\s?(\d{2}|(?:19|20)\d{2})(?![\w%]|[.,]\d)")
_WORD_NUMBER = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)
# A code carries letters and digits in one token (10-K, BMS-986158, COVID-19): a name, not a quantity.
_CODE = re.compile(r"(?<![\w$€£])(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![\w])")
_QUANTITY_CODE = re.compile(
    r"^\d+(?:(?:k|m|b|bn|mn|mm|tn|th|st|nd|rd|s|pp|x|bps)"
    r"|-?(?:million|billion|thousand|trillion|percent|year|month|day|week|hour|point|fold)s?(?:-\w+)?)$",
    re.IGNORECASE,
)
_SCALE_NOTE = re.compile(
    r"\b(?:in|of|\$|us\$|dollars|dollar|euros?|eur|usd|expressed|amounts|figures|stated)[\s$(]*"
    r"(?:u\.?s\.?\s)?(?:dollars?\s|euros?\s|€\s?|\$\s?)?(?:in\s)?(thousands|millions|billions)\b"
    r"|\((?:\$|€|£|us\$)?\s?(?:in\s)?(thousands?|millions?|billions?|000s?|mn|m|bn)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Number:
    """A quantity as written. ``value`` is signed and without ``scale`` (1.0 where no scale word stands by it);
    ``decimals`` digits were written after the point. ``raw`` is its text at ``start``."""

    raw: str
    start: int
    value: float
    scale: float = 1.0
    decimals: int = 0
    percent: bool = False
    currency: bool = False

    @property
    def amount(self) -> float:
        return self.value * self.scale


def codes(text: str) -> list[str]:
    """Names that hold letters and digits (``10-K``, ``BMS-986158``), as written."""
    found = (match.group() for match in _CODE.finditer(text))
    return [code for code in found if not _QUANTITY_CODE.match(code) and not _is_year_token(code)]


def _is_year_token(code: str) -> bool:
    return re.fullmatch(r"(?:FY|CY|H[12]|Q[1-4])['’]?(?:\d{2}|\d{4})", code, re.IGNORECASE) is not None


def years(text: str) -> set[int]:
    """Calendar and fiscal years named in ``text``: 2023, FY2023, FY23, '23, and both ends of 2022-23."""
    found = {int(match.group(1)) for match in _YEAR.finditer(text)}
    found |= {2000 + int(match.group(1)) for match in _SHORT_YEAR.finditer(text)}
    for match in _YEAR_SPAN.finditer(text):
        first, second = match.groups()
        found |= {int(first), int(second) if len(second) == 4 else int(first[:2] + second)}
    return found


def numbers(text: str) -> list[Number]:
    """Quantities in ``text``, in order: neither years nor digits inside codes."""
    masked = text
    for pattern in (_YEAR_SPAN, _YEAR, _SHORT_YEAR):
        masked = pattern.sub(lambda match: "\0" * len(match.group()), masked)
    for match in _CODE.finditer(text):
        if not _QUANTITY_CODE.match(match.group()):
            masked = masked[: match.start()] + "\0" * len(match.group()) + masked[match.end() :]
    out = [_number(match) for match in _NUMBER.finditer(masked)]
    for match in _WORD_NUMBER.finditer(masked):
        out.append(Number(match.group(), match.start(), float(WORDS[match.group().lower()])))
    return sorted(out, key=lambda number: number.start)


def _number(match: re.Match[str]) -> Number:
    digits = match.group("digits")
    after = match.group("after") or ""
    bracketed = (match.group("open") or match.group("open2")) and (")" in after or match.group("close"))
    sign = match.group("sign") or match.group("sign2")
    # A dash straight after a digit or word joins a range; the pattern's look-behind leaves only true signs, but a
    # spaced dash (" – 5") is punctuation.
    negative = bool(bracketed) or (sign in ("-", "−", "–") and not re.match(r"\(?\s?[-−–]\s", match.group()))
    scale = (match.group("scale") or "").strip(" -\t\n").lower()
    return Number(
        raw=match.group().strip(),
        start=match.start(),
        value=(-1.0 if negative else 1.0) * float(digits.replace(",", "")),
        scale=SCALES.get(scale, 1.0),
        decimals=len(digits.partition(".")[2]),
        percent="%" in after or bool(match.group("percent")),
        currency=bool(match.group("currency")),
    )


def scale_note(text: str) -> float | None:
    """The scale that a table's title or headers state for its figures (``in millions`` → 1e6), or None."""
    match = _SCALE_NOTE.search(text)
    if match is None:
        return None
    word = (match.group(1) or match.group(2)).lower()
    return 1e3 if word.startswith("000") else SCALES[word]


def agree(claimed: Number, given: Number, given_scale: float | None, *, hedged: bool = False) -> bool:
    """Whether ``claimed`` states ``given``, up to the rounding that its own digits show; signs are left aside.

    ``given_scale`` is the scale that the given number's table states, or None. ``hedged`` (about, nearly, over) allows
    one step of the last digit that is not a zero: "about 50" may be 41 to 59, "about 51.2" only 51.1 to 51.3. A figure
    copied without its table's scale agrees too.
    """
    if (claimed.percent and given.currency) or (given.percent and claimed.currency):
        return False
    scales = {given.scale}
    if given.scale == 1.0 and given_scale is not None and not given.percent:
        scales.add(given_scale)
        if claimed.scale not in (1.0, given_scale):
            scales.discard(1.0)
    elif given.scale == 1.0 and given_scale is None and claimed.scale != 1.0 and not given.percent:
        # Nothing says what the bare figure counts: "51,217 million" may restate "51,217".
        scales.add(claimed.scale)
    target = abs(claimed.amount)
    slack = (_last_step(claimed) if hedged else 0.5 * 10.0**-claimed.decimals) * claimed.scale
    for scale in scales:
        amount = abs(given.value) * scale
        if math.isclose(amount, target, rel_tol=1e-9) or abs(amount - target) <= slack * (1 + 1e-9):
            return True
    return False


def _last_step(number: Number) -> float:
    """The worth of one in the last digit that is not a trailing zero: 0.1 for 51.2, 10 for 50, 1000 for 51,000."""
    if number.decimals or number.value == 0:
        return float(10.0**-number.decimals)
    whole, step = int(abs(number.value)), 1
    while whole % (step * 10) == 0:
        step *= 10
    return float(step)
