"""Hostile files: each ends as a document, or as one clear error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragcore.engine import Engine
from ragcore.errors import InputError


def error_of(engine: Engine, data: bytes, name: str) -> Mapping[str, Any] | None:
    """Error of a file that is added and read: on one line, with its name and what to do. None if it is a document."""
    try:
        error = engine.ingest(engine.add(data, name).doc_id).error
    except InputError as refused:
        error = refused.as_dict()
    if error is not None:
        assert name in error["message"]
        assert error["hint"]
        assert "\n" not in error["message"]
    return error
