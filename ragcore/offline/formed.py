"""Where documents plainly say what a section asks for, known by the form of the sentence: the way to it is short, and
no search has to bring it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragcore.text.sentences import sentence_spans
from ragcore.types import Document, Segment
from ragcore.types.report import Field, KnownFacts

_MOST = 3  # sentences of a document for one thing asked for


class _Sentence(NamedTuple):
    start: int
    end: int
    text: str


def formed(
    document: Document, form: Field, spans: Sequence[tuple[str, int, int]], stated: KnownFacts
) -> tuple[Segment, ...]:
    """The first sentences that say what ``form`` asks for, however deep in those of ``spans`` that are of
    ``document``; where none says it there and it is a company's document, those that say it anywhere."""
    from ragcore.offline.told import form_asked

    of = stated.companies.get(document.doc_id, ())
    whole: list[_Sentence] | None = None
    out: list[Segment] = []
    for piece in form.requirements:
        inner, outer = form_asked(piece, True), form_asked(piece, False)
        own = [(start, end) for doc_id, start, end in spans if doc_id == document.doc_id]
        told: list[_Sentence] = []
        if inner is not None:
            told = [at for span in own for at in _sentences(document, *span) if inner.says_it(at.text)]
        if not told and outer is not None and of:
            whole = whole if whole is not None else _sentences(document, 0, document.body_end)
            told = [at for at in whole if outer.says_it_anywhere(at.text, of)]
        if told and outer is not None:
            told = sorted(told, key=lambda at: outer.of_quarter(at.text))
        out += [Segment(document.doc_id, at.start, at.end, 0, 0, 0.0, "heading") for at in told[:_MOST]]
    return tuple(out)


def sentences_with(document: Document, pattern: re.Pattern[str]) -> list[Segment]:
    """The first sentences of ``document`` that hold ``pattern``."""
    told = [at for at in _sentences(document, 0, document.body_end) if pattern.search(at.text)]
    return [Segment(document.doc_id, at.start, at.end, 0, 0, 0.0, "heading") for at in told[:_MOST]]


def _sentences(document: Document, start: int, end: int) -> list[_Sentence]:
    """The sentences of ``document`` between two places, outside of tables."""
    inside = [
        one
        for one in document.body
        if start <= one.start and one.end <= end and one.table is None and one.kind != "figure"
    ]
    return [
        _Sentence(a, b, document.text[a:b])
        for one in inside
        for a, b in sentence_spans(document.text[one.start : one.end], one.start)
    ]
