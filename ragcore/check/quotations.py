"""Quotations of a draft, letter by letter: the words between quotation marks, looked for in the documents' text.

Blanks, line breaks and the forms of quotation marks, dashes and apostrophes may differ; letters, case, figures and
other punctuation may not. "…" and "[…]" stand for words left out, and a bracketed word for any word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ragcore.types import EVERYTHING, Document, Scope

_MARKED = re.compile(r"“([^“”]+)”|\"([^\"]+)\"|«\s?([^«»]+?)\s?»|„([^„“”]+)[“”]")
_LEFT_OUT = re.compile(r"\s*(?:\[\s*(?:…|\.\s?\.\s?\.)\s*\]|…|\.\s?\.\s?\.)\s*")
_BRACKETED = re.compile(r"(?:\[[^\[\]]*\])+")
_DASHES, _SINGLE, _DOUBLE = "-‐‑‒–—−", "'’‘‛", '"“”„«»'
_FEWEST = 3  # words: fewer are a term, not a quotation
_PIECE = 4  # least words of a piece of one that was stitched together
_MOST_PIECES = 3
_APART = 5_000  # most characters between the pieces around words left out

Fate = Literal["found", "stitched", "not_found"]


@dataclass(frozen=True, slots=True)
class Quotation:
    """Quotation at ``[start, end)`` of its sentence, without its marks; ``places`` are (document, start, end) of its
    words: one, several if it was ``stitched`` together of words that stand apart, none if they are not found."""

    start: int
    end: int
    fate: Fate
    places: tuple[tuple[str, int, int], ...] = ()


def quotations(
    text: str, doc_ids: Iterable[str], read: Callable[[str], Document], scope: Scope = EVERYTHING
) -> tuple[Quotation, ...]:
    """Quotations in ``text``, each where it stands in the first document that has it in the sections of ``scope``; of
    ``doc_ids`` no more are ``read`` than that takes."""
    spans = _quoted_spans(text)
    ids = tuple(doc_ids) if spans else ()
    return tuple(Quotation(start, end, *_placed(text[start:end], ids, read, scope)) for start, end in spans)


def _quoted_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the quotations in ``text``, within their marks."""
    groups = ((match, group) for match in _MARKED.finditer(text) for group in range(1, 5))
    spans = [match.span(group) for match, group in groups if match.group(group)]
    return [(start, end) for start, end in spans if len(text[start:end].split()) >= _FEWEST]


def _placed(
    quote: str, doc_ids: Sequence[str], read: Callable[[str], Document], scope: Scope
) -> tuple[Fate, tuple[tuple[str, int, int], ...]]:
    if (place := standing(quote, doc_ids, read, scope)) is not None:
        return "found", (place,)
    for doc_id in doc_ids:
        if places := _apart(_bare(quote).split(), _within(scope, read(doc_id))):
            return "stitched", tuple((doc_id, *place) for place in places)
    return "not_found", ()


def standing(
    quote: str, doc_ids: Iterable[str], read: Callable[[str], Document], scope: Scope = EVERYTHING
) -> tuple[str, int, int] | None:
    """Document, start and end of ``quote`` in the first of ``doc_ids`` that has it to the letter in the sections of
    ``scope``."""
    found = ((doc_id, next(places(quote, _within(scope, read(doc_id))), None)) for doc_id in doc_ids)
    return next(((doc_id, *place) for doc_id, place in found if place is not None), None)


def places(quote: str, text: str) -> Iterator[tuple[int, int]]:
    """Spans of ``text`` that have ``quote`` to the letter; they may overlap only where words are left out."""
    pieces = [piece for piece in _LEFT_OUT.split(_bare(quote)) if piece]
    return _together(pieces, text) if pieces else iter(())


def _within(scope: Scope, document: Document) -> str:
    """Text of ``document``; around its sections in ``scope`` nothing that can be quoted."""
    if not scope.sections:
        return document.text
    shown = ""
    for start, end in scope.spans(document.doc_id):
        shown = shown.ljust(start, "\0") + document.text[start:end]
    return shown


def _bare(quote: str) -> str:
    """``quote`` without the comma or full stop that a writer puts inside the closing mark."""
    return quote.strip().rstrip(".,;")


def _together(pieces: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    """Spans of ``pieces`` in their order, near each other."""
    for first in _pattern(pieces[0]).finditer(text):
        end = first.end()
        for piece in pieces[1:]:
            following = _pattern(piece).search(text, end, end + _APART)
            if following is None:
                break
            end = following.end()
        else:
            yield first.start(), end


def _apart(words: Sequence[str], text: str) -> tuple[tuple[int, int], ...]:
    """Spans of the pieces of ``words`` that stand in ``text``, each as long as can be; () if some stand nowhere."""
    places: list[tuple[int, int]] = []
    at = 0
    while at < len(words) and len(places) < _MOST_PIECES:
        size, place = 0, None
        for longer in range(_PIECE, len(words) - at + 1):  # what begins a longer piece stands there too
            match = _pattern(" ".join(words[at : at + longer])).search(text, place[0] if place else 0)
            if match is None:
                break
            size, place = longer, match.span()
        if place is None:
            return ()
        places.append(place)
        at += size
    return tuple(places) if at == len(words) else ()


@lru_cache(maxsize=512)
def _pattern(words: str) -> re.Pattern[str]:
    """Expression for ``words`` as they may be printed."""
    ends = r"(?<!\w)" if words[:1].isalnum() else "", r"(?!\w)" if words[-1:].isalnum() else ""
    tokens = (_BRACKETED.split(word) if "[" in word else [word] for word in words.split())
    printed = (r"[\w’'-]{0,40}".join("".join(map(_letter, part)) for part in parts) for parts in tokens)
    return re.compile(ends[0] + r"\s+".join(printed) + ends[1])


def _letter(character: str) -> str:
    for alike in (_DASHES, _SINGLE, _DOUBLE):
        if character in alike:
            return f"[{re.escape(alike)}]\\s*" if alike is _DASHES else f"[{re.escape(alike)}]"
    return re.escape(character)
