"""Grids whose rows are sections: each is read by itself, and outlives what becomes of its document."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcore.engine import Engine
from ragcore.errors import Cancelled, InputError
from ragcore.grid.cells import CellFiller
from ragcore.grid.columns import given_columns
from ragcore.index.grids import GridStore
from ragcore.types import Citation, Scope, Section
from ragcore.types.grid import MAX_SECTIONS, STATED, Cell, Grid, row_of
from tests import pdfs, prepared

CLAUSES = {
    "Term": ["This agreement ends on 30 June 2027.", "The notice period is 30 days."],
    "Fees": ["The monthly fee is 1,200 EUR, payable by the customer.", "The fee is never paid twice in one month."],
    "Data": ["The notice period is 60 days. Data must not be transferred abroad by the supplier."],
}
NOTICE = {"name": "Notice period", "question": "The notice period in days", "type": "value", "unit": "days"}
EVERY = (
    NOTICE,
    {"name": "Ends", "question": "When does the agreement end?", "type": "date"},
    {"name": "Payer", "question": "Who pays the monthly fee?", "type": "name"},
    {"name": "Transfer", "question": "Must data be transferred abroad by the supplier?", "type": "yes_no"},
    {"name": "Twice", "question": "Is “the fee is never paid twice in one month” agreed?", "type": "yes_no"},
    {"name": "Seen to", "question": "How often is the pump at Mill Bridge seen to?", "type": "quote"},
    {"name": "Fees", "type": "list"},
    {"name": "Oil", "question": "How often is the pump at Mill Bridge seen to?", "type": "text"},
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("rows"), overrides={"llm.model": "offline"}) as opened:
        again = {"Term": ["The notice period is 90 days."]}
        twice = pdfs.joined(pdfs.report("Agreement", CLAUSES), pdfs.report("Agreement", again))
        for name, data in (("agreement.pdf", twice), ("handbook.pdf", pdfs.handbook())):
            prepared.read(opened, data, name)
        opened.index()
        yield opened


@pytest.fixture
def engine(library: Engine) -> Iterator[Engine]:
    yield library
    for one in library.grids.all():
        library.grids.remove(one.grid_id)


def sections(engine: Engine, name: str = "agreement.pdf") -> list[Section]:
    """Sections of a document, those of one path apart."""
    [doc_id] = [info.doc_id for info in engine.documents() if info.name == name]
    return [node.of(doc_id) for node in engine.grids.sections(doc_id).values()]


def called(engine: Engine, label: str) -> list[Section]:
    return [one for name in ("agreement.pdf", "handbook.pdf") for one in sections(engine, name) if one.label == label]


def filled(engine: Engine, rows: Sequence[Section], *columns: dict[str, str]) -> Grid:
    grid_id = engine.grids.add("Clauses", given_columns(columns or (NOTICE,)), Scope(sections=tuple(rows))).grid_id
    engine.grids.run(grid_id)
    return engine.grids.get(grid_id)


def numbers(grid: Grid) -> list[float | None]:
    return [grid.cell(row.row_id, grid.columns[0].column_id).value.number for row in grid.rows]


def places(cell: Cell) -> list[Citation]:
    given = (cell.value, *cell.rivals)
    return [*cell.nearest, *(one for value in given for one in value.citations)]


def test_a_row_is_a_section_and_says_what_its_section_says(engine: Engine) -> None:
    (first, second), [data], [fees] = (called(engine, label) for label in ("Term", "Data", "Fees"))
    grid = filled(engine, [data, second, first, fees])
    assert [row.label for row in grid.rows] == ["Term", "Fees", "Data", "Term"], "in the order of the document"
    assert numbers(grid) == [30.0, None, 60.0, 90.0]
    assert grid.info.total == 4
    assert grid.info.scope.doc_ids == (data.doc_id,)
    assert len({row.row_id for row in grid.rows}) == 4, "two sections of one path stay apart"
    assert [row.begins for row in grid.rows] == [1, 2, 3, 4]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_cell_cites_a_word_outside_of_its_section(library: Engine, data: st.DataObject) -> None:
    every = [*sections(library), *sections(library, "handbook.pdf")]
    section = data.draw(st.sampled_from(every))
    column = data.draw(st.sampled_from([one.column("c") for one in given_columns(EVERY)]))
    [info] = [info for info in library.documents() if info.doc_id == section.doc_id]
    filler = CellFiller(library, lambda: False)
    cell = filler.cell(column, info, Scope((section.doc_id,), sections=(section,)))
    assert all(section.start <= one.start < one.end <= section.end for one in places(cell))
    whole = filler.cell(column, info, Scope((section.doc_id,)))
    if cell.status in STATED and column.type in ("value", "name"):
        assert cell.value.text in library.document(section.doc_id).text[section.start : section.end]
    assert whole.read >= cell.read


def test_what_is_corrected_is_held_against_the_section(engine: Engine) -> None:
    [fees], grids = called(engine, "Fees"), engine.grids
    grid = filled(engine, [fees], EVERY[2])
    at = grid.info.grid_id, grid.rows[0].row_id, grid.columns[0].column_id
    assert grids.decide(*at, "corrected", "The monthly fee is payable by the customer").decision.supported
    elsewhere = grids.decide(*at, "corrected", "Data must not be transferred abroad by the supplier.")
    assert elsewhere.decision.supported is False
    assert all(fees.start <= one.start < one.end <= fees.end for one in elsewhere.decision.value.citations)


def test_rows_outlive_that_their_document_is_read_anew(engine: Engine) -> None:
    (first, _), [data] = called(engine, "Term"), called(engine, "Data")
    grid, grids = filled(engine, [first, data]), engine.grids
    grid_id, [column] = grid.info.grid_id, grid.columns
    for row in grid.rows:
        grids.decide(grid_id, row.row_id, column.column_id, "accepted")
    store = GridStore(engine.store.database)
    lost = replace(data, path=(*data.path[:-1], "Privacy"))
    store.set_scope(grid_id, Scope(sections=(replace(first, start=first.start + 7, end=first.end + 9), data, lost)))
    after = grids.get(grid_id)
    assert [(row.label, bool(row.begins)) for row in after.rows] == [("Term", True), ("Data", True), ("Privacy", False)]
    kept = [after.cell(row.row_id, column.column_id).decision.kind for row in after.rows]
    assert kept == ["accepted", "accepted", ""]
    grids.run(grid_id)
    told = grids.cell(grid_id, row_of(lost), column.column_id)
    assert told.status == "failed"
    assert told.found is not None
    assert "no longer has the section “Privacy”" in (told.found.error or {})["message"]
    assert numbers(grids.get(grid_id)) == [30.0, 60.0, None]
    grids.decide(grid_id, row_of(lost), column.column_id, "not_stated")
    grids.decide(grid_id, row_of(first), column.column_id, "")
    with engine.store.database.write() as connection:
        connection.update("documents", "doc_id = ?", first.doc_id, built=12345.0)
    assert grids.info(grid_id).done == 2, "what was decided"
    assert grids.run(grid_id).finished
    assert grids.cell(grid_id, row_of(lost), column.column_id).status == "not_stated"
    with pytest.raises(InputError, match="no longer has"):
        grids.decide(grid_id, row_of(lost), column.column_id, "corrected", "60 days")
    grids.scope(grid_id, Scope(sections=(first, lost)))
    assert [row.label for row in grids.get(grid_id).rows] == ["Term", "Privacy"], "what was a row before stays one"
    with pytest.raises(InputError, match="no section “Privacy”"):
        grids.add("Other", [], Scope(sections=(lost,)))


def test_what_is_left_out_comes_back_with_its_cells(engine: Engine) -> None:
    (first, second), grids = called(engine, "Term"), engine.grids
    grid_id = filled(engine, [first, second]).info.grid_id
    grids.scope(grid_id, Scope(sections=(second,)))
    assert numbers(grids.get(grid_id)) == [90.0]
    grids.scope(grid_id, Scope(sections=(first, second)))
    assert grids.info(grid_id).finished
    assert numbers(grids.get(grid_id)) == [30.0, 90.0]
    grids.scope(grid_id, Scope((first.doc_id,)))
    assert (grids.info(grid_id).done, grids.info(grid_id).total) == (0, 1)


def test_stopped_it_goes_on_and_a_removed_document_takes_its_rows(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "other.pdf"
    file.write_bytes(pdfs.report("Other", {"Term": ["The notice period is 10 days."]}))
    doc_id = prepared.read(engine, file, "other.pdf")
    engine.index()
    grids, rows = engine.grids, [*called(engine, "Term"), *sections(engine, "other.pdf")[-1:]]
    grid_id = grids.add("Terms", given_columns([NOTICE]), Scope(sections=tuple(rows))).grid_id
    seen: list[int] = []
    with pytest.raises(Cancelled):
        grids.run(grid_id, lambda done, _: seen.append(done), lambda: len(seen) > 1)
    assert grids.info(grid_id).done == 1
    assert grids.run(grid_id).finished
    assert numbers(grids.get(grid_id)) == [30.0, 90.0, 10.0]
    assert grids.info(grid_id).rows == {rows[0].doc_id: 2, doc_id: 1}
    engine.remove(doc_id)
    assert numbers(grids.get(grid_id)) == [30.0, 90.0]
    assert grids.info(grid_id).finished


def test_a_grid_has_no_more_sections_than_can_be_looked_through(engine: Engine) -> None:
    many = tuple(replace(one, nth=n) for one in called(engine, "Data") for n in range(MAX_SECTIONS + 1))
    with pytest.raises(InputError, match=f"at most {MAX_SECTIONS} sections; these are {MAX_SECTIONS + 1}"):
        engine.grids.add("Many", [], Scope(sections=many))


def test_files_name_the_section_beside_its_document(engine: Engine) -> None:
    grid = filled(engine, called(engine, "Term"))
    title = grid.rows[0].title
    path, other = (f"{' › '.join(row.section)} (p. {row.page_label})" for row in grid.rows)
    assert path != other, "two of equal headings are told apart by their pages"
    export = engine.grids.export
    rows = list(csv.reader(io.StringIO(export(grid.info.grid_id, "csv").decode("utf-8-sig"))))
    assert rows == [["Document", "Section", "Notice period (days)"], [title, path, "30"], [title, other, "90"]]
    book = openpyxl.load_workbook(io.BytesIO(export(grid.info.grid_id, "xlsx")))
    page, evidence = book["Grid"], book["Evidence"]
    assert [cell.value for cell in page[2]] == [title, path, 30]
    assert page["C4"].value.startswith("2 of 2 stated")
    line = int(page["C2"].hyperlink.location.rpartition("!A")[2])
    told = {head.value: cell.value for head, cell in zip(evidence[1], evidence[line], strict=True)}
    assert (told["Section"], told["Column"], told["Page"]) == (path, "Notice period", 1)
    told_rows = json.loads(export(grid.info.grid_id, "json"))["rows"]
    assert [(row["title"], row["section"]) for row in told_rows] == [(title, list(grid.rows[0].section))] * 2
    assert [(row["row_id"], row["page"]) for row in told_rows] == [(row.row_id, str(row.begins)) for row in grid.rows]
