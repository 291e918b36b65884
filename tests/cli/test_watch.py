"""`groundwork watch`: what it reads, says and ends with, and what a kill leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from tests import command_line

LONG_AGO = 1_500_000_000
WELLS = "Nitrate stood above the limit in seven wells, all of them south of the railway."


def write(folder: Path, name: str, text: str, second: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    os.utime(folder / name, (LONG_AGO + second,) * 2)


def watch(home: Path, *arguments: str | Path) -> command_line.Ran:
    return command_line.run(["--home", str(home), "watch", *map(str, arguments)])


def told(ran: command_line.Ran) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_a_folder_is_read_once_and_then_what_differs(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "papers"
    write(folder, "wells.txt", WELLS)
    ran = watch(home, folder, "--once", "--json")
    assert ran.returncode == 0
    first = told(ran)
    assert (first["folder"], first["files"], first["hashed"], first["error"]) == (str(folder), 1, 1, None)
    [change], [document] = first["changes"], first["documents"]
    assert (change["path"], change["kind"], change["doc_id"]) == ("wells.txt", "new", document["doc_id"])
    assert (document["status"], document["indexed"], document["folder"]) == ("ready", True, "papers")

    write(folder, "wells.txt", WELLS.replace("seven", "nine"), 1)
    ran = watch(home, folder, "--once")
    assert (ran.returncode, ran.stdout) == (0, "wells.txt: changed: a new version  [wells]\n")
    assert "1 file, 1 changed" in ran.stderr
    ran = watch(home, folder, "--once", "--json")
    assert (told(ran)["hashed"], told(ran)["changes"], told(ran)["documents"]) == (0, [], [])
    listed = json.loads(command_line.run(["--home", str(home), "documents", "--json"]).stdout)["documents"]
    assert [one["doc_id"] for one in listed] != [document["doc_id"]]
    assert len(listed) == 1


def test_what_cannot_be_read_is_said_and_listed(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "papers"
    write(folder, "empty.pdf", "")
    ran = watch(home, folder, "--once")
    assert ran.returncode == 1
    assert "empty.pdf: empty.pdf is empty." in ran.stderr
    assert watch(home, folder, "--once").returncode == 0, "it was said before, and has not changed"
    ran = watch(home, "--list")
    assert ran.returncode == 0
    assert f"{folder}  (1 file, 1 not read, every 30 s" in ran.stdout
    assert "  empty.pdf: empty.pdf is empty." in ran.stdout
    [listed] = told(watch(home, "--list", "--json"))["folders"]
    assert (listed["path"], listed["files"], listed["failed"]) == (str(folder), 1, 1)
    shutil.rmtree(folder)
    ran = watch(home, "--remove", folder)
    assert (ran.returncode, ran.stdout) == (0, "No folder is watched.\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [([], 2), (["--list", "--remove", "x"], 2), (["x", "--every", "no"], 2), (["nowhere"], 1), (["--remove", "x"], 1)],
)
def test_wrong_usage_is_told_from_what_fails(tmp_path: Path, arguments: Sequence[str], code: int) -> None:
    ran = watch(tmp_path / "home", *arguments)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert ran.stderr


def started(home: Path, folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ragcore.cli", "--home", str(home), "watch", str(folder), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_ends_watching_in_order(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "papers"
    folder.mkdir()
    process = started(home, folder, "--every", "1")
    assert process.stderr is not None
    assert "0 files" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert "go on with" in process.stderr.read()
    with Engine.open(home) as engine:
        assert [one.path for one in engine.watch.folders()] == [folder]


@pytest.mark.slow
@pytest.mark.parametrize("after", [2, 5])
def test_what_is_killed_while_reading_goes_on_where_it_was(tmp_path: Path, after: int) -> None:
    home, folder = tmp_path / "home", tmp_path / "papers"
    names = [f"{number}.md" for number in range(3)]
    for number, name in enumerate(names):
        write(folder, name, f"# Well {number}\n\n{WELLS}\n")
    process = started(home, folder, "--once")
    assert process.stderr is not None
    for _ in range(after):
        process.stderr.readline()
    process.kill()
    process.wait()
    assert watch(home, folder, "--once").returncode == 0
    with Engine.open(home) as engine:
        infos = engine.documents()
        assert sorted(info.name for info in infos) == names
        assert all(info.status == "ready" and info.indexed for info in infos)
        assert engine.watch.unread() == []


@pytest.mark.slow
def test_two_that_watch_one_folder_read_each_document_once(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "papers"
    for number in range(4):
        write(folder, f"{number}.md", f"# Well {number}\n\n{WELLS}\n")
    both = [started(home, folder, "--once"), started(home, folder, "--once")]
    said = [one.communicate(timeout=280)[1] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    reads = [line for told in said for line in told.splitlines() if ": read 1 of 1" in line]
    assert sorted(reads) == [f"{number}.md: read 1 of 1" for number in range(4)]
    with Engine.open(home) as engine:
        assert all(info.status == "ready" for info in engine.documents())
