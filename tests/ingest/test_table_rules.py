"""The rules for tables one by one, on grids made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ragcore.config.settings import Settings
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, Grid, GridCell, PageLayout, Region
from ragcore.ingest.tables.draft import is_number, is_period, is_year
from ragcore.types import Document, Table
from ragcore.types.table_labels import LabelledTable

WIDTH, HEIGHT = 120.0, 14.0


def page_with_table(rows: list[list[str]], header_rows: int, above: tuple[str, ...] = ()) -> PageLayout:
    """Lines of text ``above``, then a grid; an empty string is an empty cell. Words are 5 points a letter wide and
    start at the left of their cell, or in its middle after a ``^``."""
    texts: list[str] = []
    boxes: list[tuple[float, float, float, float]] = []
    lines: list[int] = []
    owners: list[int] = []
    regions: list[Region] = []
    y, line = 50.0, 0

    def put(text: str, x: float, owner: int) -> None:
        for word in text.split():
            texts.append(word)
            boxes.append((x, y, x + 5 * len(word), y + 10))
            lines.append(line)
            owners.append(owner)
            x += 5 * len(word) + 3

    for text in above:
        put(text, 50, len(regions))
        regions.append(Region("text", (50, y, 500, y + 10)))
        y += HEIGHT
        line += 1
    cells: list[GridCell] = []
    top = y
    for r, row in enumerate(rows):
        for c, value in enumerate(row):
            x = 50 + c * WIDTH
            cells.append(GridCell(r, c, 1, 1, (x, y, x + WIDTH, y + HEIGHT), r < header_rows))
            put(value.lstrip("^"), x + (WIDTH - 5 if value.startswith("^") else 0), len(regions))
            line += 1
        y += HEIGHT
    grid = Grid(len(rows), len(rows[0]), tuple(cells))
    regions.append(Region("table", (50, top, 50 + len(rows[0]) * WIDTH, y), grid))
    return PageLayout(
        number=1,
        label="1",
        width=900.0,
        height=800.0,
        rotation=0,
        turn=0,
        texts=tuple(texts),
        boxes=np.asarray(boxes, np.float32).reshape(-1, 4),
        sizes=np.full(len(texts), 10.0, np.float32),
        lines=np.asarray(lines, np.int32),
        flags=np.zeros(len(texts), np.uint8),
        owners=np.asarray(owners, np.int32),
        regions=tuple(regions),
    )


def built(settings: Settings, rows: list[list[str]], header_rows: int, above: tuple[str, ...]) -> Document:
    page = page_with_table(rows, header_rows, above)
    return build_document("d" * 16, "0" * 64, "t.pdf", FileInfo(pages=1), [page], settings)


def read(
    settings: Settings, rows: list[list[str]], header_rows: int, above: tuple[str, ...] = ()
) -> tuple[Document, Table, list[str]]:
    document = built(settings, rows, header_rows, above)
    element = next(e for e in document.elements if e.table is not None)
    assert element.table is not None
    return document, element.table, document.text[element.start : element.end].split("\n")


def test_currency_and_percent_columns_join_their_numbers(settings: Settings) -> None:
    rows = [
        ["Item", "", "2023", "Share", ""],
        ["Fuel", "$", "410", "12", "%"],
        ["Rent", "$", "95", "3", "%"],
    ]
    document, table, lines = read(settings, rows, 1)
    assert table.columns == 3
    assert lines[1:] == ["Fuel | 2023: $ 410 | Share: 12 %", "Rent | 2023: $ 95 | Share: 3 %"]
    assert "$ 410" in [document.text[c.start : c.end] for c in table.cells]


def test_a_group_row_is_carried_into_its_rows_until_a_total(settings: Settings) -> None:
    rows = [
        ["", "2022", "2023"],
        ["Revenues by:", "", ""],
        ["Footwear", "10", "12"],
        ["Apparel", "7", "8"],
        ["Total revenues", "17", "20"],
        ["Tax", "3", "4"],
    ]
    _document, _table, lines = read(settings, rows, 1)
    assert lines == [
        "2022 | 2023",
        "Revenues by:",
        "Revenues by: / Footwear | 2022: 10 | 2023: 12",
        "Revenues by: / Apparel | 2022: 7 | 2023: 8",
        "Revenues by: / Total revenues | 2022: 17 | 2023: 20",
        "Tax | 2022: 3 | 2023: 4",
    ]


def test_the_unit_in_the_corner_belongs_to_the_title(settings: Settings) -> None:
    rows = [["(in millions)", "2022", "2023"], ["Sales", "10", "12"], ["Costs", "7", "8"]]
    _document, table, lines = read(settings, rows, 1, above=("Table 4. Results by year",))
    assert table.title == "Table 4. Results by year (in millions)"
    assert lines[1] == "Table 4. Results by year (in millions) — Sales | 2022: 10 | 2023: 12"


def test_titles_within_the_grid_do_not_hide_the_row_of_days(settings: Settings) -> None:
    rows = [
        ["Balance Sheets", "", ""],
        ["DRAY MILLS AND SUBSIDIARIES", "", ""],
        ["(In millions)", "May 29, 2022", "May 30, 2021"],
        ["Total assets", "31,090", "31,841"],
        ["Total debts", "20,302", "21,463"],
    ]
    _document, table, lines = read(settings, rows, 0)
    assert table.title == "Balance Sheets DRAY MILLS AND SUBSIDIARIES (In millions)"
    assert lines[1].endswith(" — Total assets | May 29, 2022: 31,090 | May 30, 2021: 31,841")


def test_a_unit_line_between_title_and_table_counts(settings: Settings) -> None:
    rows = [["", "2022", "2023"], ["Sales", "10", "12"], ["Costs", "7", "8"]]
    _document, table, _lines = read(settings, rows, 1, above=("Table 4. Results by year", "(dollars in thousands)"))
    assert table.title == "Table 4. Results by year (dollars in thousands)"


def test_prose_above_a_table_is_not_its_title(settings: Settings) -> None:
    rows = [["", "2022", "2023"], ["Sales", "10", "12"], ["Costs", "7", "8"]]
    above = ("The following figures show how sales and costs went in both years.",)
    _document, table, lines = read(settings, rows, 1, above=above)
    assert table.title == ""
    assert lines[1] == "Sales | 2022: 10 | 2023: 12"


def test_a_header_broken_over_two_lines_is_one(settings: Settings) -> None:
    rows = [["", "Fiscal", "Fiscal"], ["", "2022", "2023"], ["Sales", "10", "12"], ["Costs", "7", "8"]]
    _document, table, lines = read(settings, rows, 2)
    assert table.rows == 3
    assert lines[1] == "Sales | Fiscal 2022: 10 | Fiscal 2023: 12"


def test_a_centred_header_reaches_over_its_columns(settings: Settings) -> None:
    rows = [
        ["", "^Revenue", "", "^Profit", ""],
        ["", "2022", "2023", "2022", "2023"],
        ["North", "410", "455", "38", "41"],
        ["South", "287", "301", "22", "(5)"],
    ]
    _document, table, lines = read(settings, rows, 2)
    assert lines[-1] == "South | Revenue / 2022: 287 | Revenue / 2023: 301 | Profit / 2022: 22 | Profit / 2023: (5)"
    assert {(c.col, c.col_span) for c in table.cells if c.row == 0} == {(1, 2), (3, 2)}


def test_a_form_has_no_header_and_a_row_for_each_label(settings: Settings) -> None:
    one = [["Formula:", "Mg3"], ["Molar mass:", "451.1 g/mol"], ["Storage:", "dry"]]
    assert read(settings, one, 1)[2] == ["Formula: | Mg3", "Molar mass: | 451.1 g/mol", "Storage: | dry"]
    two = [
        ["Formula:", "Mg3", "Storage:", "dry"],
        ["Mass:", "451.1", "Packing:", "drums"],
        ["Colour:", "white", "", ""],
    ]
    pairs = ["Formula: | Mg3", "Mass: | 451.1", "Colour: | white", "Storage: | dry", "Packing: | drums"]
    assert read(settings, two, 1)[2] == pairs
    apart = [["Order", ": 4700176610"], ["Terms", ": 45 days net"]]
    assert read(settings, apart, 1)[2] == ["Order | : 4700176610", "Terms | : 45 days net"]
    records = [["Item:", "Pen", "Price:", "5"], ["Item:", "Ink", "Price:", "7"]]
    assert read(settings, records, 0)[2] == ["Item: | Pen | Price: | 5", "Item: | Ink | Price: | 7"]
    parties = [["Party:", "Seats", "Votes"], ["SPD:", "206", "25.7"], ["CDU:", "152", "18.9"]]
    assert read(settings, parties, 1)[2][1:] == ["SPD: | Seats: 206 | Votes: 25.7", "CDU: | Seats: 152 | Votes: 18.9"]
    compared = [["Year:", "2023", "2022"], ["Fuel", "410", "380"], ["Rent", "95", "90"]]
    assert read(settings, compared, 1)[2][1:] == ["Fuel | 2023: 410 | 2022: 380", "Rent | 2023: 95 | 2022: 90"]


def test_the_first_of_numbered_rows_is_no_header(settings: Settings) -> None:
    rows = [["1.0 Oil filter", "tight"], ["2.0 Oil plug", "replaced"], ["3.0 Belt", "good"]]
    assert read(settings, rows, 1)[2] == ["1.0 Oil filter | tight", "2.0 Oil plug | replaced", "3.0 Belt | good"]
    spans = [["12 months", "Sales"], ["12 weeks", "410"], ["30 days", "95"]]
    assert read(settings, spans, 1)[2][1:] == ["12 weeks | Sales: 410", "30 days | Sales: 95"]
    named = [["1. Name", "2. Town"], ["1. Smith", "London"], ["2. Roe", "York"]]
    assert read(settings, named, 1)[2][1:] == ["1. Smith | 2. Town: London", "2. Roe | 2. Town: York"]


def test_a_row_of_values_is_no_header_whatever_the_finder_says(settings: Settings) -> None:
    rows = [["Well", "April", "May"], ["Mill Bridge", "12.0", "11.6"], ["Station Road", "3.1", "2.8"]]
    _document, _table, lines = read(settings, rows, 2)
    assert lines[1] == "Mill Bridge | April: 12.0 | May: 11.6"


OUTLOOK = [["Net sales", "$11.0 to $11.2 billion", "4% to 6%"], ["Operating margin", "13.7% to 14.0%", "1% to 2%"]]
HEIGHTS = [["Height, cm", "160–182", "158–184"], ["Weight, kg", "52–80", "55–88"]]


@pytest.mark.parametrize(
    ("header", "marked", "rows", "line"),
    [
        ([["", "Year", "Growth"]], 3, OUTLOOK, "Net sales | Year: $11.0 to $11.2 billion | Growth: 4% to 6%"),
        ([["", "Year", ""]], 2, OUTLOOK, "Net sales | Year: $11.0 to $11.2 billion | 4% to 6%"),
        ([], 1, OUTLOOK, "Net sales | $11.0 to $11.2 billion | 4% to 6%"),
        (
            [["", "Before", "Now"]],
            2,
            [["Sales growth", "4% to 5%", "5% to 6%"], ["Margin", "3% to 4%", "about 3%"]],
            "Sales growth | Before: 4% to 5% | Now: 5% to 6%",
        ),
        ([["", "2023", "2022"]], 2, [["Yield", "—%", "—%"], ["Rate", "2%", "3%"]], "Yield | 2023: —% | 2022: —%"),
    ],
)
def test_a_row_of_ranges_is_no_header(
    header: list[list[str]], marked: int, rows: list[list[str]], line: str, settings: Settings
) -> None:
    document, table, _lines = read(settings, header + rows, marked)
    assert document.text[slice(*table.row_spans[0])] == line


@pytest.mark.parametrize(
    ("header", "rows", "line"),
    [
        ([["Age", "18–24", "25–34"]], HEIGHTS, "Height, cm | 18–24: 160–182 | 25–34: 158–184"),
        ([["Ages", "20–30", "60–80"]], HEIGHTS, "Height, cm | 20–30: 160–182 | 60–80: 158–184"),
        (
            [["Group", "1 (n = 40)", "2 (n = 38)"]],
            [["Men", "9 (22%)", "7 (18%)"]],
            "Men | 1 (n = 40): 9 (22%) | 2 (n = 38): 7 (18%)",
        ),
        ([["Dose", "5–10 mg", "20–40 mg"]], [["Patients", "12", "14"]], "Patients | 5–10 mg: 12 | 20–40 mg: 14"),
        ([["Ages", "Total", "5–10 years"]], HEIGHTS, "Height, cm | Total: 160–182 | 5–10 years: 158–184"),
        ([["Spell", "2019–2021", "2022–2024"]], HEIGHTS, "Height, cm | 2019–2021: 160–182 | 2022–2024: 158–184"),
        (
            [["", "Due", ""], ["In millions", "1–3 years", "3–5 years"]],
            [["Debt", "1–2", "2–4"], ["Leases", "57", "43"]],
            "In millions — Debt | Due 1–3 years: 1–2 | 3–5 years: 2–4",
        ),
    ],
)
def test_ranges_that_name_columns_stay_their_header(
    header: list[list[str]], rows: list[list[str]], line: str, settings: Settings
) -> None:
    document, table, _lines = read(settings, header + rows, len(header))
    assert document.text[slice(*table.row_spans[0])] == line


@pytest.mark.parametrize("rows", [[["only"], ["one"], ["column"]], [["a", "single", "row"]], [["", "x"], ["", "y"]]])
def test_what_is_no_table_becomes_lines(rows: list[list[str]], settings: Settings) -> None:
    page = page_with_table(rows, 0)
    document = build_document("d" * 16, "0" * 64, "t.pdf", FileInfo(pages=1), [page], settings)
    (element,) = document.elements
    assert element.kind == "paragraph"
    assert element.table is None
    assert document.text.split() == [value for row in rows for value in row if value]


@pytest.mark.parametrize("text", ["1,204.5", "(5)", "$ 8,260", "12 %", "-3", "—", "—%", "2023", "1 000", "4.5*"])
def test_numbers(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize("text", ["", "North", "Q1 2023", "10-K", "3 months"])
def test_not_numbers(text: str) -> None:
    assert not is_number(text)


@pytest.mark.parametrize("text", ["2023", "FY2023", "fy 2023", "2022/23", "2022-23"])
def test_years(text: str) -> None:
    assert is_year(text)
    assert is_period(text)


@pytest.mark.parametrize("text", ["Q1 2023", "2Q", "May", "MAY", "December 31,", "DECEMBER 31, 2022", "Jan. 2022"])
def test_periods_that_are_no_years(text: str) -> None:
    assert is_period(text)
    assert not is_year(text)


@pytest.mark.parametrize("text", ["", "1,999", "Total 2023", "12", "In May and June", "2023E"])
def test_not_periods(text: str) -> None:
    assert not is_period(text)


def merged(page: PageLayout, row: int, first: int, last: int) -> PageLayout:
    """``page`` with the cells ``first`` to ``last`` of a row made one."""
    (region,) = page.regions
    assert region.grid is not None
    boxes = {c.col: c.box for c in region.grid.cells if c.row == row}
    cells = [c for c in region.grid.cells if c.row != row or not first < c.col <= last]
    one = replace(
        next(c for c in cells if (c.row, c.col) == (row, first)),
        col_span=last - first + 1,
        box=(*boxes[first][:2], *boxes[last][2:]),
    )
    cells = [one if (c.row, c.col) == (row, first) else c for c in cells]
    grid = replace(region.grid, cells=tuple(cells), given=True)
    return replace(page, regions=(replace(region, grid=grid),))


def merged_lines(settings: Settings, page: PageLayout) -> list[str]:
    document = build_document("d" * 16, "0" * 64, "t.pdf", FileInfo(pages=1), [page], settings)
    (table,) = [e.table for e in document.elements if e.table is not None]
    return [document.text[start:end] for start, end in table.row_spans]


def test_a_merged_cell_has_the_headers_of_all_its_columns(settings: Settings) -> None:
    rows = [["Item", "2022", "2023", "2024"], ["Sales", "10", "12", "13"], ["Costs", "closed", "", "8"]]
    lines = merged_lines(settings, merged(page_with_table(rows, 1), 2, 1, 2))
    assert lines == ["Sales | 2022: 10 | 2023: 12 | 2024: 13", "Costs | 2022, 2023: closed | 2024: 8"]


def test_a_merged_cell_has_the_header_that_its_columns_share(settings: Settings) -> None:
    rows = [
        ["Item", "North", "", "South"],
        ["", "2022", "2023", "2022"],
        ["Sales", "10", "12", "13"],
        ["Costs", "closed", "", "8"],
    ]
    page = merged(merged(page_with_table(rows, 2), 0, 1, 2), 3, 1, 2)
    assert merged_lines(settings, page) == [
        "Sales | North / 2022: 10 | North / 2023: 12 | South / 2022: 13",
        "Costs | North: closed | South / 2022: 8",
    ]


def read_all(settings: Settings, rows: list[list[str]], header_rows: int, above: tuple[str, ...] = ()) -> list[str]:
    """Lines of every table of a page whose layout has one grid."""
    document = built(settings, rows, header_rows, above)
    return [document.text[e.start : e.end] for e in document.elements if e.table is not None]


def test_columns_named_anew_further_down_begin_another_table(settings: Settings) -> None:
    rows = [
        ["In millions", "May 29, 2022", "May 30, 2021", ""],
        ["Accrued taxes", "233.0", "215.6", ""],
        ["Miscellaneous", "87.0", "86.2", ""],
        ["Amounts of earnings:", "", "", ""],
        ["", "", "Fiscal year", ""],
        ["In millions", "2022", "2021", "2020"],
        ["Research", "243.1", "239.3", "224.4"],
        ["Advertising", "690.1", "736.3", "691.8"],
    ]
    upper, lower = read_all(settings, rows, 1)
    assert upper.split("\n")[1:] == [
        "In millions — Accrued taxes | May 29, 2022: 233.0 | May 30, 2021: 215.6",
        "In millions — Miscellaneous | May 29, 2022: 87.0 | May 30, 2021: 86.2",
    ]
    years = "Fiscal year / 2022: 690.1 | Fiscal year / 2021: 736.3 | Fiscal year / 2020: 691.8"
    assert lower.split("\n")[-1] == f"Amounts of earnings: In millions — Advertising | {years}"


def test_a_part_without_a_name_of_its_own_has_that_of_the_whole(settings: Settings) -> None:
    rows = [
        ["In millions", "2023", "2022", "2021"],
        ["Net sales", "10", "12", "14"],
        ["In millions", "May 28, 2023", "May 29, 2022", ""],
        ["Land", "7", "8", ""],
    ]
    tables = read_all(settings, rows, 1, above=("Table 4. Figures by area",))
    assert [table.split("\n")[-1] for table in tables] == [
        "Table 4. Figures by area In millions — Net sales | 2023: 10 | 2022: 12 | 2021: 14",
        "Table 4. Figures by area In millions — Land | May 28, 2023: 7 | May 29, 2022: 8",
    ]


@pytest.mark.parametrize(
    "row",
    [
        ["Expires in", "2029", "2027"],  # named: values of that name
        ["", "2022", "2022"],  # the same twice names no column
        ["", "2022", "410"],
    ],
)
def test_periods_as_values_name_no_columns(row: list[str], settings: Settings) -> None:
    rows = [["", "Patent A", "Patent B"], ["Sales", "10", "12"], row, ["Costs", "7", "8"]]
    (table,) = read_all(settings, rows, 1)
    assert table.split("\n")[-1] == "Costs | Patent A: 7 | Patent B: 8"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("January 28,", "January 29,"), ["January 28, 2023", "January 29, 2022"]),
        (("Years ended", ""), ["Years ended 2023", "Years ended 2022"]),
    ],
)
def test_names_side_by_side_in_one_header_are_those_of_its_columns(
    settings: Settings, names: tuple[str, str], expected: list[str]
) -> None:
    rows = [["", *names], ["", "2023", "2022"], ["Cash", "737", "431"], ["Receivables", "199", "233"]]
    page = page_with_table(rows, 2)
    (region,) = page.regions
    assert region.grid is not None
    first, left, right, *rest = region.grid.cells
    over = replace(left, col_span=2, box=(*left.box[:2], *right.box[2:]))
    grid = replace(region.grid, cells=(first, over, *rest))
    page = replace(page, regions=(replace(region, grid=grid),))
    document = build_document("d" * 16, "0" * 64, "t.pdf", FileInfo(pages=1), [page], settings)
    (table,) = [element.table for element in document.elements if element.table is not None]
    assert LabelledTable(document, table).column_labels()[1:] == expected
