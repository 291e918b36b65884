"""``groundwork check``: a contract for scripts, and lines for people."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pymupdf
import pytest

from tests import prepared
from tests.check.files import word
from tests.command_line import Ran, run
from tests.messages_server import MessagesServer

MEMO = """# Wells

The Larkfield survey began in April and ran for six weeks. Forty wells were sampled twice.

The wells belong to the king of Denmark.

| Well | April | May |
|---|---|---|
| Orchard Lane | 58.2 | 61.4 |
| Mill Bridge | 12.0 | 11.6 |
| Total | 70.2 | 93.0 |
"""


@pytest.fixture(scope="module")
def home(surveyed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared.copied(surveyed, tmp_path_factory.mktemp("check") / "home")


@pytest.fixture
def memo(tmp_path: Path) -> Path:
    path = tmp_path / "memo.md"
    path.write_text(MEMO, "utf-8")
    return path


def check(home: Path, *arguments: str | Path, code: int = 0) -> Ran:
    done = run(["--home", str(home), "check", *map(str, arguments)])
    assert done.returncode == code, done.stderr
    return done


def as_json(home: Path, *arguments: str | Path, code: int = 0) -> Any:
    return json.loads(check(home, "--json", *arguments, code=code).stdout)


def test_scripts_get_every_sentence_with_its_verdict(home: Path, memo: Path) -> None:
    told = as_json(home, memo)
    assert told["draft"] == "memo.md"
    statuses = ["confirmed", "contradicted", "partly", "elsewhere", "not_found", "no_claim"]
    assert list(told["counts"]) == statuses
    assert sum(told["counts"].values()) == len(told["sentences"]) == told["done"] == told["total"]
    for sentence in told["sentences"]:
        assert sentence["status"] in statuses
        assert told["text"][sentence["start"] : sentence["end"]] == sentence["text"]
    [six] = [each for each in told["sentences"] if "six weeks" in each["text"]]
    assert six["status"] == "contradicted"
    assert {"doc_id", "title", "page", "quote", "boxes"} <= set(six["citations"][0])
    [fault] = told["inconsistencies"]
    assert fault["write"] == "73.0"
    assert told["sentences"][fault["sentence"]]["text"] == "93.0"


def test_people_get_the_problems_and_the_counts(home: Path, memo: Path) -> None:
    done = check(home, memo, "--doc", "survey.pdf")
    assert "The Larkfield survey began in April and ran for six weeks." in done.stdout
    assert "p. 1: “" in done.stdout
    assert "ran for nine weeks" in done.stdout
    [total] = [line for line in done.stdout.split("\n\n") if "93.0  (Total · May)" in line]
    assert "Its parts add up to 73.0" in total
    assert "1 contradicted" in done.stdout.splitlines()[-1]
    assert "checked 0 of" in done.stderr


def test_a_check_is_written_to_a_file_and_can_be_taken_up_again(home: Path, memo: Path, tmp_path: Path) -> None:
    check(home, memo, "-o", tmp_path / "out.docx")
    assert list(docx.Document(str(tmp_path / "out.docx")).comments)
    found = as_json(home, "--list")["checks"]
    assert {"check_id", "name", "counts", "done", "total", "scope"} <= set(found[0])
    listed = check(home, "--list").stdout
    assert found[0]["check_id"] in listed
    assert "memo.md" in listed
    again = check(home, "--resume", found[0]["check_id"], "-o", tmp_path / "out.xlsx")
    assert "checked 0 of" not in again.stderr, "nothing is left to check"
    assert openpyxl.load_workbook(tmp_path / "out.xlsx").sheetnames[0] == "Sentences"
    check(home, "--resume", found[0]["check_id"], "-o", tmp_path / "out.pdf")
    with pymupdf.open(tmp_path / "out.pdf") as made:
        assert "six weeks" in made[0].get_text()
    check(home, "--resume", found[0]["check_id"], "-o", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_bytes())["draft"] == "memo.md"


def test_what_goes_wrong_is_told_as_by_other_commands(home: Path, tmp_path: Path) -> None:
    (tmp_path / "memo.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    told = as_json(home, tmp_path / "memo.doc", code=1)
    assert told["error"]["code"] == "input_error"
    assert ".docx" in told["error"]["hint"]
    assert as_json(home, tmp_path / "none.md", code=1)["error"]["code"] == "file_missing"
    assert as_json(home, "--resume", "abc", code=1)["error"]["code"] == "unknown_check"
    assert check(home, code=2).stderr
    assert check(home, tmp_path / "memo.doc", "-o", "out.txt", code=2).stderr


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_keeps_what_is_done_and_says_how_to_go_on(home: Path, tmp_path: Path, by: signal.Signals) -> None:
    text = " ".join(f"Well {n} was sampled twice by crew {n + 1} in April." for n in range(400))
    (tmp_path / "long.docx").write_bytes(word(text))
    command = [sys.executable, "-m", "ragcore.cli", "--home", str(home), "--json", "check", str(tmp_path / "long.docx")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "checked 0 of 400" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(by)
    out, said = process.communicate(timeout=280)
    assert process.returncode == 1, said
    error = json.loads(out)["error"]
    assert error["code"] == "cancelled"
    info = next(each for each in as_json(home, "--list")["checks"] if each["name"] == "long.docx")  # the latest
    assert info["check_id"] in error["hint"]
    assert f"{info['done']} of 400" in error["message"]


def test_claude_reads_each_sentence_where_that_is_asked_for(
    home: Path, memo: Path, server: MessagesServer, key: None
) -> None:
    told = as_json(home, memo)
    assert {one["opinion"] for one in told["sentences"]} == {None}
    refused = check(home, "--resume", told["check_id"], "--ask", "--max-usd", "0.001", code=1)
    assert "may cost" in refused.stderr
    assert server.requests == []
    done = as_json(home, "--resume", told["check_id"], "--ask")
    assert len(server.forms) == done["total"]
    assert {one["opinion"]["model"] for one in done["sentences"]} == {"claude-sonnet-4-6"}


def test_nobody_is_asked_without_a_model(home: Path, memo: Path) -> None:
    assert "no model to ask" in check(home, memo, "--ask", code=1).stderr
