"""What a model's work costs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ragcore.types import Usage

_DATE = re.compile(r"-\d{8}\Z")  # any other ending may be another model, at another price
Prices = Mapping[str, tuple[float, float, float, float]]


def cost(usage: Usage, model: str, prices: Prices, *, asked: str = "") -> float | None:
    """US dollars for ``usage``, or None when ``model`` has no price; a dated name (``NAME-20260101``) has NAME's.
    ``asked`` is the name that the model was asked by, whose price holds where the service calls it something else."""
    price = prices.get(model) or prices.get(_DATE.sub("", model))
    if price is None:
        return cost(usage, asked, prices) if asked and asked != model else None
    counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    return sum(count * each for count, each in zip(counts, price)) / 1e6
