"""A server that misbehaves on purpose: every case ends in an answer with its defects reported or in a clear error, and
nothing is lost from the conversation.

What each case is to the client alone stands in tests/providers; here it goes from `Engine.chat` to the database, and
what is read from there by another engine is what was shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.types import Answer
from tests import prepared
from tests.matrix import standing_for
from tests.messages_server import MessagesServer, Reply

KEY = "sk-test-misbehaviour"
QUESTION = "What was the highest nitrate reading and how many wells were sampled?"
GOOD = "The highest reading was found <<SOURCE 1.1>>."
LONG = 60_000
SPLIT = list("The first <<SOURCE 1.1>>, the second <<SOURCE 1.1-1.2>> and one more <<SOURCE 1.1, 1.2>>.")


def event(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def delta(given: object) -> bytes:
    return event("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": given})


HOLOGRAM = (
    event("content_block_start", {"type": "content_block_start", "index": 7, "content_block": {"type": "hologram"}})
    + delta({"type": "hologram_delta", "light": "blue"})
    + event("content_block_stop", {"type": "content_block_stop", "index": 7})
)
PAGE = b"<html><head><title>Sign in</title></head><body>" + b"<p>Welcome to the portal.</p>" * 2000 + b"</body></html>"


@dataclass(frozen=True)
class Case:
    """What the server does, and what must become of it. ``error`` is the code of the answer's error, "" where the
    answer is complete; ``text`` must stand in the answer and ``said`` in the error; at least ``dropped`` markers are
    reported; ``sent`` requests were made for it."""

    replies: list[Reply]
    error: str = ""
    text: str = ""
    said: str = ""
    dropped: int = 0
    sent: int = 1


def case(reply: Reply, error: str = "", text: str = "", said: str = "", *, dropped: int = 0) -> Case:
    return Case([reply], error, text, said, dropped)


def again(reply: Reply, error: str, said: str = "") -> Case:
    """What is tried again, and fails again."""
    return Case([reply, reply], error, said=said, sent=2)


CASES = {
    "bad markers": case(
        Reply(text="It was high <<SOURCE one>>. Very high <<SOURCE 1.x>>. So they say <<SOURCE >> there <<SOURCE 1"),
        text="It was high",
        dropped=2,
    ),
    "markers in single characters": case(Reply(text=SPLIT), text="The first [1], the second"),
    "invented sources": case(
        Reply(text="It fell <<SOURCE 99.1>>. It rose <<SOURCE 1.999>>."), text="It fell", dropped=2
    ),
    "a huge answer": case(Reply(text="It was measured in June. " * (LONG // 25), chunks=300), text="measured in June"),
    "an endless answer": case(Reply(text="word " * 100_000, chunks=100), "stream_broken", "word", "wrote on past"),
    "an empty answer": case(Reply(text=""), "stream_broken"),
    "nothing but white space": case(Reply(text=[" ", "\n\n", " "]), "stream_broken"),
    "a marker and nothing else": case(Reply(text="<<SOURCE 99.9>>"), "stream_broken", dropped=1),
    "slow tokens": case(Reply(text=GOOD, chunks=20, delay=0.05), text="The highest reading was found [1]"),
    "cut midway": case(Reply(text=["Half of ", "it"], disconnect_after=1), "stream_broken", "Half of"),
    "ended midway": case(Reply(text=["Half of ", "it"], end_after=1), "stream_broken", "Half of"),
    "cut inside a marker": case(
        Reply(text=["It was high <<SOU", "RCE 1.1>>."], disconnect_after=1), "stream_broken", "It was high"
    ),
    "cut after the last event": case(Reply(text=GOOD, ends=False), text="The highest reading was found [1]"),
    "overloaded midway": case(Reply(text=["Half of ", "it"], error_after=1), "overloaded", "Half of"),
    "failed midway": case(Reply(text=["Half ", "it"], error_after=1, error_status=500), "overloaded", "Half"),
    "an unknown error midway": case(
        Reply(text=["Half of ", "it"], insert={1: event("error", "{not json")}), "overloaded", "Half of"
    ),
    "429 and no end": again(Reply(status=429, headers={"retry-after": "0"}), "rate_limited", "as scripted"),
    "429 for an hour": case(Reply(status=429, headers={"retry-after": "3600"}), "rate_limited"),
    "529 and no end": again(Reply(status=529, headers={"retry-after": "0"}), "overloaded", "as scripted"),
    "500 and no end": again(Reply(status=500, headers={"retry-after": "0"}), "overloaded", "as scripted"),
    "529, then an answer": Case(
        [Reply(status=529, headers={"retry-after": "0"}), Reply(text=GOOD)], text="The highest reading", sent=2
    ),
    "overloaded before a word, then an answer": Case(
        [Reply(text="x", error_after=0), Reply(text=GOOD)], text="The highest reading", sent=2
    ),
    "lost before a word, then an answer": Case(
        [Reply(text="x", disconnect_after=0), Reply(text=GOOD)], text="The highest reading", sent=2
    ),
    "a refused key": case(Reply(status=401), "key_refused", said="as scripted"),
    "an unknown model": case(Reply(status=404), "model_missing", said="as scripted"),
    "a refused request": case(Reply(status=400), "request_refused", said="as scripted"),
    "a page in place of an answer": again(Reply(raw=PAGE), "stream_broken", "not the Messages API"),
    "a page in place of an error": again(Reply(raw=PAGE, status=502), "overloaded", "HTTP 502"),
    "JSON in place of a stream": again(
        Reply(raw=b'{"type": "message", "content": []}', content_type="application/json"), "stream_broken"
    ),
    "an empty body": again(Reply(raw=b"", content_type="text/event-stream"), "stream_broken"),
    "a broken head": again(Reply(headers_end=30), "model_unreachable"),
    "no head": again(Reply(headers_end=0), "model_unreachable"),
    "silence": again(Reply(first_delay=1.5), "model_unreachable", "did not answer in time"),
    "events that are no JSON": case(
        Reply(text=["Half of ", "it"], insert={1: event("content_block_delta", '{"type": "content_bl')}),
        "stream_broken",
        "Half of",
        "not the Messages API",
    ),
    "events that are no UTF-8": case(
        Reply(text=["Half of ", "it"], insert={1: b"event: content_block_delta\ndata: \xff\xfe\n\n"}),
        "stream_broken",
        "Half of",
    ),
    "an event that is a number": case(
        Reply(text=["Half of ", "it"], insert={1: event("content_block_delta", "5")}), "stream_broken", "Half of"
    ),
    "a delta without its text": case(
        Reply(text=["Half of ", "it"], insert={1: delta({"type": "text_delta"})}), "stream_broken", "Half of"
    ),
    "a delta that is a list": case(
        Reply(text=["Half of ", "it"], insert={1: delta(["text"])}), "stream_broken", "Half of"
    ),
    "unknown events and blocks": case(
        Reply(text=["It was ", "high."], insert={0: event("telemetry", {"type": "telemetry"}), 1: HOLOGRAM}),
        text="It was high.",
    ),
    "no count of tokens": case(Reply(text=GOOD, counts=False), text="The highest reading was found [1]"),
    "a half of a character": case(Reply(text=["It was \ud83d", " high", ".\ud83d"]), text="It was \ufffd high.\ufffd"),
    "a model that is a number": case(Reply(text=GOOD, model=7), text="The highest reading was found [1]"),
    "a model that is a list": case(Reply(text=GOOD, model=["a"]), text="The highest reading was found [1]"),
    "a model of halves": case(Reply(text=GOOD, model="m\ud83d"), text="The highest reading was found [1]"),
    "too many tokens to count": case(
        Reply(text=GOOD, usage={"input_tokens": 10**30, "output_tokens": 10**30}), text="The highest reading was found"
    ),
    "less than no tokens": case(Reply(text=GOOD, usage={"input_tokens": -5, "output_tokens": -1}), text="The highest"),
    "tokens that are no number": case(Reply(text=GOOD, usage={"input_tokens": True, "output_tokens": "9"}), text="The"),
    "a refusal in halves": case(
        Reply(text="", stop_reason="refusal", stop_details={"type": "refusal", "explanation": "Not \ud83d."}),
        "request_refused",
        said="Not \ufffd.",
    ),
    "an error in halves": case(Reply(status=400, message="No \ud83d."), "request_refused", said="No \ufffd."),
    "an error that is a number": case(
        Reply(
            text=["Half of ", "it"], insert={1: event("error", {"type": "error", "error": {"type": [1], "message": 5}})}
        ),
        "overloaded",
        "Half of",
    ),
    "a refusal": case(
        Reply(text="", stop_reason="refusal", stop_details={"type": "refusal", "explanation": "Not that."}),
        "request_refused",
        said="Not that.",
    ),
    "a refusal midway": case(Reply(text="It was", stop_reason="refusal"), "request_refused", "It was"),
    "a pause": case(Reply(text="It was", stop_reason="pause_turn"), "stream_broken", "It was", "paused"),
    "cut at max_tokens": case(Reply(text="It was", stop_reason="max_tokens"), "stream_broken", "It was", "cut off"),
    "too long for the model": case(
        Reply(text="It was", stop_reason="model_context_window_exceeded"), "stream_broken", "It was", "context window"
    ),
    "a tool that was not offered": case(
        Reply(text="It was high.", tool=("delete_everything", {"really": True})), text="It was high."
    ),
}

# What stands for them in the quick run: one of each kind of end.
QUICK = (
    "bad markers",
    "an empty answer",
    "cut inside a marker",
    "529 and no end",
    "lost before a word, then an answer",
    "a page in place of an answer",
    "events that are no JSON",
    "a half of a character",
    "a refusal",
)

# Of a form only the search knows, so the answer is written all the same, and says what was wrong with it.
FORMS = {
    "not the schema": Reply(tool=("search_for", {"sub_queries": "all of them"})),
    "unknown fields": Reply(tool=("search_for", {"sub_queries": [], "command": "rm"})),
    "too many parts": Reply(tool=("search_for", {"sub_queries": [{"query": "q", "reason": "r"}] * 9})),
    "no JSON": Reply(tool=("search_for", '{"sub_queries": [')),
    "no form": Reply(text="I would rather not."),
    "cut midway": Reply(tool=("search_for", {"sub_queries": []}), disconnect_after=2),
    "a page": Reply(raw=PAGE),
    "500": Reply(status=500, headers={"retry-after": "0"}),
}


@pytest.fixture(scope="module")
def home(surveyed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared.copied(surveyed, tmp_path_factory.mktemp("home") / "home")


@pytest.fixture(scope="module")
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        yield running


@pytest.fixture(scope="module")
def engine(home: Path, server: MessagesServer) -> Iterator[Engine]:
    overrides = {
        "llm.model": "claude-misbehaving",
        "llm.base_url": server.url,
        "llm.retries": 1,
        "llm.timeout_seconds": 1.0,
        "llm.cache": False,
        "agentic.decompose": "off",
    }
    with Engine.open(home=home, overrides=overrides, api_key=KEY) as engine:
        server.reply(Reply(text=GOOD))
        engine.ask(QUESTION).run()  # loads the client
        yield engine


def chat(engine: Engine, server: MessagesServer, replies: list[Reply]) -> tuple[str, Answer, int]:
    """A conversation with a good answer and the one to ``replies``; and how many requests that made."""
    conversation_id = engine.conversations.new()
    server.reply(Reply(text=GOOD))
    assert engine.chat(conversation_id, "What was measured in the wells?").run().status == "complete"
    before = len(server.requests)
    server.reply(*replies)
    answer = engine.chat(conversation_id, QUESTION).run()
    return conversation_id, answer, len(server.requests) - before


def check(engine: Engine, home: Path, conversation_id: str, answer: Answer) -> None:
    """What holds of every answer, and that another engine reads it from the database as it was shown."""
    assert "<<" not in answer.text
    assert all(answer.text[mark.start : mark.end] == f"[{mark.n}]" for mark in answer.marks)
    assert {mark.n for mark in answer.marks} == {citation.n for citation in answer.citations}
    for citation in answer.citations:
        document = engine.document(citation.doc_id)
        assert citation.quote == document.text[citation.start : citation.end]
        assert citation.boxes == document.boxes(citation.start, citation.end)
    if answer.error is not None:
        assert answer.status == "failed"
        assert answer.error["message"]
        assert len(answer.error["message"]) < 600, "an error is one line for a person"
        assert answer.error["hint"]
        assert KEY not in json.dumps(answer.error)
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as reopened:
        first, second = reopened.conversations.get(conversation_id).turns
    assert second.question == QUESTION
    assert second.answer == answer
    assert first.answer is not None
    assert (first.answer.status, first.answer.citations[0].n) == ("complete", 1)


@pytest.mark.parametrize("name", standing_for(QUICK, CASES))
def test_an_answer_or_a_clear_error_and_nothing_lost(
    name: str, engine: Engine, home: Path, server: MessagesServer
) -> None:
    case = CASES[name]
    conversation_id, answer, sent = chat(engine, server, case.replies)
    assert ((answer.error or {}).get("code", ""), answer.status) == (
        case.error,
        "failed" if case.error else "complete",
    )
    assert case.text in answer.text
    assert case.said in (answer.error or {}).get("message", "")
    assert len(answer.dropped) >= case.dropped
    assert all(0 <= count < 2**53 for count in astuple(answer.usage))
    assert isinstance(answer.model, str)
    assert sent == case.sent
    check(engine, home, conversation_id, answer)


def test_the_conversation_goes_on_after_it(engine: Engine, home: Path, server: MessagesServer) -> None:
    conversation_id, _, _ = chat(engine, server, [Reply(text=["Half of ", "it"], disconnect_after=1)])
    server.reply(Reply(text=GOOD))
    assert engine.chat(conversation_id, "Which well was it?").run().status == "complete"
    said = [message["content"] for message in server.requests[-1]["body"]["messages"]]
    assert len(said) == 5, "what had arrived of the broken answer is part of what was said"
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as reopened:
        answers = [turn.answer for turn in reopened.conversations.get(conversation_id).turns]
    assert [answer.status if answer else None for answer in answers] == ["complete", "failed", "complete"]


@pytest.mark.parametrize("name", standing_for(["too many parts", "cut midway"], FORMS))
def test_a_form_that_cannot_be_used_is_reported_and_the_answer_written(
    name: str, home: Path, server: MessagesServer, planned: Engine
) -> None:
    server.plan(*[FORMS[name]] * 4)
    conversation_id, answer, _ = chat(planned, server, [Reply(text=GOOD)])
    server.forget()
    assert (answer.status, answer.error) == ("complete", None)
    assert answer.trace is not None
    (note,) = [note for note in answer.trace.notes if "could not be used" in note]
    assert "The question was searched as a whole instead." in note
    check(planned, home, conversation_id, answer)


@pytest.fixture(scope="module")
def planned(home: Path, server: MessagesServer, engine: Engine) -> Iterator[Engine]:
    overrides = {
        "llm.model": "claude-misbehaving",
        "llm.base_url": server.url,
        "llm.retries": 1,
        "llm.cache": False,
        "agentic.decompose": "auto",
    }
    with Engine.open(home=home, overrides=overrides, api_key=KEY) as opened:
        yield opened
