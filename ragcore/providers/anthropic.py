"""Claude, or any server that speaks the Messages API, through the `anthropic` client.

The request runs in a thread of its own, so that `close` ends the iteration at once even while the service has not yet
answered, and cuts the connection, so that the service stops writing too. The key goes into the client and nowhere else.

Retries are ours and not the client's: a person who presses Stop must not wait for a back-off, and a service that asks
for an hour's patience must be reported, not slept on.
"""

from __future__ import annotations

import json
import queue
import random
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragcore.errors import (
    KeyRefused,
    ModelError,
    ModelMissing,
    ModelUnreachable,
    Overloaded,
    RateLimited,
    RequestRefused,
    StreamBroken,
)
from ragcore.protocols import Request
from ragcore.types import Usage

if TYPE_CHECKING:
    import anthropic
    from anthropic import Stream
    from anthropic.types import MessageParam, RawMessageStreamEvent

DEFAULT_BASE_URL = "https://api.anthropic.com"
FIRST_WAIT, LONGEST_WAIT = 0.5, 20.0

# Parameters that models have refused in this process, as (model, parameter).
_refused: set[tuple[str, str]] = set()


class AnthropicModel:
    """``model`` at ``base_url``. Loads the `anthropic` package when something is first asked of it; safe for many
    threads."""

    def __init__(self, model: str, *, api_key: str, base_url: str, timeout_seconds: float, retries: int) -> None:
        self._model = model
        self._base_url = base_url
        self._retries = retries
        # Held in a closure, so that no repr, log or pickle of this object can show the key.
        self._connect: Callable[[], anthropic.Anthropic] = lambda: _client(api_key, base_url, timeout_seconds)

    @property
    def name(self) -> str:
        return self._model

    @cached_property
    def _service(self) -> anthropic.Anthropic:
        return self._connect()


class AnthropicWriter(AnthropicModel):
    """Writes answers."""

    extractive = False

    def stream(self, request: Request) -> AnthropicStream:
        """Starts nothing yet: the request is sent when the stream is iterated. Errors are raised from there."""
        return AnthropicStream(self._service, self._model, request, retries=self._retries, base_url=self._base_url)


def _client(api_key: str, base_url: str, timeout_seconds: float) -> anthropic.Anthropic:
    import anthropic

    return anthropic.Anthropic(api_key=api_key, base_url=base_url, timeout=timeout_seconds, max_retries=0)


