"""``groundwork grid``: a contract for scripts, and lines for people."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests import prepared
from tests.command_line import Ran, run
from tests.messages_server import MessagesServer
from ui.library.samples import NAME

COLUMNS = {
    "columns": [
        {"name": "Revenue", "question": "Revenue of fiscal 2025", "type": "value", "unit": "USD million"},
        {"name": "Auditor", "question": "Who audits the accounts?", "type": "name"},
        {"name": "Shoe size", "type": "value"},
    ]
}


@pytest.fixture(scope="module")
def home(sampled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared.copied(sampled, tmp_path_factory.mktemp("grid") / "home")


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(COLUMNS), "utf-8")
    return path


def grid(home: Path, *arguments: str | Path, code: int = 0) -> Ran:
    done = run(["--home", str(home), "grid", *map(str, arguments)])
    assert done.returncode == code, done.stderr
    return done


def as_json(home: Path, *arguments: str | Path, code: int = 0) -> Any:
    return json.loads(grid(home, "--json", *arguments, code=code).stdout)


def test_scripts_get_a_row_for_each_document_and_a_cell_for_each_column(home: Path, columns: Path) -> None:
    told = as_json(home, "-t", columns)
    assert told["name"] == "profile"
    assert [column["name"] for column in told["columns"]] == ["Revenue", "Auditor", "Shoe size"]
    [row] = told["rows"]
    revenue, auditor, nothing = row["cells"]
    assert (revenue["column"], revenue["status"], revenue["number"]) == ("Revenue", "stated", 148.6)
    assert (revenue["unit"], auditor["value"]) == ("USD million", "Brandt & Oyelaran LLP")
    assert {"doc_id", "title", "page", "quote", "boxes"} <= set(revenue["citations"][0])
    assert (nothing["status"], nothing["value"], nothing["rivals"]) == ("not_stated", None, [])


def test_a_row_is_a_section_where_that_is_asked_for(home: Path, columns: Path) -> None:
    told = as_json(home, "-t", columns, "--by", "section")
    headings = [row["section"][-1] for row in told["rows"]]
    assert "Risks" in headings
    assert len(headings) == len(told["rows"]) > 3
    assert all(len(row["section"]) == 1 for row in told["rows"]), "the uppermost"
    below = as_json(home, "--resume", told["grid_id"], "--section", "Risks")
    assert [row["section"] for row in below["rows"]] == [
        ["Risks", one] for one in ("Outlook for fiscal 2026", "Auditor")
    ]
    assert {cell["value"] for row in below["rows"] for cell in row["cells"]} == {None, "Brandt & Oyelaran LLP"}
    assert "Risks › Auditor\n" in grid(home, "--resume", told["grid_id"]).stdout
    assert "--by says document" in grid(home, "-t", columns, "--by", "document", "--section", "Risks", code=1).stderr
    whole = as_json(home, "--resume", told["grid_id"], "--by", "document")
    assert [row["section"] for row in whole["rows"]] == [None]
    assert as_json(home, "-t", columns, "--section", "Nothing", code=1)["error"]["code"] == "input_error"


def test_people_get_the_values_with_their_pages(home: Path, columns: Path) -> None:
    done = grid(home, "-t", columns, "--doc", NAME)
    assert "Revenue (USD million)  148.6  (p. " in done.stdout
    assert "not stated" in done.stdout
    assert "filled 0 of 3" in done.stderr


def test_a_grid_is_written_to_a_file_and_can_be_taken_up_again(home: Path, columns: Path, tmp_path: Path) -> None:
    grid(home, "-t", columns, "-o", tmp_path / "out.xlsx")
    assert openpyxl.load_workbook(tmp_path / "out.xlsx")["Grid"]["B2"].value == 148.6
    found = as_json(home, "--list")["grids"]
    assert {"grid_id", "name", "done", "total", "scope"} <= set(found[0])
    assert found[0]["grid_id"] in grid(home, "--list").stdout
    again = grid(home, "--resume", found[0]["grid_id"], "-o", tmp_path / "out.csv")
    assert "filled 0 of" not in again.stderr, "nothing is left to fill"
    assert "148.6" in (tmp_path / "out.csv").read_text("utf-8-sig")


def test_what_goes_wrong_is_told_as_by_other_commands(home: Path, columns: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"columns": [{"name": "A"}]}', "utf-8")
    told = as_json(home, "-t", tmp_path / "bad.json", code=1)
    assert told["error"]["code"] == "bad_columns"
    assert "column 1 “A”" in told["error"]["message"]
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    assert as_json(home, "-t", tmp_path / "bytes.json", code=1)["error"]["code"] == "bad_columns"
    assert as_json(home, "-t", tmp_path / "none.json", code=1)["error"]["code"] == "file_missing"
    assert as_json(home, "--resume", "abc", code=1)["error"]["code"] == "unknown_grid"
    assert as_json(home, "-t", columns, "--doc", "nobody", code=1)["error"]["code"] == "unknown_document"
    assert grid(home, code=2).stderr
    assert grid(home, "-t", columns, "-o", "out.docx", code=2).stderr


@pytest.mark.slow
def test_killed_it_goes_on_after_the_last_cell(home: Path, columns: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ragcore.cli", "--home", str(home), "grid", "-t", str(columns)]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert child.stderr is not None
    for line in child.stderr:
        if line.startswith("filled 1 of"):
            child.send_signal(signal.SIGKILL)
            break
    child.wait()
    [newest, *_] = as_json(home, "--list")["grids"]
    assert 0 < newest["done"] < newest["total"]
    told = as_json(home, "--resume", newest["grid_id"])
    assert told["done"] == told["total"]
    whole = as_json(home, "-t", columns)
    assert told["rows"] == whole["rows"]


def test_the_model_is_asked_only_where_there_is_one(home: Path, columns: Path) -> None:
    refused = grid(home, "-t", columns, "--ask", code=1)
    assert "no model to ask" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_claude_is_asked_for_what_rules_leave_not_stated(
    home: Path, tmp_path: Path, server: MessagesServer, key: None
) -> None:
    town = {"columns": [{"name": "Town", "question": "Where do workers put the devices together?", "type": "name"}]}
    path = tmp_path / "town.json"
    path.write_text(json.dumps(town), "utf-8")
    told = as_json(home, "-t", path)
    assert [cell["filled_by"] for row in told["rows"] for cell in row["cells"]] == ["rules"]
    done = grid(home, "--json", "--resume", told["grid_id"], "--ask")
    assert "filled 0 of 1" in done.stderr
    assert len(server.requests) == 1
    (cell,) = [cell for row in json.loads(done.stdout)["rows"] for cell in row["cells"]]
    assert cell["filled_by"].startswith("claude")
