"""Defined terms: what a document calls the persons and things that it names: ``MARY N. DILLON (the “Executive”)``.

Contracts speak of a party by its term alone once they have named it, so that a question with the name finds little but
the sentence that defines the term.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ragcore.text import lexicon as lex
from ragcore.text.mentions import mentions
from ragcore.text.names import FIRM
from ragcore.text.terms import Term
from ragcore.text.words import tokens

# Behind a name may stand the form of a firm.
_REST = rf"(?:,?\s+{FIRM}\.?)?,?\s*\Z"
_LONGEST = 200  # characters of a name with them
_TERM = re.compile(
    r"\((?:(?:the|collectively|each|hereinafter|together|an?),?\s+)*[“\"'‘](?P<term>[A-Z][\w &-]{1,40}?),?[”\"'’]\)"
)
_TITLE = re.compile(r"(?P<title>\w+)\.?\s+\Z")


def defined(question: str, texts: Iterable[str]) -> tuple[Term, ...]:
    """Names in ``question``, each with the terms that ``texts`` define for it and the question lacks; "the Company" is
    none, by which a filing calls itself in every sentence."""
    named = {said: _behind(name) for said, name in _names(question)}
    found: dict[str, dict[str, None]] = {said: {} for said in named}
    known = {*tokens(question), *lex.WHOM}
    for text in texts if named else ():
        for match in _TERM.finditer(text):
            if known.issuperset(tokens(match["term"])):
                continue
            before = text[max(0, match.start() - _LONGEST) : match.start()]
            for said, name in named.items():
                if name.search(before):
                    found[said][f"the {match['term']}"] = None
    return tuple(Term(said, tuple(terms)) for said, terms in found.items() if terms)


def _behind(name: str) -> re.Pattern[str]:
    """Pattern of ``name`` at the end of a text; a middle name may stand in it."""
    words = r"\W+(?:\w+\W+)?".join(map(re.escape, name.split()))
    return re.compile(rf"(?i:\b{words}\b){_REST}")


def _names(question: str) -> Iterator[tuple[str, str]]:
    """Names of ``question`` as written, with the title before them ("Ms. Dillon"), and without it."""
    for one in mentions(question):
        name = question[one.start : one.end]
        if set(tokens(name)) <= lex.TITLES:
            continue
        before = _TITLE.search(question, 0, one.start)
        start = before.start() if before is not None and before["title"].lower() in lex.TITLES else one.start
        yield question[start : one.end], name
