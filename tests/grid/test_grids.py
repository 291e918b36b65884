"""Grids over real documents: what a cell holds, and what becomes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.errors import Cancelled, ConfigError, InputError, ModelError, UnknownDocument, UnknownGrid
from ragcore.grid.cells import of_words
from ragcore.grid.columns import given_columns
from ragcore.grid.files import NOT_STATED, write
from ragcore.grid.grids import Grids
from ragcore.grid.summary import summary
from ragcore.types import EVERYTHING, Citation, Scope
from ragcore.types.grid import STATED, Column, Grid, GridCell
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply

COLUMNS: Sequence[dict[str, str]] = (
    {"name": "Revenue", "question": "Revenue of fiscal 2025", "type": "value", "unit": "USD million"},
    {"name": "Maturity", "question": "When does the credit facility mature?", "type": "date"},
    {"name": "Auditor", "question": "Who audits the accounts?", "type": "name"},
    {"name": "Shoe size", "question": "Shoe size of the chairman", "type": "value"},
)


@pytest.fixture
def engine(sampled: Path, tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(prepared.copied(sampled, tmp_path / "home")) as opened:
        yield opened


def made(engine: Engine, *columns: dict[str, str], scope: Scope = EVERYTHING) -> str:
    return engine.grids.add("Mine", given_columns(columns or COLUMNS), scope).grid_id


def filled(engine: Engine, *columns: dict[str, str]) -> Grid:
    grid_id = made(engine, *columns)
    assert engine.grids.run(grid_id).finished
    return engine.grids.get(grid_id)


def cell(grid: Grid, name: str) -> GridCell:
    [column_id] = [column.column_id for column in grid.columns if column.name == name]
    return grid.cell(grid.rows[0].doc_id, column_id)


def test_a_cell_is_a_value_with_its_place_or_not_stated(engine: Engine) -> None:
    grid = filled(engine)
    revenue, maturity, auditor = (cell(grid, name).value for name in ("Revenue", "Maturity", "Auditor"))
    assert (revenue.number, revenue.unit) == (148.6, "USD million")
    assert maturity.period == "2029-06-30"
    assert auditor.text == "Brandt & Oyelaran LLP"
    document = engine.document(grid.rows[0].doc_id)
    for value, words in ((revenue, "148.6"), (maturity, "30 June 2029"), (auditor, "Oyelaran")):
        place = value.citations[0]
        assert words in document.text[place.start : place.end] == place.quote
        assert place.boxes
    nothing = cell(grid, "Shoe size")
    assert nothing.status == "not_stated"
    assert nothing.found is not None
    assert nothing.found.reason


def test_the_same_documents_give_the_same_cells(engine: Engine) -> None:
    every = (
        *COLUMNS,
        {"name": "Risks", "type": "list"},
        {"name": "Drawn", "question": "Is the facility drawn?", "type": "yes_no"},
        {"name": "Rings", "question": "What happened to the supplier of the ceramic rings?", "type": "quote"},
    )
    grid = filled(engine, *every)
    engine.grids.again(grid.info.grid_id)
    assert engine.grids.info(grid.info.grid_id).done == 0
    engine.grids.run(grid.info.grid_id)
    assert engine.grids.get(grid.info.grid_id).cells == grid.cells


def test_a_list_reads_every_passage_and_gives_each_item_its_place(engine: Engine) -> None:
    risks = cell(filled(engine, {"name": "Risks", "type": "list"}), "Risks")
    assert risks.found is not None
    assert risks.found.read == risks.found.passages > 10
    items = risks.value.text.splitlines()
    assert len(items) == len(risks.value.citations) == risks.value.number
    assert [one for one in items if "tender" in one]
    assert [one for one in items if "technicians" in one]
    assert not [one for one in items if "audited" in one], "the next section is none of it"


def test_yes_and_no_are_what_the_document_says(engine: Engine) -> None:
    columns = (
        {"name": "Grew", "question": "Did revenue grow 12.4%?", "type": "yes_no"},
        {"name": "Fell", "question": "Did revenue fall 12.4%?", "type": "yes_no"},
        {"name": "King", "question": "Is the chairman a king?", "type": "yes_no"},
    )
    grid = filled(engine, *columns)
    said = [cell(grid, name).value.text or cell(grid, name).status for name in ("Grew", "Fell", "King")]
    assert said == ["Yes", "No", "not_stated"]
    assert all(cell(grid, name).value.citations for name in ("Grew", "Fell"))


def test_what_is_said_without_limitation_is_not_denied(engine: Engine, tmp_path: Path) -> None:
    said = "Any dispute, including, without limitation, any dispute on pay, shall be settled by arbitration in Oslo."
    file = tmp_path / "contract.pdf"
    file.write_bytes(pdfs.report("Contract", {"Disputes": [said]}))
    doc_id = prepared.read(engine, file, "contract.pdf")
    engine.index()
    column = {"name": "Arbitration", "question": "Is any dispute settled by arbitration in Oslo?", "type": "yes_no"}
    grid_id = made(engine, column, scope=Scope((doc_id,)))
    engine.grids.run(grid_id)
    [found] = engine.grids.get(grid_id).cells.values()
    assert found.value.text == "Yes"


def test_values_that_contradict_each_other_are_both_named(engine: Engine, tmp_path: Path) -> None:
    said = ["The notice period is 30 days.", "The notice period is 60 days."]
    file = tmp_path / "lease.pdf"
    file.write_bytes(pdfs.report("Lease", {"Term": said[:1], "Ending": said[1:]}))
    doc_id = prepared.read(engine, file, "lease.pdf")
    engine.index()
    column = {"name": "Notice period", "question": "The notice period in days", "type": "value", "unit": "days"}
    grid_id = made(engine, column, scope=Scope((doc_id,)))
    engine.grids.run(grid_id)
    [found] = engine.grids.get(grid_id).cells.values()
    assert found.found is not None
    numbers = {found.value.number, *(one.number for one in found.found.rivals)}
    assert (found.status, numbers) == ("rival", {30.0, 60.0})


def test_what_is_only_likely_is_shown_and_not_stated_until_somebody_uses_it(engine: Engine) -> None:
    asked = {"name": "In Leuven", "question": "How many people work in Leuven?", "type": "value"}
    grids, grid = engine.grids, filled(engine, asked)
    found = cell(grid, "In Leuven")
    assert (found.status, found.value.text, summary(grid.columns[0], [found]).stated) == ("not_stated", "", 0)
    first = found.likely[0]
    assert first.number == 196
    assert [one.page for one in first.citations] == [3]
    told = json.loads(write(grid, "json"))["rows"][0]["cells"][0]
    assert (told["value"], told["rivals"], told["likely"][0]["number"]) == (None, [], 196)
    assert NOT_STATED in write(grid, "csv").decode("utf-8-sig")
    assert b"196" not in write(grid, "csv")
    used = grids.decide(grid.info.grid_id, found.row_id, found.column_id, "corrected", "196")
    assert (used.status, used.value.number, used.value.citations) == ("stated", 196, first.citations)
    assert (used.supported, used.likely) == (None, ()), "that it is what was asked for, a person says"


def test_a_changed_column_empties_itself_alone(engine: Engine) -> None:
    grids, grid = engine.grids, filled(engine)
    revenue = next(one for one in grid.columns if one.name == "Revenue")
    version = grids.info(grid.info.grid_id).version
    grids.change_column(grid.info.grid_id, revenue.column_id, question="Revenue of fiscal 2024")
    info = grids.info(grid.info.grid_id)
    assert (info.done, info.total) == (3, 4)
    assert info.version > version
    grids.run(grid.info.grid_id)
    after = grids.get(grid.info.grid_id)
    assert cell(after, "Revenue").value.number == 132.2
    others = [name for name in ("Maturity", "Auditor", "Shoe size") if cell(after, name) != cell(grid, name)]
    assert others == []


def test_what_a_person_decided_is_never_filled_again(engine: Engine) -> None:
    grids, grid = engine.grids, filled(engine)
    grid_id, doc_id = grid.info.grid_id, grid.rows[0].doc_id
    ids = {column.name: column.column_id for column in grid.columns}
    right = grids.decide(grid_id, doc_id, ids["Revenue"], "corrected", "$148.6 million")
    assert (right.value.number, right.value.unit, right.decision.supported) == (148.6, "USD million", True)
    wrong = grids.decide(grid_id, doc_id, ids["Maturity"], "corrected", "1 May 2031")
    assert (wrong.status, wrong.value.period, wrong.decision.supported) == ("stated", "2031-05-01", False)
    assert grids.decide(grid_id, doc_id, ids["Auditor"], "not_stated").status == "not_stated"
    grids.again(grid_id)
    assert grids.info(grid_id).done == 3
    grids.run(grid_id)
    kept = grids.get(grid_id)
    assert cell(kept, "Revenue").value.text == "$148.6 million"
    assert cell(kept, "Auditor").status == "not_stated"
    assert grids.decide(grid_id, doc_id, ids["Auditor"], "").value.text == "Brandt & Oyelaran LLP"
    with pytest.raises(InputError):
        grids.decide(grid_id, doc_id, ids["Revenue"], "corrected", "  ")
    with pytest.raises(UnknownDocument):
        grids.decide(grid_id, "0" * 16, ids["Revenue"], "accepted")
    with pytest.raises(UnknownGrid):
        grids.decide(grid_id, doc_id, "nothing", "accepted")


def test_a_value_by_hand_is_of_its_column_s_kind_and_claims_no_page_that_lacks_it(engine: Engine) -> None:
    drawn = {"name": "Drawn", "question": "Did revenue grow 12.4%?", "type": "yes_no"}
    grids, grid = engine.grids, filled(engine, *COLUMNS[:2], drawn)
    ids = {column.name: column.column_id for column in grid.columns}

    def corrected(name: str, text: str) -> GridCell:
        return grids.decide(grid.info.grid_id, grid.rows[0].doc_id, ids[name], "corrected", text)

    for name, texts in {
        "Revenue": ["about many", "unknown", "10 to 20"],
        "Maturity": ["soon", "in two"],
        "Drawn": ["perhaps", "none", "12"],
    }.items():
        for text in texts:
            with pytest.raises(InputError):
                corrected(name, text)
        assert cell(grids.get(grid.info.grid_id), name) == cell(grid, name)
    wrong = corrected("Revenue", "about $999 million")
    assert (wrong.value.number, wrong.supported, wrong.value.citations) == (999.0, False, ())
    assert wrong.decision.value.citations, "the nearest words"
    assert corrected("Maturity", "June 2031").value.period == "2031-06"
    assert corrected("Maturity", "30 June").value.period == ""
    assert corrected("Drawn", "yes").value.text == "Yes"
    assert corrected("Drawn", "no, it fell").value.text == "No, it fell"


def test_what_is_filled_again_says_what_it_said_until_it_is(engine: Engine) -> None:
    grids, grid = engine.grids, filled(engine)
    grid_id, seen = grid.info.grid_id, list[int]()
    revenue = next(one.column_id for one in grid.columns if one.name == "Revenue")
    grids.decide(grid_id, grid.rows[0].doc_id, revenue, "accepted")
    grids.again(grid_id)
    due = grids.get(grid_id).cells.values()
    assert sorted(one.again for one in due) == [False, True, True, True]
    assert [one.found for one in due] == [grid.cells[one.row_id, one.column_id].found for one in due]

    def show(done: int, _total: int) -> None:
        seen.append(done)

    with pytest.raises(Cancelled):
        grids.run(grid_id, show, lambda: len(seen) > 1)
    after = grids.get(grid_id).cells
    assert sum(one.again for one in after.values()) == 2
    assert {key: one.found for key, one in after.items()} == {key: one.found for key, one in grid.cells.items()}
    assert grids.run(grid_id).finished
    assert not any(one.again for one in grids.get(grid_id).cells.values())


def test_another_value_that_the_document_gives_is_taken_with_its_place(engine: Engine) -> None:
    grids, grid = engine.grids, filled(engine, COLUMNS[0])
    [column] = grid.columns
    given = cell(grid, "Revenue").value
    taken = grids.decide(grid.info.grid_id, grid.rows[0].doc_id, column.column_id, "corrected", "148.6 USD million")
    assert taken.decision.value.citations == given.citations
    assert taken.decision.supported


def test_items_of_a_list_are_corrected_one_by_one(engine: Engine) -> None:
    grids, grid = engine.grids, filled(engine, {"name": "Risks", "type": "list"})
    text = "The ceramic rings of our transducers come from one supplier.\n\n  Calibration needs technicians.  "
    [column] = grid.columns
    found = grids.decide(grid.info.grid_id, grid.rows[0].doc_id, column.column_id, "corrected", text)
    assert (found.value.number, found.value.text.count("\n")) == (2.0, 1)


def test_what_is_undone_is_told_to_pages_too(engine: Engine) -> None:
    grids, grid_id = engine.grids, made(engine, COLUMNS[0])
    [row], [column] = grids.get(grid_id).rows, grids.get(grid_id).columns
    grids.decide(grid_id, row.doc_id, column.column_id, "corrected", "5")
    _, now = grids.changes(grid_id, 0)
    grids.decide(grid_id, row.doc_id, column.column_id, "")
    [undone], later = grids.changes(grid_id, now)
    assert (undone.status, grids.info(grid_id).done) == (None, 0)
    grids.run(grid_id)
    [told], _ = grids.changes(grid_id, later)
    assert told.value.number == 148.6


def test_a_document_that_is_renamed_keeps_its_cells_and_one_read_anew_loses_them(engine: Engine) -> None:
    grids, grid = engine.grids, filled(engine, COLUMNS[0])
    doc_id = grid.rows[0].doc_id
    engine.shelf.rename(doc_id, "Another title")
    assert grids.info(grid.info.grid_id).finished
    with engine.store.database.write() as connection:
        connection.update("documents", "doc_id = ?", doc_id, built=12345.0)
    assert grids.info(grid.info.grid_id).done == 0


def test_all_is_filled_again_while_it_is_filled(engine: Engine) -> None:
    grids, grid_id, seen = engine.grids, made(engine, *COLUMNS[:3]), list[int]()

    def show(done: int, _total: int) -> None:
        seen.append(done)
        if len(seen) == 3:
            grids.again(grid_id)

    assert grids.run(grid_id, show).finished


def test_a_document_that_is_removed_while_it_is_filled_ends_nothing(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "other.pdf"
    file.write_bytes(pdfs.report("Other report", {"Results": ["Revenue was $20.5 million in fiscal 2025."]}))
    doc_id = prepared.read(engine, file, "other.pdf")
    engine.index()
    grids, grid_id, seen = engine.grids, made(engine, *COLUMNS[:2]), list[int]()

    def show(done: int, _total: int) -> None:
        seen.append(done)
        if len(seen) == 1:
            engine.remove(doc_id)

    assert grids.run(grid_id, show).finished
    assert len(grids.get(grid_id).rows) == 1


def test_two_pages_that_add_a_column_at_once_both_do(engine: Engine) -> None:
    grids, grid_id = engine.grids, made(engine, COLUMNS[0])
    names = [f"Question {n}" for n in range(8)]
    threads = [Thread(target=grids.add_column, args=(grid_id, name, "", "quote")) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(column.name for column in grids.get(grid_id).columns) == [*names, "Revenue"]


def test_stopped_it_goes_on_where_it_was(engine: Engine) -> None:
    grids, grid_id = engine.grids, made(engine)
    seen: list[int] = []

    def show(done: int, _total: int) -> None:
        seen.append(done)

    with pytest.raises(Cancelled):
        grids.run(grid_id, show, lambda: len(seen) > 2)
    assert grids.info(grid_id).done == 2
    seen.clear()
    grids.run(grid_id, show)
    assert seen == [2, 3]


def test_a_column_that_changes_while_it_is_filled_is_filled_as_it_is_now(engine: Engine) -> None:
    grids, grid_id = engine.grids, made(engine, COLUMNS[0])
    [column] = grids.get(grid_id).columns
    changed = []

    def show(_done: int, _total: int) -> None:
        if not changed:
            changed.append(grids.change_column(grid_id, column.column_id, question="Revenue of fiscal 2024"))

    assert grids.run(grid_id, show).finished
    assert cell(grids.get(grid_id), "Revenue").value.number == 132.2


def test_a_page_learns_what_changed_since(engine: Engine) -> None:
    grids, grid_id = engine.grids, made(engine)
    assert grids.changes(grid_id, 0) == ([], 0)
    grids.run(grid_id)
    cells, now = grids.changes(grid_id, 0)
    assert len(cells) == 4
    assert grids.changes(grid_id, now) == ([], now)
    one = cells[0]
    grids.decide(grid_id, one.doc_id, one.column_id, "accepted")
    [again], later = grids.changes(grid_id, now)
    assert (again.column_id, again.decision.kind) == (one.column_id, "accepted")
    assert later > now


def test_documents_come_and_go(engine: Engine, tmp_path: Path) -> None:
    grids, grid = engine.grids, filled(engine, COLUMNS[0])
    grid_id = grid.info.grid_id
    file = tmp_path / "other.pdf"
    file.write_bytes(pdfs.report("Other report", {"Results": ["Revenue was $20.5 million in fiscal 2025."]}))
    doc_id = prepared.read(engine, file, "other.pdf")
    engine.index()
    assert (grids.info(grid_id).done, grids.info(grid_id).total) == (1, 2)
    grids.run(grid_id)
    assert {one.value.number for one in grids.get(grid_id).cells.values()} == {148.6, 20.5}
    engine.remove(doc_id)
    assert [row.doc_id for row in grids.get(grid_id).rows] == [grid.rows[0].doc_id]
    assert grids.info(grid_id).finished
    with pytest.raises(InputError, match="removed"):
        made(engine, scope=Scope((doc_id,)))
    with pytest.raises(InputError, match="removed"):
        grids.scope(grid_id, Scope((doc_id,)))


def test_columns_are_added_moved_and_removed(engine: Engine) -> None:
    grids, grid_id = engine.grids, made(engine, *COLUMNS[:2])
    added = grids.add_column(grid_id, "Employees", "How many people are employed?", "value")
    grids.move_column(grid_id, added, -1)
    assert [column.name for column in grids.get(grid_id).columns] == ["Revenue", "Employees", "Maturity"]
    grids.move_column(grid_id, grids.get(grid_id).columns[0].column_id, -1)
    grids.run(grid_id)
    grids.remove_column(grid_id, added)
    grid = grids.get(grid_id)
    assert [column.name for column in grid.columns] == ["Revenue", "Maturity"]
    assert {key[1] for key in grid.cells} == {column.column_id for column in grid.columns}
    with pytest.raises(InputError):
        grids.add_column(grid_id, "revenue", "", "value")
    grids.remove(grid_id)
    with pytest.raises(UnknownGrid):
        grids.info(grid_id)
    with pytest.raises(UnknownGrid):
        grids.run(grid_id)


def test_free_text_by_claude_is_bounded_and_paid_once(
    engine: Engine, server: MessagesServer, key: None, tmp_path: Path
) -> None:
    text = {"name": "Capital expenditure", "question": "What was invested, and in what?", "type": "text"}
    with Engine.open(engine.home) as paid:
        grids, grid_id = paid.grids, made(paid, COLUMNS[0], text)
        most = grids.estimate(grid_id)
        assert most.parts == 1
        assert most.usd
        with pytest.raises(InputError, match="nothing more was sent"):
            grids.run(grid_id, max_usd=most.usd / 2)
        grids.run(grid_id, max_usd=0)
        assert grids.info(grid_id).done == 1
        assert server.requests == []
        server.reply(Reply(text="It was $9.7 million <<SOURCE 1.1>>."))
        grids.run(grid_id, max_usd=most.usd)
        found = cell(grids.get(grid_id), "Capital expenditure").found
        assert found is not None
        assert found.value.citations
        assert 0 < (found.cost_usd or 0) <= most.usd
        sent = len(server.requests)
        grids.run(grid_id)
        assert len(server.requests) == sent
        assert grids.estimate(grid_id).usd == 0.0


def test_free_text_that_only_says_that_something_lacks_is_not_stated(
    engine: Engine, server: MessagesServer, key: None
) -> None:
    text = {"name": "Patents", "question": "Which patents run out, and when?", "type": "text"}
    with Engine.open(engine.home) as paid:
        grid_id = made(paid, text)
        server.reply(Reply(text="[INSUFFICIENT DATA: when the patents run out] <<SOURCE 1.1>>"))
        paid.grids.run(grid_id)
        [found] = paid.grids.get(grid_id).cells.values()
        assert found.status == "not_stated"
        assert found.found is not None
        assert found.found.nearest


def test_a_failed_cell_is_filled_by_the_next_run(engine: Engine, server: MessagesServer, key: None) -> None:
    text = {"name": "Capital expenditure", "question": "What was invested, and in what?", "type": "text"}
    with Engine.open(engine.home) as paid:
        grid_id = made(paid, text)
        server.reply(Reply(status=400))
        paid.grids.run(grid_id)
        [failed] = paid.grids.get(grid_id).cells.values()
        assert failed.status == "failed"
        assert failed.found is not None
        assert failed.found.error
        server.reply(Reply(text="It was $9.7 million <<SOURCE 1.1>>."))
        paid.grids.run(grid_id)
        [again] = paid.grids.get(grid_id).cells.values()
        assert again.status in STATED


def test_a_model_without_a_price_is_not_asked(engine: Engine, server: MessagesServer, key: None) -> None:
    unpriced: dict[str, Any] = {"llm.claude_model": "claude-unpriced-9"}
    text = {"name": "Capital expenditure", "type": "text"}
    with Engine.open(engine.home, overrides=unpriced) as paid, pytest.raises(ConfigError):
        paid.grids.run(made(paid, text))
    assert server.requests == []


def test_an_error_of_a_run_is_kept_with_its_grid(engine: Engine, server: MessagesServer, key: None) -> None:
    with Engine.open(engine.home) as paid:
        grid_id = made(paid, {"name": "Capital expenditure", "type": "text"})
        with pytest.raises(InputError):
            paid.grids.run(grid_id, max_usd=0.0001)
        error = Grids(paid).info(grid_id).error
        assert error is not None
        assert error["hint"]


def cited(server: MessagesServer, words: str) -> str:
    """Marker of the sentence or cell with ``words`` in the last request."""
    prompt = json.dumps(server.requests[-1]["body"], ensure_ascii=False)
    places = re.findall(r"\[(\d+\.\d+)\]", prompt[: prompt.index(words)])
    return f"<<SOURCE {places[-1]}>>"


WORDS = {
    "value": "hall in Leuven",
    "name": "are assembled",
    "date": "should deliver",
    "yes_no": "come from one supplier",
    "list": "circuit boards",
}
ASKED = [
    (
        "value",
        "How much of capital expenditure was for buildings?",
        "$5.2 million went into the hall in Leuven",
        "5.2 USD million",
    ),
    ("value", "How much of capital expenditure was for buildings?", "$7.1 million went into the hall in Leuven", ""),
    ("name", "Where do workers put the devices together?", "Aberfeld, where sensors are assembled", "Aberfeld"),
    ("name", "Where do workers put the devices together?", "Oslo, where sensors are assembled", ""),
    ("date", "When will the second supplier deliver?", "Mid-2026, when the second should deliver", "Mid-2026"),
    ("yes_no", "Can the ceramic rings be bought elsewhere?", "No, the ceramic rings come from one supplier", "No"),
    (
        "list",
        "Supply of circuit boards",
        "We buy circuit boards from two suppliers",
        "We buy circuit boards from two suppliers.",
    ),
]


@pytest.mark.parametrize(("kind", "question", "said", "expected"), ASKED)
def test_what_rules_leave_not_stated_the_writer_says_if_its_words_support_it(
    kind: str, question: str, said: str, expected: str, engine: Engine, server: MessagesServer, key: None
) -> None:
    asked = {"name": "Asked", "question": question, "type": kind, "unit": "USD million" if kind == "value" else ""}
    with Engine.open(engine.home) as paid:
        grids, grid_id = paid.grids, made(paid, asked, COLUMNS[0])
        assert grids.estimate_asking(grid_id).parts == 0, "nothing is filled yet"
        grids.run(grid_id)
        revenue, before = cell(grids.get(grid_id), "Revenue"), cell(grids.get(grid_id), "Asked")
        most = grids.estimate_asking(grid_id)
        assert most.parts == 1
        assert most.usd
        with pytest.raises(InputError, match="nothing more was sent"):
            grids.run(grid_id, max_usd=most.usd / 2, ask=True)
        assert server.requests == []
        server.reply(Reply(status=400))
        with pytest.raises(ModelError):
            grids.run(grid_id, ask=True)
        assert grids.estimate_asking(grid_id).parts == 1, "an error is no answer"
        place = cited(server, WORDS[kind])
        server.reply(Reply(text=f"{said} {place}."))
        grids.run(grid_id, ask=True)
        found = cell(grids.get(grid_id), "Asked")
        value = found.value
        shown = f"{value.number} {value.unit}" if value.unit else value.text
        assert shown == expected, found.found and found.found.reason
        assert found.found is not None
        assert 0 < (found.found.cost_usd or 0) <= most.usd
        assert (found.found.value.citations if expected else found.found.nearest)[0].quotation
        assert found.likely == (() if expected else before.likely), "what it may be is still that"
        assert cell(grids.get(grid_id), "Revenue") == revenue
        sent = len(server.requests)
        grids.run(grid_id, ask=True)
        assert len(server.requests) == sent, "it is asked for once"


def test_without_a_model_nobody_can_be_asked(engine: Engine) -> None:
    grid_id = made(engine, COLUMNS[3])
    engine.grids.run(grid_id)
    assert engine.grids.estimate_asking(grid_id).parts == 0
    with pytest.raises(ConfigError):
        engine.grids.run(grid_id, ask=True)


def test_documents_are_added_as_rows_where_rows_are_chosen_documents(engine: Engine) -> None:
    (sample,) = [one.doc_id for one in engine.documents()]
    added = prepared.read(engine, pdfs.one_column(), "survey.pdf")
    engine.index()
    chosen, every = made(engine, scope=Scope((sample,))), made(engine)
    assert engine.grids.add_documents(chosen, [added, sample])
    assert engine.grids.add_documents(every, [added])
    assert engine.grids.info(chosen).scope == Scope((sample, added))
    assert engine.grids.info(every).scope == EVERYTHING
    node = next(iter(engine.grids.sections(sample).values()))
    sections = made(engine, scope=Scope(sections=(node.of(sample),)))
    assert not engine.grids.add_documents(sections, [added])
    assert engine.grids.info(sections).total == len(COLUMNS)


@pytest.mark.parametrize(
    ("unit", "said", "number"),
    [
        ("USD million", "$391 million for the three months ended 30 June 2024", 391.0),
        ("EUR", "€ 5 million, 2 years after signing", 5e6),
        ("USD million", "(1,250) million in fiscal 2024", -1250.0),
        ("%", "(4.2)%", -4.2),
        ("days", "30 days after notice, for $5", 30.0),
        ("USD million", "$1.2 to $1.4 million", None),
        ("USD million", "Nothing", None),
    ],
)
def test_a_writers_sentence_is_read_for_the_value_in_the_columns_unit(
    unit: str, said: str, number: float | None
) -> None:
    found = of_words([said], Column("c", "Amount", "", "value", unit), [])
    assert (found and found.number) == number
    assert found is None or found.unit == unit


def test_a_writers_name_is_spelt_like_one_in_the_cited_words() -> None:
    cited = Citation(1, "d", "t", 1, "1", "The Company, Acme Holdings Inc. (the “Seller”), sells.", 0, 53, ())
    column = Column("c", "Seller", "Who sells?", "name")
    names = {"Acme Holdings Inc., the seller": "Acme Holdings Inc", "The seller is Acme": "", "Bob sells": ""}
    for said, name in names.items():
        found = of_words([said], column, [cited])
        assert (found.text if found else "") == name


def test_a_date_may_be_a_month(tmp_path: Path) -> None:
    lines = ["Issued: December 2017", "Study began: 5/2014", "Comments are open until 30 June 2018."]
    home = prepared.home(tmp_path / "home", {"guidance.pdf": pdfs.report("Dose Finding", {"History": lines})})
    asked = [
        {"name": "Issued", "question": "When was the guidance issued?", "type": "date"},
        {"name": "Study began", "question": "When did the study begin?", "type": "date"},
    ]
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        grid = filled(engine, *asked)
        dates = {name: cell(grid, name).value for name in ("Issued", "Study began")}
    assert {name: (value.text, value.period) for name, value in dates.items()} == {
        "Issued": ("December 2017", "2017-12"),
        "Study began": ("5/2014", "2014-05"),
    }
    assert dates["Issued"].citations[0].quote == "Issued: December 2017"
