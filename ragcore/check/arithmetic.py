"""Arithmetic of a draft: its own tables recomputed, and figures that it gives twice."""

from __future__ import annotations

from ragcore.types.check import Draft, Inconsistency


def inconsistencies(draft: Draft) -> tuple[Inconsistency, ...]:
    """Faults of ``draft`` in itself, in order."""
    return ()
