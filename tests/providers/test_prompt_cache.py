"""What a follow-up sends again, word for word, so that the service need not read it anew: the system prompt and the
conversation so far, though the sources change with every question."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from ragcore.engine import Engine
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply

TURNS = 9


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, Any]]]:
    """The requests of one conversation, in order."""
    home = tmp_path_factory.mktemp("home")
    with MessagesServer() as server:
        overrides = {
            "llm.model": "claude-sonnet-4-6",
            "llm.base_url": server.url,
            "llm.cache": False,
            "agentic.decompose": "off",
            "figures.describe": "off",
            "answer.history_turns": 6,
        }
        with Engine.open(home=home, overrides=overrides, api_key="k") as engine:
            for name, data in {"survey.pdf": pdfs.one_column(), "table.pdf": pdfs.ruled_table()}.items():
                prepared.read(engine, data, name)
            engine.index()
            conversation_id = engine.conversations.new()
            for turn in range(TURNS):
                server.reply(Reply(text=f"Answer {turn} <<SOURCE 1.1>>. " + "It was measured in the wells. " * 9))
                question = f"Which well had the highest nitrate reading? Say it for report {turn}."
                assert engine.chat(conversation_id, question).run().status == "complete"
        yield [request["body"] for request in server.requests if "tools" not in request["body"]]


def blocks(body: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """(role, text, marked) of each block, as the service reads them; a string is one block."""
    out = [("system", block["text"], "cache_control" in block) for block in body["system"]]
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        out += [(message["role"], part["text"], "cache_control" in part) for part in parts]
    return out


def prefix(body: dict[str, Any], mark: int) -> bytes:
    """The bytes of a request up to and with its ``mark``-th mark (-1: the last)."""
    read = blocks(body)
    end = [place for place, block in enumerate(read) if block[2]][mark]
    return "\n".join(json.dumps(block[:2]) for block in read[: end + 1]).encode()


def test_the_system_prompt_is_the_same_in_every_request(bodies: list[dict[str, Any]]) -> None:
    assert len(bodies) == TURNS
    assert len({prefix(body, 0) for body in bodies}) == 1


def test_a_follow_up_sends_again_what_was_marked_before(bodies: list[dict[str, Any]]) -> None:
    """From its first answer on, while the whole conversation is shown to the model."""
    for before, after in itertools.pairwise(bodies[1:6]):
        assert prefix(after, -1).startswith(prefix(before, -1) + b"\n")
    marked = [sum(block[2] for block in blocks(body)) for body in bodies]
    assert marked[0] == 1, "there is no history yet"
    assert marked[1:6] == [2] * 5


def test_what_the_next_question_will_not_send_again_is_not_marked(bodies: list[dict[str, Any]]) -> None:
    """To keep it would cost a quarter more, and nobody would read it: the window of the history has begun to move."""
    assert [sum(block[2] for block in blocks(body)) for body in bodies[6:]] == [1, 1, 1]
    first = [blocks(body)[1] for body in bodies]
    assert first[6] != first[7]


def test_sources_and_questions_are_never_marked(bodies: list[dict[str, Any]]) -> None:
    for body in bodies:
        assert all(role != "user" for role, _, marked in blocks(body) if marked)
        assert "<<SOURCE 1>>" in blocks(body)[-1][1]
