"""Rows: cells broken over lines, two rows in one, labels of several rows, and groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ragcore.config.settings import Settings
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import BOLD, FileInfo, Grid, GridCell, PageLayout
from ragcore.types import Document
from ragcore.types.table_labels import LabelledTable
from tests.ingest.conftest import Build
from tests.ingest.test_table_rules import HEIGHT, page_with_table, read


def set_in(page: PageLayout, shifts: dict[str, float]) -> PageLayout:
    """``page`` with the labels that begin with these words moved right."""
    boxes = page.boxes.copy()
    for index, text in enumerate(page.texts):
        for word, shift in shifts.items():
            if text == word:
                boxes[page.lines == page.lines[index], 0] += shift
                boxes[page.lines == page.lines[index], 2] += shift
    return replace(page, boxes=boxes)


def moved(page: PageLayout, word: str, points: float) -> PageLayout:
    """``page`` with the printed line of ``word`` and its grid row moved up."""
    boxes = page.boxes.copy()
    line = page.lines[page.texts.index(word)]
    top = boxes[page.lines == line, 1].min()
    boxes[page.lines == line, 1] -= points
    boxes[page.lines == line, 3] -= points
    (region,) = [r for r in page.regions if r.grid is not None]
    assert region.grid is not None

    def lifted(cell: GridCell) -> GridCell:
        x0, y0, x1, y1 = cell.box
        y0 -= points * (abs(y0 - top) < 1)
        y1 -= points * (abs(y1 - top) < 1)
        return replace(cell, box=(x0, y0, x1, y1))

    grid = replace(region.grid, cells=tuple(lifted(cell) for cell in region.grid.cells))
    return replace(page, boxes=boxes, regions=(*page.regions[:-1], replace(region, grid=grid)))


def lines_of(settings: Settings, page: PageLayout) -> list[str]:
    document = build_document("d" * 16, "0" * 64, "t.pdf", FileInfo(pages=1), [page], settings)
    return rows_of(document)


def rows_of(document: Document) -> list[str]:
    (table,) = [e.table for e in document.elements if e.table is not None]
    return [document.text[start:end] for start, end in table.row_spans]


HEAD = ["", "2022", "2023"]


def test_a_label_over_two_lines_is_one_row(settings: Settings) -> None:
    rows = [
        HEAD,
        ["Net cash provided by all", "", ""],
        ["operating activities", "10", "12"],
        ["Capital spending", "7", "8"],
    ]
    _document, table, lines = read(settings, rows, 1)
    assert lines[1:] == [
        "Net cash provided by all operating activities | 2022: 10 | 2023: 12",
        "Capital spending | 2022: 7 | 2023: 8",
    ]
    assert table.rows == 3


def test_a_label_that_goes_on_below_its_values_is_one_row(settings: Settings) -> None:
    rows = [
        HEAD,
        ["Members that took part in", "21", "8"],
        ["the analysis", "", ""],
        ["Members that left early", "3", "1"],
    ]
    _document, _table, lines = read(settings, rows, 1)
    assert lines[1] == "Members that took part in the analysis | 2022: 21 | 2023: 8"


def test_cells_that_all_go_on_are_one_row(settings: Settings) -> None:
    rows = [
        ["Region", "Wells", "Remark on the survey"],
        ["North", "12", "sampled twice and found"],
        ["", "", "free of nitrate"],
        ["South", "28", "closed until the autumn"],
    ]
    _document, table, lines = read(settings, rows, 1)
    assert lines[1] == "North | Wells: 12 | Remark on the survey: sampled twice and found free of nitrate"
    assert table.rows == 3


@pytest.mark.parametrize(
    "rows",
    [
        [["Income before taxes on:", "", ""], ["domestic operations", "5", "6"], ["Other income", "1", "2"]],
        [["Sales", "10", "12"], ["of which abroad", "7", "8"], ["Costs", "3", "4"]],
        [["Deposits held in trust", "5", "6"], ["Equity", "", ""], ["Shares", "1", "2"]],
    ],
)
def test_rows_of_their_own_stay_apart(rows: list[list[str]], settings: Settings) -> None:
    _document, table, _lines = read(settings, [HEAD, *rows], 1)
    assert len(table.row_spans) == len(rows)


def test_lines_closer_than_rows_are_one_row(settings: Settings) -> None:
    rows = [
        HEAD,
        ["Mill Bridge", "1", "2"],
        ["Station", "3", "4"],
        ["Companies on FTSE", "5", "6"],
        ["Eurotop", "", ""],
    ]
    page = moved(page_with_table([*rows, ["Quay", "7", "8"]], 1), "Eurotop", 3.5)
    assert "Companies on FTSE Eurotop | 2022: 5 | 2023: 6" in lines_of(settings, page)


def test_two_printed_rows_in_one_row_of_the_grid_are_two(settings: Settings) -> None:
    page = page_with_table([["Country", "Wells"], ["Austria", "86.2"], ["Belgium", "13.8"], ["Cyprus", "8.1"]], 1)
    (region,) = page.regions
    assert region.grid is not None
    first = [replace(c, box=(*c.box[:3], c.box[3] + HEIGHT)) for c in region.grid.cells if c.row == 0]
    rest = [replace(c, row=c.row - 1) for c in region.grid.cells if c.row > 1]
    page = replace(page, regions=(replace(region, grid=Grid(3, 2, (*first, *rest))),))
    assert lines_of(settings, page) == ["Austria | Wells: 86.2", "Belgium | Wells: 13.8", "Cyprus | Wells: 8.1"]


def test_groups_nest_by_how_far_they_are_set_in_and_totals_end_them(build: Build) -> None:
    lines = [line.removeprefix("CONSOLIDATED BALANCE SHEETS (In millions) — ") for line in rows_of(build("statement"))]
    assert lines == [
        "ASSETS",
        "ASSETS / Current assets:",
        "ASSETS / Current assets: / Cash and cash equivalents | 2023: 6,318 | 2022: 5,527",
        "ASSETS / Current assets: / Inventories held for sale in the ordinary course of business"
        " | 2023: 7,206 | 2022: 7,391",
        "ASSETS / Current assets: / Total current assets | 2023: 13,524 | 2022: 12,918",
        "ASSETS / Property, net | 2023: 3,640 | 2022: 3,877",
        "ASSETS / TOTAL ASSETS | 2023: 17,164 | 2022: 16,795",
        "LIABILITIES",
        "LIABILITIES / Current liabilities:",
        "LIABILITIES / Current liabilities: / Accounts payable | 2023: 2,519 | 2022: 2,144",
        "LIABILITIES / Current liabilities: / Notes payable | 2023: 10 | 2022: 6",
    ]


def test_a_group_ends_where_its_rows_are_no_longer_set_in(settings: Settings) -> None:
    rows = [HEAD, ["Exclude:", "", ""], ["Fees", "1", "2"], ["Loans", "3", "4"]]
    page = set_in(page_with_table(rows, 1), {"Fees": 8})
    assert lines_of(settings, page) == ["Exclude:", "Exclude: / Fees | 2022: 1 | 2023: 2", "Loans | 2022: 3 | 2023: 4"]


def test_an_opening_balance_names_no_changes(settings: Settings) -> None:
    rows = [HEAD, ["Opening", "9", "8"], ["Additions", "6", "5"], ["Sales", "2", "1"], ["Closing", "13", "12"]]
    page = set_in(page_with_table(rows, 1), {"Additions": 8, "Sales": 8})
    assert [line.split(" | ")[0] for line in lines_of(settings, page)] == ["Opening", "Additions", "Sales", "Closing"]


def test_a_name_without_rows_does_not_hold_the_next_group(settings: Settings) -> None:
    rows = [HEAD, ["Commitments", "", ""], ["Equity:", "", ""], ["Shares", "1", "2"], ["Reserves", "3", "4"]]
    _document, _table, lines = read(settings, rows, 1)
    assert lines[-1] == "Equity: / Reserves | 2022: 3 | 2023: 4"


@pytest.mark.parametrize("bold", [False, True])
def test_years_between_the_rows_are_groups_one_after_another(settings: Settings, bold: bool) -> None:
    rows = [["", "Cost", "Gain"], ["2017", "", ""], ["Shares", "10", "1"], ["2016", "", ""], ["Shares", "8", "2"]]
    page = page_with_table(rows, 1)
    flags = page.flags.copy()
    flags[page.texts.index("2017")] = BOLD if bold else 0  # as the current year often is
    lines = lines_of(settings, replace(page, flags=flags))
    assert lines[-3:] == ["2017 / Shares | Cost: 10 | Gain: 1", "2016", "2016 / Shares | Cost: 8 | Gain: 2"]


def test_words_stay_whole_whatever_is_mended(settings: Settings) -> None:
    rows = [
        HEAD,
        ["Net cash provided by all", "", ""],
        ["operating activities", "10", "12"],
        ["Source: the survey", "", ""],
    ]
    document, _table, _lines = read(settings, rows, 1)
    own = ~document.words.repeated
    assert np.unique(document.words.boxes[own], axis=0).shape[0] == sum(len(v.split()) for row in rows for v in row)


@pytest.mark.parametrize(
    ("first", "line"),
    [
        ("62,408,157", "For: 62,408,157 | Against: 1,370,482"),
        ("2023", "2023 | Against: 1,370,482"),
        ("4.2", "4.2 | Against: 1,370,482"),
    ],
)
def test_a_first_column_of_amounts_names_no_rows(first: str, line: str, settings: Settings) -> None:
    document, _table, lines = read(settings, [["For", "Against"], [first, "1,370,482"]], 1)
    assert lines[-1].endswith(line)
    (element,) = [each for each in document.elements if each.table is not None]
    assert element.table is not None
    labelled = LabelledTable(document, element.table)
    labels = [labelled.label(cell) for cell in element.table.cells if not cell.header]
    assert labels == (["For", "Against"] if "," in first else ["", f"{first} · Against"])


def test_amounts_that_tell_rows_apart_name_them(settings: Settings) -> None:
    rows = [["Income", "Households"], ["10,000", "1,204"], ["20,000", "960"]]
    assert read(settings, rows, 1)[2][1:] == ["10,000 | Households: 1,204", "20,000 | Households: 960"]
