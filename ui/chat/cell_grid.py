"""Drawn tables of cells (`ragcore.offline.rows`) as grids: one line for each row, one column for each header.

An answer lists its cells one to a line, so that each is a claim of its own. Where they are several of a row or column,
they read better as they stand in their document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from ragcore.text.markdown import CELL_COLUMNS, VALUE, is_cell_table

_ROW = re.compile(r"<tr>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_VERDICT = re.compile(r'<button type="button" class="gw-verdict.*?</button>', re.DOTALL)


@dataclass(frozen=True)
class _Cell:
    """``value`` is its HTML, with the verdict on its claim; the others are escaped text."""

    row: str
    head: str
    value: str
    unit: str


def as_grid(table: str) -> str:
    """``table``, HTML without nested tables, as a grid if it is one of cells that makes a smaller one; else as it
    is."""
    lines = [_CELL.findall(line) for line in _ROW.findall(table)]
    if not lines or not is_cell_table(" | ".join(unescape(cell) for cell in lines[0])):
        return table
    cells = [_cell(dict(zip(lines[0], line))) for line in lines[1:]]
    rows, heads = (list(dict.fromkeys(each)) for each in ((c.row for c in cells), (c.head for c in cells)))
    at = {(cell.row, cell.head): cell for cell in cells}
    if len(cells) < 2 or len(at) < len(cells) or len(rows) + len(heads) > len(cells) + 1:
        return table
    units = {
        row: {cell.unit for cell in cells if cell.row == row and (cell.unit or "%" not in cell.value)} for row in rows
    }
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = []
    for row in rows:
        one = len(units[row]) == 1 and "" not in units[row]  # which holds for all of the row, shares aside
        name = f"{row}<small>{', ' if row else ''}{min(units[row])}</small>" if one else row
        values = (at.get((row, head)) for head in heads)
        line = "".join(f"<td>{'' if cell is None else _shown(cell, unit=not one)}</td>" for cell in values)
        body.append(f'<tr><th scope="row">{name}</th>{line}</tr>')
    return f'<table class="gw-cells"><thead><tr><td></td>{top}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def _cell(named: dict[str, str]) -> _Cell:
    verdict = "".join(_VERDICT.findall("".join(named.values())))
    row, column, period, _, unit = (
        _TAG.sub("", _VERDICT.sub("", named.get(name, ""))).strip() for name in CELL_COLUMNS
    )
    head = ", ".join(part for part in (column, period) if part)
    return _Cell(row, head, _VERDICT.sub("", named[VALUE]) + verdict, unit)


def _shown(cell: _Cell, *, unit: bool) -> str:
    return f"{cell.value}<small> {cell.unit}</small>" if unit and cell.unit else cell.value
