"""Requested table value: the cell of a certain row and column.

"What was 3M's capex in FY2018?" names a row ("Purchases of property, plant and equipment", by a synonym of the term), a
column (2018) and a document (3M's). If one of them is in doubt there is no value, only quotes: a reader takes a single
number for the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragcore.offline.intents import listed
from ragcore.offline.periods import PART_OF_YEAR, QUARTER, Asked, asked_of
from ragcore.offline.quotable import Quotable
from ragcore.offline.quote_ranking import Ranking, agreement, name_of, row_name
from ragcore.offline.rows import Cell, Row
from ragcore.text.numbers import length_in
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import content_stems, tokens, word_set
from ragcore.types.question import Question

# Required match of a row's name with the request, by the question's own words or a synonym of its term.
CERTAIN = 0.85
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
_COMPARES = word_set("change % percent variance increase decrease growth")


def certain(question: Question, terms: Sequence[Term], found: Sequence[Quotable], ranking: Ranking) -> Quotable | None:
    """Row of ``found`` narrowed to the requested cell; None if ``question`` does not ask for one, no row and column are
    certain, or equally certain ones differ."""
    text, words = question.main, tokens(question.main)
    asked = asked_of(text, Wanted(text, terms))
    # Computed from several cells, or stated in words.
    derived = question.answer.prose or question.changes or not listed("values", "derived").isdisjoint(words)
    opens = words[:1] in (["what"], ["what's"], ["how"], ["the"])
    if derived or not opens or len(asked.years) + len(asked.days) > 1:
        return None
    cells: list[tuple[float, Quotable, Cell]] = []
    for quote in found:
        cell = _cell(quote.row, asked) if quote.row is not None else None
        if quote.row is None or cell is None:
            continue
        fit = _fit(text, terms, quote, quote.row, cell, ranking.names)
        if fit >= CERTAIN:
            # Of equally matching rows, one in a statement precedes one in a summary.
            cells.append((fit * ranking.prior(quote.source.doc_id) * _standing(quote), quote, cell))
    if not cells:
        return None
    worth, quote, cell = max(cells, key=lambda each: each[0])
    if any(each == worth and not same_figure(cell.text, other.text) for each, _, other in cells):
        return None
    return narrowed(quote, cell)


def _standing(quote: Quotable) -> float:
    called = tokens(" ".join((*quote.source.section[-1:], quote.about)))
    return 0.9 if listed("values", "statements").isdisjoint(called) else 1.0


def _fit(question: str, terms: Sequence[Term], quote: Quotable, row: Row, cell: Cell, names: frozenset[str]) -> float:
    """Match of the row's name with ``question``, by its own words or a synonym of a term, 0–1; 0.0 if it has a word
    that the question lacks, or the question has one that neither it nor the cell's column nor its title has."""
    if not _same_kind(question, row):
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


def _same_kind(question: str, row: Row) -> bool:
    """Whether ``row`` can be the quantity in ``question`` and not a similarly named one: another kind, or a part."""
    asked, said = set(tokens(question)), set(tokens(_BRACKETS.sub(" ", row.head)))
    return asked & _QUALIFIERS == said & _QUALIFIERS and ("total" not in asked or "total" in said)


def _cell(row: Row, asked: Asked) -> Cell | None:
    """The cell of the requested period; None if there are others, or none states its period."""
    numeric = [place for place, cell in enumerate(row.cells) if _NUMBER.search(cell.text)]
    kept = numeric
    if asked.years or asked.days:
        kept = [place for place in row.named if place in numeric]
        if len(kept) > 1:
            kept = [place for place in kept if not _COMPARES & set(row.cells[place].column.lower().split())]
    elif len(row.cells) > 1:
        return None
    if len(kept) != 1:
        return None
    cell = row.cells[kept[0]]
    column = f"{row.table} {cell.column}"
    part = PART_OF_YEAR.search(column) or QUARTER.search(column)
    return cell if not (asked.years or asked.days) or bool(part) == bool(asked.quarters) else None


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


def narrowed(quote: Quotable, cell: Cell) -> Quotable:
    """``quote``, a row, narrowed to one cell."""
    assert quote.row is not None
    said = quote.row.of(cell)
    named = (quote.row.cells.index(cell),)
    row = replace(quote.row, first=cell.number, last=cell.number, text=said, shown=said, named=named)
    return replace(quote, first=cell.number, last=cell.number, text=said, row=row)
