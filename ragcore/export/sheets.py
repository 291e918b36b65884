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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, get_args

from ragcore.errors import InputError
from ragcore.export.characters import clean, one_line, shortened

if TYPE_CHECKING:
    from ragcore.types import Cell, Document, Element

SheetKind = Literal["xlsx", "csv"]
SHEET_KINDS: tuple[SheetKind, ...] = get_args(SheetKind)
SHEET_TYPES: dict[SheetKind, str] = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "csv": "text/csv; charset=utf-8",
}
NAME_LENGTH = 31  # maximum characters of a workbook's sheet name
WIDEST = 60  # characters of a column's width
LONGEST = 32_767  # maximum characters of a workbook's cell
_NOT_IN_NAMES = re.compile(r"[\\/*?:\[\]]+")
_FORMULA = re.compile(r"[=+\-@\t\r＝＋－＠]")
_DASHES = re.compile(r"[-–—−]+")

Marks = Literal["point", "comma"]  # decimal marks
DIGITS = 15  # significant ones of a spreadsheet's number
_MINUS = "-−–"
_MONEY = r"(?:US|C|A|HK)?\$|€|£|¥"
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[{_MINUS}+])?\s*(?P<before>{_MONEY})?\s*(?P<inner>\()?(?P<sign2>[{_MINUS}+])?\s*"
    rf"(?P<digits>\d[\d.,'’  ]*\d|\d|[.,]\d+)\s*(?P<after>{_MONEY})?\s*(?P<close>\))?\s*(?P<percent>%)?\s*(?P<last>\))?"
)
# Digits with either decimal mark: no "3.2.1" is a number, and 007 is a name.
_READINGS: dict[Marks, re.Pattern[str]] = {
    "point": re.compile(r"(?:([1-9]\d{0,2}(?:([,'’  ])\d{3})(?:\2\d{3})*)|(0|[1-9]\d*)?)(?:\.(\d+))?"),
    "comma": re.compile(r"(?:([1-9]\d{0,2}(?:([.'’  ])\d{3})(?:\2\d{3})*)|(0|[1-9]\d*)?)(?:,(\d+))?"),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """Number of a cell. ``value`` is its amount (12% is 0.12); ``format`` shows it in a spreadsheet as printed:
    currency, thousands, decimals, percent, brackets for negatives."""

    value: float | int
    format: str
    bare: bool = False  # only digits in brackets


@dataclass(frozen=True, slots=True)
class SheetCell:
    """Cell at ``row`` and ``col`` (from 0) with its row and column spans; ``text`` as printed, ``value`` its number if
    it has one."""

    row: int
    col: int
    row_span: int
    col_span: int
    text: str
    header: bool
    value: Figure | None = None
    noted: bool = False  # the number alone loses something printed


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


def sheet_kind(name: str) -> SheetKind:
    """Kind by name. Raises `InputError` for an unknown one."""
    found = next((each for each in SHEET_KINDS if each == name.lower()), None)
    if found is None:
        raise InputError(f"Tables can't be exported to “{name}”.", hint=f"Choose one of {', '.join(SHEET_KINDS)}.")
    return found


def sheets(document: Document, number: int | None = None) -> list[Sheet]:
    """Tables of a document in text order, without noise, or only the one ``number``. Raises `InputError` if there is
    none."""
    found = tables_of(document)
    if not found:
        raise InputError(f"{document.title} has no tables.", hint="Choose a document that has tables.")
    if number is not None and not 1 <= number <= len(found):
        has = "1 table" if len(found) == 1 else f"{len(found)} tables"
        raise InputError(f"{document.title} has {has}.", hint="Give the number of one of them.")
    texts = [[_text(document, cell) for cell in element.table.cells] for element in found if element.table]
    anywhere = marks_of(text for of_table in texts for text in of_table)
    chosen = enumerate(found, start=1) if number is None else [(number, found[number - 1])]
    return [_sheet(document, element, n, marks_of(texts[n - 1]) or anywhere) for n, element in chosen]


def tables_of(document: Document) -> list[Element]:
    """Elements with a table that are not noise, in text order."""
    return [element for element in document.elements if element.table is not None and element.noise is None]


def place(document: Document, element: Element) -> str:
    """Printed page labels of an element: ``p. 12``, ``pp. 12–13``."""
    pages = sorted(document.element_pages(element)) or [element.page]
    labels = [document.pages[page - 1].label for page in pages]
    return f"p. {labels[0]}" if len(labels) == 1 else f"pp. {labels[0]}–{labels[-1]}"


def write(given: Sequence[Sheet], kind: SheetKind) -> bytes:
    """One file with all of ``given``."""
    return _xlsx(given) if kind == "xlsx" else _csv(given)


def _sheet(document: Document, element: Element, number: int, marks: Marks | None) -> Sheet:
    table = element.table
    assert table is not None
    read = [(cell, None if cell.header else figure(_text(document, cell), marks)) for cell in table.cells]
    # "(1)" below other numbers is minus one; in a column without others it may be a note's number.
    counted = {cell.col for cell, found in read if found is not None and not found.bare}
    cells = tuple(
        SheetCell(
            row=cell.row,
            col=cell.col,
            row_span=cell.row_span,
            col_span=cell.col_span,
            text=one_line(document.text[cell.start : cell.end]),
            header=cell.header,
            value=found if found is not None and (not found.bare or cell.col in counted) else None,
            noted=cell.mark is not None,
        )
        for cell, found in read
    )
    headers = {cell.row for cell in cells if cell.header}
    heads = next((row for row in range(table.rows) if row not in headers), table.rows)
    title = one_line(table.title)
    return Sheet(
        number, title, place(document, element), one_line(document.title), table.rows, table.columns, heads, cells
    )


def _text(document: Document, cell: Cell) -> str:
    """Text of a cell without footnote marks."""
    return one_line(document.text[cell.start : cell.value_end])


def marks_of(texts: Iterable[str]) -> Marks | None:
    """Decimal mark of the numbers with only one reading; None without such numbers, or if they differ."""
    read = (_read(match["digits"]) for match in map(_NUMBER.fullmatch, map(str.strip, texts)) if match)
    found = {mark for readings in read if len(readings) == 1 for mark in readings}
    return found.pop() if len(found) == 1 else None


def _read(digits: str) -> dict[Marks, tuple[str, bool, str]]:
    """Possible readings: the digits before the decimal mark, whether thousands are separated, and those after it."""
    matches = {mark: pattern.fullmatch(digits) for mark, pattern in _READINGS.items()}
    return {
        mark: (re.sub(r"\D", "", match[1] or match[3] or "0"), bool(match[1]), match[4] or "")
        for mark, match in matches.items()
        if match
    }


def figure(text: str, marks: Marks | None) -> Figure | None:
    """Number in ``text``; None if it is, or may be, something else. One in brackets is negative; the caller doubts a
    `Figure.bare` one in a column without other numbers, since it may be a note's number."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    brackets = bool(match["open"] or match["inner"])
    signs = [sign for sign in (match["sign"], match["sign2"]) if sign]
    money, percent = match["before"] or match["after"], bool(match["percent"])
    if bool(match["close"]) + bool(match["last"]) != int(brackets) or (match["open"] and match["inner"]):
        return None
    if len(signs) + brackets > 1 or (money and (percent or (match["before"] and match["after"]))):
        return None
    found = {reading for mark, reading in _read(match["digits"]).items() if marks in (None, mark)}
    if len(found) != 1:
        return None
    [(whole, grouped, decimals)] = found
    if len(whole) + len(decimals) > DIGITS:
        return None
    value: float | int = float(f"{whole}.{decimals}") if decimals else int(whole)
    if brackets or (signs and signs[0] in _MINUS):
        value = -value
    if percent:
        value = round(value / 100, len(decimals) + 2)
    shown = ("#,##0" if grouped else "0") + (f".{'0' * len(decimals)}" if decimals else "") + "%" * percent
    if money:
        shown = f'"{money}"{shown}' if match["before"] else f'{shown}" {money}"'
    bare = brackets and not (money or decimals or grouped or percent)
    return Figure(value, f"{shown};({shown})" if brackets else shown, bare)


def _csv(given: Sequence[Sheet]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    for sheet in given:
        if len(given) > 1:
            writer.writerow([_safe(f"Table {sheet.number}, {sheet.place}: {sheet.title}".rstrip(": "))])
        grid = [[""] * sheet.columns for _ in range(sheet.rows)]
        for cell in _placed(sheet):
            grid[cell.row][cell.col] = _safe(cell.text)
        writer.writerows(grid)
        if len(given) > 1:
            writer.writerow([])
    return out.getvalue().encode("utf-8-sig")  # without a byte order mark, Excel assumes another encoding


def _placed(sheet: Sheet) -> list[SheetCell]:
    """Cells of a table, one per position: overlapping texts are joined, so that none is lost, and a spanning cell keeps
    only its first position."""
    at: dict[tuple[int, int], SheetCell] = {}
    for cell in sheet.cells:
        place, text = (cell.row, cell.col), clean(cell.text)
        before = at.get(place)
        both = before is not None and before.text and text
        if before is None or (not before.text and text):
            at[place] = replace(cell, text=text)
        elif both:
            at[place] = replace(before, text=f"{before.text} {text}", value=None)
    covered = Counter(place for cell in at.values() for place in _covers(cell))
    return [
        cell if all(covered[place] == 1 for place in _covers(cell)) else replace(cell, row_span=1, col_span=1)
        for cell in at.values()
    ]


def _covers(cell: SheetCell) -> Iterator[tuple[int, int]]:
    return product(range(cell.row, cell.row + cell.row_span), range(cell.col, cell.col + cell.col_span))


def _safe(text: str) -> str:
    """``text``, with an apostrophe before it if a spreadsheet would compute it; not for a number or a dash."""
    harmless = not _FORMULA.match(text) or _DASHES.fullmatch(text) or figure(text, "point") or figure(text, "comma")
    return text if harmless else f"'{text}"


def _xlsx(given: Sequence[Sheet]) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    contents = book.active
    names = _names(given)
    for sheet, name in zip(given, names):
        _fill(book.create_sheet(name), sheet)
    _list(contents, given, names)
    if len(given) == 1:
        book.active = 1
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _names(given: Sequence[Sheet]) -> list[str]:
    """Unique sheet names, each beginning with its number."""
    titles = (" ".join(_NOT_IN_NAMES.sub(" ", f"{sheet.number} {sheet.title}").split()) for sheet in given)
    return [title[:NAME_LENGTH].strip(" '") for title in titles]


def _list(contents: Any, given: Sequence[Sheet], names: Sequence[str]) -> None:
    """Fill the sheet that lists the others: number, title (a link to its sheet), page, size."""
    from openpyxl.styles import Font
    from openpyxl.worksheet.hyperlink import Hyperlink

    contents.title = "Contents"
    _put(contents.cell(1, 1), given[0].document).font = Font(bold=True)
    for column, (head, width) in enumerate(
        (("Table", 8), ("Title", WIDEST), ("Page", 12), ("Rows", 8), ("Columns", 9))
    ):
        _put(contents.cell(3, column + 1), head).font = Font(bold=True)
        contents.column_dimensions[_letter(column)].width = width
    for row, (sheet, name) in enumerate(zip(given, names), start=4):
        contents.cell(row, 1, sheet.number)
        link = _put(contents.cell(row, 2), sheet.title or f"Table {sheet.number}")
        link.hyperlink = Hyperlink(ref=link.coordinate, location="'" + name.replace("'", "''") + "'!A1")
        link.style = "Hyperlink"
        _put(contents.cell(row, 3), sheet.place)
        contents.cell(row, 4, sheet.rows)
        contents.cell(row, 5, sheet.columns)


def _fill(page: Any, sheet: Sheet) -> None:
    from openpyxl.comments import Comment
    from openpyxl.styles import Alignment, Font, PatternFill

    bold, shade = Font(bold=True), PatternFill("solid", fgColor="F0F0EC")
    widths = [6] * sheet.columns
    for item in _placed(sheet):
        cell = page.cell(item.row + 1, item.col + 1)
        if item.value is not None:
            cell.value = item.value.value
            cell.number_format = item.value.format
            if item.noted:
                cell.comment = Comment(f"Printed: {item.text}", "Groundwork")
        elif item.text:
            _put(cell, item.text)
        if item.header:
            cell.font, cell.fill = bold, shade
        top = item.row < sheet.heads
        cell.alignment = Alignment(
            wrap_text=True,
            vertical="bottom" if top else "top",
            horizontal="center" if top and item.col_span > 1 else None,
        )
        if item.col_span == 1:
            widths[item.col] = max(widths[item.col], min(len(item.text) + 2, WIDEST))
        if item.row_span > 1 or item.col_span > 1:
            page.merge_cells(
                start_row=item.row + 1,
                start_column=item.col + 1,
                end_row=item.row + item.row_span,
                end_column=item.col + item.col_span,
            )
    for column, width in enumerate(widths):
        page.column_dimensions[_letter(column)].width = width
    if 0 < sheet.heads < sheet.rows:
        page.freeze_panes = page.cell(sheet.heads + 1, 1)


def _put(cell: Any, text: str) -> Any:
    """Write ``text`` into a cell as text, whatever its first character, even after editing there; long text is cut."""
    cell.value = shortened(text, LONGEST)
    cell.data_type = "s"
    cell.quotePrefix = bool(_FORMULA.match(text))
    return cell


def _letter(column: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(column + 1))
