"""What is said beside the drop zone about text and pictures that leave the machine while a document is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from ui import uploads

SUMMARIES = {"context.document_summary": True, "context.summaries": "auto", "context.max_usd": 1.5}
QUIET = {"figures.describe": "off", "context.summaries": "extractive", "context.situate": "off"}


@pytest.mark.parametrize(
    ("overrides", "key", "said"),
    [
        (QUIET, "test", ""),
        (QUIET | SUMMARIES, None, ""),
        (QUIET | SUMMARIES, "test", "Text of documents goes to Claude for summaries: at most $1.50 a document."),
        (
            QUIET | SUMMARIES | {"context.situate": "claude"},
            "test",
            "Text of documents goes to Claude for summaries and a sentence that places each passage: "
            "at most $1.50 a document.",
        ),
        (
            QUIET | SUMMARIES | {"figures.describe": "auto", "figures.max_usd": 0.25},
            "test",
            "Text of documents goes to Claude for summaries: at most $1.50 a document. "
            "Pictures of figures go to Claude, which describes them: at most $0.25 a document.",
        ),
    ],
)
def test_what_goes_to_claude_is_said(
    overrides: dict[str, Any], key: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with Engine.open(tmp_path, overrides=overrides, api_key=key) as engine:
        assert uploads.sent_to_claude(engine) == said
