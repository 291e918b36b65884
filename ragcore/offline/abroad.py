"""Fragments in German, French, Spanish, Italian or Portuguese that follow a question in the same language.

Only what needs no grammar: another year, another name behind the same preposition, and a bare "Why?".
"""

from __future__ import annotations

import re

from ragcore.offline.referents import YEAR

_JOINER = r"(?:und|et|y|e|en|och)"
_WHEN = re.compile(
    rf"^{_JOINER}\s+(?:(?:in|im|für|en|em|nel|pour|para|per)\s+)?(?:(?:dem\s+)?(?:geschäftsjahr|jahr)\s+|l['’]\s*année\s+)?"
    r"(?P<year>(?:19|20)\d\d)\s*\?*$",
    re.IGNORECASE,
)
_OF = r"(?:von|bei|für|mit|de|chez|pour|para|di|per|con|com|da|do)"
_NAMED = re.compile(
    rf"^{_JOINER}\s+(?P<of>{_OF})\s+(?P<name>(?-i:[A-Z])[\w&.-]*(?:\s+(?-i:[A-Z])[\w&.-]*)*)\s*\?*$", re.IGNORECASE
)
_WHY = re.compile(r"^(?:warum|wieso|weshalb|pourquoi|por\s*qu[eé]|perch[eé])\s*\?*$", re.IGNORECASE)
# Prepositions that say of whom something is told; one may stand for another.
_ALIKE = ("von", "bei", "für"), ("de", "chez", "pour", "para"), ("di", "per"), ("da", "do", "de")


def continued_abroad(question: str, previous: str) -> str:
    """``previous`` with what ``question`` changes; ``question`` where that cannot be told."""
    if _WHY.match(question):
        return f"{previous.rstrip('?. ¿')}? {question[:1].upper()}{question[1:]}"
    year = _WHEN.match(question)
    if year is not None and len(YEAR.findall(previous)) == 1:
        return YEAR.sub(lambda match: re.sub(r"\d+$", year["year"], match.group()), previous)
    named = _NAMED.match(question)
    if named is None:
        return question
    of = named["of"].lower()
    alike = {of}.union(*(each for each in _ALIKE if of in each))
    found = list(
        re.finditer(
            rf"\b(?i:{'|'.join(sorted(alike))})\s+(?P<name>[A-Z][\w&.-]*\w(?:\s+(?!Jahr\b)[A-Z][\w&.-]*\w)*)", previous
        )
    )
    if len(found) != 1:
        return question
    start, end = found[0].span("name")
    return f"{previous[:start]}{named['name']}{previous[end:]}"
