"""LLM provider for Claude, or any server with the Messages API, through the `anthropic` client.

Each request runs in its own thread, so that `close` ends the iteration at once even before the service has answered,
and cuts the connection, so that the service stops writing. The key goes into the client and nowhere else.

Retries are ours, not the client's: Stop must not wait for a back-off, and a service that asks for an hour's wait must
be reported, not waited for.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
from ragcore.protocols import Capabilities, FieldValue, ModelRequest
from ragcore.types import Usage
from ragcore.types.report import Missing

if TYPE_CHECKING:
    import anthropic
    from anthropic import Stream
    from anthropic.types import RawMessageStreamEvent

DEFAULT_BASE_URL = "https://api.anthropic.com"
MOMENT = 1.0  # s
TEMPERATURE = 0.0
LONGEST_ANSWER = 10  # times the longest silence: endless writing is ended too
FIRST_WAIT, LONGEST_WAIT = 0.5, 20.0  # s
MOST_TOKENS = 10_000_000  # of one request
LONGEST_SAID = 500  # characters of a server's own words that are passed on
SHORTEST_KEY = 8  # a shorter one may be a word
LONGEST_TOKEN = 64  # characters: a service that exceeds ``max_tokens`` of these ignores the limit


class AnthropicModel:
    """Model ``model`` at ``base_url``. Loads the `anthropic` package on first use; safe for many threads. ``samples``:
    it has not refused a temperature so far."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str,
        timeout_seconds: float,
        retries: int,
        custom_headers: bool = False,
    ) -> None:
        self.name = model
        self.capabilities = capabilities_of(model)
        self.base_url = base_url
        self.timeout_seconds = timeout_seconds
        self.retries = retries
        self.samples = True
        # Held in a closure, so that no repr, log or pickle of this object can show the key.
        self._connect: Callable[[], anthropic.Anthropic] = lambda: _client(
            api_key, base_url, timeout_seconds, custom_headers=custom_headers
        )

    @cached_property
    def service(self) -> anthropic.Anthropic:
        return self._connect()

    def stream(self, request: ModelRequest) -> AnthropicStream:
        """Stream of the answer to ``request``, which is sent when the stream is iterated. Errors are raised from
        there."""
        return AnthropicStream(self, request)


def capabilities_of(model: str) -> Capabilities:
    """Known capabilities of a model by name."""
    return Capabilities(vision=True, tools=True, prompt_cache=True) if is_claude(model) else Capabilities()


def is_claude(model: str) -> bool:
    return model.startswith("claude")


def _client(api_key: str, base_url: str, timeout_seconds: float, *, custom_headers: bool) -> anthropic.Anthropic:
    """Client. Without ``custom_headers`` those of the environment, which may hold a secret, are not sent. It follows no
    redirect, which would send the key to whatever address the server names."""
    import anthropic

    lines = [] if custom_headers else os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    unsent: dict[str, Any] = {line.partition(":")[0].strip(): anthropic.omit for line in lines if ":" in line}
    return anthropic.Anthropic(
        api_key=api_key,
        base_url=base_url,
        timeout=timeout_seconds,
        max_retries=0,
        http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
        default_headers=unsent,
    )


