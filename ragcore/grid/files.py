"""Files of a grid: a workbook with numbers as numbers and each cell's place, CSV of the values, and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, get_args

from ragcore.export.characters import clean, one_line, shortened
from ragcore.export.sheets import fit_rows, put, safe
from ragcore.grid.summary import shown, summary
from ragcore.types.grid import STATED, CellValue, Column, Grid, GridCell, Row
from ragcore.types.json import grid as as_json

GridFile = Literal["xlsx", "csv", "json"]
KINDS: tuple[GridFile, ...] = get_args(GridFile)
NOT_STATED = "not stated"
QUOTED = 300  # characters of a quotation in a note
_DAY = "yyyy-mm-dd"
_ISO_LENGTH = 10  # characters of a day
_FIRST_YEAR = 1901  # spreadsheets count days from 1900, which they take for a leap year
_WIDTHS = {"value": 18, "date": 14, "name": 26, "yes_no": 10, "list": 50, "quote": 50, "text": 50}
_ROWS = {"Document": 36, "Section": 36}
_EVIDENCE = {
    "Column": 24,
    "Value": 24,
    "Unit": 14,
    "Period": 12,
    "Status": 12,
    "Checked": 16,
    "Filled by": 20,
    "Page": 8,
    "Quotation": 80,
    "Others": 40,
    "Since": 50,
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """Number of a sheet's cell, with a ``unit`` shown beside it; ``plain`` without separators."""

    number: float
    unit: str = ""
    plain: bool = False

    @property
    def format(self) -> str:
        """Number format of a spreadsheet that shows it with all its decimals."""
        decimals = len(shown(self.number).partition(".")[2])
        beside = f'" {self.unit.replace(chr(34), "")}"' if self.unit else ""
        return ("0" if self.plain else "#,##0") + (f".{'0' * decimals}" if decimals else "") + beside


def write(grid: Grid, kind: GridFile) -> bytes:
    """``grid`` as a file."""
    if kind == "json":
        return (json.dumps(as_json(grid), ensure_ascii=False, indent=2) + "\n").encode()
    return _csv(grid) if kind == "csv" else _workbook(grid)


def told(cell: GridCell) -> str:
    """Status of a cell in words."""
    if cell.decision.kind == "corrected":
        return "Corrected"
    if cell.decision.kind == "accepted":
        return "Accepted"
    return {
        None: "Empty",
        "stated": "Stated",
        "rival": "Several values",
        "not_stated": "Not stated",
        "failed": "Failed",
    }[cell.status]


def checked(cell: GridCell) -> str:
    """Check of the value against its citations in words, "" without one."""
    return {None: "", True: "Supported", False: "Not supported"}[cell.supported]


def headed(column: Column) -> str:
    """Head of a column, with its unit."""
    return f"{column.name} ({column.unit})" if column.unit else column.name


def in_words(value: CellValue, column: Column) -> str:
    """Value in the unit of its column, or with its own."""
    if value.number is None or column.type != "value":
        return value.text
    number = shown(value.number)
    return number if value.unit == column.unit else f"{number} {value.unit}".strip()


def named(grid: Grid) -> Iterator[tuple[Row, list[str]]]:
    """Rows, each with its document's title and, of a section, its headings, of equal ones with the page."""
    alike = Counter((row.doc_id, row.section) for row in grid.rows)
    for row in grid.rows:
        page = f" (p. {row.page_label})" if row.page_label and alike[row.doc_id, row.section] > 1 else ""
        title = f"{row.title} (earlier version)" if row.earlier else row.title
        yield row, [one_line(title), *([one_line(" › ".join(row.section)) + page] if row.section else [])]


def _csv(grid: Grid) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*list(_ROWS)[: 1 + grid.by_section], *(safe(one_line(headed(column))) for column in grid.columns)])
    for row, names in named(grid):
        cells = ((grid.cell(row.row_id, column.column_id), column) for column in grid.columns)
        writer.writerow([*map(safe, names), *(safe(_plain(cell, column)) for cell, column in cells)])
    return out.getvalue().encode("utf-8-sig")  # without a byte order mark, Excel assumes another encoding


def _plain(cell: GridCell, column: Column) -> str:
    """Cell as text. A number in the column's unit has no separators."""
    if cell.status not in STATED:
        return NOT_STATED if cell.status == "not_stated" else ""
    value = cell.value
    if value.number is not None and column.type == "value" and value.unit == column.unit:
        return f"{value.number:.15g}"
    return clean(in_words(value, column))


