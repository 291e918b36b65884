"""Progress events and final reports of long tasks."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragcore.types.library import DocumentInfo

GARBAGE = 50_000  # new objects between two looks for cycles: the table finder makes more than that for a page
NICE = 10  # lowers the priority of reading and embedding: a question that is asked meanwhile goes first


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a task: ``done`` of ``total`` pages (``read``), figures (``describe``), summaries and passages
    (``context``), chunks (``embed``), or of a structure documents and requests (``build``)."""

    stage: Literal["read", "describe", "build", "chunk", "context", "embed", "done"]
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Added:
    """Result of adding a file (``already``: with the same bytes), a remark for the user, and its attached documents."""

    doc_id: str
    status: Literal["new", "already"]
    note: str = ""
    attached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Result of adding and reading the file at ``path``; ``note`` is a remark for the user, ``attached`` the documents
    added with it, which are still to be read. A file that could not be added has no id."""

    info: DocumentInfo
    path: str
    note: str = ""
    attached: tuple[str, ...] = ()


def printable(path: Path) -> str:
    """``path`` with invalid UTF-8 replaced, so that it can be printed and stored."""
    return os.fsencode(path).decode("utf-8", "replace")


OnProgress = Callable[[Progress], None]
IsCancelled = Callable[[], bool]


def ignore(_: object) -> None:
    """Listener that does nothing."""
