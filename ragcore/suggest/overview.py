"""Document overview: five of its sentences, each a citation with its most informative words.

Candidates are whole sentences of running text, worth most with an amount, a date or a count. Maximal marginal relevance
(Carbonell and Goldstein 1998) chooses among them: nearness in meaning to the document counts for a sentence, similarity
to those chosen, and their section, against it. Sentences that cite other works count less, and so do their sections: a
paper's findings are elsewhere. Without any sentence, the chapter headings are used. No model writes anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ragcore.answer.cite import cite_span
from ragcore.answer.sources import build_units
from ragcore.index.packing import pack, unpack
from ragcore.text.numbers import numbers, span_of
from ragcore.text.periods import date_spans, years
from ragcore.types import Citation, Document

if TYPE_CHECKING:
    from ragcore.library import Library
    from ragcore.protocols import Embedder, QuestionWording, Vector

LINES = 5
CHAPTERS = 8  # maximum headings in place of sentences
VERSION = 4  # increment when the choice for the same document changes
_READ = 300_000  # characters of paragraphs read, spread over the document
_RANKED = 60  # sentences compared in meaning
# Weights of a sentence.
_EXACT, _DAY, _COUNT = 1.0, 0.7, 0.4  # its most informative words
_EARLY = 0.3  # the first sentence over the last: documents begin with their conclusions
_BORROWED = 1.5  # its references to other works, and the share of its section's sentences with one
_SAME = 0.8  # similarity from which two sentences repeat each other
_AGAIN = 0.25  # for each one chosen from its section
_ALIKE = 0.5  # and for its similarity to the nearest of them


@dataclass(frozen=True, slots=True)
class Line:
    """Sentence of the document. ``lit`` is the span, in `text`, of its informative words; empty without any."""

    citation: Citation
    lit: tuple[int, int]

    @property
    def text(self) -> str:
        return " ".join(self.citation.quotation.split())


@dataclass(frozen=True, slots=True)
class Overview:
    """``lines`` in document order, at most `LINES`; ``chapters`` are the headings of its chapters."""

    doc_id: str
    lines: tuple[Line, ...]
    chapters: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    text: str
    section: tuple[str, ...]
    lit: tuple[int, int]
    worth: float


def overview(library: Library, embedder: Embedder, wording: QuestionWording, doc_id: str) -> Overview:
    """`Engine.overview`."""
    document = library.document(doc_id)
    stamp = f"{VERSION} {library.store.build(doc_id)}"
    kept = library.overviews.get(doc_id, stamp)
    if kept is not None:
        return unpack(kept, Overview)
    _, vectors = library.store.vectors(embedder.name, [doc_id])
    view = made(document, embedder, wording, vectors if len(vectors) else None)
    library.overviews.put(doc_id, stamp, pack(view, Overview))
    return view


def made(document: Document, embedder: Embedder, wording: QuestionWording, about: Vector | None = None) -> Overview:
    """Overview of ``document``; ``about`` are the vectors of its chunks, None before they exist."""
    ranked = nlargest(_RANKED, _sentences(document, wording), key=lambda one: one.worth)
    chosen = _chosen(ranked, embedder.embed_documents([one.text for one in ranked]), about) if ranked else []
    lines = tuple(Line(cite_span(document, one.start, one.end, n), one.lit) for n, one in enumerate(chosen, start=1))
    heads = islice(_chapters(document), CHAPTERS)
    return Overview(
        document.doc_id, lines, tuple(cite_span(document, *span, n) for n, span in enumerate(heads, start=1))
    )


def _sentences(document: Document, wording: QuestionWording) -> list[_Sentence]:
    """Sentences that can be read alone, with their informative words and their worth."""
    elements = [item for item in document.body if item.kind in ("paragraph", "list_item") and item.generated is None]
    again = Counter(document.text[item.start : item.end].casefold() for item in elements)
    step = 1 + sum(item.end - item.start for item in elements) // _READ
    found: list[_Sentence] = []
    cites: defaultdict[tuple[str, ...], list[bool]] = defaultdict(list)
    for item in elements[::step]:
        if again[document.text[item.start : item.end].casefold()] > 1:
            continue
        for unit in build_units(document, item.start, item.end):
            text = " ".join(document.shown(unit.start, unit.end).split())
            borrowed = bool(document.marks(unit.start, unit.end)) or _refers(text)
            cites[item.section].append(borrowed)
            if wording.stands_alone(text, document.text[item.start : item.end]):
                worth, lit = _informative(text, wording)
                worth += _EARLY * (1 - unit.start / max(document.body_end, 1)) - _BORROWED * borrowed
                found.append(_Sentence(unit.start, unit.end, text, item.section, lit, worth))
    share = {section: sum(each) / len(each) for section, each in cites.items()}
    return [replace(one, worth=one.worth - _BORROWED * share[one.section]) for one in found]


def _refers(text: str) -> bool:
    """Whether it has a reference to another work: ``[12]``, ``(3, 4)``, ``(Okafor, 2019)``."""
    inside = [part.partition(")")[0] for part in text.replace("[", "(").replace("]", ")").split("(")[1:]]
    return any(years(part) or (part.strip("0123456789,;–- ") == "" and part.strip()) for part in inside)


def _informative(text: str, wording: QuestionWording) -> tuple[float, tuple[int, int]]:
    """Worth and span of the most informative words of a sentence: an amount, a date or a count, which has what is
    counted behind it and no name before it ("Phase 1 studies"); 0.0 without any."""
    found = [(_DAY, span) for span in date_spans(text)]
    for number in numbers(wording.REFERENCE.sub(lambda match: "\0" * len(match.group()), text)):
        end = number.start + len(number.raw) if number.unit is None else span_of(text, number)[1]
        exact = number.percent or number.currency or number.scale > 1 or number.unit is not None
        before = text[: number.start].split()
        named = len(before) > 1 and before[-1][:1].isupper()
        counts = number.raw[-1:].isalnum() and text[end : end + 1].isspace() and text[end + 1 : end + 2].islower()
        if exact or (counts and not named):
            found.append((_EXACT if exact else _COUNT, (number.start, end)))
    return max(found, key=lambda one: (one[0], one[1][1] - one[1][0]), default=(0.0, (0, 0)))


def _chosen(ranked: Sequence[_Sentence], vectors: Vector, about: Vector | None) -> list[_Sentence]:
    """`LINES` of ``ranked`` in text order."""
    centre = (vectors if about is None else about).mean(axis=0)
    near = vectors @ (centre / max(float(np.linalg.norm(centre)), 1e-9))
    worth = np.array([one.worth for one in ranked]) + 2 * near
    alike = np.zeros(len(ranked))  # to the nearest chosen one
    taken: list[_Sentence] = []
    while len(taken) < LINES:
        again = np.array([sum(other.section == one.section for other in taken) for one in ranked])
        left = np.where(alike > _SAME, -np.inf, worth - _AGAIN * again - _ALIKE * alike)
        best = int(left.argmax())
        if np.isneginf(left[best]):
            break
        taken.append(ranked[best])
        alike = np.maximum(alike, vectors @ vectors[best])
    return sorted(taken, key=lambda one: one.start)


def _chapters(document: Document) -> Iterator[tuple[int, int]]:
    """Headings down to the first level with several, without the document's title."""
    heads = [item for item in document.body if item.kind == "heading"]
    heads = [item for item in heads if document.text[item.start : item.end].strip() != document.title]
    levels = Counter(item.level for item in heads)
    level = next((level for level, count in sorted(levels.items()) if count > 2), min(levels, default=0))
    return ((item.start, item.end) for item in heads if item.level <= level)