def _workbook(grid: Grid) -> bytes:
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter

    book = Workbook()
    page, evidence = book.active, book.create_sheet("Evidence")
    page.title = "Grid"
    bold, shade = Font(bold=True), PatternFill("solid", fgColor="F0F0EC")
    wrapped = Alignment(wrap_text=True, vertical="top")
    names = list(_ROWS.items())[: 1 + grid.by_section]
    first = len(names) + 1  # column with cells
    heads = [*names, *((headed(column), _WIDTHS[column.type]) for column in grid.columns)]
    for sheet, widths in ((page, heads), (evidence, [*names, *_EVIDENCE.items()])):
        for n, (head, width) in enumerate(widths, start=1):
            cell = put(sheet.cell(1, n), clean(one_line(head)))
            cell.font, cell.fill, cell.alignment = bold, shade, wrapped
            sheet.column_dimensions[get_column_letter(n)].width = width
        sheet.freeze_panes = f"{get_column_letter(first)}2"
    told_so_far = 1  # lines of the evidence
    for line, (row, called) in enumerate(named(grid), start=2):
        for n, name in enumerate(called, start=1):
            cell = put(page.cell(line, n), clean(name))
            cell.font, cell.alignment = bold, wrapped
        for n, column in enumerate(grid.columns, start=first):
            cell = grid.cell(row.row_id, column.column_id)
            lines = [*_evidence(cell, called, column)] if cell.status is not None else []
            _fill(page.cell(line, n), cell, column, told_so_far + 1 if lines else 0)
            for each in lines:
                told_so_far += 1
                for at, given in enumerate(each, start=1):
                    _put(evidence.cell(told_so_far, at), given).alignment = wrapped
    last = len(grid.rows) + 2
    cell = put(page.cell(last, 1), "Summary")
    cell.font, cell.alignment = bold, wrapped
    for n, column in enumerate(grid.columns, start=first):
        found = summary(column, [grid.cell(row.row_id, column.column_id) for row in grid.current])
        words = f"{found.stated} of {found.filled} stated{f'; {found.words}' if found.words else ''}"
        put(page.cell(last, n), words).alignment = wrapped
    evidence.auto_filter.ref = evidence.dimensions
    fit_rows(page)
    fit_rows(evidence)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _fill(target: Any, cell: GridCell, column: Column, line: int) -> None:
    """A cell of the grid: its value, a note with its quotation, and a link to its ``line`` of the evidence."""
    from openpyxl.comments import Comment
    from openpyxl.styles import Alignment, Font
    from openpyxl.worksheet.hyperlink import Hyperlink

    target.alignment = Alignment(wrap_text=True, vertical="top")
    if cell.status is None:
        return
    value = cell.value
    if cell.status not in STATED:
        put(target, NOT_STATED if cell.status == "not_stated" else "failed").font = Font(color="808080")
    elif value.number is not None and column.type == "value" and (value.unit == column.unit or not column.unit):
        _put(target, Quantity(value.number, "" if column.unit else value.unit))
    else:
        _put(target, (_day(value.text) if column.type == "date" else None) or in_words(value, column))
    target.hyperlink = Hyperlink(ref=target.coordinate, location=f"'Evidence'!A{line}")
    places = value.citations
    if places:
        words = shortened(clean(one_line(places[0].quotation)), QUOTED)
        target.comment = Comment(f"{places[0].where}: “{words}” {places[0].since}".rstrip(), "Groundwork")


def _put(target: Any, given: str | date | Quantity) -> Any:
    """Write text, a day or a number into a cell of a sheet, each as what it is."""
    if isinstance(given, str):
        return put(target, clean(given))
    if isinstance(given, Quantity):
        target.value, target.number_format = given.number, given.format
    else:
        target.value, target.number_format = given, _DAY
    return target


def _day(text: str) -> date | None:
    """Day that ``text`` is in ISO 8601, if a sheet can have it; None for a year or a month."""
    with suppress(ValueError):
        found = date.fromisoformat(text) if len(text) == _ISO_LENGTH else None
        return found if found is not None and found.year >= _FIRST_YEAR else None
    return None


def _evidence(cell: GridCell, called: list[str], column: Column) -> Iterator[list[str | date | Quantity]]:
    """Lines of the evidence: one for each place of the value, or of the nearest passages of what is not stated. The
    value is the number in the unit beside it, where it is one; as printed it stands in the quotation."""
    value = cell.value
    nearest = cell.found.nearest if cell.found is not None and cell.status == "not_stated" else ()
    rivals = cell.found.rivals if cell.found is not None and cell.status == "rival" else cell.likely
    others = "; ".join(f"{one.text} ({one.citations[0].where})" for one in rivals if one.citations)
    others = f"likely: {others}" if others and cell.likely else others
    text = "" if cell.status not in STATED else value.text
    said: str | date | Quantity = (_day(text) if column.type == "date" else None) or text
    if text and column.type == "value" and value.number is not None:
        said = Quantity(value.number)
    period = _day(value.period) or value.period
    head = [said, value.unit, period, told(cell), checked(cell), cell.filled_by]
    for place in value.citations or nearest or (None,):
        where: list[str | Quantity] = ["", ""]
        if place is not None:
            page = place.where.removeprefix("p. ")
            where = [Quantity(int(page), plain=True) if page.isdecimal() else page, one_line(place.quotation)]
        yield [*called, column.name, *head, *where, others, place.since if place is not None else ""]
        head[0], others = "", ""
