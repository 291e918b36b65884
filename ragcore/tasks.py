"""What a long task tells while it runs and when it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a long task is: ``done`` of ``total`` pages (``read``) or chunks (``embed``)."""

    stage: Literal["read", "build", "chunk", "embed", "done"]
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Added:
    """A file in the library; ``already`` when the same bytes were there."""

    doc_id: str
    status: Literal["new", "already"]


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of one file. ``error`` is `GroundworkError.as_dict` where ``status`` is ``failed``."""

    doc_id: str
    path: str
    title: str
    pages: int
    elements: int
    chunks: int
    tables: int
    noise: int
    ocr_pages: int
    degraded_pages: int
    seconds: float
    status: Literal["ready", "already", "failed"]
    error: dict[str, Any] | None = None


OnProgress = Callable[[Progress], None]
IsCancelled = Callable[[], bool]


def ignore(_: Progress) -> None:
    """An `OnProgress` for callers that do not look."""
