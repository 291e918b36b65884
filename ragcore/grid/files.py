"""Files of a grid: a workbook with numbers as numbers and each cell's place, CSV of the values, and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
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
                for at, text in enumerate(each, start=1):
                    put(evidence.cell(told_so_far, at), clean(text)).alignment = wrapped
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
        target.value = value.number
        target.number_format = _format(value.number, "" if column.unit else value.unit)
    else:
        put(target, clean(in_words(value, column)))
    target.hyperlink = Hyperlink(ref=target.coordinate, location=f"'Evidence'!A{line}")
    places = value.citations
    if places:
        words = shortened(clean(one_line(places[0].quotation)), QUOTED)
        target.comment = Comment(f"{places[0].where}: “{words}” {places[0].since}".rstrip(), "Groundwork")


def _format(number: float, unit: str) -> str:
    decimals = len(shown(number).partition(".")[2])
    beside = f'" {unit.replace(chr(34), "")}"' if unit else ""
    return "#,##0" + (f".{'0' * decimals}" if decimals else "") + beside


def _evidence(cell: GridCell, called: list[str], column: Column) -> Iterator[list[str]]:
    """Lines of the evidence: one for each place of the value, or of the nearest passages of what is not stated."""
    value = cell.value
    nearest = cell.found.nearest if cell.found is not None and cell.status == "not_stated" else ()
    rivals = cell.found.rivals if cell.found is not None and cell.status == "rival" else cell.likely
    others = "; ".join(f"{one.text} ({one.citations[0].where})" for one in rivals if one.citations)
    others = f"likely: {others}" if others and cell.likely else others
    text = "" if cell.status not in STATED else value.text
    head = [text, value.unit, value.period, told(cell), checked(cell), cell.filled_by]
    for place in value.citations or nearest or (None,):
        where = ["", ""] if place is None else [place.where.removeprefix("p. "), one_line(place.quotation)]
        yield [*called, column.name, *head, *where, others, place.since if place is not None else ""]
        head[0], others = "", ""
