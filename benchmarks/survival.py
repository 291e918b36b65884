"""Does every odd PDF end with a document or a clear refusal, in bounded time, and leave the parent alive?

    python -m benchmarks survival [--set hostile-pdfs] [--page-seconds 20] [--jobs 2] [--workers 1] [--ocr auto|off]
                                  [--match TEXT]

Each file goes through the whole ingest stage, ``--jobs`` of them at a time, each with ``--workers`` processes.
``ready`` has a document and chunks; ``failed`` has an error of the tree with a code and a hint. A file that the
manifest calls readable (words came out of it in MuPDF) must not fail. Beside it stands the manifest's own outcome:
plain PyMuPDF words in a child process with 20 s and 2 GiB.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.common import data, table
from ragcore.config.settings import Settings, load
from ragcore.errors import GroundworkError
from ragcore.ingest.chunk import chunk_document
from ragcore.ingest.document import build_document
from ragcore.ingest.parse import inspect, parse_pages


def ingest(path: Path, password: str | None, settings: Settings) -> tuple[str, str]:
    """``("ready" or the error's code, what to know about it)``."""
    try:
        info = inspect(path, settings=settings.ingest, password=password)
        numbers = range(1, info.pages + 1)
        pages = list(parse_pages(path, numbers, settings=settings.ingest, ocr=settings.ocr, password=password))
        document = build_document("0" * 16, "0" * 64, path.name, info, pages, settings)
        chunks = chunk_document(document, settings.chunk)
    except GroundworkError as error:
        return error.code, f"{error.message} {error.hint}"
    assert document.text[: document.body_end] == "".join(chunk.text for chunk in chunks if chunk.tiles is None)
    degraded = [page for page in document.pages if page.degraded]
    return "ready", f"{len(degraded)} of {len(pages)} pages degraded: {degraded[0].degraded}" if degraded else ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="hostile-pdfs")
    parser.add_argument("--page-seconds", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--ocr", default="auto", choices=("auto", "off"))
    parser.add_argument("--match", default="", help="only files whose name holds this")
    options = parser.parse_args()
    settings, _origins = load(
        overrides={
            "ingest.page_seconds": options.page_seconds,
            "ingest.workers": options.workers,
            "ocr.mode": options.ocr,
            "ocr.page_seconds": 2 * options.page_seconds,
        }
    )
    folder = data(options.set)
    outcomes: Counter[tuple[str, str]] = Counter()
    remarkable: list[tuple[str, str, float, str]] = []
    broken: list[str] = []
    started = time.perf_counter()
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if options.match in row["file"]]

    def one(row: dict[str, str]) -> tuple[str, str, float]:
        begun = time.perf_counter()
        outcome, note = ingest(folder / "pdf" / Path(row["file"]).name, row["password"] or None, settings)
        return outcome, note, time.perf_counter() - begun

    with ThreadPoolExecutor(options.jobs) as pool:
        for row, (outcome, note, seconds) in zip(rows, pool.map(one, rows), strict=True):
            readable = row["outcome"] == "ok" and row["has_text"] in ("yes", "True", "true", "1")
            outcomes[(outcome, "readable" if readable else row["outcome"])] += 1
            if readable and outcome != "ready":
                broken.append(f"{row['file']}: {note}")
            if seconds > options.page_seconds / 2 or (outcome == "ready" and note):
                remarkable.append((row["file"], outcome, round(seconds, 1), note[:110]))
            print(f"{row['file']}\t{outcome}\t{seconds:.1f}\t{note[:160]}", flush=True)
    print(f"\n{len(rows)} files in {time.perf_counter() - started:.0f} s\n")
    print(table([(*key, count) for key, count in sorted(outcomes.items())], ("ours", "manifest", "files")))
    readable = sum(count for (_, manifest), count in outcomes.items() if manifest == "readable")
    ended = [("end as a document or one clear error", len(rows)), ("readable", readable)]
    print("\n" + table([*ended, ("readable and read", readable - len(broken))], ("of all", "files")))
    if remarkable:
        print("\nSlow or degraded\n" + table(remarkable, ("file", "outcome", "seconds", "note")))
    print(f"\nReadable files that failed: {len(broken)}")
    for line in broken:
        print(f"  {line}")


if __name__ == "__main__":
    main()
