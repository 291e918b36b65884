"""Table text: a table written into the canonical text, header rows once, then a line per body row.

Rows read ``Title — Group / Row header | Header: value | Header: value``. A cell's own words are printed once and carry
its span; titles, headers and groups repeated in a row are mapped, as repeated words, to their printed places, without
their footnote marks. A cell over several columns is written with the headers that they share, or with all their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

from ragcore.ingest.canonical import CanonicalText, Line, first_words, plain
from ragcore.ingest.tables.cells import tail
from ragcore.ingest.tables.draft import Draft, DraftCell, is_number
from ragcore.ingest.tables.headers import groups, header_levels
from ragcore.types import Cell, Table


def write_table(text: CanonicalText, draft: Draft) -> Table:
    """Append the table to ``text``."""
    heading = list(draft.title)
    inner_title, levels = header_levels(draft)
    for cell in inner_title:
        if cell.text not in plain(heading):
            heading += cell.lines
    written: dict[DraftCell, Cell] = {}
    breaks = chain([""], repeat("\n"))
    for row in range(draft.header_rows):
        for place, cell in enumerate(draft.row(row)):
            text.separate(" | " if place else next(breaks))
            written[cell] = _write_cell(text, cell)

    row_spans: list[tuple[int, int]] = []
    row_numbers: list[int] = []
    above, body = groups(draft), draft.body()
    unnamed = _is_row_of_amounts(draft)
    for row in range(draft.header_rows, draft.rows):
        row_cells = sorted(body.get(row, ()), key=lambda c: c.col)
        if not any(c.row == row for c in row_cells):
            continue
        text.separate(next(breaks))
        start = len(text)
        if heading:
            text.lines(heading, repeated=True)
            text.separate(" — ")
        for group in above[row]:
            _repeat(text, group)
            text.separate(" / ")
        for place, cell in enumerate(row_cells):
            if place:
                text.separate(" | ")
            if place or cell.col > 0 or unnamed:
                _write_headers(text, _paths([levels[col] for col in cell.columns]))
            if cell.row == row:
                written[cell] = _write_cell(text, cell)
            else:
                _repeat(text, cell)
        row_spans.append((start, len(text)))
        row_numbers.append(row)
    cells = tuple(written[cell] for cell in draft.cells if cell in written)
    return Table(plain(heading), draft.rows, draft.columns, cells, tuple(row_spans), tuple(row_numbers))


def _is_row_of_amounts(draft: Draft) -> bool:
    """Whether the only row of the body has no label: it begins with an amount (``75,612,318`` under "Votes for")."""
    cells = draft.row(draft.header_rows) if draft.rows == draft.header_rows + 1 > 1 else []
    return all(is_number(c.value) for c in cells) and any(sign in c.value for c in cells[:1] for sign in ",$€£¥%")


def _write_cell(text: CanonicalText, cell: DraftCell) -> Cell:
    """Append a cell's words, its marks separated by a blank."""
    start, end = text.lines(_value(cell))
    value_end = end
    if cell.marks:
        text.separate(" ")
        end = text.lines([tuple(cell.words[-cell.marks :])])[1]
    else:
        value_end -= tail(cell.words[-1])
    mark = (value_end, end) if value_end < end else None
    return Cell(cell.row, cell.col, cell.row_span, cell.col_span, start, end, cell.header, mark, cell.place)


def _value(cell: DraftCell) -> list[Line]:
    """Cell's lines without its marks."""
    return first_words(cell.lines, len(cell.words) - cell.marks)


def _repeat(text: CanonicalText, cell: DraftCell) -> None:
    text.lines(_value(cell), repeated=True)


def _paths(levels: Sequence[Sequence[DraftCell]]) -> list[list[DraftCell]]:
    """Header paths of a cell: the headers shared by all its columns, else the path of each column."""
    if len(levels) == 1:
        return [list(levels[0])] if levels[0] else []
    common = [header for header in levels[0] if all(header in above for above in levels)]
    if common:
        return [common]
    named: dict[tuple[str, ...], list[DraftCell]] = {}
    for above in levels:
        if above:
            named.setdefault(tuple(header.text for header in above), list(above))
    return list(named.values())


def _write_headers(text: CanonicalText, paths: Sequence[Sequence[DraftCell]]) -> None:
    for number, above in enumerate(paths):
        if number:
            text.separate(", ")
        for place, header in enumerate(above):
            if place:
                # "January 28," over "2023" and "2022" continues in them.
                text.separate(" " if above[place - 1].text.endswith(",") else " / ")
            _repeat(text, header)
    if paths:
        text.separate(": ")
