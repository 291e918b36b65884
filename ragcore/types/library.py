"""Documents as the library lists them, feedback on answers, and estimates of what contexts cost: frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ragcore.types.document import ModelReport
from ragcore.types.retrieval import Usage

Status = Literal["new", "reading", "ready", "failed"]
Reason = Literal["", "wrong", "beside", "citation", "incomplete", "refused", "other"]
REASONS: tuple[Reason, ...] = get_args(Reason)


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A line of the library. ``pages`` is 0 and ``title`` the file's name until the file has been inspected;
    ``pages_done`` counts pages read so far; ``indexed`` says whether every chunk has a vector by the embedder asked
    for; ``ocr_confidence`` is the mean of the pages read by OCR, in percent; ``error`` is what
    `GroundworkError.as_dict` gave, or None; ``held`` says that a person cancelled its reading; ``folder`` is a path of
    names joined by ``/``, "" for none
    (`ragcore.index.shelf`)."""

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


@dataclass(frozen=True, slots=True)
class Feedback:
    """Whether an answer was ``helpful``, and if not, why; ``words`` are the person's own, "" for none."""

    helpful: bool
    reason: Reason = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class FeedbackRecord:
    """A piece of feedback with what it is about. ``created`` in seconds since the epoch."""

    conversation_id: str
    turn_id: str
    question: str
    answer: str
    model: str
    refused: bool
    settings_hash: str
    feedback: Feedback
    created: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is still to be written for a document of ``chunks`` chunks: ``summaries`` and situated ``passages``; the
    ``usage`` that this will take and its price ``usd`` (None: ``model`` has none), of which at most ``limit`` more are
    spent."""

    doc_id: str
    title: str
    chunks: int
    summaries: int
    passages: int
    model: str
    usage: Usage
    usd: float | None
    limit: float
