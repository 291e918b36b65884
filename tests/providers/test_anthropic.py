"""The Claude writer, always through the real client, against a local server that speaks the Messages API."""

from __future__ import annotations

import threading
import time
import traceback
from typing import Any

import pytest

from ragcore.answer.requests import conversation
from ragcore.errors import (
    KeyRefused,
    ModelError,
    ModelMissing,
    ModelUnreachable,
    Overloaded,
    RateLimited,
    RequestRefused,
    StreamBroken,
)
from ragcore.protocols import Message, ModelRequest
from ragcore.providers.anthropic import AnthropicModel, AnthropicStream
from ragcore.types import Turn, Usage
from tests.messages_server import MessagesServer, Reply

KEY = "sk-test-1234567890-secret"


def writer(server: MessagesServer, model: str = "claude-test", **changes: float) -> AnthropicModel:
    options = {"timeout_seconds": 10.0, "retries": 0, **changes}
    return AnthropicModel(
        model,
        api_key=KEY,
        base_url=server.url,
        timeout_seconds=float(options["timeout_seconds"]),
        retries=int(options["retries"]),
    )


def request(*history: Turn, **changes: Any) -> ModelRequest:
    messages = (*conversation(history), Message("Sources. Question: Why?"))
    return ModelRequest(**({"system": "Be exact.", "messages": messages} | changes))


def failure(stream: AnthropicStream) -> tuple[str, ModelError]:
    """The text that arrived before the stream raised, and the error."""
    text = ""
    try:
        for piece in stream:
            text += piece
    except ModelError as error:
        return text, error
    raise AssertionError(f"no error after {text!r}")


def test_streams_text_with_usage_and_model(server: MessagesServer) -> None:
    usage = {"input_tokens": 50, "output_tokens": 7, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 3}
    server.reply(Reply(text="Because <<SOURCE 1.1>>.", chunks=5, usage=usage, model="claude-test-20260101"))
    stream = writer(server).stream(request())
    pieces = list(stream)
    assert "".join(pieces) == "Because <<SOURCE 1.1>>."
    assert len(pieces) == 5
    assert stream.usage == Usage(50, 7, 40, 3)
    assert stream.model == "claude-test-20260101"


def test_sends_system_cached_history_and_temperature(server: MessagesServer) -> None:
    server.reply(Reply(text="x"))
    history = (Turn("First?", "Yes."), Turn("Unanswered?", ""))
    list(writer(server).stream(request(*history, max_tokens=77)))
    sent = server.requests[0]
    body = sent["body"]
    assert body["system"] == [{"type": "text", "text": "Be exact.", "cache_control": {"type": "ephemeral"}}]
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("user", "First?"),
        ("assistant", "Yes."),
        ("user", "Sources. Question: Why?"),
    ]
    assert (body["max_tokens"], body["temperature"], body["stream"]) == (77, 0.0, True)
    assert KEY in " ".join(sent["headers"].values())


def test_temperature_is_left_out_for_a_model_that_refuses_it_and_stays_out(server: MessagesServer) -> None:
    refusal = Reply(status=400, message="temperature: this model does not take sampling parameters")
    server.reply(refusal, Reply(text="one"), Reply(text="two"))
    model = writer(server, "claude-without-sampling")
    assert "".join(model.stream(request())) == "one"
    assert "".join(model.stream(request())) == "two"
    assert ["temperature" in r["body"] for r in server.requests] == [True, False, False]
    # Another service may call another model so.
    server.reply(Reply(text="three"))
    assert "".join(writer(server, "claude-without-sampling").stream(request())) == "three"
    assert "temperature" in server.requests[-1]["body"]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, RequestRefused),
        (401, KeyRefused),
        (402, KeyRefused),
        (403, KeyRefused),
        (404, ModelMissing),
        (413, RequestRefused),
        (429, RateLimited),
        (500, Overloaded),
        (529, Overloaded),
    ],
)
def test_http_errors_become_ours(server: MessagesServer, status: int, expected: type[ModelError]) -> None:
    server.reply(Reply(status=status, message="the service's own words"))
    text, error = failure(writer(server).stream(request()))
    assert (text, type(error)) == ("", expected)
    assert "the service's own words" in error.message
    assert error.hint


