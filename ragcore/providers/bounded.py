"""HTTP client for models: it follows no redirect, and limits the size of a response."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import httpx2

from ragcore.errors import StreamBroken

LARGEST_RESPONSE, LARGEST_LINE = 64 << 20, 4 << 20  # bytes


class Bounded(httpx2.SyncByteStream):
    """Response stream with a limit on its bytes and on each line."""

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
    """HTTP client without redirects, which would send the key to whatever address the server names."""
    return anthropic.DefaultHttpxClient(
        follow_redirects=False, event_hooks={"response": [_bound]}, headers={"Accept-Encoding": "identity"}
    )


def _bound(response: httpx2.Response) -> None:
    # Requested uncompressed: unpacking a compressed response could exceed the limit.
    response.headers.pop("content-encoding", None)
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = Bounded(response.stream)
