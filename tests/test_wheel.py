"""The wheel carries the app: `groundwork` starts it where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

from ragcore.index.database import NAME
from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the wheel, as pip lays them out."""
    built, folder = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder)
    return folder


def run(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "ragcore.cli", *arguments]


def test_the_app_starts_outside_of_a_checkout(installed: Path, tmp_path: Path) -> None:
    port = free_port()
    home = tmp_path / "home"
    command = run("--home", str(home), "app", "--port", str(port), "--no-browser")
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            page = _page(f"http://localhost:{port}/library", server)
        finally:
            server.terminate()
            server.wait(20)
    assert "<title>Groundwork</title>" in page
    assert any((home / name).is_file() for name in ("groundwork.sqlite", NAME))


def _page(url: str, server: subprocess.Popen[str]) -> str:
    until = time.monotonic() + 60
    while True:
        assert server.poll() is None, server.stderr.read() if server.stderr else ""
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return str(answer.read().decode())
        except urllib.error.URLError:
            assert time.monotonic() < until, "the app did not answer within a minute"
            time.sleep(0.2)


def test_the_command_line_works_outside_of_a_checkout(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = run("--home", str(tmp_path / "home"), "--json", "documents")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, '{"documents": []}'), done.stderr


def test_nothing_of_the_checkout_but_the_app_and_the_package_is_in_it(installed: Path) -> None:
    top = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert top == {"groundwork", "ragcore"}
    own = {path.name for path in (installed / "groundwork").iterdir()} - {"__pycache__"}  # by the test above
    assert own == {"app.py", "pages", "ui", ".streamlit"}
