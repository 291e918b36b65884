"""Billing wrapper for paid models: each call is booked.

The models are unaware of it: `PaidStream` wraps the stream of any of them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from ragcore.errors import StoreError
from ragcore.index.model_records import Ledger
from ragcore.protocols import LLM, ModelRequest, TextStream
from ragcore.types import Usage
from ragcore.types.report import Missing
from ragcore.types.spending import Prices, Purpose, cost

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Billing:
    """Ledger of paid calls, and the prices of models."""

    ledger: Ledger
    prices: Prices


class PaidStream:
    """Response ``inner`` of the model named ``asked`` to a request of this ``purpose``. Iterate it once.

    The service's counts are booked when the iteration ends, also for an answer that was stopped or broke off. Raises
    what ``inner`` raises. If the database fails, the paid text is still given out: ``notes`` and the log say so.
    """

    def __init__(self, inner: TextStream, billing: Billing, purpose: Purpose, asked: str) -> None:
        self.model = asked
        self.usage = Usage()
        self.notes: tuple[str, ...] = ()
        self.missing: tuple[Missing, ...] = ()
        self._inner = inner
        self._billing = billing
        self._purpose = purpose
        self._asked = asked
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[str]:
        complete = False
        try:
            yield from self._inner
            complete = not self._closed.is_set()
        finally:
            self.usage, self.model = self._inner.usage, self._inner.model
            self.notes, self.missing = self._inner.notes, self._inner.missing
            # A service that counts no tokens (some self-hosted servers) was still asked.
            if complete or self.usage != Usage():
                self._book()

    def close(self) -> None:
        self._closed.set()
        self._inner.close()

    def _book(self) -> None:
        usd = cost(self.usage, self.model, self._billing.prices, asked=self._asked)
        try:
            self._billing.ledger.add(self.model, self._purpose, self.usage, usd)
        except StoreError as error:
            note = f"The model's cost couldn't be recorded yet: {error.message}"
            self.notes = (*self.notes, note)
            _log.warning(note)


class PaidModel:
    """Model whose calls are booked."""

    def __init__(self, model: LLM, billing: Billing) -> None:
        self.name = model.name
        self.capabilities = model.capabilities
        self._model = model
        self._billing = billing

    def stream(self, request: ModelRequest) -> PaidStream:
        return PaidStream(self._model.stream(request), self._billing, request.purpose, self.name)
