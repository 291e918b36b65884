"""Nothing leaves the machine without a key: no name is looked up, no connection opened beyond loopback, and no library
keeps an identity or events of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragcore.accounts.accounts import Accounts
from ragcore.accounts.libraries import Grants
from ragcore.engine import Engine
from tests import pdfs, prepared
from tests.browser.conftest import serve
from tests.outgoing import Watch, watch
from tests.web_client import answered, handshake, signed_in, status
from ui.server import web

QUESTION = "What was the highest nitrate reading?"


@pytest.fixture
def watched(tmp_path: Path) -> Watch:
    return watch(tmp_path / "watch")


def python(watched: Watch, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    unset = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ORT_DISABLE_TELEMETRY")
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(
        [sys.executable, *arguments],
        env=inherited | watched.environment | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_watch_sees_a_look_up_and_a_connection(watched: Watch) -> None:
    python(watched, "-c", "import socket; socket.getaddrinfo('example.org', 80)")
    python(watched, "-c", "import socket; socket.create_connection(('192.0.2.1', 80))")
    seen = "\n".join(watched.beyond())
    assert "example.org" in seen
    assert "192.0.2.1" in seen


@pytest.mark.slow
def test_the_command_line_and_its_workers(watched: Watch, tmp_path: Path) -> None:
    (tmp_path / "survey.pdf").write_bytes(pdfs.one_column())
    home = ("--home", str(tmp_path / "home"))
    read = python(watched, "-m", "ragcore.cli", *home, "ingest", str(tmp_path / "survey.pdf"), "--index")
    assert read.returncode == 0, read.stderr
    asked = python(watched, "-m", "ragcore.cli", *home, "generate", "-q", QUESTION, "--json")
    assert asked.returncode == 0, asked.stderr
    assert (watched.beyond(), watched.left()) == ([], [])


def test_a_worker_by_itself(watched: Watch) -> None:
    code = "import ragcore.ingest.worker, onnxruntime, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    assert python(watched, "-c", code).stdout.split() == ["1"]
    assert (watched.beyond(), watched.left()) == ([], [])


def test_the_app(watched: Watch, surveyed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    prepared.copied(surveyed, home)
    # As if to be reached from other machines, too: Streamlit looks for their addresses then.
    reached = {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0", "GROUNDWORK_AUTH__MODE": "local"}
    with serve(home, ORT_DISABLE_TELEMETRY="0", **reached, **watched.environment) as app:
        session = signed_in(home, app.url)
        assert handshake(app.url, origin=app.url, **session) == 101
        assert handshake(app.url, **session, origin="http://elsewhere.example") == 403
        assert handshake(app.url, **session, origin="http://localhost:1") == 403  # a page of another program here
        assert handshake(app.url, **session, host="elsewhere.example", origin="http://elsewhere.example") == 403
        assert status(app.url, "/", Host="elsewhere.example") == 403
        assert status(app.url, f"{web.static_root()}/{'a' * 5000}.css") == 404
        accounts = Accounts(home)
        with Engine.open(home) as engine:
            conversation = engine.of(accounts.users()[0].user_id).conversations.new()
        grants = Grants(accounts)
        grants.begin(lambda _: None)
        within = f"/l/{grants.all()[0].library_id}"
        accounts.close()
        assert answered(app.url, home, conversation, QUESTION, session, within)["state"]
    assert (watched.beyond(), watched.left()) == ([], [])
