"""Requested table values: the cell of a certain row and column, of two periods, or the extreme of a column.

"What was 3M's capex in FY2018?" names a row ("Purchases of property, plant and equipment", by a synonym of the term), a
column (2018) and a document (3M's). If one of them is in doubt there is no value, only quotes: a reader takes a single
number for the answer. For a superlative the figures of one column are compared, row by row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.offline.intents import listed, sums_up
from ragcore.offline.periods import PART_OF_YEAR, QUARTER, Asked, asked_of
from ragcore.offline.quotable import Quotable, marker
from ragcore.offline.quote_ranking import Ranking, agreement, name_of, row_name
from ragcore.offline.rows import Cell, Row
from ragcore.text.numbers import Number, length_in, numbers
from ragcore.text.periods import periods as periods_in
from ragcore.text.periods import years
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import content_stems, stem, tokens, word_set
from ragcore.types.question import Question

# Required match of a row's name with the request, by the question's own words or a synonym of its term.
CERTAIN = 0.85
MOST = 3
_FEWEST = 3  # figures compared
_LEAST_COVER = 0.5  # share of the question's words in the header, title and place of the comparison
_THOUSANDS = 3  # digits after a point, which may separate thousands
# Words of a question besides the name of the quantity.
_BESIDE = frozenset(
    content_stems("""
    amount value figure number total report reported reporting company year years fiscal financial quarter quarterly
    annual period ended ending end month months half million millions thousand thousands billion billions usd us
    dollar dollars euro euros unit units january february march april may june july august september october november
    december first second third fourth much many recorded record according make made level
    """)
)
_BRACKETS = re.compile(r"\([^()]*\)")
_NUMBER = re.compile(r"\d")
_DIGITS = re.compile(r"[^\d.]")
# Words that change the quantity though most are not content words: "other long-term debt" is the rest beside long-term
# debt. A row may have ``total`` where the question does not.
_QUALIFIERS = word_set("other before after excluding including except not non less gross loss losses")
_HELD = re.compile(r"\bat\s+(?:the\s+)?(?:year[- ]?)?end\b|\bas\s+(?:of|at)\b|\bbalances?\b", re.IGNORECASE)
_FLOWS = re.compile(r"\bcash\s+flows?\b|\bchanges?\s+in\b", re.IGNORECASE)
# Words in the names of statement groups that leave the row's meaning unchanged.
_GROUPS = frozenset(
    content_stems("""
    assets liabilities current noncurrent long term equity stockholders shareholders revenue revenues income expenses
    expense costs cost operating operations investing financing activities cash flows net sales earnings total data
    """)
)
_COMPARES = word_set("change % percent variance increase decrease growth")


@dataclass(frozen=True, slots=True)
class Value:
    """Cell of the row in ``quote``, and the ``title`` of its document if several are searched."""

    quote: Quotable
    cell: Cell
    title: str = ""

    @property
    def figure(self) -> str:
        """Value as printed."""
        return self.cell.text

    @property
    def marker(self) -> str:
        return marker(self.quote.source, self.cell.number, self.cell.number)


def values(question: Question, terms: Sequence[Term], found: Sequence[Quotable], ranking: Ranking) -> list[Value]:
    """Requested value, or those of the two requested periods, then differing values of other tables (three in all);
    none if ``question`` does not ask for such cells, or no row and column are certain."""
    text, words = question.main, tokens(question.main)
    asked = asked_of(text, Wanted(text, terms))
    periods = len(asked.years) + len(asked.days)
    # Computed from several cells, or stated in words.
    derived = question.extreme or question.answer.prose or not listed("values", "derived").isdisjoint(words)
    opens = words[:1] in (["what"], ["what's"], ["how"], ["the"])
    if derived or periods > 2 or (question.changes and periods != 2):
        return []
    if not opens and not (periods == 2 and question.changes):
        return []
    if periods > 1:
        text = " ".join(word for word in words if word not in listed("question", "changes"))
    certain: list[tuple[float, Quotable, tuple[Cell, ...]]] = []
    for quote in found:
        cells = _cells(quote.row, asked, periods) if quote.row is not None else ()
        fit = _fit(text, terms, quote, quote.row, cells[0], ranking.names) if quote.row is not None and cells else 0.0
        if fit >= CERTAIN:
            certain.append((fit, quote, cells))
    # Of equally matching rows, one in a statement precedes one in a summary.
    standing = ranking.standing([quote for _, quote, _ in certain])
    worth = [fit * float(at) * _standing(quote) for (fit, quote, _), at in zip(certain, standing)]
    order = sorted(range(len(certain)), key=lambda i: -round(worth[i], 6))
    several = len({quote.source.doc_id for quote in found}) > 1
    chosen: list[Value] = []
    for fit, quote, cells in (certain[i] for i in order):
        own = [Value(quote, cell, quote.source.title if several else "") for cell in cells]
        if len(own) > 1:
            return own
        new = not any(same_figure(own[0].figure, other.figure) for other in chosen)
        if new and fit >= certain[order[0]][0] and len(chosen) < MOST:
            chosen += own
    return chosen


def _standing(quote: Quotable) -> float:
    called = tokens(" ".join((*quote.source.section[-1:], quote.about)))
    return 0.9 if listed("values", "statements").isdisjoint(called) else 1.0


def _fit(question: str, terms: Sequence[Term], quote: Quotable, row: Row, cell: Cell, names: frozenset[str]) -> float:
    """Match of the row's name with ``question``, by its own words or a synonym of a term, 0–1; 0.0 if it has a word
    that the question lacks, or the question has one that neither it nor the cell's column nor its title has."""
    if not _same_kind(question, row, cell):
        return 0.0
    name = row_name(quote)
    asked = frozenset(word for word in content_stems(question) if not _NUMBER.search(word)) - names - _BESIDE
    around = frozenset(content_stems(f"{quote.source.title} {cell.column} {row.name}"))
    best = agreement(name, asked & name) if name <= asked and asked <= name | around else 0.0
    for term in terms:
        rest = asked - frozenset(content_stems(term.said))
        for other in term.same if rest <= name | around else ():
            called = content_stems(other)
            # "Property, plant and equipment" is not "purchases of property, plant and equipment".
            if called and called[0] in name and name <= name_of(other) | rest:
                best = max(best, agreement(name, name_of(other) | (rest & name)))
    return best


