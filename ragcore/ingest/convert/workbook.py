"""Sheets of a workbook or CSV file: their cells as shown, with the place of each, and the tables that they form."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePath
from typing import Any

from ragcore.errors import DamagedFile, FileTooLarge, GroundworkError
from ragcore.ingest.convert.kinds import DAMAGED, decoded, open_archive
from ragcore.text.number_formats import displayed
from ragcore.text.numbers import figure, plural

MOST_CELLS = 200_000  # of a file
MOST_XML = 400_000_000  # bytes
MOST_HEADERS = 5  # frozen rows that are taken for a header
NO_VALUE = "[no stored value]"  # of a formula that no program has computed
_COPY = "Copy what is needed to a new file, or save it as CSV."
_SAMPLE = 65_536  # characters from which a CSV's delimiter is told
_OWN_DELIMITER = re.compile(r'"?sep=(.)"?(?:\r\n?|\n)', re.IGNORECASE)  # a first line for Excel, which doesn't show it
_NO_DECIMAL = re.compile(r"(?<!\d),|,(?!\d)")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")
# Ranges of cells that openpyxl makes one cell after another.
_RANGE = re.compile(rb"""<[^<>\s/]*?(?:mergeCell|hyperlink)\s[^<]*?\bref\s*=\s*["']([^"']*)""")
_UNCOMPUTED = re.compile(
    rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f(?:\s[^>]*)?/>)\s*(?:<(?:\w+:)?v\s*(?:/>|></(?:\w+:)?v>)\s*)?</(?:\w+:)?c>"
)


@dataclass(frozen=True, slots=True)
class SheetCell:
    """Cell that isn't empty: row and column from 1, its text as shown, its place (``Sheet1!B12``), and over how many
    rows and columns it is merged."""

    row: int
    column: int
    text: str
    place: str
    rows: int = 1
    columns: int = 1


@dataclass(frozen=True, slots=True)
class Sheet:
    """Sheet with its rows of cells, blank rows included; ``frozen`` counts the rows that stay when it is scrolled."""

    name: str
    rows: tuple[tuple[SheetCell, ...], ...]
    frozen: int = 0


@dataclass(frozen=True, slots=True)
class Workbook:
    """Sheets of a file; ``notes`` tell what was left out."""

    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...] = ()


@dataclass
class SheetTable:
    """Rows of a sheet that form a table from column ``first`` on; the first ``headers`` name its columns."""

    first: int
    headers: int
    rows: list[tuple[SheetCell, ...]] = field(default_factory=list)


def sheet_parts(sheet: Sheet) -> Iterator[SheetTable | tuple[SheetCell, ...]]:
    """Tables of a sheet, with blank rows between them, and cells that are lines of text. Rows without one that names
    columns go on with the table above them."""
    table: SheetTable | None = None
    blocks = [list(found) for blank, found in groupby(sheet.rows, key=lambda row: not row) if not blank]
    for number, rows in enumerate(blocks):
        first = min(row[0].column for row in rows)
        lines = next((n for n, row in enumerate(rows) if row[-1].column > first), len(rows))
        frozen = sum(row[0].row <= sheet.frozen for row in rows[lines:])
        headers = _headers(rows[lines:], first)
        if 0 < frozen <= MOST_HEADERS:
            headers = frozen
        elif table is not None and table.headers:
            headers = 0 if _goes_on(rows[lines:], first, headers) else headers
        elif _are_fields(rows[lines:], first, blocks[number + 1] if number + 1 < len(blocks) else ()):
            headers = 0
        if headers or table is None:
            if table is not None:
                yield table
            table = None
            yield from ((cell,) for row in rows[:lines] for cell in row)
            rows = rows[lines:]
            if rows:
                table = SheetTable(first, headers)
        if table is not None:
            table.rows += rows
    if table is not None:
        yield table


def _last(rows: Sequence[tuple[SheetCell, ...]]) -> int:
    """Last column of some rows."""
    return max((row[-1].column + row[-1].columns - 1 for row in rows), default=0)


def _are_fields(rows: Sequence[tuple[SheetCell, ...]], first: int, below: Sequence[tuple[SheetCell, ...]]) -> bool:
    """Whether rows are names with a value each: two columns, above a wider table or with colons after names."""
    if _last(rows) > first + 1:
        return False
    ends = [tuple(cell.text.endswith(":") for cell in row) for row in rows]
    return (True, False) in ends or (len(below) > 1 and _last(below) > _last(rows))