def test_retries_until_it_works(server: MessagesServer) -> None:
    server.reply(Reply(status=529), Reply(status=429, headers={"retry-after": "0"}), Reply(text="at last"))
    assert "".join(writer(server, retries=2).stream(request())) == "at last"
    assert len(server.requests) == 3


def test_gives_up_after_the_retries(server: MessagesServer) -> None:
    server.reply(*[Reply(status=429, headers={"retry-after": "0"}) for _ in range(3)])
    _, error = failure(writer(server, retries=1).stream(request()))
    assert isinstance(error, RateLimited)
    assert error.retryable
    assert len(server.requests) == 2


def test_does_not_sleep_on_a_long_retry_after(server: MessagesServer) -> None:
    server.reply(Reply(status=429, headers={"retry-after": "3600"}))
    started = time.perf_counter()
    _, error = failure(writer(server, retries=2).stream(request()))
    assert isinstance(error, RateLimited)
    assert "3600" in error.hint
    assert time.perf_counter() - started < 5


def test_error_event_before_any_text_is_retried(server: MessagesServer) -> None:
    server.reply(Reply(text="lost", error_after=0, error_status=529), Reply(text="second try"))
    assert "".join(writer(server, retries=1).stream(request())) == "second try"


def test_error_event_midway_keeps_what_arrived_and_is_not_retried(server: MessagesServer) -> None:
    server.reply(Reply(text=["Half of ", "it"], error_after=1, error_status=529))
    text, error = failure(writer(server, retries=2).stream(request()))
    assert (text, type(error)) == ("Half of ", Overloaded)
    assert len(server.requests) == 1


@pytest.mark.parametrize("how", [{"disconnect_after": 1}, {"end_after": 1}])
def test_a_stream_that_ends_midway_is_an_error(server: MessagesServer, how: dict[str, int]) -> None:
    server.reply(Reply(text=["Half of ", "it"], **how))  # type: ignore[arg-type]
    text, error = failure(writer(server, retries=2).stream(request()))
    assert (text, type(error)) == ("Half of ", StreamBroken)
    assert error.retryable


def test_cut_at_max_tokens_is_not_silent(server: MessagesServer) -> None:
    server.reply(Reply(text="Long", stop_reason="max_tokens"))
    text, error = failure(writer(server).stream(request(max_tokens=5)))
    assert (text, type(error), error.retryable) == ("Long", StreamBroken, False)
    assert "max_tokens" in error.hint


def test_a_refusal_is_reported(server: MessagesServer) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "Not that."}
    server.reply(Reply(text="", stop_reason="refusal", stop_details=details))
    _, error = failure(writer(server).stream(request()))
    assert isinstance(error, RequestRefused)
    assert "Not that." in error.message


def test_something_that_is_not_the_api(server: MessagesServer) -> None:
    server.reply(Reply(raw=b"<html>login</html>", status=200))
    _, error = failure(writer(server).stream(request()))
    assert isinstance(error, StreamBroken)


def test_nobody_listens() -> None:
    with MessagesServer() as server:
        gone = writer(server)
    _, error = failure(gone.stream(request()))
    assert isinstance(error, ModelUnreachable)
    assert error.retryable


def test_a_silent_service_times_out(server: MessagesServer) -> None:
    server.reply(Reply(text="late", first_delay=2.0))
    _, error = failure(writer(server, timeout_seconds=0.3).stream(request()))
    assert isinstance(error, ModelUnreachable)


