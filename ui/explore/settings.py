"""Settings that Explore can change: its controls, their values, and both in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragcore.config.settings import Settings
from ragcore.errors import InputError
from ragcore.retrieve.hybrid import STRUCTURES
from ragcore.types.json import Json
from ui.settings.presets import MODES, PUBLISHED, SEGMENTS, value_of


@dataclass(frozen=True)
class Slider:
    key: str
    name: str
    low: float
    high: float
    step: float
    means: str
    more: bool = False  # below "More settings"


SLIDERS = (
    Slider("retrieve.alpha", "Alpha", 0, 1, 0.05, "Share of meaning against exact words. 0 is words alone."),
    Slider(
        "rse.irrelevant_chunk_penalty",
        "Penalty",
        0.01,
        0.5,
        0.01,
        "The cost of an irrelevant chunk. Higher gives shorter segments.",
    ),
    Slider("rse.decay_rate", "Decay", 5, 200, 1, "How fast value falls with rank. Higher lets lower ranks count."),
    Slider("rse.max_length", "Longest segment", 1, 40, 1, "Chunks in one segment.", True),
    Slider("rse.overall_max_length", "All segments", 1, 200, 1, "Chunks in all segments together.", True),
    Slider("rse.minimum_value", "Least value", 0, 2, 0.05, "Segments worth less are dropped.", True),
    Slider(
        "rerank.weight",
        "Reading’s vote",
        0,
        2,
        0.1,
        "The vote of close reading. 0 keeps the order of meaning and words.",
        True,
    ),
    Slider(
        "route.weight", "Named documents", 0, 1, 0.05, "How strongly documents named in the question come first.", True
    ),
    Slider("retrieve.top_k", "Passages found", 1, 60, 1, "How many passages become segments.", True),
)
_KEYS = {slider.key for slider in SLIDERS} | {"retrieve.mode"}


def overrides(body: Json, name: str) -> dict[str, Any]:
    """Settings of side ``name``, limited to those the page can change; the engine validates the values. Raises
    `InputError`."""
    given = body.get(name) or {}
    if not isinstance(given, dict) or not set(given) <= _KEYS:
        raise InputError("This page’s address has a setting that Explore can’t change.", hint="Reopen Explore.")
    whole = {slider.key for slider in SLIDERS if float(slider.step).is_integer() and slider.key != "rse.decay_rate"}
    try:
        return {
            key: str(value) if key == "retrieve.mode" else int(value) if key in whole else float(value)
            for key, value in given.items()
        }
    except (TypeError, ValueError) as error:
        raise InputError("A setting in this page’s address isn’t a number.", hint="Reopen Explore.") from error


def controls(settings: Settings) -> Json:
    """Position of each control under ``settings``."""
    found = {key: value_of(settings, key) for key in (*(slider.key for slider in SLIDERS), "retrieve.mode")}
    # An overview groups passages instead of ranking them: there is nothing of it to plot.
    return found | ({"retrieve.mode": "auto"} if found["retrieve.mode"] == "overview" else {})


def known() -> Json:
    """Definitions of the controls."""
    modes = {value: name for value, name in (MODES | PUBLISHED).items() if value != "overview"}
    return {
        "sliders": [asdict(slider) for slider in SLIDERS],
        "modes": [
            {"value": value, "name": name, "alpha": value not in ("vector", "bm25", *STRUCTURES)}
            for value, name in modes.items()
        ],
        "segments": SEGMENTS,
    }


def named(chosen: Mapping[str, Any], names: Sequence[Slider] = SLIDERS) -> str:
    """Label such as ``penalty 0.30, words alone``; "as in force" for no changes."""
    known_names = {slider.key: slider.name.lower() for slider in names}
    parts = []
    for key, value in chosen.items():
        if key == "retrieve.mode":
            name = str(value)
            parts.append(PUBLISHED.get(name) or MODES.get(name, name).lower())
        else:
            parts.append(f"{known_names[key]} {value:g}")
    return ", ".join(parts) or "current settings"
