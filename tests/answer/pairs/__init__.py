"""At least 300 pairs of a claim and its source with a known verdict: see `material`."""

from __future__ import annotations

from tests.answer.pairs import accounts, contracts, filings, guidance, papers, procedures, studies
from tests.answer.pairs.material import EDITS, TRUTHS, Half, Material, Pair

MATERIALS: tuple[Material, ...] = (
    *accounts.MATERIAL,
    *studies.MATERIAL,
    *guidance.MATERIAL,
    *contracts.MATERIAL,
    *papers.MATERIAL,
    *filings.MATERIAL,
    *procedures.MATERIAL,
)

__all__ = ["EDITS", "MATERIALS", "TRUTHS", "Half", "Material", "Pair"]
