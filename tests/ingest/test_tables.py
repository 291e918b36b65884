"""Tables: cells, header levels, titles, and the rows written into the text."""

from __future__ import annotations

import numpy as np
import pytest

from ragcore.types import Cell, Document, Element, Table
from ragcore.types.table_labels import LabelledTable
from tests import pdfs
from tests.ingest.conftest import SHRUNKEN, Build


def table_of(document: Document) -> tuple[Element, Table]:
    element = next(e for e in document.elements if e.table is not None)
    assert element.table is not None
    return element, element.table


def cell_at(table: Table, row: int, col: int) -> Cell:
    return next(c for c in table.cells if c.row == row and c.col == col)


def test_a_header_that_ends_in_a_comma_goes_on_below(build: Build) -> None:
    document = build("days_over_years")
    _element, table = table_of(document)
    labelled = LabelledTable(document, table)
    labels = [labelled.label(cell_at(table, table.rows - 1, column)) for column in (1, 4)]
    days = ("January 28, 2023", "April 30, 2022")
    assert labels == [f"Operating income · {day} (Unaudited)" for day in days]
    assert " | January 28, 2023 (Unaudited): 183 | " in document.text


@pytest.mark.parametrize("name", ["ruled_table", "borderless_table"])
def test_cells_and_rows(name: str, build: Build) -> None:
    document = build(name)
    element, table = table_of(document)
    grid = tuple(
        tuple(document.text[(c := cell_at(table, r, k)).start : c.end] for k in range(table.columns))
        for r in range(table.rows)
    )
    assert grid == pdfs.TABLE
    assert [c.header for c in table.cells] == [c.row == 0 for c in table.cells]
    assert table.title == pdfs.TABLE_TITLE
    assert table.row_numbers == (1, 2, 3)
    lines = document.text[element.start : element.end].split("\n")
    assert lines[0] == "Well | April | May | June"
    assert lines[1] == f"{pdfs.TABLE_TITLE} — Orchard Lane | April: 58.2 | May: 61.4 | June: 60.7"
    assert [document.text[start:end] for start, end in table.row_spans] == lines[1:]


@pytest.mark.parametrize("name", SHRUNKEN)
def test_a_page_that_is_printed_small_has_the_same_tables(name: str, build: Build) -> None:
    whole, small = build(name), build(f"{name}_shrunken")
    assert [element.kind for element in small.elements] == [element.kind for element in whole.elements]
    large, little = table_of(whole)[1], table_of(small)[1]
    rows = [[document.text[a:b] for a, b in table.row_spans] for document, table in ((whole, large), (small, little))]
    assert rows[0] == rows[1]
    boxes = (one.boxes(cell.start, cell.end)[0] for one, cell in ((whole, large.cells[-1]), (small, little.cells[-1])))
    same, box = boxes
    left = pdfs.PAGE[0] * (1 - pdfs.SHRUNKEN) / 2
    expected = [left + pdfs.SHRUNKEN * same.x0, 20 + pdfs.SHRUNKEN * same.y0]
    assert [box.x0, box.y0] == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize("name", ["ruled_table", "borderless_table", "multi_level_table"])
def test_only_repeated_words_stand_twice(name: str, build: Build) -> None:
    document = build(name)
    _element, table = table_of(document)
    for cell in table.cells:
        assert not document.words.repeated[document.words.within(cell.start, cell.end)].any()
    for start, end in table.row_spans:
        part = document.words.within(start, end)
        for k in range(part.start, part.stop):
            if document.words.repeated[k]:
                word = document.text[document.words.starts[k] : document.words.ends[k]]
                same = np.flatnonzero(
                    ~document.words.repeated & (document.words.boxes == document.words.boxes[k]).all(axis=1)
                )
                assert [document.text[document.words.starts[i] : document.words.ends[i]] for i in same] == [word]


def test_headers_that_end_in_a_number_keep_it(build: Build) -> None:
    document = build("quarters")
    _element, table = table_of(document)
    labelled = LabelledTable(document, table)
    above = [
        [document.text[c.start : c.end] for c in labelled.heads(cell_at(table, table.rows - 1, col)) if c.header]
        for col in range(1, 7)
    ]
    months = [f"{name} Months Ended June 30" for name in ("Three", "Six")]
    assert above == [
        [months[0], "2024"],
        [months[0], "2023"],
        ["Total"],
        [months[1], "2024"],
        [months[1], "2023"],
        ["Total"],
    ]


def test_a_value_in_a_row_maps_to_its_own_cell(build: Build) -> None:
    document = build("ruled_table")
    _element, table = table_of(document)
    start, end = table.row_spans[0]
    place = document.text.index("May: 61.4", start, end) + len("May: ")
    cell = cell_at(table, 1, 2)
    assert (place, place + len("61.4")) == (cell.start, cell.end)


def test_header_levels_are_joined_and_spanning_headers_reach_over_their_columns(build: Build) -> None:
    document = build("multi_level_table")
    _element, table = table_of(document)
    revenue = next(c for c in table.cells if document.text[c.start : c.end] == "Revenue")
    assert (revenue.row, revenue.col, revenue.col_span) == (0, 1, 2)
    start, end = table.row_spans[1]
    values = "Revenue / 2022: 287 | Revenue / 2023: 301 | Profit / 2022: 22 | Profit / 2023: (5)"
    assert document.text[start:end] == f"{pdfs.LEVELS_TITLE} — South | {values}"
    value = next(c for c in table.cells if document.text[c.start : c.end] == "(5)")
    heads = LabelledTable(document, table).heads(value)
    assert [document.text[c.start : c.end] for c in heads] == ["South", "Profit", "2023"]


def test_ranges_are_values_or_names_of_columns_by_what_stands_below(build: Build) -> None:
    document = build("ranges")
    outlook, due = (element.table for element in document.elements if element.table is not None)
    assert outlook is not None
    assert due is not None
    lines = [[document.text[start:end].split(" — ")[-1] for start, end in table.row_spans] for table in (outlook, due)]
    assert lines[0][:2] == [
        "Net sales | Previous: $10.95 to $11.05 billion | Current: $11.0 to $11.2 billion",
        "Comparable sales | Previous: 4% to 5% | Current: 5% to 6%",
    ]
    assert len(lines[1]) == 2
    assert all(f"{column}: {value}" in lines[1][1] for column, value in zip(pdfs.BANDS[1][1:], pdfs.BANDS[3][1:]))


def test_the_title_stays_an_element_of_its_own(build: Build) -> None:
    document = build("ruled_table")
    element, _table = table_of(document)
    before = document.body[document.body.index(element) - 1]
    assert document.text[before.start : before.end] == pdfs.TABLE_TITLE
