"""The key goes to the service and nowhere else: not into the database, a log, a repr, an error or what is printed."""

from __future__ import annotations

import json
import logging
import os
import pickle
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from ragcore.cli.main import main
from ragcore.config.settings import load
from ragcore.engine import Engine
from ragcore.errors import KeyRefused
from ragcore.protocols import Message, ModelRequest
from ragcore.providers.anthropic import AnthropicModel
from ragcore.providers.registry import anthropic_model
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply

KEY = "sk-ant-test-0123456789-do-not-tell"
QUESTION = "Which well had the highest nitrate reading, and when?"
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Engine.open(home=tmp_path, overrides={"llm.model": "offline"}) as engine:
        prepared.read(engine, pdfs.one_column(), "survey.pdf")
        engine.index()
    return tmp_path


def everything(home: Path) -> bytes:
    """All bytes below ``home``, so the database, its log, caches and locks."""
    return b"\n".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())


def test_it_goes_to_the_service_and_nowhere_else(
    home: Path,
    server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("anthropic", "httpx", "httpx2", "httpcore", "httpcore2"):
        caplog.set_level(logging.DEBUG, logger=name)
    shown: list[object] = []
    overrides = {
        "llm.model": "claude",
        "llm.base_url": server.url,
        "llm.retries": 0,
        "llm.cache": False,
        "agentic.decompose": "auto",
    }
    with Engine.open(home=home, overrides=overrides, api_key=KEY) as engine:
        server.reply(Reply(text="It was Orchard Lane <<SOURCE 1.1>>."))
        conversation_id = engine.conversations.new()
        shown += [engine.chat(conversation_id, QUESTION).run(), engine.spending()]
        for bad in (
            Reply(status=401, message="invalid x-api-key"),
            Reply(status=500, message="internal"),
            Reply(raw=b"<html>", status=200),
            Reply(text=["a", "b"], disconnect_after=1),
        ):
            server.reply(bad)
            shown.append(engine.chat(conversation_id, QUESTION).run())
        models = engine.models
        parts = [engine, models, models.writer, models.planner, models.describer, models.context_writer]
        shown += list(parts) + [vars(part) for part in parts]
        shown += [vars(models.writer).values(), vars(vars(models.writer)["_model"])]
        for part in parts[2:]:
            with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
                pickle.dumps(part)

    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    asked = ["--home", str(home), "--json", "generate", "-q", "How many wells were sampled?"]
    server.reply(Reply(text="Nine <<SOURCE 1.1>>."))
    assert main(asked) == 0
    server.reply(Reply(status=401, message="invalid x-api-key"))
    assert main([*asked[:-1], "Who sampled the wells?"]) == 1
    for command in ("config", "spending", "documents"):
        assert main(["--home", str(home), "--json", command]) == 0
        assert main(["--home", str(home), command]) == 0
    printed = capfd.readouterr()

    received = [KEY in " ".join(request["headers"].values()) for request in server.requests]
    assert len(received) > 6
    assert all(received)
    assert "DEBUG" in caplog.text
    assert "key_refused" in printed.out
    told = {
        "the answers, reprs and variables": repr(shown),
        "the answers as JSON": json.dumps([repr(part) for part in shown]),
        "the log": caplog.text,
        "stdout": printed.out,
        "stderr": printed.err,
    }
    assert {where: text.count(KEY) for where, text in told.items() if KEY in text} == {}
    assert KEY.encode() not in everything(home)


def test_an_error_with_its_causes_does_not_tell_it(server: MessagesServer) -> None:
    """As a traceback would print it, local variables left out."""
    server.reply(Reply(status=401, message="invalid x-api-key"))
    model = AnthropicModel("claude-test", api_key=KEY, base_url=server.url, timeout_seconds=5.0, retries=0)
    with pytest.raises(KeyRefused) as caught:
        list(model.stream(ModelRequest(messages=(Message("Why?"),))))
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(caught.value.__cause__)


def written_with(key: str, url: str) -> None:
    settings, _ = load(environ={}, overrides={"llm.model": "claude", "llm.base_url": url})
    name = settings.llm.claude_model
    made = anthropic_model(name, settings.llm, {"ANTHROPIC_API_KEY": key})
    list(made.stream(ModelRequest(messages=(Message("Why?"),))))


@pytest.mark.parametrize("given", [f"{KEY}\n", f" {KEY}", f"{KEY}\r\n\t"])
def test_white_space_around_it_is_no_part_of_it(given: str, server: MessagesServer) -> None:
    written_with(given, server.url)
    (request,) = server.requests
    assert [value.removeprefix("Bearer ") for value in request["headers"].values() if KEY in value] == [KEY]


@pytest.mark.parametrize("bad", [f"{KEY}\n{KEY}", f"{KEY}\x00", f"{KEY}ü", f"{KEY}\u200b", f"{KEY}\udcff"])
def test_one_that_cannot_be_sent_is_refused_and_not_told(bad: str, server: MessagesServer) -> None:
    with pytest.raises(KeyRefused) as caught:
        written_with(bad, server.url)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert (caught.value.__cause__, server.requests) == (None, [])


@pytest.mark.parametrize("blank", ["", "\n", " \t "])
def test_a_blank_one_is_none(blank: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", blank)
    with Engine.open(home=tmp_path, api_key=blank) as engine:
        assert engine.models.writer_name == "offline"
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with Engine.open(home=tmp_path, api_key=blank) as engine:
        assert engine.models.writer_name.startswith("claude")


@pytest.mark.slow
def test_the_app_takes_it_from_streamlits_secrets(tmp_path: Path) -> None:
    """In a process of its own: Streamlit reads where its secrets are when it is loaded."""
    code = "from ui.server.services import api_key; from ragcore.engine import Engine; print(api_key() or '-'); "
    code += "engine = Engine.open(api_key=api_key()); print(engine.models.writer_name)"
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC", "GROUNDWORK"))}
    environ |= {"GROUNDWORK_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(f'ANTHROPIC_API_KEY = "{KEY}\\n"\n', "utf-8")
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [KEY, "claude-sonnet-4-6"]
    assert KEY.encode() not in everything(tmp_path / "home")
