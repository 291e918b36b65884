"""Grids filled in the background: cells as they come, columns that change alone, documents that arrive, decisions."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.types.answer import Citation
from ragcore.types.grid import Cell, CellDecision, CellValue, Column, Grid, GridCell, GridInfo, Row
from ragcore.types.retrieval import EVERYTHING
from tests import pdfs, prepared
from tests.ui.asgi import ask
from ui.chat.runs import Answers
from ui.grid import payload
from ui.grid import routes as grid_routes
from ui.library.jobs import Ingestion
from ui.library.samples import sample_id
from ui.server import services as services_module
from ui.server.guard import TOKEN_HEADER
from ui.server.services import Services
from ui.server.tokens import Signer
from ui.viewer.render import Renderer

Json = dict[str, Any]
REVENUE = {"name": "Revenue", "question": "Total revenue of fiscal 2025", "type": "value", "unit": "USD million"}
MATURES = {"name": "Facility matures", "question": "When does the credit facility mature?", "type": "date"}


def services_on(home: Path, model: str = "offline") -> Services:
    engine = Engine.open(home, overrides={"llm.model": model})
    renderer = Renderer(home / "pages")
    made = Services(engine, Ingestion(engine, removed=renderer.forget), Answers(engine), renderer, Signer())
    services_module._opened.append(made)
    return made


@pytest.fixture
def opened(sampled: Path, tmp_path: Path) -> Iterator[Services]:
    yield services_on(prepared.copied(sampled, tmp_path / "home"))
    services_module.close()


def call(made: Services, path: str, body: Json | None = None, query: str = "") -> Json:
    """JSON of a request: a GET, or a POST where there is a body."""
    headers = {TOKEN_HEADER: made.signer.token("one")}
    status, _, answer = ask(grid_routes.routes(), f"/gw/grids{path}", query, headers=headers, body=body)
    found: Json = json.loads(answer)
    assert status in (200, 404), found
    return found | {"status": status}


def begun(made: Services, *columns: Json, **more: Any) -> str:
    body = {"name": "Reports", "docs": [sample_id()], "columns": list(columns)}
    found: str = call(made, "/new", body | more)["id"]
    return found


def until(made: Services, grid_id: str, *states: str) -> Json:
    end = time.monotonic() + 60.0
    while (found := call(made, f"/{grid_id}"))["state"] not in states:
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def by_name(found: Json) -> Json:
    """Cells of a grid of one document, by the names of their columns."""
    names = {one["id"]: one["name"] for one in found["columns"]}
    return {names[column]: cell for _, column, cell in found["cells"]}


def test_cells_can_be_fetched_as_they_come_and_each_has_its_place(opened: Services) -> None:
    grid_id = begun(opened, REVENUE, MATURES)
    parts: dict[tuple[str, str], Json] = {}
    first = known = call(opened, f"/{grid_id}")
    while True:
        parts |= {(doc, column): cell for doc, column, cell in known.get("cells", [])}
        if known["state"] == "done":
            break
        answer = call(opened, f"/{grid_id}", query=f"since={known['at']}&shape={known['shape']}")
        assert answer["state"] != "running" or "summaries" not in answer
        known = first | answer
        assert known["rows"] == first["rows"]
    whole = call(opened, f"/{grid_id}")
    assert {(doc, column): cell for doc, column, cell in whole["cells"]} == parts
    assert by_name(whole)["Revenue"] | {"period": ""} == {
        "status": "stated",
        "text": "$148.6 million",
        "number": 148.6,
        "unit": "USD million",
        "period": "",
        "supported": True,
    }
    ids = {one["name"]: one["id"] for one in whole["columns"]}
    cell = call(opened, f"/{grid_id}/cell", query=f"row={sample_id()}&column={ids['Facility matures']}")
    assert cell["value"]["period"] == "2029-06-30"
    assert "30 June 2029" in cell["value"]["citations"][0]["quote"]
    assert cell["value"]["citations"][0]["boxes"]
    assert whole["summaries"][ids["Facility matures"]]["stated"] == 1


def test_nothing_is_sent_twice_and_another_window_hears_of_decisions_and_documents(opened: Services) -> None:
    grid_id = begun(opened, REVENUE)
    found = until(opened, grid_id, "done")
    since = f"since={found['at']}&shape={found['shape']}&summed="
    query = f"{since}{found['at']}"
    assert not call(opened, f"/{grid_id}", query=query).keys() & {"cells", "summaries", "rows"}
    assert call(opened, f"/{grid_id}", query=since)["summaries"] == found["summaries"]
    decided = {"row": sample_id(), "column": found["columns"][0]["id"], "kind": "accepted"}
    call(opened, f"/{grid_id}/decide", decided)
    answer = call(opened, f"/{grid_id}", query=query)
    assert [cell["decision"] for _, _, cell in answer["cells"]] == ["accepted"]
    assert "rows" not in answer
    opened.engine.shelf.tag([sample_id()], add=["annual"])
    answer = call(opened, f"/{grid_id}", query=query)
    assert [row["tags"] for row in answer["rows"]] == [["annual"]]
    assert len(answer["cells"]) == 1


def test_a_document_that_cannot_be_read_is_told_and_not_waited_for(opened: Services) -> None:
    grid_id = begun(opened, REVENUE, docs=None)
    until(opened, grid_id, "done")
    broken = opened.engine.add(pdfs.one_column()[:300], "broken.pdf").doc_id
    assert call(opened, f"/{grid_id}")["state"] == "arriving"
    opened.engine.store.hold([broken], True)
    assert call(opened, f"/{grid_id}")["lost"] == {broken: "cancelled"}
    opened.ingestion.add(broken)
    found = until(opened, grid_id, "done")
    assert found["unread"] == []
    assert found["lost"] == {broken: "failed"}
    assert call(opened, "")["grids"][0]["state"] == "done"


def test_a_column_that_changes_is_filled_alone_and_what_was_decided_stays(opened: Services) -> None:
    grid_id = begun(opened, REVENUE, MATURES)
    found = until(opened, grid_id, "done")
    revenue, matures = (one["id"] for one in found["columns"])
    decided = {"row": sample_id(), "column": revenue, "kind": "accepted"}
    assert call(opened, f"/{grid_id}/decide", decided)["cell"]["decision"] == "accepted"
    changed = MATURES | {"name": "Dividend payable", "question": "When is the dividend payable?"}
    assert call(opened, f"/{grid_id}/columns/{matures}", changed)["done"] == 1
    again = by_name(until(opened, grid_id, "done"))
    assert again["Revenue"]["decision"] == "accepted"
    assert again["Dividend payable"].get("period") != "2029-06-30"
    call(opened, f"/{grid_id}/columns/{matures}/move", {"left": True})
    call(opened, f"/{grid_id}/columns/{revenue}/remove", {})
    assert [one["name"] for one in call(opened, f"/{grid_id}")["columns"]] == ["Dividend payable"]
    added = call(opened, f"/{grid_id}/columns", REVENUE)
    assert by_name(until(opened, grid_id, "done"))["Revenue"]["number"] == 148.6
    assert added["column"] not in (revenue, matures)


def test_a_correction_is_held_against_the_document(opened: Services) -> None:
    grid_id = begun(opened, MATURES)
    (column,) = until(opened, grid_id, "done")["columns"]
    at = {"row": sample_id(), "column": column["id"]}
    for text, supported in (("30 June 2029", True), ("30 June 2031", False)):
        cell = call(opened, f"/{grid_id}/decide", at | {"kind": "corrected", "text": text})["cell"]
        assert (cell["value"]["text"], cell["supported"], cell["found"]) == (text, supported, "2029-06-30")
        assert by_name(call(opened, f"/{grid_id}"))["Facility matures"]["decision"] == "corrected"
    assert (cell["value"]["citations"], bool(cell["nearest"])) == ([], True), "no page that doesn't say it"
    assert "empty" in call(opened, f"/{grid_id}/decide", at | {"kind": "corrected"})["refused"]["message"]
    assert "refused" in call(opened, f"/{grid_id}/decide", at | {"kind": "burnt"})
    assert call(opened, f"/{grid_id}/decide", at | {"kind": ""})["cell"]["value"]["text"] == "2029-06-30"


def test_filled_again_a_cell_stays_until_the_new_one_is_there(opened: Services) -> None:
    grid_id = begun(opened, REVENUE)
    before = by_name(until(opened, grid_id, "done"))
    opened.engine.grids.again(grid_id)
    found = call(opened, f"/{grid_id}")
    assert (found["state"], found["done"]) == ("stopped", 0)
    assert by_name(found)["Revenue"] == before["Revenue"] | {"again": True}
    call(opened, f"/{grid_id}/run", {})
    assert by_name(until(opened, grid_id, "done")) == before


def test_a_document_that_arrives_is_filled_by_itself_unless_a_person_stopped_the_grid(opened: Services) -> None:
    filled, stopped = (begun(opened, REVENUE, name=name, docs=None) for name in ("one", "two"))
    assert call(opened, f"/{stopped}/stop", {})["state"] == "stopped"
    until(opened, filled, "done")
    opened.ingestion.add(opened.engine.add(pdfs.one_column(), "survey.pdf").doc_id)
    assert call(opened, f"/{filled}")["state"] == "arriving"
    found = until(opened, filled, "done")
    assert len(found["cells"]) == len(found["rows"]) == 2
    found = call(opened, f"/{stopped}")
    assert (found["state"], found["done"]) == ("stopped", 0)


@pytest.mark.usefixtures("key")
def test_what_costs_something_is_told_and_waits_for_a_person(sampled: Path, tmp_path: Path) -> None:
    made = services_on(prepared.copied(sampled, tmp_path / "home"), "auto")
    try:
        grid_id = begun(made, REVENUE, {"name": "Business", "type": "text"})
        found = call(made, f"/{grid_id}")
        assert (found["state"], found["done"]) == ("stopped", 0)
        assert found["expense"].startswith("At most $")
        free = begun(made, REVENUE)
        assert until(made, free, "done")["expense"] == ""
        assert call(made, f"/{free}")["asking"] is None
        left = begun(
            made, REVENUE, {"name": "Town", "question": "Where do workers put the devices together?", "type": "name"}
        )
        asking = until(made, left, "done")["asking"]
        assert (asking["sections"], asking["model"]) == (1, "Claude Sonnet 4.6")
        assert asking["words"].startswith("At most $")
        call(made, f"/{left}/ask", {})
        found = until(made, left, "done")
        assert found["asking"] is None
        assert {cell["status"] for *_, cell in found["cells"]} == {"stated", "not_stated"}
    finally:
        services_module.close()


def test_columns_come_from_a_template_or_a_file(opened: Services) -> None:
    templates, unread = call(opened, "")["templates"], opened.engine.add(pdfs.one_column(), "survey.pdf").doc_id
    one = begun(opened, template=templates[0]["name"], docs=[unread])
    assert [column["name"] for column in call(opened, f"/{one}")["columns"]] == templates[0]["columns"]
    sections = {"title": "Own", "sections": [{"heading": "Revenue", "guidance": "Of the year.", "kind": "value"}]}
    for given in ({"columns": [REVENUE]}, sections):
        file = base64.b64encode(json.dumps(given).encode()).decode()
        made = begun(opened, file=file, filename="own.json", docs=[unread])
        assert [column["name"] for column in call(opened, f"/{made}")["columns"]] == ["Revenue"]
        call(opened, f"/{made}/delete", {})
    call(opened, f"/{one}/delete", {})
    assert call(opened, "")["grids"] == []


def test_rows_can_be_sections_of_a_document(opened: Services) -> None:
    outline = call(opened, "/outline", query=f"doc={sample_id()}")["items"]
    assert [one["depth"] for one in outline if one["label"] in ("Risks", "Auditor")] == [0, 1]
    chosen = {one["label"]: one["id"] for one in outline if one["label"] in ("Cash and borrowing", "Auditor")}
    grid_id = begun(opened, REVENUE, MATURES, sections=list(chosen.values()))
    found = until(opened, grid_id, "done")
    assert [(row["label"], row["doc"], row["begins"]) for row in found["rows"]] == [
        ("Cash and borrowing", sample_id(), 5),
        ("Auditor", sample_id(), 6),
    ]
    assert (found["sections"], found["docs"], found["total"]) == (True, [sample_id()], 4)
    (matures,) = [one["id"] for one in found["columns"] if one["type"] == "date"]
    said = {row: cell.get("period") for row, column, cell in found["cells"] if column == matures}
    assert said == {chosen["Cash and borrowing"]: "2029-06-30", chosen["Auditor"]: None}
    opened.engine.shelf.rename(sample_id(), "Report")
    assert {row["title"] for row in call(opened, f"/{grid_id}")["rows"]} == {"Report"}
    call(opened, f"/{grid_id}/rows", {"sections": [chosen["Auditor"]]})
    assert [row["id"] for row in until(opened, grid_id, "done")["rows"]] == [chosen["Auditor"]]
    assert "No section" in call(opened, f"/{grid_id}/rows", {"sections": []})["refused"]["message"]
    assert "no longer" in call(opened, f"/{grid_id}/rows", {"sections": [f"{sample_id()}-0"]})["refused"]["message"]
    call(opened, f"/{grid_id}/rows", {"docs": [sample_id()]})
    assert [row["id"] for row in until(opened, grid_id, "done")["rows"]] == [sample_id()]


def test_what_cannot_be_done_is_said(opened: Services) -> None:
    whole = {"name": "A", "docs": [sample_id()], "columns": [REVENUE]}
    for wrong, words in (
        ({"docs": []}, "No document is chosen"),
        ({"columns": [{"name": "A", "type": "guess"}]}, "column 1"),
        ({"columns": [REVENUE, REVENUE]}, "Two columns"),
        ({"template": "nothing"}, "doesn’t exist"),
        ({"file": "?", "filename": "a.json"}, "didn’t arrive whole"),
        ({"file": base64.b64encode(b"{").decode(), "filename": "a.json"}, "a.json is not JSON"),
        ({"file": base64.b64encode(b"\xff").decode(), "filename": "a.json"}, "UTF-8"),
    ):
        assert words in call(opened, "/new", whole | wrong)["refused"]["message"]
    assert call(opened, "")["grids"] == []
    assert call(opened, "/0123")["gone"]["code"] == "unknown_grid"
    assert call(opened, "/0123/run", {})["refused"]["code"] == "unknown_grid"


def test_the_sample_answers_its_five_questions(opened: Services) -> None:
    found = until(opened, call(opened, "/sample", {})["id"], "done")
    assert [cell["status"] for cell in by_name(found).values()] == ["stated"] * 5
    assert all(cell["supported"] for cell in by_name(found).values())


def place(n: int) -> Citation:
    return Citation(n, "d", "Doc", 1, "1", f"words {n}", 0, 5, ())


@pytest.fixture
def drawn() -> Callable[..., Grid]:
    """Grid of one document and one column with this cell."""

    def made(found: Cell | None, decision: CellDecision | None = None) -> Grid:
        cell = GridCell("d", "c", found, *([decision] if decision else []))
        info = GridInfo("g", "Grid", EVERYTHING, 0.0, 1, 1, 1)
        return Grid(info, (Row("d", "Doc", "d.pdf", 3, True),), (Column("c", "A", "", "value"),), {("d", "c"): cell})

    return made


def test_places_of_a_cell_are_numbered_through_and_rivals_stand_under_their_period(drawn: Callable[..., Grid]) -> None:
    value = CellValue("5", 5.0, "", "2025", (place(1), place(2)))
    found = Cell("rival", value, (CellValue("4", 4.0, "", "2024", (place(1),)), CellValue("6", 6.0, "", "2025")))
    grid = drawn(found)
    shown = payload.detail(grid.cell("d", "c"))
    places = [*shown["value"]["citations"], *(one for rival in shown["rivals"] for one in rival["citations"])]
    assert [one["n"] for one in places] == [1, 2, 3]
    assert payload.brief(grid.cell("d", "c"))["rivals"] == 2  # type: ignore[index]
    by_period = payload.periods(grid, "c")
    assert by_period["periods"] == ["2025", "2024"]
    assert {period: one["nth"] for period, one in by_period["values"]["d"].items()} == {"2025": 0, "2024": 1}
    corrected = drawn(found, CellDecision("corrected", CellValue("7", 7.0), False))
    assert payload.brief(corrected.cell("d", "c"))["supported"] is False  # type: ignore[index]
    assert payload.periods(corrected, "c")["periods"] == [""]
    assert [one["text"] for one in payload.detail(corrected.cell("d", "c"))["rivals"]] == ["5", "4", "6"]
    assert payload.cells([drawn(None).cell("d", "c")], ()) == [["d", "c", None]]
