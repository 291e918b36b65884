"""A value field that asks for a firm by what it does for the company: its auditor.

"Auditor" is not answered by a sentence on auditors, as most of a report's are, and least of all by one that refers to
the proxy statement, but by the name that stands beside the office.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.offline.quotable import Given, Quotable

_ASKED = re.compile(
    r"\b(?:auditors?|who\s+audits|audited\s+by|(?:independent|registered|public)\s+(?:\w+\s+)*account(?:ing\s+firm|ants?))\b",
    re.IGNORECASE,
)
# What is asked about it beside its name: fees, opinion, report.
_BESIDE = re.compile(r"\b(?:fees?|opinions?|reports?|paid|tenure|since|services|committee|how)\b", re.IGNORECASE)
_NAME = (
    r"(?P<name>(?:[A-Z][\w’'.-]*,?\s+(?:(?:&|and)\s+)?){0,4}?[A-Z][\w’'.-]*\s+(?:LLP|L\.L\.P\.|LLC|P\.C\.|P\.A\.|plc|PLC|Ltd|"
    r"GmbH|AG|S\.A\.)|PricewaterhouseCoopers|KPMG|Deloitte(?:\s+&\s+Touche)?|Ernst\s+&\s+Young)"
)
_OFFICE = r"(?i:(?:independent\s+)?(?:registered\s+)?(?:public\s+)?(?:accounting\s+firm|accountants|auditors?))"
_NAME_FIRST = _NAME.replace("?P<name>", "?P<first>")
AUDITOR = re.compile(
    rf"(?:(?i:\baudited\s+by|\b(?:engaged|appointed|selected|retained)|\baudit\s+firm(?:\s+is)?)|{_OFFICE}(?:\s+(?:is|are|was))?[,:]?)\s+"
    rf"(?:the\s+firm\s+of\s+)?{_NAME}|{_NAME_FIRST}(?:\s+\([^()]*\))?,?\s+(?:(?:is|as|an|the|our|its|and)\s+)*{_OFFICE}"
)
_FORMER = re.compile(r"\b(?:former|previous|predecessor|prior|other|dismiss\w*|replac\w*|resign\w*)\b", re.IGNORECASE)
# "The section titled “Fees” in our proxy statement is incorporated by reference": where it stands, and not what it is.
REFERS = re.compile(
    r"\bincorporated\s+(?:herein\s+|into\s+\w+\s+\w+\s+)?by\s+reference\b|^(?:please\s+)?(?:refer\s+to|see)\s|"
    r"\b(?:is|are)\s+(?:set\s+forth|contained|included|described|discussed|found)\s+(?:in|under)\s+(?:the\s+|our\s+)?"
    r"(?:section|caption|heading|definitive\s+proxy|proxy|part|item|note|exhibit)\b",
    re.IGNORECASE,
)


def asks_auditor(heading: str, piece: str) -> bool:
    """Whether ``piece`` of the guidance under ``heading`` asks who the auditor is."""
    both = f"{heading} {piece}"
    return _ASKED.search(both) is not None and not _BESIDE.search(both)


def auditor(found: Sequence[Quotable]) -> Given | None:
    """The firm that ``found`` name as the auditor, where it is one."""
    given = [
        (quote, " ".join((match["name"] or match["first"]).split()))
        for quote in found
        if not _FORMER.search(quote.text) and (match := AUDITOR.search(quote.text))
    ]
    firms = {name.split()[0].casefold() for _, name in given}
    if len(firms) != 1:
        return None
    # A sentence says it better than a row of a list of exhibits.
    quote, name = min(given, key=lambda one: (one[0].row is not None, len(one[0].text)))
    return Given(quote, name)
