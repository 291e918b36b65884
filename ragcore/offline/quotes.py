"""Quotes: parts of the sources that can be an answer alone (sentences, lead-ins with their lists, table rows), ranked
by the cross-encoder's relevance and the quote's document."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, takewhile

import numpy as np
from numpy.typing import NDArray

from ragcore.offline.intents import fit
from ragcore.offline.lists import listed, stems
from ragcore.offline.rows import Asked, Cell, Row, brief, is_change, is_share, row_of
from ragcore.protocols import Reranker
from ragcore.text import lexicon as lex
from ragcore.text.logistic import log_odds
from ragcore.text.names import LEGAL_FORMS
from ragcore.text.numbers import numbers, same_figure
from ragcore.text.periods import column_years, days_in, periods, spans_of_time, without_dates, without_parts, years
from ragcore.text.sentences import is_statement, says_something
from ragcore.text.terms import Wanted
from ragcore.text.words import Rarity, content_stems, name_stems, naming, tokens
from ragcore.types import Route, Source
from ragcore.types.question import Question

_LONGEST_LIST = 1500
_NUMBERING = "§ .()0123456789"
_OPENING = 3  # words of a sentence, one of which points back
_BULLET = re.compile(r"^(?:[•▪●◦·■□►➢✓*–—-]|o)\s+")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
_ITEM = re.compile(r"^(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]|\([A-Z]\))(?:\s|$)", re.IGNORECASE)
CANDIDATES = 60
_FARTHEST = 11.5  # log odds of relevance
# Weight of a source's relevance beside that of a quote in it.
SOURCE_WEIGHT = 0.5
# Log odds that a row gains whose whole name the question has.
NAMED_WEIGHT = 4.0
# Log odds that a quote gains with the requested thing in its usual words.
FIT_WEIGHT = 2.0
# Log odds between a quote of the span of time asked for and one of another.
SPAN_WEIGHT = 3.0
# Log odds that a quote loses that is of other years than the one asked for.
YEAR_WEIGHT = 5.0
# Log odds that what says a change gains, if one is asked for, with all words of what changed.
CHANGE_WEIGHT = 5.0
# Log odds that a row of a part loses, if the question does not name it.
PART_WEIGHT = 5.0
_YEAR = frozenset({12})
# Weight of a question's words beside a source's relevance, 0–1, in choosing candidates.
WORDS_WEIGHT = 0.5
# Weight of a question word found only in the title, section or heading of a quote.
AROUND = 0.5
# Agreement of a question's words with the name of a table that it asks for.
TABLE = 0.75
# Loss of worth in the document that the question names least.
ROUTE_WEIGHT = 0.5
# Characters of a candidate for the cross-encoder, whose time grows with them.
LONGEST_PASSAGE = 600
_TOTAL = frozenset(content_stems(" ".join(lex.TOTAL)))
_LEGAL_FORMS = frozenset(content_stems(" ".join(LEGAL_FORMS)))


@dataclass(frozen=True, slots=True)
class Quotable:
    """Units ``first``..``last`` of ``source``. ``text`` is the quoted text, ``passage`` the text judged, ``words`` its
    content stems, ``own`` those of the text alone, ``place`` those of its document, section and table. For a row,
    ``about`` names its table, ``name`` holds the stems of its own header and ``row`` is the row; ``rows`` are those of
    a list that it leads in, of which ``left`` items are left out. ``spans`` are the lengths in months of what it
    covers, by its words, else by what stands over it. ``before`` are units that are shown before it: what leads in
    the lists that it is in, and the preceding one if the text points back to it ("It ends …")."""

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
    left: int = 0
    before: tuple[int, ...] = ()
    spans: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()

    @property
    def marker(self) -> str:
        return marker(self.source, self.first, self.last)

    @property
    def parts(self) -> list[tuple[str, int, int]]:
        """What is shown, in order: each text with its first and last unit, or the beginning of a long row."""
        first, text = self.first, self.text if self.row is None else brief(self.text)
        if first - 1 in self.before and "\n" not in text:
            first, text = first - 1, self.source.words(first - 1, self.last)
        leads = (one for one in self.before if one < first)
        return [*((self.source.words(one, one), one, one) for one in leads), (text, first, self.last)]

    @property
    def units(self) -> frozenset[int]:
        """Units that are shown."""
        return frozenset((*self.before, *range(self.first, self.last + 1)))

    @property
    def start(self) -> int:
        return self.source.units[self.first - 1].start

    def narrowed(self, cell: Cell, text: str) -> Quotable:
        """Quoted row with only ``cell``, as ``text``."""
        assert self.row is not None
        named = (self.row.cells.index(cell),)
        row = replace(self.row, first=cell.number, last=cell.number, text=text, named=named)
        return replace(self, first=cell.number, last=cell.number, text=text, row=row)


def marker(source: Source, first: int, last: int) -> str:
    """Citation marker for units ``first`` to ``last`` of ``source``."""
    unit = f"{source.number}.{first}"
    return f"<<SOURCE {unit}>>" if first == last else f"<<SOURCE {unit}-{source.number}.{last}>>"


def quotables(
    question: Question, wanted: Wanted, sources: Sequence[Source], *, dated: bool = False
) -> Iterator[Quotable]:
    """All quotable parts, source by source in text order. A row is narrowed to the columns that ``question``, whose
    words are ``wanted``, names; in doubt it stays whole. ``dated``: what has a day is quotable, though it is no
    sentence."""
    days, quarters = frozenset(days_in(question.main)), periods(question.main).quarters
    # What changed in a year is told by it and the one before.
    around = question.years | {year - 1 for year in question.years if question.changes and len(question.years) == 1}
    asked = Asked(wanted.everything, around, days, _spans_of(question), quarters, question.changes)
    for source in sources:
        heading = source.section[-1] if source.section else ""
        section = heading
        levels, leads = [("", 0)], [0]  # of the lists that a line is in, and the units that lead them in
        # An AI's description is not the document's words.
        lines = [line for line in source.lines() if not source.units[line[0] - 1].generated]
        corner = ""
        for place, (first, last) in enumerate(lines):
            if source.units[first - 1].kind == "cell":
                row = row_of(source, asked, first, last)
                if row is not None:
                    yield _quotable(source, row.first, row.last, row.text, heading, replace(row, corner=corner))
                elif last > first and not any(unit.label for unit in source.units[first - 1 : last]):
                    corner = source.words(first, first)
                continue
            corner = ""
            labels = _labels(source, first, last)
            section = source.words(first, first) if source.units[first - 1].heading else section
            if source.units[first - 1].heading or not _goes_on(levels, labels):
                levels, leads = labels[:1], [0]
            if levels[-1][1] > 1 and len(levels) > len(leads):
                leads = [0] * len(levels)  # what the first items are below is not known
            leads[len(levels) - 1 :] = [_lead_in(source, first, last)]
            over = tuple(filter(None, leads[:-1]))
            for number in range(first, last + 1):
                text = source.words(number, number)
                rest = [(other, other) for other in range(number + 1, last + 1)]
                listed = _with_list(source, first, number, [*rest, *lines[place + 1 :]], asked)
                if listed is not None:
                    end, text, rows, left = listed
                    quote = _quotable(source, number, end, text, heading)
                    about = name_stems(section.lstrip(_NUMBERING))
                    yield replace(quote, rows=rows, left=left, before=over, name=about)
                elif _speaks(source, number, question) or (dated and days_in(text)):
                    back = number > first and _points_back(text)
                    judged = source.words(number - 1, number) if back else text
                    quote = _quotable(source, number, number, text, heading, judged=judged)
                    yield replace(quote, before=tuple(dict.fromkeys((*over, number - 1))) if back else over)
                    heading = text if source.units[number - 1].heading else heading
                elif first == last and any(character.isalpha() for character in text):
                    heading = text


def _lead_in(source: Source, first: int, last: int) -> int:
    """Unit of a line that leads in a list below it: its end with a colon or dash, or, of a list item, the first that
    says something; else 0."""
    if source.units[last - 1].heading:
        return 0
    if source.words(last, last).endswith((":", "—")):
        return last
    units = range(first, last + 1) if _labels(source, first, last)[0][0] else ()
    return next((n for n in units if is_statement(source.words(n, n))), 0)


def _speaks(source: Source, number: int, question: Question) -> bool:
    """Whether unit ``number`` may be an answer: a sentence, or as short as "Sponsor: Larkfield Ltd" an answer in its
    usual words; no editor's note in brackets, and no heading or line of capitals alone, unless it gives a day."""
    text = source.words(number, number)
    noted = text.startswith("[") and text.rstrip(".").endswith("]")
    heads = source.units[number - 1].heading and not days_in(text)
    titled = text.isupper() and not any(one.isdigit() or one in ":," for one in text)
    return not (noted or heads) if says_something(text) else not titled and fit(question.answer, text) == 1.0


