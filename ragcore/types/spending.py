"""Model costs: prices and spending, in tokens and US dollars; without questions or documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ragcore.types.retrieval import Usage

OFFLINE = "offline"  # model name of the offline answerer
MAX_USD = 5.0  # that a task of many requests may cost, if nothing else is said
Purpose = Literal["answer", "report", "plan", "rewrite", "judge", "figures", "contexts", "structure", "evaluate"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
Prices = Mapping[str, tuple[float, float, float, float]]
_DATE = re.compile(r"-\d{8}\Z")  # other suffixes may denote another model at another price


@dataclass(frozen=True, slots=True)
class Spent:
    """Usage by calls of one ``model`` (the service's name for it) for one ``purpose``. ``usd`` is None if the model had
    no price in ``llm.prices`` at the time of the call and has none now."""

    model: str
    purpose: Purpose
    calls: int
    usage: Usage
    usd: float | None


@dataclass(frozen=True, slots=True)
class Spending:
    """Usage of all of a library's calls since the day ``since`` (``2026-11-20``, local time; "" without calls), by
    model and purpose, dearest first."""

    entries: tuple[Spent, ...] = ()
    since: str = ""

    @property
    def calls(self) -> int:
        return sum(entry.calls for entry in self.entries)

    @property
    def usage(self) -> Usage:
        return sum((entry.usage for entry in self.entries), Usage())

    @property
    def usd(self) -> float | None:
        """Cost of the calls with a price: 0.0 without calls, None if none has a price. ``unpriced`` names the models
        left out."""
        return dollars([entry.usd for entry in self.entries])

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models without a price among the calls."""
        return tuple(dict.fromkeys(entry.model for entry in self.entries if entry.usd is None))


@dataclass(frozen=True, slots=True)
class Expense:
    """Maximum cost of having ``model`` write or read so many ``parts`` (sections, cells, sentences): the ``usage`` if
    each takes as much as allowed, and its price ``usd``, 0.0 offline and None if ``model`` has no price."""

    parts: int
    model: str
    usage: Usage
    usd: float | None


def dollars(each: list[float | None]) -> float | None:
    """Sum of the known amounts; None if there are amounts and none is known."""
    known = [usd for usd in each if usd is not None]
    return sum(known) if known or not each else None


def cost(usage: Usage, model: str, prices: Prices, *, asked: str = "") -> float | None:
    """US dollars for ``usage``, or None if ``model`` has no price; a dated name (``NAME-20260101``) has NAME's price.
    ``asked`` is the requested model name, whose price applies if the service reports another name."""
    price = prices.get(model) or prices.get(_DATE.sub("", model))
    if price is None:
        return cost(usage, asked, prices) if asked and asked != model else None
    counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    return sum(count * each for count, each in zip(counts, price)) / 1e6
