"""Numbers in prose and tables: parsed with sign, scale, unit and precision, and compared as a reader would.

``$51.2 billion`` agrees with ``51,217`` in a table "in millions"; ``(3,067)`` is negative; ``10%`` agrees with ``10.2``
in a column of percentages, but not with ``$10``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ragcore.text.periods import YEAR_PATTERNS, blanked, date_spans
from ragcore.text.units import CURRENCY_CODES, INVERTED, SYMBOLS, Unit, currency, unit_after
from ragcore.text.words import LISTS, tokens

SCALES: dict[str, float] = LISTS["scales"]
SCALE_NAMES = {1e3: "thousand", 1e6: "million", 1e9: "billion"}
_ONES = {word: number for number, word in enumerate(LISTS["ones"].split(), start=1)}
_TEENS = {word: number for number, word in enumerate(LISTS["teens"].split(), start=10)}
_TENS = {word: 10 * number for number, word in enumerate(LISTS["tens"].split(), start=2)}
_SPELT = {**_ONES, **_TEENS, **_TENS}
# Number words that stand alone; "one" is more often a pronoun.
WORDS = {word: number for word, number in _SPELT.items() if word != "one"}

# Thousands may be apart by blanks after "€" or a currency's code ("EUR 1 107 million"); after "$" such groups are the
# columns of a statement.
_PERCENT_WORDS = r"%|percent\b|per\scent\b|percentage\spoints?\b|pp\b"
_NUMBER = re.compile(
    rf"""(?<![\w.,])
    (?P<open>\()?\s?
    (?P<sign>[-−–+])?\s?
    (?P<currency>US\$|C\$|A\$|HK\$|[$£¥₹]|(?P<apart>€|(?:{CURRENCY_CODES})\s))?\s?
    (?P<sign2>[-−–])?\s?(?P<open2>\()?\s?
    (?P<digits>(?(apart)\d{{1,3}}(?:[^\S\n\t]\d{{3}})+(?![^\S\n]?\d)(?:[.,]\d{{1,2}}(?![\d,]))?|(?!))|(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,2}}(?:,\d\d)+,\d{{3}})(?:\.\d+)?|\d+,\d{{1,2}}(?![\d,])|\d+(?:\.\d+)?|\.\d+)
    (?P<after>\s?\)?\s?%?)
    (?P<scale>[\s-]?(?:hundred|thousands?|millions?|billions?|trillions?|lakhs?|crores?)\b|\s?(?:mn|mm|bn|tn|[kKMmBb])\b)?
    (?P<percent>\s?(?:{_PERCENT_WORDS}))?
    (?P<close>\))?
    (?!(?!(?:x|h|{"|".join(SYMBOLS)})\b)\w|[.,]\d)
    """,
    re.VERBOSE,
)
_CURRENCY_WORD = re.compile(rf"\s({CURRENCY_CODES}|dollars?|euros?|pounds?|francs|yen|yuan|rupees)\b", re.IGNORECASE)
_DIGITS = re.compile(r"\d{1,3}(?:\s\d{3})+(?:[.,]\d+)?|[\d,]*[.·]?\d+")
_AFTER_NUMBER = re.compile(r"\d%?\s?\(?\Z")
_HALF_OF = re.compile(r"(?<!\bfirst )(?<!\bsecond )\b(?:one[- ])?half(?= of\b| the\b)", re.IGNORECASE)
_PERCENT = Unit("%", "share", 1.0)
_SHARES = {"third": 3, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "quarter": 4}
_OF = r"(?=\s(?:of|the|more|less|as)\b)"
# "Three quarters of the year" is a share, "in three quarters of 2024" and "for two quarters" are periods.
_FRACTION = re.compile(
    rf"\b(?P<of>{'|'.join(_ONES)}|an?)[\s-](?P<share>(?:{'|'.join(list(_SHARES)[:-1])})(?=s?\s)|quarter"
    rf"(?=s?\sof\s(?!(?:19|20)\d|fiscal|calendar|growth|decline)))s?{_OF}"
    rf"|\b(?P<part>{'|'.join(_ONES)})\s(?:in|out\sof)(?:\severy)?\s(?P<whole>{'|'.join((*_ONES, *_TEENS, *_TENS))})\b",
    re.IGNORECASE,
)
_PERIODS_BEFORE = re.compile(r"\b(?:first|last|next|past|once|twice|every|per|for|after)\s\Z", re.IGNORECASE)
_BELOW_100 = rf"(?:{'|'.join(_TENS)})(?:[-\s](?:{'|'.join(_ONES)}))?|{'|'.join(_TEENS)}|{'|'.join(_ONES)}"
_WORD_NUMBER = re.compile(
    rf"\b(?:(?P<hundreds>{'|'.join((*_ONES, *_TEENS))})\shundred(?:(?:\sand)?\s(?P<more>{_BELOW_100}))?"
    rf"|(?P<below>{_BELOW_100}))\b(?P<scale>\s(?:thousand|million|billion|trillion)\b)?(?P<percent>\s?(?:{_PERCENT_WORDS}))?",
    re.IGNORECASE,
)
# A code has letters and digits in one token (10-K, BMS-986158, COVID-19): a name, not a quantity.
_CODE = re.compile(r"(?<![\w$€£])(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![\w])")
_QUANTITY_CODE = re.compile(
    rf"^\d+(?:(?:k|m|b|bn|mn|mm|tn|th|st|nd|rd|s|x|h|{'|'.join(SYMBOLS)})"
    r"|-?(?:million|billion|thousand|trillion|percent|year|month|day|week|hour|minute|second|point|fold)s?(?:-\w+)?)$",
    re.IGNORECASE,
)
_PERIOD_CODE = re.compile(
    r"(?:FY|CY|H[12]|Q[1-4])['’]?(?:\d{2}|\d{4})|H[12]|Q[1-4]|[1-4]Q(?:\d{2}|\d{4})?", re.IGNORECASE
)
_RAISED_POINT = re.compile(r"(?<=\d)·(?=\d)")  # "P < 0·05"
_DECIMAL_COMMA = re.compile(r",(?=\d{1,2}\Z)")
_BLANKS = re.compile(r"\s")
TO = frozenset({"to", "-", "–", "—"})  # what joins the ends of a range
_GROUPED = re.compile(r"[-−–]?\d{1,3}(?:\s\d{3})+(?:[.,]\d+)?")
_POINTED = re.compile(r"[-−–]?\d{1,3}(?:\.\d{3})+")
_SCALE_NOTE = re.compile(
    r"\b(?:in|of|\$|us\$|dollars|dollar|euros?|eur|usd|expressed|amounts|figures|stated)[\s$(]*"
    r"(?:u\.?s\.?\s)?(?:dollars?\s|euros?\s|pounds?\s|€\s?|£\s?|\$\s?)?(?:in\s)?(thousands|millions|billions)\b"
    r"|\((?:\$|€|£|us\$)?\s?(?:in\s)?(thousands?|millions?|billions?|000s?|mn|bn)\b"
    r"|(?:[$€£¥]|\b(?:USD|EUR|GBP|CHF))\s?['’]?(thousands?|millions?|billions?|000s?|mn|m|bn)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Number:
    """Quantity as written. ``value`` is signed and excludes ``scale`` (1.0 without a scale word); ``decimals`` counts
    the digits after the point. ``currency`` is one sign (``$``, ``€``) or "". ``raw`` is its text at ``start``."""

    raw: str
    start: int
    value: float
    scale: float = 1.0
    decimals: int = 0
    percent: bool = False
    currency: str = ""
    unit: Unit | None = None

    @property
    def amount(self) -> float:
        return self.value * self.scale

    def written(self, amount: float) -> str:
        """``amount`` in the form of this number: its scale, digits after the point, separators and signs."""
        match = _DIGITS.search(self.raw)
        if match is None:
            return f"{amount:g}"
        plain = "," not in match.group() and abs(self.value) >= 1000
        digits = f"{abs(amount / self.scale):{'' if plain else ','}.{self.decimals}f}"
        digits = digits.replace(".", "·" if "·" in match.group() else ".")
        out = f"{self.raw[: match.start()]}{digits}{self.raw[match.end() :]}"
        if (amount < 0) == (self.value < 0):
            return out
        return f"-{out}" if amount < 0 else out.strip("()").lstrip("-−–")

    @property
    def bare(self) -> str:
        """As written, without brackets that are not its sign: "12" of "(12 mg)"."""
        out = self.raw.strip("( )")
        return self.raw if self.value < 0 or not {"(", ")"}.isdisjoint(out) else out

    @property
    def in_letters(self) -> bool:
        return not any(character.isdigit() for character in self.raw)

    @property
    def counts(self) -> bool:
        """Whether it is written in letters and counts things ("three segments"), or is a time."""
        return self.in_letters and not self.percent and not self.currency and self.scale == 1.0

    @property
    def kind(self) -> str:
        """Kind of quantity: ``%``, a currency, the measure of its unit, or "" for things."""
        if self.percent:
            return "%"
        return self.currency or (self.unit.measures if self.unit else "")


def span_of(text: str, number: Number) -> tuple[int, int]:
    """Span of a number of ``text``, without brackets, with its unit and what stands between ("7 calendar days")."""
    raw = number.raw.strip("( )")
    start = text.find(raw, number.start)
    end = start + len(raw)
    if number.unit is not None and number.unit == unit_after(text, number.start + len(number.raw)):
        end = text.index(number.unit.name, end) + len(number.unit.name)
    return start, end


def plural(number: int, noun: str) -> str:
    """``number`` with its noun: "1 page", "1,200 pages"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def codes(text: str) -> list[str]:
    """Names with letters and digits (``10-K``, ``BMS-986158``), as written."""
    found = (match.group() for match in _CODE.finditer(INVERTED.sub(" ", text)))
    return [code for code in found if not _QUANTITY_CODE.match(code) and not _PERIOD_CODE.fullmatch(code)]


