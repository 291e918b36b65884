"""Logistic regression: the probability of an event from a few features with fitted weights."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log


@dataclass(frozen=True, slots=True)
class Logistic:
    """Logistic model: ``weights`` of its features, in order."""

    intercept: float
    weights: tuple[float, ...]

    def __call__(self, *signs: float) -> float:
        return 1.0 / (1.0 + exp(-self.odds(*signs)))

    def odds(self, *signs: float) -> float:
        """Log odds of the event."""
        return self.intercept + sum(weight * sign for weight, sign in zip(self.weights, signs, strict=True))


def log_odds(probability: float, most: float) -> float:
    """Log-odds of ``probability``, clipped to ±``most``."""
    least = 1.0 / (1.0 + exp(most))
    probability = min(max(probability, least), 1.0 - least)
    return log(probability / (1.0 - probability))
