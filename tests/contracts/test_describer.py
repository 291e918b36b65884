"""What every `Describer` promises."""

from __future__ import annotations

import pymupdf
import pytest

from ragcore.protocols import Describer, PictureRequest
from ragcore.providers.vision import AnthropicDescriber
from tests.messages_server import MessagesServer, Reply


def picture(width: int = 200, height: int = 100) -> PictureRequest:
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, width, height))
    pixmap.set_rect(pixmap.irect, (60, 120, 200))
    return PictureRequest(pixmap.tobytes("png"), width, height, "Be exact.", "What is it?", max_tokens=77)


@pytest.fixture(params=["claude"])
def describer(request: pytest.FixtureRequest, server: MessagesServer) -> Describer:
    return AnthropicDescriber("claude-test", api_key="k", base_url=server.url, timeout_seconds=10, retries=0)


class TestDescriber:
    def test_it_is_one(self, describer: Describer) -> None:
        assert isinstance(describer, Describer)
        assert describer.name

    def test_the_most_that_a_request_can_take_is_known_before(self, describer: Describer) -> None:
        small, large = describer.most(picture()), describer.most(picture(1000, 800))
        assert large.input_tokens - small.input_tokens >= (1000 * 800 - 200 * 100) / 750 - 1
        assert small.output_tokens == 77

    def test_nothing_is_sent_until_it_is_iterated(self, describer: Describer, server: MessagesServer) -> None:
        server.reply(Reply(text="A plain area.", usage={"input_tokens": 50, "output_tokens": 7}))
        stream = describer.stream(picture())
        assert server.requests == []
        assert "".join(stream) == "A plain area."
        assert (stream.usage.input_tokens, stream.usage.output_tokens) == (50, 7)

    def test_a_text_that_reaches_its_length_just_ends(self, describer: Describer, server: MessagesServer) -> None:
        server.reply(Reply(text="A plain area. It is", stop_reason="max_tokens"))
        assert "".join(describer.stream(picture())) == "A plain area. It is"
