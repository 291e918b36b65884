"""Question answering over PDFs with every claim traced to its words on the page. Start reading at `ragcore.engine`."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ragcore.errors import GroundworkError
from ragcore.types import (
    Answer,
    Box,
    Chunk,
    Citation,
    Claim,
    Document,
    Element,
    Hit,
    Retrieval,
    Segment,
    Source,
    WordMap,
)

if TYPE_CHECKING:
    from ragcore.engine import Engine
    from ragcore.retrieve.rse import best_segments

__all__ = [
    "Answer",
    "Box",
    "Chunk",
    "Citation",
    "Claim",
    "Document",
    "Element",
    "Engine",
    "GroundworkError",
    "Hit",
    "Retrieval",
    "Segment",
    "Source",
    "WordMap",
    "best_segments",
]

# Telemetry is disabled before these libraries load: onnxruntime, which also keeps a device id and a queue of events in
# the user's cache folder, Hugging Face and Chroma.
os.environ.update(
    ORT_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_TELEMETRY="1", ANONYMIZED_TELEMETRY="False", DO_NOT_TRACK="1"
)


def __getattr__(name: str) -> Any:
    # Lazy, so that `import ragcore` does not load the heavy modules behind these names.
    modules = {"Engine": "ragcore.engine", "best_segments": "ragcore.retrieve.rse"}
    if name not in modules:
        raise AttributeError(f"module 'ragcore' has no attribute {name!r}")
    return getattr(import_module(modules[name]), name)
