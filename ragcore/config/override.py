"""Settings that differ from those in force, for an engine over the same library (`Engine.with_settings`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragcore.config.settings import PRESET, Settings, flatten, merge, settled
from ragcore.errors import ConfigError

# What documents are read, built and indexed by: another value needs another library, or this one brought up to date.
FIXED = ("ingest", "ocr", "noise", "figures", "chunk", "context", "index")
# Those of them that may change while the library is open: what is read from then on is read by them.
READING = ("ocr.mode", "ocr.language")
_OF_PRESET = "preset "  # how the origin of a key begins that the preset in force decides


def varied(
    settings: Settings,
    origins: Mapping[str, str],
    overrides: Mapping[str, Any],
    origin: str = "argument",
    *,
    reading: bool = False,
) -> tuple[Settings, dict[str, str]]:
    """``settings`` with the dotted keys ``overrides`` in place of theirs, and where each now comes from. Another
    ``rse.preset`` moves every key of [rse] that was left to the preset. Raises `ConfigError` for a setting that is not
    known, cannot be used, or is one of those that the library was read and indexed by (`FIXED`), but with ``reading``
    for those of `READING`."""
    held = [key for key in overrides if key.partition(".")[0] in FIXED and not (reading and key in READING)]
    fixed = _changed(settings, held, overrides)
    if fixed:
        raise ConfigError(
            f"{', '.join(fixed)} can't change for one visit: the library was built with them.",
            hint="Set it in config.toml in the home folder and restart; documents are then updated.",
        )
    merged, came = flatten(settings.model_dump()), dict(origins)
    for key, whence in origins.items():
        if whence.startswith(_OF_PRESET):
            merged[key], came[key] = PRESET, "default"
    merge(merged, came, overrides, set(merged), origin)
    return settled(merged, came), came


def _changed(settings: Settings, keys: Iterable[str], overrides: Mapping[str, Any]) -> list[str]:
    now = flatten(settings.model_dump())
    return [key for key in keys if key in now and now[key] != overrides[key]]
