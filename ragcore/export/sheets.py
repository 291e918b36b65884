"""Table export: a workbook with a sheet per table, or CSV.

A workbook has unambiguous numbers as numbers, shown as printed; if the number alone loses something printed (a footnote
mark), a note on the cell has it. Merged cells stay merged; headers are styled and frozen. The first sheet lists the
tables with their pages. CSV has the text as printed, with an apostrophe before anything that a spreadsheet would take
for a formula (OWASP, CSV injection).

``1,234`` is over a thousand in one document and a little over one in another. Numbers with only one reading (``12.5``,
``1,234,567``) in the table, else in the document, decide whether comma or point separates thousands; if they decide
nothing, or conflict, a number that depends on it stays text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, get_args

from ragcore.errors import InputError
from ragcore.export.characters import clean, one_line, shortened
from ragcore.text.numbers import plural

if TYPE_CHECKING:
    from ragcore.types import Cell, Document, Element

SheetKind = Literal["xlsx", "csv"]
SHEET_KINDS: tuple[SheetKind, ...] = get_args(SheetKind)
NAME_LENGTH = 31  # maximum characters of a workbook's sheet name
WIDEST = 60  # characters of a column's width
LONGEST = 32_767  # maximum characters of a workbook's cell
LINE_HEIGHT, TALLEST = 15, 409  # points of a line of text, and most of a row
DIGITS = 15  # significant ones of a spreadsheet's number
_NOT_IN_NAMES = re.compile(r"[\\/*?:\[\]]+")
_FORMULA = re.compile(r"[=+\-@\t\r＝＋－＠]")
_DASHES = re.compile(r"[-–—−]+")

Marks = Literal["point", "comma"]  # decimal marks
_MARKS: dict[Marks, dict[int, int]] = {"point": {}, "comma": str.maketrans(".,", ",.")}
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)['’ \u00a0\u202f](?=\d{3}(?!\d))")
_BLANK = re.compile(r"(?<!\d)\s+|\s+(?!\d)")  # not between digits
_CURRENCY = re.compile(r"(?:US|C|A|HK)?\$|[€£¥]")
# Sign, digits before and after the point, end. No "3.2.1" is a number, and 007 is a name.
_NUMBER = re.compile(r"([(+\-−–]?)([1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*|0|(?=\.))(?:\.(\d+))?(\)?%?|%\))")


@dataclass(frozen=True, slots=True)
class Figure:
    """Number of a cell. ``value`` is its amount (12% is 0.12); ``format`` shows it in a spreadsheet as printed:
    currency, thousands, decimals, percent, brackets for negatives."""

    value: float | int
    format: str
    bare: bool = False  # only digits in brackets


@dataclass(frozen=True, slots=True)
class SheetCell:
    """Cell with its ``text`` as printed and, if it has one, its number."""

    place: Cell
    text: str
    value: Figure | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """Table to export. ``number`` counts the document's tables from 1; ``heads`` is the number of header rows;
    ``place`` is its printed page, ``p. 12`` or ``pp. 12–13``."""

    number: int
    title: str
    place: str
    document: str
    rows: int
    columns: int
    heads: int
    cells: tuple[SheetCell, ...]


def sheets(document: Document, number: int | None = None) -> list[Sheet]:
    """Tables of a document in text order, without noise, or only the one ``number``. Raises `InputError` if there is
    none."""
    found = tables_of(document)
    if not found:
        raise InputError(f"{document.title} has no tables.", hint="Choose a document that has tables.")
    if number is not None and not 1 <= number <= len(found):
        raise InputError(f"{document.title} has {plural(len(found), 'table')}.", hint="Give the number of one of them.")
    values = [[_value(document, cell) for cell in element.table.cells] for element in found if element.table]
    anywhere = marks_of(value for of_table in values for value in of_table)
    chosen = enumerate(found, start=1) if number is None else [(number, found[number - 1])]
    return [_sheet(document, element, n, marks_of(values[n - 1]) or anywhere) for n, element in chosen]


def tables_of(document: Document) -> list[Element]:
    """Elements with a table that are not noise, in text order."""
    return [element for element in document.elements if element.table is not None and element.noise is None]


def place(document: Document, element: Element) -> str:
    """Printed page labels of an element: ``p. 12``, ``pp. 12–13``."""
    pages = sorted(document.element_pages(element)) or [element.page]
    labels = [document.pages[page - 1].label for page in pages]
    return f"p. {labels[0]}" if len(labels) == 1 else f"pp. {labels[0]}–{labels[-1]}"


def _sheet(document: Document, element: Element, number: int, marks: Marks | None) -> Sheet:
    table = element.table
    assert table is not None
    values = {cell: figure(_value(document, cell), marks) for cell in table.cells if not cell.header}
    # "(1)" below other numbers is minus one; in a column without others it may be a note's number.
    counted = {cell.col for cell, value in values.items() if value is not None and not value.bare}
    headers = {cell.row for cell in table.cells if cell.header}
    return Sheet(
        number=number,
        title=one_line(table.title),
        place=place(document, element),
        document=one_line(document.title),
        rows=table.rows,
        columns=table.columns,
        heads=next((row for row in range(table.rows) if row not in headers), table.rows),
        cells=tuple(
            SheetCell(
                place=cell,
                text=one_line(document.text[cell.start : cell.end]),
                value=None if value is None or (value.bare and cell.col not in counted) else value,
            )
            for cell, value in ((cell, values.get(cell)) for cell in table.cells)
        ),
    )


def _value(document: Document, cell: Cell) -> str:
    """Text of a cell without footnote marks."""
    return one_line(document.text[cell.start : cell.value_end])


def marks_of(texts: Iterable[str]) -> Marks | None:
    """Decimal mark of the numbers with only one reading; None without such numbers, or if they differ."""
    found = {mark for readings in map(_readings, texts) if len(readings) == 1 for mark in readings}
    return found.pop() if len(found) == 1 else None


def figure(text: str, marks: Marks | None) -> Figure | None:
    """Number in ``text``; None if it is, or may be, something else. One in brackets is negative; the caller doubts a
    `Figure.bare` one in a column without other numbers, since it may be a note's number."""
    found = {reading for mark, reading in _readings(text).items() if marks in (None, mark)}
    return found.pop() if len(found) == 1 else None