def numbers(text: str) -> list[Number]:
    """Quantities in ``text``, in order; years, days of a month and digits inside codes are excluded."""
    masked = blanked(_RAISED_POINT.sub(".", text), date_spans(text), "\0")
    for pattern in (*YEAR_PATTERNS, INVERTED):
        masked = pattern.sub(lambda match: "\0" * len(match.group()), masked)
    names = (match.span() for match in _CODE.finditer(text) if not _QUANTITY_CODE.match(match.group()))
    masked = blanked(masked, names, "\0")
    out = [_number(match, text) for match in _NUMBER.finditer(masked)]
    for one in (_in_letters(match, text) for match in _WORD_NUMBER.finditer(masked)):
        if one.raw.lower() != "one" or (one.unit is not None and text.startswith("-", one.start + 3)):
            out.append(one)  # "a one-year term"
    for match in _HALF_OF.finditer(masked):
        out.append(Number(match.group(), match.start(), 50.0, percent=True))
    shares = (match for match in _FRACTION.finditer(text) if not _PERIODS_BEFORE.search(text, 0, match.start()))
    fractions = [one for match in shares if (one := _fraction(match)).value < 100.0]
    taken = {place for one in fractions for place in range(one.start, one.start + len(one.raw))}
    out = [*(one for one in out if one.start not in taken), *fractions]
    return _ranged(sorted(out, key=lambda number: number.start), text)


