"""Extremes: the row with the highest or lowest value in the column that a question names, of the rows of its table that
were found.

No row says that it is the highest, so no ranking of rows finds it. Columns are ranked instead, each as one passage of
all of its values, beside the sentences, which may give the extreme in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.offline.quotes import Quotable
from ragcore.offline.ranking import Ranking
from ragcore.offline.rows import Cell, Row
from ragcore.protocols import Reranker
from ragcore.text import lexicon as lex
from ragcore.text.numbers import amounts_in
from ragcore.text.periods import years
from ragcore.text.words import content_stems, tokens
from ragcore.types.question import Question

LEAST = 3  # rows of a column that is compared
WORTH = 0.25  # least worth of a column
SHOWN = 3  # rows, the extreme first
_LONGEST_TITLE = 200  # characters
_SUM = 0.005  # relative difference of a total from the sum of the others


@dataclass(frozen=True, slots=True)
class Extreme:
    """Rows narrowed to their cell of one column, the highest or lowest first; ``compared`` counts all of them."""

    rows: tuple[Quotable, ...]
    compared: int


@dataclass(frozen=True, slots=True)
class _Value:
    quote: Quotable
    about: str
    cell: Cell
    row: Row
    amount: float = 0.0


def extreme(
    question: Question, found: Sequence[Quotable], ranking: Ranking, reranker: Reranker | None, floor: float
) -> Extreme | None:
    """Extreme that ``question`` asks for, in the column that it names best; None if it asks for none, or no column is
    worth ``floor``, the share of the best sentence's worth."""
    if not question.extreme:
        return None
    columns = list(_columns(found, question.years))
    passages = [_passage(values) for values in columns]
    best = next(iter(ranking.scored(passages, reranker)), None)
    if best is None or best.worth < max(floor, WORTH):
        return None
    chosen = next(values for values, passage in zip(columns, passages) if passage is best.quote)
    values = sorted(_parts(chosen), key=lambda value: -question.extreme * value.amount)
    rows = tuple(value.quote.narrowed(value.cell, value.row.of(value.cell)) for value in values[:SHOWN])
    return Extreme(rows, len(values))


def _columns(found: Sequence[Quotable], asked: frozenset[int]) -> Iterator[list[_Value]]:
    """Columns of figures with at least three rows: those of the ``asked`` years, or without a year."""
    columns: dict[tuple[str, tuple[str, ...], str, str], dict[int, _Value]] = {}
    above = ""
    for quote in found:
        if quote.row is None:
            above = quote.text[:_LONGEST_TITLE]
            continue
        about = quote.about or above  # a title that is no part of the table stands above it
        for cell in quote.row.cells:
            own = years(cell.column) or years(about)
            if not (asked and own and own.isdisjoint(asked)):
                key = (quote.source.doc_id, quote.source.section, about, cell.column)
                start = quote.source.units[cell.number - 1].start
                columns.setdefault(key, {})[start] = _Value(quote, about, cell, quote.row)
    for values in columns.values():
        amounts = amounts_in([value.cell.text for value in values.values()])
        given = [replace(value, amount=amount) for value, amount in zip(values.values(), amounts) if amount is not None]
        if len(given) >= LEAST:
            yield given


def _passage(values: Sequence[_Value]) -> Quotable:
    """Column as one passage."""
    first = values[0]
    column = ", ".join(part for part in (first.row.corner, first.cell.column) if part)
    listed = "; ".join(f"{value.row.name}: {value.cell.text}" for value in values)
    where = " > ".join(part for part in (first.quote.source.title, first.about, column) if part)
    text = f"{where}: {listed}"
    own = frozenset(content_stems(f"{first.about} {column}"))
    return replace(
        first.quote, text=text, passage=text, words=frozenset(content_stems(text)), own=own, name=frozenset(), row=None
    )


def _parts(values: Sequence[_Value]) -> list[_Value]:
    """``values`` without totals, which are called so or are the sum of the others, and without what is left over."""
    total = lex.TOTAL | lex.SUM | lex.REST
    parts = [one for one in values if total.isdisjoint(tokens(one.row.head))]
    most = max(parts, key=lambda one: one.amount, default=None)
    rest = sum(one.amount for one in parts) - (most.amount if most else 0.0)
    if most is not None and len(parts) > LEAST and abs(most.amount - rest) <= _SUM * abs(most.amount):
        parts.remove(most)
    return parts or list(values)
