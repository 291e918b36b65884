"""Fault handling for the LLM service and network: translation into our errors, back-off times, and sanitising of server
data. Odd values are valid JSON but break UTF-8, SQLite or sums."""

from __future__ import annotations

import random
from collections.abc import Mapping
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

if TYPE_CHECKING:
    import anthropic

FIRST_WAIT, LONGEST_WAIT = 0.5, 20.0
LONGEST_SAID = 500  # characters of a server's own words that are passed on
SHORTEST_KEY = 8  # a shorter one may be a word


def wait_seconds(error: ModelError, attempt: int) -> float:
    """Back-off that the service asked for, else 0.5 s doubled for each attempt, shortened at random to spread
    clients."""
    asked = getattr(error.__cause__, "response", None)
    header = asked.headers.get("retry-after") if asked is not None else None
    if header is not None:
        try:
            return max(0.0, float(header))
        except ValueError:
            # An HTTP date: the service's clock may differ from ours, so the usual back-off is better.
            return float(FIRST_WAIT * 2**attempt)
    return float(min(FIRST_WAIT * 2**attempt, LONGEST_WAIT) * random.uniform(0.75, 1.0))


def garbled(base_url: str, how: str, error: Exception | None = None) -> StreamBroken:
    """Error for a server that does not speak the Messages API."""
    ours = StreamBroken(
        f"{base_url} sent something that is not the Messages API: {how}.",
        hint="The text received so far is kept. Check llm.base_url and the server's log, then try again.",
    )
    ours.__cause__ = error
    return ours


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
        ours = _by_status(status, said(error.api_message, key) or f"HTTP {status}", model, base_url)
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


def _by_status(status: int, reason: str, model: str, base_url: str) -> ModelError:
    reason = reason.rstrip(".")
    if status < 400:
        return RequestRefused(
            f"{base_url} redirects to another address, which Groundwork doesn't follow.",
            hint="Set llm.base_url to the server's own address.",
        )
    if status == 401:
        return KeyRefused(f"{base_url} refused the key: {reason}.")
    if status == 402:
        return KeyRefused(f"{base_url} refused: {reason}.", hint="Check the plan and credit of the key's account.")
    if status == 403:
        return KeyRefused(f"The key can't use {model}: {reason}.", hint="Check what the key's account may use.")
    if status == 404:
        return ModelMissing(
            f"{base_url} does not know {model!r}: {reason}.",
            hint="Check llm.model, llm.claude_model and llm.base_url in config.toml.",
        )
    if status == 429:
        return RateLimited(f"Too many requests: {reason}.")
    if status in (503, 529):
        return Overloaded(f"{base_url} is overloaded: {reason}.")
    if status in (408, 409, 504):
        return ModelUnreachable(f"{base_url} did not answer in time: {reason}.")
    if status >= 500:
        return Overloaded(f"{base_url} failed (HTTP {status}): {reason}.", hint="Try again in a moment.")
    return RequestRefused(f"{base_url} refused the request (HTTP {status}): {reason}.")


def words(value: Any) -> str:
    """``value`` if it is text, else "". Halves of characters, which UTF-8 cannot hold, become U+FFFD."""
    text = value if isinstance(value, str) else ""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def said(value: Any, key: str) -> str:
    """Server's error message, shortened, without the ``key`` that it was sent."""
    told = words(value)
    return (told.replace(key, "[key]") if len(key) >= SHORTEST_KEY else told)[:LONGEST_SAID]
