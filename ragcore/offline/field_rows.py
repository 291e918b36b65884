"""Report fields from tables: the cell of a certain row and column in the requested period, and the rows of the table
that has all columns of a table field."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ragcore.offline.fields import Wish, head_stems, stems, stems_of, words
from ragcore.offline.periods import days_in, is_part
from ragcore.offline.quotable import Quotable
from ragcore.offline.quote_ranking import agreement
from ragcore.offline.rows import Cell, Row, table_name
from ragcore.offline.statements import has_other_owners, is_statement, of_other_groups, period_of, plain_name
from ragcore.offline.values import CERTAIN
from ragcore.text.markdown import escape
from ragcore.text.numbers import lengths
from ragcore.text.words import content_stems, cover, tokens
from ragcore.types import Source
from ragcore.types.report import NOTHING_STATED, Field, KnownFacts, Period, Statement, missing_mark
from ragcore.types.table_labels import RowLabel

_UNDATED: Period = (0, 0, 0)
_BRACKETS = re.compile(r"\([^()]*\)")
_TOTAL = frozenset({"total", "totals"})
_LONGEST_WORDS = 120  # characters of a cell with a name or a few words
MOST_ROWS = 40
_ABOUT = 0.5  # share of the requested words that must be over a table for it to match
_ABOUT_NAMED = 0.25  # the same if its columns themselves name its subject
_ANY_TABLE = frozenset(content_stems("change percent % name description note item type other count share"))
_NAMED = 0.6  # share of a column's or row's words that its header must have


@dataclass(frozen=True, slots=True)
class Candidate:
    """Cell that matches the request; ``fit`` 0–1; ``whole``: it is in a statement of the whole company; ``called``: its
    row has exactly the requested name, or is a total if a total is requested."""

    quote: Quotable
    row: Row
    cell: Cell
    period: Period
    fit: float
    whole: bool
    called: bool = False

    @property
    def standing(self) -> tuple[bool, bool]:
        """Sort key among several amounts: statements of the whole first, then rows with the exact name."""
        return self.whole, self.whole and self.called


def candidates(asked: Wish, found: Sequence[Quotable], stated: KnownFacts = NOTHING_STATED) -> list[Candidate]:
    """Certain cells of ``found`` in the requested period, else in the latest period of their document. The closing
    columns of documents ``stated`` to be interim do not count for a request about a year."""
    out = []
    for quote in found:
        row = quote.row
        if row is None:
            continue
        part = asked.annual and quote.source.doc_id in stated.interim
        whole = _is_whole(quote, row)
        chosen = _cell(asked, quote, row, part, whole)
        if chosen is not None:
            cell, period, fit = chosen
            out.append(Candidate(quote, row, cell, period, fit, whole, _exactly(asked, row)))
    if asked.years:
        return out
    latest = {
        doc_id: 0 if asked.annual and doc_id in stated.interim else latest_year(found, doc_id, stated)
        for doc_id in {one.quote.source.doc_id for one in out}
    }
    return [one for one in out if latest[one.quote.source.doc_id] in (0, one.period[0]) or not one.period[0]]


def of_owners(asked: Wish, found: Sequence[Quotable], stated: KnownFacts = NOTHING_STATED) -> list[Candidate]:
    """Cells of rows with the requested name "attributable to common shareholders", in a statement of the whole; none if
    the document mentions other owners, since the two amounts then differ."""
    rows = [(quote, quote.row) for quote in found if quote.row is not None]
    shared = {quote.source.doc_id for quote, row in rows if has_other_owners(f"{row.name} {quote.text}")}
    renamed = {}
    for quote, row in rows:
        plain = plain_name(row.head, of_owners=True)
        alone = row.name == row.head and quote.source.doc_id not in shared and "per" not in tokens(row.head)
        if alone and plain != row.head and _is_whole(quote, row):
            renamed[id(quote)] = (quote, row, replace(quote, row=replace(row, head=plain, name=plain)))
    made = candidates(asked, [plain for _, _, plain in renamed.values()], stated)
    known = {id(plain.row): (quote, row) for quote, row, plain in renamed.values()}
    return [replace(one, quote=known[id(one.row)][0], row=known[id(one.row)][1]) for one in made]


def is_called(asked: Wish, label: RowLabel) -> bool:
    """Whether a statement row has the requested name, with or without "attributable to owners"."""
    head = label.head if head_stems(label.head) or not _TOTAL & set(tokens(label.head)) else label.group
    of = {head_stems(name) for name in (head, plain_name(head), plain_name(head, of_owners=True))}
    group = head_stems(label.group)
    return any(
        agreement(own, name.stems) >= CERTAIN and not (own ^ name.stems) & stems("names", "actions")
        for name in asked.names
        if not name.further
        for own in of | {one | (group & name.stems) for one in of if one and one < name.stems}
    )


def in_statements(found: Sequence[Quotable], statements: Sequence[Statement]) -> list[Quotable]:
    """``found`` where the statements of a document are known, each row marked as inside one or not, with its name."""
    known = {one.doc_id for one in statements}
    out = []
    for quote in found:
        row, doc_id = quote.row, quote.source.doc_id
        if row is not None and doc_id in known:
            inside = next((s for s in statements if s.doc_id == doc_id and s.start <= quote.start < s.end), None)
            if inside is not None:
                row = row if is_statement(row.table) else replace(row, table=inside.name)
                starts = {cell: quote.source.units[cell.number - 1].start for cell in row.cells}
                under = tuple(replace(c, column=inside.dates.get(at, c.column)) for c, at in starts.items())
                row = replace(row, cells=under)
            quote = replace(quote, row=row, whole=inside is not None)
        out.append(quote)
    return out


def latest_year(found: Sequence[Quotable], doc_id: str, stated: KnownFacts = NOTHING_STATED) -> int:
    """Reporting year of the document: that of its statements, else the latest year that most of its tables compare with
    the previous year; 0 if none does. Tables that look ahead (payments due in coming years) are fewer."""
    if stated.year_of(doc_id):
        return stated.year_of(doc_id)
    tables: dict[str, int] = {}
    for quote in found:
        if quote.row is None or quote.source.doc_id != doc_id:
            continue
        own = {period[0] for cell in quote.row.cells if (period := period_of(cell.column)) is not None}
        text = f"{quote.row.table} {' '.join(cell.column for cell in quote.row.cells)}"
        if len(own) > 1 and not set(content_stems(text)) & stems("names", "others") and max(own) - min(own) < 3:
            tables[text] = max(own)
    counts = Counter(tables.values())
    return max(counts, key=lambda year: (counts[year], year), default=0)


def _cell(asked: Wish, quote: Quotable, row: Row, interim: bool, whole: bool) -> tuple[Cell, Period, float] | None:
    """The one requested cell of ``row``, for the requested years or the latest period; ``interim``: for the latest
    period before the last, which ends no year. Row and column names together match the request."""
    fits = [(cell, fit) for cell in row.cells if (fit := _fit(asked, quote, row, cell, whole)) >= CERTAIN]
    # Each amount has its share of sales beside it, under the same header.
    fits = [one for one in fits if one[0].text.rstrip(" )").endswith("%") == asked.share] or fits
    dated = [(cell, period, fit) for cell, fit in fits if (period := period_of(cell.column)) is not None]
    if not dated:
        alone = len(row.cells) == 1 or (len(fits) == 1 and stems_of(fits[0][0].column) & asked.words)
        return (
            (fits[0][0], _UNDATED, fits[0][1]) if len(fits) == 1 and alone and not interim and not asked.years else None
        )
    if asked.years:
        dated = [one for one in dated if one[1][0] in asked.years]
    if interim:
        # The end of the quarter is printed beside the end of last year, or the same quarter a year earlier.
        days = sorted({period for _, period, _ in dated})
        if len(days) != 2 or not all(month for _, month, _ in days) or days[0][1] == days[1][1]:
            return None
        dated = [one for one in dated if one[1] == days[0]]
    last = max((period for _, period, _ in dated), default=None)
    kept = [one for one in dated if one[1] == last]
    return kept[0] if len(kept) == 1 else None


def _fit(asked: Wish, quote: Quotable, row: Row, cell: Cell, whole: bool) -> float:
    """Match between the names of row and column and the request, 0–1; 0.0 if their group or table is about something
    else."""
    if not _holds(asked, row, cell):
        return 0.0
    title = frozenset(content_stems(row.table))
    over = title if whole else _over(row)
    known = stems("names", "beside") | stems("names", "columns") | over | frozenset(content_stems(asked.unit))
    if len(row.cells) > 1:
        shared = frozenset.intersection(*(frozenset(content_stems(one.column)) for one in row.cells))
        # The header over all columns of a statement is the company, not a part of it.
        known |= shared if whole else shared & title
    column, parts = head_stems(cell.column) - (known - asked.words), stems("names", "parts")
    foreign = stems("names", "others") | parts
    compares = words("names", "compares") & {*cell.column.lower().split(), "%" * ("%" in cell.column)} - (
        {"%"} if asked.share else set()
    )
    if (
        compares
        or (is_part(f"{row.table} {cell.column}") and not (column and column <= asked.words))
        or (head_stems(cell.column) & foreign) - asked.words
    ):
        return 0.0
    is_total = bool(_TOTAL & set(tokens(row.head)))
    group = head_stems(row.name) - head_stems(row.head)
    table = frozenset(content_stems(" ".join((*quote.source.section[-1:], row.table))))
    place = frozenset(content_stems(" ".join((quote.source.title, *quote.source.section))))
    around = place | group | over
    heads = _heads(row, whole, is_total, group)
    best = 0.0
    for name in asked.names:
        said = row.name if is_total and not head_stems(row.head) else plain_name(row.head) if whole else row.head
        if (name.stated and not whole) or words("names", "narrows") & set(tokens(said)) - set(tokens(name.text)):
            continue
        others = (group & of_other_groups()) if whole else group | (table & (foreign - (parts if is_total else set())))
        if others - name.all:
            continue
        inside = {head | (group & name.stems) for head in heads if whole and head and head < name.stems}
        for head in heads | inside:
            called = head | column
            own = name.stems | (name.further & called)
            certain = name.all <= around | called and called <= name.all
            if head and certain and not (called ^ own) & stems("names", "actions"):
                best = max(best, agreement(called, own))
    return best


def _over(row: Row) -> frozenset[str]:
    """What a table's title says of every cell: of "Releases to air and to water by plant" only the plant."""
    named, by, parts = _BRACKETS.sub(" ", row.table).partition(" by ")
    several = "," in named or not {"and", "or"}.isdisjoint(tokens(named))
    return frozenset(content_stems(f"{by}{parts}" if several else row.table))


