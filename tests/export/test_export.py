"""Exports through the engine and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.errors import InputError, UnknownConversation
from ragcore.export import KINDS, kind
from tests.export.engines import told
from tests.export.reading import READERS


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def conversation(home: Path) -> str:
    with Engine.open(home=home) as engine:
        return told(engine)


def test_the_engine_exports_what_is_shown(home: Path, conversation: str) -> None:
    with Engine.open(home=home) as engine:
        for name in KINDS:
            words = READERS[name](engine.export(conversation, name)).words
            assert "1. What did it spend?" in words
            assert "3M 2018 Annual Report" in words
            assert "2. And later?" in words
        with pytest.raises(UnknownConversation):
            engine.export("gone", "md")
        with pytest.raises(InputError, match="doc"):
            engine.export(conversation, "doc")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [*KINDS, "DOCX"])
def test_the_ending_of_the_file_is_its_kind(home: Path, conversation: str, tmp_path: Path, name: str) -> None:
    out = tmp_path / f"out.{name}"
    assert main(["--home", str(home), "export", conversation, "-o", str(out)]) == 0
    with Engine.open(home=home) as engine:
        assert out.read_bytes() == engine.export(conversation, kind(name, KINDS))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["home", out.name]), (
        "nothing half-written is left"
    )


def test_without_a_file_it_is_markdown_on_stdout(
    home: Path, conversation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--home", str(home), "export", conversation]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# What did it spend?\n")
    assert "It spent **$1,577 million**[^1]." in text
    assert main(["--home", str(home), "export", conversation, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["markdown"] == text


def test_what_cannot_be_exported_is_said(
    home: Path, conversation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("out.doc", "out"):
        with pytest.raises(SystemExit) as exit:
            main(["--home", str(home), "export", conversation, "-o", str(tmp_path / name)])
        assert exit.value.code == 2
        assert ".docx" in capsys.readouterr().err
    old = tmp_path / "old.pdf"
    old.write_text("kept")
    assert main(["--home", str(home), "export", "gone", "-o", str(old)]) == 1
    assert old.read_text() == "kept"
    assert main(["--home", str(home), "export", conversation, "-o", str(old / "in.pdf"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "input_error"
