"""Forms filled in by Claude, always through the real client, against a local server that speaks the Messages API."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from ragcore.errors import KeyRefused, ModelError, Overloaded, RateLimited, RequestRefused, StreamBroken
from ragcore.protocols import LLM, Form, Message, ModelRequest
from ragcore.providers.anthropic import AnthropicModel
from ragcore.types import Usage
from tests.messages_server import MessagesServer, Reply

FORM = Form("note", "Note the colour.", {"type": "object", "properties": {"colour": {"type": "string"}}})
FILLED = {"colour": "grün “und” blau"}


def planner(server: MessagesServer, model: str = "claude-plans", retries: int = 0) -> AnthropicModel:
    return AnthropicModel(model, api_key="sk-test", base_url=server.url, timeout_seconds=10.0, retries=retries)


def request(**changes: Any) -> ModelRequest:
    asked = {"tool": FORM, "system": "Be exact.", "messages": (Message("Colour?"),), "max_tokens": 99}
    return ModelRequest(**(asked | changes))


def test_it_is_a_planner(server: MessagesServer) -> None:
    assert isinstance(planner(server), LLM)


@pytest.mark.parametrize("changes", [{}, {"text": "Let me see."}, {"at_once": True}, {"chunks": 1}])
def test_the_text_is_the_form_and_nothing_else(server: MessagesServer, changes: dict[str, Any]) -> None:
    server.plan(Reply(tool=("note", FILLED), usage={"input_tokens": 30, "output_tokens": 9}, **changes))
    stream = planner(server).stream(request())
    assert json.loads("".join(stream)) == FILLED
    assert stream.usage == Usage(30, 9)
    assert stream.model == "claude-plans"


def test_the_form_must_be_filled_in(server: MessagesServer) -> None:
    list(planner(server).stream(request()))
    (body,) = server.forms
    (tool,) = body["tools"]
    assert (tool["name"], tool["description"]) == ("note", "Note the colour.")
    assert tool["input_schema"] == FORM.schema
    assert body["tool_choice"] == {"type": "tool", "name": "note", "disable_parallel_tool_use": True}
    assert (body["system"], body["messages"][0]["content"], body["max_tokens"]) == ("Be exact.", "Colour?", 99)


def test_another_bad_request_is_refused_at_once(server: MessagesServer) -> None:
    server.plan(Reply(status=400, message="tools are not supported, restricted"))
    with pytest.raises(RequestRefused, match="not supported"):
        list(planner(server).stream(request()))
    assert len(server.forms) == 1


def test_a_model_that_only_talks_gives_nothing(server: MessagesServer) -> None:
    server.plan(Reply(text="I would rather not."))
    assert "".join(planner(server).stream(request())) == ""


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(status=401), KeyRefused),
        (Reply(status=429, headers={"retry-after": "0"}), RateLimited),
        (Reply(status=529), Overloaded),
        (Reply(tool=("note", FILLED), disconnect_after=3), StreamBroken),
        (Reply(tool=("note", FILLED), error_after=2), Overloaded),
        (Reply(tool=("note", FILLED), end_after=2), StreamBroken),
        (Reply(tool=("note", FILLED), stop_reason="max_tokens"), StreamBroken),
        (Reply(stop_reason="refusal"), RequestRefused),
    ],
)
def test_what_goes_wrong_is_ours(server: MessagesServer, reply: Reply, expected: type[ModelError]) -> None:
    server.plan(reply)
    with pytest.raises(expected):
        list(planner(server).stream(request()))


def test_it_is_asked_again_after_a_busy_service(server: MessagesServer) -> None:
    server.plan(Reply(status=529), Reply(status=429, headers={"retry-after": "0"}), Reply(tool=("note", FILLED)))
    assert json.loads("".join(planner(server, retries=2).stream(request()))) == FILLED


@pytest.mark.parametrize("reply", [Reply(first_delay=20.0), Reply(tool=("note", FILLED), delay=5.0)])
def test_close_ends_a_call_that_hangs(server: MessagesServer, reply: Reply) -> None:
    server.plan(reply)
    stream = planner(server).stream(request())
    threading.Timer(0.3, stream.close).start()
    started = time.perf_counter()
    assert "".join(stream) in ("", json.dumps(FILLED)[:6])
    assert time.perf_counter() - started < 3
