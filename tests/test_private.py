"""A library is its owner's alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragcore.engine import Engine
from tests import pdfs
from ui.server.tokens import Signer
from ui.viewer.render_child import Artist

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")


def readable_by_others(home: Path) -> list[str]:
    return [str(path) for path in (home, *home.rglob("*")) if path.is_file() and path.stat().st_mode & 0o077]


def made(home: Path) -> None:
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        assert engine.ingest(engine.add(pdfs.encrypted("open"), "locked.pdf").doc_id, password="open").status == "ready"
        engine.index()
        Signer.kept(home / "web.secret")


def test_a_home_and_all_files_in_it_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        made(tmp_path / "home")
    finally:
        os.umask(before)
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    assert readable_by_others(tmp_path / "home") == []


def test_a_home_from_before_is_closed_and_what_is_not_ours_in_it_stays(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "own.sh").write_text("#!/bin/sh\n")
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.name == "own.sh" else 0o644)
    Engine.open(tmp_path).close()
    assert tmp_path.stat().st_mode & 0o777 == 0o700
    assert readable_by_others(tmp_path) == [str(tmp_path / "own.sh")]
    assert (tmp_path / "own.sh").stat().st_mode & 0o777 == 0o755


def test_pictures_of_pages_are_their_owner_s(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdfs.one_column())
    out = tmp_path / "picture.png"
    Artist().draw(str(tmp_path / "a.pdf"), 1, 160, None, str(out))
    assert out.stat().st_mode & 0o077 == 0


def test_what_is_written_for_a_person_is_as_they_write_files(tmp_path: Path) -> None:
    code = "import os; os.umask(0o022); from ragcore.cli.main import main; raise SystemExit(main())"
    home, out = tmp_path / "home", tmp_path / "talk.md"
    with Engine.open(home) as engine:
        talk = engine.conversations.new()
    command = [sys.executable, "-c", code, "--home", str(home), "export", talk, "-o", str(out)]
    subprocess.run(command, check=True)
    assert out.stat().st_mode & 0o777 == 0o644
