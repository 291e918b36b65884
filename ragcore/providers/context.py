"""Claude's summaries and situating sentences, with the client, retries and errors of `anthropic`.

The material of a request is marked for the service's prompt cache: the requests that follow with the same one read it
there, at about a tenth of the price.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from ragcore.errors import ModelError, Overloaded, RateLimited
from ragcore.protocols import ContextRequest, prompted
from ragcore.providers.anthropic import AnthropicModel, AnthropicStream
from ragcore.text.sentences import count_tokens
from ragcore.types import Usage

if TYPE_CHECKING:
    from anthropic.types import MessageParam, TextBlockParam

# The service's tokens are smaller than cl100k's, by at most this, and a message has some of its own.
_FINER, _FRAMING = 2.0, 100
# Many requests in a row have one material.
_count_again = lru_cache(maxsize=8)(count_tokens)


class AnthropicContextWriter(AnthropicModel):
    """Sums up documents and places passages in them."""

    def most(self, request: ContextRequest) -> Usage:
        """All of it read anew: the cache may have forgotten the material since."""
        kept = math.ceil((_count_again(request.system) + _count_again(request.material)) * _FINER)
        asked = math.ceil(count_tokens(request.prompt) * _FINER) + _FRAMING
        return Usage(asked, request.max_tokens, cache_write_tokens=kept)

    def stream(self, request: ContextRequest) -> ContextStream:
        """Errors are raised where the stream is iterated, as by `AnthropicStream`."""
        return ContextStream(self, request)


class ContextStream(AnthropicStream):
    """A summary or situating sentence as it arrives."""

    def __init__(self, model: AnthropicModel, request: ContextRequest) -> None:
        super().__init__(model, prompted(request))
        self._material = request.material

    def _may_retry(self, error: ModelError) -> bool:
        # Of a request that just got no answer nobody knows whether it was billed: to repeat it could pass the limit.
        return isinstance(error, RateLimited | Overloaded)

    def _conversation(self) -> list[MessageParam]:
        blocks: list[TextBlockParam] = [{"type": "text", "text": self._request.prompt}]
        if self._material:
            blocks.insert(0, {"type": "text", "text": self._material, "cache_control": {"type": "ephemeral"}})
        return [{"role": "user", "content": blocks}]

    def _check(self, stop_reason: str | None, explanation: str) -> None:
        if stop_reason != "max_tokens":
            super()._check(stop_reason, explanation)
