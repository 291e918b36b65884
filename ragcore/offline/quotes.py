"""Quotes: parts of the sources that can be an answer alone: sentences, lead-ins with their lists, table rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile

from ragcore.offline.intents import fit
from ragcore.offline.rows import Asked, Cell, Row, brief, captioned, form_line, row_of
from ragcore.text import lexicon as lex
from ragcore.text.names import LEGAL_FORMS, filer
from ragcore.text.periods import (
    column_years,
    date_spans,
    days_in,
    month_spans,
    names_date,
    periods,
    spans_of_time,
    without_dates,
    without_parts,
    year_spans,
    years,
)
from ragcore.text.sentences import is_statement, says_something
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems, name_stems, tokens
from ragcore.types import Source
from ragcore.types.question import Question

_LONGEST_LIST, _LONGEST_PART = 3000, 1500  # characters of a whole list; of a part of a longer one
_LONGEST_ITEM = 200  # characters, on average, of the items of a list below a heading
_NUMBERING = "§ .()0123456789"
_OPENING = 3  # words of a sentence, one of which points back
_BULLET = re.compile(r"^(?:[•▪●◦·■□►➢✓*–—-]|o)\s+")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
ITEM = re.compile(r"^(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]|\([A-Z]\))(?:\s|$)", re.IGNORECASE)
_CUT = re.compile(r";(?:\s+(?:and|or|and/or))?$", re.IGNORECASE)  # end of a part of a sentence
_LEGAL_FORMS = frozenset(content_stems(" ".join(LEGAL_FORMS)))


@dataclass(frozen=True, slots=True)
class Quotable:
    """Units ``first``..``last`` of ``source``. ``text`` is the quoted text, ``passage`` the text judged, ``words`` its
    content stems, ``own`` those of the text alone, ``place`` those of its document, section and table. For a row,
    ``about`` names its table, ``name`` holds the stems of its own header and ``row`` is the row; a form's line ("Due
    date: 5 May") is a row with one cell. ``rows`` are those of a list that it leads in, of which ``left`` items are
    left out. ``spans`` are the lengths in months of what it covers, by its words, else by what stands over it.
    ``before`` are units that are shown before it: what leads in the lists that it is in, and the preceding one if the
    text points back to it ("It ends …")."""

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
    def at(self) -> tuple[str, int]:
        """Document, and offset in its text."""
        return self.source.doc_id, self.source.units[self.first - 1].start

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
    def header(self) -> frozenset[str]:
        """Stems of its row's own header, without the document's name and ``total``; none without a row."""
        return self.name & name_stems(self.row.head) if self.row is not None else frozenset()

    @property
    def opening(self) -> int:
        """First unit of its paragraph or row."""
        return next(first for first, last in self.source.lines() if first <= self.first <= last)

    @property
    def start(self) -> int:
        return self.source.units[self.first - 1].start

    @property
    def alone(self) -> Quotable:
        """Lead-in without its list; any other quote as it is."""
        lead = self.text.partition("\n")[0]
        listed = self.row is None and lead != self.text
        return replace(self, last=self.first, text=lead, rows=(), left=0) if listed else self

    def narrowed(self, cell: Cell, text: str) -> Quotable:
        """Quoted row with only ``cell``, as ``text``."""
        assert self.row is not None
        named = (self.row.cells.index(cell),)
        in_table = self.source.units[cell.number - 1].kind == "cell"
        first, last = (cell.number, cell.number) if in_table else (self.first, self.last)
        row = replace(self.row, first=first, last=last, text=text, named=named)
        return replace(self, first=first, last=last, text=text, row=row)


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
    asked = Asked(wanted.everything, around, days, spans_of(question), quarters, question.changes)
    for source in sources:
        heading = source.section[-1] if source.section else ""
        section = heading
        levels, leads = [("", 0)], [0]  # of the lists that a line is in, and the units that lead them in
        # An AI's description is not the document's words.
        lines = [line for line in source.lines() if not source.units[line[0] - 1].generated]
        corner, captions = "", captioned(source, lines)
        below = {number for row in captions.values() for number in range(row.first + 1, row.last + 1)}
        for place, (first, last) in enumerate(lines):
            if source.units[first - 1].kind == "cell":
                row = row_of(source, asked, first, last)
                if row is not None:
                    yield _quotable(source, row.first, row.last, row.text, heading, replace(row, corner=corner))
                elif last > first and not any(unit.label for unit in source.units[first - 1 : last]):
                    corner = source.words(first, first)
                continue
            corner = ""
            if (row := captions.get(first)) is not None:
                yield _quotable(source, row.first, row.last, row.text, heading, row)
                heading = row.cells[0].text
            if row is not None or first in below:
                continue
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
                opens = number == first and not source.units[number - 1].heading
                row = form_line(number, text) if opens else None
                if row is not None:
                    yield replace(_quotable(source, number, number, row.text, heading, row), before=over)
                    continue
                rest = [(other, other) for other in range(number + 1, last + 1)]
                listed = _with_list(source, first, number, [*rest, *lines[place + 1 :]], asked)
                if listed is not None:
                    end, text, rows, left = listed
                    quote = _quotable(source, number, end, text, heading)
                    about = name_stems(section.lstrip(_NUMBERING))
                    yield replace(quote, rows=rows, left=left, before=over, name=about)
                elif _speaks(source, number, question) or (dated and names_date(text)):
                    back = number > first and not lex.POINTING.isdisjoint(tokens(text)[:_OPENING])
                    judged = source.words(number - 1, number) if back else text
                    opening, end = _sentence(source, first, last, number)
                    end = end if number == opening else number
                    quote = _quotable(source, number, end, source.words(number, end), heading, judged=judged)
                    led = [opening] * (number > opening) + [number - 1] * back
                    yield replace(quote, before=tuple(sorted({*over, *led})))
                    heading = text if source.units[number - 1].heading else heading
                elif first == last and any(character.isalpha() for character in text):
                    heading = text


def _sentence(source: Source, first: int, last: int, number: int) -> tuple[int, int]:
    """First and last unit, within those of a line, of the sentence that unit ``number`` is in: a long one is cut before
    the items that it counts up (`ragcore.answer.sources`)."""

    def goes_on(at: int) -> bool:
        return bool(_CUT.search(source.words(at, at)) and ITEM.match(source.words(at + 1, at + 1)))

    opening, end = number, number
    while opening > first and goes_on(opening - 1):
        opening -= 1
    while end < last and goes_on(end):
        end += 1
    return opening, end


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
    heads = source.units[number - 1].heading and not names_date(text)
    titled = text.isupper() and not any(one.isdigit() or one in ":," for one in text)
    speaks = says_something(text) or (not titled and fit(question.answer, text) == 1.0)
    return speaks and not (noted or heads)


def _with_list(
    source: Source, line: int, number: int, following: Sequence[tuple[int, int]], asked: Asked
) -> tuple[int, str, tuple[Row, ...], int] | None:
    """Unit ``number`` of a line that begins with unit ``line``, if it ends in a colon or dash, with the list items or
    table rows after it, as far as their levels of numbering go, behind a colon else the next sentence or paragraph, or
    a heading with the items below it: the last unit, the text, an item a line, the rows, and how many items are left
    out. At most 3,000 characters; of a longer 1,500, cut at an item's end."""
    opening = source.words(number, number)
    leads = opening.endswith((":", "—"))
    if not leads and not source.units[number - 1].heading:
        return None
    levels, items, beyond = _labels(source, line, number)[:1], list[_Item](), 0
    for place, (first, last) in enumerate(following):
        labels, between = _labels(source, first, last), False
        if not labels[0][0] and leads and place + 1 < len(following):
            after = _labels(source, *following[place + 1])
            if after[0][0] == "row" and source.words(last, last).endswith(":"):
                break  # introduces a table of its own
            known = after[0][0] in {style for style, _ in levels[1:]} and _goes_on(list(levels), after)
            # A paragraph between two items, or the heading of some.
            between = known or (source.units[first - 1].heading and after[0][0] not in ("", "row"))
        is_cell = labels[0][0] == "row"
        if (is_cell and not leads) or not (between or _goes_on(levels, labels)):
            break
        row = row_of(source, asked, first, last) if is_cell else None
        words = ("" if row is None else brief(row.text)) if is_cell else _printed(source, first, last)
        items.append(_Item(last, f"| {words}" if words and is_cell and items else words, row, between))
    else:
        beyond = sum(1 for _ in takewhile(lambda item: _goes_on(levels, _labels_of(item, item=True)), source.after))
    announces = opening.endswith(":") and not source.units[number - 1].heading
    if announces and not items and following and _is_prose(source, *following[0]):
        items.append(_Item(following[0][1], source.words(*following[0]), None, between=True))
    lengths = list(accumulate((len(item.text) for item in items), initial=len(opening)))[1:]
    whole = bool(lengths) and not beyond and lengths[-1] <= _LONGEST_LIST
    most = _LONGEST_LIST if whole else _LONGEST_PART
    shown = [item for item, length in zip(items, lengths) if length <= most]
    left = beyond + sum(not item.between for item in items[len(shown) :])
    if not shown and not left:
        return None
    if not leads and len(" ".join(item.text for item in shown)) > _LONGEST_ITEM * len(shown):
        return None  # paragraphs below a heading
    rows = tuple(item.row for item in shown if item.row is not None)
    text = "\n".join(filter(None, (opening, *(item.text for item in shown))))
    return shown[-1].last if shown else number, text, rows, left


