"""Cases that are many: a few stand for them in `pytest`, all run in `pytest -m slow`."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def standing_for(quick: Container[Any], cases: Iterable[Any]) -> list[Any]:
    """All ``cases`` for `pytest.mark.parametrize`, those that are not among ``quick`` as slow ones."""
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in cases]
