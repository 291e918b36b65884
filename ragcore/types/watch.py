"""Watched folders: what is known of their files, and what a scan found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ragcore.types.library import Status

EVERY: Final = 30.0  # seconds between two scans
SHORTEST: Final = 1.0
# ``known``: another file, or another document of the library, has the same content; ``back``: it was gone, and is as it
# was; ``waiting``: it is still being written.
ChangeKind = Literal["new", "changed", "known", "moved", "back", "gone", "waiting", "failed"]


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells without reading a file that it is as it was: its size, and in nanoseconds when its content was
    ``modified`` and when anything about it was ``changed``."""

    bytes: int
    modified: int
    changed: int


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """File at ``path`` below its folder. ``doc_id`` is the document with its content when it was last read, "" if it
    never could be; ``error`` is why it could not be added as it is now."""

    path: str
    stamp: Stamp
    doc_id: str = ""
    error: Mapping[str, Any] | None = None
    gone: bool = False


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """Folder as listed. ``patterns`` of file names are watched (none: all kinds that are read), looked through
    ``every`` so many seconds. It has ``files``, of which some ``failed``, and some more are ``missing``; ``scanned`` is
    when it was last looked through (None: never), ``error`` why that failed."""

    path: Path
    recursive: bool = True
    patterns: tuple[str, ...] = ()
    every: float = EVERY
    scanned: float | None = None
    seconds: float = 0.0
    error: Mapping[str, Any] | None = None
    files: int = 0
    missing: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class FileState:
    """State of the document of a watched file; ``held``: a person cancelled its reading."""

    status: Status
    held: bool

    @property
    def unread(self) -> bool:
        return self.status in ("new", "reading") and not self.held


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a scan found about the file at ``path``: the document that it is now, "" for none, of a changed one the
    document that it was ``before``, and of a message the documents ``attached`` to it."""

    path: str
    kind: ChangeKind
    doc_id: str = ""
    before: str = ""
    error: Mapping[str, Any] | None = None
    attached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScanReport:
    """Result of a scan: of ``files`` files some were read (``hashed``), and what differs is in ``changes``. ``error``
    is why the folder could not be looked through; then nothing is said of its files."""

    folder: Path
    files: int = 0
    hashed: int = 0
    changes: tuple[FileChange, ...] = ()
    seconds: float = 0.0
    error: Mapping[str, Any] | None = None

    def of(self, kind: ChangeKind) -> list[FileChange]:
        return [one for one in self.changes if one.kind == kind]

    @property
    def attached(self) -> list[str]:
        return [doc_id for one in self.changes for doc_id in one.attached]
