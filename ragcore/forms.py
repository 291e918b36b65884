"""Forms that a model fills in (`ragcore.protocols.Form`), held against a pydantic model.

A form that cannot be used is asked for once more, with what was wrong. What one form can cost is bounded: two calls,
each with a prompt and a form of limited length, both within one time limit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from ragcore.cancel import Stop
from ragcore.errors import Cancelled, StreamBroken
from ragcore.prompts import FORM_AGAIN
from ragcore.protocols import LLM, Form, Message, ModelRequest
from ragcore.types import Purpose, Usage
from ragcore.types.prices import Prices, cost


class Filled(BaseModel):
    """What a model filled in: nothing that was not asked for, and nothing of another type.

    Lengths are checked by validators and told in the prompts: strict tools take no such keywords in a schema.
    """

    model_config = ConfigDict(extra="forbid", strict=True)


F = TypeVar("F", bound=Filled)


def words(most: int) -> AfterValidator:
    """Checks that a text has 1 to ``most`` characters, and puts it on one line."""

    def check(text: str) -> str:
        text = " ".join(text.split())
        if not text or len(text) > most:
            raise ValueError(f"must have 1 to {most} characters")
        return text

    return AfterValidator(check)


class Forms:
    """One task's calls to ``planner``, booked under ``purpose``; ``usage`` and ``model`` say what they took. Each ends
    soon after ``stop``."""

    def __init__(
        self,
        planner: LLM,
        stop: Stop,
        *,
        max_tokens: int,
        timeout_seconds: float,
        purpose: Purpose = "plan",
        fresh: bool = False,
    ) -> None:
        self.usage = Usage()
        self.model = planner.name
        self._planner = planner
        self._stop = stop
        self._max_tokens = max_tokens
        self._timeout_seconds = timeout_seconds
        self._purpose = purpose
        self._fresh = fresh

    def fill(
        self, form: Form, kind: type[F], system: str, prompt: str, *, context: Mapping[str, Any] | None = None
    ) -> F:
        """``form`` as the model filled it in; ``context`` is for the validators of ``kind``. Raises `ModelError` where
        it could not be asked or what it filled in could not be used twice, and `Cancelled`."""
        deadline = time.monotonic() + self._timeout_seconds
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
                max_tokens=self._max_tokens,
                purpose=self._purpose,
                fresh=self._fresh,
                usable=usable,
            )
            text = self._call(request, deadline)
            try:
                return read(text)
            except ValidationError as error:
                problem = _said(error) if text else "it was not filled in"
        raise StreamBroken(f"what it filled in is not what was asked for ({problem})")

    def cost(self, prices: Prices) -> float | None:
        """US dollars so far; None where the model has no price."""
        return cost(self.usage, self.model, prices, asked=self._planner.name) if self.usage != Usage() else 0.0

    def _call(self, request: ModelRequest, deadline: float) -> str:
        stream = self._planner.stream(request)
        late = threading.Event()

        def end() -> None:
            late.set()
            stream.close()

        timer = threading.Timer(max(0.0, deadline - time.monotonic()), end)
        timer.daemon = True
        timer.start()
        try:
            with self._stop.closing(stream.close):
                text = "".join(stream)
        finally:
            timer.cancel()
            stream.close()
            self.usage += stream.usage
            self.model = stream.model
        if self._stop.is_set():
            raise Cancelled("Stopped.")
        if late.is_set():
            raise StreamBroken(f"it did not answer within {self._timeout_seconds:g} s")
        return text


def _said(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
