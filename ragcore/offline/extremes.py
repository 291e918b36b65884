"""Extremes: the highest or lowest value of the series that a question names, in a column or a row of a table.

No cell says that it is the highest, so no ranking of rows finds it. Series are ranked instead, each as one passage of
all of its values, beside the sentences, which may give the extreme in words. A column is compared down its rows, a row
across its periods, or across the parts that its columns are of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from ragcore.offline.quotes import Quotable
from ragcore.offline.ranking import Ranking
from ragcore.offline.rows import Cell, Row, is_change
from ragcore.protocols import Reranker
from ragcore.text import lexicon as lex
from ragcore.text.numbers import amounts_in, numbers
from ragcore.text.periods import period_spans, spans_of_time, years
from ragcore.text.words import content_stems, name_stems, stem, tokens, word_set
from ragcore.types.question import Question

LEAST = 3  # values that are compared; of a row's periods two do
WORTH = 0.25  # least worth of a series
SHOWN = 3  # values, the extreme first
_LONGEST_TITLE = 200  # characters
_SUM = 0.005  # relative difference of a total from the sum of the others
_WHICH: Final = word_set("which what")
_MONTHS: Final = {stem("year"): 12, stem("quarter"): 3, stem("month"): 1}  # of the periods that are asked for
_NEAR = 6  # words after "which" in which the period stands: "which of the last three years"
# Stems of a question that say nothing of what is compared.
_BESIDE: Final = frozenset(map(stem, lex.SUPERLATIVES)) | _MONTHS.keys()


@dataclass(frozen=True, slots=True)
class Extreme:
    """Rows narrowed to one cell of a series, the highest or lowest first; ``compared`` counts all of its values."""

    rows: tuple[Quotable, ...]
    compared: int


@dataclass(frozen=True, slots=True)
class _Value:
    quote: Quotable
    cell: Cell
    row: Row
    label: str
    amount: float = 0.0


@dataclass(frozen=True, slots=True)
class _Series:
    """``values`` of what ``name`` says, in the table ``about``, whose headers stand under ``corner``."""

    name: str
    about: str
    corner: str
    values: tuple[_Value, ...]

    def passage(self, asked: Set[str]) -> Quotable:
        """All values as one passage. It is called by its name, and by the words ``asked`` that say what it is of."""
        first = self.values[0].quote
        listed = "; ".join(f"{value.label}: {value.cell.text}" for value in self.values)
        name = ", ".join(part for part in (self.corner, self.name) if part)
        where = " > ".join(part for part in (first.source.title, self.about, name) if part)
        text, own = f"{where}: {listed}", name_stems(self.name)
        called = own | asked & frozenset(content_stems(self.corner))
        return replace(
            first, text=text, passage=text, words=frozenset(content_stems(text)), own=own, name=called, row=None
        )

    @property
    def parts(self) -> list[_Value]:
        """Values without totals, which are called so or are the sum of the others, and without what is left over."""
        total = lex.TOTAL | lex.SUM | lex.REST
        parts = [one for one in self.values if total.isdisjoint(tokens(one.label))]
        most = max(parts, key=lambda one: one.amount, default=None)
        rest = sum(one.amount for one in parts) - (most.amount if most else 0.0)
        if most is not None and len(parts) > LEAST and abs(most.amount - rest) <= _SUM * abs(most.amount):
            parts.remove(most)
        return parts or list(self.values)


def extreme(
    question: Question, found: Sequence[Quotable], ranking: Ranking, reranker: Reranker | None, floor: float
) -> Extreme | None:
    """Extreme that ``question`` asks for, in the series that it names best; None if it asks for none, or no series is
    worth ``floor``, the share of the best sentence's worth."""
    if not question.extreme:
        return None
    months = _months_asked(question)
    read = (*_columns(found, question.years), *_rows(found, question.years))
    series = [one for each in read if (one := _fitting(each, months)) is not None]
    asked = frozenset(content_stems(question.main))
    passages = [one.passage(asked) for one in series]
    best = next(iter(ranking.without(_BESIDE).scored(passages, reranker)), None)
    if best is None or best.worth < max(floor, WORTH):
        return None
    chosen = next(one for one, passage in zip(series, passages) if passage is best.quote)
    values = sorted(chosen.parts, key=lambda value: -question.extreme * value.amount)
    return Extreme(
        tuple(value.quote.narrowed(value.cell, value.row.of(value.cell)) for value in values[:SHOWN]), len(values)
    )


