"""What names a table, and headers that a column cut in two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ragcore.config.settings import Settings
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout, Region
from ragcore.types import Document, Table
from tests.ingest.test_table_rules import page_with_table, read

ROWS = [["", "2022", "2023"], ["Sales", "10", "12"], ["Costs", "7", "8"]]


def built(settings: Settings, page: PageLayout) -> tuple[Document, Table]:
    document = build_document("d" * 16, "0" * 64, "t.pdf", FileInfo(pages=1), [page], settings)
    (table,) = [e.table for e in document.elements if e.table is not None]
    return document, table


@pytest.mark.parametrize(
    ("above", "title"),
    [
        (("Table 4. Results by year (in thousands)",), "Table 4. Results by year (in thousands)"),
        (("The survey ended in May. Sales were as follows (in millions):",), "Sales were as follows (in millions):"),
        (
            ("Table 4. Results", "(In millions, except per share data)"),
            "Table 4. Results (In millions, except per share data)",
        ),
        (("Results are shown in Table 4.",), ""),
        (("The values of " + "all " * 30 + "wells were as follows (in thousands):",), "(in thousands):"),
        (("We show what each of the wells gave in both of the years of the survey (in millions).",), "(in millions)."),
        (("Table of contents",), ""),
    ],
)
def test_titles_above(above: tuple[str, ...], title: str, settings: Settings) -> None:
    _document, table, lines = read(settings, ROWS, 1, above)
    assert table.title == title
    assert lines[1] == (f"{title} — " if title else "") + "Sales | 2022: 10 | 2023: 12"


def test_a_name_below_counts_though_notes_stand_between(settings: Settings) -> None:
    page = page_with_table([*ROWS, ["x", "x", "x"], ["x", "x", "x"]], 1)
    (region,) = page.regions
    assert region.grid is not None
    cut = [c for c in region.grid.cells if c.row < 3]
    owners, texts = page.owners.copy(), list(page.texts)
    notes = [i for i, text in enumerate(texts) if text == "x"]
    for index, text in zip(notes, ("Data", "are", "medians.", "Table", "1:", "Results")):
        texts[index], owners[index] = text, 1 if index < notes[3] else 2
    sizes = page.sizes.copy()
    sizes[notes[:3]] = 7.0
    x0, y0, x1, _y1 = region.box
    low = cut[-1].box[3]
    regions = (
        Region("table", (x0, y0, x1, low), replace(region.grid, rows=3, cells=tuple(cut))),
        Region("footnote", (x0, low, x1, low + 12)),
        Region("text", (x0, low + 14, x1, low + 26)),
    )
    _document, table = built(settings, replace(page, texts=tuple(texts), owners=owners, sizes=sizes, regions=regions))
    assert table.title == "Table 1: Results"


def test_a_name_in_the_grid_becomes_its_caption(settings: Settings) -> None:
    document, table, _lines = read(settings, [["Table 2. Sales by year", "", ""], *ROWS], 2)
    assert table.title == "Table 2. Sales by year"
    assert [e.kind for e in document.body] == ["caption", "table"]


def test_a_header_that_a_column_cut_in_two_is_one_over_both(settings: Settings) -> None:
    rows = [["", "2022 vs.", "2021"], ["Sales", "10", "25"], ["Costs", "7", "12"], ["Fees", "1", "2"]]
    page = page_with_table(rows, 1)
    boxes = page.boxes.copy()
    place = page.texts.index("2021")
    before = page.texts.index("vs.")
    gap = 256.0 - boxes[before, 2]
    boxes[place - 2 : place, [0, 2]] += gap + 30 - 3
    boxes[place, [0, 2]] = boxes[place - 1, 2] + 3, boxes[place - 1, 2] + 23
    document, table = built(settings, replace(page, boxes=boxes))
    header = [c for c in table.cells if c.header]
    assert [(document.text[c.start : c.end], c.col, c.col_span) for c in header] == [("2022 vs. 2021", 1, 2)]


def test_a_name_close_to_what_follows_names_that(settings: Settings) -> None:
    page = page_with_table(ROWS, 1)
    region = page.regions[0]
    bottom = region.box[3]
    extra = [("Exhibit", 50.0, bottom + 20, 1), ("2", 90.0, bottom + 20, 1), ("Prices", 50.0, bottom + 34, 2)]
    boxes = [(x, y, x + 5 * len(text), y + 10) for text, x, y, _owner in extra]
    page = replace(
        page,
        texts=(*page.texts, *(text for text, *_rest in extra)),
        boxes=np.concatenate([page.boxes, np.asarray(boxes, np.float32)]),
        sizes=np.append(page.sizes, np.full(3, 10, np.float32)),
        lines=np.append(page.lines, np.asarray([100, 100, 101], np.int32)),
        flags=np.append(page.flags, np.zeros(3, np.uint8)),
        owners=np.append(page.owners, np.asarray([1, 1, 2], np.int32)),
        regions=(
            region,
            Region("text", (50, bottom + 20, 100, bottom + 30)),
            Region("section-header", (50, bottom + 34, 100, bottom + 44)),
        ),
    )
    _document, table = built(settings, page)
    assert table.title == ""


def test_headers_of_three_lines_are_one_level(settings: Settings) -> None:
    rows = [
        ["", "Number of", "Share of"],
        ["", "combined", "segment"],
        ["", "customers", "sales"],
        ["North", "4", "74%"],
        ["South", "1", "11%"],
    ]
    _document, table, lines = read(settings, rows, 3)
    assert lines[1] == "North | Number of combined customers: 4 | Share of segment sales: 74%"
    assert table.rows == 3


def test_header_rows_that_the_finder_left_out_are_found(settings: Settings) -> None:
    rows = [
        ["Substance", "to air", "to water"],
        ["", "kg/year", "kg/year"],
        ["Methane", "100", "20"],
        ["Lead", "10", "7"],
    ]
    _document, _table, lines = read(settings, rows, 1)
    assert lines[-1] == "Lead | to air kg/year: 10 | to water kg/year: 7"


def test_a_first_row_of_amounts_is_no_header(settings: Settings) -> None:
    rows = [["Cash", "$ 33,914", "$ 22,028"], ["Restricted cash", "544", "525"], ["Total cash", "34,458", "22,553"]]
    _document, table, lines = read(settings, rows, 1)
    assert not any(c.header for c in table.cells)
    assert lines[0] == "Cash | $ 33,914 | $ 22,028"