def _with_list(
    source: Source, line: int, number: int, following: Sequence[tuple[int, int]], asked: Asked
) -> tuple[int, str, tuple[Row, ...], int] | None:
    """Unit ``number`` of a line that begins with unit ``line``, if it ends in a colon or dash, with the list items or
    table rows after it, as far as their levels of numbering go, or a heading with the items below it: the last unit,
    the text, an item a line, the rows, and how many items are left out. At most 1,500 characters, cut at an item's
    end."""
    parts = [source.words(number, number)]
    leads = parts[0].endswith((":", "—"))
    if not leads and not source.units[number - 1].heading:
        return None
    levels, end, left = _labels(source, line, number)[:1], number, 0
    rows: list[Row] = []
    for place, (first, last) in enumerate(following):
        labels, between = _labels(source, first, last), False
        if not labels[0][0] and leads and place + 1 < len(following):
            after = _labels(source, *following[place + 1])
            known = after[0][0] in {style for style, _ in levels[1:]} and _goes_on(list(levels), after)
            # A paragraph between two items, or the heading of some.
            between = known or (source.units[first - 1].heading and after[0][0] not in ("", "row"))
        is_cell = labels[0][0] == "row"
        row = row_of(source, asked, first, last) if is_cell else None
        words = _printed(source, first, last)
        if is_cell:
            words = brief(row.text) if row is not None else ""
        if (is_cell and not leads) or not (between or _goes_on(levels, labels)):
            break
        if left or sum(map(len, parts)) + len(words) > _LONGEST_LIST:
            left += not between
            continue
        end = last
        rows += [row] if row is not None else []
        if words:
            parts.append(words if not is_cell or len(parts) == 1 else f"| {words}")
    else:
        left += sum(1 for _ in takewhile(lambda item: _goes_on(levels, _labels_of(item, item=True)), source.after))
    return (end, "\n".join(parts), tuple(rows), left) if len(parts) > 1 or left else None


