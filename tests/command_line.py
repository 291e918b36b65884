"""``ragcore`` for tests: in this process, where what a command says is tested and not the process that says it, and in
one of its own."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from ragcore.cli.main import main


@dataclass(frozen=True)
class Ran:
    returncode: int
    stdout: str
    stderr: str


def run(arguments: Sequence[str], stdin: str = "") -> Ran:
    """What the program does with ``arguments``. Its streams are pipes: what cannot be written as UTF-8 fails."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)
    before, sys.stdin = sys.stdin, io.StringIO(stdin)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(arguments)
    except SystemExit as wrong_usage:  # what argparse raises
        code = int(wrong_usage.code or 0)
    finally:
        sys.stdin = before
    return Ran(code, _written(out), _written(err))


def _written(stream: io.TextIOWrapper) -> str:
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue().decode()


def process(arguments: Sequence[str | bytes], stdin: str = "") -> Ran:
    """The same by a process of its own."""
    command = [sys.executable, "-m", "ragcore.cli", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)
