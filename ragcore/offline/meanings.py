"""What a question asks the meaning of, and how a sentence that says it looks.

"What is a sponsor?" is answered by "Sponsor means a person who …", "a person who … (the “Sponsor”)" or "A sponsor is a
person who …", while a hundred sentences say what sponsors do. "What is the difference between a sponsor and an
investigator?" is answered by the definitions of both.
"""

from __future__ import annotations

import re
from functools import lru_cache

_ARTICLE = r"(?:(?:an?|the|the\s+terms?)\s+)?"
_TERM = r"[“\"'‘]?(?P<term>[\w’'&/-]+(?:\s+[\w’'&/-]+){0,3}?)[”\"'’]?"
_ASKED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^what\s+(?:is|are)\s+(?:meant\s+by\s+)?{_ARTICLE}{_TERM}\s*\??$",
        rf"^what(?:'s|’s)\s+{_ARTICLE}{_TERM}\s*\??$",
        rf"^what\s+do(?:es)?\s+{_ARTICLE}{_TERM}\s+(?:mean|refer\s+to|stand\s+for)\s*\??$",
        rf"^(?:please\s+)?define\s+{_ARTICLE}{_TERM}\s*[.?]?$",
        rf"^(?:what\s+is\s+|give\s+)?the\s+(?:definition|meaning)\s+of\s+{_ARTICLE}{_TERM}\s*[.?]?$",
        rf"^how\s+(?:is|are|does\s+\w+\s+define)\s+{_ARTICLE}{_TERM}(?:\s+defined)\s*\??$",
        rf"^who\s+(?:is|are)\s+{_ARTICLE}{_TERM}\s*\??$",
    )
)
_THING = r"[\w’'&/ -]{2,40}?"
_DIFFERENCE = re.compile(
    rf"\bdifferences?\s+between\s+{_ARTICLE}({_THING})\s+and\s+{_ARTICLE}({_THING})\s*\??$|"
    rf"\bhow\s+do(?:es)?\s+{_ARTICLE}({_THING})\s+differ\s+from\s+{_ARTICLE}({_THING})\s*\??$",
    re.IGNORECASE,
)
# With one of these it is a value, a reason or a person that is asked for, and no word.
_NO_TERM = re.compile(
    r"\b(?:of|in|for|to|by|on|at|from|under|with|that|which|this|these|those|it|its|they|there|does|did|do|you|we|our|"
    r"your|their|his|her|many|much|difference|differences|main|new|current|purpose|about)\b|\d",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"^(?:what(?:\s+is|['’]s)\s+an?\b)|\bmean(?:s|t|ing)?\b|\b(?:define[ds]?|definition|stands?\s+for)\b", re.IGNORECASE
)
_MEANS = (
    r"(?:means?|shall\s+mean|(?:is|are)\s+(?:\w+\s+)?defined\s+as|refers?\s+to|(?:is|are)\s+synonymous|stands?\s+for)\b"
)


def terms_asked(question: str) -> tuple[str, ...]:
    """The terms whose meaning ``question`` asks for: none, one, or the two that it sets against each other."""
    text = " ".join(question.split())
    between = _DIFFERENCE.search(text)
    if between is not None:
        return tuple(term for term in between.groups() if term)
    for pattern in _ASKED:
        match = pattern.match(text)
        if match is not None and not _NO_TERM.search(match["term"]):
            return (match["term"],)
    return ()


def meaning_asked(question: str) -> str:
    """The one term whose meaning ``question`` plainly asks for, "" for none. "What is gross margin?" may ask for its
    value, "What is a clinical hold?" and "What does IND mean?" do not."""
    text = " ".join(question.split())
    terms = terms_asked(text)
    if len(terms) != 1 or _DIFFERENCE.search(text) or text.lower().startswith("who"):
        return ""
    return terms[0] if _PLAIN.search(text) else ""


@lru_cache(maxsize=64)
def meaning_of(question: str) -> re.Pattern[str] | None:
    """What a sentence that defines a term of ``question`` looks like; None where it asks for no meaning."""
    terms = terms_asked(question)
    return re.compile("|".join(_definition(term) for term in terms)) if terms else None


def _definition(term: str) -> str:
    words = [re.escape(word) for word in re.split(r"[\s-]+", term.strip())]
    name = r"(?i:" + r"[\s-]+".join(words) + r"s?)"
    capitals = rf"|\b[a-z][\w-]+\s+\((?:the\s+)?{name}\)" if re.search(r"^\S*[A-Z]\S*[A-Z]\S*$", term) else ""
    # "Sponsor-Investigator means …" and "Marketing application means …" define other terms than their last words.
    opening = rf"(?:^|[.;:)]\s+|\b(?i:terms?|an?|the)\s+|^[\divx.()]+\s+){name}(?![\w-])"
    return (
        rf"[“\"‘']{name}[,.]?[”\"’'](?:\s+[^.“”]{{0,60}}?)?\s*(?i:{_MEANS}|\bis\b|\bif\b|\bincludes?\b)"
        rf"|\((?i:(?:the|each,?|collectively,?|together,?|an?|hereinafter)\s+){{0,2}}[“\"‘']{name}[”\"’']\)"
        rf"|{opening}\s+(?:\([^)]*\)\s+)?(?i:{_MEANS})"
        rf"|(?:^|[.)]\s+)(?i:an?\s+|the\s+)?{name}\s+(?i:is|are)\s+(?i:an?|any|one|those|the)\b"
        rf"|^(?i:an?\s+)?{name}\s*[:—–]\s+[A-Za-z]" + capitals
    )