def _ranged(found: list[Number], text: str) -> list[Number]:
    """``found``, where both ends of a range have the scale and per cent of the upper one and the currency of either:
    "$22 to 25 billion"."""
    for place, (lower, upper) in enumerate(pairwise(found)):
        joint = text[lower.start + len(lower.raw) : upper.start].strip()
        joined = joint in TO or (joint == "and" and text[: lower.start].rstrip().lower().endswith("between"))
        plain = lower.scale == 1.0 and not lower.percent and lower.unit is None and 0.0 <= lower.value < upper.value
        if joined and plain and (upper.scale != 1.0 or (upper.percent and not lower.currency)):
            money = lower.currency or upper.currency
            found[place] = replace(lower, scale=upper.scale, percent=upper.percent, currency=money)
            found[place + 1] = replace(upper, currency=money)
    return found


def ranged(number: Number, text: str) -> bool:
    """Whether ``number`` is an end of a range of ``text``, as in "$5 to $6", and not in "from $5 to $6"."""
    for low, high in pairwise(one for one in numbers(text) if one.kind == number.kind):
        joined = text[low.start + len(low.raw) : high.start].strip() in TO
        if joined and number.start in (low.start, high.start):
            return tokens(text[: low.start])[-1:] != ["from"]
    return False


@dataclass(frozen=True, slots=True)
class Multiple:
    """Comparison by a factor as written ("more than twice"): the larger is ``least`` to ``most`` times the smaller.
    ``raw`` is its text at ``start``."""

    raw: str
    start: int
    least: float
    most: float