def test_close_ends_the_iteration_soon_and_hangs_up(server: MessagesServer) -> None:
    server.reply(Reply(text=["a"] * 500, delay=0.02))
    stream = writer(server).stream(request())
    got = []
    for piece in stream:
        got.append(piece)
        if len(got) == 3:
            threading.Thread(target=stream.close).start()
    assert 3 <= len(got) < 100
    assert server.hung_up.wait(5), "the service must notice, so that it stops writing"
    assert stream.usage.input_tokens == 100


def test_closing_what_is_finished_does_not_cut_another_on_the_same_connection(server: MessagesServer) -> None:
    model = writer(server)
    server.reply(Reply(text="first"), Reply(text=["a"] * 20, delay=0.02))
    first = model.stream(request())
    assert "".join(first) == "first"
    second = iter(model.stream(request()))
    got = [next(second)]
    first.close()
    assert "".join([*got, *second]) == "a" * 20


@pytest.mark.parametrize("reply", [Reply(text="x", first_delay=3.0), Reply(status=429, headers={"retry-after": "15"})])
def test_close_while_waiting_ends_at_once(server: MessagesServer, reply: Reply) -> None:
    server.reply(reply)
    stream = writer(server, retries=2).stream(request())
    threading.Timer(0.3, stream.close).start()
    started = time.perf_counter()
    assert list(stream) == []
    assert time.perf_counter() - started < 2


def test_the_key_shows_nowhere(server: MessagesServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="ragcore")
    server.reply(Reply(status=401, message="invalid x-api-key"))
    model = writer(server)
    stream = model.stream(request())
    _, error = failure(stream)
    shown = f"{model!r} {vars(model)!r} {stream!r} {error} {error.hint} {error.as_dict()} {caplog.text}"
    assert KEY not in shown


def test_what_an_attempt_that_broke_off_was_billed_for_is_counted(server: MessagesServer) -> None:
    counted = {"input_tokens": 6000, "output_tokens": 5}
    server.reply(Reply(text="x", disconnect_after=0, usage=counted), Reply(text="It is.", usage=counted))
    stream = writer(server, retries=1).stream(request())
    assert "".join(stream) == "It is."
    assert stream.usage == Usage(12000, 6)


@pytest.mark.slow
def test_pings_are_no_sign_of_life(server: MessagesServer) -> None:
    server.reply(Reply(text=["Because", "of it"], delay=20.0, pings=True))
    began = time.monotonic()
    text, error = failure(writer(server, timeout_seconds=2.0).stream(request()))
    assert (text, type(error)) == ("", StreamBroken)
    assert "wrote nothing" in error.message
    assert time.monotonic() - began < 15


@pytest.mark.slow
def test_an_answer_that_never_ends_is_ended(server: MessagesServer) -> None:
    server.reply(Reply(text=["on "] * 100, delay=0.08))
    began = time.monotonic()
    text, error = failure(writer(server, timeout_seconds=0.2).stream(request()))
    assert text.startswith("on on on")
    assert "didn't finish" in error.message
    assert time.monotonic() - began < 6


@pytest.mark.parametrize("status", [401, 400, 500, 529])
def test_what_a_server_says_of_an_error_is_cut_and_never_holds_the_key(server: MessagesServer, status: int) -> None:
    server.reply(Reply(status=status, message=f"you sent {KEY}, {KEY} " + "and " * 5000))
    error = failure(writer(server).stream(request()))[1]
    assert len(error.message) < 700
    assert KEY not in "".join(traceback.format_exception(error))
    server.reply(Reply(text="", stop_reason="refusal", stop_details={"explanation": KEY + "no " * 5000}))
    refused = failure(writer(server).stream(request()))[1]
    assert KEY not in refused.message
    assert len(refused.message) < 700


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(server: MessagesServer, status: int) -> None:
    with MessagesServer() as elsewhere:
        server.reply(Reply(status=status, headers={"location": f"{elsewhere.url}/v1/messages"}))
        error = failure(writer(server, retries=2).stream(request()))[1]
        assert isinstance(error, RequestRefused)
        assert (len(server.requests), elsewhere.requests) == (1, [])
