"""What a question asks for, said as a thing, so that a pronoun of the next question can be put into words.

"What was Nordvik's net revenue in 2021?" asks for "Nordvik's net revenue in 2021", "Which segment grew the most?" for
"the segment that grew the most", "How many stores did Calder have in 2018?" for "Calder's stores in 2018".
"""

from __future__ import annotations

import re

from ragcore.offline.referents import MONTHS, periods, timeless
from ragcore.text.words import tokens

_LONGEST = 14  # words
_ASKS = re.compile(
    r"^(?:(?:what|which|who)(?:\s+(?:exactly|then))?\s+(?:is|are|was|were)|what['’]s"
    r"|(?:summari[sz]e|list|describe|explain|name)(?:\s+me)?(?=\s+(?:the|all|[^\s]+['’])))\s+(?P<thing>[^?]+?)\s*[?.!]*$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"^how\s+many\s+(?P<what>[a-z-]+(?:\s+[a-z-]+)?)\s+(?:do|does|did)\s+(?P<who>(?-i:[A-Z])[\w&.’' -]*?)\s+have"
    r"(?P<rest>\s+[^?,;]+?)?\s*[?.!]*$",
    re.IGNORECASE,
)
_VERB = (
    r"(?:is|are|was|were|has|had|have|(?!(?:need|speed|seed|feed|breed|bed|shed|red)\b)[a-z]{2,}ed|grew|fell|rose|lost|won|made|"
    r"sold|bought|paid|took|gave|got|kept|led|held|spent|met|shrank|became|grows|falls|rises|loses|makes|sells|pays)"
)
_WHICH = re.compile(
    rf"^(?:which|what)\s+(?P<what>(?!(?:of|one|ones|is|are|was|were|has|had)\b)[a-z][a-z-]*(?:\s+[a-z][a-z-]*)??"
    rf"(?:\s+of\s+(?:the\s+)?(?-i:[A-Z])[\w&.-]*(?:\s+(?-i:[A-Z])[\w&.-]*)*)?)\s+(?P<did>{_VERB}\b(?!\s+(?:the|a|an)\s+\w+\s+\w+ed\b)"
    r"[^?]*?)\s*[?.!]*$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:]|\b(?:that|which|who|when|if|because|used|and\s+(?:why|how|what))\b")
# Heads of things of which there are several.
_MANY = re.compile(
    r"^(?:the\s+)?(?:[\w&.-]+['’]s?\s+)*(?P<head>(?:[\w-]+\s+){0,3}?[\w-]*[^s\W]s)(?=\s+(?:of|in|for|at)\b|$)"
)


def thing(question: str) -> str:
    """What ``question`` asks for, with all that stands beside it; "" for another question, or where it holds a clause
    of its own."""
    question = question.strip()
    found = chosen(question) or _counted(question)
    if found:
        return found if len(found.split()) <= _LONGEST else ""
    match = _ASKS.match(question)
    if match is None:
        return ""
    found = match["thing"].strip()
    if _CLAUSE.search(found) or len(found.split()) > _LONGEST or len(tokens(found)) < 1:
        return ""
    return found


def chosen(question: str) -> str:
    """ "the segment of Calder that grew the most" for "Which segment of Calder grew the most?"; "" for another."""
    match = _WHICH.match(question.strip())
    return "" if match is None or _CLAUSE.search(match["did"]) else f"the {match['what']} that {match['did']}"


def _counted(question: str) -> str:
    match = _COUNTED.match(question)
    if match is None:
        return ""
    return f"{owner(match['who'])} {match['what']}{match['rest'] or ''}"


def owner(name: str) -> str:
    """``name`` as that to which something belongs."""
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def several(meant: str) -> bool:
    """Whether a thing is told to be more than one: "risk factors of Quill"."""
    return _MANY.match(meant) is not None


def first_question(text: str) -> str:
    """Of a question that goes on from another ("Does Quill pay dividends? Since when?") the one it goes on from; of one
    with what it is about `beside` it, that."""
    within = re.search(r"[?.!]\s+\((?P<meant>.+)\)$", text.strip())
    if within is not None:
        return f"{within['meant']}?" if re.match(r"\w+\s", within["meant"]) else within["meant"]
    return re.split(r"(?<=\?)\s+(?=\S)", text.strip(), maxsplit=1)[0]


def beside(question: str, meant: str) -> str:
    """``question`` with what it may be about in brackets behind it."""
    return f"{question.rstrip()} ({meant.rstrip('?. ')})"


def after(previous: str, question: str) -> str:
    """``question`` behind the one that says what it is about: two sentences, as a person would write them."""
    first = first_question(previous).rstrip("?. ")
    asked = question.strip()
    asked = f"{asked[:1].upper()}{asked[1:].rstrip(' ?.!,')}"
    return f"{first}? {asked}{'?' if question.rstrip().endswith('?') else '.'}"


def when(previous: str, question: str) -> str:
    """The one period of ``previous``, with its preposition, where ``question`` names none; else ""."""
    found = periods(previous)
    if len(found) != 1 or timeless(question) != " ".join(question.split()):
        return ""
    inside = found[0].removeprefix("of ")
    if re.match(rf"(?i)(?:{MONTHS})\s+\d", inside):
        return f"at {inside}"
    return (
        inside
        if re.match(r"(?i)(?:in|for|during|at|as|on|between|from|since|after|before)\b", inside)
        else f"in {inside}"
    )
