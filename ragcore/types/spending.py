"""What models cost: prices, and what was spent, in tokens and US dollars; nothing of questions or documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ragcore.types.retrieval import Usage

OFFLINE = "offline"  # what the offline answerer is called, among the names of models
Purpose = Literal["answer", "report", "plan", "rewrite", "judge", "figures", "contexts"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
Prices = Mapping[str, tuple[float, float, float, float]]
_DATE = re.compile(r"-\d{8}\Z")  # any other ending may be another model, at another price


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls of one ``model`` (the service's name for it) for one ``purpose``, and what they took. ``usd`` is None where
    the model has no price in ``llm.prices``, neither when it was asked nor now."""

    model: str
    purpose: Purpose
    calls: int
    usage: Usage
    usd: float | None


@dataclass(frozen=True, slots=True)
class DaySpent:
    """Everything of one ``day`` (``2026-11-20``, local time). ``usd`` as in `Spending`."""

    day: str
    calls: int
    usage: Usage
    usd: float | None


@dataclass(frozen=True, slots=True)
class Spending:
    """All that a library's calls took since ``days`` begins: by model and purpose, dearest first, and by day, oldest
    first. Replayed answers cost nothing and are not in it."""

    entries: tuple[Spent, ...] = ()
    days: tuple[DaySpent, ...] = ()

    @property
    def calls(self) -> int:
        return sum(entry.calls for entry in self.entries)

    @property
    def usage(self) -> Usage:
        return sum((entry.usage for entry in self.entries), Usage())

    @property
    def usd(self) -> float | None:
        """Of the calls that have a price, 0.0 where there were no calls; None where none has one. ``unpriced`` names
        the models that are not in it."""
        return dollars([entry.usd for entry in self.entries])

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models with calls that have no price."""
        return tuple(dict.fromkeys(entry.model for entry in self.entries if entry.usd is None))


def dollars(each: list[float | None]) -> float | None:
    """The sum of those that are known; None where there are some and none is."""
    known = [usd for usd in each if usd is not None]
    return sum(known) if known or not each else None


def cost(usage: Usage, model: str, prices: Prices, *, asked: str = "") -> float | None:
    """US dollars for ``usage``, or None when ``model`` has no price; a dated name (``NAME-20260101``) has NAME's.
    ``asked`` is the name that the model was asked by, whose price holds where the service calls it something else."""
    price = prices.get(model) or prices.get(_DATE.sub("", model))
    if price is None:
        return cost(usage, asked, prices) if asked and asked != model else None
    counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    return sum(count * each for count, each in zip(counts, price)) / 1e6
