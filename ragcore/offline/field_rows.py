"""A value field out of tables: a cell whose row is certain, in the latest period or the one asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.offline.field_names import BESIDE, Name, Wish, head_stems, stems_of
from ragcore.offline.periods import PART_OF_YEAR, QUARTER, YEAR, days_in
from ragcore.offline.quotable import Quotable
from ragcore.offline.quote_ranking import agreement
from ragcore.offline.rows import Cell, Row
from ragcore.offline.statement_names import plain_name
from ragcore.offline.values import CERTAIN
from ragcore.text.words import content_stems, tokens, word_set
from ragcore.types.report import NOTHING_STATED, KnownFacts, Statement

Period = tuple[int, int, int]  # year, month and day of its end; 0 where a header does not say
_NUMBER = re.compile(r"\d")
_STATEMENT = re.compile(
    r"\b(?:statements?\s+of|(?:income|cash\s+flows?)\s+statements?|balance\s+sheets?"
    r"|profit\s+and\s+loss\s+accounts?)\b",
    re.IGNORECASE,
)
# Tables that speak of a statement and are none: what of a segment goes into one, where in one a gain is, and notes.
_ABOUT_STATEMENT = re.compile(
    r"\bnotes?\s+to\b|\bselected\b|\breconciliation|\bsupplement|\banalysis\b|\bdiscussion\b|\beffects?\b|\bimpacts?\b"
    r"|\brecogni[sz]ed\b|\breclassif|\blocation\b|\bhedg|\bderivative|\bschedule\b|\bpercent|\bas\s+a\s+%|\bpro[\s-]forma\b|\bparent\b"
    r"|\bquarterly\b|\bforecast|\boutlook\b|\bbudget|\bproject(?:ed|ions?)\b|\bdiscontinued\b|\bacqui|\badjusted\b"
    r"|\bhypothetical|\bsegments?\b|\bguarantors?\b|\bby\s+(?:region|country|geograph\w+)\b|\bhighlights\b|\bsummary\b"
    r"|\bconsist(?:s|ed|ing)?\b|\bcompris|\bfollow(?:s|ing)\b|\bindex\b|\baverage\b|\bregistrant\b"
    r"|\b(?:statements?|sheets?|income|operations|earnings|flows?)\s+(?:data|information|line|items?|captions?|class\w+|amounts?)\b",
    re.IGNORECASE,
)
_UNAUDITED = frozenset(content_stems("unaudited"))
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
_BRACKETS = re.compile(r"\([^()]*\)")
_PER = re.compile(r"\bper\b", re.IGNORECASE)
# A table of these is not of the company, the year or the fact that is asked for, unless the field says so.
_OTHER = frozenset(
    content_stems(
        "pro forma parent quarterly forecast outlook guidance target budget expected projected plan "
        "discontinued acquired acquisition held sale restated adjusted hypothetical segment segments region "
        "geographic country joint venture ventures unconsolidated affiliate affiliates investee investees"
    )
)
# In a statement of the whole its rows stand in groups, of which these are beside the whole.
_OTHER_GROUPS = frozenset(content_stems("discontinued noncash supplemental variable parent"))
_OF_PARTS = frozenset(content_stems("segment segments region geographic country"))
_HEADERS = frozenset(
    content_stems(
        "january february march april may june july august september october november december months month weeks "
        "fy note notes audited unaudited actual reported"
    )
)
# What is done with a thing is another quantity than the thing: "Property and equipment", "Purchases of" it.
_ACTIONS = frozenset(
    content_stems(
        "purchases additions expenditures payments acquisitions proceeds repayments issuance repurchases disposals"
    )
)
_TOTAL = word_set("total totals")
# Small words that carry no meaning elsewhere and make another thing of a row: "Other assets", "Income before taxes".
_NARROWS = word_set("other before after excluding less without except under over between within not all both")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A cell that is what was asked for; ``fit`` 0–1, ``whole``: it stands in a statement of the whole, ``called``: its
    row is called so word by word, or a total where a total is asked for."""

    quote: Quotable
    row: Row
    cell: Cell
    period: Period
    fit: float
    whole: bool
    called: bool = False

    @property
    def standing(self) -> tuple[bool, bool]:
        """Which of several amounts comes first: one of a statement of the whole, and there one of such a row."""
        return self.whole, self.whole and self.called