def _holds(asked: Wish, row: Row, cell: Cell) -> bool:
    """Whether a cell holds the requested kind of value; a name or words count only in the sole cell of its row."""
    if asked.sort in ("amount", "count"):
        return any(character.isdigit() for character in cell.text)
    if len(row.cells) > 1:
        return any(character.isdigit() for character in cell.text) and asked.sort == "words"
    if asked.sort == "date":
        return bool(days_in(cell.text)) or cell.text.count("/") == 2
    if asked.sort == "duration":
        return bool(lengths(cell.text))
    return any(character.isalnum() for character in cell.text) and len(cell.text) <= _LONGEST_WORDS


def _heads(row: Row, whole: bool, is_total: bool, group: frozenset[str]) -> set[frozenset[str]]:
    """Names of a row; a total, and a row of "Employees by site", also has the name of the thing counted."""
    heads = {head_stems(row.head)}
    if whole:
        heads.add(head_stems(plain_name(row.head)))
    parts = row.table.lower().replace(" per ", " by ").split(" by ")
    if is_total and not head_stems(row.head) and group:
        heads.add(group)
    elif is_total and len(parts) > 1:
        heads.add(stems_of(parts[0].rpartition(" of ")[2]) | head_stems(row.head))
    elif len(parts) > 1:
        heads.add(stems_of(parts[0]) | head_stems(row.head))
    return heads


