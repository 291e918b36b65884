"""A value field out of tables: a cell whose row is certain, in the latest period or the one asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.providers.field_names import BESIDE, Name, Wish, head_stems, stems_of
from ragcore.providers.periods import PART_OF_YEAR, QUARTER, YEAR, days_in
from ragcore.providers.quotable import Quotable
from ragcore.providers.quote_ranking import agreement
from ragcore.providers.rows import Cell, Row
from ragcore.providers.values import CERTAIN
from ragcore.words import content_stems, tokens, word_set

Period = tuple[int, int, int]  # year, month and day of its end; 0 where a header does not say
_NUMBER = re.compile(r"\d")
_STATEMENT = re.compile(
    r"\b(?:statements?\s+of|(?:income|cash\s+flows?|financial)\s+statements?|balance\s+sheets?)\b", re.IGNORECASE
)
_BY = re.compile(r"\s+(?:by|per)\s+", re.IGNORECASE)
_COMPARES = word_set("change changes % percent variance increase decrease growth")
_OWNERS = re.compile(
    r"\s+(?:attributable|available|applicable)\s+to\s+(?:the\s+)?(?:common|ordinary)?\s*"
    r"(?:(?:share|stock)holders|owners|equity\s+holders)(?:\s+of\s+the\s+(?:parent|company))?\s*$",
    re.IGNORECASE,
)
_OTHER_OWNERS = re.compile(
    r"\b(?:non-?\s?controlling|minority)\s+interests?\b|\bpreferred\s+(?:(?:stock|share)\s+)?dividends?\b"
    r"|\bpreference\s+dividends?\b|\bdividends?\s+on\s+prefer\w+",
    re.IGNORECASE,
)
_PER = re.compile(r"\bper\b", re.IGNORECASE)
# A table of these is not of the company, the year or the fact that is asked for, unless the field says so.
_OTHER = frozenset(
    content_stems(
        "pro forma parent quarterly unaudited forecast outlook guidance target budget expected projected plan "
        "discontinued acquired acquisition held sale restated adjusted hypothetical segment segments region "
        "geographic country"
    )
)
_OF_PARTS = frozenset(content_stems("segment segments region geographic country"))
_HEADERS = frozenset(
    content_stems(
        "january february march april may june july august september october november december months month weeks "
        "fy note notes audited actual reported"
    )
)
_TOTAL = word_set("total totals")
# Small words that carry no meaning elsewhere and make another thing of a row: "Other assets", "Income before taxes".
_NARROWS = word_set("other before after excluding less without except under over between within not all both")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cell that is what was asked for; ``fit`` 0–1, ``whole``: it stands in a statement of the whole."""

    quote: Quotable
    row: Row
    cell: Cell
    period: Period
    fit: float
    whole: bool


def candidates(asked: Wish, found: Sequence[Quotable]) -> list[Candidate]:
    """The certain cells of ``found``, of the period asked for; else of the latest period in their document."""
    out = []
    for quote in found:
        if quote.row is None:
            continue
        fit = _fit(asked, quote, quote.row)
        chosen = _cell(asked, quote.row) if fit >= CERTAIN else None
        if chosen is None and not asked.years:
            fit, chosen = 1.0, _crossing(asked.names, quote.row)
        if chosen is not None:
            cell, period = chosen
            out.append(Candidate(quote, quote.row, cell, period, fit, _is_whole(quote, quote.row)))
    if asked.years:
        return out
    latest = {doc_id: latest_year(found, doc_id) for doc_id in {one.quote.source.doc_id for one in out}}
    return [
        one
        for one in out
        if not one.period[0] or not latest[one.quote.source.doc_id] or one.period[0] == latest[one.quote.source.doc_id]
    ]


def of_owners(asked: Wish, found: Sequence[Quotable]) -> list[Candidate]:
    """The cells of rows called what is asked for "attributable to common shareholders", in a statement of the whole;
    none where the document tells of others who have a share in it, since then the two are different amounts."""
    shared = {q.source.doc_id for q in found if q.row is not None and _OTHER_OWNERS.search(f"{q.row.name} {q.text}")}
    renamed = []
    for quote in found:
        row = quote.row
        if row is None or quote.source.doc_id in shared or row.name != row.head or not _is_whole(quote, row):
            continue
        plain = _OWNERS.sub("", row.head)
        if plain != row.head and not _PER.search(plain):
            renamed.append((quote, row, replace(row, head=plain, name=plain)))
    made = candidates(asked, [replace(quote, row=plain) for quote, _, plain in renamed])
    rows = {id(plain): (quote, row) for quote, row, plain in renamed}
    return [replace(one, quote=rows[id(one.row)][0], row=rows[id(one.row)][1]) for one in made]


