"""A report's table without a language model: the rows of a table of the sources that has the columns asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragcore.offline.field_names import BESIDE
from ragcore.offline.rows import table_name
from ragcore.text.markdown import escape
from ragcore.text.words import content_stems, cover
from ragcore.types import Source
from ragcore.types.report import Field, missing_mark

MOST_ROWS = 40
_ABOUT = 0.5  # share of what is asked for that must stand over a table for it to be the one meant
_ABOUT_NAMED = 0.25  # and where its columns themselves say what it is of
_ANY_TABLE = frozenset(content_stems("change percent % name description note item type other count share"))
_NAMED = 0.6  # share of a column's or row's words that must stand in a header for it to be that column or row


@dataclass(frozen=True, slots=True)
class _Row:
    """``name`` is the unit of the row's header (0 where it has none); ``cells`` the units by column label. ``about``
    are the stems of what stands over it: section, the table's title, the header of the first column."""

    source: Source
    name: int
    cells: Mapping[str, int]
    about: frozenset[str]

    def words(self, unit: int) -> str:
        return self.source.words(unit, unit) if unit else ""


def table_field(heading: str, form: Field, sources: Sequence[Source]) -> str:
    """``form`` as a Markdown table, each cell with its marker, or "" where no table of ``sources`` has its columns.

    The first column takes the rows' headers unless a column is called so. Where the requirements name several rows,
    only those are given, and the ones that are not there are said to be missing.
    """
    wanted = form.requirements if len(form.requirements) > 1 else ()
    tables = [table for source in sources for table in _tables(source)]
    chosen = max(tables, key=lambda rows: _worth(heading, form, wanted, rows), default=[])
    columns = _columns(form.columns, chosen)
    if not chosen or any(column is None for column in columns[1:]):
        return ""
    # "2023" and "Total" are columns of any table; "Cmax" and "AUC" say themselves what it is of.
    say = any(set(content_stems(label or "")) - BESIDE - _ANY_TABLE - _years(label or "") for label in columns[1:])
    if _about(heading, form, chosen) < (_ABOUT_NAMED if say else _ABOUT):
        return ""
    lines = [form.columns, tuple("---" for _ in form.columns)]
    missing: list[str] = []
    if wanted:
        for piece in wanted:
            row = max(chosen, key=lambda row: _names(piece, row))
            if _names(piece, row) < _NAMED:
                missing.append(piece)
            else:
                lines.append(_line(row, columns))
    else:
        lines += [_line(row, columns) for row in chosen[:MOST_ROWS]]
    if len(lines) == 2:
        return ""
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return "\n\n".join([table, *(missing_mark(piece) for piece in missing)]) + "\n"


def _years(label: str) -> set[str]:
    return {word for word in content_stems(label) if word.isdigit()}


def _tables(source: Source) -> Iterator[list[_Row]]:
    """The rows of each table of a source: lines of cells that follow one another. Rows without a labelled value say
    nothing by themselves."""
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
    """The column part of a cell's label, ``group / row · column · column``."""
    row, _, column = label.partition(" · ")
    return column if row.endswith(name) and column else label


def _columns(wanted: Sequence[str], rows: Sequence[_Row]) -> list[str | None]:
    """For each column wanted the label of the one in ``rows`` that it names, None where none is: each label once."""
    labels = list(dict.fromkeys(label for row in rows for label in row.cells))
    out: list[str | None] = []
    for column in wanted:
        stems = content_stems(column)
        free = [label for label in labels if label not in out]
        best = max(free, key=lambda label: cover(stems, content_stems(label)), default=None)
        named = best is not None and bool(stems) and cover(stems, content_stems(best)) >= _NAMED
        out.append(best if named else None)
    return out


def _worth(heading: str, form: Field, wanted: Sequence[str], rows: Sequence[_Row]) -> tuple[float, ...]:
    columns = _columns(form.columns, rows)[1:]
    found = sum(column is not None for column in columns) / max(1, len(columns))
    named = sum(max(_names(piece, row) for row in rows) >= _NAMED for piece in wanted)
    return found, named, _about(heading, form, rows), rows[0].source.score


def _about(heading: str, form: Field, rows: Sequence[_Row]) -> float:
    """How far heading, requirements and columns are what the table and its columns are called, 0–1."""
    said = rows[-1].about.union(*(content_stems(label) for label in rows[-1].cells))
    asked = set(content_stems(f"{heading} {' '.join(form.requirements)}")) - BESIDE
    return cover(asked or content_stems(heading), said)


def _names(piece: str, row: _Row) -> float:
    """How far ``piece`` and the header of ``row`` name the same, 0–1."""
    one, other = set(content_stems(piece)), set(content_stems(row.words(row.name)))
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _line(row: _Row, columns: Sequence[str | None]) -> tuple[str, ...]:
    def shown(unit: int) -> str:
        words = escape(row.words(unit)).replace("|", "\\|")
        return f"{words} <<SOURCE {row.source.number}.{unit}>>" if words else ""

    first = row.cells.get(columns[0], 0) if columns[0] is not None else row.name
    return (shown(first), *(shown(row.cells.get(column or "", 0)) for column in columns[1:]))
