"""How much of one answer is checked: bounded by its size, by time and by a person's Stop.

What is beyond it is not passed but said to be unchecked. Size comes first, since it does not depend on the machine.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable

from ragcore.types import Claim

LONGEST_CLAIM = 2_000  # characters; what takes longest in a claim grows faster than its length
MOST_FIGURES = 60  # numbers in one claim
MOST_TEXT = 40_000  # characters of different claims in one answer, about four times the longest that is written
SECONDS = 30.0
SECONDS_STOPPED = 5.0  # for the answer that a person stopped
NOT_CHECKED = "Not checked:"

_FIGURE = re.compile(r"\d+")


class CheckBudget:
    """One answer's budget, spent claim by claim."""

    def __init__(self, *, seconds: float = SECONDS, stopped: Callable[[], bool] = lambda: False) -> None:
        self._left = MOST_TEXT
        self._until = time.monotonic() + seconds
        self._stopped = stopped

    def spend(self, claim: str) -> str:
        """Why ``claim`` is not checked; "" where it is, which is taken off the budget."""
        if self._stopped():
            return f"{NOT_CHECKED} checking was stopped."
        if len(claim) > LONGEST_CLAIM:
            return f"{NOT_CHECKED} the sentence has over {LONGEST_CLAIM:,} characters."
        if len(_FIGURE.findall(claim)) > MOST_FIGURES:
            return f"{NOT_CHECKED} the sentence has over {MOST_FIGURES} figures."
        if len(claim) > self._left:
            return f"{NOT_CHECKED} the answer is too long."
        if time.monotonic() > self._until:
            return f"{NOT_CHECKED} checking took too long."
        self._left -= len(claim)
        return ""


def unchecked(claims: Iterable[Claim]) -> tuple[str, ...]:
    """What is to be said of the ``claims`` that were not checked: a line, or nothing."""
    reasons = [claim.reason for claim in claims if claim.reason.startswith(NOT_CHECKED)]
    if not reasons:
        return ()
    counted = "1 claim was" if len(reasons) == 1 else f"{len(reasons):,} claims were"
    return (f"{counted} not checked: {reasons[0].removeprefix(NOT_CHECKED).strip()}",)