class AnthropicStream:
    """Text of one message as it arrives (`ragcore.protocols.TextStream`). Iterate it once.

    Raises a `ModelError` at the point where the text broke off: `RateLimited`, `Overloaded` and `ModelUnreachable`
    after the retries (only made before any text was given out, and for bulk only if nothing was billed), `KeyRefused`,
    `ModelMissing`, `RequestRefused`, and `StreamBroken` for a connection lost midway or an answer cut at
    ``max_tokens``. After `close` it just ends.
    """

    notes: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    values: tuple[FieldValue, ...] = ()

    def __init__(self, model: AnthropicModel, request: ModelRequest) -> None:
        self.model = model.name
        self.usage = Usage()
        self._asked = model
        self._service = model.service
        self._request = request
        self._pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._events: Stream[RawMessageStreamEvent] | None = None
        self._given = False
        self._ended = False
        self._alive = self._began = time.monotonic()

    def __iter__(self) -> Iterator[str]:
        self._alive = self._began = time.monotonic()
        executor = ThreadPoolExecutor(1, thread_name_prefix="anthropic")
        work = executor.submit(self._work)
        executor.shutdown(wait=False)
        while (piece := self._next()) is not None:
            yield piece
        if not self._closed.is_set():
            work.result()

    def _next(self) -> str | None:
        """Next piece, None at the end. Raises `StreamBroken` after a silence with no more than pings, and if the whole
        takes too long."""
        silence = self._asked.timeout_seconds
        whole = self._began + LONGEST_ANSWER * silence
        # If nothing at all arrives the client's own time limit comes first, and the request is retried.
        while (now := time.monotonic()) < (end := min(self._alive + silence + MOMENT, whole)):
            with suppress(queue.Empty):
                return self._pieces.get(timeout=end - now)
        self.close()
        took = "didn't finish in time" if end == whole else f"wrote nothing for {silence:g} s"
        raise StreamBroken(
            f"{self._asked.name} {took}.",
            hint="The text received so far is kept. Try again, or raise llm.timeout_seconds in config.toml.",
        )

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
                wait = wait_seconds(error, attempt)
                attempt += 1
                # A bulk request without an answer may have been billed: repeating it could exceed the limit.
                again = isinstance(error, RateLimited | Overloaded) if self._request.bulk else error.retryable
                if self._given or not again or attempt > self._asked.retries or wait > LONGEST_WAIT:
                    raise error
                self._closed.wait(wait)
                self._alive = time.monotonic()
        finally:
            self._pieces.put(None)

    def _attempt(self) -> ModelError | None:
        """Send one request and read it to its end. Returns errors of the service or network as ours."""
        import anthropic
        import httpx2

        asked = self._asked
        try:
            events = self._open()
            with self._lock:
                self._events = events
            try:
                self._read(events)
            finally:
                self._let_go()
                events.close()
        except anthropic.APIError as error:
            return translate(error, asked.name, asked.base_url, self._key)
        except (json.JSONDecodeError, UnicodeDecodeError, AttributeError, TypeError) as error:
            # The client does not validate events: a missing part, or one of another type, fails when it is read.
            return garbled(asked.base_url, "its events can't be read", error)
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            broken = StreamBroken(f"The connection to {asked.base_url} was lost while {asked.name} was writing.")
            broken.__cause__ = error
            # After the last event only the end of the body remains.
            return None if self._ended else broken
        except StreamBroken as error:
            return error
        return None

    @property
    def _key(self) -> str:
        return self._service.api_key or ""

    def _let_go(self) -> None:
        """Release the connection, which may now serve another request that `close` must not cut."""
        with self._lock:
            self._events = None

    def _open(self) -> Stream[RawMessageStreamEvent]:
        import anthropic

        try:
            return self._send()
        except anthropic.BadRequestError as error:
            if not self._asked.samples or "temperature" not in str(error.body):
                raise
            self._asked.samples = False
        return self._send()

    def _send(self) -> Stream[RawMessageStreamEvent]:
        # The client's signature dropped this parameter since newer models refuse it; older ones still take it.
        sampling = {"temperature": TEMPERATURE} if self._asked.samples else None
        events: Stream[RawMessageStreamEvent] = self._service.messages.create(
            **self._body(), stream=True, extra_body=sampling
        )
        return events

    def _body(self) -> dict[str, Any]:
        """Body of the request, without the temperature."""
        asked = self._request
        body: dict[str, Any] = {
            "model": self._asked.name,
            "max_tokens": asked.max_tokens,
            "system": [_block(asked.system, kept=True)] if asked.tool is None else asked.system,
            "messages": _conversation(asked),
        }
        if asked.tool is not None:
            name, schema = asked.tool.name, {**asked.tool.schema, "type": "object"}
            body["tools"] = [{"name": name, "description": asked.tool.description, "input_schema": schema}]
            body["tool_choice"] = {"type": "tool", "name": name, "disable_parallel_tool_use": True}
        return body

    def _read(self, events: Stream[RawMessageStreamEvent]) -> None:
        # The billed usage of a broken attempt stays in the sum.
        earlier, counted = self.usage, Usage()
        left = self._request.max_tokens * LONGEST_TOKEN
        event: object = None
        for event in events:
            if self._closed.is_set():
                return
            if str(event.type) != "ping":
                self._alive = time.monotonic()
            if event.type == "message_start":
                self.model = said(event.message.model, self._key) or self.model
                counted = self._counted(counted, getattr(event.message, "usage", None))
                self.usage = earlier + counted
            elif event.type == "message_delta":
                counted = self._counted(counted, getattr(event, "usage", None))
                self.usage = earlier + counted
                details = getattr(event.delta, "stop_details", None)
                self._check(event.delta.stop_reason, said(getattr(details, "explanation", None), self._key))
            elif event.type == "message_stop":
                self._ended = True
                self._let_go()
            elif piece := words(self._piece(event)):
                left -= len(piece)
                if left < 0:
                    raise garbled(self._asked.base_url, f"it wrote on past {self._request.max_tokens} tokens")
                self._given = True
                self._pieces.put(piece)
        if self._closed.is_set():
            return
        if event is None:
            kind = said(events.response.headers.get("content-type", "of no kind"), self._key)
            raise garbled(self._asked.base_url, f"there is no event in its answer, which is {kind}")
        if not self._ended:
            raise StreamBroken(
                f"The connection to {self._asked.base_url} ended before {self._asked.name} had finished."
            )

    def _counted(self, known: Usage, told: Any) -> Usage:
        """``known`` with every count in an event; later events repeat or complete earlier ones. Impossible counts are
        not booked, and a note says so."""

        def latest(name: str, before: int) -> int:
            value = getattr(told, name, None)
            if value is None or (type(value) is int and 0 <= value <= MOST_TOKENS):
                return before if value is None else value
            self.notes = (f"{self._asked.name} reported an impossible token count; it isn't in the cost.",)
            return before

        return Usage(
            latest("input_tokens", known.input_tokens),
            latest("output_tokens", known.output_tokens),
            latest("cache_read_input_tokens", known.cache_read_tokens),
            latest("cache_creation_input_tokens", known.cache_write_tokens),
        )

    def _piece(self, event: RawMessageStreamEvent) -> str:
        """Text that an event adds: only the answer's text, and the input of a tool that the model must call."""
        if self._request.tool is None:
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                return event.delta.text
            return ""
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            return event.delta.partial_json
        if event.type == "content_block_start" and event.content_block.type == "tool_use" and event.content_block.input:
            # Some servers send the whole input at once.
            return json.dumps(event.content_block.input)
        return ""

    def _check(self, stop_reason: str | None, explanation: str) -> None:
        name = self._asked.name
        if stop_reason == "max_tokens" and not self._request.bulk:
            plan = self._request.tool is not None
            raise StreamBroken(
                f"The {'plan' if plan else 'answer'} was cut off after {self._request.max_tokens} tokens.",
                hint="Try again, or choose another llm.model."
                if plan
                else "Raise llm.max_tokens in config.toml, or ask for a shorter answer.",
                retryable=False,
            )
        if stop_reason == "model_context_window_exceeded":
            raise StreamBroken(
                f"Sources and answer don't fit the context window of {name}.",
                hint="Lower answer.source_tokens or answer.history_tokens in config.toml.",
                retryable=False,
            )
        if stop_reason == "pause_turn":
            raise StreamBroken(f"{name} paused before the end.")
        if stop_reason == "refusal":
            raise RequestRefused(
                f"{name} declined to answer. {explanation}".strip(),
                hint="Rephrase the question, or choose another llm.model.",
            )


