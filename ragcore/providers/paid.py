"""Paid models: each call is booked, and a text is kept for the same request.

The models are unaware of it: `PaidStream` wraps their streams.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragcore.errors import GroundworkError, StoreError
from ragcore.index.model_records import Ledger, Responses
from ragcore.model_calls import billed, most_tokens, unpriced
from ragcore.protocols import UNLIMITED, Allowance, FieldValue, ModelRequest, TextStream, WritingTask
from ragcore.types import Usage
from ragcore.types.report import Missing
from ragcore.types.spending import Prices, cost

if TYPE_CHECKING:
    from ragcore.providers.anthropic import AnthropicModel

KEPT = "The model's answer to the same request, kept from before: nothing was sent."
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Billing:
    """Ledger of paid calls, texts by request (None: ``llm.cache`` is off), prices, and what may still be spent."""

    ledger: Ledger
    responses: Responses | None
    prices: Prices
    allowance: Allowance = UNLIMITED


class PaidStream:
    """Response ``inner`` of the model named ``asked`` to ``request``, or the text kept under ``key`` (a note says so)
    unless ``request`` is ``fresh``. Iterate it once.

    The service's counts are booked when the iteration ends, also for an answer that was stopped or broke off; a
    complete text is kept, but not of forms and bulk requests (``key`` ""). Where spending is limited, the most that the
    call can cost is reserved first, and the rest given back (`ragcore.model_calls.billed`). Raises what ``inner`` does,
    and `LimitReached`. If the database fails, the paid text is still given out: ``notes`` and the log say so.
    """

    def __init__(self, inner: TextStream, billing: Billing, request: ModelRequest, asked: str, key: str) -> None:
        self.model = asked
        self.usage = Usage()
        self.notes: tuple[str, ...] = ()
        self.missing: tuple[Missing, ...] = ()
        self.values: tuple[FieldValue, ...] = ()
        self._inner = inner
        self._billing = billing
        self._request = request
        self._asked = asked
        self._key = key
        self._responses = billing.responses if key else None
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[str]:
        kept = None
        if self._responses is not None and not self._request.fresh:
            with self._noted("The saved answer to the same request couldn't be read"):
                kept = self._responses.get(self._key)
        if kept is not None:
            self.model, text = kept
            self.notes = (KEPT,)
            yield text
            return
        reserved = self._reserved()
        pieces: list[str] = []
        complete, error = False, None
        try:
            for piece in self._inner:
                pieces.append(piece)
                yield piece
            complete = not self._closed.is_set()
        except GroundworkError as raised:
            error = raised
            raise
        finally:
            self.usage, self.model = self._inner.usage, self._inner.model
            self.notes = (*self.notes, *self._inner.notes)
            self.missing, self.values = self._inner.missing, self._inner.values
            # A service that counts no tokens (some self-hosted servers) was still asked.
            usd = cost(self.usage, self.model, self._billing.prices, asked=self._asked)
            with self._noted("The model's cost couldn't be recorded yet"):
                if complete or self.usage != Usage():
                    self._billing.ledger.add(self.model, self._request.purpose, self.usage, usd)
                if reserved:
                    charged = billed(reserved, self.usage, usd, error, not complete and error is None)
                    self._billing.allowance.give_back("dollars", reserved - charged)
        text = "".join(pieces)
        if self._responses is not None and complete and text.strip():
            with self._noted("The model's answer couldn't be saved for reuse"):
                self._responses.put(self._key, self.model, text)

    def _reserved(self) -> float:
        if not self._billing.allowance.limited("dollars"):
            return 0.0
        if (usd := cost(most_tokens(self._request), self._asked, self._billing.prices)) is None:
            raise unpriced(self._asked)
        self._billing.allowance.take("dollars", usd)
        return usd

    def close(self) -> None:
        self._closed.set()
        self._inner.close()

    @contextmanager
    def _noted(self, what: str) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            self.notes = (*self.notes, f"{what}: {error.message}")
            _log.warning("%s: %s", what, error.message)


class PaidModel:
    """Model whose calls are booked, and whose texts are kept."""

    def __init__(self, model: AnthropicModel, billing: Billing) -> None:
        self.name = model.name
        self.capabilities = model.capabilities
        self._model = model
        self._billing = billing

    def stream(self, request: ModelRequest) -> PaidStream:
        key = ""
        if request.tool is None and not request.bulk:
            sent = replace(request, fresh=False, task=WritingTask())
            key = hashlib.sha256(f"{self._model.base_url} {self.name} {sent!r}".encode()).hexdigest()
        return PaidStream(self._model.stream(request), self._billing, request, self.name, key)
