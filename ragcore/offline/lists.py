"""Words and phrases of the rules of English: data in the TOML files of this package, by section and name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

from ragcore.text.words import stem, word_set

_FILES = ("intents", "fields", "statements", "wording")


@lru_cache(maxsize=1)
def data() -> Mapping[str, Any]:
    """Sections of all files."""
    found: dict[str, Any] = {}
    for name in _FILES:
        found |= tomllib.loads(resources.files("ragcore.offline").joinpath(f"{name}.toml").read_text("utf-8"))
    return found


@lru_cache(maxsize=256)
def listed(section: str, name: str) -> frozenset[str]:
    return word_set(data()[section][name])


@lru_cache(maxsize=256)
def stems(section: str, name: str) -> frozenset[str]:
    return frozenset(map(stem, listed(section, name)))