class AnthropicStream:
    """The text of one message as it arrives (`ragcore.protocols.TextStream`). Iterate it once.

    Raises a `ModelError` at the point where the writing broke off: `RateLimited`, `Overloaded` and `ModelUnreachable`
    after the retries (only made while no text has been given out), `KeyRefused`, `ModelMissing`, `RequestRefused`, and
    `StreamBroken` for a connection lost midway or an answer cut at ``max_tokens``. After `close` it just ends.
    """

    # What is sent again without when the model refuses it by name.
    optional: tuple[str, ...] = ("temperature",)

    def __init__(
        self, client: anthropic.Anthropic, model: str, request: Request, *, retries: int, base_url: str
    ) -> None:
        self.model = model
        self.usage = Usage()
        self._client = client
        self._requested = model
        self._request = request
        self._retries = retries
        self._base_url = base_url
        self._pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._events: Stream[RawMessageStreamEvent] | None = None
        self._given = False

    def __iter__(self) -> Iterator[str]:
        executor = ThreadPoolExecutor(1, thread_name_prefix="anthropic")
        work = executor.submit(self._work)
        executor.shutdown(wait=False)
        while (piece := self._pieces.get()) is not None:
            yield piece
        if not self._closed.is_set():
            work.result()

    def close(self) -> None:
        self._closed.set()
        self._pieces.put(None)
        with self._lock:
            if self._events is not None:
                _disconnect(self._events)

    def _work(self) -> None:
        try:
            attempt = 0
            while not self._closed.is_set():
                error = self._attempt()
                if error is None:
                    return
                wait = _wait_seconds(error, attempt)
                attempt += 1
                if self._given or not self._may_retry(error) or attempt > self._retries or wait > LONGEST_WAIT:
                    raise error
                self._closed.wait(wait)
        finally:
            self._pieces.put(None)

    def _may_retry(self, error: ModelError) -> bool:
        return error.retryable

    def _attempt(self) -> ModelError | None:
        """One request, read to its end. What the service or the network did wrong is returned as our error."""
        import anthropic
        import httpx2

        try:
            events = self._open()
        except anthropic.APIError as error:
            return translate(error, self._requested, self._base_url)
        with self._lock:
            self._events = events
        try:
            self._read(events)
        except anthropic.APIError as error:
            return translate(error, self._requested, self._base_url)
        except (httpx2.HTTPError, httpx2.StreamError, json.JSONDecodeError, OSError) as error:
            broken = StreamBroken(f"The connection to {self._base_url} broke off while {self._requested} was writing.")
            broken.__cause__ = error
            return broken
        finally:
            self._let_go()
            events.close()
        return None

    def _let_go(self) -> None:
        """From here on the connection may serve another request, which `close` must not cut."""
        with self._lock:
            self._events = None

    def _open(self) -> Stream[RawMessageStreamEvent]:
        import anthropic

        for _ in self.optional:
            try:
                return self._send()
            except anthropic.BadRequestError as error:
                said = str(error.body).lower()
                named = [name for name in self.optional if re.search(rf"\b{name}\b", said) and self._takes(name)]
                if not named:
                    raise
                _refused.update((self._requested, name) for name in named)
        return self._send()

    def _takes(self, parameter: str) -> bool:
        """Whether the model has not refused ``parameter`` so far."""
        return (self._requested, parameter) not in _refused

    def _send(self) -> Stream[RawMessageStreamEvent]:
        request = self._request
        return self._client.messages.create(
            model=self._requested,
            max_tokens=request.max_tokens,
            system=[{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
            messages=self._conversation(),
            stream=True,
            extra_body=self._sampling(),
        )

    def _sampling(self) -> dict[str, float] | None:
        # The parameter has left the client's signature since newer models refuse it; older ones still take it.
        return {"temperature": self._request.temperature} if self._takes("temperature") else None

    def _conversation(self) -> list[MessageParam]:
        messages: list[MessageParam] = []
        for turn in self._request.history:
            if turn.question.strip() and turn.answer.strip():
                messages.append({"role": "user", "content": turn.question})
                messages.append({"role": "assistant", "content": turn.answer})
        messages.append({"role": "user", "content": self._request.prompt})
        return messages

    def _read(self, events: Stream[RawMessageStreamEvent]) -> None:
        stop_reason: str | None = None
        finished = False
        explanation = ""
        for event in events:
            if self._closed.is_set():
                return
            if event.type == "message_start":
                self.model = event.message.model
                self.usage = _usage(self.usage, event.message.usage)
            elif event.type == "message_delta":
                self.usage = _usage(self.usage, event.usage)
                stop_reason = event.delta.stop_reason or stop_reason
                details = event.delta.stop_details
                explanation = (details.explanation or "") if details is not None else explanation
            elif event.type == "message_stop":
                finished = True
                self._let_go()
            elif piece := self._piece(event):
                self._given = True
                self._pieces.put(piece)
        if self._closed.is_set():
            return
        if not finished:
            raise StreamBroken(f"The connection to {self._base_url} ended before {self._requested} had finished.")
        self._check(stop_reason, explanation)

    def _piece(self, event: RawMessageStreamEvent) -> str:
        """What of the text an event brings."""
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            return event.delta.text
        return ""

    def _check(self, stop_reason: str | None, explanation: str) -> None:
        if stop_reason == "max_tokens":
            raise StreamBroken(
                f"The answer was cut off after {self._request.max_tokens} tokens.",
                hint="Raise llm.max_tokens in config.toml, or ask for a shorter answer.",
                retryable=False,
            )
        if stop_reason == "model_context_window_exceeded":
            raise StreamBroken(
                f"The sources and the answer do not fit into the context window of {self._requested}.",
                hint="Lower answer.source_tokens or answer.history_tokens in config.toml.",
                retryable=False,
            )
        if stop_reason == "refusal":
            raise RequestRefused(
                f"{self._requested} declined to answer. {explanation}".strip(),
                hint="Ask in other words, or set llm.model to another model.",
            )


def _disconnect(events: Stream[RawMessageStreamEvent]) -> None:
    """Cut the connection under a stream that another thread is reading: closing the response would wait for it."""
    network = events.response.extensions.get("network_stream")
    raw = network.get_extra_info("socket") if network is not None else None
    if isinstance(raw, socket.socket):
        try:
            raw.shutdown(socket.SHUT_RDWR)
        except OSError:
            # Already closed by either side, which is what was wanted.
            return


def _usage(known: Usage, counted: Any) -> Usage:
    """``known`` with every count that this event carries; later events repeat or complete earlier ones."""

    def latest(name: str, before: int) -> int:
        value = getattr(counted, name, None)
        return before if value is None else int(value)

    return Usage(
        input_tokens=latest("input_tokens", known.input_tokens),
        output_tokens=latest("output_tokens", known.output_tokens),
        cache_read_tokens=latest("cache_read_input_tokens", known.cache_read_tokens),
        cache_write_tokens=latest("cache_creation_input_tokens", known.cache_write_tokens),
    )


def _wait_seconds(error: ModelError, attempt: int) -> float:
    """What the service asked for, else 0.5 s doubled for each attempt, shortened at random so that clients part."""
    asked = getattr(error.__cause__, "response", None)
    header = asked.headers.get("retry-after") if asked is not None else None
    if header is not None:
        try:
            return max(0.0, float(header))
        except ValueError:
            # An HTTP date: the service's clock need not be ours, so the usual back-off is the better guess.
            return float(FIRST_WAIT * 2**attempt)
    return float(min(FIRST_WAIT * 2**attempt, LONGEST_WAIT) * random.uniform(0.75, 1.0))


_BY_TYPE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def translate(error: anthropic.APIError, model: str, base_url: str) -> ModelError:
    """The client's error as ours, chained to it. An error sent inside a stream has its type but status 200."""
    import anthropic

    ours: ModelError
    if isinstance(error, anthropic.APITimeoutError):
        ours = ModelUnreachable(
            f"{base_url} did not answer in time.", hint="Try again, or raise llm.timeout_seconds in config.toml."
        )
    elif isinstance(error, anthropic.APIConnectionError):
        ours = ModelUnreachable(f"{base_url} cannot be reached.")
    elif isinstance(error, anthropic.APIStatusError):
        status = error.status_code if error.status_code >= 400 else _BY_TYPE.get(str(error.type), 500)
        ours = _by_status(status, error.api_message or f"HTTP {status}", model, base_url)
        waits = error.response.headers.get("retry-after")
        if isinstance(ours, RateLimited) and waits:
            ours.hint = f"The service asks to wait {waits} s. {ours.hint}"
    else:
        ours = StreamBroken(f"{base_url} sent something that is not the Messages API: {error.message}")
    ours.__cause__ = error
    return ours


def _by_status(status: int, said: str, model: str, base_url: str) -> ModelError:
    said = said.rstrip(".")
    if status == 401:
        return KeyRefused(f"{base_url} refused the key: {said}.")
    if status == 402:
        return KeyRefused(f"{base_url} refused: {said}.", hint="Check the plan and the credit of the key's account.")
    if status == 403:
        return KeyRefused(f"The key may not use {model}: {said}.", hint="Check what the key's account may use.")
    if status == 404:
        return ModelMissing(
            f"{base_url} does not know {model!r}: {said}.",
            hint="Check llm.model, llm.claude_model and llm.base_url in config.toml.",
        )
    if status == 429:
        return RateLimited(f"Too many requests: {said}.")
    if status in (503, 529):
        return Overloaded(f"{base_url} is overloaded: {said}.")
    if status in (408, 409, 504):
        return ModelUnreachable(f"{base_url} did not answer in time: {said}.")
    if status >= 500:
        return Overloaded(f"{base_url} failed (HTTP {status}): {said}.", hint="Try again in a moment.")
    return RequestRefused(f"{base_url} refused the request (HTTP {status}): {said}.")
