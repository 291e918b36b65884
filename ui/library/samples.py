"""Sample document that a new library offers, and a draft about it with three errors."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

SAMPLE = Path(__file__).resolve().parents[1] / "sample" / "sample.pdf"
NAME = "Larkfield annual report 2025 (sample).pdf"
DRAFT = SAMPLE.with_name("draft.md")
DRAFT_NAME = "Note on Larkfield (sample).md"


@cache
def sample_id() -> str:
    """Id of the sample in a library."""
    return sha256(SAMPLE.read_bytes()).hexdigest()[:16]