def _months_asked(question: Question) -> int | None:
    """Length in months of the period that is asked for ("which quarter"), 0 for any ("when"); None if none is."""
    words = [stem(word) for word in tokens(question.main)]
    after = [words[at + 1 : at + _NEAR] for at, word in enumerate(words) if word in _WHICH]
    named = (_MONTHS[word] for words in after for word in words if word in _MONTHS)
    return next(named, 0 if words[:1] == ["when"] else None)


def _fitting(series: _Series, months: int | None) -> _Series | None:
    """``series`` of periods of the length that is asked for, as far as they say theirs, or of other things if no period
    is; None if it is of neither."""
    periods = [bool(period_spans(one.label)) for one in series.values]
    if months is None:
        return series if len(periods) >= LEAST and 2 * sum(periods) < len(periods) else None
    spans = [spans_of_time(one.label) for one in series.values]
    values = tuple(one for one, span in zip(series.values, spans) if not (months and span) or months in span)
    return replace(series, values=values) if all(periods) and len(values) > 1 else None


def _columns(found: Sequence[Quotable], asked: frozenset[int]) -> Iterator[_Series]:
    """Columns of at least three figures, whole and within each group of rows ("Revenue / …"): those of the ``asked``
    years, or without a year. Of a form's lines only amounts, shares and measures can be compared: others are numbers of
    something."""
    columns: dict[tuple[str, tuple[str, ...], str, str, str], dict[int, _Value]] = {}
    above = ""
    for quote in found:
        if quote.row is None:
            above = quote.text[:_LONGEST_TITLE]
            continue
        about = quote.about or above  # a title that is no part of the table stands above it
        group = quote.row.name.rpartition(" / ")[0]
        for cell in quote.row.cells:
            if quote.row.is_form_line and not any(number.kind for number in numbers(cell.text)):
                continue
            own = years(cell.column) or years(about)
            if not (asked and own and own.isdisjoint(asked)):
                value = _Value(quote, cell, quote.row, quote.row.name)
                start = quote.source.units[cell.number - 1].start
                for within in {"", group}:
                    key = (quote.source.doc_id, quote.source.section, about, within, cell.column)
                    columns.setdefault(key, {})[start] = value
    for (_, _, about, group, column), values in columns.items():
        figures = _figures([*values.values()])
        if len(figures) >= LEAST:
            name = ", ".join(part for part in (group, column) if part)
            yield _Series(name, about, figures[0].row.corner, figures)


def _rows(found: Sequence[Quotable], asked: frozenset[int]) -> Iterator[_Series]:
    """Rows of at least two figures: those of single periods, and those of other things, in the ``asked`` years or
    without a year."""
    for quote in found:
        if quote.row is None:
            continue
        row, about = quote.row, quote.about
        values = [_Value(quote, cell, row, cell.column) for cell in row.cells if not is_change(cell.column)]
        dated = _figures([one for one in values if len(years(one.label)) == 1])
        if len(dated) > 1:
            yield _Series(row.name, about, "", dated)
        own = years(row.name) or years(about)
        others = _figures([one for one in values if one.label and not years(one.label)])
        if len(others) > 1 and not (asked and own and own.isdisjoint(asked)):
            yield _Series(row.name, about, "", others)


def _figures(values: Sequence[_Value]) -> tuple[_Value, ...]:
    """``values`` with their amounts, without those that are no figures."""
    amounts = amounts_in([value.cell.text for value in values])
    return tuple(replace(value, amount=amount) for value, amount in zip(values, amounts) if amount is not None)
