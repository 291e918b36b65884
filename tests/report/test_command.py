"""``groundwork template``: files, exit codes, and what is left when it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.report.template import own_templates
from tests import pdfs, prepared

OUTLINE = """# Survey

## Nitrate

State the highest nitrate reading.

## Dividends {value, optional}

Dividends per share.
"""
REQUIRED = OUTLINE.replace(", optional", "")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        prepared.read(engine, pdfs.one_column(), "survey.pdf")
        engine.index()
    return home


@pytest.fixture
def outline(tmp_path: Path) -> Path:
    path = tmp_path / "outline.md"
    path.write_text(OUTLINE, encoding="utf-8")
    return path


def test_json_is_one_object_and_the_file_holds_the_same(
    home: Path, outline: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "report.json"
    assert main(["--home", str(home), "--json", "template", "-t", str(outline), "-o", str(output)]) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert json.loads(output.read_text("utf-8")) == report
    nitrate, dividends = report["sections"]
    assert {"heading", "guidance", "text", "claims", "citations", "gaps", "status"} <= set(nitrate)
    assert nitrate["status"] == "filled"
    assert nitrate["citations"]
    assert (dividends["status"], dividends["text"]) == ("empty", "[INSUFFICIENT DATA: Dividends per share]")
    assert "Dividends (optional): Dividends per share" in printed.err


def test_a_required_section_that_stays_empty_is_1(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "required.md"
    path.write_text(REQUIRED, encoding="utf-8")
    output = tmp_path / "report.md"
    assert main(["--home", str(home), "template", "-t", str(path), "-o", str(output)]) == 1
    assert "[INSUFFICIENT DATA: Dividends per share]" in output.read_text("utf-8")


def test_what_cannot_be_used_is_told(
    home: Path, outline: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["--home", str(home), "template", "-t", str(outline), "-o", "report.xls"])
    assert raised.value.code == 2
    bad = tmp_path / "bad.json"
    bad.write_text('{"title": "x", "sections": []}', encoding="utf-8")
    capsys.readouterr()
    assert main(["--home", str(home), "--json", "template", "-t", str(bad)]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert "at least one section" in error["message"]
    assert {"code", "message", "hint", "retryable"} <= set(error)


def test_what_was_filled_is_written_when_it_is_interrupted(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    sections = [{"heading": f"Nitrate {n}", "guidance": "State the highest nitrate reading."} for n in range(250)]
    path.write_text(json.dumps({"title": "Long", "sections": sections}), encoding="utf-8")
    output = tmp_path / "report.json"
    running = subprocess.Popen(
        [sys.executable, "-m", "ragcore.cli", "--home", str(home), "template", "-t", str(path), "-o", str(output)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("2 Nitrate"):
            break
    time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=280)
    assert running.returncode == 1
    assert "Interrupted" in told
    filled = json.loads(output.read_text("utf-8"))["sections"]
    assert 2 <= len(filled) < 250
    # The one in work ends with what it has.
    assert all(section["status"] != "stopped" for section in filled[:-1])
    assert filled[-1]["status"] in ("filled", "empty", "stopped")


def test_the_templates_that_come_with_it_are_named() -> None:
    assert {"company-profile", "ind-investigators-brochure", "literature-summary", "contract-review"} <= set(
        own_templates()
    )
