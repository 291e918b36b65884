"""What a question asks for, without the words around it: instructions, roles, formats.

"You are an analyst. What is the cash ratio of X in 2022? It is defined as cash / current liabilities. Round to two
decimals." asks for the cash ratio of X in 2022, and for cash and current liabilities of X in 2022.
"""

from __future__ import annotations

import re

from ragcore.text import sentence_spans

_ASIDE = re.compile(r"\((?=[^()]*\b(?:round|units?|decimals?|in usd|in \w+ percent|answer)\b)[^()]*\)", re.IGNORECASE)
_LEAD_IN = re.compile(r"^.*\b(?:here(?:['’]s| is) the question|the question is|question)\s*:\s*", re.IGNORECASE)
_INSTRUCTION = re.compile(
    r"^(?:please\s+)?(?:you are|act as|assume|round|answer|give|provide|use|utili[sz]e|compute|calculate|base|keep|"
    r"respond|reply|write|state|do not|don't|make sure|explain your|if\b.*\bstate)\b",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"\b(?:(?:is|are)\s+(?:defined|calculated|computed|measured)\s+(?:as|by)|define\b.{1,80}?\bas)\s*:?\s*(.+)",
    re.IGNORECASE,
)
_OPERATOR = re.compile(r"\s+(?:/|÷|\+|−|-|\*|×|minus|plus|times|divided by|over|less)\s+|[()]", re.IGNORECASE)
_PERIOD = re.compile(r"\b(?:FY\s?\d{2,4}|Q[1-4]|(?:19|20)\d\d)\b", re.IGNORECASE)
_MOST_PARTS = 4
_ABBREVIATIONS = {
    "capex": "capital expenditures",
    "cogs": "cost of goods sold cost of sales",
    "d&a": "depreciation and amortization",
    "eps": "earnings per share",
    "pp&e": "property plant and equipment",
    "ppe": "property plant and equipment",
    "r&d": "research and development",
    "sg&a": "selling general and administrative",
}


def asks(question: str) -> list[str]:
    """The question itself, then each quantity that a definition in it is made of (at most four), with its periods.

    The question is cut to its interrogative sentences when it has other sentences beside them.
    """
    text = _ASIDE.sub(" ", " ".join(question.split()))
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    parts: list[str] = []
    kept: list[str] = []
    for sentence in sentences:
        definition = _DEFINITION.search(sentence)
        if definition is not None:
            parts.extend(piece.strip(" .:,;?") for piece in _OPERATOR.split(definition.group(1)))
        elif "?" in sentence or not _INSTRUCTION.match(sentence):
            kept.append(_LEAD_IN.sub("", sentence))
    asked = [sentence for sentence in kept if "?" in sentence] or kept or [text]
    main = " ".join(asked)
    periods = " ".join(dict.fromkeys(match.group() for match in _PERIOD.finditer(question)))
    quantities = [part for part in dict.fromkeys(parts) if len(part.split()) <= 12 and re.search("[A-Za-z]{4}", part)]
    return [
        " ".join(main.split()).replace(" ?", "?"),
        *(part if _PERIOD.search(part) else f"{part} {periods}".strip() for part in quantities[:_MOST_PARTS]),
    ]


def spelled_out(text: str) -> str:
    """``text`` with what its business abbreviations stand for put behind it, for a search by words."""
    words = set(re.findall(r"[A-Za-z&]+", text.lower()))
    meanings = [meaning for short, meaning in _ABBREVIATIONS.items() if short in words]
    return f"{text} {' '.join(meanings)}".strip()
