"""Files of a grid."""

from __future__ import annotations

import csv
import io
import json
import time
from dataclasses import replace
from datetime import date
from typing import Any

import openpyxl
import pytest

from ragcore.grid.files import write
from ragcore.grid.summary import summary
from ragcore.types import Box, Citation, Scope
from ragcore.types.grid import Cell, CellDecision, CellValue, Column, Grid, GridCell, GridInfo, Row

PLACE = Citation(1, "d1", "Lease", 3, "iii", "rent of 1,200.50 a month", 10, 34, (Box(3, 1, 2, 3, 4),))
RENT = Column("c1", "Rent", "", "value", "USD")
PARTY = Column("c2", "Tenant", "", "name")
VALUE = CellValue("1,200.50", 1200.5, "USD", "2025", (PLACE,))


def grid(*cells: GridCell) -> Grid:
    rows = (Row("d1", "=Lease", "lease.pdf", 4, True), Row("d2", "Other lease", "other.pdf", 2, True))
    info = GridInfo("g1", "Leases", Scope(), 0.0, 2, 4, len(cells))
    return Grid(info, rows, (RENT, PARTY), {(cell.doc_id, cell.column_id): cell for cell in cells})


RIVALS = Cell("rival", VALUE, (CellValue("1,300", 1300.0, "USD", "2024", (PLACE,)),), supported=True)
GRID = grid(
    GridCell("d1", "c1", RIVALS),
    GridCell("d1", "c2", Cell("stated", CellValue("=cmd()", citations=(PLACE,)), supported=False)),
    GridCell("d2", "c1", Cell("not_stated", nearest=(PLACE,), reason="No passage is about this.")),
)


def test_a_workbook_has_numbers_units_links_and_quotations() -> None:
    book = openpyxl.load_workbook(io.BytesIO(write(GRID, "xlsx")))
    page, evidence = book["Grid"], book["Evidence"]
    assert [cell.value for cell in page[1]] == ["Document", "Rent (USD)", "Tenant"]
    rent = page["B2"]
    assert (rent.value, rent.data_type, rent.number_format) == (1200.5, "n", "#,##0.0")
    assert "rent of 1,200.50 a month" in rent.comment.text
    assert "p. iii" in rent.comment.text
    line = int(rent.hyperlink.location.rpartition("!A")[2])
    told = {head.value: cell.value for head, cell in zip(evidence[1], evidence[line], strict=True)}
    assert [told[head] for head in ("Column", "Value", "Status", "Page")] == [
        "Rent",
        1200.5,
        "Several values",
        "iii",
    ]
    assert "1,300" in told["Others"]
    assert page["B3"].value == "not stated"
    assert page["C3"].value is None
    assert [page["A2"].data_type, page["C2"].data_type] == ["s", "s"], "nothing of a document is computed"
    assert page["A4"].value == "Summary"
    assert page["B4"].value.startswith("1 of 2 stated")


def test_numbers_of_a_column_without_a_unit_are_numbers_too() -> None:
    free = replace(GRID, columns=(replace(RENT, unit=""), PARTY))
    rent = openpyxl.load_workbook(io.BytesIO(write(free, "xlsx")))["Grid"]["B2"]
    assert (rent.value, rent.data_type, rent.number_format) == (1200.5, "n", '#,##0.0" USD"')


def test_the_evidence_gives_a_value_in_the_unit_beside_it() -> None:
    printed = CellValue("5,854,430", 5854.43, "USD million", "2016-12-02", (replace(PLACE, page_label="62"),))
    cell = GridCell("d1", "c1", Cell("stated", printed, supported=True))
    made = replace(grid(cell), columns=(replace(RENT, unit="USD million"), PARTY))
    evidence = openpyxl.load_workbook(io.BytesIO(write(made, "xlsx")))["Evidence"]
    told = dict(zip((head.value for head in evidence[1]), evidence[2], strict=True))
    assert (told["Value"].value, told["Unit"].value) == (5854.43, "USD million")
    assert (told["Page"].value, told["Page"].data_type) == (62, "n")
    assert (told["Period"].is_date, told["Period"].value.date()) == (True, date(2016, 12, 2))
    other = replace(printed, number=None, unit="")
    made = grid(GridCell("d1", "c1", Cell("stated", other)))
    evidence = openpyxl.load_workbook(io.BytesIO(write(made, "xlsx")))["Evidence"]
    assert [evidence["C2"].value, evidence["D2"].value] == ["5,854,430", None]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("2016-12-02", date(2016, 12, 2)), ("2016-12", "2016-12"), ("2016", "2016"), ("1850-01-31", "1850-01-31")],
)
def test_a_day_is_a_date_of_the_sheet(text: str, shown: date | str) -> None:
    day = Column("c1", "Signed", "", "date")
    made = replace(grid(GridCell("d1", "c1", Cell("stated", CellValue(text, period=text)))), columns=(day, PARTY))
    book = openpyxl.load_workbook(io.BytesIO(write(made, "xlsx")))
    for cell in (book["Grid"]["B2"], book["Evidence"]["C2"]):
        assert (cell.value.date() if cell.is_date else cell.value) == shown
        assert cell.is_date is isinstance(shown, date)