def _same_kind(question: str, row: Row, cell: Cell) -> bool:
    """Whether ``row`` can be the quantity in ``question`` and not a similarly named one: another kind, a part, its
    change, or another year's."""
    asked, said = set(tokens(question)), set(tokens(_BRACKETS.sub(" ", row.head)))
    if (asked & _QUALIFIERS) != (said & _QUALIFIERS) or ("total" in asked and "total" not in said):
        return False
    if _HELD.search(question) and _FLOWS.search(f"{row.table} {row.name}"):
        return False
    group = row.name.removesuffix(row.head)
    others = set(content_stems(group)) - _GROUPS - set(content_stems(question))
    if any(not word.isdigit() for word in others):
        return False
    return not years(group) or bool(years(group) & years(f"{question} {cell.column}"))


def _cells(row: Row, asked: Asked, periods: int) -> tuple[Cell, ...]:
    """The cell of the requested period, or the two of the two ``periods``; none if there are others, or none states its
    period."""
    numeric = [i for i, cell in enumerate(row.cells) if _NUMBER.search(cell.text)]
    if not periods:
        return (row.cells[numeric[0]],) if len(numeric) == 1 and len(row.cells) == 1 else ()
    kept = [i for i in row.named if i in numeric]
    if len(kept) > periods:
        kept = [i for i in kept if not _COMPARES & set(row.cells[i].column.lower().split())]
    if len(kept) != periods:
        return ()
    cells = tuple(row.cells[i] for i in kept)
    parts = [PART_OF_YEAR.search(f"{row.table} {c.column}") or QUARTER.search(f"{row.table} {c.column}") for c in cells]
    return cells if all(bool(part) == bool(asked.quarters) for part in parts) else ()


def same_figure(one: str, other: str) -> bool:
    """Whether two figures are one number, allowing for rounding and scale, or one duration."""
    lengths = length_in(one), length_in(other)
    if all(lengths):
        return lengths[0] == lengths[1]
    a, b = (_DIGITS.sub("", text).replace(".", "").strip("0") for text in (one, other))
    if not a or not b:
        return a == b
    short, long = sorted((a, b), key=len)
    if len(short) < 2:
        return short == long
    rounded = str(round(int(long) / 10 ** (len(long) - len(short))))
    return short in (long[: len(short)], rounded)


# Superlatives


@dataclass(frozen=True, slots=True)
class _Series:
    """Figures under one ``header``, with their names; ``place`` is the heading over the table."""

    header: frozenset[str]
    place: frozenset[str]
    items: tuple[tuple[str, Quotable, Cell], ...]


