"""The small table in which an answer that only quotes shows cells: one row for each, its value cited.

It is a table of GFM whose columns are some of `COLUMNS`, so that what reads Markdown prints it; the app knows it by
these headers and makes each value the link to its place on the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from ragcore.text.markdown import escape

VALUE = "Value"
COLUMNS = ("Row", "Column", "Period", VALUE, "Unit")
_BARS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class CellRow:
    """A cell with its headers, "" where the table has none. ``marker`` cites it; what is worked out from others has
    none."""

    row: str
    column: str
    period: str
    value: str
    unit: str = ""
    marker: str = ""


def cell_table(rows: Sequence[CellRow]) -> str:
    """The table of ``rows`` as Markdown; a column that none of them fills is left out."""
    texts = [astuple(row)[:-1] for row in rows]
    kept = [place for place in range(len(COLUMNS)) if any(text[place] for text in texts)]
    lines = [[COLUMNS[place] for place in kept], ["---" if place == 0 else "---:" for place in kept]]
    for row, text in zip(rows, texts):
        cited = f" {row.marker}" if row.marker else ""
        lines.append([f"{_in_cell(text[place])}{cited if COLUMNS[place] == VALUE else ''}" for place in kept])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def is_cell_table(header: str) -> bool:
    """Whether the line ``header`` of Markdown is the header of such a table."""
    cells = [cell.strip() for cell in _BARS.split(header.strip().strip("|"))]
    return VALUE in cells and cells == [name for name in COLUMNS if name in cells]


def _in_cell(text: str) -> str:
    return escape(" ".join(text.split())).replace("|", "\\|")