def candidates(asked: Wish, found: Sequence[Quotable], stated: KnownFacts = NOTHING_STATED) -> list[Candidate]:
    """The certain cells of ``found``, of the period asked for; else of the latest period in their document. What is
    asked of a year is not what documents that are ``stated`` to be interim end with."""
    out = []
    for quote in found:
        if quote.row is None:
            continue
        part = asked.annual and quote.source.doc_id in stated.interim
        whole = _is_whole(quote, quote.row)
        fit = _fit(asked, quote, quote.row, whole)
        chosen = _cell(asked, quote.row, part, whole) if fit >= CERTAIN else None
        if chosen is None and not asked.years:
            fit, chosen = 1.0, _crossing(asked.names, quote.row)
        if chosen is not None:
            cell, period = chosen
            out.append(Candidate(quote, quote.row, cell, period, fit, whole, _exactly(asked, quote.row)))
    if asked.years:
        return out
    dated = {one.quote.source.doc_id for one in out}
    latest = {
        doc_id: 0 if asked.annual and doc_id in stated.interim else latest_year(found, doc_id, stated)
        for doc_id in dated
    }
    return [
        one
        for one in out
        if not one.period[0] or not latest[one.quote.source.doc_id] or one.period[0] == latest[one.quote.source.doc_id]
    ]


def of_owners(asked: Wish, found: Sequence[Quotable], stated: KnownFacts = NOTHING_STATED) -> list[Candidate]:
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
    made = candidates(asked, [replace(quote, row=plain) for quote, _, plain in renamed], stated)
    rows = {id(plain): (quote, row) for quote, row, plain in renamed}
    return [replace(one, quote=rows[id(one.row)][0], row=rows[id(one.row)][1]) for one in made]


def _fit(asked: Wish, quote: Quotable, row: Row, whole: bool) -> float:
    """How far the row is called what is asked for; 0.0 where its group or table is of something else. ``whole``: it
    stands in a statement of the whole."""
    heads = {head_stems(row.head)}
    if whole:
        heads.add(head_stems(plain_name(row.head)))
    measure = _BY.split(row.table, maxsplit=1)
    is_total = bool(_TOTAL & set(row.head.lower().split()))
    if len(measure) > 1:
        # "Employees by site": its total is that of employees, its other rows are each a part.
        named = stems_of(measure[0].rpartition(" of ")[2] if is_total else measure[0])
        heads.add((named & asked.words) | head_stems(row.head))
    group = head_stems(row.name) - head_stems(row.head)
    of_group = is_total and not head_stems(row.head) and bool(group)
    if of_group:
        heads.add(group)  # "Net sales: / Total"
    table = frozenset(content_stems(" ".join((*quote.source.section[-1:], row.table))))
    around = quote.place | group | table
    best = 0.0
    for name in asked.names:
        allowed = name.stems | name.further
        if name.stated and not whole:
            continue
        said = row.name if of_group else plain_name(row.head) if whole else row.head
        if _NARROWS & set(tokens(said)) - set(tokens(name.text)):
            continue
        if (group & _OTHER_GROUPS if whole else group) - allowed:
            continue
        if (table & (_OTHER | _UNAUDITED)) - allowed - (_OF_PARTS if is_total else frozenset()) and not whole:
            continue
        for head in heads | _in_group(head_stems(row.head), group, name) if whole else heads:
            own = name.stems | (name.further & head)
            if name.further <= around | head and head <= allowed and not (head ^ own) & _ACTIONS:
                best = max(best, agreement(head, own))
    return best


def _in_group(head: frozenset[str], group: frozenset[str], name: Name) -> set[frozenset[str]]:
    """What a row of a statement is called with its group: under "Long-term liabilities" stands "Debt"."""
    return {head | (group & name.stems)} if head and head < name.stems else set()


def _exactly(asked: Wish, row: Row) -> bool:
    head = tokens(_BRACKETS.sub("", row.head))
    names = [tokens(_BRACKETS.sub("", name.text)) for name in asked.names if not name.stated]
    if any(_TOTAL & set(name[:1]) for name in names):
        return bool(_TOTAL & set(head[:1]))
    return head in names


