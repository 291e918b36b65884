"""What a question asks for, without the words around it: instructions, roles, formats.

"You are an analyst. What is the cash ratio of X in 2022? It is defined as cash / current liabilities. Round to two
decimals." asks for the cash ratio of X in 2022, and for cash and current liabilities of X in 2022.
"""

from __future__ import annotations

import re

from ragcore.text.sentences import sentence_spans
from ragcore.text.words import word_set

_ASIDE = re.compile(r"\((?=[^()]*\b(?:round|units?|decimals?|in usd|in \w+ percent|answer)\b)[^()]*\)", re.IGNORECASE)
_LEAD_IN = re.compile(r"^.*\b(?:here(?:['’]s| is) the question|the question is|question)\s*:\s*", re.IGNORECASE)
# "What should I do if I want to change the protocol?" asks how to change it.
_WISH = re.compile(
    r"^(?:so\s+)?(?:what\s+(?:should|must|can|do|would|shall)\s+(?:i|we|you|one|they)\s+(?:(?:have|need)\s+to\s+)?do\s+)"
    r"(?:if|when)\s+(?:i|we|you|one|they)\s+(?:want|wish|would\s+like|need|intend|plan|have)\s+to\s+",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"^(?:please\s+)?(?:you are|act as|assume|round|answer|give|provide|use|utili[sz]e|compute|calculate|base|keep|"
    r"respond|reply|write|state|do not|don't|make sure|explain your|if\b.*\bstate)\b",
    re.IGNORECASE,
)
# With which a request opens that is no question.
OPENING_VERBS = word_set("""
    analyse analyze assess break calculate check cite clarify collect compare compile compute confirm consider contrast
    count define describe detail determine discuss display draft elaborate enumerate estimate evaluate examine explain
    extract find gather get give highlight identify indicate list locate look mention name note outline please present
    provide quantify quote read recall report retrieve review roughly say search show sketch specify state sum
    summarise summarize tell trace translate use verify walk write
""")
_DEFINITION = re.compile(
    r"\b(?:(?:is|are)\s+(?:defined|calculated|computed|measured)\s+(?:as|by)|define\b.{1,80}?\bas)\s*:?\s*(.+)",
    re.IGNORECASE,
)
_OPERATOR = re.compile(r"\s+(?:/|÷|\+|−|-|\*|×|minus|plus|times|divided by|over|less)\s+|[()]", re.IGNORECASE)
_PERIOD = re.compile(r"\b(?:FY\s?\d{2,4}|Q[1-4]|(?:19|20)\d\d)\b", re.IGNORECASE)
_MOST_PARTS = 4
# A part of a document that a question points to: "the statement of cash flows", "the balance sheet", "Table 3".
_PLACE = re.compile(
    r"\b(?:(?:income|cash\s+flows?|profit\s+and\s+loss|P&L)\s+statements?"
    r"|statements?\s+of\s+(?!the\b|this\b|that\b)[a-z]+(?:\s+(?:position|condition|flows?|equity|income))?"
    r"|balance\s+sheets?|(?:table|figure|note|section|item|annex|appendix|exhibit)\s+\d+[A-Za-z]?)\b",
    re.IGNORECASE,
)


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
            kept.append(_WISH.sub("How to ", _LEAD_IN.sub("", sentence)))
    asked = [sentence for sentence in kept if "?" in sentence] or kept or [text]
    main = " ".join(asked)
    periods = " ".join(dict.fromkeys(match.group() for match in _PERIOD.finditer(question)))
    quantities = [part for part in dict.fromkeys(parts) if len(part.split()) <= 12 and re.search("[A-Za-z]{4}", part)]
    return [
        " ".join(main.split()).replace(" ?", "?"),
        *(part if _PERIOD.search(part) else f"{part} {periods}".strip() for part in quantities[:_MOST_PARTS]),
    ]


def places(question: str) -> list[str]:
    """The parts of a document in which ``question`` says to look."""
    return list(dict.fromkeys(" ".join(match.group().split()) for match in _PLACE.finditer(question)))
