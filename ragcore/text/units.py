"""Units and currencies beside figures, so that 12 months are a year and 5 mg are not 5 g.

A compound unit (``ng/mL``, ``mg/kg/day``, ``mg kg⁻¹ day⁻¹``) is the quotient of its parts. Units of the same quantity
are converted; units of different quantities never agree.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from ragcore.text.lexicon import SCALES, any_of


@dataclass(frozen=True, slots=True)
class Unit:
    """Unit of measurement. ``name`` as written; ``measures`` is the measured quantity (``time``, ``mass/volume``);
    ``factor`` converts to the base unit of that quantity. Units of temperature do not convert: each is a quantity of
    its own."""

    name: str
    measures: str
    factor: float


with resources.files("ragcore.text").joinpath("units.toml").open("rb") as _file:
    _DATA: dict[str, Any] = tomllib.load(_file)
_UNITS = {name: (kind, factor) for kind, names in _DATA["measures"].items() for name, factor in names.items()}
_UNITS |= {name.replace("µ", "μ"): known for name, known in _UNITS.items()}  # the micro sign, and the letter mu
SYMBOLS = tuple(sorted((name for name in _UNITS if name.isalpha() and 1 < len(name) < 4), key=len, reverse=True))
_NAMES = "|".join(re.escape(name) for name in sorted(_UNITS, key=len, reverse=True))
_INVERSE = rf"(?:\s?[.·⋅∙]\s?|\s)({_NAMES})(?:\^?[-−–]1|⁻¹)(?!\d)"  # the " mL-1" of "mg mL-1", and its unit
_COMPOUND = rf"(?P<unit>(?:{_NAMES})(?:{_INVERSE}|\s?[/·]\s?(?:{_NAMES}))*)"
# A unit with inverses, whose figures are no numbers and no codes.
INVERTED = re.compile(rf"(?<!\w)(?:{_NAMES})(?:{_INVERSE})+")
_AFTER = re.compile(rf"[\s-]?(?:(?:working|business|calendar|trading|full|consecutive)\s)?{_COMPOUND}(?![\w/])")
_LABEL = re.compile(rf"[(\[,]\s?(?:(?:in|working|business|mean|median)\s)*{_COMPOUND}\s?[)\]]")

_CURRENCIES: dict[str, str] = {name: sign for sign, names in _DATA["currencies"].items() for name in names.split()}
CURRENCY_CODES = r"USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|CAD|AUD|HKD|SEK|NOK|DKK"
_CURRENCY = re.compile(
    rf"US\$|C\$|A\$|HK\$|[$€£¥₹]|\b(?:{CURRENCY_CODES}|[Dd]ollars?|[Ee]uros?|[Pp]ounds?(?!\smass)|"
    r"[Ss]terling|[Yy]en|[Yy]uan|[Rr]enminbi|[Rr]upees|[Ff]rancs)\b"
)

_SCALE = any_of(SCALES.union(_DATA["beside"]["scales"].split()))
# In a line beside a table: "(in millions)", "unaudited".
UNIT_NOTE = re.compile(
    rf"\b(?:in|of)\s+(?:[a-z.]+\s+)?{_SCALE}|[$€£]\s*(?:000|m|mm|bn)\b|{_SCALE} of\b|\(\s*(?:[$€£]\s*)?{_SCALE}"
    rf"|{any_of(_DATA['beside']['words'])}",
    re.IGNORECASE,
)
_EVERY: dict[str, str] = {word: period for period, words in _DATA["every"].items() for word in words}
_PER = re.compile(
    r"\b(?:per|every|each|a)\s(?P<per>hour|day|week|month|quarter|year)\b|/(?P<slash>hour|day|week|month|year)\b|"
    rf"\b(?P<word>{'|'.join(_EVERY)})\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def unit(name: str) -> Unit | None:
    """Unit called ``name`` (``mg``, ``ng/mL``), or None."""
    spelled = re.sub(_INVERSE, r"/\1", " ".join(name.split()))
    measures, factor = [], 1.0
    for place, part in enumerate(re.split(r"\s?([/·])\s?", spelled)):
        if place % 2:
            measures.append(part)
            continue
        known = _UNITS.get(part) or _UNITS.get(part.lower())
        if known is None:
            return None
        measures.append(known[0])
        factor = factor / known[1] if measures[-2:-1] == ["/"] else factor * known[1]
    return Unit(name, "".join(measures), factor)


def unit_after(text: str, position: int) -> Unit | None:
    """Unit directly after ``position``."""
    match = _AFTER.match(text, position)
    if match is None or match.group("unit") == "l":  # more often a letter, but for a compound or a label's brackets
        return None
    return unit(text[slice(*match.span("unit"))])


def unit_of_label(label: str) -> Unit | None:
    """Unit in brackets or after a comma in a row or column header (``Cmax (ng/mL)``)."""
    match = _LABEL.search(f"{label})" if "," in label and "(" not in label else label)
    return None if match is None else unit(match.group("unit"))


def currency(text: str) -> str:
    """Currency as one sign (``USD`` and ``dollars`` give ``$``), "" for none."""
    return _CURRENCIES.get(text.strip().lower(), "")


def currencies(text: str) -> set[str]:
    """All currencies named in ``text``."""
    return {currency(match.group()) for match in _CURRENCY.finditer(text)}


def frequencies(text: str) -> set[str]:
    """Frequencies and durations as ``day``, ``month``, ``year`` ...: ``per month`` and ``monthly`` are equal."""
    out = set()
    for match in _PER.finditer(text):
        word = match.group("per") or match.group("slash")
        out.add(word.lower() if word else _EVERY[match.group("word").lower()])
    return out