_FACTORS = {"twic": 2.0, "thri": 3.0, "doub": 2.0, "trip": 3.0, "quad": 4.0, "halv": 2.0}
_COUNT = rf"\d+(?:\.\d+)?|{'|'.join((*_ONES, *_TEENS))}"
_THAN = r"(?:the|that|those|its|their|what|as|it|they|higher|larger|greater|bigger|more)\b"
# "Twice daily" is a frequency, and "a double bond" compares nothing.
_MULTIPLE = re.compile(
    rf"\b(?:(?P<hedge>(?:more|less|fewer)\sthan|over|under|nearly|almost|about|roughly|some)\s)?"
    rf"(?:(?P<word>twice|thrice|double|triple|quadruple)(?=\s{_THAN})"
    rf"|(?P<verb>doubl|tripl|quadrupl|halv)(?:ed|ing)\b|(?P<times>{_COUNT})\stimes(?=\s{_THAN})"
    rf"|(?P<fold>{_COUNT})[\s-]?fold\b)",
    re.IGNORECASE,
)
_ROUNDING = 0.125  # of a factor in words, as a share of it


def multiples(text: str) -> list[Multiple]:
    """Comparisons by a factor in ``text``, in order: "twice the", "nearly tripled", "4.5 times as"."""
    out = []
    for match in _MULTIPLE.finditer(text):
        word, count = match["word"] or match["verb"], match["times"] or match["fold"]
        factor = float(_SPELT.get(count.lower(), count)) if count else _FACTORS[word[:4].lower()]
        hedge = (match["hedge"] or "").lower()
        least, most = factor * (1 - _ROUNDING), factor * (1 + _ROUNDING)
        if hedge in ("more than", "over"):
            least, most = factor, math.inf
        elif hedge in ("less than", "fewer than", "under"):
            least, most = 0.0, factor
        out.append(Multiple(match.group(), match.start(), least, most))
    return out


def _fraction(match: re.Match[str]) -> Number:
    """Share in letters ("two thirds of", "nine in ten"), as a percentage."""
    said = {name: (match.group(name) or "").lower() for name in ("of", "share", "part", "whole")}
    part = _ONES.get(said["of"] or said["part"], 1)
    whole = _SHARES[said["share"]] if said["share"] else WORDS.get(said["whole"], 1)
    return Number(match.group(), match.start(), 100.0 * part / whole, percent=True)