def _conversation(request: ModelRequest) -> list[dict[str, Any]]:
    """Messages in the service's form: consecutive ones of one role are merged, and pictures precede the last."""
    found: list[dict[str, Any]] = []
    for message in request.messages:
        if not found or found[-1]["role"] != message.role:
            found.append({"role": message.role, "content": []})
        found[-1]["content"].append(_block(message.text, kept=message.kept))
    for image in request.images:
        data = base64.standard_b64encode(image.png).decode("ascii")
        source = {"type": "base64", "media_type": "image/png", "data": data}
        found[-1]["content"].insert(-1, {"type": "image", "source": source})
    for each in found:
        if len(each["content"]) == 1 and "cache_control" not in each["content"][0]:
            each["content"] = each["content"][0]["text"]
    return found


def _block(text: str, *, kept: bool) -> dict[str, Any]:
    """Text block; the service caches its input up to a ``kept`` one for some minutes, if that is long enough for its
    model."""
    marked = {"cache_control": {"type": "ephemeral"}} if kept else {}
    return {"type": "text", "text": text, **marked}


def _disconnect(events: Stream[RawMessageStreamEvent]) -> None:
    """Cut the connection under a stream that another thread is reading: closing the response would wait for it."""
    network = events.response.extensions.get("network_stream")
    raw = network.get_extra_info("socket") if network is not None else None
    if isinstance(raw, socket.socket):
        try:
            raw.shutdown(socket.SHUT_RDWR)
        except OSError:
            # Already closed by either side, as intended.
            return


