"""How long a newcomer waits: install, first page, ingest, first answer, each as a whole process or a real request.

    python -m benchmarks first_use [PDF] [--install]

``--install`` also times ``pip install .`` into a new virtual environment (the network's speed is part of that). The
reference beside each figure is measured in the same run: Python's own start, a bare Streamlit page, and
``pymupdf4llm.to_markdown`` over the same pages.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from benchmarks.common import ROOT, data, table


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("pdf", type=Path, nargs="?")
    parser.add_argument("--install", action="store_true")
    options = parser.parse_args()
    pdf = options.pdf or data("nike") / "NIKE_2023_10K.pdf"

    rows: list[tuple[str, float, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if options.install:
            rows.append(("install into a new environment", timed(lambda: install(work / "venv")), ""))
        python = timed(lambda: run([sys.executable, "-c", "pass"]))
        rows.append(("python -c pass", python, "reference"))
        bare = work / "bare.py"
        bare.write_text("import streamlit as st\nst.write('x')\n")
        reference = timed(lambda: first_page(bare, work / "bare"))
        rows.append(("bare Streamlit app: first byte of the page", reference, "reference"))
        ours = timed(lambda: first_page(ROOT / "app.py", work / "app"))
        rows.append(("Groundwork: first byte of the page", ours, f"{ours / reference:.2f} × bare Streamlit"))

        markdown = timed(lambda: run([sys.executable, "-c", MARKDOWN, str(pdf)]))
        rows.append(("pymupdf4llm.to_markdown of the PDF", markdown, "reference"))
        home = work / "home"
        cli = [sys.executable, "-m", "ragcore.cli", "--home", str(home), "--json"]
        report = json.loads(run([*cli, "ingest", str(pdf)]))["documents"][0]
        seconds = report["seconds"]
        pages = report["pages"]
        rows.append(("ingest", seconds, f"{pages} pages, {seconds / markdown:.2f} × to_markdown"))
        index = json.loads(run([*cli, "index"]))
        rows.append(("index", index["seconds"], f"{index['chunks']} chunks"))
        answer = timed(lambda: run([*cli, "generate", "-q", "What were total revenues?"]))
        rows.append(("first answer, new process, offline", answer, ""))
    print(table(rows, ("what", "seconds", "beside")))


MARKDOWN = "import sys, pymupdf4llm; pymupdf4llm.to_markdown(sys.argv[1], use_ocr=False)"


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def run(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def install(venv: Path) -> None:
    run([sys.executable, "-m", "venv", str(venv)])
    run([str(venv / "bin" / "pip"), "install", "-q", "."])


def first_page(script: Path, home: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless", "true"]
    server = subprocess.Popen(
        [*command, "--server.port", str(port)],
        cwd=ROOT,
        env=os.environ | {"GROUNDWORK_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as page:
                    page.read(1)
                    return
            except OSError:
                time.sleep(0.02)
        raise TimeoutError("the app did not answer within 60 s")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
