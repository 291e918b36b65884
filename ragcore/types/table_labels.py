"""Table cells of a span, and the row and column headers that label them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ragcore.types import Cell, Document, Element, Table

LABEL_SEPARATOR = " · "
TITLE_SEPARATOR = " — "
GROUP_SEPARATOR = " / "
CELL_SEPARATOR = " | "


@dataclass(frozen=True, slots=True)
class RowLabel:
    """Label of a row: its own ``head`` and the ``group`` above it, "" for none."""

    group: str
    head: str

    @property
    def name(self) -> str:
        return GROUP_SEPARATOR.join(part for part in (self.group, self.head) if part)


def elements_within(document: Document, start: int, end: int) -> Iterator[Element]:
    """Body elements that share at least one character with ``[start, end)``, in text order."""
    body = document.body
    first = bisect_right(body, start, key=lambda element: element.start)
    while first > 0 and body[first - 1].end > start:
        first -= 1
    for place in range(first, len(body)):  # a slice would create all its elements
        element = body[place]
        if element.start >= end:
            return
        if element.end > start:
            yield element


def row_names(text: str) -> Iterator[str]:
    """Names in the text of a table's tile: each row's title, "" without one, and header."""
    for line in text.splitlines():
        title, path, columns = row_parts(line)
        if columns:
            yield title
            yield path.rpartition(GROUP_SEPARATOR)[2]


def row_values(text: str) -> Iterator[str]:
    """Values in the text of a table's tile, without their headers."""
    for line in text.splitlines():
        yield from (cell.rpartition(": ")[2] for cell in line.split(CELL_SEPARATOR)[1:])


def row_parts(line: str) -> tuple[str, str, list[str]]:
    """Title of a row's text, ``Title — Group / Row header | Header: value | …``, "" without one, its header under its
    group, and the header of each cell."""
    first, *cells = line.split(CELL_SEPARATOR)
    title, _, path = first.rpartition(TITLE_SEPARATOR)
    return title, path, [cell.rpartition(": ")[0] for cell in cells]


@dataclass(frozen=True)
class LabelledTable:
    """Table with the headers of its cells."""

    document: Document
    table: Table

    @cached_property
    def _column_headers(self) -> dict[int, list[Cell]]:
        columns: dict[int, list[Cell]] = defaultdict(list)
        for cell in self.table.cells:
            # A header across all columns names the table, not a column.
            names_table = cell.col_span >= self.table.columns > 1
            if cell.header and not names_table:
                for column in range(cell.col, cell.col + cell.col_span):
                    columns[column].append(cell)
        return columns

    @cached_property
    def _row_headers(self) -> dict[int, Cell]:
        rows: dict[int, Cell] = {}
        for cell in sorted(self.table.cells, key=lambda cell: cell.col):
            if not cell.header:
                for row in range(cell.row, cell.row + cell.row_span):
                    rows.setdefault(row, cell)
        # A cell after its own header in its line ("Votes for: 75,612,318") is a value.
        text = self.document.text
        return {row: cell for row, cell in rows.items() if cell.col or text[cell.start - 2 : cell.start] != ": "}

    @cached_property
    def _groups(self) -> dict[int, tuple[int, int]]:
        """Grid row → span of its group heading ("Current assets"), which precedes the row's own cells in its line:
        ``Title — Group / Row header | Header: value``."""
        groups: dict[int, tuple[int, int]] = {}
        text = self.document.text
        for row, (start, end) in zip(self.table.row_numbers, self.table.row_spans):
            first = self._row_headers.get(row)
            stop = (first.start if first is not None else start) - len(GROUP_SEPARATOR)
            if first is None or not start < first.start < end or not text.startswith(GROUP_SEPARATOR, stop):
                continue
            title_end = text.rfind(TITLE_SEPARATOR, start, stop)
            groups[row] = (start if title_end < 0 else title_end + len(TITLE_SEPARATOR), stop)
        return groups

    @cached_property
    def _slots(self) -> dict[tuple[int, int], Cell]:
        return {
            (row, column): cell
            for cell in self.table.cells
            for row in range(cell.row, cell.row + cell.row_span)
            for column in range(cell.col, cell.col + cell.col_span)
        }

    def slots(self, row: int) -> list[Cell | None]:
        """For each column, the cell that covers it in ``row``, or None."""
        return [self._slots.get((row, column)) for column in range(self.table.columns)]

    def group_name(self, row: int) -> str:
        """Group heading above ``row`` ("Current assets"), "" for none."""
        group = self._groups.get(row)
        return "" if group is None else " ".join(self.document.text[slice(*group)].split())

    def cells(self, start: int, end: int) -> list[Cell]:
        """Cells whose own words lie wholly in ``[start, end)``, in text order."""
        inside = (cell for cell in self.table.cells if start <= cell.start < cell.end <= end)
        return sorted(inside, key=lambda cell: cell.start)

    def heads(self, cell: Cell) -> tuple[Cell, ...]:
        """Row header of ``cell`` (unless it is the cell itself), then its column headers, outermost first."""
        if cell.header:
            return ()
        row = self._row_headers.get(cell.row)
        columns = {
            (head.start, head.end): head
            for column in range(cell.col, cell.col + cell.col_span)
            for head in self._column_headers.get(column, ())
            if head.row < cell.row
        }
        ordered = sorted(columns.values(), key=lambda head: (head.row, head.col))
        is_row_header = row is not None and row.col == cell.col
        return (*(() if row is None or is_row_header else (row,)), *ordered)

    def label(self, cell: Cell) -> str:
        """Label ``group / row header · column header(s)``; "" for a header cell and for the row header itself."""
        row = self._row_headers.get(cell.row)
        if cell.header or (row is not None and row.col == cell.col):
            return ""
        name = self.row_label(cell).name
        columns = _path(text for head in self.heads(cell) if head.header and (text := self.text(head)) != name)
        return LABEL_SEPARATOR.join(part for part in (name, columns) if part)

    def row_label(self, cell: Cell) -> RowLabel:
        """Label of the row of ``cell``; a row without its own header is named by its group."""
        row = self._row_headers.get(cell.row)
        group, head = self.group_name(cell.row), "" if row is None else self.text(row)
        return RowLabel(group, head) if head else RowLabel("", group)

    def head_spans(self, cell: Cell) -> list[tuple[int, int]]:
        """Spans of all headings of ``cell``: group, row header, column headers."""
        group = self._groups.get(cell.row)
        return [*([] if group is None or cell.header else [group]), *((h.start, h.end) for h in self.heads(cell))]

    def text(self, cell: Cell) -> str:
        """Text of the cell without its footnote marks."""
        return " ".join(self.document.text[cell.start : cell.value_end].split())

    def column_labels(self) -> list[str]:
        """Header of each column, outermost first, "" for none."""
        return [
            " ".join(dict.fromkeys(self.text(head) for head in self._column_headers.get(column, ())))
            for column in range(self.table.columns)
        ]


def _path(levels: Iterable[str]) -> str:
    """Distinct header ``levels``, outermost first; a level that ends in a comma is joined to the next."""
    path = LABEL_SEPARATOR.join(dict.fromkeys(levels))
    return path.replace(f",{LABEL_SEPARATOR}", ", ")
