"""Billing wrapper for paid models: each call is booked, and a complete answer is reused, free, for the same request.

The models are unaware of it: `PaidStream` wraps the stream of any of them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile

from ragcore.errors import StoreError
from ragcore.index.model_records import Ledger, Response, Responses
from ragcore.protocols import LLM, ModelRequest, TextStream
from ragcore.types import Usage
from ragcore.types.report import Missing
from ragcore.types.spending import Prices, cost

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Billing:
    """Stores for booked calls and kept answers; ``responses`` is None if none are kept (``llm.cache``)."""

    ledger: Ledger
    responses: Responses | None
    prices: Prices


class PaidStream:
    """Answer ``inner`` of the model named ``asked`` to ``request``, or the stored answer to the same request (unless it
    is ``fresh``). Iterate it once.

    The service's counts are booked when the iteration ends, also for an answer that was stopped or broke off. It is
    kept if it ended by itself, is not empty and ``request.usable`` allows it. Raises what ``inner`` raises. If the
    database fails, the paid text is still given out: ``notes`` and the log say so.
    """

    def __init__(self, inner: TextStream, billing: Billing, request: ModelRequest, asked: str) -> None:
        self.model = asked
        self.usage = Usage()
        self.replayed = False
        self.notes: tuple[str, ...] = ()
        self.missing: tuple[Missing, ...] = ()
        self._inner = inner
        self._billing = billing
        self._request = request
        self._asked = asked
        self._kept = None if request.bulk else billing.responses
        self._closed = threading.Event()

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    def __iter__(self) -> Iterator[str]:
        fingerprint = self._inner.fingerprint if self._kept is not None else ""
        known = self._known(fingerprint) if fingerprint and not self._request.fresh else None
        if known is not None:
            self.replayed, self.model = True, known.model
            yield from takewhile(lambda _: not self._closed.is_set(), known.pieces)
            return
        pieces: list[str] = []
        complete = False
        try:
            for piece in self._inner:
                pieces.append(piece)
                yield piece
            complete = not self._closed.is_set()
        finally:
            self.usage, self.model = self._inner.usage, self._inner.model
            self.notes, self.missing = (*self.notes, *self._inner.notes), self._inner.missing
            self._book(complete)
        text = "".join(pieces)
        usable = bool(text.strip()) and (self._request.usable is None or self._request.usable(text))
        if complete and usable and fingerprint and self._kept is not None:
            with self._noted("The model's answer couldn't be saved for reuse"):
                self._kept.put(fingerprint, Response(self.model, tuple(pieces)))

    def close(self) -> None:
        self._closed.set()
        self._inner.close()

    def _known(self, fingerprint: str) -> Response | None:
        if self._kept is not None:
            with self._noted("The saved answer to the same request couldn't be read"):
                return self._kept.get(fingerprint)
        return None

    @contextmanager
    def _noted(self, what: str) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            self.notes = (*self.notes, f"{what}: {error.message}")
            _log.warning("%s: %s", what, error.message)

    def _book(self, complete: bool) -> None:
        # A service that counts no tokens (some self-hosted servers) was still asked.
        if complete or self.usage != Usage():
            usd = cost(self.usage, self.model, self._billing.prices, asked=self._asked)
            with self._noted("The model's cost couldn't be recorded yet"):
                self._billing.ledger.add(self.model, self._request.purpose, self.usage, usd)


class PaidModel:
    """Model whose calls are booked, and whose texts are kept for the same request unless it is a bulk one."""

    def __init__(self, model: LLM, billing: Billing) -> None:
        self.name = model.name
        self.capabilities = model.capabilities
        self._model = model
        self._billing = billing

    def stream(self, request: ModelRequest) -> PaidStream:
        return PaidStream(self._model.stream(request), self._billing, request, self.name)
