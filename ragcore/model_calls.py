"""Model requests: concurrent small requests within a spend limit, and forms that a model fills in.

The limit is never exceeded: before each request its maximum cost is reserved, and the excess is released when the
actual token count is known. An interrupted request keeps its reservation, since it may have been billed.

An invalid form is requested once more with its error. The cost of a form is bounded: two calls, each with a prompt and
a form of limited length, both within one time limit.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from ragcore.cancel import Stop
from ragcore.errors import (
    Cancelled,
    GroundworkError,
    KeyMissing,
    KeyRefused,
    ModelError,
    ModelMissing,
    ModelUnreachable,
    StreamBroken,
)
from ragcore.prompts import FORM_AGAIN
from ragcore.protocols import LLM, ContextCache, Form, Message, ModelRequest, TextStream
from ragcore.text.sentences import count_tokens
from ragcore.types import Purpose, Usage
from ragcore.types.spending import Prices, cost

STRIKES = 3  # consecutive failures after which nothing more is sent
_POLL_SECONDS = 0.2
# The service's rule for pictures; it shrinks larger ones before it counts them.
PIXELS_PER_TOKEN = 750
# Upper bounds: the service's tokens per cl100k token, and the tokens that a message itself adds.
_FINER, _FRAMING = 2.0, 100
# Consecutive requests often share a prefix.
_count = lru_cache(maxsize=8)(count_tokens)
# Errors that every further request would meet.
_FINAL = (KeyMissing, KeyRefused, ModelMissing)
# Errors of requests that may have been billed.
_MAYBE_BILLED = (ModelUnreachable, StreamBroken)


@dataclass(frozen=True, slots=True)
class Allowance:
    """Spend limit of one document: ``limit`` in US dollars, against the ledger's spent and reserved amounts."""

    ledger: ContextCache
    doc_id: str
    limit: float

    def spent(self) -> float:
        return self.ledger.spent(self.doc_id)

    def spend(self, usd: float) -> None:
        """Add ``usd``; a negative amount releases an excess reservation."""
        self.ledger.spend(self.doc_id, usd)


def most_tokens(request: ModelRequest) -> Usage:
    """Upper bound of the tokens of ``request``. All input counts as uncached, since a prompt cache may have expired."""
    marked = max((number for number, message in enumerate(request.messages, start=1) if message.kept), default=0)
    kept = sum(_count(text) for text in (request.system, *(message.text for message in request.messages[:marked])))
    asked = sum(count_tokens(message.text) for message in request.messages[marked:])
    pictures = sum(math.ceil(image.width * image.height / PIXELS_PER_TOKEN) for image in request.images)
    given = math.ceil(asked * _FINER) + pictures + _FRAMING
    return Usage(given, request.max_tokens, cache_write_tokens=math.ceil(kept * _FINER))


