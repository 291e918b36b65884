"""Sections of a document that are called as a section of the report: its heading is a strong hint where to look."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.text.words import content_stems, word_set
from ragcore.types import Document, Element, Source

_ALIKE = 0.6  # Dice's coefficient of two headings' words from which they are called the same
_NUMBERING = re.compile(
    r"^\s*(?:(?:item|part|note|section|chapter|article|annex|appendix)\s+)?(?:\d+[A-Za-z]?(?:\.\d+)*|[A-Z]|[IVX]+)[.):]?\s+"
    r"|^\s*(?:item|part|note|section|chapter|article|annex|appendix)\s+\w{1,4}[.):]?\s*",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:item|part)\s+\w{1,4}\b", re.IGNORECASE)
_MOST = 2
# Headings of one of these words are called so and no more: "Business Innovation" is another thing.
_BROAD = word_set("busi compani group gener overview")  # stems: making them loads the stemmer


def headed(document: Document, heading: str) -> list[tuple[int, int]]:
    """The spans of ``document`` under headings that are called ``heading``, best first, the headings left out; at most
    two, none inside another."""
    wanted = frozenset(content_stems(heading))
    elements = [element for element in document.elements if element.noise is None]
    found: list[tuple[float, int, int]] = []
    for place, element in enumerate(elements):
        if element.kind != "heading":
            continue
        alike = _alike(wanted, document.text[element.start : element.end])
        if alike < _ALIKE:
            continue
        end = element.end
        for after in elements[place + 1 :]:
            if after.kind == "heading" and _ends(document, element, after):
                break
            end = after.end
        if end > element.end:
            found.append((alike, element.end, end))
    best = max((alike for alike, _, _ in found), default=0.0)
    spans = sorted((span for span in found if span[0] == best), key=lambda span: span[1] - span[2])
    chosen: list[tuple[int, int]] = []
    for _, start, end in spans:
        if len(chosen) < _MOST and not any(a <= start and end <= b for a, b in chosen):
            chosen.append((start, end))
    return chosen


def _ends(document: Document, element: Element, after: Element) -> bool:
    """Whether the section under the heading ``element`` ends before ``after``. An item of a filing goes on to the next
    item, even where the headings in it are printed as large as its own."""
    item, next_item = (_ITEM.match(document.text[one.start : one.end]) for one in (element, after))
    return after.level < element.level or (after.level == element.level and (not item or next_item is not None))


def own_units(sources: Sequence[Source], spans: Sequence[tuple[str, int, int]]) -> tuple[tuple[int, int, int], ...]:
    """What of ``sources`` lies in ``spans`` (document, start, end): (source number, first unit, last unit)."""
    out = []
    for source in sources:
        for doc_id, start, end in spans:
            inside = [
                number
                for number, unit in enumerate(source.units, start=1)
                if source.doc_id == doc_id and start <= unit.start and unit.end <= end
            ]
            if inside:
                out.append((source.number, inside[0], inside[-1]))
    return tuple(out)


def _alike(wanted: frozenset[str], heading: str) -> float:
    said = " ".join(heading.split())
    stems = frozenset(content_stems(_NUMBERING.sub("", said) or said))
    if not wanted & stems or (wanted != stems and len(wanted) == 1 and wanted <= _BROAD):
        return 0.0
    return 2 * len(wanted & stems) / (len(wanted) + len(stems))
