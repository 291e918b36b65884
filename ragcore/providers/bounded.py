"""The HTTP client that models are asked by: it follows no redirect, and reads no more than an answer can be."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import httpx2

from ragcore.errors import StreamBroken

LARGEST_RESPONSE, LARGEST_LINE = 64 << 20, 4 << 20  # bytes


class Bounded(httpx2.SyncByteStream):
    """A response's bytes, of which there are not too many, nor too many in one line."""

    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        total = line = 0
        for piece in self._stream:
            total += len(piece)
            end = piece.rfind(b"\n")
            line = len(piece) + (line if end < 0 else -end - 1)
            if total > LARGEST_RESPONSE or line > LARGEST_LINE:
                raise StreamBroken(
                    "The server's reply is too large for an answer.",
                    hint="Check llm.base_url in config.toml, and the server's log.",
                    retryable=False,
                )
            yield piece

    def close(self) -> None:
        self._stream.close()


def client() -> httpx2.Client:
    """A redirect would take the key along to whatever address the server names."""
    return anthropic.DefaultHttpxClient(
        follow_redirects=False, event_hooks={"response": [_bound]}, headers={"Accept-Encoding": "identity"}
    )


def _bound(response: httpx2.Response) -> None:
    # It was asked for as it is: to unpack what came packed all the same could make it larger.
    response.headers.pop("content-encoding", None)
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = Bounded(response.stream)
