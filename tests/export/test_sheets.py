"""Tables as files: numbers as numbers where that is beyond doubt, text never taken for a formula."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from ragcore.engine import Engine
from ragcore.errors import InputError
from ragcore.export.characters import clean
from ragcore.export.sheets import LINE_HEIGHT, Marks, Sheet, SheetCell, figure, fit_rows, marks_of, sheets, write
from ragcore.types import Cell
from tests import pdfs, prepared


@pytest.mark.parametrize(
    ("text", "marks", "value", "shown"),
    [
        ("1,234", "point", 1234, "#,##0"),
        ("1.234", "comma", 1234, "#,##0"),
        ("1,234", "comma", 1.234, "0.000"),
        ("$ 1,234.50", "point", 1234.5, '"$"#,##0.00'),
        ("(1,234)", "point", -1234, "#,##0;(#,##0)"),
        ("$ (29.3)", "point", -29.3, '"$"0.0;("$"0.0)'),
        ("12%", None, 0.12, "0%"),
        ("(3.5)%", "point", -0.035, "0.0%;(0.0%)"),
        ("−5", None, -5, "0"),
        ("+0.50", None, 0.5, "0.00"),
        ("12 345 678", None, 12345678, "#,##0"),
        ("7,5 €", None, 7.5, '0.0" €"'),
        (".5", None, 0.5, "0.0"),
        ("2023", None, 2023, "0"),
    ],
)
def test_what_is_a_number(text: str, marks: str | None, value: float, shown: str) -> None:
    found = figure(text, marks)  # type: ignore[arg-type]  # a parametrised str
    assert found is not None
    assert found.value == pytest.approx(value)
    assert found.format == shown


@pytest.mark.parametrize(
    "text",
    ["1,234", "1.234", "", "–", "n/a", "007", "10-K", "1/28/15", "333-198973", "1.", "12.5.1", "1,23,456", "(5", "5)",
     "--5", "1e5", "12 34", "1234567890123456", "$5%", "+-5", "1 234,5.6"],
)  # fmt: skip
def test_what_is_not_or_may_be_something_else(text: str) -> None:
    assert figure(text, None) is None


def test_what_divides_thousands_is_told_by_numbers_that_have_one_reading() -> None:
    assert marks_of(["1,234", "12.5"]) == "point"
    assert marks_of(["1,234,567", "1,234"]) == "point"
    assert marks_of(["1.234", "7,5"]) == "comma"
    assert marks_of(["1,234", "5,678"]) is None
    assert marks_of(["12.5", "7,25"]) is None


@given(st.text(max_size=20) | st.text("0123456789.,' %$()-", max_size=12), st.sampled_from([None, "point", "comma"]))
def test_a_number_is_finite_and_any_text_is_borne(text: str, marks: Marks | None) -> None:
    found = figure(text, marks or marks_of([text]))
    assert found is None or abs(found.value) < 1e16


@pytest.mark.parametrize("marks", ["point", "comma"])
@pytest.mark.parametrize("text", ["3.2.1", "3,2,1", "1.2.3.4", "12.05.2021"])
def test_a_section_number_or_a_date_is_no_number(text: str, marks: Marks) -> None:
    assert figure(text, marks) is None


def test_a_document_gives_a_workbook_and_csv_with_its_tables(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        doc_id = prepared.read(engine, pdfs.multi_level_table(), "levels.pdf")
        document = engine.document(doc_id)
        [sheet] = sheets(document)
        book = load_workbook(io.BytesIO(engine.write_tables(doc_id, "xlsx")))
        lines = list(csv.reader(io.StringIO(engine.write_tables(doc_id, "csv", 1).decode("utf-8-sig"))))
        with pytest.raises(InputError, match="has 1 table"):
            engine.write_tables(doc_id, "csv", 2)
    assert book.sheetnames[0] == "Contents"
    assert book["Contents"]["C4"].value == sheet.place == "p. 1"
    page = book.worksheets[1]
    values = [[cell.value for cell in row] for row in page.iter_rows()]
    assert ["North", 410, 455, 38, 41] in values
    assert ["South", 287, 301, 22, -5] in values
    assert ["South", "287", "301", "22", "(5)"] in lines
    places = [cell.place for cell in sheet.cells]
    merged = {(cell.row, cell.col) for cell in places if cell.col_span > 1 or cell.row_span > 1}
    assert {(area.min_row - 1, area.min_col - 1) for area in page.merged_cells.ranges} == merged
    assert merged
    assert page.freeze_panes == f"A{sheet.heads + 1}"
    assert all(cell.font.bold for cell in page[1] if cell.value)


HOSTILE = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "＝1", '=HYPERLINK("http://x")']


def sheet_of(texts: list[str]) -> Sheet:
    cells = tuple(SheetCell(Cell(row, 0, 1, 1, 0, 0), text) for row, text in enumerate(texts))
    return Sheet(1, "=title", "p. 1", "=document", len(texts), 1, 0, cells)


def test_no_text_becomes_a_formula() -> None:
    book = load_workbook(io.BytesIO(write([sheet_of(HOSTILE)], "xlsx")))
    cells = [cell for page in book.worksheets for row in page.iter_rows() for cell in row if cell.value is not None]
    assert "f" not in {cell.data_type for cell in cells}
    assert [cell.value for cell in book.worksheets[1]["A"]] == HOSTILE
    lines = list(csv.reader(io.StringIO(write([sheet_of(HOSTILE)], "csv").decode("utf-8-sig"))))
    assert [line[0] for line in lines] == [f"'{text}" for text in HOSTILE]


def test_numbers_and_dashes_are_left_as_they_are_in_csv() -> None:
    kept = ["-5", "–", "-", "+0.50", "-1,234.5", "(5)"]
    lines = list(csv.reader(io.StringIO(write([sheet_of(kept)], "csv").decode("utf-8-sig"))))
    assert [line[0] for line in lines] == kept


def grid(*cells: tuple[int, int, int, int, str]) -> Sheet:
    rows = max(row + row_span for row, _, row_span, _, _ in cells)
    columns = max(col + col_span for _, col, _, col_span, _ in cells)
    placed = tuple(SheetCell(Cell(*cell[:4], 0, 0), cell[4]) for cell in cells)
    return Sheet(1, "T", "p. 1", "D", rows, columns, 0, placed)


def test_cells_that_overlap_keep_their_text() -> None:
    """A span that was read too wide covers its neighbours: it stays unmerged, and nothing is lost."""
    sheet = grid((0, 0, 1, 3, "Wide"), (0, 1, 1, 1, "Covered"), (1, 0, 2, 2, "Block"), (2, 1, 2, 2, "Into it"))
    page = load_workbook(io.BytesIO(write([sheet], "xlsx"))).worksheets[1]
    assert {cell.value for row in page.iter_rows() for cell in row if cell.value} == {
        "Wide",
        "Covered",
        "Block",
        "Into it",
    }
    assert [str(area) for area in page.merged_cells.ranges] == ["B3:C4"]
    text = write([sheet], "csv").decode("utf-8-sig")
    assert all(word in text for word in ("Wide", "Covered", "Block", "Into it"))


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 3), st.integers(1, 3), st.text(max_size=8)),
        min_size=1,
        max_size=8,
        unique_by=lambda cell: cell[:2],
    )
)
def test_any_grid_becomes_a_workbook_with_all_of_its_text(cells: list[tuple[int, int, int, int, str]]) -> None:
    sheet = grid(*cells)
    page = load_workbook(io.BytesIO(write([sheet], "xlsx"))).worksheets[1]
    held = " ".join(str(cell.value) for row in page.iter_rows() for cell in row if cell.value is not None)
    assert all(clean(text) in held for *_, text in cells)


def test_a_row_is_as_high_as_the_lines_of_its_longest_text() -> None:
    page = Workbook().active
    page.column_dimensions["A"].width = page.column_dimensions["B"].width = 22
    page.append(["\n".join(["A well", "", *["x" * 50] * 2]), "One line"])
    page.append(["One line", "Another"])
    fit_rows(page)
    assert page.row_dimensions[1].height == (1 + 1 + 2 * 3) * LINE_HEIGHT
    assert page.row_dimensions[2].height is None


def test_a_text_longer_than_a_cell_takes_is_cut_and_says_so() -> None:
    page = load_workbook(io.BytesIO(write([grid((0, 0, 1, 1, "word " * 8000))], "xlsx"))).worksheets[1]
    assert len(page["A1"].value) <= 32767
    assert " […] " in page["A1"].value