@dataclass
class ModelCalls:
    """Pool of concurrent requests, one thread each; decisions and storage stay in the caller's thread.

    ``take(key, text)`` is called for each response. ``errors`` collects the errors of requests; ``refused`` says why a
    request was not sent: ``limit``, ``price`` (``prices`` has none for the model, so the limit cannot be enforced),
    ``errors``, or "". Use it as a context manager: leaving it cuts pending requests.
    """

    model: LLM
    _: KW_ONLY
    prices: Prices
    purse: Allowance
    in_flight: int
    take: Callable[[str, str], None]
    stopped: str
    cancelled: Callable[[], bool] | None = None
    errors: list[GroundworkError] = field(default_factory=list, init=False)
    refused: str = field(default="", init=False)
    running: dict[Future[_Said], tuple[str, float]] = field(default_factory=dict, init=False)
    _row: int = field(default=0, init=False)
    _ended: threading.Event = field(default_factory=threading.Event, init=False)
    _streams: set[TextStream] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.in_flight, thread_name_prefix="asking")

    def __enter__(self) -> ModelCalls:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for stream in tuple(self._streams):
            stream.close()
        self._pool.shutdown(wait=True)
        for future in tuple(self.running):
            self._harvested(future)

    @property
    def keys(self) -> Iterator[str]:
        """Keys of the pending requests."""
        return (key for key, _most in self.running.values())

    def ask(self, key: str, request: ModelRequest, *, alone: bool = False) -> bool:
        """Send one request when a slot and the limit permit it; ``alone`` waits for its end. False if it may not be
        sent. Raises `Cancelled`."""
        self.wait(self.in_flight - 1)
        usd = cost(most_tokens(request), self.model.name, self.prices)
        if usd is None:
            self.refused = "price"
        # Pending requests may cost less than their reservations.
        while usd is not None and not self.refused and self.purse.spent() + usd > self.purse.limit and self.running:
            self.wait(len(self.running) - 1)
        if usd is None or self.refused in ("price", "errors"):
            return False
        if self.purse.spent() + usd > self.purse.limit:
            self.refused = "limit"
            return False
        self.purse.spend(usd)
        opened = self.model.stream(request)
        self._streams.add(opened)
        self.running[self._pool.submit(_listen, opened, self._ended)] = (key, usd)
        if alone:
            self.wait(0)
        return True

    def wait(self, most: int) -> None:
        """Process finished requests and wait until at most ``most`` are pending. Raises `Cancelled`."""
        while True:
            done, waiting = wait(self.running, timeout=0)
            if len(waiting) > most and not done:
                done, waiting = wait(self.running, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._harvested(future)
            if self.cancelled is not None and self.cancelled():
                raise Cancelled(self.stopped)
            if len(self.running) <= most:
                return

    def _harvested(self, future: Future[_Said]) -> None:
        key, most = self.running.pop(future)
        said = future.result()
        self._streams.discard(said.stream)
        self.purse.spend(self._billed(said, most) - most)
        if said.error is None and said.text.strip():
            self._row = 0
            self.take(key, said.text)
        elif not said.stopped:
            self.errors.append(said.error or StreamBroken(f"{self.model.name} returned no text."))
            self._row += 1
            if isinstance(said.error, _FINAL) or self._row >= STRIKES:
                self.refused = "errors"

    def _billed(self, said: _Said, most: float) -> float:
        """Cost of the request by the service's token count; the whole reservation if the count is unknown."""
        usage = said.stream.usage
        counted = usage.input_tokens or usage.cache_read_tokens or usage.cache_write_tokens
        if said.error is not None and not said.stopped and not counted:
            return most if isinstance(said.error, _MAYBE_BILLED) else 0.0
        if said.stopped or said.error is not None or not counted:
            return most
        known = cost(usage, said.stream.model, self.prices)
        known = known if known is not None else cost(usage, self.model.name, self.prices)
        return most if known is None else known


@dataclass(frozen=True, slots=True)
class _Said:
    stream: TextStream
    text: str
    stopped: bool
    error: ModelError | None = None


def _listen(stream: TextStream, ended: threading.Event) -> _Said:
    pieces: list[str] = []
    error: ModelError | None = None
    try:
        pieces.extend(stream)
    except ModelError as raised:
        error = raised
    finally:
        stream.close()
    if ended.is_set():
        return _Said(stream, "", True, error)
    return _Said(stream, "".join(pieces), False, error)


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
    fresh: bool = False
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

        def read(text: str) -> F:
            return kind.model_validate_json(text, context=dict(context or {}))

        def usable(text: str) -> bool:
            try:
                read(text)
            except ValidationError:
                return False
            return True

        for _ in range(2):
            asked = prompt + (FORM_AGAIN.format(problem=problem) if problem else "")
            request = ModelRequest(
                system,
                (Message(asked),),
                tool=form,
                max_tokens=self.max_tokens,
                purpose=self.purpose,
                fresh=self.fresh,
                usable=usable,
            )
            text = self._call(request, deadline)
            try:
                return read(text)
            except ValidationError as error:
                problem = _told(error) if text else "it was not filled in"
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


def _told(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
