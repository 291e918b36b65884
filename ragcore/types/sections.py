"""Section tree of a document, made of its headings, and the place of a `Section` in it.

A section begins at its heading and ends where the next heading of its rank or above begins, else with the body. Levels
that a document leaves out count for nothing: a heading is under the nearest one before it of a higher rank.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragcore.types.document import Chunk, Document, Element
from ragcore.types.retrieval import Section

DEEPEST = 6  # level on which lie all styles of headings from the sixth on
SERIES = 3  # headings with one first word and different numbers, from which on they count as one
RANKS = 3  # of series, the last of which all further ones share: a catalogue has hundreds


@dataclass(frozen=True, slots=True)
class SectionNode:
    """Node of a section tree. ``path`` are the headings down to its own, each on one line, ``nth`` of those with this
    path, from 0; ``level`` is that of the element ``heading``; ``[start, end)`` is its span with all subsections, on
    ``first_page`` to ``last_page``."""

    path: tuple[str, ...]
    heading: Element
    start: int
    end: int
    first_page: int
    last_page: int
    children: tuple[SectionNode, ...] = ()
    nth: int = 0

    @property
    def label(self) -> str:
        return self.path[-1]

    @property
    def level(self) -> int:
        return self.heading.level

    def of(self, doc_id: str) -> Section:
        """Node as part of a scope."""
        return Section(doc_id, self.start, self.end, self.path, self.nth)


def section_tree(document: Document) -> tuple[SectionNode, ...]:
    """Top sections in reading order; none without headings. Siblings follow one another without a gap, and all together
    span the body from the first heading to its end."""
    body = document.body
    labelled = [(one, " ".join(document.text[one.start : one.end].split())) for one in body if one.kind == "heading"]
    deepest = [label for one, label in labelled if one.level >= DEEPEST]
    series = _series(deepest)
    headings = [(one, label, _rank(one, label, series)) for one, label in labelled if label]
    starts = [element.start for element in body]
    before: Counter[tuple[str, ...]] = Counter()

    def last_page(end: int) -> int:
        last = body[bisect_left(starts, end) - 1]
        return max(document.element_pages(last))

    def nodes(first: int, after: int, above: tuple[str, ...]) -> Iterator[SectionNode]:
        while first < after:
            heading, label, rank = headings[first]
            follows = next((n for n in range(first + 1, after) if headings[n][2] <= rank), after)
            end = headings[follows][0].start if follows < len(headings) else document.body_end
            path = (*above, label)
            below = tuple(nodes(first + 1, follows, path))
            last = max(heading.page, last_page(end))
            yield SectionNode(path, heading, heading.start, end, heading.page, last, below, before[path])
            before[path] += 1
            first = follows

    return tuple(nodes(0, len(headings), ()))


def _rank(heading: Element, label: str, series: Mapping[str, int]) -> tuple[int, int, bool]:
    """Order of headings, the highest first: by level. On the `DEEPEST` one, as in a filing whose cover has taken the
    upper levels, first those of a series, then others in capitals, then the rest (``PART I``, ``ITEM 1. BUSINESS``,
    ``COMPETITION``, ``Seasonality``)."""
    if heading.level < DEEPEST:
        return heading.level, 0, False
    word, _ = _numbered(label)
    if word in series:
        return heading.level, series[word], False
    return heading.level, RANKS, not label.isupper()


def _series(labels: Sequence[str]) -> dict[str, int]:
    """First words of numbered headings and their ranks, in the order of their first ones: a series that begins within
    another is part of it."""
    numbers: dict[str, set[str]] = {}
    for word, number in map(_numbered, labels):
        if number:
            numbers.setdefault(word, set()).add(number)
    words = (word for word, found in numbers.items() if len(found) >= SERIES)
    return {word: min(rank, RANKS - 1) for rank, word in enumerate(words)}


def _numbered(label: str) -> tuple[str, str]:
    """First word and the number after it (``item``, ``7``; not a year), each "" if there is none."""
    word, _, rest = label.partition(" ")
    after = rest.partition(" ")[0]
    number = after[: len(after) - len(after.lstrip("0123456789"))] or after.rstrip(".:—–-")
    counts = number.isdecimal() and len(number) <= 3
    return (word.casefold(), number) if counts or (number and set(number) <= set("IVXLC")) else ("", "")


def walk(nodes: Iterable[SectionNode]) -> Iterator[SectionNode]:
    """Nodes with all below them, in reading order."""
    for node in nodes:
        yield node
        yield from walk(node.children)


def one_by_one(nodes: tuple[SectionNode, ...]) -> tuple[SectionNode, ...]:
    """Sections to be gone through one by one: ``nodes``, or if there is only one, those below it."""
    while len(nodes) == 1 and nodes[0].children:
        nodes = nodes[0].children
    return nodes


def placed(section: Section, document: Document) -> Section | None:
    """``section`` where it now is in ``document``, which may have been read again since: of the sections with its path
    one as long as it was, else any, the one that begins nearest to its earlier start; None if there is none."""
    same = [node for node in walk(section_tree(document)) if node.path == section.path]
    length = section.end - section.start
    alike = [node for node in same if node.end - node.start == length] or same
    nearest = min(alike, key=lambda node: abs(node.start - section.start), default=None)
    return None if nearest is None else nearest.of(document.doc_id)


def chunks_of(node: SectionNode, tiles: Sequence[Chunk]) -> int:
    """Number of ``tiles``, a document's whole tiling, with text of the section."""
    return bisect_left([t.start for t in tiles], node.end) - bisect_right([t.end for t in tiles], node.start)
