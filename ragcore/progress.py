"""Progress events and final reports of long tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ragcore.types import ModelReport

if TYPE_CHECKING:
    from ragcore.errors import GroundworkError
    from ragcore.types.library import DocumentInfo


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a task: ``done`` of ``total`` pages (``read``), figures (``describe``), summaries and passages
    (``context``) or chunks (``embed``)."""

    stage: Literal["read", "describe", "build", "chunk", "context", "embed", "done"]
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Added:
    """Result of adding a file; ``already`` if the library has the same bytes. ``note`` is a remark for the user."""

    doc_id: str
    status: Literal["new", "already"]
    note: str = ""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Result of ingesting one file. ``error`` is `GroundworkError.as_dict` if ``status`` is ``failed``; ``note`` is a
    remark for the user in any case."""

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
    figures: ModelReport = field(default_factory=ModelReport)
    context: ModelReport = field(default_factory=ModelReport)
    note: str = ""
    noise_by_reason: Mapping[str, int] = field(default_factory=dict)
    unread_pages: tuple[int, ...] = ()

    @classmethod
    def of(cls, info: DocumentInfo, status: Literal["ready", "already"]) -> IngestReport:
        """Report from the library's record of a file, with ``status`` unless it failed."""
        return cls(
            doc_id=info.doc_id,
            path=info.name,
            title=info.title,
            pages=info.pages,
            elements=info.elements,
            chunks=info.chunks,
            tables=info.tables,
            noise=info.noise,
            ocr_pages=info.ocr_pages,
            degraded_pages=info.degraded_pages,
            seconds=round(info.seconds, 3),
            status="failed" if info.status == "failed" else status,
            error=dict(info.error) if info.error else None,
            figures=info.figures,
            context=info.context,
            noise_by_reason=dict(info.noise_by_reason),
            unread_pages=tuple(info.unread_pages),
        )

    @classmethod
    def refused(cls, path: Path, error: GroundworkError) -> IngestReport:
        """Report for a file that could not be added."""
        return cls("", printable(path), printable(Path(path.name)), 0, 0, 0, 0, 0, 0, 0, 0.0, "failed", error.as_dict())


def printable(path: Path) -> str:
    """``path`` with invalid UTF-8 replaced, so that it can be printed and stored."""
    return os.fsencode(path).decode("utf-8", "replace")


OnProgress = Callable[[Progress], None]
IsCancelled = Callable[[], bool]


def ignore(_: Progress) -> None:
    """`OnProgress` callback that does nothing."""
