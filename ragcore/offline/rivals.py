"""Different values that the sources give for one field: what a person has to decide between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragcore.offline.durations import length_asked
from ragcore.offline.field_names import Wish, wish
from ragcore.offline.field_rows import candidates, in_statements, latest_year
from ragcore.offline.field_sentences import said
from ragcore.offline.quotable import Quotable, marker, quotables
from ragcore.offline.values import same_figure
from ragcore.text.companies import of_others
from ragcore.text.terms import Term, Wanted
from ragcore.types import Source
from ragcore.types.report import NOTHING_STATED, KnownFacts

MOST = 6


@dataclass(frozen=True, slots=True)
class _Given:
    figure: str
    words: str
    marker: str
    year: int


def rivals(
    heading: str,
    piece: str,
    unit: str,
    terms: Sequence[Term],
    sources: Sequence[Source],
    stated: KnownFacts = NOTHING_STATED,
) -> list[list[tuple[str, str, str]]]:
    """``(figure, words that give it, marker)`` of each different figure that ``sources`` give for what ``piece`` of the
    guidance under ``heading`` asks for and the latest period, best first, for each company on which they disagree.

    Only what is certain counts, as for `ragcore.offline.value_fields`: within a document a statement of the whole
    stands before other tables and tables before sentences."""
    asked = wish(heading, piece, unit, terms, stated.year)
    if asked.sort == "words":
        return []
    everything = f"{heading} {piece}"
    found = in_statements(list(quotables(everything, Wanted(everything, terms), sources)), stated.statements)
    out = []
    for documents in _by_company(dict.fromkeys(source.doc_id for source in sources), stated):
        given = [one for doc_id in documents for one in _of(doc_id, found, asked, stated)]
        last = max((one.year for one in given), default=0)
        distinct: list[_Given] = []
        for one in given:
            if one.year in (0, last) and not any(same_figure(one.figure, other.figure) for other in distinct):
                distinct.append(one)
        if len(distinct) > 1:
            out.append([(one.figure, one.words, one.marker) for one in distinct[:MOST]])
    return out


def _by_company(documents: Iterable[str], stated: KnownFacts) -> list[list[str]]:
    """``documents`` with those together that may be of one company."""
    groups: list[list[str]] = []
    for doc_id in documents:
        own = stated.companies.get(doc_id, ())
        together = (g for g in groups if not any(of_others(own, stated.companies.get(other, ())) for other in g))
        group = next(together, None)
        if group is None:
            groups.append([doc_id])
        else:
            group.append(doc_id)
    return groups


def _of(doc_id: str, found: Sequence[Quotable], asked: Wish, stated: KnownFacts) -> list[_Given]:
    """What one document gives, of its best kind of place."""
    own = [quote for quote in found if quote.source.doc_id == doc_id]
    cells = candidates(asked, own, stated)
    first = max((one.standing for one in cells), default=None)
    given = [
        _Given(
            one.cell.text,
            one.row.of(one.cell),
            marker(one.quote.source, one.cell.number, one.cell.number),
            one.period[0],
        )
        for one in cells
        if one.standing == first
    ]
    if given or (asked.annual and doc_id in stated.interim):
        return given
    latest = latest_year(own, doc_id, stated)
    plain = [_Given(one.figure, one.quote.text, one.quote.marker, one.period[0]) for one in said(asked, own, latest)]
    if plain or asked.sort != "duration":
        return plain
    length = length_asked(*asked.asked, own)
    return [_Given(length.figure, length.quote.text, length.quote.marker, 0)] if length else []
