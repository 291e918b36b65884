"""Report tables without a model: the rows of the one table in the sources that has all requested columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ragcore.offline.fields import stems_of
from ragcore.offline.lists import stems
from ragcore.offline.question import requirement
from ragcore.offline.quotable import Quotable, marker, quotables
from ragcore.offline.quote_ranking import agreement
from ragcore.offline.rows import Row
from ragcore.text.markdown import escape
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems, cover
from ragcore.types import Source
from ragcore.types.report import Field, missing_mark

MOST_ROWS = 40
_ABOUT = 0.5  # share of the requested words that must be over a table for it to match
_ABOUT_NAMED = 0.25  # the same if its columns themselves name its subject
_ANY_TABLE = frozenset(content_stems("change percent % name description note item type other count share"))
_NAMED = 0.6  # share of a column's or row's words that its header must have


def table_field(heading: str, form: Field, sources: Sequence[Source]) -> str:
    """``form`` as a Markdown table, each cell with its marker, or "" if no table of ``sources`` has its columns.

    The first column takes the row headers unless a table column has its name. If the requirements name several rows,
    only those are given, and absent ones are reported as missing.
    """
    wanted = form.requirements if len(form.requirements) > 1 else ()
    quotes = [quote for quote in quotables(requirement(""), Wanted(""), sources) if quote.row is not None]
    tables = [list(rows) for _, rows in groupby(quotes, key=lambda quote: (quote.source.number, quote.about))]
    chosen = max(tables, key=lambda rows: _worth(heading, form, wanted, rows), default=[])
    columns = _columns(form.columns, chosen)
    if not chosen or any(column is None for column in columns[1:]):
        return ""
    # "2023" and "Total" are columns of any table; "Cmax" and "AUC" name their subject themselves.
    named = any(stems_of(column or "") - _ANY_TABLE - stems("names", "beside") for column in columns[1:])
    if _about(heading, form, chosen) < (_ABOUT_NAMED if named else _ABOUT):
        return ""
    rows, missing = chosen[:MOST_ROWS], list[str]()
    if wanted:
        nearest = {piece: max(chosen, key=lambda row: _named(piece, row)) for piece in wanted}
        missing = [piece for piece, row in nearest.items() if _named(piece, row) < _NAMED]
        rows = [row for piece, row in nearest.items() if piece not in missing]
    if not rows:
        return ""
    lines = [form.columns, tuple("---" for _ in form.columns), *(_line(row, columns) for row in rows)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return "\n\n".join([table, *(missing_mark(piece) for piece in missing)]) + "\n"


def _row(quote: Quotable) -> Row:
    assert quote.row is not None
    return quote.row


def _columns(wanted: Sequence[str], rows: Sequence[Quotable]) -> list[str | None]:
    """Label of the column in ``rows`` that each wanted column names, or None; each label is used once."""
    labels = list(dict.fromkeys(cell.column for quote in rows for cell in _row(quote).cells))
    out: list[str | None] = []
    for column in wanted:
        asked = content_stems(column)
        free = [label for label in labels if label not in out]
        best = max(free, key=lambda label: cover(asked, content_stems(label)), default=None)
        named = best is not None and bool(asked) and cover(asked, content_stems(best)) >= _NAMED
        out.append(best if named else None)
    return out


def _worth(heading: str, form: Field, wanted: Sequence[str], rows: Sequence[Quotable]) -> tuple[float, ...]:
    columns = _columns(form.columns, rows)[1:]
    found = sum(column is not None for column in columns) / max(1, len(columns))
    named = sum(max(_named(piece, row) for row in rows) >= _NAMED for piece in wanted)
    return found, named, _about(heading, form, rows), rows[0].source.score


def _about(heading: str, form: Field, rows: Sequence[Quotable]) -> float:
    """Match of heading and requirements with the names of the table and its columns, 0–1."""
    said = rows[-1].place.union(*(content_stems(cell.column) for cell in _row(rows[-1]).cells))
    asked = set(content_stems(f"{heading} {' '.join(form.requirements)}")) - stems("names", "beside")
    return cover(asked or content_stems(heading), said)


def _named(piece: str, quote: Quotable) -> float:
    """Match between ``piece`` and the header of a row, 0–1."""
    return agreement(frozenset(content_stems(piece)), frozenset(content_stems(_row(quote).head)))


def _line(quote: Quotable, columns: Sequence[str | None]) -> tuple[str, ...]:
    row = _row(quote)
    cells = {cell.column: cell.number for cell in row.cells}

    def shown(unit: int) -> str:
        text = escape(quote.source.words(unit, unit)).replace("|", "\\|") if unit else ""
        return f"{text} {marker(quote.source, unit, unit)}" if text else ""

    first = cells.get(columns[0], 0) if columns[0] is not None else row.first
    return (shown(first), *(shown(cells.get(column or "", 0)) for column in columns[1:]))