def _goes_on(rows: Sequence[tuple[SheetCell, ...]], first: int, headers: int) -> bool:
    """Whether rows below a blank one go on with the table above: one row, those with a header that is not as wide as
    the others, and names with a value each."""
    return len(rows) < 2 or _last(rows[:headers]) < _last(rows) or _are_fields(rows, first, ())


def _headers(rows: Sequence[tuple[SheetCell, ...]], first: int) -> int:
    """How many rows at the top name columns: one, and those below that go on with it. A row goes on below a merged cell
    or without a cell in the column ``first``; with only one of these, a row that names none must follow."""
    named = [names_columns([(cell.column, cell.text) for cell in row], first) for row in rows[: MOST_HEADERS + 1]]
    count = int(any(named[:1]))
    while 0 < count < min(len(named), MOST_HEADERS) and named[count]:
        merged = any(cell.columns > 1 for cell in rows[count - 1])
        beside = rows[count][0].column > first
        if not (merged and beside) and not ((merged or beside) and named[count + 1 : count + 2] == [False]):
            break
        count += 1
    return count


def names_columns(row: Sequence[tuple[int, str]], first: int = 0) -> bool:
    """Whether a row, given by columns and texts, names columns: one beside the ``first``, and none by a figure."""
    return any(column > first for column, _ in row) and not any(figure(text) for _, text in row)


def read_csv(name: str, data: bytes) -> Workbook:
    """CSV file as one sheet named like the file; places are like ``B12``. Raises `DamagedFile`, `FileTooLarge`."""
    from openpyxl.utils import get_column_letter

    found = decoded(data)
    if found is None:
        raise DamagedFile(f"{name} is no text file.")
    text, code = found
    own = _OWN_DELIMITER.match(text)
    text = text[own.end() :] if own else text
    rows: list[tuple[SheetCell, ...]] = []
    cells = 0
    try:
        delimiter = own[1] if own else _delimiter(name, text)
        for number, values in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), start=1):
            shown = ((column, " ".join(value.split())) for column, value in enumerate(values, start=1))
            rows.append(
                tuple(SheetCell(number, n, said, f"{get_column_letter(n)}{number}") for n, said in shown if said)
            )
            cells += len(rows[-1])
            _check_cells(name, cells)
    except (csv.Error, ValueError) as error:
        raise DamagedFile(f"{name} is damaged at row {len(rows) + 1}: {error}.") from error
    return Workbook((Sheet(PurePath(name).stem, tuple(rows)),), encoding_notes(code))


def _delimiter(name: str, text: str) -> str:
    """Delimiter by which most rows have the same number of columns, more than one. Of several, that which leaves fewer
    quotation marks, a comma only if it isn't that of decimals, and that of more columns."""
    sample = text[:_SAMPLE]
    best, delimiter = (0, 0, False, 0), "\t" if name.lower().endswith((".tsv", ".tab")) else ","
    for each in ",;\t|":
        rows = list(csv.reader(io.StringIO(sample, newline=""), delimiter=each))
        counts = Counter(len(row) for row in rows if len(row) > 1)
        columns = max(counts, key=lambda count: (counts[count], count), default=0)
        marks = sum(value.count('"') for row in rows for value in row)
        found = counts[columns], -marks, each != "," or _NO_DECIMAL.search(sample) is not None, columns
        if columns and found > best:
            best, delimiter = found, each
    return delimiter


def encoding_notes(code: str) -> tuple[str, ...]:
    """Note on an encoding that was guessed."""
    return ("It is not UTF-8, so it was read as Windows-1252.",) if code == "cp1252" else ()


def read_xlsx(
    name: str,
    data: bytes,
    show: Callable[[object, str], str] = displayed,
    *,
    hidden_rows: bool = False,
    no_value: str = NO_VALUE,
) -> Workbook:
    """Visible sheets of an XLSX file, with each value as ``show`` gives it, or ``no_value`` for a formula without one;
    with ``hidden_rows``, hidden rows and columns too. Raises `DamagedFile`, `EncryptedFile`, `FileTooLarge`."""
    try:
        with open_archive(data, name) as archive:
            uncomputed = _check_parts(archive, name)
        return _read_xlsx(data, show, hidden_rows, no_value if uncomputed else "")
    except GroundworkError:
        raise
    except DAMAGED as error:
        raise DamagedFile(f"{name} is damaged, or no Excel file: it can't be opened.") from error


