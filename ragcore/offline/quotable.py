"""Quotable parts of the sources: sentences, lead-ins with their lists, table rows and cells that can be an answer
alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.offline.intents import fit
from ragcore.offline.rows import Asked, Row, row_of
from ragcore.text.periods import days_in
from ragcore.text.sentences import says_something
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems
from ragcore.types import Source
from ragcore.types.question import Question

_LONGEST_LIST = 700
_LONGEST_HEADING = 12  # words after a section's number
_BULLET = re.compile(r"^(?:[•▪●◦·■□►➢✓*–—-]|o)\s+")
_ITEM = re.compile(r"^(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]|\([A-Z]\))(?:\s|$)", re.IGNORECASE)
_NUMBERED = re.compile(
    r"(?:§+\s?|\d+\.)\d+[\w.()-]*\s+[A-Z]|(?:part|section|article|chapter)\s+[\dIVX]+\b", re.IGNORECASE
)
# "9. Confidential Information and Non-Competition.": a number, and capitals on all words of more than three letters.
_TITLED = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]\s+(?:(?:[A-Z][\w’'-]*|[a-z]{1,3}|&)(?:[\s,;.]+|$))+$")


@dataclass(frozen=True, slots=True)
class Quotable:
    """Units ``first``..``last`` of ``source``. ``text`` is the quoted text, ``passage`` the text judged, ``words`` its
    content stems, ``own`` those of the text alone, ``place`` those of its document, section and table. For a row,
    ``about`` names its table, ``name`` holds the stems of its own header and ``row`` is the row; ``rows`` are those of
    a list that it leads in."""

    source: Source
    first: int
    last: int
    text: str
    about: str
    passage: str
    words: frozenset[str]
    place: frozenset[str]
    own: frozenset[str] = frozenset()
    name: frozenset[str] = frozenset()
    row: Row | None = None
    rows: tuple[Row, ...] = ()

    @property
    def marker(self) -> str:
        return marker(self.source, self.first, self.last)

    @property
    def shown(self) -> str:
        """Printed form: ``text``, or only the requested cells of a long row."""
        return self.row.shown if self.row is not None and self.row.shown else self.text

    @property
    def start(self) -> int:
        return self.source.units[self.first - 1].start


def marker(source: Source, first: int, last: int) -> str:
    """Citation marker for units ``first`` to ``last`` of ``source``."""
    unit = f"{source.number}.{first}"
    return f"<<SOURCE {unit}>>" if first == last else f"<<SOURCE {unit}-{source.number}.{last}>>"


def quotables(question: Question, wanted: Wanted, sources: Sequence[Source]) -> Iterator[Quotable]:
    """All quotable parts, source by source in text order. A row is narrowed to the columns that ``question``, whose
    words are ``wanted``, names; in doubt it stays whole."""
    asked = Asked(wanted.everything, question.years, frozenset(days_in(question.main)))
    for source in sources:
        heading = source.section[-1] if source.section else ""
        # An AI's description is not the document's words.
        lines = [line for line in source.lines() if not source.units[line[0] - 1].generated]
        for place, (first, last) in enumerate(lines):
            if source.units[first - 1].kind == "cell":
                row = row_of(source, asked, first, last)
                if row is not None:
                    yield _quotable(source, row.first, row.last, row.text, heading, row)
                continue
            for number in range(first, last + 1):
                text = source.words(number, number)
                rest = [(other, other) for other in range(number + 1, last + 1)]
                listed = _with_list(source, number, [*rest, *lines[place + 1 :]], asked)
                # "Sponsor: Larkfield Ltd" is short, and printed bold.
                if listed is not None:
                    end, text, rows = listed
                    yield replace(_quotable(source, number, end, text, heading), rows=rows)
                elif not _is_heading(text, alone=first == last) and (
                    says_something(text) or fit(question.answer, text) == 1.0
                ):
                    yield _quotable(source, number, number, text, heading)
                elif first == last and any(character.isalpha() for character in text):
                    heading = text


def _with_list(
    source: Source, number: int, following: Sequence[tuple[int, int]], asked: Asked
) -> tuple[int, str, tuple[Row, ...]] | None:
    """Unit ``number``, if it ends in a colon or dash, with the list items or table rows after it, up to the next item
    of its own style: the last unit, the text, and the rows. At most 700 characters, cut at an item's end."""
    parts = [source.words(number, number)]
    if not parts[0].endswith((":", "—")):
        return None
    own, end = _style(parts[0]), number
    rows: list[Row] = []
    for first, last in following:
        is_cell = source.units[first - 1].kind == "cell"
        words = _printed(source, first, last)
        style = "row" if is_cell else _style(words)
        row = row_of(source, asked, first, last) if is_cell else None
        if is_cell:
            words = row.shown if row is not None else ""
        if style in ("", own) or sum(map(len, parts)) + len(words) > _LONGEST_LIST:
            break
        end = last
        rows += [row] if row is not None else []
        if words:
            parts.append(words if not is_cell or len(parts) == 1 else f"| {words}")
    return (end, " ".join(parts), tuple(rows)) if len(parts) > 1 else None


