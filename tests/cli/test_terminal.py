"""What the command line prints: nothing in a document, a name or an error speaks to the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragcore.engine import Engine
from tests.command_line import process, run
from tests.libraries import add_document

BAD = "\x1b[2J\x1b]0;owned\x07\x9b31m\x7f\x08"
KEPT = {"\t", "\n"}


def controls(text: str) -> set[str]:
    return {c for c in text if (ord(c) < 32 or 127 <= ord(c) < 160) and c not in KEPT}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline"}) as engine:
        add_document(engine.store, f"Survey{BAD}.pdf", [f"The wells{BAD} were sampled in June.", f"Crews{BAD} worked."])
        engine.conversations.rename(engine.conversations.new(), f"Talk{BAD}")
    return tmp_path / "home"


@pytest.mark.parametrize(
    "arguments",
    [
        ("documents",),
        ("elements", f"Survey{BAD}.pdf"),
        ("chunks", f"Survey{BAD}.pdf"),
        ("conversation", "--list"),
        ("remove", f"no{BAD}"),
        ("export", f"no{BAD}"),
        (f"what{BAD}",),
        ("ingest", f"missing{BAD}.pdf"),
    ],
)
def test_no_control_character_is_printed(home: Path, arguments: tuple[str, ...]) -> None:
    done = run(["--home", str(home), *arguments])
    assert controls(done.stdout) == controls(done.stderr) == set()
    assert done.stdout + done.stderr


def test_a_process_prints_none_either(home: Path) -> None:
    done = process(["--home", str(home), "documents"])
    assert "Survey" in done.stdout
    assert controls(done.stdout) == set()


def test_json_keeps_what_is_there_and_prints_none(home: Path) -> None:
    done = run(["--home", str(home), "--json", "documents"])
    assert controls(done.stdout) == set()
    assert json.loads(done.stdout)["documents"][0]["name"] == f"Survey{BAD}.pdf"
