"""Claude's eyes: pictures described through the Messages API, with the client, retries and errors of `anthropic`."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING

from ragcore.errors import ModelError, Overloaded, RateLimited
from ragcore.protocols import PictureRequest, prompted
from ragcore.providers.anthropic import AnthropicModel, AnthropicStream
from ragcore.text.sentences import count_tokens
from ragcore.types import Usage

if TYPE_CHECKING:
    from anthropic.types import MessageParam

# The service's own rule: tokens of a picture = width × height / 750; a larger one is made smaller before it is counted.
PIXELS_PER_TOKEN = 750
# Its tokens are smaller than cl100k's, by at most this, and a message has some of its own.
_FINER, _FRAMING = 2.0, 100


class AnthropicDescriber(AnthropicModel):
    """Describes pictures."""

    def most(self, request: PictureRequest) -> Usage:
        words = count_tokens(request.system) + count_tokens(request.prompt)
        picture = math.ceil(request.width * request.height / PIXELS_PER_TOKEN)
        return Usage(picture + math.ceil(words * _FINER) + _FRAMING, request.max_tokens)

    def stream(self, request: PictureRequest) -> PictureStream:
        """Errors are raised where the stream is iterated, as by `AnthropicStream`."""
        return PictureStream(self, request)


class PictureStream(AnthropicStream):
    """The description of one picture as it arrives."""

    def __init__(self, model: AnthropicModel, request: PictureRequest) -> None:
        super().__init__(model, prompted(request))
        self._png = request.png

    def _may_retry(self, error: ModelError) -> bool:
        # Of a request that just got no answer nobody knows whether it was billed: to repeat it could pass the limit.
        return isinstance(error, RateLimited | Overloaded)

    def _conversation(self) -> list[MessageParam]:
        data = base64.standard_b64encode(self._png).decode("ascii")
        return [
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
                    {"type": "text", "text": self._request.prompt},
                ],
            }
        ]

    def _check(self, stop_reason: str | None, explanation: str) -> None:
        if stop_reason != "max_tokens":
            super()._check(stop_reason, explanation)