def _printed(source: Source, first: int, last: int) -> str:
    """Units ``first`` to ``last`` with the bullet before them, which belongs to no unit."""
    start = source.units[first - 2].end if first > 1 else source.start
    return source.between(start, source.units[last - 1].end)


def _labels(source: Source, first: int, last: int) -> list[tuple[str, int]]:
    """Style of a line, bullet, number or table row, with its place there, in each way it can be read; ("", 0) for other
    text."""
    if source.units[first - 1].kind == "cell":
        return [("row", 0)]
    return _labels_of(_printed(source, first, last), item=source.units[first - 1].item)


def _labels_of(text: str, *, item: bool) -> list[tuple[str, int]]:
    """`_labels` of the printed ``text`` of a line; that of an ``item`` without a bullet or number is "item"."""
    match = _ITEM.match(text)
    number = match.group().strip(" ().") if match is not None else ""
    if number.isdigit():
        return [("digit", int(number))]
    low = number.lower()
    roman = [("roman", _ROMAN.index(low) + 1)] if low in _ROMAN else []
    letter = [("upper" if number.isupper() else "lower", ord(low) - ord("a") + 1)] if len(low) == 1 else []
    return roman + letter or [("bullet" if _BULLET.match(text) else "item" if item else "", 0)]


def _goes_on(levels: list[tuple[str, int]], labels: Sequence[tuple[str, int]]) -> bool:
    """Whether an item with ``labels`` belongs to a list whose last items at each level of numbering are ``levels``,
    from that of its lead-in inwards; then it becomes the last of its level."""
    for depth in range(len(levels) - 1, -1, -1):
        for style, place in labels:
            if style and levels[depth] == (style, max(place - 1, 0)):
                levels[depth:] = [(style, place)]
                return depth > 0
    style, place = next((one for one in labels if one[1] < 2), labels[0])
    known = max((depth for depth, one in enumerate(levels) if one[0] == style), default=-1)
    # A number that begins no level goes on with one of which some are missing, or begins the list.
    if not style or ((place > 1 or style == "item") and (known == 0 or (known < 0 and len(levels) > 1))):
        return False
    levels[known if place > 1 and known > 0 else len(levels) :] = [(style, place)]
    return True


