"""What every `ContextWriter` promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragcore.protocols import ContextRequest, ContextWriter
from ragcore.providers.context import AnthropicContextWriter
from tests.messages_server import MessagesServer, Reply

REQUEST = ContextRequest("Be exact.", "Place this.", max_tokens=77, material="A long document. " * 50)


@pytest.fixture(params=["claude"])
def writer(request: pytest.FixtureRequest, server: MessagesServer) -> ContextWriter:
    return AnthropicContextWriter("claude-test", api_key="k", base_url=server.url, timeout_seconds=10, retries=0)


class TestContextWriter:
    def test_it_is_one(self, writer: ContextWriter) -> None:
        assert isinstance(writer, ContextWriter)
        assert writer.name

    def test_the_most_that_a_request_can_take_is_known_before(self, writer: ContextWriter) -> None:
        bare, full = writer.most(replace(REQUEST, material="")), writer.most(REQUEST)
        assert full.cache_write_tokens - bare.cache_write_tokens >= 200
        assert full.input_tokens == bare.input_tokens
        assert full.output_tokens == 77

    def test_nothing_is_sent_until_it_is_iterated(self, writer: ContextWriter, server: MessagesServer) -> None:
        counted = {"input_tokens": 9, "output_tokens": 7, "cache_read_input_tokens": 300}
        server.reply(Reply(text="It opens the report.", usage=counted))
        stream = writer.stream(REQUEST)
        assert server.requests == []
        assert "".join(stream) == "It opens the report."
        usage = stream.usage
        assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (9, 7, 300)

    def test_a_text_that_reaches_its_length_just_ends(self, writer: ContextWriter, server: MessagesServer) -> None:
        server.reply(Reply(text="It opens the", stop_reason="max_tokens"))
        assert "".join(writer.stream(REQUEST)) == "It opens the"


def test_claude_keeps_the_material_and_not_the_question(server: MessagesServer) -> None:
    writer = AnthropicContextWriter("claude-test", api_key="k", base_url=server.url, timeout_seconds=10, retries=0)
    list(writer.stream(REQUEST))
    list(writer.stream(replace(REQUEST, material="")))
    first, second = (request["body"]["messages"][0]["content"] for request in server.requests)
    assert first == [
        {"type": "text", "text": REQUEST.material, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "Place this."},
    ]
    assert second == [{"type": "text", "text": "Place this."}]
