"""What the statements of a company call the quantities that are asked for most.

These are names within a statement only: a row "Sales" of an income statement is the revenue of the company; anywhere
else it may be of anything. Search does not know them (`synonyms.toml` is for that), so they cost no question anything.
"""

from __future__ import annotations

import re

from ragcore.offline.quote_ranking import name_of

_NAMES = (
    ("revenue", "net sales", "net revenue", "total revenue", "operating revenue", "total net revenue", "sales",
     "turnover", "net operating revenue", "sales and other operating revenue", "net sales and revenue"),
    ("net income", "net earnings", "net profit", "net loss", "net income or loss", "net loss or income",
     "profit for the year", "loss for the year", "profit for the financial year", "consolidated net income"),
    ("capital expenditure", "purchases of property, plant and equipment", "purchases of property and equipment",
     "additions to property, plant and equipment", "property additions", "additions to properties",
     "payments for property, plant and equipment", "acquisition of property, plant and equipment",
     "expenditures for property, plant and equipment", "purchases of premises and equipment",
     "purchases of land, buildings and equipment", "purchases of fixed assets", "additions to fixed assets"),
    ("operating income", "income from operations", "operating profit", "operating earnings", "operating loss",
     "profit from operations", "earnings from operations"),
    ("shareholders' equity", "stockholders' equity", "shareowners' equity"),
    ("long-term debt", "long-term borrowings", "non-current borrowings"),
)  # fmt: skip
# Tails of rows in statements that make no other amount of what is before them.
_INCLUDING_OTHERS = re.compile(
    r",?\s+(?:including|before)\s+(?:(?:earnings|income|amounts?|losses|loss|net\s+income|portion|allocation)\s+)?"
    r"(?:(?:\(loss(?:es)?\)\s+)?(?:attributable\s+)?to\s+)?(?:redeemable\s+(?:and\s+)?)?(?:(?:the\s+)?non-?\s?controlling|minority)"
    r"\s+interests?\s*$",
    re.IGNORECASE,
)
_OF_THE_YEAR = re.compile(r"\s+for\s+the\s+(?:(?:financial|fiscal)\s+)?(?:year|period)\s*$", re.IGNORECASE)
_LESS_CURRENT = re.compile(
    r",?\s*\(?(?:net\s+of|less|excluding|exclusive\s+of)\s+(?:the\s+)?(?:amounts?\s+due\s+within\s+one\s+year|current\s+"
    r"(?:portion|maturities|installments|instalments|amounts?))(?:\s+of\s+long-term\s+debt)?\)?\s*$",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\s*\([^()]*\)")


def named_alike(name: str) -> tuple[str, ...]:
    """What statements call ``name``, itself left out; empty where they have no name of their own for it."""
    stems = name_of(name)
    found = next((names for names in _NAMES if any(name_of(other) == stems for other in names)), ())
    return tuple(other for other in found if name_of(other) != stems)


def plain_name(head: str) -> str:
    """The name of a row in a statement without a tail that makes no other amount of it: "Net earnings, including
    earnings attributable to noncontrolling interests" is all of net earnings, and "Long-term debt, less current
    portion" what stands beside the current portion."""
    text = " ".join(_BRACKETS.sub("", head).split()) if _LESS_CURRENT.search(head) is None else head
    for tail in (_INCLUDING_OTHERS, _LESS_CURRENT, _OF_THE_YEAR):
        text = tail.sub("", text)
    return text.strip(" ,") or head