def _number(match: re.Match[str], text: str) -> Number:
    digits = _DECIMAL_COMMA.sub(".", _BLANKS.sub("", match.group("digits")))
    after = match.group("after") or ""
    written = text[slice(*match.span())]
    bracketed = (match.group("open") or match.group("open2")) and (")" in after or match.group("close"))
    # "14 (13.3)" is a number and its share.
    bracketed = bracketed and not _AFTER_NUMBER.search(text, 0, match.start() + 1)
    sign = match.group("sign") or match.group("sign2")
    # A dash directly after a digit or word joins a range; the pattern's look-behind leaves only true signs, but a
    # spaced dash (" – 5") is punctuation.
    negative = bool(bracketed) or (sign in ("-", "−", "–") and not re.match(r"\(?\s?[-−–]\s", match.group()))
    scale = (match.group("scale") or "").strip(" -\t\n").lower()
    percent = "%" in after or bool(match.group("percent"))
    named = currency((match.group("currency") or "").strip())
    word = _CURRENCY_WORD.match(text, match.end())
    return Number(
        raw=written.strip(),
        start=match.end() - len(written.lstrip()),
        value=(-1.0 if negative else 1.0) * float(digits.replace(",", "")),
        scale=SCALES.get(scale, 1.0),
        decimals=len(digits.partition(".")[2]),
        percent=percent,
        currency=named or (currency(word.group(1)) if word else ""),
        unit=None if percent or named else unit_after(text, match.end()),
    )


def _in_letters(match: re.Match[str], text: str) -> Number:
    """Number in words: "Thirty-one per cent", "two hundred and five", "six million"."""

    def below(words: str | None) -> int:
        return sum(_SPELT[word] for word in re.split(r"[-\s]", (words or "").lower()) if word)

    percent = bool(match.group("percent"))
    word = _CURRENCY_WORD.match(text, match.end())
    return Number(
        raw=match.group(),
        start=match.start(),
        value=100.0 * below(match.group("hundreds")) + below(match.group("more") or match.group("below")),
        scale=SCALES.get((match.group("scale") or "").strip().lower(), 1.0),
        percent=percent,
        currency=currency(word.group(1)) if word else "",
        unit=None if percent else unit_after(text, match.end()),
    )


def scale_words(text: str) -> str:
    """Words by which a table's title or headers state a scale (``in millions``), or ""."""
    match = _SCALE_NOTE.search(text)
    return match.group().strip(" (") if match is not None else ""


def scale_note(text: str) -> float | None:
    """Scale stated by a table's title or headers (``in millions`` → 1e6), or None."""
    match = _SCALE_NOTE.search(text)
    if match is None:
        return None
    word = next(filter(None, match.groups())).lower()
    return 1e3 if word.startswith("000") else SCALES[word]


def agree(
    claimed: Number, given: Number, given_scale: float | None, *, hedged: bool = False, bare: bool = True
) -> bool:
    """Whether ``claimed`` states ``given``, up to the rounding of its own digits; signs are ignored.

    ``given_scale`` is the scale stated by the given number's table, or None. ``hedged`` (about, nearly, over) permits
    one step of the last digit that is not a zero, and a fifth at most: "about 50" covers 41 to 59, "about 10" 8 to 12,
    "about 51.2" only 51.1 to 51.3. A figure copied without its table's scale agrees too. Units of one measure are
    converted; units of two measures never agree, nor do two currencies. ``bare``: without a known scale, the given
    figure may have the claim's scale.
    """
    if (claimed.percent and given.currency) or (given.percent and claimed.currency):
        return False
    if claimed.currency and given.currency and claimed.currency != given.currency:
        return False
    factor = _conversion(claimed, given)
    if factor is None:
        return False
    scales = {given.scale}
    if given.scale == 1.0 and given_scale is not None and not given.percent and given.unit is None:
        scales.add(given_scale)
        if claimed.scale != 1.0:
            scales.discard(1.0)
    elif given.scale == 1.0 and given_scale is None and claimed.scale != 1.0 and not given.percent and bare:
        # The scale of the bare figure is unknown: "51,217 million" may restate "51,217".
        scales.add(claimed.scale)
    target = abs(claimed.amount)
    slack = 0.5 * 10.0**-claimed.decimals
    if hedged:
        slack = max(slack, min(_last_step(claimed), abs(claimed.value) / 5))
    slack *= claimed.scale
    for scale in scales:
        amount = abs(given.value) * scale * factor
        reach = slack * (1 + 1e-9) + 4 * math.ulp(target)  # floats leave out as much
        if math.isclose(amount, target, rel_tol=1e-9) or abs(amount - target) <= reach:
            return True
    return False