def test_csv_has_plain_numbers_and_nothing_that_is_computed() -> None:
    rows = list(csv.reader(io.StringIO(write(GRID, "csv").decode("utf-8-sig"))))
    assert rows == [
        ["Document", "Rent (USD)", "Tenant"],
        ["'=Lease", "1200.5", "'=cmd()"],
        ["Other lease", "not stated", ""],
    ]


def test_json_is_the_contract_of_the_command() -> None:
    told: dict[str, Any] = json.loads(write(GRID, "json"))
    assert told["columns"][0] == {"column_id": "c1", "name": "Rent", "question": "", "type": "value", "unit": "USD"}
    [first, second] = told["rows"]
    assert [first[key] for key in ("row_id", "title", "section", "page")] == ["d1", "=Lease", None, None]
    rent = first["cells"][0]
    assert (rent["column"], rent["status"], rent["value"], rent["number"]) == ("Rent", "rival", "1,200.50", 1200.5)
    assert (rent["unit"], rent["period"]) == ("USD", "2025")
    assert rent["citations"][0]["boxes"][0]["page"] == 3
    assert rent["rivals"][0]["number"] == 1300.0
    nothing = second["cells"][0]
    assert [nothing[key] for key in ("status", "value", "number", "citations")] == ["not_stated", None, None, []]
    assert nothing["nearest"]
    assert nothing["supported"] is None
    assert second["cells"][1]["status"] is None


def test_columns_with_equal_heads_keep_their_places() -> None:
    columns = (Column("c1", "Document", "", "name"), Column("c2", "Tenant", "", "name"))
    found = GridCell("d1", "c1", Cell("stated", CellValue("AAA"))), GridCell("d1", "c2", Cell("stated", CellValue("B")))
    made = Grid(GRID.info, GRID.rows[:1], columns, {(cell.doc_id, cell.column_id): cell for cell in found})
    page = openpyxl.load_workbook(io.BytesIO(write(made, "xlsx")))["Grid"]
    assert [cell.value for cell in page[1]] == ["Document", "Document", "Tenant"]
    assert [cell.value for cell in page[2]] == ["=Lease", "AAA", "B"]


def test_a_large_workbook_takes_seconds() -> None:
    rows = tuple(Row(f"d{n}", f"Lease {n}", "", 1, True) for n in range(200))
    cells = {(row.doc_id, "c1"): GridCell(row.doc_id, "c1", RIVALS) for row in rows}
    made = Grid(GRID.info, rows, (RENT,) * 10, cells)
    began = time.perf_counter()
    assert write(made, "xlsx")
    assert time.perf_counter() - began < 30


@pytest.mark.parametrize("kind", ["xlsx", "csv", "json"])
def test_what_a_person_wrote_stands_in_every_file(kind: Any) -> None:
    decided = CellDecision("corrected", CellValue("1,500", 1500.0, "USD"), supported=False)
    data = write(grid(GridCell("d1", "c1", RIVALS, decided)), kind)
    if kind == "xlsx":
        book = openpyxl.load_workbook(io.BytesIO(data))
        assert book["Grid"]["B2"].value == 1500
        assert [cell.value for cell in book["Evidence"]["F"]][1:] == ["Corrected"]
        assert [cell.value for cell in book["Evidence"]["G"]][1:] == ["Not supported"]
    else:
        assert "1500" in data.decode()
        assert "1300" not in data.decode()
    if kind == "json":
        assert json.loads(data)["rows"][0]["cells"][0]["supported"] is False


def test_a_summary_counts_what_is_stated() -> None:
    other = CellValue("€5", 5.0, "€")
    cells = [
        GridCell("d1", "c1", Cell("stated", VALUE)),
        GridCell("d2", "c1", Cell("stated", CellValue("900", 900.0, "USD"))),
        GridCell("d3", "c1", Cell("stated", other)),
        GridCell("d4", "c1", Cell("not_stated")),
        GridCell("d5", "c1"),
    ]
    found = summary(RENT, cells)
    assert (found.stated, found.filled) == (3, 4)
    assert found.words == "900 – 1,200.5 USD, median 1,050.25 (1 in other units)"
    yes = [GridCell(str(n), "c", Cell("stated", CellValue(text))) for n, text in enumerate(["Yes", "No", "Yes"])]
    assert summary(Column("c", "Pays", "", "yes_no"), yes).words == "Yes 2, No 1"
    for numbers, words in (
        ((-312_126_000.0,), "−$312.126 million"),
        ((1_242_408_000.0, 10_208_580_000.0), "$1.2424 – $10.2086 billion, median $5.7255 billion"),
        ((-61.0, 0.0, 2_000_000.0), "−$61 – $2,000,000, median $0"),
    ):
        money = [GridCell(str(n), "c", Cell("stated", CellValue("", one, "$"))) for n, one in enumerate(numbers)]
        assert summary(Column("c", "Pays", "", "value"), money).words == words
    assert summary(RENT, []) == summary(RENT, [GridCell("d1", "c1")])
