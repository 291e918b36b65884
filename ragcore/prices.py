"""What a model's work costs."""

from __future__ import annotations

from collections.abc import Mapping

from ragcore.types import Usage

Prices = Mapping[str, tuple[float, float, float, float]]


def cost(usage: Usage, model: str, prices: Prices, *, asked: str = "") -> float | None:
    """US dollars for ``usage``, or None when ``model`` has no price; a dated name (``NAME-20260101``) has NAME's.
    ``asked`` is the name that the model was asked by, whose price holds where the service calls it something else."""
    known = [name for name in prices if model == name or model.startswith(f"{name}-")]
    if not known and asked and asked != model:
        return cost(usage, asked, prices)
    if not known:
        return None
    price = prices[max(known, key=len)]
    counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    return sum(count * each for count, each in zip(counts, price)) / 1e6
