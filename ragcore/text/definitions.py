"""Defined terms: what a document calls the persons and things that it names: ``MARY N. DILLON (the “Executive”)``.

Contracts speak of a party by its term alone once they have named it, and letters of whom they address as "you", so that
a question with the name finds little but the sentence that defines the term.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from itertools import pairwise, product

from ragcore.text import lexicon as lex
from ragcore.text.mentions import mentions
from ragcore.text.names import FIRM
from ragcore.text.terms import Term
from ragcore.text.words import tokens

# Behind a name may stand the form of a firm.
_REST = re.compile(rf"(?:,?\s+{FIRM}\.?)?,?\s*\Z")
_LONGEST = 200  # characters of a name with them
_TERM = re.compile(
    r"\((?:(?:the|collectively|each|hereinafter|together|an?),?\s+)*[“\"'‘](?P<term>[A-Z][\w &-]{1,40}?),?[”\"'’]\)"
)
# A letter calls "you" whom its greeting, or the address above it, names.
_GREETING = re.compile(r"^\s*Dear\s+[A-Z][^\n]{0,60}[,:]\s*$", re.MULTILINE)
_ADDRESS = 150  # characters of an address
_ADDRESSED, _OWNED = "you", "your"
_TITLE = re.compile(r"(?P<title>\w+)\.?\s+\Z")


def defined(question: str, texts: Mapping[str, str]) -> tuple[Term, ...]:
    """Names in ``question``, each with the terms that an agreement or letter in one of ``texts``, of documents by id,
    defines for it and the question lacks; "the Company" is none, by which a filing calls itself in every sentence."""
    known = {*tokens(question), *lex.WHOM}
    named = {said: _pattern(name) for said, name in _names(question)}
    found: list[Term] = []
    for doc_id, text in texts.items() if named else ():
        for (start, end), (said, name) in product(_instruments(text), named.items()):
            calls = list(_called(name, text, known, start, end))
            if calls:
                within = min(at for _, at in calls), end
                found.append(Term(said, tuple(dict.fromkeys(by for by, _ in calls)), defining=doc_id, within=within))
    return tuple(found)


def _instruments(text: str) -> list[tuple[int, int]]:
    """Spans of agreements and letters in ``text``: each defines a term once, and a letter begins with its greeting."""
    starts, terms = [0], set[str]()
    for match in sorted((*_TERM.finditer(text), *_GREETING.finditer(text)), key=re.Match.start):
        term = match.groupdict().get("term")
        if term is None or term in terms:
            starts.append(match.start())
            terms.clear()
        terms.add(term or "")
    return list(pairwise((*starts, len(text))))


def called(text: str, term: Term) -> str:
    """``text`` as the document with ``term`` puts it: "your fees" for "Mr. Brandt's fees"."""
    name, by = rf"\b{re.escape(term.said)}", term.same[0]
    text = re.sub(rf"{name}['’]s\b", _OWNED if by == _ADDRESSED else f"{by}’s", text)
    return re.sub(rf"{name}(?!\w)", by, text)


def calls(text: str, doc_id: str, at: int, term: Term) -> bool:
    """Whether the words at ``at`` of a document name whom ``term`` names, or call them so where it is their term."""
    own = {*tokens(text)}
    within = term.same if term.within[0] <= at < term.within[1] else ()
    names = {*tokens(term.said)} - lex.TITLES, *({*tokens(one)} - {"the"} for one in within)
    return doc_id == term.defining and any(name <= own for name in names)


def _called(name: re.Pattern[str], text: str, known: Set[str], start: int, end: int) -> Iterator[tuple[str, int]]:
    """What ``text[start:end]`` calls whom it names, but for terms of ``known`` words, and where it defines that."""
    for match in _TERM.finditer(text, start, end):
        before = text[max(0, match.start() - _LONGEST) : match.start()]
        if not known >= set(tokens(match["term"])) and any(
            _REST.match(before, one.end()) for one in name.finditer(before)
        ):
            yield f"the {match['term']}", match.start()
    for match in _GREETING.finditer(text, start, end):
        if name.search(text, max(0, match.start() - _ADDRESS), match.end()):
            yield from ((_ADDRESSED, match.start()), (_OWNED, match.start()))


def _pattern(name: str) -> re.Pattern[str]:
    """Pattern of ``name``; a middle name may stand in it."""
    words = r"\W+(?:\w+\W+)?".join(map(re.escape, name.split()))
    return re.compile(rf"\b{words}\b", re.IGNORECASE)


def _names(question: str) -> Iterator[tuple[str, str]]:
    """Names of ``question`` as written, with the title before them ("Ms. Dillon"), and without it."""
    for one in mentions(question):
        name = question[one.start : one.end]
        if set(tokens(name)) <= lex.TITLES:
            continue
        before = _TITLE.search(question, 0, one.start)
        start = before.start() if before is not None and before["title"].lower() in lex.TITLES else one.start
        yield question[start : one.end], name
