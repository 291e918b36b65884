"""Units and currencies beside figures, so that 12 months are a year and 5 mg are not 5 g.

A compound unit (``ng/mL``, ``mg/kg/day``) is the quotient of its parts. Units of the same quantity are converted; units
of different quantities never agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Unit:
    """Unit of measurement. ``name`` as written; ``measures`` is the measured quantity (``time``, ``mass/volume``);
    ``factor`` converts to the base unit of that quantity. Units of temperature do not convert: each is a quantity of
    its own."""

    name: str
    measures: str
    factor: float


_TIME = {
    "second": 1 / 86400, "seconds": 1 / 86400, "sec": 1 / 86400, "minute": 1 / 1440, "minutes": 1 / 1440,
    "min": 1 / 1440, "hour": 1 / 24, "hours": 1 / 24, "hr": 1 / 24, "hrs": 1 / 24, "h": 1 / 24, "day": 1.0,
    "days": 1.0, "week": 7.0, "weeks": 7.0, "month": 30.4375, "months": 30.4375, "year": 365.25, "years": 365.25,
}  # fmt: skip
_KINDS: dict[str, dict[str, float]] = {
    "time": _TIME,
    "mass": {"pg": 1e-9, "ng": 1e-6, "µg": 1e-3, "mcg": 1e-3, "mg": 1.0, "g": 1e3, "gram": 1e3, "grams": 1e3, "kg": 1e6,
             "kilograms": 1e6, "tonnes": 1e9, "tons": 9.07e8, "lb": 453592.0, "lbs": 453592.0, "pounds mass": 453592.0},
    "volume": {"µL": 1e-3, "mL": 1.0, "ml": 1.0, "dL": 1e2, "dl": 1e2, "L": 1e3, "l": 1e3, "litre": 1e3, "litres": 1e3,
               "liter": 1e3, "liters": 1e3, "gallon": 3785.4, "gallons": 3785.4},
    "length": {"nm": 1e-6, "µm": 1e-3, "cm": 10.0, "km": 1e6, "kilometres": 1e6, "kilometers": 1e6, "mile": 1609344.0,
               "miles": 1609344.0, "metre": 1e3, "metres": 1e3, "meter": 1e3, "meters": 1e3, "inch": 25.4,
               "inches": 25.4, "ft": 304.8, "feet": 304.8},
    "area": {"hectare": 1e4, "hectares": 1e4, "ha": 1e4, "acre": 4046.86, "acres": 4046.86, "m2": 1.0, "m²": 1.0,
             "km2": 1e6, "km²": 1e6, "square feet": 0.092903, "square metres": 1.0, "square meters": 1.0},
    "concentration": {"pM": 1e-6, "nM": 1e-3, "µM": 1.0, "mM": 1e3},
    "energy": {"Wh": 1.0, "kWh": 1e3, "MWh": 1e6, "GWh": 1e9, "TWh": 1e12},
    "power": {"kW": 1.0, "MW": 1e3, "GW": 1e6},
    "charge": {"mAh": 1e-3, "Ah": 1.0},
    "voltage": {"mV": 1e-3, "V": 1.0, "kV": 1e3},
    "pressure": {"kPa": 1.0, "MPa": 1e3, "mmHg": 0.133322, "bar": 100.0},
    "°C": {"°C": 1.0, "℃": 1.0},
    "°F": {"°F": 1.0},
    "share": {"basis points": 0.01, "basis point": 0.01, "bps": 0.01, "bp": 0.01, "%": 1.0, "percent": 1.0,
              "per cent": 1.0, "percentage points": 1.0, "percentage point": 1.0, "pp": 1.0},
}  # fmt: skip
_UNITS = {name: (kind, factor) for kind, names in _KINDS.items() for name, factor in names.items()}
# Units of one letter are recognised only inside a compound or in a label's brackets ("(h)"); elsewhere they are words.
_SHORT = {"h", "g", "l", "L", "V"}
_NAMES = "|".join(re.escape(name) for name in sorted(_UNITS, key=len, reverse=True))
_AFTER = re.compile(
    r"[\s-]?(?:(?:working|business|calendar|trading|full|consecutive)\s)?"
    rf"(?P<unit>(?:{_NAMES})(?:\s?[/·]\s?(?:{_NAMES}))*)(?![\w/])"
)
_LABEL = re.compile(
    rf"[(\[,]\s?(?:(?:in|working|business|mean|median)\s)*(?P<unit>(?:{_NAMES})(?:\s?[/·]\s?(?:{_NAMES}))*)\s?[)\]]"
)

CURRENCIES = {
    "$": "$", "us$": "$", "usd": "$", "dollar": "$", "dollars": "$", "€": "€", "eur": "€", "euro": "€", "euros": "€",
    "£": "£", "gbp": "£", "pound": "£", "pounds": "£", "sterling": "£", "¥": "¥", "jpy": "¥", "yen": "¥", "cny": "CN¥",
    "rmb": "CN¥", "yuan": "CN¥", "renminbi": "CN¥", "₹": "₹", "inr": "₹", "rupees": "₹", "chf": "CHF", "francs": "CHF",
    "c$": "C$", "cad": "C$", "a$": "A$", "aud": "A$", "hk$": "HK$", "hkd": "HK$", "sek": "SEK", "nok": "NOK",
    "dkk": "DKK", "kronor": "SEK",
}  # fmt: skip
CURRENCY_CODES = r"USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|CAD|AUD|HKD|SEK|NOK|DKK"
_CURRENCY = re.compile(
    rf"US\$|C\$|A\$|HK\$|[$€£¥₹]|\b(?:{CURRENCY_CODES}|[Dd]ollars?|[Ee]uros?|[Pp]ounds?(?!\smass)|"
    r"[Ss]terling|[Yy]en|[Yy]uan|[Rr]enminbi|[Rr]upees|[Ff]rancs)\b"
)

_EVERY = {
    "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year", "annual": "year",
    "annually": "year", "hourly": "hour", "per annum": "year", "annualized": "year", "annualised": "year",
}  # fmt: skip
_PER = re.compile(
    r"\b(?:per|every|each|a)\s(?P<per>hour|day|week|month|quarter|year)\b|/(?P<slash>hour|day|week|month|year)\b|"
    rf"\b(?P<word>{'|'.join(_EVERY)})\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def unit(name: str) -> Unit | None:
    """Unit called ``name`` (``mg``, ``ng/mL``), or None."""
    name = " ".join(name.replace("μ", "µ").split())
    measures, factor = [], 1.0
    for place, part in enumerate(re.split(r"\s?([/·])\s?", name)):
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
    match = _AFTER.match(text.replace("μ", "µ"), position)
    if match is None or match.group("unit") in _SHORT - {"g", "L", "V"}:
        return None
    return unit(match.group("unit"))


def unit_of_label(label: str) -> Unit | None:
    """Unit in brackets or after a comma in a row or column header (``Cmax (ng/mL)``)."""
    match = _LABEL.search(
        f"{label.replace('μ', 'µ')})" if "," in label and "(" not in label else label.replace("μ", "µ")
    )
    return None if match is None else unit(match.group("unit"))


def currency(text: str) -> str:
    """Currency as one sign (``USD`` and ``dollars`` give ``$``), "" for none."""
    return CURRENCIES.get(text.strip().lower(), "")


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
