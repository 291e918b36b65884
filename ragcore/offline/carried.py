"""The company that was talked of, carried on into a question on a company that names none.

"Which segment grew fastest?" after a question on Corning's sales means Corning, where several documents are asked.
What has no word of a company's accounts or make-up opens another topic and is left alone, and so is what asks for the
meaning of a word or for companies themselves.
"""

from __future__ import annotations

import re

from ragcore.offline.referents import MEASURES, Name, names
from ragcore.offline.things import first_question, when

_PARTS = (
    r"(?:segments?|divisions?|business(?:es)?|regions?|geograph(?:y|ies)|subsidiar(?:y|ies)|customers?|employees?|stores?|"
    r"shareholders?|stockholders?|acquisitions?|auditors?|product\s+lines?|brands?|plants?|factories|"
    r"competitors?|suppliers?|ceo|cfo|directors?|officers?|risk\s+factors?|lawsuits?|litigation|buybacks?|repurchases?)"
)
_PART = re.compile(rf"\b{_PARTS}\b", re.IGNORECASE)
# Of accounts; the measures of medicine and statistics that `MEASURES` has too are none.
_NOT_OF_ACCOUNTS = re.compile(
    r"^(?:ic50|ec50|ki|auc|cmax|tmax|clearance|half-life|dose|dosage|efficacy|toxicity|prevalence|incidence|mortality|survival|"
    r"endpoints?|accuracy|precision|recall|f1|rate|ratio|share|growth|interest|equity|costs?|provisions?)$",
    re.IGNORECASE,
)
_WHICH_PART = re.compile(rf"^(?:which|what)\s+(?:\w+\s+)?{_PARTS}\b", re.IGNORECASE)
_OF_WORDS = re.compile(
    r"\b(?:compan(?:y|ies)|firms?|issuers?|filers?|peers?|both|each|tenant|landlord|lessee|lessor|defined?|definition|means?|"
    r"calculated|computed|documents?|reports?|filings?)\b|^what\s+(?:is|are)\s+(?!the\b|total\b|net\b)\S+(?:\s+\S+)?\s*\?*$"
    r"|^what\s+(?:is|are)\s+an?\b",
    re.IGNORECASE,
)


def carried(question: str, previous: str) -> str:
    """``question`` with the company, and the period, of ``previous``; as it is where none is to be carried on."""
    first = first_question(previous)
    owners = [name for name in names(first) if not (name.place or name.business)]
    if len(owners) != 1 or owners[0].code or not _of_accounts(first) or not _of_accounts(question):
        return question
    if any(not name.place for name in names(question)) or _OF_WORDS.search(question):
        return question
    return owned(question, owners[0], first)


def owned(question: str, owner: Name, previous: str) -> str:
    """``question`` of ``owner`` and of the period of ``previous``."""
    body = question.rstrip(" ?.!")
    part = _WHICH_PART.match(body)
    said = f"{part.group()} of {owner.text}{body[part.end() :]}" if part else f"{body} at {owner.text}"
    period = "" if re.match(r"(?i)who\b", question) else when(previous, question)
    return f"{said}{' ' + period if period else ''}?"


def _of_accounts(text: str) -> bool:
    measured = any(not _NOT_OF_ACCOUNTS.match(match.group()) for match in MEASURES.finditer(text))
    return measured or _PART.search(text) is not None
