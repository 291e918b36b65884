"""How fast are PDFs read, where does the time go, and how much memory does it take?

    python -m benchmarks speed [--set financebench-dev] [--pages 150] [--workers 2] [--profile-pages 40]
                               [--skip NAME ...] [--long PAGES] [--embed]

``--pages`` pages, spread evenly over all PDFs of the set, become one file, which each method reads in a process of its
own: Groundwork's whole ingest (parse, tables, checkpoints, document, chunks; two parsing processes),
`pymupdf4llm.to_markdown` without OCR, and `pdfplumber` with words and tables. Seconds of the clock and of the processor
are those of the process and all its children, start-up included; memory is the peak of all its processes together,
sampled every 50 ms. Then the share of each stage in ours, of ``--profile-pages`` of the pages in one process.
``--embed`` adds the time to embed the chunks, apart. ``--long`` adds an ingest of that many pages (those of the file,
repeated).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.common import data, table

TICK = 0.002  # seconds of processor time between two looks at the stack
# (end of the file's name, function) → stage; the innermost frame that is listed here counts.
STAGES = {
    ("onnxruntime_inference_collection.py", "run"): "layout model: inference",
    ("pymupdf/__init__.py", "get_layout"): "layout model: page image and features",
    ("pymupdf/__init__.py", "find_tables"): "table finder",
    ("ingest/read.py", "_page"): "MuPDF's text of the page",
    ("ingest/words.py", "read_words"): "words and their boxes",
    ("ingest/read.py", "_lay_out"): "regions, images, reading order",
    ("ingest/layout.py", "to_bytes"): "checkpoint of the page",
    ("ingest/document.py", "build_document"): "document: roles, noise, tables, sections, text",
    ("ingest/chunk.py", "chunk_document"): "chunks",
}


@dataclass(frozen=True)
class Usage:
    """What a process and its children took: seconds of the clock, of the processor, and MiB at the peak."""

    wall: float
    cpu: float
    peak: float
    said: str


def sampled(folder: Path, pages: int, target: Path) -> int:
    """One PDF of ``pages`` pages at equal distances in all PDFs below ``folder``; how many it became."""
    import pymupdf

    files = [pymupdf.open(path) for path in sorted(folder.rglob("*.pdf"))]
    every = [(file, number) for file in files for number in range(file.page_count)]
    count = min(pages, len(every))
    out = pymupdf.open()
    for i in range(count):
        file, number = every[i * len(every) // count]
        out.insert_pdf(file, from_page=number, to_page=number, links=False, annots=False, widgets=False)
    out.save(target, garbage=3)
    return count


def repeated(source: Path, pages: int, target: Path) -> None:
    """The pages of ``source`` over and over, ``pages`` in all."""
    import pymupdf

    out = pymupdf.open()
    with pymupdf.open(source) as given:
        while out.page_count < pages:
            out.insert_pdf(given, to_page=min(given.page_count, pages - out.page_count) - 1)
    out.save(target)


def measure(command: list[str]) -> Usage:
    """Run ``command`` to its end. Exits when it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = [0.0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            peak[0] = max(peak[0], _memory(process.pid))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    assert process.stdout is not None
    said = process.stdout.read()
    _pid, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    done.set()
    watcher.join()
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"{' '.join(command)} failed")
    return Usage(wall, used.ru_utime + used.ru_stime, peak[0], said)


def _memory(pid: int) -> float:
    """MiB that process ``pid`` and its descendants have in memory now (Linux)."""
    total = 0.0
    try:
        total += int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        for thread in Path(f"/proc/{pid}/task").iterdir():
            children = (thread / "children").read_text("ascii").split()
            total += sum(_memory(int(child)) for child in children)
    except (FileNotFoundError, ProcessLookupError):  # ended while we looked, or another system
        return total
    return total


def groundwork(path: Path, workers: int, *, embed: bool = False) -> dict[str, Any]:
    """The whole ingest of one file, in a library of its own."""
    from ragcore.engine import Engine

    overrides = {"ingest.workers": workers, "figures.describe": "off", "ocr.mode": "off"}
    with tempfile.TemporaryDirectory() as home, Engine.open(Path(home), overrides=overrides) as engine:
        started = time.perf_counter()
        report = engine.ingest_path(path).info
        read = time.perf_counter() - started
        assert report.status == "ready", report.error
        chunks = engine.chunks(report.doc_id)
        started, busy = time.perf_counter(), time.process_time()
        if embed:
            engine.index()
        spent = {"embedding": time.perf_counter() - started, "embedding_cpu": time.process_time() - busy}
        return {"seconds": read, "chunks": len(chunks), **spent}


def markdown(path: Path) -> None:
    import pymupdf4llm

    pymupdf4llm.to_markdown(str(path), use_ocr=False, show_progress=False)


def plumber(path: Path) -> None:
    import pdfplumber

    with pdfplumber.open(path) as document:
        for page in document.pages:
            page.extract_words()
            page.extract_tables()
            page.close()


