"""A report's single value without a language model: from the one row or sentence that is certain, else none.

A wrong value is worse than none: the reader takes it over. Where tables, or sentences, of one document give different
values for the same period and none of them is a statement of the whole, there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.offline.durations import length_asked
from ragcore.offline.events import event_asked
from ragcore.offline.field_names import Wish, stems_of, wish
from ragcore.offline.field_rows import Candidate, candidates, in_statements, latest_year, of_owners, period_of
from ragcore.offline.field_sentences import Said, said
from ragcore.offline.firms import REFERS, asks_auditor, auditor
from ragcore.offline.periods import day_of, is_part, spans_time
from ragcore.offline.quotable import Given, Quotable, marker
from ragcore.offline.rows import scale_of
from ragcore.offline.values import same_figure
from ragcore.text.markdown import escape
from ragcore.text.terms import Term
from ragcore.text.words import content_stems
from ragcore.types.report import NOTHING_STATED, KnownFacts

_FINAL_PUNCTUATION = " .:;,…–—-"
_NEAR = 8  # words within which all words of a name must stand for a sentence to be about it
_LONGEST = 500
_SHORT = 2  # sentences of a section that can be quoted whole
_FIGURES = frozenset(content_stems("amount number dose level rate price limit sum"))


@dataclass(frozen=True, slots=True)
class FieldValue:
    """``text`` is Markdown with markers, ``quote`` where it is from."""

    quote: Quotable
    text: str


def value_field(
    heading: str,
    piece: str,
    unit: str,
    terms: Sequence[Term],
    found: Sequence[Quotable],
    named: Sequence[Quotable],
    stated: KnownFacts = NOTHING_STATED,
) -> list[FieldValue]:
    """What ``piece`` of the guidance under ``heading`` asks for, one value at most for each document of ``found``;
    ``named`` are those of them that stand under such a heading, ``stated`` is what is known of their documents."""
    asked = wish(heading, piece, unit, terms, stated.year)
    found = in_statements(found, stated.statements)
    cells = candidates(asked, found, stated)
    out = []
    for doc_id in dict.fromkeys(quote.source.doc_id for quote in found):
        own = [quote for quote in found if quote.source.doc_id == doc_id]
        value = _of_cells([cell for cell in cells if cell.quote.source.doc_id == doc_id])
        if value is None and not any(cell.quote.source.doc_id == doc_id for cell in cells):
            value = _of_cells(of_owners(asked, own, stated))
            # What sentences of a report on a quarter say is of the quarter.
            latest = latest_year(own, doc_id, stated)
            ends = asked.sort == "date" and asked.annual
            # How the year of a report ended is said of that year only.
            of_another = ends and stated.year not in (0, latest)
            part = asked.annual and asked.sort == "amount" and doc_id in stated.interim
            if value is None and not part and not of_another:
                value = _of_sentences(asked, own, latest, [quote for quote in named if quote.source.doc_id == doc_id])
            if value is None and ends and doc_id not in stated.interim:
                value = _of_columns(asked, own)
        if value is not None:
            out.append(value)
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
    text = f"**{escape(best.cell.text)}** — {where}“{escape(row.of(best.cell))}” {cited}{note}"
    return FieldValue(best.quote, text)


def _of_columns(asked: Wish, own: Sequence[Quotable]) -> FieldValue | None:
    """The last day that stands over a column of a statement of a year; a balance sheet's is that of no year."""
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
    assert quote.row is not None
    about = quote.row.table.rstrip(_FINAL_PUNCTUATION)
    cited = marker(quote.source, cell.number, cell.number)
    return FieldValue(quote, f"**{escape(day_of(period))}** — {escape(about)}: “{escape(cell.column)}” {cited}")


def _of_sentences(asked: Wish, found: Sequence[Quotable], latest: int, named: Sequence[Quotable]) -> FieldValue | None:
    plain = said(asked, found, latest)
    if plain:
        if asked.sort == "date":
            last = max(plain, key=lambda one: one.period)
            ends = any("fiscal" in name.text.lower() or "year" in name.text.lower() for name in asked.names)
            return _sentence(last) if ends or len({one.period for one in plain}) == 1 else None
        dated = max(one.period for one in plain)
        plain = [one for one in plain if one.period == dated] if dated[0] else plain
        same = all(same_figure(one.figure, plain[0].figure) for one in plain)
        return _sentence(plain[0]) if same else None
    if asked.sort == "date":
        event = event_asked(*asked.asked, found)
        return _sentence(event) if event else None
    if asked.sort == "duration":
        length = length_asked(*asked.asked, found)
        return _sentence(length) if length else None
    if asks_auditor(*asked.asked):
        firm = auditor(found)
        return _sentence(firm) if firm else None
    if asked.sort != "words":
        return None
    found = [quote for quote in found if not REFERS.search(quote.text)]
    named = _on_what_is_asked(asked, [quote for quote in named if not REFERS.search(quote.text)])
    short = 0 < len(named) <= _SHORT and all(quote.row is None for quote in named)
    if short and not any(name.further & _FIGURES for name in asked.names):
        # All that a section of that name says: the clause on governing law.
        text = " ".join(f"“{escape(quote.text)}” {quote.marker}" for quote in named)
        return FieldValue(named[0], text)
    return _in_words(asked, found)


def _on_what_is_asked(asked: Wish, named: Sequence[Quotable]) -> Sequence[Quotable]:
    """``named`` where their heading is of nothing else; of "Dividends and share repurchases" those that speak mostly of
    what is asked for, each once."""

    def speaks(quote: Quotable) -> bool:
        heading = stems_of(" ".join(quote.source.section[-1:]))
        names = [name.stems | name.further for name in asked.names]
        if any(not {stem for stem in heading if stem.isalpha()} - of for of in names):
            return True
        said = set(content_stems(quote.text))
        return any(2 * len(of & said) > len(of) for of in names)

    distinct = {quote.text: quote for quote in reversed(named) if speaks(quote)}
    return [quote for quote in named if distinct.get(quote.text) is quote]


def _sentence(one: Said | Given) -> FieldValue:
    quote = one.quote
    return FieldValue(quote, f"**{escape(one.figure)}** — “{escape(quote.text)}” {quote.marker}")


def _in_words(asked: Wish, found: Sequence[Quotable]) -> FieldValue | None:
    """The one sentence that has all words of a name close together and all that must stand near it."""
    fits: list[Quotable] = []
    for name in asked.names:
        if len(name.stems) + len(name.further) < 2 and not any(character.isupper() for character in name.text[1:]):
            continue  # one common word says too little
        for quote in found:
            stems = content_stems(quote.text)
            if (
                quote.row is None
                and len(quote.text) <= _LONGEST
                and name.further <= set(stems)
                and _close(name.stems, stems)
            ):
                fits.append(quote)
    distinct = list(dict.fromkeys(" ".join(content_stems(quote.text)) for quote in fits))
    if len(distinct) != 1:
        return None
    return FieldValue(fits[0], f"“{escape(fits[0].text)}” {fits[0].marker}")


def _close(wanted: frozenset[str], stems: Sequence[str]) -> bool:
    return bool(wanted) and any(wanted <= set(stems[i : i + _NEAR]) for i in range(max(1, len(stems) - _NEAR + 1)))