def _read_xlsx(data: bytes, show: Callable[[object, str], str], hidden_rows: bool, no_value: str) -> Workbook:
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(data), data_only=True, keep_links=False)
    formulas = load_workbook(io.BytesIO(data), keep_links=False) if no_value else None
    sheets, left, without = [], {"sheet": 0, "row": 0, "column": 0}, 0
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            left["sheet"] += 1
            continue
        merged = {(area.min_row, area.min_col): area for area in sheet.merged_cells.ranges}
        no_rows, no_columns = (set[int](), set[int]()) if hidden_rows else _hidden(sheet)
        places: dict[int, list[SheetCell]] = {}
        skipped: tuple[set[int], set[int]] = set(), set()
        for (row, column), cell in sorted(sheet._cells.items()):  # iter_rows would make those between them too
            text = show(cell.value, cell.number_format)
            if formulas is not None and cell.value is None and formulas[sheet.title].cell(row, column).data_type == "f":
                text, without = no_value, without + 1
            if text and row in no_rows:
                skipped[0].add(row)
            elif text and column in no_columns:
                skipped[1].add(column)
            elif text:
                area = merged.get((row, column))
                over = (area.max_row - row + 1, area.max_col - column + 1) if area is not None else (1, 1)
                found = SheetCell(row, column, text, f"{sheet.title}!{cell.coordinate}", *over)
                places.setdefault(row, []).append(found)
        left["row"] += len(skipped[0])
        left["column"] += len(skipped[1])
        if places:
            rows: list[tuple[SheetCell, ...]] = []
            for row in sorted(places):
                # One blank row is as good as a thousand; hidden ones are none.
                above = rows[-1][0].row if rows else row - 1
                if any(between not in no_rows for between in range(above + 1, row)):
                    rows.append(())
                rows.append(tuple(places[row]))
            frozen = sheet.freeze_panes
            sheets.append(Sheet(sheet.title, tuple(rows), sheet[frozen].row - 1 if frozen else 0))
    notes = [f"{plural(count, f'hidden {kind}')} left out." for kind, count in left.items() if count]
    if without:
        said = "formula has" if without == 1 else "formulas have"
        notes.append(f"{without} {said} no stored value. Open the file in Excel, save it, and add it again.")
    return Workbook(tuple(sheets), tuple(notes))


def _hidden(sheet: Any) -> tuple[set[int], set[int]]:
    """Hidden rows and columns of a sheet, those with contents or formats."""
    rows = {row for row, size in sheet.row_dimensions.items() if size.hidden or size.height == 0}
    columns: set[int] = set()
    for size in sheet.column_dimensions.values():
        if size.hidden or size.width == 0:
            size.reindex()
            columns.update(range(size.min, min(size.max, 16_384) + 1))
    return rows, columns


def _check_parts(archive: zipfile.ZipFile, name: str) -> bool:
    """Raise `FileTooLarge` for too many cells, or merged cells and links that reach over too many, and `DamagedFile`
    for a document type, which no workbook has and which could expand. Returns whether a formula has no value."""
    from openpyxl.utils import range_boundaries

    cells = reached = xml = 0
    uncomputed = False
    for part in archive.namelist():
        if not part.lower().endswith((".xml", ".rels", ".vml")):
            continue
        xml += archive.getinfo(part).file_size
        if xml > MOST_XML:
            raise FileTooLarge(f"{name} has more than {MOST_XML / 1e6:,.0f} MB of cells and texts.", hint=_COPY)
        text = archive.read(part).replace(b"\0", b"")  # of UTF-16
        if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
            raise DamagedFile(f"{name} is damaged: {part} has a document type.")
        if part.startswith("xl/worksheets/"):
            cells += sum(1 for _ in _CELL.finditer(text))
            _check_cells(name, cells)
            uncomputed = uncomputed or _UNCOMPUTED.search(text) is not None
        for found in _RANGE.finditer(text):
            left, top, right, bottom = (place or 1 for place in range_boundaries(found[1].decode("ascii")))
            reached += (right - left + 1) * (bottom - top + 1)
    if reached > MOST_CELLS:
        raise FileTooLarge(f"{name}: its merged cells and links reach over too many cells.", hint=_COPY)
    return uncomputed


def _check_cells(name: str, cells: int) -> None:
    if cells > MOST_CELLS:
        raise FileTooLarge(f"{name} has more than {MOST_CELLS:,} cells, which is the limit.", hint=_COPY)
