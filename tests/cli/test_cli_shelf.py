"""``groundwork tables``, and the folder that ``groundwork ingest`` keeps."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from ragcore.cli.main import main
from tests import pdfs


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "Trial" / "deep").mkdir(parents=True)
    pdfs.write(folder / "Trial" / "deep", "table.pdf", pdfs.ruled_table())
    pdfs.write(folder, "survey.pdf", pdfs.one_column())
    assert main(["--home", str(folder / "home"), "ingest", str(folder / "Trial"), str(folder / "survey.pdf")]) == 0
    return folder / "home"


def said(capsys: pytest.CaptureFixture[str], home: Path, *arguments: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main(["--home", str(home), "--json", *arguments]) == code
    return json.loads(capsys.readouterr().out)


def test_documents_have_the_folder_they_came_from(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, home, "documents")["documents"]
    assert [(each["name"], each["folder"], each["tags"]) for each in found] == [
        ("table.pdf", "Trial/deep", []),
        ("survey.pdf", "", []),
    ]


def test_tables_are_listed_and_written(home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    [table] = said(capsys, home, "tables", "table.pdf")["tables"]
    assert table == {"number": 1, "title": table["title"], "pages": "p. 1", "rows": 4, "columns": 4}
    said(capsys, home, "tables", "table.pdf", "-o", str(tmp_path / "t.xlsx"))
    rows = load_workbook(tmp_path / "t.xlsx").worksheets[1].iter_rows(values_only=True)
    assert ("Orchard Lane", 58.2, 61.4, 60.7) in list(rows)
    said(capsys, home, "tables", "table.pdf", "--table", "1", "-o", str(tmp_path / "t.csv"))
    lines = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_text("utf-8-sig"))))
    assert lines[0] == ["Well", "April", "May", "June"]
    assert said(capsys, home, "tables", "survey.pdf", code=1)["error"]["code"] == "input_error"
    with pytest.raises(SystemExit) as wrong:
        main(["--home", str(home), "tables", "table.pdf", "-o", "t.docx"])
    assert wrong.value.code == 2
