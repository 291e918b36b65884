"""Questions planned by Claude, from the engine and the command line down to a local server that speaks its API."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.types import Found, Usage
from tests import prepared
from tests.messages_server import MessagesServer, Reply

QUESTION = "What was the highest nitrate reading? How many wells were sampled?"
PARTS = Reply(
    tool=(
        "search_for",
        {
            "sub_queries": [
                {"query": "What was the highest nitrate reading?", "reason": "the reading"},
                {"query": "How many wells were sampled?", "reason": "the wells"},
            ]
        },
    ),
    usage={"input_tokens": 1000, "output_tokens": 100},
)


@pytest.fixture(scope="module")
def home(surveyed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared.copied(surveyed, tmp_path_factory.mktemp("home") / "home")


@pytest.fixture
def server(server: MessagesServer, key: None, monkeypatch: pytest.MonkeyPatch) -> MessagesServer:
    # The first call loads the client, which takes long on a busy machine.
    monkeypatch.setenv("GROUNDWORK_AGENTIC__TIMEOUT_SECONDS", "100")
    monkeypatch.setenv("GROUNDWORK_AGENTIC__DECOMPOSE", "auto")
    return server


def test_an_answer_costs_what_its_plan_costs_too(home: Path, server: MessagesServer) -> None:
    server.plan(PARTS)
    written = {"input_tokens": 2000, "output_tokens": 50}
    server.reply(Reply(text="It was 61.4 mg/l <<SOURCE 1.1>>.", usage=written))
    with Engine.open(home=home) as engine:
        answer = engine.ask(QUESTION).run()
    assert answer.status == "complete"
    assert answer.usage == Usage(3000, 150)
    assert answer.cost_usd == pytest.approx((3000 * 3 + 150 * 15) / 1e6)
    assert answer.queries == (QUESTION, "What was the highest nitrate reading?", "How many wells were sampled?")
    assert answer.timings_ms["plan"] > 0


def test_a_plan_that_could_not_be_used_is_part_of_the_answer(home: Path, server: MessagesServer) -> None:
    server.plan(Reply(tool=("search_for", "{")), Reply(tool=("search_for", "{")))
    with Engine.open(home=home) as engine:
        answer = engine.ask(QUESTION).run()
    assert answer.status == "complete"
    assert answer.trace is not None
    (note,) = answer.trace.notes
    assert note.startswith("claude-sonnet-4-6's decomposition could not be used: ")
    assert note.endswith("The question was split by rules instead.")


def test_stop_while_it_is_planned_ends_the_answer_soon(home: Path, server: MessagesServer) -> None:
    server.plan(Reply(first_delay=60.0))
    with Engine.open(home=home) as engine:
        engine.warm()
        run = engine.ask(QUESTION)
        threading.Thread(target=lambda: (server.asked.wait(60), run.stop())).start()
        started = time.perf_counter()
        events = list(run)
        assert time.perf_counter() - started < 40
    assert isinstance(events[0], Found)
    assert run.answer is not None
    assert (run.answer.status, run.answer.text) == ("stopped", "")
    assert [("tools" in request["body"]) for request in server.requests] == [True]


def test_a_refused_key_is_an_error_before_anything_is_written(home: Path, server: MessagesServer) -> None:
    server.plan(Reply(status=401))
    with Engine.open(home=home) as engine:
        answer = engine.chat(engine.conversations.new(), QUESTION).run()
    assert answer.status == "failed"
    assert answer.error is not None
    assert answer.error["code"] == "key_refused"


def test_the_command_line_says_what_was_searched_for(
    home: Path, server: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.plan(PARTS)
    assert main(["--home", str(home), "--json", "retrieve", "-q", QUESTION, "--decompose", "auto", "--gaps"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["number"], one["origin"], one["reason"]) for one in found["queries"]] == [
        (1, "question", ""),
        (2, "model", "the reading"),
        (3, "model", "the wells"),
    ]
    assert sum(2 in hit["queries"] for hit in found["hits"]) == found["queries"][1]["hits"] > 0
    assert found["usage"]["input_tokens"] == 1100, "the parts, and the look for gaps"
    assert found["cost_usd"] > 0
    assert found["notes"] == []
    assert {"plan", "gaps", "rerank"} <= set(found["timings_ms"])

    server.plan(Reply(status=529), Reply(status=529), Reply(status=529))
    assert main(["--home", str(home), "retrieve", "-q", QUESTION, "--no-gaps"]) == 0
    said = capsys.readouterr()
    assert "could not be used" in said.err
    assert "Query 2 (rules): What was the highest nitrate reading?" in said.out


def test_without_a_key_rules_do_it_and_off_is_off(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    for given, origins in (("auto", ["question", "rules", "rules"]), ("off", ["question"])):
        assert main(["--home", str(home), "--json", "retrieve", "-q", QUESTION, "--decompose", given]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [one["origin"] for one in found["queries"]] == origins
        assert found["cost_usd"] == 0.0