def _conversion(claimed: Number, given: Number) -> float | None:
    """Factor from the unit of ``given`` to that of ``claimed``; None if they measure different things."""
    here = _PERCENT if claimed.percent else claimed.unit
    there = _PERCENT if given.percent else given.unit
    if here is None or there is None or here == there:
        return 1.0
    return there.factor / here.factor if here.measures == there.measures else None


def _last_step(number: Number) -> float:
    """Value of one step in the last digit that is not a trailing zero: 0.1 for 51.2, 10 for 50, 1000 for 51,000."""
    if number.decimals or number.value == 0:
        return float(10.0**-number.decimals)
    whole, step = int(abs(number.value)), 1
    while whole % (step * 10) == 0:
        step *= 10
    return float(step)


# Durations: "thirty (30) calendar days", "30-day", "six months’"; digits in brackets repeat the number.

_LENGTH = re.compile(
    rf"(?<![\w.,$€£/-])(?P<count>\d+(?:\.\d+)?|{_BELOW_100})(?:\s*\(\s*\d+\s*\))?[\s-]+(?:(?:full|calendar|consecutive)\s+)?"
    r"(?P<kind>(?:business|working)\s+)?(?P<unit>minute|hour|day|week|month|year)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Length:
    """Duration at ``start`` to ``end`` of a text: a number of ``unit``, business days separate from other days."""

    start: int
    end: int
    count: float
    unit: str


def lengths(text: str) -> list[Length]:
    """Durations in ``text``, in order."""
    out = []
    for match in _LENGTH.finditer(text):
        parts = match["count"].lower().replace("-", " ").split()
        count = float(parts[0]) if parts[0][0].isdigit() else float(sum(_SPELT[word] for word in parts))
        unit = f"{'business ' if match['kind'] else ''}{match['unit'].lower()}"
        out.append(Length(match.start(), match.end(), count, unit))
    return out


def figure(text: str) -> Number | None:
    """The one quantity that a cell is (``$1,234``, ``(12)%``, ``3.5x``); None for a label, a year or an empty cell."""
    found = numbers(text)
    if len(found) != 1:
        return None
    before, after = text[: found[0].start], text[found[0].start + len(found[0].raw) :]
    is_one = not any(map(str.isalpha, before)) and sum(map(str.isalpha, after)) <= 3
    return found[0] if is_one and any(map(str.isdigit, found[0].raw)) else None


def amounts_in(column: Sequence[str]) -> list[float | None]:
    """Amounts that the cells of one ``column`` of a table begin with; None for other text. Blanks between groups of
    three digits separate thousands, and so do points, if the column has points nowhere else and numbers without."""
    bare = [_BLANKS.sub("", text) if _GROUPED.fullmatch(text) else text for text in column]
    pointed = [text for text in bare if "." in text]
    if pointed and len(pointed) < len(bare) and all(map(_POINTED.fullmatch, pointed)):
        bare = [text.replace(".", "") for text in bare]
    found = [next(iter(numbers(text)), None) for text in bare]
    return [None if one is None or one.start else one.amount for one in found]


def is_one(a: Number, b: Number, *, scaled: bool) -> bool:
    """Whether two quantities are one, up to the rounding of either; if not ``scaled``, in whatever scales by thousands,
    as of a cell whose scale is said elsewhere. Signs are ignored."""
    scales = [b.scale] if scaled else [a.scale * 1000.0**step for step in range(-3, 4)]
    written = [replace(b, scale=scale) for scale in scales]
    return any(agree(a, each, None, bare=False) or agree(each, a, None, bare=False) for each in written)


def same_figure(one: str, other: str) -> bool:
    """Whether two figures are one number, allowing for rounding and for a scale that either leaves out, or one
    duration."""
    spans = [[(each.count, each.unit) for each in lengths(text)[:1]] for text in (one, other)]
    if all(spans):
        return spans[0] == spans[1]
    a, b = (next(iter(numbers(text)), None) for text in (one, other))
    if a is None or b is None:
        return one == other
    return is_one(a, b, scaled=a.scale != 1.0 and b.scale != 1.0)
