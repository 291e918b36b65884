"""The levels that verification reaches over the pairs; docs/verification.md has the table."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import pytest

from ragcore.types import ClaimStatus
from tests.answer.pairs import EDITS, MATERIALS, TRUTHS, Half

# Measured: see docs/verification.md. The pairs were looked at while rules were written, so they hold a floor only: what
# a rule is worth shows on documents that it was not written on.
LEAST_TRUTHS = {"tuned": 0.98, "held": 0.97}
LEAST_EDITS = {"tuned": 0.79, "held": 0.76}
# Edits of which nearly none may pass in either half.
STRICT = ("digit", "scale", "currency", "year", "quarter")


@lru_cache(maxsize=1)
def verdicts() -> tuple[tuple[Half, str, bool, ClaimStatus, str], ...]:
    """(half, kind, whether it is true, status, reason) of every pair."""
    out = []
    for material in MATERIALS:
        for pair in material.pairs():
            claim = material.verdict(pair)
            out.append((pair.half, pair.kind, pair.supported, claim.status, claim.reason))
    return tuple(out)


def test_there_are_enough_pairs_of_every_kind() -> None:
    assert len(verdicts()) >= 300
    kinds = Counter(kind for _, kind, *_ in verdicts())
    assert all(kinds[kind] >= 3 for kind in (*TRUTHS, *EDITS)), kinds


@pytest.mark.parametrize("half", ["tuned", "held"])
def test_truths_are_supported_and_edits_are_not(half: Half) -> None:
    truths = [status == "supported" for own, _, true, status, _ in verdicts() if own == half and true]
    edits = [status != "supported" for own, _, true, status, _ in verdicts() if own == half and not true]
    assert sum(truths) / len(truths) >= LEAST_TRUTHS[half]
    assert sum(edits) / len(edits) >= LEAST_EDITS[half]


@pytest.mark.parametrize("kind", STRICT)
def test_wrong_figures_and_periods_hardly_ever_pass(kind: str) -> None:
    found = [status != "supported" for _, own, true, status, _ in verdicts() if own == kind and not true]
    assert sum(found) / len(found) >= 0.95


def test_whatever_is_not_supported_says_why() -> None:
    for _, kind, _, status, reason in verdicts():
        assert status == "supported" or reason.endswith("."), (kind, reason)