def extremes(question: Question, wanted: Wanted, found: Sequence[Quotable]) -> list[Quotable]:
    """Cells of the maximum or minimum in ``question``: one, or several that are equal; none if it asks for no extreme,
    or the comparison is not certain."""
    sign = question.extreme
    words = {stem(word) for name in ("most", "least") for word in listed("extremes", name)}
    asked = [one for one in wanted.words if one not in words and not one.isdigit()]
    if not sign or not asked:
        return []
    best: list[tuple[float, list[Quotable]]] = []
    for table in _tables(found):
        series = _down(table, wanted)
        best += [(_cover(each, asked, wanted), chosen) for each in series if (chosen := _most(each, sign))]
    best = sorted((each for each in best if each[0] >= _LEAST_COVER), key=lambda each: -each[0])
    if not best or (len(best) > 1 and best[1][0] == best[0][0]):
        return []
    return best[0][1]


def _tables(found: Sequence[Quotable]) -> Iterator[list[Quotable]]:
    """Rows of each table, in order: consecutive rows under the same title and headers, with distinct names."""
    table: list[Quotable] = []
    for quote in found:
        if quote.row is None:
            continue
        last = table[-1] if table else None
        follows = (
            last is not None
            and last.row is not None
            and quote.source is last.source
            and quote.row.table == last.row.table
            and bool({cell.column for cell in quote.row.cells} & {cell.column for cell in last.row.cells})
            and all(other.row is not None and other.row.name != quote.row.name for other in table)
        )
        if table and not follows:
            yield table
            table = []
        table.append(quote)
    if table:
        yield table


def _down(table: Sequence[Quotable], wanted: Wanted) -> Iterator[_Series]:
    """Columns of ``table`` that the question may be about: those with words of it in the header that no other has, or
    the only one."""
    rows = [quote.row for quote in table if quote.row is not None]
    columns = list(dict.fromkeys(cell.column for row in rows for cell in row.cells))
    headers = {column: wanted.held(frozenset(content_stems(column))) for column in columns}
    for column in columns:
        others = [held for other, held in headers.items() if other != column]
        if others and not headers[column].difference(*others):
            continue
        items = tuple(
            (quote.row.name, quote, cell)
            for quote in table
            if quote.row is not None and not sums_up(quote.row.head)
            for cell in quote.row.cells
            if cell.column == column
        )
        yield _Series(frozenset(content_stems(column)), table[0].place, items)


def _cover(series: _Series, asked: Sequence[str], wanted: Wanted) -> float:
    """Share of the question's words in the header or over the table."""
    given = series.header | series.place
    return sum(wanted.has(word, given) for word in asked) / len(asked)


def _most(series: _Series, sign: int) -> list[Quotable]:
    """Cells of the extreme; none if a figure cannot be read or compared."""
    amounts = amounts_of([cell.text for _, _, cell in series.items])
    if amounts is None or len(amounts) < _FEWEST:
        return []
    top = max(sign * amount for amount in amounts.values())
    chosen = [series.items[place] for place, amount in amounts.items() if sign * amount == top]
    return [_narrowed(quote, cell) for _, quote, cell in chosen] if len(chosen) < len(amounts) else []


def amounts_of(texts: Sequence[str]) -> dict[int, float] | None:
    """Figures of cells by index, or their dates if all are dates, leaving out cells without one. None if a cell has
    several, they count different things, or a point may separate thousands."""
    dates = {place: max(periods_in(text).dates, key=_day) for place, text in enumerate(texts) if periods_in(text).dates}
    if dates:
        plain = len(dates) == len(texts) and all(year for *_, year in dates.values())
        return {place: float(_day(date)) for place, date in dates.items()} if plain else None
    found = {place: numbers_in_cell(text) for place, text in enumerate(texts) if any(map(str.isdigit, text))}
    if any(len(given) != 1 for given in found.values()):
        return None
    single = {place: given[0] for place, given in found.items()}
    if len({number.kind for number in single.values() if number.kind}) > 1:
        return None
    places = {number.decimals for number in single.values()}
    if _THOUSANDS in places and len(places) > 1:
        return None
    return {place: number.amount for place, number in single.items()}


def numbers_in_cell(text: str) -> list[Number]:
    """Numbers of a cell; in a column of figures, "1900" is not a year."""
    return [Number(text, 0, float(text))] if text.strip().isdecimal() else numbers(text)


def _day(date: tuple[int, int, int]) -> int:
    month, day, year = date
    return (year * 12 + month) * 31 + day


def _narrowed(quote: Quotable, cell: Cell) -> Quotable:
    assert quote.row is not None
    said = quote.row.of(cell)
    named = (quote.row.cells.index(cell),)
    row = replace(quote.row, first=cell.number, last=cell.number, text=said, shown=said, named=named)
    return replace(quote, first=cell.number, last=cell.number, text=said, row=row)