def _readings(text: str) -> dict[Marks, Figure]:
    """Numbers that ``text`` may be, by decimal mark."""
    readings = {mark: _read(text.translate(swapped)) for mark, swapped in _MARKS.items()}
    return {mark: reading for mark, reading in readings.items() if reading is not None}


def _read(text: str) -> Figure | None:
    """Number that ``text`` is if its decimal mark is a point."""
    money = _CURRENCY.search(text)
    digits = _BLANK.sub("", _CURRENCY.sub("", text, count=1))
    match = _NUMBER.fullmatch(digits if "," in digits else _BETWEEN_THOUSANDS.sub(",", digits))
    if match is None:
        return None
    sign, whole, decimals, end = match.groups("")
    brackets, percent = sign == "(", "%" in end
    if brackets != (")" in end) or (money and percent) or len(whole.replace(",", "") + decimals) > DIGITS:
        return None
    value = float(f"{whole}.{decimals}".replace(",", "")) if decimals else int(whole.replace(",", ""))
    if sign not in ("", "+"):
        value = -value
    if percent:
        value = round(value / 100, len(decimals) + 2)
    shown = ("#,##0" if "," in whole else "0") + (f".{'0' * len(decimals)}" if decimals else "") + "%" * percent
    if money:
        before = not any(character.isdigit() for character in text[: money.start()])
        shown = f'"{money[0]}"{shown}' if before else f'{shown}" {money[0]}"'
    bare = digits.strip("()").isdecimal() and brackets and not money
    return Figure(value, f"{shown};({shown})" if brackets else shown, bare)


def write(given: Sequence[Sheet], kind: SheetKind) -> bytes:
    """One file with all of ``given``."""
    return _xlsx(given) if kind == "xlsx" else _csv(given)