def _printed(source: Source, first: int, last: int) -> str:
    """Units ``first`` to ``last`` with the bullet before them, which belongs to no unit."""
    start = source.units[first - 2].end if first > 1 else source.start
    return source.between(start, source.units[last - 1].end)


def _style(item: str) -> str:
    """Bullet or number style of a list item; "" for other text."""
    match = _ITEM.match(item)
    number = match.group().strip(" ().") if match is not None else ""
    if not number:
        return "bullet" if _BULLET.match(item) else ""
    if number.isdigit():
        return "digit"
    return "roman" if set(number.lower()) <= set("ivx") else "upper" if number.isupper() else "lower"


def _quotable(source: Source, first: int, last: int, text: str, heading: str, row: Row | None = None) -> Quotable:
    about = row.table if row is not None else ""
    where = " > ".join(part for part in (source.title, heading if heading not in about else "", about) if part)
    passage = f"{where}: {text}"
    place = frozenset(content_stems(" ".join((source.title, *source.section, heading, about))))
    # A row quoted for one cell is also named by that cell's column.
    alone = row is not None and len(row.named) == 1 and row.first == row.last
    named = f"{row.head} {row.cells[row.named[0]].column if alone else ''}" if row is not None else ""
    name = frozenset(content_stems(named))
    words, own = frozenset(content_stems(passage)), frozenset(content_stems(text))
    return Quotable(source, first, last, text, about, passage, words, place, own, name, row)


def _is_heading(text: str, *, alone: bool) -> bool:
    """Whether a unit is a numbered heading ("§ 312.8 Charging for investigational drugs."), a note in brackets or a
    signature; ``alone``: it is a whole line."""
    numbered = alone and _NUMBERED.match(text) is not None and len(text.split()) <= _LONGEST_HEADING
    noted = text.startswith("[") and text.rstrip(".").endswith("]")
    return numbered or noted or text.startswith("/s/") or _TITLED.match(text) is not None


def with_paragraph(quote: Quotable) -> str:
    """Sentence with the preceding text of its paragraph, which may name its subject."""
    first = next(first for first, last in quote.source.lines() if first <= quote.first <= last)
    return quote.source.words(first, quote.last) if quote.row is None else quote.passage


def without_repeats(quotes: Iterable[Quotable], most: int) -> list[Quotable]:
    """First ``most`` of ``quotes``, without repeats."""
    chosen: list[Quotable] = []
    for quote in quotes:
        if len(chosen) < most and not any(is_same(quote, other) for other in chosen):
            chosen.append(quote)
    return chosen


def is_same(one: Quotable, other: Quotable) -> bool:
    """Whether two quotes repeat each other: shared units, equal text, or nearly the same words."""
    if one.source.number == other.source.number and one.first <= other.last and other.first <= one.last:
        return True
    if one.text.lower() == other.text.lower():
        return True
    a, b = set(content_stems(one.text)), set(content_stems(other.text))
    return bool(a and b) and len(a & b) / len(a | b) >= 0.85
