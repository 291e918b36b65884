"""A logistic model: how likely something is, by a few signs with fitted weights."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log


@dataclass(frozen=True, slots=True)
class Logistic:
    """``weights`` of the signs, in their order."""

    intercept: float
    weights: tuple[float, ...]

    def __call__(self, *signs: float) -> float:
        total = self.intercept + sum(weight * sign for weight, sign in zip(self.weights, signs, strict=True))
        return 1.0 / (1.0 + exp(-total))


def log_odds(probability: float, most: float) -> float:
    """Of ``probability``, no further from 0.0 than ``most``."""
    least = 1.0 / (1.0 + exp(most))
    probability = min(max(probability, least), 1.0 - least)
    return log(probability / (1.0 - probability))