def _csv(given: Sequence[Sheet]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    for sheet in given:
        if len(given) > 1:
            writer.writerow([safe(f"Table {sheet.number}, {sheet.place}: {sheet.title}".rstrip(": "))])
        grid = [[""] * sheet.columns for _ in range(sheet.rows)]
        for cell in sheet.cells:
            grid[cell.place.row][cell.place.col] = safe(cell.text)
        writer.writerows(grid)
        if len(given) > 1:
            writer.writerow([])
    return out.getvalue().encode("utf-8-sig")  # without a byte order mark, Excel assumes another encoding


def safe(text: str) -> str:
    """``text``, with an apostrophe before it if a spreadsheet would compute it; not for a number or a dash."""
    harmless = not _FORMULA.match(text) or _DASHES.fullmatch(text) or _readings(text)
    return text if harmless else f"'{text}"


def unsafe(text: str) -> str:
    """Inverse of `safe`."""
    return text[1:] if text.startswith("'") and safe(text[1:]) == text else text


def _xlsx(given: Sequence[Sheet]) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    contents = book.active
    for sheet in given:
        name = " ".join(_NOT_IN_NAMES.sub(" ", f"{sheet.number} {sheet.title}").split())
        _fill(book.create_sheet(name[:NAME_LENGTH].strip(" '")), sheet)
    _list(contents, given, book.sheetnames[1:])
    if len(given) == 1:
        book.active = 1
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _list(contents: Any, given: Sequence[Sheet], names: Sequence[str]) -> None:
    """Fill the sheet that lists the others: number, title (a link to its sheet), page, size."""
    from openpyxl.styles import Font
    from openpyxl.worksheet.hyperlink import Hyperlink

    contents.title = "Contents"
    put(contents["A1"], given[0].document).font = Font(bold=True)
    heads = {"Table": 8, "Title": WIDEST, "Page": 12, "Rows": 8, "Columns": 9}
    for cell, (head, width) in zip(contents["A3:E3"][0], heads.items()):
        put(cell, head).font = Font(bold=True)
        contents.column_dimensions[cell.column_letter].width = width
    for sheet, name in zip(given, names):
        contents.append([sheet.number, None, None, sheet.rows, sheet.columns])
        _, link, page, *_ = contents[contents.max_row]
        put(link, sheet.title or f"Table {sheet.number}")
        link.hyperlink = Hyperlink(ref=link.coordinate, location="'" + name.replace("'", "''") + "'!A1")
        link.style = "Hyperlink"
        put(page, sheet.place)


def _fill(page: Any, sheet: Sheet) -> None:
    from openpyxl.cell import Cell
    from openpyxl.comments import Comment
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter

    bold, shade = Font(bold=True), PatternFill("solid", fgColor="F0F0EC")
    widths = [6] * sheet.columns
    for each in sheet.cells:
        at, top = each.place, each.place.row < sheet.heads
        cell = page.cell(at.row + 1, at.col + 1)
        if each.value is None:
            put(cell, clean(each.text))
        else:
            cell.value, cell.number_format = each.value.value, each.value.format
            if at.mark is not None:
                cell.comment = Comment(f"Printed: {each.text}", "Groundwork")
        if at.header:
            cell.font, cell.fill = bold, shade
        centred = "center" if top and at.col_span > 1 else None
        cell.alignment = Alignment(horizontal=centred, vertical="bottom" if top else "top", wrap_text=True)
        if at.col_span == 1:
            widths[at.col] = max(widths[at.col], min(len(each.text) + 2, WIDEST))
    for at in (each.place for each in sheet.cells):
        area = page.iter_rows(at.row + 1, at.row + at.row_span, at.col + 1, at.col + at.col_span)
        others = [cell for row in area for cell in row][1:]
        if others and all(isinstance(cell, Cell) and cell.value is None for cell in others):
            ends = at.row + at.row_span, at.col + at.col_span
            page.merge_cells(start_row=at.row + 1, start_column=at.col + 1, end_row=ends[0], end_column=ends[1])
    for column, width in enumerate(widths, start=1):
        page.column_dimensions[get_column_letter(column)].width = width
    if 0 < sheet.heads < sheet.rows:
        page.freeze_panes = page.cell(sheet.heads + 1, 1)


def fit_rows(page: Any) -> None:
    """Give each row of a sheet the height of its text with most lines, which LibreOffice does not find by itself."""
    for row in page.iter_rows():
        cells = ((str(cell.value or ""), page.column_dimensions[cell.column_letter].width - 2) for cell in row)
        lines = max(sum(max(1, ceil(len(line) / width)) for line in text.split("\n")) for text, width in cells)
        if lines > 1:
            page.row_dimensions[row[0].row].height = min(LINE_HEIGHT * lines, TALLEST)


def put(cell: Any, text: str) -> Any:
    """Write ``text`` into a cell as text, whatever its first character, even after editing there; long text is cut."""
    cell.value = shortened(text, LONGEST)
    cell.data_type = "s"
    cell.quotePrefix = bool(_FORMULA.match(text))
    return cell