def _exactly(asked: Wish, row: Row) -> bool:
    head = tokens(row.head.partition("(")[0])
    names = [tokens(name.text.partition("(")[0]) for name in asked.names if not name.stated]
    if any(_TOTAL & set(name[:1]) for name in names):
        return bool(_TOTAL & set(head[:1]))
    return head in names


def _is_whole(quote: Quotable, row: Row) -> bool:
    return is_statement(f"{' '.join(quote.source.section[-1:])} {row.table}") if quote.whole is None else quote.whole


# Tables


@dataclass(frozen=True, slots=True)
class _Row:
    """Table row. ``name`` is the unit of its header (0 without one); ``cells`` are units by column label. ``about`` are
    the stems of its section, the table's title and the header of the first column."""

    source: Source
    name: int
    cells: Mapping[str, int]
    about: frozenset[str]

    def words(self, unit: int) -> str:
        return self.source.words(unit, unit) if unit else ""


def table_field(heading: str, form: Field, sources: Sequence[Source]) -> str:
    """``form`` as a Markdown table, each cell with its marker, or "" if no table of ``sources`` has its columns.

    The first column takes the row headers unless a table column has its name. If the requirements name several rows,
    only those are given, and absent ones are reported as missing.
    """
    wanted = form.requirements if len(form.requirements) > 1 else ()
    tables = [table for source in sources for table in _tables(source)]
    chosen = max(tables, key=lambda rows: _worth(heading, form, wanted, rows), default=[])
    columns = _columns(form.columns, chosen)
    if not chosen or any(column is None for column in columns[1:]):
        return ""
    # "2023" and "Total" are columns of any table; "Cmax" and "AUC" name their subject themselves.
    named = [stems_of(label or "") for label in columns[1:]]
    say = any(one - _ANY_TABLE - stems("names", "beside") for one in named)
    if _about(heading, form, chosen) < (_ABOUT_NAMED if say else _ABOUT):
        return ""
    rows, missing = chosen[:MOST_ROWS], list[str]()
    if wanted:
        nearest = {piece: max(chosen, key=lambda row: _names(piece, row)) for piece in wanted}
        missing = [piece for piece, row in nearest.items() if _names(piece, row) < _NAMED]
        rows = [row for piece, row in nearest.items() if piece not in missing]
    if not rows:
        return ""
    lines = [form.columns, tuple("---" for _ in form.columns), *(_line(row, columns) for row in rows)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return "\n\n".join([table, *(missing_mark(piece) for piece in missing)]) + "\n"


def _tables(source: Source) -> Iterator[list[_Row]]:
    """Rows of each table of a source, which are consecutive lines of cells. Rows without a labelled value are left
    out."""
    rows: list[_Row] = []
    corner, title = "", ""
    for first, last in source.lines():
        units = source.units[first - 1 : last]
        if units[0].kind != "cell" or table_name(source, first) != title:
            if rows:
                yield rows
            rows, corner, title = [], "", table_name(source, first) if units[0].kind == "cell" else ""
        if units[0].kind != "cell":
            continue
        if not any(unit.label for unit in units):
            corner = f"{corner} {source.words(first, first)}"
        name = next((number for number, unit in enumerate(units, start=first) if not unit.label), 0)
        called = source.words(name, name) if name else ""
        cells = {_column(unit.label, called): number for number, unit in enumerate(units, start=first) if unit.label}
        if cells and called:
            over = " ".join((*source.section[-1:], title, corner))
            rows.append(_Row(source, name, cells, frozenset(content_stems(over))))
    if rows:
        yield rows


def _column(label: str, name: str) -> str:
    """Column part of a cell's label ``group / row · column · column``."""
    row, _, column = label.partition(" · ")
    return column if row.endswith(name) and column else label


def _columns(wanted: Sequence[str], rows: Sequence[_Row]) -> list[str | None]:
    """Label of the column in ``rows`` that each wanted column names, or None; each label is used once."""
    labels = list(dict.fromkeys(label for row in rows for label in row.cells))
    out: list[str | None] = []
    for column in wanted:
        asked = content_stems(column)
        free = [label for label in labels if label not in out]
        best = max(free, key=lambda label: cover(asked, content_stems(label)), default=None)
        named = best is not None and bool(asked) and cover(asked, content_stems(best)) >= _NAMED
        out.append(best if named else None)
    return out


def _worth(heading: str, form: Field, wanted: Sequence[str], rows: Sequence[_Row]) -> tuple[float, ...]:
    columns = _columns(form.columns, rows)[1:]
    found = sum(column is not None for column in columns) / max(1, len(columns))
    named = sum(max(_names(piece, row) for row in rows) >= _NAMED for piece in wanted)
    return found, named, _about(heading, form, rows), rows[0].source.score


def _about(heading: str, form: Field, rows: Sequence[_Row]) -> float:
    """Match of heading, requirements and columns with the names of the table and its columns, 0–1."""
    said = rows[-1].about.union(*(content_stems(label) for label in rows[-1].cells))
    asked = set(content_stems(f"{heading} {' '.join(form.requirements)}")) - stems("names", "beside")
    return cover(asked or content_stems(heading), said)


def _names(piece: str, row: _Row) -> float:
    """Match between ``piece`` and the header of ``row``, 0–1."""
    return agreement(frozenset(content_stems(piece)), frozenset(content_stems(row.words(row.name))))


def _line(row: _Row, columns: Sequence[str | None]) -> tuple[str, ...]:
    def shown(unit: int) -> str:
        text = escape(row.words(unit)).replace("|", "\\|")
        return f"{text} <<SOURCE {row.source.number}.{unit}>>" if text else ""

    first = row.cells.get(columns[0], 0) if columns[0] is not None else row.name
    return (shown(first), *(shown(row.cells.get(column or "", 0)) for column in columns[1:]))
