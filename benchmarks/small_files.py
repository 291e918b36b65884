"""A stack of letters: what one more short file costs, with a process for each file and with processes that wait.

    python -m benchmarks small_files [--files 20] [--rounds 2]

Each file has one page of text, made here. The first file of each round pays for starting, and is counted in. Processor
time is that of this process and of its children.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from benchmarks.common import table
from ragcore.config.settings import load
from ragcore.engine import Engine
from ragcore.ingest.process import waiting

BODY = "We write about the delivery of pumps that was agreed upon in spring. Of the pumps ordered, {n} have arrived. "


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    idle = load()[0].ingest.idle_seconds
    rows: list[tuple[str, float, float]] = []
    for _ in range(options.rounds):
        for name, seconds in (("a process for each file", 0.0), ("processes that wait for the next file", idle)):
            rows.append((name, *_ingest(options.files, seconds)))
    print(table(rows, ("what", "s a file", "CPU s a file")))


def _ingest(files: int, idle_seconds: float) -> tuple[float, float]:
    """Seconds and seconds of processor time for each file."""
    overrides = {"ingest.idle_seconds": idle_seconds}
    with tempfile.TemporaryDirectory() as home, Engine.open(Path(home), overrides=overrides) as engine:
        added = [engine.add(_letter(number), f"letter {number}.pdf").doc_id for number in range(files)]
        started, used = time.monotonic(), _processor()
        for doc_id in added:
            report = engine.ingest(doc_id)
            assert report.status == "ready", report.error
        took = time.monotonic() - started
    waiting.close()  # what children used is known when they have ended
    return took / files, (_processor() - used) / files


def _letter(number: int) -> bytes:
    import pymupdf

    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 90), f"Letter {number}", fontsize=16)
        page.insert_textbox((72, 120, 520, 700), BODY.format(n=number) * 12, fontsize=11)
        data: bytes = document.tobytes()
    return data


def _processor() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


if __name__ == "__main__":
    main()
