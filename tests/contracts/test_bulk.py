"""What every `LLM` does with requests of bulk: descriptions of pictures, summaries, situating sentences."""

from __future__ import annotations

from dataclasses import replace

import pymupdf
import pytest

from ragcore.model_calls import most_tokens
from ragcore.protocols import LLM, Message, ModelRequest, Picture
from ragcore.providers.anthropic import AnthropicModel
from tests.messages_server import MessagesServer, Reply

ASKED = Message("Place this.")
MATERIAL = Message("A long document. " * 50, kept=True)
PLACED = ModelRequest("Be exact.", (MATERIAL, ASKED), max_tokens=77, bulk=True)


def picture(width: int = 200, height: int = 100) -> ModelRequest:
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, width, height))
    pixmap.set_rect(pixmap.irect, (60, 120, 200))
    image = Picture(pixmap.tobytes("png"), width, height)
    return ModelRequest("Be exact.", (Message("What is it?"),), images=(image,), max_tokens=77, bulk=True)


@pytest.fixture(params=["claude"])
def model(request: pytest.FixtureRequest, server: MessagesServer) -> LLM:
    return AnthropicModel("claude-test", api_key="k", base_url=server.url, timeout_seconds=10, retries=0)


def test_it_is_one(model: LLM) -> None:
    assert isinstance(model, LLM)
    assert model.name


def test_the_most_that_a_request_can_take_is_known_before() -> None:
    bare, full = most_tokens(replace(PLACED, messages=(ASKED,))), most_tokens(PLACED)
    assert full.cache_write_tokens - bare.cache_write_tokens >= 200
    assert (full.input_tokens, full.output_tokens) == (bare.input_tokens, 77)
    small, large = most_tokens(picture()), most_tokens(picture(1000, 800))
    assert large.input_tokens - small.input_tokens >= (1000 * 800 - 200 * 100) / 750 - 1


@pytest.mark.parametrize("asked", [PLACED, picture()])
def test_nothing_is_sent_until_it_is_iterated(model: LLM, asked: ModelRequest, server: MessagesServer) -> None:
    counted = {"input_tokens": 9, "output_tokens": 7, "cache_read_input_tokens": 300}
    server.reply(Reply(text="It opens the report.", usage=counted))
    stream = model.stream(asked)
    assert server.requests == []
    assert "".join(stream) == "It opens the report."
    usage = stream.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (9, 7, 300)


def test_a_text_that_reaches_its_length_just_ends(model: LLM, server: MessagesServer) -> None:
    server.reply(Reply(text="It opens the", stop_reason="max_tokens"))
    assert "".join(model.stream(PLACED)) == "It opens the"


def test_claude_keeps_the_material_and_not_the_question(model: LLM, server: MessagesServer) -> None:
    list(model.stream(PLACED))
    list(model.stream(replace(PLACED, messages=(ASKED,))))
    (first,), (second,) = (request["body"]["messages"] for request in server.requests)
    assert first["content"] == [
        {"type": "text", "text": MATERIAL.text, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "Place this."},
    ]
    assert second == {"role": "user", "content": "Place this."}


def test_a_picture_stands_before_what_is_asked_about_it(model: LLM, server: MessagesServer) -> None:
    list(model.stream(picture()))
    (message,) = server.requests[0]["body"]["messages"]
    assert [block["type"] for block in message["content"]] == ["image", "text"]