def _points_back(sentence: str) -> bool:
    return not lex.POINTING.isdisjoint(tokens(sentence)[:_OPENING])


def _quotable(
    source: Source, first: int, last: int, text: str, heading: str, row: Row | None = None, judged: str = ""
) -> Quotable:
    about = row.table if row is not None else ""
    where = " > ".join(part for part in (source.title, heading if heading not in about else "", about) if part)
    passage = f"{where}: {judged or text}"
    place = frozenset(content_stems(" ".join((source.title, *source.section, heading, about))))
    # A row quoted for one cell is also named by that cell's column, but for its period.
    alone = row is not None and len(row.named) == 1 and row.first == row.last
    column = without_parts(without_dates(row.cells[row.named[0]].column)) if row is not None and alone else ""
    name = (name_stems(row.head if row is not None else "") | (name_stems(column) - lex.SPAN_STEMS)) - _LEGAL_FORMS
    words, own = frozenset(content_stems(passage)), frozenset(content_stems(text))
    over = (text, about, row.corner if row is not None else "", heading, *reversed(source.section))
    spans = next(filter(None, map(spans_of_time, over)), frozenset[int]())
    # Columns that reading joined ("January 28, 2023 … January 29, 2022") are of no one year.
    cells = [cell.column for cell in row.cells] if row is not None else []
    columns = [column_years(column, source.lag) for column in cells if len(days_in(column)) < 2]
    named = frozenset[int]().union(*(columns if row is not None else [years(text)]))
    return Quotable(source, first, last, text, about, passage, words, place, own, name, row, spans=spans, years=named)


def _spans_of(question: Question) -> frozenset[int]:
    """Spans of time that ``question`` names, in months, or that what it goes on from does."""
    return spans_of_time(question.main) or spans_of_time(question.about)


def says_change(quote: Quotable) -> bool:
    """Whether a quote says by how much something changed: a row in a column of changes, a sentence by a word of change
    and an amount."""
    if quote.row is not None:
        return any(is_change(cell.column) for cell in quote.row.cells)
    amounts = any(number.percent or number.currency for number in numbers(quote.text))
    return amounts and not (lex.UP | lex.DOWN | lex.CHANGE).isdisjoint(tokens(quote.text))


def with_paragraph(quote: Quotable) -> str:
    """Sentence with the preceding text of its paragraph, which may name its subject."""
    first = next(first for first, last in quote.source.lines() if first <= quote.first <= last)
    return quote.source.words(first, quote.last) if quote.row is None else quote.passage


def without_repeats(quotes: Iterable[Quotable], most: int) -> list[Quotable]:
    """First ``most`` of ``quotes``, without repeats; of a sentence that is quoted already none is shown before another
    one again."""
    chosen: list[Quotable] = []
    for quote in quotes:
        if len(chosen) < most and not any(_is_same(quote, other) for other in chosen):
            given = {n for one in chosen if one.source is quote.source for n in one.units}
            chosen.append(replace(quote, before=tuple(one for one in quote.before if one not in given)))
    return chosen


def _is_same(one: Quotable, other: Quotable) -> bool:
    """Whether a quote repeats what another one shows: shared units, equal text, or nearly the same words."""
    if one.source.number == other.source.number and not other.units.isdisjoint(range(one.first, one.last + 1)):
        return True
    if one.text.lower() == other.text.lower():
        return True
    a, b = set(content_stems(one.text)), set(content_stems(other.text))
    return bool(a and b) and len(a & b) / len(a | b) >= 0.85


# Ranking


@dataclass(frozen=True, slots=True)
class Scored:
    """Quote with its relative ``worth``, 0–1, and the cross-encoder's ``relevance`` (None without one); ``odds`` are
    its log odds before they are made relative, without a cross-encoder those of its worth."""

    quote: Quotable
    worth: float
    relevance: float | None
    odds: float


