"""Model requests: concurrent small requests within a spend limit, and forms that a model fills in.

The limit is never exceeded: before each request its maximum cost is reserved, and the excess is released when the
actual token count is known. An interrupted request keeps its reservation, since it may have been billed.

An invalid form is requested once more with its error. The cost of a form is bounded: two calls, each with a prompt and
a form of limited length, both within one time limit.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from ragcore.cancel import Stop
from ragcore.errors import (
    Cancelled,
    ConfigError,
    GroundworkError,
    InputError,
    KeyMissing,
    KeyRefused,
    ModelError,
    ModelMissing,
    ModelUnreachable,
    StreamBroken,
)
from ragcore.prompts import FORM_AGAIN
from ragcore.protocols import LLM, ContextCache, Form, Message, ModelRequest, TextStream
from ragcore.text.numbers import plural
from ragcore.text.sentences import count_tokens
from ragcore.types import Purpose, Usage
from ragcore.types.spending import Expense, Prices, cost

IN_FLIGHT = 3  # requests at a time
STRIKES = 3  # consecutive failures after which nothing more is sent
_POLL_SECONDS = 0.2
# The service's rule for pictures; it shrinks larger ones before it counts them.
PIXELS_PER_TOKEN = 750
# Upper bounds: the service's tokens per cl100k token, and the tokens that a message itself adds.
FINER, _FRAMING = 2.0, 100
# Consecutive requests often share a prefix.
_count = lru_cache(maxsize=8)(count_tokens)
# Errors that every further request would meet.
_FINAL = (KeyMissing, KeyRefused, ModelMissing)
# Errors of requests that may have been billed.
_MAYBE_BILLED = (ModelUnreachable, StreamBroken)


def as_material(about: Mapping[str, object]) -> str:
    """JSON object for a prompt, which confines the document's words to its strings."""
    return json.dumps(about, ensure_ascii=False).replace("<", "\\u003c")


def digest(*parts: str) -> str:
    """SHA-256 of texts, each as it stands among the others."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def why_refused(refused: str, model: str, usd: float, setting: str) -> str:
    """Why requests about a document were not sent (`ModelCalls.refused`): ``setting`` limits them to ``usd``, or the
    model has no price; "" for other reasons."""
    if refused == "limit":
        return f"the limit of ${usd:g} per document is reached ({setting})"
    return f"llm.prices has no price for {model}, so the cost can't be limited" if refused == "price" else ""


def unpriced(model: str) -> ConfigError:
    """Error for a model without a price: what it costs can't be limited."""
    return ConfigError(
        f"{why_refused('price', model, 0.0, '')}.",
        hint="Add its price to [llm.prices] in config.toml, or choose another llm.claude_model.",
    )


def nobody_to_ask(instead: str) -> ConfigError:
    """Error for asking a model where there is none and ``instead`` rules do it."""
    hint = "Add a key for Claude in Settings, or set ANTHROPIC_API_KEY."
    return ConfigError(f"There is no model to ask: {instead}.", hint=hint)


def affordable(most: Expense, max_usd: float, noun: str) -> None:
    """Raises `ConfigError` if the model has no price, and `InputError` if ``most``, for so many of a ``noun``, exceeds
    ``max_usd``."""
    if most.parts and most.usd is None:
        raise unpriced(most.model)
    if most.usd is not None and most.usd > max_usd:
        usd = math.ceil(100.0 * most.usd) / 100.0
        said = f"{plural(most.parts, noun)} by {most.model} may cost ${usd:.2f}"
        raise InputError(
            f"{said}, more than the limit of ${max_usd:g}; nothing more was sent.",
            hint=f"Allow ${usd:.2f} (in a terminal: --max-usd), or leave it out.",
        )


def most_tokens(request: ModelRequest) -> Usage:
    """Upper bound of the tokens of ``request``. All input counts as uncached, since a prompt cache may have expired."""
    marked = max((number for number, message in enumerate(request.messages, start=1) if message.kept), default=0)
    kept = sum(_count(text) for text in (request.system, *(message.text for message in request.messages[:marked])))
    asked = sum(count_tokens(message.text) for message in request.messages[marked:])
    pictures = sum(math.ceil(image.width * image.height / PIXELS_PER_TOKEN) for image in request.images)
    given = math.ceil(asked * FINER) + pictures + _FRAMING
    return Usage(given, request.max_tokens, cache_write_tokens=math.ceil(kept * FINER))


