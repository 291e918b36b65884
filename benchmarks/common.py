"""What the benchmarks share: where the data is, and tables that can be pasted into the docs."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Printed = tuple[list[str], list[list[str]]]
PRINTED: list[Printed] = []  # heads and rows of the tables of this process, for `benchmarks.records`


def data_root() -> Path:
    """Where the measuring data is, if it is here (``GROUNDWORK_DATA``, else ``shared/data`` beside the checkout)."""
    return Path(os.environ.get("GROUNDWORK_DATA", ROOT.parent / "shared" / "data"))


def data(name: str) -> Path:
    """A folder of the measuring data."""
    folder = data_root() / name
    if not folder.is_dir():
        sys.exit(f"The measuring data is not here: {folder}. Set GROUNDWORK_DATA.")
    return folder


def questions(name: str) -> list[dict[str, Any]]:
    with (data(name) / "questions.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def table(rows: Iterable[Sequence[object]], head: Sequence[str]) -> str:
    """A Markdown table; floats with three digits. It is remembered in `PRINTED`."""
    cells = [[f"{value:.3f}" if isinstance(value, float) else str(value) for value in row] for row in rows]
    PRINTED.append(([*head], cells))
    widths = [max(len(line[column]) for line in [list(head), *cells]) for column in range(len(head))]
    lines = [[*head], ["-" * width for width in widths], *cells]
    return "\n".join("| " + " | ".join(v.ljust(w) for v, w in zip(line, widths)) + " |" for line in lines)


def words(text: str) -> list[str]:
    """Letters and digits of each blank-separated word, folded; for comparing text from two extractors."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [word for word in (re.sub(r"[\W_]+", "", part) for part in folded.split()) if word]
