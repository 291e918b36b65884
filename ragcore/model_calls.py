"""Many small requests to a model that is paid for, side by side, within a spend limit.

Nothing is sent that may pass the limit: before each request the most that it can cost is reserved, and given back in
part when the answer's own count is known. A request that was cut off keeps its reserve, since it may have been billed.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache

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
from ragcore.protocols import LLM, ContextCache, ModelRequest, TextStream
from ragcore.text.sentences import count_tokens
from ragcore.types import Usage
from ragcore.types.prices import Prices, cost

STRIKES = 3  # failures in a row after which nothing more is asked
_POLL_SECONDS = 0.2
# The service's own rule for pictures; a larger one is made smaller before it is counted.
PIXELS_PER_TOKEN = 750
# The service's tokens are smaller than cl100k's, by at most this, and a message has some of its own.
_FINER, _FRAMING = 2.0, 100
# Many requests in a row begin with the same words.
_count = lru_cache(maxsize=8)(count_tokens)
# The same for every request: asking on is no use.
_FINAL = (KeyMissing, KeyRefused, ModelMissing)
# It cannot be told whether these were billed.
_MAYBE_BILLED = (ModelUnreachable, StreamBroken)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one document may cost: ``limit`` in US dollars, of which the ledger knows what is spent and reserved."""

    ledger: ContextCache
    doc_id: str
    limit: float

    def spent(self) -> float:
        return self.ledger.spent(self.doc_id)

    def spend(self, usd: float) -> None:
        """Add ``usd``; less than 0 gives back what was reserved too much."""
        self.ledger.spend(self.doc_id, usd)


def most_tokens(request: ModelRequest) -> Usage:
    """The most tokens that ``request`` can take. All of it is read anew: a prompt cache may have forgotten it since."""
    marked = max((number for number, message in enumerate(request.messages, start=1) if message.kept), default=0)
    kept = sum(_count(text) for text in (request.system, *(message.text for message in request.messages[:marked])))
    asked = sum(count_tokens(message.text) for message in request.messages[marked:])
    pictures = sum(math.ceil(image.width * image.height / PIXELS_PER_TOKEN) for image in request.images)
    given = math.ceil(asked * _FINER) + pictures + _FRAMING
    return Usage(given, request.max_tokens, cache_write_tokens=math.ceil(kept * _FINER))


class ModelCalls:
    """Requests under way, each in a thread of its own; what is decided and stored is so in the caller's thread.

    ``take(key, text)`` is called for each answer. What requests ran into is in ``errors``; ``refused`` says why one
    was not sent: ``limit``, ``price`` (the model has none in ``prices``, so no limit could be kept), ``errors``, or "".
    Use it as a context manager: its end cuts what is still under way.
    """

    def __init__(
        self,
        model: LLM,
        *,
        prices: Prices,
        purse: Allowance,
        in_flight: int,
        take: Callable[[str, str], None],
        stopped: str,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self.errors: list[GroundworkError] = []
        self.refused = ""
        self.running: dict[Future[_Said], tuple[str, float]] = {}
        self._model = model
        self._prices = prices
        self._purse = purse
        self._in_flight = in_flight
        self._take = take
        self._stopped = stopped
        self._cancelled = cancelled
        self._row = 0
        self._pool = ThreadPoolExecutor(in_flight, thread_name_prefix="asking")
        self._ended = threading.Event()
        self._streams: set[TextStream] = set()

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
        """What is being asked now."""
        return (key for key, _most in self.running.values())

    def ask(self, key: str, request: ModelRequest, *, alone: bool = False) -> bool:
        """Send one request as soon as it may be; ``alone`` waits for its end. False where it may not be sent. Raises
        `Cancelled`."""
        self.wait(self._in_flight - 1)
        usd = cost(most_tokens(request), self._model.name, self._prices)
        if usd is None:
            self.refused = "price"
        # What is under way may cost less than its reserve.
        while usd is not None and not self.refused and self._purse.spent() + usd > self._purse.limit and self.running:
            self.wait(len(self.running) - 1)
        if usd is None or self.refused in ("price", "errors"):
            return False
        if self._purse.spent() + usd > self._purse.limit:
            self.refused = "limit"
            return False
        self._purse.spend(usd)
        opened = self._model.stream(request)
        self._streams.add(opened)
        self.running[self._pool.submit(_listen, opened, self._ended)] = (key, usd)
        if alone:
            self.wait(0)
        return True

    def wait(self, most: int) -> None:
        """Take what is done, and wait until at most ``most`` requests are under way. Raises `Cancelled`."""
        while True:
            done, waiting = wait(self.running, timeout=0)
            if len(waiting) > most and not done:
                done, waiting = wait(self.running, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._harvested(future)
            if self._cancelled is not None and self._cancelled():
                raise Cancelled(self._stopped)
            if len(self.running) <= most:
                return

    def _harvested(self, future: Future[_Said]) -> None:
        key, most = self.running.pop(future)
        said = future.result()
        self._streams.discard(said.stream)
        self._purse.spend(self._billed(said, most) - most)
        if said.error is None and said.text.strip():
            self._row = 0
            self._take(key, said.text)
        elif not said.stopped:
            self.errors.append(said.error or StreamBroken(f"{self._model.name} returned no text."))
            self._row += 1
            if isinstance(said.error, _FINAL) or self._row >= STRIKES:
                self.refused = "errors"

    def _billed(self, said: _Said, most: float) -> float:
        """What the request cost by the service's own count; all that was reserved where that cannot be known."""
        usage = said.stream.usage
        counted = usage.input_tokens or usage.cache_read_tokens or usage.cache_write_tokens
        if said.error is not None and not said.stopped and not counted:
            return most if isinstance(said.error, _MAYBE_BILLED) else 0.0
        if said.stopped or said.error is not None or not counted:
            return most
        known = cost(usage, said.stream.model, self._prices)
        known = known if known is not None else cost(usage, self._model.name, self._prices)
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