def profile(path: Path, pages: int) -> dict[str, float]:
    """Seconds of processor time by stage, for the first ``pages`` pages read in this process.

    The stack is looked at by a timer; each look counts for the processor time since the last, so that a long call into
    C, during which Python sees no signal, has its full weight.
    """
    from ragcore.ingest import worker

    worker.load_pymupdf(layout=True)
    from ragcore.config.settings import load
    from ragcore.ingest.chunk import chunk_document
    from ragcore.ingest.document import build_document
    from ragcore.ingest.read import Reader

    settings, _origins = load()
    totals: defaultdict[str, float] = defaultdict(float)
    last = time.process_time()

    def look(_signal: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.process_time()
        totals[_stage(frame)] += now - last
        last = now

    reader = Reader(path, None, path.name)
    chosen = [1 + i * reader.document.page_count // pages for i in range(pages)]
    reader.page(chosen[0], plain=False)
    # Pages before the first look: what is loaded on first use is not the page's.
    last = time.process_time()
    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    layouts = []
    for number in chosen:
        page = reader.page(number, plain=False)
        page.to_bytes()
        layouts.append(page)
    renumbered = [_numbered(page, i) for i, page in enumerate(layouts, start=1)]
    info = _info(len(renumbered))
    document = build_document("0" * 16, "0" * 64, path.name, info, renumbered, settings)
    chunk_document(document, settings.chunk)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return dict(totals)


def _numbered(page: Any, number: int) -> Any:
    from dataclasses import replace

    return replace(page, number=number)


def _info(pages: int) -> Any:
    from ragcore.ingest.layout import FileInfo

    return FileInfo(pages=pages)


def _stage(frame: FrameType | None) -> str:
    while frame is not None:
        name = frame.f_code.co_name
        for (file, function), stage in STAGES.items():
            if name == function and frame.f_code.co_filename.replace("\\", "/").endswith(file):
                return stage
        frame = frame.f_back
    return "other"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="financebench-dev")
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--profile-pages", type=int, default=40)
    parser.add_argument("--skip", nargs="*", default=[], help="pymupdf4llm, pdfplumber, profile")
    parser.add_argument("--long", type=int, default=0)
    parser.add_argument("--embed", action="store_true")
    parser.add_argument("--one", nargs=2, metavar=("METHOD", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, path = options.one[0], Path(options.one[1])
        if name == "groundwork":
            print(json.dumps(groundwork(path, options.workers, embed=options.embed)))
        elif name == "profile":
            print(json.dumps(profile(path, options.profile_pages)))
        else:
            {"pymupdf4llm": markdown, "pdfplumber": plumber}[name](path)
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "sample.pdf"
        pages = sampled(data(options.set), options.pages, path)
        own = [sys.executable, "-m", "benchmarks.speed", "--workers", str(options.workers)]
        print(f"{pages} pages of {options.set}, {os.cpu_count()} cores\n", flush=True)
        rows: list[tuple[object, ...]] = []
        for method in ("groundwork", "pymupdf4llm", "pdfplumber"):
            if method in options.skip:
                continue
            embed = ["--embed"] if options.embed and method == "groundwork" else []
            used = measure([*own, *embed, "--one", method, str(path)])
            if method == "groundwork":
                told = json.loads(used.said.splitlines()[-1])
                wall, cpu = used.wall - told["embedding"], used.cpu - told["embedding_cpu"]
                print(f"{told['chunks']} chunks; ingest without start-up {pages / told['seconds']:.2f} pages/s", end="")
                print(f"; embedding them {told['embedding']:.1f} s\n" if options.embed else "\n", flush=True)
            else:
                wall, cpu = used.wall, used.cpu
            rows.append((method, wall, pages / wall, cpu / pages, round(used.peak)))
        print(table(rows, ("method", "seconds", "pages/s", "CPU s/page", "peak MiB")), flush=True)
        if "profile" not in options.skip:
            count = min(options.profile_pages, pages)
            used = measure([*own, "--profile-pages", str(count), "--one", "profile", str(path)])
            times: dict[str, float] = json.loads(used.said.splitlines()[-1])
            whole = sum(times.values())
            shares = [
                (stage, 1000 * seconds / count, f"{seconds / whole:.0%}")
                for stage, seconds in sorted(times.items(), key=lambda item: -item[1])
            ]
            print(f"\nOne process, {count} pages: {whole / count:.3f} s of processor time a page\n")
            print(table(shares, ("stage", "ms/page", "share")), flush=True)
        if options.long:
            long = Path(scratch) / "long.pdf"
            repeated(path, options.long, long)
            used = measure([*own, "--one", "groundwork", str(long)])
            print(f"\n{options.long} pages: {used.wall:.0f} s, {options.long / used.wall:.2f} pages/s, ", end="")
            print(f"peak {used.peak:.0f} MiB in all processes together")


if __name__ == "__main__":
    main()
