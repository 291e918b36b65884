"""What a first page waits for: one style sheet, and models that load after it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcore import telemetry
from tests.ui.asgi import ask
from ui.server import bundles, warming, web
from ui.server.warming import Warming

APP = Path(__file__).resolve().parents[2]


def test_the_style_sheet_holds_them_all_and_each_of_its_addresses_leads_to_a_file() -> None:
    routes = web.routes([""])
    status, headers, body = ask(routes, f"{web.static_root()}/styles.css")
    assert (status, headers["cache-control"]) == (200, "public, max-age=31536000, immutable")
    linked = re.findall(r'url\("([^"]+)"\)', body.decode())
    assert len(linked) > 50
    for address in sorted(set(linked)):
        assert (bundles.UI / address).is_file(), address
        assert Path(address).suffix in bundles.TYPES
    assert {path.relative_to(bundles.UI).as_posix() for path in bundles.UI.rglob("*.css")} == set(bundles.STYLES)


def test_a_page_stands_there_before_any_script_has_run() -> None:
    page = ask(web.routes([""]), "/")[2].decode()
    assert page.count('rel="stylesheet"') == 2  # Streamlit's and ours
    assert 'role="status"' in page.split('<div id="root">')[0]
    for script in re.findall(r"<script>(.*?)</script>", page, re.S):
        assert "innerHTML" not in script


def test_a_page_that_is_opened_at_the_start_is_drawn_before_models_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "SETTLING", 0.05)
    loaded = threading.Event()
    made = Warming()
    assert not made.loading
    made.asked()
    made.begin(loaded.set)
    assert not loaded.wait(0.3)
    assert made.loading
    made.drawn()
    assert loaded.wait(5)
    _until(lambda: not made.loading)


def test_models_are_loaded_where_nobody_comes_or_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "QUIET", 0.05)
    monkeypatch.setattr(warming, "LONGEST", 0.1)
    alone, asked = threading.Event(), threading.Event()
    Warming().begin(alone.set)
    assert alone.wait(5)
    made = Warming()
    made.asked()
    made.begin(asked.set)
    assert asked.wait(5)


def test_a_failure_to_load_is_no_loading_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "QUIET", 0.01)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)

    def load() -> None:
        raise MemoryError

    made = Warming()
    made.begin(load)
    _until(lambda: not made.loading)


def test_nothing_is_loaded_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "QUIET", 0.05)
    loaded = threading.Event()
    made = Warming()
    made.begin(loaded.set)
    made.end()
    assert not loaded.wait(0.3)
    assert not made.loading


def test_the_first_script_loads_nothing_heavy() -> None:
    """Who answers stands in the header: to say it must not load who does. Nor are MCP, and what tells a collector,
    loaded before anybody asks for them."""
    code = """
import sys, tempfile, pathlib, app
from ragcore import telemetry
from ragcore.engine import Engine
from ui.server import frame
with Engine.open(pathlib.Path(tempfile.mkdtemp())) as engine:
    engine.models.writer_name
heavy = ["torch", "onnxruntime", "pandas", "sklearn", "scipy.stats", "nltk", "anthropic", "pymupdf"]
heavy += ["mcp", "opentelemetry.sdk"]
print([name for name in heavy if name in sys.modules], telemetry.wanted())
"""
    environment = {name: value for name, value in os.environ.items() if name != telemetry.URL}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=APP)
    assert done.stdout.strip() == "[] False"


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)