def wait_seconds(error: ModelError, attempt: int) -> float:
    """Back-off that the service asked for, else 0.5 s doubled for each attempt, shortened at random to spread
    clients."""
    response = getattr(error.__cause__, "response", None)
    try:
        return max(0.0, float(response.headers["retry-after"] if response is not None else ""))
    except (KeyError, ValueError):
        # Not asked for, or as a date, by a clock that may differ from ours.
        return float(min(FIRST_WAIT * 2**attempt, LONGEST_WAIT) * random.uniform(0.75, 1.0))


def garbled(base_url: str, how: str, error: Exception | None = None) -> StreamBroken:
    """Error for a server that does not speak the Messages API."""
    ours = StreamBroken(
        f"{base_url} sent something that is not the Messages API: {how}.",
        hint="The text received so far is kept. Check llm.base_url and the server's log, then try again.",
    )
    ours.__cause__ = error
    return ours


_BY_TYPE = {
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
_BY_STATUS: dict[int, tuple[type[ModelError], str, str | None]] = {
    401: (KeyRefused, "{url} refused the key: {reason}.", None),
    402: (KeyRefused, "{url} refused: {reason}.", "Check the plan and credit of the key's account."),
    403: (KeyRefused, "The key can't use {model}: {reason}.", "Check what the key's account may use."),
    404: (
        ModelMissing,
        "{url} does not know {model!r}: {reason}.",
        "Check llm.model, llm.claude_model and llm.base_url in config.toml.",
    ),
    429: (RateLimited, "Too many requests: {reason}.", None),
    **dict.fromkeys((503, 529), (Overloaded, "{url} is overloaded: {reason}.", None)),
    **dict.fromkeys((408, 409, 504), (ModelUnreachable, "{url} did not answer in time: {reason}.", None)),
}
_FAILED = (Overloaded, "{url} failed (HTTP {status}): {reason}.", "Try again in a moment.")
_REFUSED = (RequestRefused, "{url} refused the request (HTTP {status}): {reason}.", None)


def translate(error: anthropic.APIError, model: str, base_url: str, key: str) -> ModelError:
    """Client error as ours, chained to it and without the ``key``. An error sent inside a stream has its type but
    status 200."""
    import anthropic

    ours: ModelError
    if isinstance(error, anthropic.APITimeoutError):
        ours = ModelUnreachable(
            f"{base_url} did not answer in time.", hint="Try again, or raise llm.timeout_seconds in config.toml."
        )
    elif isinstance(error, anthropic.APIConnectionError):
        ours = ModelUnreachable(f"{base_url} can't be reached.")
    elif isinstance(error, anthropic.APIStatusError):
        status = error.status_code if error.status_code >= 300 else _BY_TYPE.get(str(error.type), 500)
        kind, text, hint = _BY_STATUS.get(status, _FAILED if status >= 500 else _REFUSED)
        reason = (said(error.api_message, key) or f"HTTP {status}").rstrip(".")
        ours = kind(text.format(url=base_url, model=model, status=status, reason=reason), hint=hint)
        waits = said(error.response.headers.get("retry-after"), key)
        if isinstance(ours, RateLimited) and waits:
            ours.hint = f"The service asks to wait {waits} s. {ours.hint}"
    else:
        ours = StreamBroken(f"{base_url} sent something that is not the Messages API: {said(error.message, key)}")
    # A log also prints the cause.
    error.message = said(error.message, key)
    error.args, error.body = (error.message,), None
    ours.__cause__ = error
    return ours


def words(text: str) -> str:
    """``text`` with halves of characters, which UTF-8 cannot hold, as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def said(value: Any, key: str) -> str:
    """Server's error message, shortened, without the ``key`` that it was sent; "" if it is no text."""
    told = words(value) if isinstance(value, str) else ""
    return (told.replace(key, "[key]") if len(key) >= SHORTEST_KEY else told)[:LONGEST_SAID]