def _fit(asked: Wish, quote: Quotable, row: Row) -> float:
    """How far the row is called what is asked for; 0.0 where its group or table is of something else."""
    heads = {head_stems(row.head)}
    measure = _BY.split(row.table, maxsplit=1)
    is_total = bool(_TOTAL & set(row.head.lower().split()))
    if len(measure) > 1:
        # "Employees by site": its total is that of employees, its other rows are each a part.
        named = stems_of(measure[0].rpartition(" of ")[2] if is_total else measure[0])
        heads.add((named & asked.words) | head_stems(row.head))
    whole = _is_whole(quote, row)
    group = head_stems(row.name) - head_stems(row.head)
    if is_total and not head_stems(row.head) and group:
        heads.add(group)  # "Net sales: / Total"
    table = frozenset(content_stems(" ".join((*quote.source.section[-1:], row.table))))
    around = quote.place | group | table
    best = 0.0
    for name in asked.names:
        allowed = name.stems | name.further
        if _NARROWS & set(tokens(row.head)) - set(tokens(name.text)):
            continue
        if group - allowed and not whole:
            continue
        if (table & _OTHER) - allowed - (_OF_PARTS if is_total else frozenset()) and not whole:
            continue
        for head in heads:
            own = name.stems | (name.further & head)
            if name.further <= around | head and head <= allowed:
                best = max(best, agreement(head, own))
    return best


def _is_whole(quote: Quotable, row: Row) -> bool:
    where = f"{' '.join(quote.source.section[-1:])} {row.table}"
    return _STATEMENT.search(where) is not None and not frozenset(content_stems(where)) & _OTHER


def _cell(asked: Wish, row: Row) -> tuple[Cell, Period] | None:
    """The one cell of the years asked for, or of the latest period."""
    dated: list[tuple[Cell, Period]] = []
    numeric = [cell for cell in row.cells if _NUMBER.search(cell.text)]
    for cell in numeric:
        where = f"{row.table} {cell.column}"
        words = set(cell.column.lower().split())
        if words & _COMPARES or "%" in cell.column or PART_OF_YEAR.search(where) or QUARTER.search(where):
            continue
        stems = {stem for stem in content_stems(cell.column) if not stem.isdigit()}
        if (stems & _OTHER) - asked.words or stems - BESIDE - _HEADERS - asked.words - frozenset(
            content_stems(row.table)
        ):
            continue
        period = period_of(cell.column)
        if period is not None:
            dated.append((cell, period))
    if not dated:
        only = numeric[0] if len(numeric) == 1 == len(row.cells) else None
        says = not only or not content_stems(only.column) or set(content_stems(only.column)) <= asked.words | BESIDE
        return (only, (0, 0, 0)) if only is not None and says and not asked.years else None
    if asked.years:
        dated = [one for one in dated if one[1][0] in asked.years]
    last = max((period for _, period in dated), default=None)
    kept = [one for one in dated if one[1] == last]
    return kept[0] if len(kept) == 1 else None


def _crossing(names: Sequence[Name], row: Row) -> tuple[Cell, Period] | None:
    """The cell of "half-life in dogs" in a table of species by measures, or of measures by species: row and column are
    called by the name and by all that must stand near it."""
    head = head_stems(row.head)
    fits = []
    for cell in row.cells:
        column = head_stems(cell.column)
        for name in names:
            if name.further and _NUMBER.search(cell.text):
                of_row = name.further == head and agreement(column, name.stems) >= CERTAIN
                of_column = name.further == column and agreement(head, name.stems) >= CERTAIN
                fits += [cell] if of_row or of_column else []
    fits = list(dict.fromkeys(fits))
    return (fits[0], (0, 0, 0)) if len(fits) == 1 else None


def period_of(header: str) -> Period | None:
    """The period that a column's header names last."""
    days = days_in(header)
    if days:
        return max(days)
    years = [int(year) for year in YEAR.findall(header)]
    return (max(years), 0, 0) if years else None


def latest_year(found: Sequence[Quotable], doc_id: str) -> int:
    """The year of the document: the last one that most of its tables set beside the year before; 0 where none does.
    Tables that look ahead (what falls due in the next years) are fewer."""
    tables: dict[str, int] = {}
    for quote in found:
        if quote.row is None or quote.source.doc_id != doc_id:
            continue
        own = {period[0] for cell in quote.row.cells if (period := period_of(cell.column)) is not None}
        text = f"{quote.row.table} {' '.join(cell.column for cell in quote.row.cells)}"
        if len(own) > 1 and not set(content_stems(text)) & (_OTHER - _OF_PARTS) and max(own) - min(own) < 3:
            tables[text] = max(own)
    counts = Counter(tables.values())
    return max(counts, key=lambda year: (counts[year], year), default=0)
