"""Workbooks and CSV files as pages: each cell as shown, in its own cell of the grid, and found again from its words."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ragcore.answer.sources import build_units
from ragcore.config.settings import load
from ragcore.errors import InputError, TooManyPages
from ragcore.ingest.convert.converters import convert
from ragcore.ingest.convert.workbook import MOST_CELLS, NO_VALUE, SheetTable, read_csv, read_xlsx, sheet_parts
from ragcore.ingest.document import build_document
from ragcore.ingest.read import Reader
from ragcore.types import Document
from ragcore.types.library import FileKind
from ragcore.types.places import joined, place_of
from tests.check.files import book, saved

# Letters that the reader keeps as they are (see `ragcore.ingest.words`), from several scripts.
_LETTERS = "abcXYZ019 .,;:-–%()&/'\"€äßéñłşžαβΩжЯ中文日本"
_texts = st.text(_LETTERS, min_size=1, max_size=60).map(lambda text: " ".join(text.split())).filter(bool)


def document(folder: Path, data: bytes, kind: FileKind = "xlsx", name: str = "book.xlsx") -> Document:
    """The document that is made of a file, without a child process."""
    source, target = folder / "source", folder / "made.pdf"
    source.write_bytes(data)
    convert(source, target, kind, name, 500)
    reader = Reader(target, None, name, made=True)
    info = reader.info()
    pages = [reader.page(number, plain=False) for number in range(1, info.pages + 1)]
    reader.close()
    return build_document("0" * 16, "0" * 64, name, info, pages, load()[0])


def cells(made: Document) -> dict[str, str]:
    """Text of each cell and line, by place; what stands on several pages has one text."""
    out: dict[str, str] = {}
    for element in made.elements:
        parts = element.table.cells if element.table else [element] if element.place else []
        for part in parts:
            text = made.text[part.start : part.end]
            if text == part.place:
                continue  # the sheet's name
            assert out.setdefault(part.place, text) == text
    return out


def csv_bytes(rows: Sequence[Sequence[str]]) -> bytes:
    import csv

    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def test_every_cell_of_a_long_and_wide_sheet_is_there(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Station", *(f"Quarter {n} of 20{10 + n}" for n in range(12))]]
    rows += [[f"Pumping station number {n} on the river", *(n * 13 + c for c in range(12))] for n in range(320)]
    made = document(tmp_path, book(Wells=rows))
    (table,) = (element.table for element in made.body if element.table)
    assert (table.rows, table.columns, table.title) == (321, 13, "Wells")
    found = cells(made)
    assert len(found) == 321 * 13
    assert all(
        found[f"Wells!{openpyxl.utils.get_column_letter(c)}{r}"] == str(value)
        for r, row in enumerate(rows, 1)
        for c, value in enumerate(row, 1)
    )
    assert [cell.header for cell in table.cells[:14]] == [True] * 13 + [False]


def test_a_sheet_too_wide_for_a_page_is_cut_into_strips_with_the_first_column(tmp_path: Path) -> None:
    rows = [["Station", *(f"A long name of column {n}" for n in range(30))]]
    rows += [[f"Station {n}", *(f"value {n}.{c}" for c in range(30))] for n in range(5)]
    made = document(tmp_path, book(Wide=rows))
    tables = [element.table for element in made.body if element.table]
    assert len(tables) > 2
    for table in tables:
        names = [made.text[cell.start : cell.end] for cell in table.cells if cell.col == 0]
        assert names == [row[0] for row in rows]
        assert table.title == "Wide"
    assert len(cells(made)) == 6 * 31


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        (datetime(2025, 3, 4), "yyyy-mm-dd", "2025-03-04"),
        (datetime(2025, 3, 4), "mm-dd-yy", "2025-03-04"),
        (date(2025, 3, 4), 'd" of "mmmm yyyy', "4 of March 2025"),
        (datetime(2025, 3, 4, 15, 7), "dd.mm.yy h:mm AM/PM", "04.03.25 3:07 PM"),
        (datetime(2025, 3, 4, 15, 7, 9), "ddd hh:mm:ss", "Tue 15:07:09"),
        (time(9, 5), "h:mm", "9:05"),
        (0.256, "0.0%", "25.6%"),
        (-1234, "#,##0_);(#,##0)", "(1,234)"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (12, '0" bps"', "12 bps"),
        (True, "General", "TRUE"),
        ("#DIV/0!", "General", "#DIV/0!"),
        ("12-3 a- b -c", "General", "12-3 a- b -c"),
        ("https://example.org/" + "abcdef/" * 60, "General", "https://example.org/" + "abcdef/" * 60),
        ("שלום עולם", "General", None),
        ("مرحبا بالعالم", "General", "مرحبا بالعالم"),
        ("नमस्ते 😀 दुनिया", "General", "नमस्ते 😀 दुनिया"),
        ("ﬁne ½ m²", "General", "fine ½ m²"),
    ],
)
def test_a_value_is_shown_as_in_the_sheet(tmp_path: Path, value: object, style: str, text: str | None) -> None:
    workbook = openpyxl.load_workbook(io.BytesIO(book(S=[["Name", "Value"], ["one", None], ["two", "x"]])))
    workbook["S"]["B2"] = value
    workbook["S"]["B2"].number_format = style
    found = cells(document(tmp_path, saved(workbook)))["S!B2"]
    assert found == text if text else set(found) == set(str(value))


@pytest.mark.slow
@given(
    st.lists(st.lists(st.one_of(st.just(""), _texts), min_size=2, max_size=9), min_size=2, max_size=12),
    st.randoms(use_true_random=False),
)
@example([["a", "b"], ["pre-", "x" * 300], ["self-", "- -"]], None)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_every_text_comes_back_and_every_span_leads_to_its_cell(
    tmp_path: Path, rows: list[list[str]], random: Any
) -> None:
    data = csv_bytes(rows)
    shown = {cell.place: cell.text for row in read_csv("x.csv", data).sheets[0].rows for cell in row}
    if not shown:
        return
    made = document(tmp_path, data, "csv", "x.csv")
    assert cells(made) == shown
    parts = [p for e in made.body for p in (e.table.cells if e.table else [e] if e.place else [])]
    for _ in range(20 if random else 0):
        part = random.choice(parts)
        start = random.randrange(part.start, part.end)
        assert place_of(made, start, random.randrange(start + 1, part.end + 1)) == part.place


def test_a_span_over_cells_has_the_place_from_the_first_to_the_last(tmp_path: Path) -> None:
    made = document(tmp_path, book(S=[["Name", "2023", "2024"], ["Wells", 40, 41], ["Pumps", 7, 8]]))
    (table,) = (element.table for element in made.body if element.table)
    start, end = table.row_spans[0]
    assert place_of(made, start, end) == "S!A2:C2"
    assert place_of(made, start, table.row_spans[1][1]) == "S!A2:C3"
    assert (joined("A!B1:C2", "A!D3:E4"), joined("A!B1", "B!C1"), joined("B1", "C2")) == (
        "A!B1:E4",
        "A!B1, B!C1",
        "B1:C2",
    )


def test_a_unit_in_a_header_is_no_footnote_mark(tmp_path: Path) -> None:
    made = document(tmp_path, book(S=[["Year", "Apples (t)", "Pears (a)"], [2023, 410, 38], [2024, 287, 22]]))
    assert {unit.label for e in made.body for unit in build_units(made, e.start, e.end)} >= {"2023 · Apples (t)"}


def test_merged_cells_two_headers_and_titles_keep_their_places(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Balance"
    for row in (
        ["Larkfield Water"],
        ["in thousands"],
        [],
        ["", "2024", "", "2023", ""],
        ["", "Plan", "Actual", "Plan", "Actual"],
        ["Revenue", 1, 2, 3, 4],
        ["Costs", 5, 6, 7, 8],
    ):
        sheet.append(row)
    sheet.merge_cells("B4:C4")
    sheet.merge_cells("D4:E4")
    sheet.freeze_panes = "B6"
    made = document(tmp_path, saved(workbook))
    (table,) = (element.table for element in made.body if element.table)
    line = made.text[slice(*table.row_spans[1])]
    assert "2024 / Actual: 6" in line
    assert "2023 / Plan: 7" in line
    assert place_of(made, made.text.index("Larkfield"), made.text.index("Larkfield") + 9) == "Balance!A1"


def lines(made: Document) -> list[str]:
    """Rows of the tables as text, with the names of their columns."""
    return [made.text[start:end] for e in made.body if e.table for start, end in e.table.row_spans]


_STATEMENT: list[list[object]] = [
    ["Net sales", "$ 391,035", "$ 383,285", "$ 394,328"],
    ["Cost of sales", "210,352", "214,137", "223,546"],
]


@pytest.mark.parametrize(
    ("above", "top", "merged", "names"),
    [
        (["CONSOLIDATED STATEMENTS, $ in Millions", "12 Months Ended"], [], ["A1:A2", "B1:D1"], None),
        (["", "12 Months Ended"], [["CONSOLIDATED STATEMENTS"], ["$ in Millions"], []], ["B4:D4"], None),
        (["", "12 Months Ended"], [], ["B1:D1"], [datetime(2024, 9, 30), datetime(2023, 9, 30), datetime(2022, 9, 30)]),
        (["", "12 Months Ended"], [], ["B1:D1"], [2024, 2023, 2022]),
        (["Item", "12 Months Ended"], [], ["B1:D1"], ["in millions", "2024", "2023", "2022"]),
    ],
)
def test_dates_below_a_merged_header_name_the_columns(
    tmp_path: Path, above: list[object], top: list[list[object]], merged: list[str], names: list[object] | None
) -> None:
    names = names or ["Sep. 30, 2024", "Sep. 30, 2023", "Sep. 30, 2022"]
    dates = names if len(names) == 4 else [None, *names]
    workbook = openpyxl.load_workbook(io.BytesIO(book(S=[*top, above, dates, *_STATEMENT])))
    for area in merged:
        workbook["S"].merge_cells(area)
    made = document(tmp_path, saved(workbook))
    year = next(row for row in lines(made) if "— Net sales" in row).split(" | ")[1]
    assert year.startswith("12 Months Ended / ")
    assert "2024" in year
    assert year.endswith(": $ 391,035")


@pytest.mark.parametrize(
    ("rows", "merged", "headers"),
    [
        ([["Done", "Task", "Owner"], ["", "Write", "Anna"], ["x", "Test", "Bob"]], [], 1),
        ([["Name", "Contact", ""], ["Anna", "a@b.org", "Lane"], ["Bob", "b@b.org", "Road"]], ["B1:C1"], 1),
        ([["Well", "Depth", "Yield"], ["", "m", "m³/h"], ["Orchard", 61, 4]], [], 2),
        ([["", "2024", ""], ["Item", "Plan", "Actual"], ["Costs", 5, 6]], ["B1:C1"], 2),
    ],
)
def test_a_row_of_texts_below_the_header_is_a_header_only_if_figures_or_a_merged_cell_say_so(
    rows: list[list[object]], merged: list[str], headers: int
) -> None:
    workbook = openpyxl.load_workbook(io.BytesIO(book(S=rows)))
    for area in merged:
        workbook["S"].merge_cells(area)
    (table,) = sheet_parts(read_xlsx("x.xlsx", saved(workbook)).sheets[0])
    assert isinstance(table, SheetTable)
    assert table.headers == headers


def test_hidden_sheets_rows_and_columns_are_left_out_and_counted() -> None:
    workbook = openpyxl.load_workbook(
        io.BytesIO(book(Open=[["Name", "Secret", "Value"], ["a", "s", 1], ["b", "s", 2]], Shut=[["x"]]))
    )
    workbook["Shut"].sheet_state = "veryHidden"
    workbook["Open"].row_dimensions[3].hidden = True
    workbook["Open"].column_dimensions["B"].hidden = True
    read = read_xlsx("x.xlsx", saved(workbook))
    assert [[cell.text for cell in row] for row in read.sheets[0].rows] == [["Name", "Value"], ["a", "1"]]
    assert read.notes == ("1 hidden sheet left out.", "1 hidden row left out.", "1 hidden column left out.")


def test_a_formula_has_its_stored_value_or_says_that_it_has_none() -> None:
    read = read_xlsx("x.xlsx", book(S=[["Name", "Sum"], ["a", "=1+1"]]))
    assert [cell.text for cell in read.sheets[0].rows[1]] == ["a", NO_VALUE]
    assert "1 formula has no stored value" in read.notes[0]


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"a;b\n1,5;2\n", [["a", "b"], ["1,5", "2"]]),
        (b"a\tb\n1\t2\n", [["a", "b"], ["1", "2"]]),
        ('"x, y",b\r\n"two\nlines",2\r\n'.encode("utf-16"), [["x, y", "b"], ["two lines", "2"]]),
        ("\ufeffäöü,b\n1,2\n".encode(), [["äöü", "b"], ["1", "2"]]),
        ("café,b\n1,2\n".encode("cp1252"), [["café", "b"], ["1", "2"]]),
        (b'a,b\n"x",2\n"say ""so"", he said",4\n', [["a", "b"], ["x", "2"], ['say "so", he said', "4"]]),
        (
            b"Export, Konto 12, Stand 1.2.2024\n\nDatum;Betrag;Zweck\n"
            + b"01.01.2024;-1,50;Miete\n02.01.2024;-2,50;Strom\n03.01.2024;9,99;Gas, Wasser\n",
            [
                ["Export, Konto 12, Stand 1.2.2024"],
                [],
                ["Datum", "Betrag", "Zweck"],
                ["01.01.2024", "-1,50", "Miete"],
                ["02.01.2024", "-2,50", "Strom"],
                ["03.01.2024", "9,99", "Gas, Wasser"],
            ],
        ),
        (b"sep=;\r\na,b;c\r\n1,2;3\r\n", [["a,b", "c"], ["1,2", "3"]]),
        (b"1,5;2,5\n3,5;4,5\n", [["1,5", "2,5"], ["3,5", "4,5"]]),
        (b'7;"x, y"\n8;"z, y"\n', [["7", "x, y"], ["8", "z, y"]]),
        (b"a;1,2;3\nb;1,4;5\n", [["a", "1,2", "3"], ["b", "1,4", "5"]]),
        (b"only one column\nsecond\n", [["only one column"], ["second"]]),
    ],
)
def test_a_csv_is_read_by_its_own_delimiter_and_encoding(data: bytes, rows: list[list[str]]) -> None:
    read = read_csv("x.csv", data)
    assert [[cell.text for cell in row] for row in read.sheets[0].rows] == rows
    assert bool(read.notes) == (b"\xe9" in data)


def test_places_count_from_below_the_line_that_names_the_delimiter() -> None:
    first = read_csv("x.csv", b"sep=|\na|b\n").sheets[0].rows[0]
    assert [cell.place for cell in first] == ["A1", "B1"]


@pytest.mark.parametrize(
    ("rows", "headers"),
    [
        (
            "Operator;J. Mueller\nDate;05.03.2024\nAccount;12345678\n\nWell;Depth;Yield\nOrchard;61;4\n",
            [0, 1],
        ),
        ("Operator:;J. Mueller\nDate:;05.03.2024\n", [0]),
        ("Sample;Name;Low;High;Note\n1;Caffeine;2;3;ok\n\nBlank;Caffeine;;;n.d.\n", [1]),
        ("Well;Depth\nA;61\n\nPump;Power\nB;4\n", [1, 1]),
        (";2024;2023\nCosts;5;6\n\n;2022;2021\nCosts;7;8\n", [1, 1]),
        ("Well;Depth;Yield\nA;61;4\n\nsee;annex\nB;62;5\n", [1]),
        ("Name:;Value:\nA;61\n", [1]),
    ],
)
def test_a_row_of_texts_is_a_header_only_of_a_table(rows: str, headers: list[int]) -> None:
    tables = list(sheet_parts(read_csv("x.csv", rows.encode()).sheets[0]))
    assert [table.headers for table in tables if isinstance(table, SheetTable)] == headers


def test_more_cells_or_pages_than_the_limit_are_refused() -> None:
    with pytest.raises(InputError, match=f"{MOST_CELLS:,} cells"):
        read_csv("x.csv", b"1,2,3,4,5\n" * (MOST_CELLS // 5 + 1))


def test_pages_are_limited_while_they_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"a,b\n" * 1000)
    with pytest.raises(TooManyPages, match=r"x\.csv has more than 3 pages"):
        convert(tmp_path / "x.csv", tmp_path / "made.pdf", "csv", "x.csv", 3)
    assert not (tmp_path / "made.pdf").exists()