class Ranking:
    """Ranker of quotes for ``question``, whose words are ``wanted``. ``routes`` are the documents that it names;
    ``names`` are the stems of their names in it. Of quotes from one document the cross-encoder reads the text
    ``alone``: what stands over it tells them little apart, and makes each less of an answer.

    A quote is worth what the cross-encoder says of it and of its source. That is trained on prose and long questions: a
    row gains as far as the question has its name, and a quote that looks like an answer. Without a cross-encoder its
    words decide.
    """

    def __init__(
        self, question: Question, wanted: Wanted, *, routes: Sequence[Route] = (), alone: bool = False
    ) -> None:
        self._alone = alone
        self._question = question
        self._wanted = wanted
        self._priors = {route.doc_id: route.prior for route in routes}
        self.names = frozenset(stem for route in routes for stem in content_stems(route.name))

    def best(self, found: list[Quotable], reranker: Reranker | None) -> list[tuple[Quotable, float]]:
        """`scored` as pairs of quote and worth."""
        return [(each.quote, each.worth) for each in self.scored(found, reranker)]

    def scored(self, found: list[Quotable], reranker: Reranker | None) -> list[Scored]:
        """The 60 best of ``found``, best first. Their words and sources choose the 60 that reach the cross-encoder."""
        if not found:
            return []
        sources = np.array([quote.source.score for quote in found])
        words, named, standing = self._cover(found), self._named(found), self._standing(found)
        changes = self._changes(found)
        fits = np.array([self.fit(quote) for quote in found])
        if reranker is None:
            worth = np.minimum(1.0, words + named + changes + FIT_WEIGHT / 10.0 * fits) * standing
            order, odds = np.argsort(-worth, kind="stable")[:CANDIDATES], odds_of(worth)
            return [Scored(found[i], float(worth[i]), None, float(odds[i])) for i in order]
        likely = sources + WORDS_WEIGHT * (words + named + changes + fits)
        near = np.sort(np.argsort(-likely * standing, kind="stable")[:CANDIDATES])
        passages = [(found[i].text if self._alone else found[i].passage)[:LONGEST_PASSAGE] for i in near]
        spoken = [found[i].words for i in near]
        relevance = self._wanted.relevance(passages, spoken, reranker.score)
        odds = odds_of(relevance)
        # A source without a score says nothing beside its quotes.
        around = np.where(sources[near] > 0.0, odds_of(sources[near]), odds)
        odds = (odds + SOURCE_WEIGHT * around) / (1.0 + SOURCE_WEIGHT)
        odds += NAMED_WEIGHT * named[near] + FIT_WEIGHT * fits[near] + CHANGE_WEIGHT * changes[near]
        odds += SPAN_WEIGHT * self._span([found[i] for i in near])
        odds -= YEAR_WEIGHT * self._of_other_years([found[i] for i in near])
        odds -= PART_WEIGHT * self.of_parts(found)[near]
        worth = spread(odds) * standing[near]
        order = np.lexsort((-odds, -worth))
        return [Scored(found[near[n]], float(worth[n]), float(relevance[n]), float(odds[n])) for n in order]

    def table(self, found: Sequence[Quotable]) -> list[Quotable]:
        """Rows of the table that the question names more closely than any row ("revenue by segment"), in the document
        that it names best; none without one."""
        asked = name_stems(self._question.main) - stems("task", "opening") - self.names
        heads = [quote.row for quote in found if quote.row is not None]
        closest = max((TABLE, *(agreement(name_stems(row.head), asked) for row in heads)))
        tables: dict[tuple[int, str], list[Quotable]] = {}
        for quote in found:
            for table in (quote.row.table, quote.row.corner) if quote.row is not None else ():
                tables.setdefault((quote.source.number, table), []).append(replace(quote, about=table))
        near: list[list[Quotable]] = []
        for (_, table), rows in tables.items():
            name = name_stems(table)
            if len(rows) > 1 and len(name) > 1 and name <= asked and agreement(name, asked) > closest:
                near.append(rows)
        return max(near, key=lambda rows: self.prior(rows[0].source.doc_id), default=[])

    def prior(self, doc_id: str) -> float:
        """How well the question names a document, 0–1, relative to the best-named one."""
        most = max(self._priors.values(), default=0.0)
        return self._priors.get(doc_id, 0.0) / most if most else 1.0

    def _standing(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """Worth of each quote by its document, 0–1, highest in the document that the question names best."""
        return np.array([1.0 - ROUTE_WEIGHT * (1.0 - self.prior(quote.source.doc_id)) for quote in found])

    def _named(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """How well the question names each row, 0–1 (`ragcore.text.words.naming`), less if it names another row that
        has all of this one's name and more, and not if only the row is a share. For a list, the agreement of its
        section's heading with the question, squared: its items don't say again what they are of."""
        asked, words = frozenset(self._wanted.words), self._wanted.everything
        whole = {one.name for one in found if one.row is not None and one.name and one.name <= words}
        longest = {name: max(len(other) for other in whole if name <= other) for name in whole}
        share = is_share(self._question.main)

        def named(row: Row, name: frozenset[str]) -> float:
            if is_share(row.head) and not share:
                return 0.0
            return naming(name, words) * (len(name) / longest.get(name, len(name) or 1)) ** 2

        return np.array(
            [named(one.row, one.name) if one.row is not None else agreement(one.name, asked) ** 2 for one in found]
        )

    @cached_property
    def _quantity(self) -> tuple[str, ...]:
        """Words of the question that say what is asked for, not of whom or when."""
        names = " ".join(name.text for name in self._question.names)
        other = frozenset(content_stems(names)) | _TOTAL | lex.SPAN_STEMS | self.names
        return tuple(word for word in self._wanted.words if not word.isdigit() and word not in other)

    def of_all(self, found: Sequence[Quotable]) -> NDArray[np.bool_]:
        """Whether each quote, with its headings, has all words of what is asked for that any row has."""
        known = [w for w in self._quantity if any(q.row is not None and self._wanted.has(w, q.words) for q in found)]
        return np.array([all(self._wanted.has(word, quote.words) for word in known) for quote in found], np.bool_)

    def of_parts(self, found: Sequence[Quotable]) -> NDArray[np.bool_]:
        """Whether each quote is a row of a part of what is asked for that the question does not name: its header, or
        what stands over it, has the header of a row in a table of what is asked for, or tables of other names have the
        row with other values."""
        if not self._quantity:
            return np.zeros(len(found), np.bool_)
        asked, parts = frozenset(self._wanted.everything), defaultdict[str, set[frozenset[str]]](set)
        for quote in found:
            own = name_stems(quote.row.head) if quote.row is not None else frozenset()
            over = frozenset(content_stems(_over(quote.row))) if quote.row is not None else frozenset()
            if own and own.isdisjoint(asked) and all(self._wanted.has(word, over) for word in self._quantity):
                parts[quote.source.doc_id].add(own)
        named = [
            name_stems(" ".join((_over(q.row), q.row.head, *q.source.section[-1:]))) if q.row else None for q in found
        ]
        out = np.array(
            [
                name is not None and any(part <= name for part in parts[quote.source.doc_id])
                for quote, name in zip(found, named)
            ]
        )
        beside, apart = self._beside(found)
        out |= beside
        # Words of the question that no whole has may name a part otherwise ("U.S." for "United States").
        words = [word for word in self._wanted.words if not word.isdigit() and word not in _TOTAL]
        asks = [word for word in words if any(self._wanted.has(word, quote.words) for quote in found)]
        wholes = (q for q, part in zip(found, out) if not part and (q.row is not None or _gives_amount(q, apart)))
        said = any(all(self._wanted.has(word, quote.words) for word in asks) for quote in wholes)
        return out if said else np.zeros(len(found), np.bool_)

    def _beside(self, found: Sequence[Quotable]) -> tuple[NDArray[np.bool_], frozenset[str]]:
        """Whether each quote is a row of what is asked for that several tables have, with the same columns and other
        values; none of the tables is named by the question. Also the stems that tell these tables apart."""
        asked = frozenset(self._wanted.everything)
        given = defaultdict[tuple[object, ...], dict[frozenset[str], str]](dict)
        keys = [self._cell_of(quote) for quote in found]
        for quote, key in zip(found, keys):
            if quote.row is not None and key:
                given[key][name_stems(_over(quote.row))] = quote.row.cells[quote.row.named[0]].text
        parts, apart = set[tuple[object, ...]](), set[str]()
        for key, tables in given.items():
            common = frozenset[str].intersection(*tables)
            own = [table - common for table in tables]
            repeated = any(same_figure(*pair) for pair in combinations(tables.values(), 2))
            if len(own) > 1 and all(own) and asked.isdisjoint(frozenset().union(*own)) and not repeated:
                parts.add(key)
                apart.update(*own)
        return np.array([key in parts for key in keys], np.bool_), frozenset(apart)

    def _cell_of(self, quote: Quotable) -> tuple[object, ...]:
        """Document, row, columns and number of a quote's only named cell, if the row has the name of what is asked for;
        else ()."""
        row = quote.row
        if row is None or len(row.named) != 1:
            return ()
        name, columns = name_stems(row.head), tuple(cell.column for cell in row.cells)
        asked = all(self._wanted.has(word, name) for word in self._quantity)
        return (quote.source.doc_id, name, columns, row.named) if asked else ()

    def fit(self, quote: Quotable) -> float:
        """Resemblance to an answer, 0–1, of a quote with half of the question's other words; 0 if it says who left an
        office and the question does not ask for that."""
        answer = self._question.answer
        left = listed("sentences", "former")
        left = left if left.isdisjoint(tokens(self._question.main)) else frozenset()
        if "PERSON" in answer.wants and not left.isdisjoint(tokens(quote.text)):
            return 0.0
        held = sum(self._wanted.has(word, quote.words) for word in answer.beside)
        return fit(answer, quote.text) if len(answer.beside) < 2 or 2 * held >= len(answer.beside) else 0.0

    def _changes(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """Share of the words of what changed, 0–1, squared as in `_named`, in each quote that says by how much, if that
        is asked for; else 0."""
        if not self._question.changes:
            return np.zeros(len(found))
        beside = stems("question", "changes") | lex.SPAN_STEMS
        own = [word for word in self._wanted.words if not (word in beside or word.isdigit())]
        held = [says_change(one) * sum(self._wanted.has(word, one.words) for word in own) for one in found]
        return (np.array(held, np.float64) / max(len(own), 1)) ** 2

    def _span(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """How much nearer each quote's span of time is to the one asked for than others are on average, −1 to 1, or, if
        none is asked for, to a year, which is what a row without a span is of. 0 for other quotes without one."""
        asked = _spans_of(self._question)
        own = [quote.spans or (_YEAR if quote.row is not None and not asked else frozenset()) for quote in found]
        share = (bool(asked & one) if asked else math.log2(max(one, default=3) / 3) / 2 for one in own)
        near, given = np.array(list(map(float, share))), np.array(list(map(bool, own)))
        return np.where(given, near - near[given].sum() / max(given.sum(), 1), 0.0)

    def _of_other_years(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """1 for each quote that names years, but none that is asked for; else 0."""
        asked = self._question.years
        return np.array([bool(asked and quote.years and asked.isdisjoint(quote.years)) for quote in found], np.float64)

    def _cover(self, found: Sequence[Quotable]) -> NDArray[np.float64]:
        """Share of the question's words in each candidate, weighted by rarity, 0–1; words only in its headings count
        half."""
        held = [self._wanted.held(quote.words) for quote in found]
        own = [self._wanted.held(quote.own) for quote in found]
        rarity = Rarity(held)
        total = rarity.total(self._wanted.words) or 1.0
        return np.array(
            [
                sum(rarity.of(word) * (1.0 if word in said else AROUND) for word in words) / total
                for words, said in zip(held, own)
            ]
        )


def _gives_amount(quote: Quotable, parts: frozenset[str]) -> bool:
    """Whether a sentence gives an amount, and none of the stems that name ``parts``."""
    amounts = any(not years(number.raw) for number in numbers(quote.text))
    return amounts and parts.isdisjoint(quote.own)


def _over(row: Row) -> str:
    """What stands over a row: its group, its table's name and corner."""
    return f"{row.name.removesuffix(row.head)} {row.table} {row.corner}"


def agreement(one: frozenset[str], other: frozenset[str]) -> float:
    """Overlap of two names, 0–1 (Dice's coefficient)."""
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def odds_of(relevance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log odds of relevance probabilities."""
    return np.array([log_odds(float(one), _FARTHEST) for one in relevance])


def spread(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log odds rescaled to 0–1, linear from −4 to 10: the cross-encoder is so certain that its probabilities hardly
    separate good candidates."""
    return np.clip((odds + 4.0) / 14.0, 0.0, 1.0)
