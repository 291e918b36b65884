"""Writes docs/measured.md from the records, after running what can run here.

    python -m benchmarks measured [--run [--home DIR] [--only NAME ...]]

``--run`` runs the script of every record first, one after another, and records its figures; DIR keeps the libraries
that they need (each set in a folder of its name) between runs. A script that fails leaves its record as it was, is
named at the end, and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks import records
from benchmarks.common import ROOT
from benchmarks.records import Record


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--run", action="store_true", help="run and record what can run here, first")
    parser.add_argument("--home", type=Path, help="folder for the libraries; default: a temporary one")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="records to run")
    options = parser.parse_args()
    known = records.everything()
    failed: list[str] = []
    if options.run:
        unknown = sorted(set(options.only or ()) - known.keys())
        if unknown:
            sys.exit(f"There is no record {', '.join(unknown)}. There are {', '.join(known)}.")
        with tempfile.TemporaryDirectory() as folder:
            chosen = {name: record for name, record in known.items() if name in (options.only or known)}
            failed = run(chosen, (options.home or Path(folder)).resolve())
    records.DOCUMENT.write_text(records.rendered(records.everything()), "utf-8")
    print(f"Wrote {records.DOCUMENT.relative_to(ROOT)}.")
    if failed:
        sys.exit(f"Not recorded: {', '.join(failed)}.")


def run(chosen: Mapping[str, Record], home: Path) -> list[str]:
    """Run each record's script, those that make a library first; returns those that failed."""
    failed = []
    for name, record in sorted(chosen.items(), key=lambda item: item[1].script != "sets"):
        if record.needs:
            print(f"{name}: left as it is; it needs {record.needs}.", flush=True)
            continue
        print(f"{name}: {record.command}", flush=True)
        arguments = [argument.replace("{home}", str(home)) for argument in record.arguments]
        command = [sys.executable, "-m", "benchmarks", record.script, *arguments, "--record", name]
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            print(f"{name}: failed, its record is as it was: {last[0]}", flush=True)
            failed.append(name)
    return failed


if __name__ == "__main__":
    main()
