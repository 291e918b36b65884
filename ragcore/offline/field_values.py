"""Report value without a model: the one certain row or sentence, else none; and disagreements between documents.

A wrong value is worse than none, since the reader copies it. If tables, or sentences, of one document give different
values for the same period and none of them is a statement of the whole, there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragcore.offline.field_rows import Candidate, candidates, in_statements, latest_year, of_owners
from ragcore.offline.field_sentences import Said, described, in_words, named, said, whole_of
from ragcore.offline.fields import Wish, wish
from ragcore.offline.periods import day_of, is_part, spans_time
from ragcore.offline.question import requirement
from ragcore.offline.quotable import Quotable, marker, quotables
from ragcore.offline.rows import scale_of
from ragcore.offline.statements import period_of
from ragcore.offline.values import same_figure
from ragcore.protocols import Rival
from ragcore.text.companies import of_others
from ragcore.text.markdown import escape
from ragcore.text.terms import Term, Wanted
from ragcore.types import Source
from ragcore.types.report import NOTHING_STATED, KnownFacts

_FINAL_PUNCTUATION = " .:;,…–—-"
MOST_RIVALS = 6


@dataclass(frozen=True, slots=True)
class FieldValue:
    """Value as Markdown ``text`` with markers, and the ``quote`` it comes from."""

    quote: Quotable
    text: str


def value_field(
    heading: str,
    piece: str,
    unit: str,
    terms: Sequence[Term],
    found: Sequence[Quotable],
    own: Sequence[Quotable],
    stated: KnownFacts = NOTHING_STATED,
) -> list[FieldValue]:
    """Values that ``piece`` of the guidance under ``heading`` asks for, at most one per document of ``found``; ``own``
    are the quotes under such a heading, ``stated`` the known facts about their documents."""
    asked = wish(heading, piece, unit, terms, stated.year)
    found = in_statements(found, stated.statements)
    cells = candidates(asked, found, stated)
    out = []
    for doc_id in dict.fromkeys(quote.source.doc_id for quote in found):
        inside = [quote for quote in found if quote.source.doc_id == doc_id]
        of_cells = [cell for cell in cells if cell.quote.source.doc_id == doc_id]
        value = _of_cells(of_cells or of_owners(asked, inside, stated))
        if value is None and not of_cells:
            under = [quote for quote in own if quote.source.doc_id == doc_id]
            value = _of_sentences(asked, inside, under, stated, doc_id)
        if value is not None:
            out.append(value)
    return out


def rivals(
    heading: str,
    piece: str,
    unit: str,
    terms: Sequence[Term],
    sources: Sequence[Source],
    stated: KnownFacts = NOTHING_STATED,
) -> list[list[Rival]]:
    """Conflicting values in ``sources`` for ``piece`` of the guidance under ``heading`` in the latest period, best
    first, for each company with a conflict. Only certain values count: within a document a statement of the whole
    precedes other tables, and tables precede sentences."""
    asked = wish(heading, piece, unit, terms, stated.year)
    if asked.sort == "words":
        return []
    everything = f"{heading} {piece}"
    found = in_statements(
        list(quotables(requirement(everything), Wanted(everything, terms), sources)), stated.statements
    )
    out = []
    for documents in _by_company(dict.fromkeys(source.doc_id for source in sources), stated):
        given = [one for doc_id in documents for one in _given(doc_id, found, asked, stated)]
        last = max((one.year for one in given), default=0)
        distinct: list[Rival] = []
        for one in given:
            if one.year in (0, last) and not any(same_figure(one.figure, other.figure) for other in distinct):
                distinct.append(one)
        if len(distinct) > 1:
            out.append(distinct[:MOST_RIVALS])
    return out


def _of_cells(cells: Sequence[Candidate]) -> FieldValue | None:
    last = max((cell.period[0] for cell in cells), default=0)
    groups: list[list[Candidate]] = []
    for cell in cells:
        if cell.period[0] != last:
            continue
        group = next((group for group in groups if same_figure(group[0].cell.text, cell.cell.text)), None)
        groups.append([cell]) if group is None else group.append(cell)
    ranked = sorted(((max(cell.standing for cell in group), len(group)), index) for index, group in enumerate(groups))
    if not ranked or (len(ranked) > 1 and ranked[-1][0] == ranked[-2][0]):
        return None
    best = max(groups[ranked[-1][1]], key=lambda cell: (cell.standing, cell.fit, cell.period, cell.quote.source.score))
    row, source = best.row, best.quote.source
    number, scale = scale_of(source, row)
    about = row.table.rstrip(_FINAL_PUNCTUATION)
    where = f"{escape(about)}: " if about else ""
    note = f" ({escape(scale)} {marker(source, number, number)})" if scale else ""
    cited = marker(source, best.cell.number, best.cell.number)
    return FieldValue(best.quote, f"**{escape(best.cell.text)}** — {where}“{escape(row.of(best.cell))}” {cited}{note}")


def _of_sentences(
    asked: Wish, found: Sequence[Quotable], own: Sequence[Quotable], stated: KnownFacts, doc_id: str
) -> FieldValue | None:
    interim, latest = doc_id in stated.interim, latest_year(found, doc_id, stated)
    ends = asked.sort == "date" and asked.annual
    # Sentences of a quarterly report refer to the quarter; the year-end of a report refers to that year only.
    if (asked.annual and asked.sort == "amount" and interim) or (ends and stated.year not in (0, latest)):
        return None if interim or not ends else _of_columns(asked, found)
    one = _plainly(asked, said(asked, found, latest))
    if one is None and asked.sort in ("duration", "date") and not ends:
        one = described(asked, found)
    if asked.sort == "words":
        one = named(asked, found)
    if one is not None:
        return FieldValue(one.quote, f"**{escape(one.figure)}** — “{escape(one.quote.text)}” {one.quote.marker}")
    if asked.sort == "words" and (quotes := whole_of(asked, own) or in_words(asked, found)):
        return FieldValue(quotes[0], " ".join(f"“{escape(quote.text)}” {quote.marker}" for quote in quotes))
    return _of_columns(asked, found) if ends and not interim else None


def _plainly(asked: Wish, given: Sequence[Said]) -> Said | None:
    """Value for the latest stated period, if ``given`` agree."""
    if asked.sort == "date" and asked.annual:
        return max(given, key=lambda one: one.period, default=None)
    last = max((one.period for one in given), default=(0, 0, 0))
    given = [one for one in given if one.period == last] if asked.sort != "date" else given
    alike = (
        one.period == given[0].period if asked.sort == "date" else same_figure(one.figure, given[0].figure)
        for one in given
    )
    return given[0] if given and all(alike) else None


def _of_columns(asked: Wish, own: Sequence[Quotable]) -> FieldValue | None:
    """Latest date over a column of an annual statement; a balance sheet has no year."""
    ended = [
        (period, cell, quote)
        for quote in own
        if quote.row is not None and quote.whole and spans_time(quote.row.table)
        for cell in quote.row.cells
        if (period := period_of(cell.column)) is not None
        and period[1]
        and not is_part(f"{quote.row.table} {cell.column}")
        and (not asked.years or period[0] in asked.years)
    ]
    if not ended:
        return None
    period, cell, quote = max(ended, key=lambda one: one[0])
    about = quote.row.table.rstrip(_FINAL_PUNCTUATION) if quote.row is not None else ""
    cited = marker(quote.source, cell.number, cell.number)
    return FieldValue(quote, f"**{escape(day_of(period))}** — {escape(about)}: “{escape(cell.column)}” {cited}")


def _by_company(documents: Iterable[str], stated: KnownFacts) -> list[list[str]]:
    """``documents`` grouped by possible company."""
    groups: list[list[str]] = []
    for doc_id in documents:
        own = stated.companies.get(doc_id, ())
        together = (g for g in groups if not any(of_others(own, stated.companies.get(other, ())) for other in g))
        group = next(together, None)
        groups.append([doc_id]) if group is None else group.append(doc_id)
    return groups


def _given(doc_id: str, found: Sequence[Quotable], asked: Wish, stated: KnownFacts) -> list[Rival]:
    """Values of one document from its best kind of place."""
    own = [quote for quote in found if quote.source.doc_id == doc_id]
    cells = candidates(asked, own, stated)
    first = max((one.standing for one in cells), default=None)
    if cells or (asked.annual and doc_id in stated.interim):
        return [
            Rival(
                one.cell.text,
                one.row.of(one.cell),
                marker(one.quote.source, one.cell.number, one.cell.number),
                one.period[0],
            )
            for one in cells
            if one.standing == first
        ]
    plain = said(asked, own, latest_year(own, doc_id, stated))
    length = described(asked, own) if asked.sort == "duration" and not plain else None
    return [
        Rival(one.figure, one.quote.text, one.quote.marker, one.period[0])
        for one in (*plain, *([length] if length is not None else []))
    ]
