"""Columns: two printed ones in one column of the grid, and one over two."""

from __future__ import annotations

from dataclasses import replace

from ragcore.config.settings import Settings
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from tests.ingest.test_table_rules import HEIGHT, WIDTH, page_with_table, read

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


def shares(sums: list[tuple[str, str]]) -> PageLayout:
    """A table whose last two columns stand 6 points apart: each line of the first ends, each of the second begins
    there, and the grid has one column for both."""
    rows = [["Item", "Amount", "Value"], *([f"Row {place}", a, b] for place, (a, b) in enumerate(sums))]
    page = page_with_table(rows, 1)
    boxes = page.boxes.copy()
    for line in set(page.lines.tolist()):
        words = page.lines == line
        left = boxes[words, 0].min()
        if left == 50 + WIDTH:
            boxes[words, ::2] += 287 - boxes[words, 2].max()
        elif left == 50 + 2 * WIDTH:
            boxes[words, ::2] += 3 + 9 * (boxes[words, 1].min() < 50 + HEIGHT)
    return without_column(replace(page, boxes=boxes), 2)


SPARSE = [("$ 3", "$ 8,299"), ("", "954"), ("", "(28)"), ("", "129"), ("$ 3", "$ 9,965"), ("7", ""), ("", "611")]


def test_two_sums_once_or_beside_words_divide_nothing(settings: Settings) -> None:
    once = [*SPARSE[:4], ("", "12"), *SPARSE[5:]]
    assert rows_of(settings, shares(once))[0] == "Row 0 | Amount Value: $ 3 $ 8,299"
    worded = [*SPARSE[:6], ("", "from sales")]
    assert rows_of(settings, shares(worded))[0] == "Row 0 | Amount Value: $ 3 $ 8,299"


def test_cells_with_two_sums_divide_a_column_of_single_values(settings: Settings) -> None:
    assert rows_of(settings, shares(SPARSE)) == [
        "Row 0 | Amount: $ 3 | Value: $ 8,299",
        "Row 1 | Value: 954",
        "Row 2 | Value: (28)",
        "Row 3 | Value: 129",
        "Row 4 | Amount: $ 3 | Value: $ 9,965",
        "Row 5 | Amount: 7",
        "Row 6 | Value: 611",
    ]
