"""Document overview: five of its sentences, each a citation with its most informative words.

Sentences are chosen by structure and rank alone: whole sentences of running text with a figure, a date or a name, near
in meaning to the topic of the document and of their section, from as many sections as possible, without repetition. If
a document cites others, as papers do, the chapters with fewer citations come first: they hold the findings. If no
sentence is worth quoting, the first heading of each chapter is used. No model writes anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from ragcore.answer.cite import cite_span
from ragcore.answer.sources import build_units
from ragcore.context.extract import tells
from ragcore.index.packing import pack, unpack
from ragcore.text.numbers import numbers
from ragcore.text.periods import date_spans, years
from ragcore.text.words import FUNCTION_WORDS
from ragcore.types import Citation, Document, Element

if TYPE_CHECKING:
    from ragcore.library import Library
    from ragcore.protocols import Embedder, QuestionWording, Vector

LINES = 5
CHAPTERS = 8  # maximum headings in place of sentences
VERSION = 2  # increment when the choice for the same document changes
_READ = 2000  # maximum sentences read, spread over the document
_RANKED = 60  # of these, sentences compared in meaning
_SHORTEST, _LONGEST, _EASY = 45, 260, 170  # characters of a sentence; up to the last it is read at a glance
_CAPITALS = 0.5  # share of capitalised words that marks an entry of a list of works or names
_MARKS = ".,;:)”\"'’-"
_INITIALS = 3  # initials of persons ("R,", "WY,") that also mark one
_LONG = 8  # pages of a document that has a cover
_NUMBERED = 5  # maximum characters of an item's number
_RARE = 3  # occurrences in a document up to which a name is informative
# Weights of a sentence besides its informative words.
_EARLY = 0.3  # the first sentence over the last: documents begin with their conclusions
_OPENS = 0.15  # the first of its paragraph
_BORROWED = 1.5  # its references to other works, and the share of its chapter's sentences with one
_SHOWS = 0.3  # in a chapter with a table or a figure
_SAME = 0.8  # similarity from which two sentences repeat each other
_AGAIN = 0.25  # for each one chosen from its section
_ALIKE = 0.5  # and for its similarity to the nearest of them


@dataclass(frozen=True, slots=True)
class Line:
    """Sentence of the document. ``lit`` is the span, in `text`, of its informative words."""

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
    chapter: tuple[str, ...]
    lit: tuple[int, int]
    worth: float


def overview(library: Library, embedder: Embedder, wording: QuestionWording, doc_id: str) -> Overview:
    """`Engine.overview`."""
    document = library.document(doc_id)
    stamp = f"{VERSION} {library.store.build(doc_id)}"
    kept = library.overviews.get(doc_id, stamp)
    if kept is not None:
        return unpack(kept, Overview)
    found = list(library.store.vectors(embedder.name, [doc_id]))
    view = made(document, embedder, wording, np.concatenate([vectors for _, vectors in found]) if found else None)
    library.overviews.put(doc_id, stamp, pack(view, Overview))
    return view


def made(document: Document, embedder: Embedder, wording: QuestionWording, about: Vector | None = None) -> Overview:
    """Overview of ``document``; ``about`` are the vectors of its chunks, None before they exist."""
    ranked = list(islice(_ranked(_sentences(document, wording)), _RANKED))
    chosen = _chosen(ranked, embedder.embed_documents([one.text for one in ranked]), about) if ranked else []
    lines = tuple(Line(cite_span(document, one.start, one.end, n), one.lit) for n, one in enumerate(chosen, start=1))
    heads = islice(_chapters(document), CHAPTERS)
    return Overview(
        document.doc_id, lines, tuple(cite_span(document, *span, n) for n, span in enumerate(heads, start=1))
    )


# Sentences


def _sentences(document: Document, wording: QuestionWording) -> list[_Sentence]:
    """Sentences that can be read alone, with their informative words."""
    elements = [item for item in document.body if item.kind in ("paragraph", "list_item") and item.generated is None]
    depth = _depth(elements)
    again = Counter(document.text[item.start : item.end].casefold() for item in elements)
    first = 2 if len(document.pages) >= _LONG else 1
    step = max(1, sum(item.end - item.start for item in elements) // (_READ * 150))
    found: list[_Sentence] = []
    cites: defaultdict[tuple[str, ...], list[bool]] = defaultdict(list)
    for place, item in enumerate(elements):
        whole = document.text[item.start : item.end]
        if item.page < first or len(whole) < _SHORTEST or again[whole.casefold()] > 1 or place % step:
            continue
        for order, unit in enumerate(build_units(document, item.start, item.end)):
            text = " ".join(document.text[unit.start : unit.end].split())
            borrowed = bool(document.marks(unit.start, unit.end)) or _refers(text)
            cites[item.section[:depth]].append(borrowed)
            rest = document.text[unit.end : item.end].lstrip()[:1]
            if not _stands_alone(text, wording) or rest.islower() or rest.isdigit():  # cut after an abbreviation
                continue
            text = " ".join(document.shown(unit.start, unit.end).split())
            told = _telling(text, document.text, wording)
            if told is not None:
                worth = told[1] + _EARLY * (1 - unit.start / max(document.body_end, 1)) - _BORROWED * borrowed
                worth += _OPENS if order == 0 and item.kind == "paragraph" else 0.0
                worth -= max(0, len(text) - _EASY) / 300
                found.append(_Sentence(unit.start, unit.end, text, item.section[:depth], told[0], worth))
    share = {chapter: sum(each) / len(each) for chapter, each in cites.items()}
    shows = {item.section[:depth] for item in document.body if item.kind in ("table", "figure") and item.section}
    return [
        replace(one, worth=one.worth - _BORROWED * share[one.chapter] + _SHOWS * (one.chapter in shows))
        for one in found
    ]


def _depth(elements: Sequence[Element]) -> int:
    """Number of headings of a path that make a chapter, chosen to give enough chapters."""
    deepest = max((len(item.section) for item in elements), default=0)
    counted = (len({item.section[:depth] for item in elements}) for depth in range(1, deepest + 1))
    return next((depth for depth, count in enumerate(counted, start=1) if count >= LINES), max(deepest, 1))


def _refers(text: str) -> bool:
    """Whether it has a reference to another work: ``[12]``, ``(3, 4)``, ``(Okafor, 2019)``."""
    inside = [part.partition(")")[0] for part in text.replace("[", "(").replace("]", ")").split("(")[1:]]
    return any(years(part) or (part.strip("0123456789,;–- ") == "" and part.strip()) for part in inside)


def _stands_alone(text: str, wording: QuestionWording) -> bool:
    """Whether it is a whole sentence of prose whose beginning does not depend on another one."""
    if not _SHORTEST <= len(text) <= _LONGEST or not tells(text):
        return False
    words = text.split()
    initials = sum(len(word) <= 3 and word[-1] in ",." and word[:-1].isupper() for word in words)
    return (
        (text[0].isalnum() or text[0] in '“"‘(„«')
        and not next((c for c in text if c.isalpha()), "").islower()
        and not (words[0].endswith((")", ".")) and len(words[0]) <= _NUMBERED)  # "(4)", "12.", "a)"
        and words[0].strip("“\"'(,").lower() not in wording.leaning()
        and sum(word[0].isupper() for word in words) < _CAPITALS * len(words)
        and initials < _INITIALS
        and not text.endswith("?")
    )


def _telling(text: str, whole: str, wording: QuestionWording) -> tuple[tuple[int, int], float] | None:
    """Most informative words of a sentence of the text ``whole``, with their worth: an amount, a date, a count, a
    name."""
    found: list[tuple[float, int, int]] = []
    for number in numbers(wording.REFERENCE.sub(lambda match: "\0" * len(match.group()), text)):
        own = number.raw.strip("()")
        start = text.find(own, number.start)
        end = start + len(own)
        is_mark = start < 0 or own[0] in "-–−" or (own.isdigit() and text[start - 1 : end + 1] == f"({own})")
        if is_mark or (not number.currency and 1900 <= number.value < 2100):
            continue  # a year, as in a reference
        while text[end : end + 1].isalnum() or (text[end : end + 1] == "." and text[end + 1 : end + 2].isdigit()):
            end += 1  # "200ml"
        exact = number.percent or number.currency or number.scale > 1 or number.unit is not None
        last = (
            end
            if number.percent or number.currency
            else _with_noun(text, end, wording, unit=text[end - 1].isdigit() and bool(number.unit))
        )
        if exact or last > start + len(own):
            found.append((1.0 if exact else 0.8, start, last))
    found += [(0.7, start, end) for start, end in date_spans(text)]
    found += [(0.5 if whole.count(text[s:e]) <= _RARE else 0.2, s, e) for s, e in _names(text)]
    if not found:
        return None
    worth, start, end = max(found, key=lambda one: (one[0], one[2] - one[1], -one[1]))
    return (start, end), worth


def _with_noun(text: str, end: int, wording: QuestionWording, *, unit: bool) -> int:
    """End of the noun phrase after a number: "1.84 million homes", "seven working days", "5 ml" (``unit``); else
    ``end``. The first plural among three words, or else the first word."""
    at, ends = end, []
    for word in text[end:].split(maxsplit=3)[:3] if text[end : end + 1] in (" ", "-") else []:
        bare = word.strip(_MARKS)
        if len(bare) < (1 if unit else 3) or not bare.isalpha() or not bare.islower() or bare in FUNCTION_WORDS:
            break
        at = text.index(bare, at) + len(bare)
        ends.append(at)
        if unit or wording.is_many(bare):
            return at
        if word[-1] != bare[-1]:
            break
    return ends[0] if ends else end


def _names(text: str) -> list[tuple[int, int]]:
    """Runs of two to five capitalised words, without the first of the sentence."""
    at, runs = text.find(" "), list[list[tuple[int, int]]]([[]])
    for word in text.split()[1:]:
        bare = word.rstrip(_MARKS)
        at = text.index(word, at) + len(bare)
        if bare[:1].isupper() and bare[1:2].islower():
            runs[-1].append((at - len(bare), at))
        if bare != word or not bare[:1].isupper():
            runs.append([])
    return [(run[0][0], run[-1][1]) for run in runs if 2 <= len(run) <= 5]


# The choice


def _ranked(sentences: Sequence[_Sentence]) -> Iterator[_Sentence]:
    """Best sentence of each chapter, then the second of each, and so on."""
    chapters: defaultdict[tuple[str, ...], list[_Sentence]] = defaultdict(list)
    for one in sentences:
        chapters[one.chapter].append(one)
    sizes = sorted(chapters.values(), key=len, reverse=True)
    best = (sorted(each, key=lambda one: (-one.worth, one.start)) for each in sizes)
    return (one for row in zip_longest(*best) for one in row if one is not None)


def _chosen(ranked: Sequence[_Sentence], vectors: Vector, about: Vector | None) -> list[_Sentence]:
    """`LINES` of ``ranked`` in text order: worth and nearness to the document count for a sentence, similarity to
    chosen ones and their chapter against it."""
    centre = (vectors if about is None else about).mean(axis=0)
    near = vectors @ (centre / max(float(np.linalg.norm(centre)), 1e-9))
    worth = np.array([one.worth for one in ranked]) + 2 * near
    alike = np.zeros(len(ranked))  # to the nearest chosen one
    taken: list[_Sentence] = []
    while len(taken) < LINES:
        again = np.array([sum(other.chapter == one.chapter for other in taken) for one in ranked])
        left = np.where(alike > _SAME, -np.inf, worth - _AGAIN * again - _ALIKE * alike)
        best = int(left.argmax())
        if np.isneginf(left[best]):
            break
        taken.append(ranked[best])
        alike = np.maximum(alike, vectors @ vectors[best])
    return sorted(taken, key=lambda one: one.start)


def _chapters(document: Document) -> Iterator[tuple[int, int]]:
    """Headings down to the first level with several, each once, without the document's title."""
    first = 2 if len(document.pages) >= _LONG else 1
    heads: dict[str, Element] = {}
    for item in document.body:
        name = _letters(document.text[item.start : item.end]) if item.kind == "heading" and item.page >= first else ""
        if name and name not in _letters(document.title):
            heads.setdefault(name, item)
    levels = Counter(item.level for item in heads.values())
    level = next((level for level, count in sorted(levels.items()) if count > 2), min(levels, default=0))
    return ((item.start, item.end) for item in heads.values() if item.level <= level)


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())