def _is_prose(source: Source, first: int, last: int) -> bool:
    """Whether units ``first`` to ``last`` of a line are a sentence or more, of no table."""
    unit = source.units[first - 1]
    return unit.kind != "cell" and not unit.heading and says_something(source.words(first, last))


@dataclass(frozen=True, slots=True)
class _Item:
    """Item or row of a list, to unit ``last``; ``between``: a paragraph between two items."""

    last: int
    text: str
    row: Row | None
    between: bool


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
    match = ITEM.match(text)
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
    if row is not None and (lex.TOTAL_STEMS | _LEGAL_FORMS) & set(content_stems(row.head)):
        called = frozenset(content_stems(filer(source.title))) - _LEGAL_FORMS  # "Total Nike, Inc. revenues" are its own
        name = name - called if called < name else name
    words, own = frozenset(content_stems(passage)), frozenset(content_stems(text))
    over = (text, about, row.corner if row is not None else "", heading, *reversed(source.section))
    spans = next(filter(None, map(spans_of_time, over)), frozenset[int]())
    # Columns that reading joined ("January 28, 2023 … January 29, 2022") are of no one year.
    cells = [cell.column for cell in row.cells] if row is not None else []
    columns = [column_years(column, source.fiscal) for column in cells if len(days_in(column)) < 2]
    in_columns = row is not None and not row.is_form_line
    named = frozenset[int]().union(*(columns if in_columns else [years(text)]))
    if row is None and named:  # "rose to 5% from 4% in 2021" may be said of the year in its heading
        named |= years(heading)
    if row is not None and not named:
        over_row = map(_years_of, (*reversed(row.name.removesuffix(row.head).split(" / ")), about))
        named = next((of for of in over_row if len(of) == 1), named)
    return Quotable(source, first, last, text, about, passage, words, place, own, name, row, spans=spans, years=named)


def _years_of(over: str) -> frozenset[int]:
    """Years that what stands over a row says it is of: of a day, "in 2016", or a year alone; not "2021 Equity Plan"."""
    if over.lower().removeprefix("fiscal").strip(" :").isdigit():
        return frozenset(years(over))
    return frozenset(years(" ".join(over[a:b] for a, b in (*date_spans(over), *month_spans(over), *year_spans(over)))))


def spans_of(question: Question) -> frozenset[int]:
    """Spans of time that ``question`` names, in months, or that what it goes on from does."""
    return spans_of_time(question.main) or spans_of_time(question.about)


def with_paragraph(quote: Quotable) -> str:
    """Sentence with the preceding text of its paragraph, which may name its subject."""
    return quote.source.words(quote.opening, quote.last) if quote.row is None else quote.passage


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
