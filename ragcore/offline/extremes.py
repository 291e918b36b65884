"""Superlatives over a table: the row, or the column, with the most or the least of what a question asks for.

Decided by structure alone: the figures of one column are compared, row by row, where the question is certainly about
that column; where it may be about another, there is no answer here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.offline.intents import extreme_of, sums_up
from ragcore.offline.quotable import Quotable
from ragcore.offline.rows import Cell
from ragcore.text.numbers import Number, numbers
from ragcore.text.periods import periods
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems, stem

_FEWEST = 3  # figures that are compared
_LEAST_COVER = 0.5  # of the question's words by the header, the title and the place of what is compared
_THOUSANDS = 3  # digits behind a point, which may part thousands


@dataclass(frozen=True, slots=True)
class _Series:
    """Figures under one ``header``, with the names of what they are of; ``place`` is what stands over the table."""

    header: frozenset[str]
    place: frozenset[str]
    items: tuple[tuple[str, Quotable, Cell], ...]


def extremes(question: str, wanted: Wanted, found: Sequence[Quotable]) -> list[Quotable]:
    """The cells of the most, or the least, of what ``question`` asks for: one, or several that are equal; none where it
    asks for no extreme, or what is compared is not certain."""
    word, sign = extreme_of(question)
    asked = [one for one in wanted.words if one != stem(word) and not one.isdigit()]
    if not sign or not asked:
        return []
    best: list[tuple[float, list[Quotable]]] = []
    for table in _tables(found):
        series = [*_across(table, wanted), *_down(table, wanted)]
        best += [(_cover(each, asked, wanted), chosen) for each in series if (chosen := _most(each, sign))]
    best = sorted((each for each in best if each[0] >= _LEAST_COVER), key=lambda each: -each[0])
    if not best or (len(best) > 1 and best[1][0] == best[0][0]):
        return []
    return best[0][1]


def _tables(found: Sequence[Quotable]) -> Iterator[list[Quotable]]:
    """The rows of each table, in order: those that follow one another under the same title and headers, no two of the
    same name."""
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
    """The columns of ``table`` that the question may be about: those whose header has words of it that no other has, or
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


def _across(table: Sequence[Quotable], wanted: Wanted) -> Iterator[_Series]:
    """The rows of ``table`` that the question names, their columns compared."""
    for quote in table:
        if quote.row is not None and _names(quote, wanted):
            items = tuple((cell.column, quote, cell) for cell in quote.row.cells if not sums_up(cell.column))
            header = frozenset(content_stems(quote.row.name))
            yield _Series(header, quote.place, items)


def _names(quote: Quotable, wanted: Wanted) -> bool:
    """Whether the question holds the whole name of a row."""
    name = frozenset(content_stems(quote.row.head)) if quote.row is not None else frozenset()
    return bool(name) and name <= wanted.everything


def _cover(series: _Series, asked: Sequence[str], wanted: Wanted) -> float:
    """The share of the question's words that stand in the header or over the table."""
    given = series.header | series.place
    return sum(wanted.has(word, given) for word in asked) / len(asked)


def _most(series: _Series, sign: int) -> list[Quotable]:
    """The cells of the extreme; none where a figure can't be told or compared."""
    amounts = amounts_of([cell.text for _, _, cell in series.items])
    if amounts is None or len(amounts) < _FEWEST:
        return []
    top = max(sign * amount for amount in amounts.values())
    chosen = [series.items[place] for place, amount in amounts.items() if sign * amount == top]
    return [_narrowed(quote, cell) for _, quote, cell in chosen] if len(chosen) < len(amounts) else []


def amounts_of(texts: Sequence[str]) -> dict[int, float] | None:
    """The figures of cells by their place, or their days where all are dates; cells without one are left out. None
    where one holds several, they count different things, or a point may part thousands."""
    dates = {place: max(periods(text).dates, key=_day) for place, text in enumerate(texts) if periods(text).dates}
    if dates:
        plain = len(dates) == len(texts) and all(year for *_, year in dates.values())
        return {place: float(_day(date)) for place, date in dates.items()} if plain else None
    found = {place: _numbers(text) for place, text in enumerate(texts) if any(map(str.isdigit, text))}
    if any(len(given) != 1 for given in found.values()):
        return None
    single = {place: given[0] for place, given in found.items()}
    if len({number.kind for number in single.values() if number.kind}) > 1:
        return None
    places = {number.decimals for number in single.values()}
    if _THOUSANDS in places and len(places) > 1:
        return None
    return {place: number.amount for place, number in single.items()}


def _numbers(text: str) -> list[Number]:
    """Those of a cell; among figures, "1900" is no year."""
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
