"""The smallest request to whoever would write the answer: does the key work, is the model there."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ragcore.errors import StreamBroken
from ragcore.protocols import Request
from ragcore.providers.registry import Models
from ragcore.types import Usage

_ASKED = "Reply with the one word: ready"
_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Trial:
    """What came back: the service's name for the ``model``, its first words, what was counted, and how long it took."""

    model: str
    words: str
    usage: Usage
    ms: float


def trial(models: Models) -> Trial:
    """Send it, and book it like any other call. Raises the `ModelError` that an answer would meet."""
    started = time.perf_counter()
    stream = models.writer.stream(Request("", (), "", _ASKED, max_tokens=_TOKENS, fresh=True))
    pieces: list[str] = []
    try:
        pieces.extend(stream)
    except StreamBroken:
        # A model that says more than it was asked for is cut off at so few tokens, and works.
        if not stream.usage.output_tokens:
            raise
    return Trial(stream.model, "".join(pieces).strip()[:80], stream.usage, (time.perf_counter() - started) * 1000)
