"""Moves of a home with two libraries that are killed, each at another line of `ragcore.index.move`, and ended after it.

`python -m tests.index.broken_moves HOME URL ROOT EVERY there|back` kills at each line whose number is a multiple of
``EVERY``. ``ROOT`` is the address of the same database for a role that sees all libraries.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import psycopg

from ragcore.cli.main import main
from ragcore.errors import InputError
from ragcore.index import move as module
from ragcore.index.database import FILE, URL, Database, open_database


def held(database: Database) -> dict[str, list[str]]:
    """Rows of each table, but for what numbers them, and the name of the library."""
    found = {}
    with database.read() as connection:
        for table, number in module.tables():
            hidden = {number, "library_id", "called"}
            rows = [
                {name: row[name] for name in {*row.keys()} - hidden}
                for row in connection.rows(f"SELECT * FROM {table}")
            ]
            found[table] = sorted(json.dumps(row, sort_keys=True, default=repr) for row in rows)
    return found


def library(home: Path) -> dict[str, list[str]]:
    """What is `held` by the library in a home, which is closed then."""
    database = open_database(home)
    try:
        return held(database)
    finally:
        database.close()


def homes(top: Path) -> list[Path]:
    return [top, top / "libraries" / "one"]


def apart(what: Callable[..., object], *given: object) -> int:
    """Exit code of a process of its own that does it: 0, or the signal that ended it."""
    child = os.fork()
    if not child:
        code = 70
        try:
            code = int(bool(what(*given)))
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed(number: int, command: list[str]) -> int:
    """The command, in a process that is killed at the line with that number, of those that are reached, each once in a
    library."""
    reached: set[tuple[int, int]] = set()
    library = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal library
        if frame.f_code.co_filename != module.__file__:
            return None
        library += event == "call" and frame.f_code.co_name == "move"
        if event == "line" and (library, frame.f_lineno) not in reached:
            if len(reached) == number:
                os.kill(os.getpid(), signal.SIGKILL)
            reached.add((library, frame.f_lineno))
        return trace

    sys.settrace(trace)
    return main(command)


def check(top: Path, before: dict[str, list[str]], sure: bool) -> None:
    for home in homes(top):
        try:
            assert library(home) == before
        except InputError:  # it is told; half of a library is never shown
            assert not sure


def run(full: Path, url: str, root: str, every: int, back: bool) -> int:
    """Kill and end a move at each point; returns the number of the last one."""
    before, number = library(full), 0
    while broke_off(full, before, url, root, number, back):
        number += every
    return number


def broke_off(full: Path, before: dict[str, list[str]], url: str, root: str, number: int, back: bool) -> bool:
    """Whether a move has so many points."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder) / "home"
        for home in homes(top):
            shutil.copytree(full, home)
        command = ["--home", str(top), "admin", "move"]
        if back:
            assert apart(main, [*command, url]) == 0
            os.environ[URL] = url
        command.append(module.SQLITE if back else url)
        ended = apart(killed, number, command)
        assert ended in (0, -signal.SIGKILL), ended
        assert apart(check, top, before, False) == 0, number
        assert apart(main, command) == 0, number
        os.environ.pop(URL, "")
        if not back:
            os.environ[URL] = url
        assert apart(check, top, before, True) == 0, number
        os.environ.pop(URL, "")
        for home in homes(top):
            names = {path.name for path in home.glob(f"{FILE}*")}
            assert f"{FILE}.moved" in names
            assert f"{FILE}.new" not in names
            assert (FILE in names) is back
    with psycopg.connect(root, autocommit=True) as seen:
        seen.execute("SET search_path = groundwork")
        found = seen.execute("SELECT count(DISTINCT library_id) FROM documents").fetchone()
        assert found == (0 if back else 2,), (number, found)
        for table, _ in reversed(module.tables()):
            seen.execute(f"DELETE FROM {table}".encode())
    return ended != 0


if __name__ == "__main__":
    print(run(Path(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4]), sys.argv[5] == "back"))