def _is_whole(quote: Quotable, row: Row) -> bool:
    return is_statement(f"{' '.join(quote.source.section[-1:])} {row.table}") if quote.whole is None else quote.whole


def in_statements(found: Sequence[Quotable], statements: Sequence[Statement]) -> list[Quotable]:
    """``found``, where the statements of a document are known: whether each row stands in one, and with its name."""
    known = {one.doc_id for one in statements}
    out = []
    for quote in found:
        row, doc_id = quote.row, quote.source.doc_id
        if row is not None and doc_id in known:
            inside = [one for one in statements if one.doc_id == doc_id and one.start <= quote.start < one.end]
            named = replace(row, table=inside[0].name) if inside and not is_statement(row.table) else row
            if inside and inside[0].dates:
                starts = {cell: quote.source.units[cell.number - 1].start for cell in row.cells}
                under = tuple(replace(cell, column=inside[0].dates.get(at, cell.column)) for cell, at in starts.items())
                named = replace(named, cells=under)
            quote = replace(quote, row=named, whole=bool(inside))
        out.append(quote)
    return out


def is_called(asked: Wish, group: str, head: str) -> bool:
    """Whether a row of a statement, ``head`` in its ``group``, is called as what is asked for, be it of its owners."""
    if not head_stems(head) and _TOTAL & set(head.lower().split()):
        head = group
    names = {head_stems(name) for name in (head, plain_name(head), _OWNERS.sub("", head))}
    return any(
        agreement(own, name.stems) >= CERTAIN and not (own ^ name.stems) & _ACTIONS
        for name in asked.names
        if not name.further
        for own in names | _in_group(head_stems(head), head_stems(group), name)
    )


def is_statement(where: str) -> bool:
    """Whether ``where``, the title of a table with the heading above it, is that of a statement of the whole."""
    return _STATEMENT.search(where) is not None and _ABOUT_STATEMENT.search(where) is None


def _cell(asked: Wish, row: Row, interim: bool, whole: bool) -> tuple[Cell, Period] | None:
    """The one cell of the years asked for, or of the latest period; ``interim``: of the latest before the last, which
    is no end of a year. ``whole``: what stands over all columns is the company, and no part of it."""
    dated: list[tuple[Cell, Period]] = []
    numeric = [cell for cell in row.cells if _NUMBER.search(cell.text)]
    # Beside each amount stands its share of sales, under the same header.
    numeric = [cell for cell in numeric if cell.text.rstrip(" )").endswith("%") == asked.share] or numeric
    known = BESIDE | _HEADERS | asked.words | frozenset(content_stems(row.table))
    if whole and len(numeric) > 1:
        known |= frozenset.intersection(*(frozenset(content_stems(cell.column)) for cell in numeric))
    for cell in numeric:
        where = f"{row.table} {cell.column}"
        words = set(cell.column.lower().split())
        if words & _COMPARES or "%" in cell.column or PART_OF_YEAR.search(where) or QUARTER.search(where):
            continue
        stems = {stem for stem in content_stems(cell.column) if not stem.isdigit()}
        if (stems & _OTHER) - asked.words or stems - known:
            continue
        period = period_of(cell.column)
        if period is not None:
            dated.append((cell, period))
    if not dated:
        only = numeric[0] if len(numeric) == 1 == len(row.cells) else None
        if only is None or interim or asked.years:
            return None
        return (only, (0, 0, 0)) if set(content_stems(only.column)) <= asked.words | BESIDE else None
    if asked.years:
        dated = [one for one in dated if one[1][0] in asked.years]
    if interim:
        # Beside the end of the quarter stands that of the last year, or of the same quarter a year before.
        days = sorted({period for _, period in dated})
        if len(days) != 2 or not all(month for _, month, _ in days) or days[0][1] == days[1][1]:
            return None
        dated = [one for one in dated if one[1] == days[0]]
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


def latest_year(found: Sequence[Quotable], doc_id: str, stated: KnownFacts = NOTHING_STATED) -> int:
    """The year of the document: that of its statements, else the last one that most of its tables set beside the year
    before; 0 where none does. Tables that look ahead (what falls due in the next years) are fewer."""
    if stated.year_of(doc_id):
        return stated.year_of(doc_id)
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