def billed(reserved: float, usage: Usage, usd: float | None, error: GroundworkError | None, cut: bool) -> float:
    """Cost of a request by the service's token count, ``usd`` (None: it has no price); the whole of what was
    ``reserved`` if the count is unknown or may be of a part only, nothing if it was refused."""
    counted = usage.input_tokens or usage.cache_read_tokens or usage.cache_write_tokens
    if error is not None and not cut and not counted:
        return reserved if isinstance(error, _MAYBE_BILLED) else 0.0
    return reserved if error is not None or cut or not counted or usd is None else usd


@dataclass
class ModelCalls:
    """Pool of concurrent requests about the document ``doc_id``, one thread each, that may cost ``max_usd`` together
    with those before (in ``ledger``). Decisions and storage stay in the caller's thread.

    ``take(key, text)`` is called for each response. ``errors`` collects the errors of requests; ``refused`` says why a
    request was not sent: ``limit``, ``price`` (``prices`` has none for the model, so the limit cannot be enforced),
    ``errors``, or "". Use it as a context manager: leaving it cuts pending requests.
    """

    model: LLM
    _: KW_ONLY
    prices: Prices
    ledger: ContextCache
    doc_id: str
    max_usd: float
    take: Callable[[str, str], None]
    stopped: str
    cancelled: Callable[[], bool] | None = None
    errors: list[GroundworkError] = field(default_factory=list, init=False)
    refused: str = field(default="", init=False)
    running: dict[Future[_Heard], _Sent] = field(default_factory=dict, init=False)
    _failed: int = field(default=0, init=False)  # requests in a row
    _ended: threading.Event = field(default_factory=threading.Event, init=False)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="asking")

    def __enter__(self) -> ModelCalls:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for sent in self.running.values():
            sent.stream.close()
        self._pool.shutdown(wait=True)
        for future in tuple(self.running):
            self._finish(future)

    @property
    def keys(self) -> set[str]:
        """Keys of the pending requests."""
        return {sent.key for sent in self.running.values()}

    def ask(self, key: str, request: ModelRequest, *, alone: bool = False) -> bool:
        """Send one request when a slot and the limit permit it; ``alone`` waits for its end. False if it may not be
        sent. Raises `Cancelled`."""
        self.wait(IN_FLIGHT - 1)
        usd = cost(most_tokens(request), self.model.name, self.prices)
        if usd is None:
            self.refused = "price"
            return False
        # Pending requests may cost less than their reservations.
        while not self.refused and self._exceeds(usd) and self.running:
            self.wait(len(self.running) - 1)
        if self.refused in ("price", "errors"):
            return False
        if self._exceeds(usd):
            self.refused = "limit"
            return False
        self.ledger.spend(self.doc_id, usd)
        stream = self.model.stream(request)
        form = request.tool is not None
        self.running[self._pool.submit(self._listen, stream)] = _Sent(key, usd, stream, form)
        if alone:
            self.wait(0)
        return True

    def _exceeds(self, usd: float) -> bool:
        return self.ledger.spent(self.doc_id) + usd > self.max_usd

    def wait(self, most: int) -> None:
        """Process finished requests and wait until at most ``most`` are pending. Raises `Cancelled`."""
        while True:
            done, waiting = wait(self.running, timeout=0)
            if len(waiting) > most and not done:
                done, waiting = wait(self.running, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._finish(future)
            if self.cancelled is not None and self.cancelled():
                raise Cancelled(self.stopped)
            if len(self.running) <= most:
                return

    def _listen(self, stream: TextStream) -> _Heard:
        text, error = "", None
        try:
            text = "".join(stream)
        except ModelError as raised:
            error = raised
        finally:
            stream.close()
        return _Heard(text, error, cut=self._ended.is_set())

    def _finish(self, future: Future[_Heard]) -> None:
        sent, heard = self.running.pop(future), future.result()
        usage = sent.stream.usage
        usd = cost(usage, sent.stream.model, self.prices, asked=self.model.name)
        self.ledger.spend(self.doc_id, billed(sent.reserved, usage, usd, heard.error, heard.cut) - sent.reserved)
        if heard.cut:
            return
        if heard.error is None and (sent.form or heard.text.strip()):
            self._failed = 0
            self.take(sent.key, heard.text)
            return
        self.errors.append(heard.error or StreamBroken(f"{self.model.name} returned no text."))
        self._failed += 1
        if isinstance(heard.error, _FINAL) or self._failed >= STRIKES:
            self.refused = "errors"


@dataclass(frozen=True, slots=True)
class _Sent:
    key: str
    reserved: float  # US dollars
    stream: TextStream
    form: bool  # "" is an answer too: it was not filled in


@dataclass(frozen=True, slots=True)
class _Heard:
    text: str
    error: ModelError | None
    cut: bool


class Filled(BaseModel):
    """Base of forms that a model fills in: strict types, no extra fields.

    Validators check lengths and the prompts state them, since strict tools do not support such keywords in a schema.
    """

    model_config = ConfigDict(extra="forbid", strict=True)


F = TypeVar("F", bound=Filled)


def words(most: int) -> AfterValidator:
    """Validator for a text of 1 to ``most`` characters, which also joins it into one line."""

    def check(text: str) -> str:
        text = " ".join(text.split())
        if not text or len(text) > most:
            raise ValueError(f"must have 1 to {most} characters")
        return text

    return AfterValidator(check)


@dataclass
class Forms:
    """Form requests of one task to ``planner``, booked under ``purpose``; ``usage`` and ``model`` record the totals.
    Each call ends soon after ``stop`` is set."""

    planner: LLM
    stop: Stop
    _: KW_ONLY
    max_tokens: int
    timeout_seconds: float
    purpose: Purpose = "plan"
    usage: Usage = field(default_factory=Usage, init=False)
    model: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.model = self.planner.name

    def fill(
        self, form: Form, kind: type[F], system: str, prompt: str, *, context: Mapping[str, Any] | None = None
    ) -> F:
        """Form as filled in by the model; ``context`` goes to the validators of ``kind``. Raises `ModelError` if the
        model is unreachable or both attempts are invalid, and `Cancelled`."""
        deadline = time.monotonic() + self.timeout_seconds
        problem = ""
        for _ in range(2):
            asked = prompt + (FORM_AGAIN.format(problem=problem) if problem else "")
            request = ModelRequest(
                system,
                (Message(asked),),
                tool=form,
                max_tokens=self.max_tokens,
                purpose=self.purpose,
            )
            text = self._call(request, deadline)
            try:
                return kind.model_validate_json(text, context=dict(context or {}))
            except ValidationError as error:
                problem = told(error, text)
        raise StreamBroken(f"what it filled in is not what was asked for ({problem})")

    def cost(self, prices: Prices) -> float | None:
        """US dollars so far; None if the model has no price."""
        return cost(self.usage, self.model, prices, asked=self.planner.name) if self.usage != Usage() else 0.0

    def _call(self, request: ModelRequest, deadline: float) -> str:
        stream = self.planner.stream(request)
        late = threading.Event()

        def end() -> None:
            late.set()
            stream.close()

        timer = threading.Timer(max(0.0, deadline - time.monotonic()), end)
        timer.daemon = True
        timer.start()
        try:
            with self.stop.closing(stream.close):
                text = "".join(stream)
        finally:
            timer.cancel()
            stream.close()
            self.usage += stream.usage
            self.model = stream.model
        if self.stop.is_set():
            raise Cancelled("Stopped.")
        if late.is_set():
            raise StreamBroken(f"it did not answer within {self.timeout_seconds:g} s")
        return text


def told(error: ValidationError, filled: str) -> str:
    """First fault of a form that was ``filled`` in so, in words."""
    if not filled:
        return "it was not filled in"
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    said = str(first["msg"]).removeprefix("Value error, ")
    return f"{place}: {said}" if place else said
