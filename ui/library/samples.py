"""Sample document that a new library offers, a draft about it with three errors, and columns that it answers."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from ragcore.engine import Engine
from ragcore.errors import InputError
from ui.library.jobs import Ingestion

SAMPLE = Path(__file__).resolve().parents[1] / "sample" / "sample.pdf"
NAME = "Larkfield annual report 2025 (sample).pdf"
DRAFT = SAMPLE.with_name("draft.md")
DRAFT_NAME = "Note on Larkfield (sample).md"
COLUMNS = SAMPLE.with_name("columns.json")


@cache
def sample_id() -> str:
    """Id of the sample in a library."""
    return sha256(SAMPLE.read_bytes()).hexdigest()[:16]


def sample_reading(engine: Engine, ingestion: Ingestion) -> str:
    """How far the reading of the sample is, in words; "" once all of it can be asked. It is begun where the library
    lacks the sample. Raises `InputError` if it failed."""
    info = next((one for one in engine.documents() if one.doc_id == sample_id()), None)
    if info is not None and info.indexed:
        return ""
    job = ingestion.jobs().get(sample_id())
    if job is None:
        failed = ingestion.failures.get(sample_id()) or (info.error if info is not None else None)
        if failed:
            raise InputError(str(failed.get("message")), hint=str(failed.get("hint", "Try again.")))
        ingestion.add(engine.add(SAMPLE.read_bytes(), NAME).doc_id)
    if job is not None and job.stage == "read" and job.done:
        return f"Reading page {job.done} of {job.total}"
    return "Reading the sample document"
