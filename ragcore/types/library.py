"""Library records: documents, and feedback on answers. Frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ragcore.types.document import ModelReport

Status = Literal["new", "reading", "ready", "already", "failed"]
FileKind = Literal[
    "pdf", "xlsx", "csv", "md", "html", "txt", "docx", "doc", "rtf", "odt", "pptx", "ppt", "odp", "xls", "ods",
    "eml", "msg", "epub", "png", "jpeg", "tiff", "webp",
]  # fmt: skip
Reason = Literal["", "wrong", "beside", "citation", "incomplete", "refused", "other"]
REASONS: tuple[Reason, ...] = get_args(Reason)


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """Document as listed in the library. Until the file is inspected, ``pages`` is 0 and ``title`` the file's name.
    ``status`` is ``already`` only in the result of `Engine.ingest`, if the document was ready before; ``pages_done``
    counts pages read so far, of which the first ``built_pages`` can be asked; ``ocr_confidence`` is the mean over pages
    read by OCR, in percent; ``indexed``: all pages are read, and all vectors of the requested embedder are there;
    ``error`` is `GroundworkError.as_dict`; ``folder`` is a path of names joined by ``/``; ``held``: the user cancelled
    its reading; ``kind`` is that of the file as given, and ``notes`` tell what is not on the pages made of it. Of an
    earlier version ``successor`` is the next one; ``gone``: its file is no longer in the folder that is watched."""

    doc_id: str
    sha256: str
    name: str
    title: str
    bytes: int
    status: Status
    created: float
    seconds: float = 0.0
    pages: int = 0
    pages_done: int = 0
    built_pages: int = 0
    elements: int = 0
    tables: int = 0
    chunks: int = 0
    noise: int = 0
    noise_by_reason: Mapping[str, int] = field(default_factory=dict)
    ocr_pages: int = 0
    ocr_confidence: int = 0
    degraded_pages: int = 0
    unread_pages: tuple[int, ...] = ()
    indexed: bool = False
    error: Mapping[str, Any] | None = None
    figures: ModelReport = field(default_factory=ModelReport)
    context: ModelReport = field(default_factory=ModelReport)
    folder: str = ""
    tags: tuple[str, ...] = ()
    held: bool = False
    kind: FileKind = "pdf"
    notes: tuple[str, ...] = ()
    successor: str = ""
    gone: bool = False

    @property
    def unready(self) -> bool:
        """Whether it is still to be read or indexed."""
        return self.status in ("new", "reading") or (self.status == "ready" and not self.indexed)

    @property
    def askable(self) -> bool:
        """Whether it can be asked, though perhaps only its first pages."""
        return self.built_pages > 0 and not self.successor


@dataclass(frozen=True, slots=True)
class Feedback:
    """Verdict on an answer: whether it was ``helpful``, and if not, the ``reason``; ``words`` are the user's own, ""
    for none."""

    helpful: bool
    reason: Reason = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class FeedbackRecord:
    """Stored feedback with its question and answer. ``created`` is in seconds since the epoch."""

    conversation_id: str
    turn_id: str
    question: str
    answer: str
    model: str
    refused: bool
    settings_hash: str
    feedback: Feedback
    created: float
