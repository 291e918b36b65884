"""Columns: two printed ones in one column of the grid, and one over two."""

from __future__ import annotations

from dataclasses import replace

from ragcore.config import Settings
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from tests.ingest.test_table_rules import WIDTH, page_with_table, read

ROWS = [
    ["", "2022", "2021"],
    ["Proceeds", "23,230", "7,788"],
    ["Payments", "18,906", "18,008"],
    ["Dividends", "1,565", "1,448"],
]


def without_column(page: PageLayout, col: int) -> PageLayout:
    """``page`` with column ``col`` of its grid taken for a part of the one before."""
    (region,) = page.regions
    assert region.grid is not None
    cells = []
    for cell in region.grid.cells:
        if cell.col == col - 1:
            x0, y0, x1, y1 = cell.box
            cells.append(replace(cell, box=(x0, y0, x1 + WIDTH, y1)))
        elif cell.col != col:
            cells.append(replace(cell, col=cell.col - (cell.col > col)))
    grid = replace(region.grid, columns=region.grid.columns - 1, cells=tuple(cells))
    return replace(page, regions=(replace(region, grid=grid),))


def rows_of(settings: Settings, page: PageLayout) -> list[str]:
    document = build_document("d" * 16, "0" * 64, "t.pdf", FileInfo(pages=1), [page], settings)
    (table,) = [e.table for e in document.elements if e.table is not None]
    return [document.text[start:end] for start, end in table.row_spans]


def test_a_gap_through_all_cells_divides_a_column(settings: Settings) -> None:
    whole = rows_of(settings, page_with_table(ROWS, 1))
    assert whole[0] == "Proceeds | 2022: 23,230 | 2021: 7,788"
    assert rows_of(settings, without_column(page_with_table(ROWS, 1), 1)) == whole
    assert rows_of(settings, without_column(page_with_table(ROWS, 1), 2)) == whole


def test_words_of_a_text_are_no_columns(settings: Settings) -> None:
    rows = [["Region", "Remark"], ["North", "closed in May"], ["South", "open all year"], ["West", "sold to a farm"]]
    _document, table, _lines = read(settings, rows, 1)
    assert table.columns == 2


def test_a_column_with_a_header_only_belongs_to_the_one_beside_it(settings: Settings) -> None:
    rows = [["Item", "Pct of", "all", "Total"], ["a", "52%", "", "4"], ["b", "28%", "", "5"], ["c", "11%", "", "6"]]
    page = page_with_table(rows, 1)
    boxes = page.boxes.copy()
    place = page.texts.index("all")
    boxes[place, [0, 2]] -= boxes[place, 0] - boxes[place - 1, 2] - 12
    (region,) = page.regions
    assert region.grid is not None
    edge = float(boxes[place, 0]) - 4
    cells = [
        replace(c, box=(edge if c.col == 2 else c.box[0], c.box[1], edge if c.col == 1 else c.box[2], c.box[3]))
        for c in region.grid.cells
    ]
    grid = replace(region.grid, cells=tuple(cells))
    page = replace(page, boxes=boxes, regions=(replace(region, grid=grid),))
    assert rows_of(settings, page)[0] == "a | Pct of all: 52% | Total: 4"
