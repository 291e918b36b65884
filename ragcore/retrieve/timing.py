"""How long each step takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def timed(timings: dict[str, float], step: str) -> Iterator[None]:
    """Add what the block takes to ``timings[step]``, in milliseconds."""
    started = time.perf_counter()
    try:
        yield
    finally:
        timings[step] = timings.get(step, 0.0) + (time.perf_counter() - started) * 1000.0
