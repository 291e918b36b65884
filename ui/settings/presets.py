"""Search presets: sets of settings that belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragcore.config.settings import RseSettings, Settings, catalogue

RSE = tuple(f"rse.{name}" for name in RseSettings.model_fields)
# Values of [rse]: the defaults, and those published for dsRAG.
SEGMENTS = {
    name: dict(zip(RSE, values, strict=True))
    for name, values in {
        "default": [catalogue()[key].default for key in RSE],
        "balanced": (15, 30, 0.5, 0.18, 30.0),
        "precision": (15, 30, 0.7, 0.2, 30.0),
        "find all": (40, 200, 0.4, 0.18, 200.0),
    }.items()
}
MODES = {  # of ``retrieve.mode``, as people choose them
    "auto": "Automatic",
    "hybrid": "Meaning and words",
    "graph": "Connections",
    "outline": "Outline",
    "overview": "Overview",
    "vector": "Meaning alone",
    "bm25": "Words alone",
}
PUBLISHED = {  # further ones, of published methods, which Explore compares with
    "raptor": "RAPTOR, collapsed",
    "raptor-traversal": "RAPTOR, traversal",
    "hipporag": "HippoRAG",
    "hipporag2": "HippoRAG 2",
    "lightrag-naive": "LightRAG, naive",
    "lightrag-local": "LightRAG, local",
    "lightrag-global": "LightRAG, global",
    "lightrag-hybrid": "LightRAG, hybrid",
    "lightrag-mix": "LightRAG, mix",
    "graphrag-local": "GraphRAG, local",
    "graphrag-global": "GraphRAG, global",
    "graphrag-dynamic": "GraphRAG, dynamic",
    "graphrag-drift": "GraphRAG, DRIFT",
    "graphrag-fast": "GraphRAG, fast",
}
KEYS = (
    *RSE,
    "retrieve.top_k",
    "rerank.candidates",
    "answer.source_tokens",
    "answer.offline_sentences",
    "agentic.decompose",
    "agentic.gaps",
)


@dataclass(frozen=True)
class Preset:
    """Named set of ``changes`` from the defaults of `KEYS`; ``cost`` describes its time beside the
    defaults (`groundwork evaluate`, seconds); ``model``: it needs a model other than the offline one."""

    name: str
    title: str
    said: str
    cost: str
    steps: tuple[str, ...]
    changes: Mapping[str, Any]
    model: bool = False

    @property
    def values(self) -> dict[str, Any]:
        return {key: self.changes.get(key, catalogue()[key].default) for key in KEYS}


PRESETS = (
    Preset(
        "balanced",
        "Balanced",
        "Searches by meaning and words, reads the best passages closely, joins neighbours.",
        "Standard speed",
        ("search", "rerank", "segments"),
        {},
    ),
    Preset(
        "precision",
        "Precise",
        "Fewer, shorter passages. Best for a single fact.",
        "Similar speed",
        ("search", "rerank", "short segments"),
        {**SEGMENTS["precision"], "retrieve.top_k": 10, "answer.source_tokens": 4000, "answer.offline_sentences": 2},
    ),
    Preset(
        "find_all",
        "Find all",
        "Everything relevant from every document. Best for lists; reads and sends more.",
        "Slower",
        ("search wide", "rerank more", "long segments"),
        {
            **SEGMENTS["find all"],
            "retrieve.top_k": 60,
            "rerank.candidates": 40,
            "answer.source_tokens": 16000,
            "answer.offline_sentences": 12,
        },
    ),
    Preset(
        "stepwise",
        "Step by step",
        "The model splits the question and searches again for what’s missing. More calls.",
        "Slowest",
        ("plan", "search", "read", "search again"),
        {"agentic.decompose": "auto", "agentic.gaps": True},
        model=True,
    ),
)


def in_force(settings: Settings) -> str:
    """Name of the preset whose values all hold, or ""."""
    now = {key: value_of(settings, key) for key in KEYS}
    return next((preset.name for preset in PRESETS if preset.values == now), "")


def value_of(settings: Settings, key: str) -> Any:
    section, _, name = key.partition(".")
    return getattr(getattr(settings, section), name)
